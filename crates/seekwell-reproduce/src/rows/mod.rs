//! The published figures, one file for each document.

mod r0;
mod r1;
mod r2;
mod r3;
mod r4;
mod r5;
mod r6;

use crate::row::Row;

pub const DOCUMENTS: [(&str, &str); 7] = [
    ("R0", "piix against AHCI under bonnie++ (2009)"),
    ("R1", "three SATA modes of one server under the Phoronix tests"),
    ("R2", "DragonFly's AHCI driver before and after it used its tags (2011)"),
    ("R3", "RAID controllers on faster buses under recorded web and database load (2004)"),
    ("R4", "hdparm on an IDE disk (2000)"),
    ("R5", "read and write latency of data-centre SSDs beside random writes (2025)"),
    ("R6", "the six numbers of the kernel's io.cost model for client SSDs"),
];

/// Documents of many rows that take long to run: only when they are asked for.
pub const ON_REQUEST: [&str; 2] = ["R5", "R6"];

/// All rows, in the order of the documents.
pub fn rows() -> Vec<Row> {
    [r0::rows(), r1::rows(), r2::rows(), r3::rows(), r4::rows(), r5::rows(), r6::rows()].concat()
}

/// Why a modelled figure is not near, for rows of which it is known.
pub fn why_missed(id: &str) -> Option<&'static str> {
    MISSED.iter().find_map(|(begin, why)| id.starts_with(begin).then_some(*why))
}

/// The beginning of ids, and a sentence for all of them.
const MISSED: &[(&str, &str)] = &[
    (
        "R0 random seeks",
        "with five reads queued the modelled drive gains a third, and the document's nothing: its \
         model, and what its firmware does with few commands, are not stated; nor is the memory in \
         use, on which the share found in the page cache depends",
    ),
    (
        "R0 rewrite",
        "the arm's way between reading and writing back depends on the drive's model, which is not \
         stated",
    ),
    (
        "R0 sequential create",
        "creating files waits for the journal as on the modelled drive of the recording; the \
         document states neither the file system nor the size of its journal",
    ),
    (
        "R0 random create",
        "the recording's journal commits more often than the document's, whose size is not stated",
    ),
    (
        "R0 sequential delete",
        "the document's drive reorders 31 queued writes better than the modelled one; its model \
         and the kernel's I/O scheduler are not stated (with one that sorts, C-LOOK over 128 \
         requests, the model deletes 1,117 files a second in piix mode)",
    ),
    (
        "R0 random delete",
        "the document states neither the drive's model nor the kernel's I/O scheduler",
    ),
    (
        "R1 SQLite",
        "a commit waits for the platter three times in the recording; the document does not state \
         the file system, its barriers, or how the four drives are joined",
    ),
    (
        "R1 FS-Mark",
        "one drive of the four is modelled, and both ROMs leave the disk to the same driver: what \
         else differed between the runs is not stated",
    ),
    (
        "R1 Threaded I/O, random write",
        "the drive's times were fitted on AHCI mode, where it reorders; without its tags it takes \
         a tenth longer than the document's",
    ),
    (
        "R2 random 512-byte reads, hard drive",
        "the document's drive gains more from its tags than the modelled one does with any number \
         of reads at once; its model is not stated",
    ),
    (
        "R2 swapcache",
        "the document does not state swapcache's load: size and number of the reads that missed \
         memory, and what was written to the SSD meanwhile",
    ),
    (
        "R3 web heavy at its recorded depth",
        "the recording keeps 19 requests outstanding where the document's kept 3.5; the traces of \
         the document were never published",
    ),
    (
        "R3 web heavy, AcceleRAID",
        "the two adapters differ in more than bus and firmware time, and the document states \
         neither the settings of their caches nor their stripe size",
    ),
    (
        "R3",
        "the document's traces were never published; those re-recorded are of another site, with \
         longer queues and more reads (docs/storagemark.md)",
    ),
    ("R5 Micron 7450 PRO 960 GB, write p50, 80000/s", LATER),
    ("R5 Micron 7450 PRO 960 GB, write p99, 80000/s", SATURATED),
    ("R5 Micron 7450 PRO 960 GB, write p99, 100000/s", SATURATED),
    ("R5 Micron 7450 PRO 960 GB, write p99, 150000/s", SATURATED),
    ("R5 Micron 7450 MAX 800 GB, write p99, 150000/s", SATURATED),
    ("R5 Micron 7450 MAX 800 GB, write p50, 100000/s", LATER),
    ("R5 Micron 7450 MAX 800 GB, write p99, 100000/s", LATER),
    ("R5 Micron 7450 PRO 960 GB, write", BURSTS),
    ("R5 Micron 7450 PRO 960 GB, read", BURSTS),
    ("R5 Micron 7450 MAX 800 GB, write", BURSTS),
    ("R5 Micron 7450 MAX 800 GB, read p99, 60000/s", BURSTS),
    ("R5 Micron 7450 MAX 800 GB, read p99.9, 40000/s", BURSTS),
    ("R5 Micron 7450 MAX 800 GB, read p99.9, 60000/s", BURSTS),
    ("R5 Kioxia CM7-R 3.84 TB, write", BURSTS),
    (
        "R5 Solidigm D7-P5520 1.92 TB, read p50",
        "a median read takes as long beside 20,000 writes a second as beside 60,000; here it grows \
         with the share of time in which dies program",
    ),
    (
        "R5 Solidigm D7-P5520 1.92 TB, write p50, 150000/s",
        "at saturation half of the drive's writes wait less than a third as long as its slowest \
         hundredth; here waiting is shared more evenly",
    ),
    ("R5 Solidigm D7-P5520 1.92 TB, write", UNLOADED),
    ("R5 WD DC 960 GB, write p99", UNLOADED),
    ("R5 Samsung PM9A3 960 GB, write p50", UNLOADED),
    ("R5 Samsung PM9A3 960 GB, write p99, 60000/s", UNLOADED),
    ("R5 Samsung PM9A3 960 GB, write p99", SATURATED),
    (
        "R5 Samsung PM9A3 960 GB, read p99.9",
        "one delay stands for all suspensions of programs and erases; a drive's depends on how far \
         they are",
    ),
    ("R6 sequential writes, Samsung 970 PRO", SMALLER),
    ("R6 sequential writes, Samsung 860", SMALLER),
    ("R6 sequential 4 KiB writes, Samsung 990 PRO", SLOW_990),
    ("R6 random 4 KiB writes, Samsung 990 PRO", SLOW_990),
    (
        "R6",
        "one job of fio issues the requests, the script's default, on a host that is not \
         described; the machine has the data sheet's rate, which takes several threads",
    ),
];

const BURSTS: &str = "the drive seems to collect garbage in bursts that hold up writes, and on \
                      some drives reads, for milliseconds; here bursts are equally long at all \
                      rates and hold up writes only";
const SATURATED: &str = "at saturation the drive's slowest writes take little longer than its \
                         median ones; here programs end less evenly";
const LATER: &str = "the drive is saturated at this rate, the model only above it";
const UNLOADED: &str = "below saturation the drive holds up more of its writes, or holds them up \
                        longer, at some rates than at others; here its pauses are the same at all";
const SMALLER: &str = "the drive measured is another than the machine's: smaller, or of a size \
                       that is not stated, with fewer dies to write to";
const SLOW_990: &str = "the drive measured wrote 73,000 requests of 4 KiB a second in either order \
                        beside 6.6 GB/s in large ones, a twentieth of its data sheet's; the cause \
                        is not stated";
