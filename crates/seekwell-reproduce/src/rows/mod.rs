//! The published figures, one file for each document.

mod r0;
mod r1;
mod r2;
mod r3;
mod r4;
mod r5;

use crate::row::Row;

pub const DOCUMENTS: [(&str, &str); 6] = [
    ("R0", "piix against AHCI under bonnie++ (2009)"),
    ("R1", "three SATA modes of one server under the Phoronix tests"),
    ("R2", "DragonFly's AHCI driver before and after it used its tags (2011)"),
    ("R3", "RAID controllers on faster buses under recorded web and database load (2004)"),
    ("R4", "hdparm on an IDE disk (2000)"),
    ("R5", "read and write latency of data-centre SSDs beside random writes (2025)"),
];

/// Documents of many rows that take long to run: only when they are asked for.
pub const ON_REQUEST: [&str; 1] = ["R5"];

/// All rows, in the order of the documents.
pub fn rows() -> Vec<Row> {
    [r0::rows(), r1::rows(), r2::rows(), r3::rows(), r4::rows(), r5::rows()].concat()
}

/// Why a modelled figure is not near, for rows where it is known to be so.
pub fn why_missed(id: &str) -> Option<&'static str> {
    MISSED.iter().find_map(|(begin, why)| id.starts_with(begin).then_some(*why))
}

/// The beginning of ids, and a sentence for all of them.
const MISSED: [(&str, &str); 15] = [
    (
        "R0 random seeks",
        "with five reads queued the modelled drive gains a third, and the document's nothing: its \
         model, and what its firmware does with few commands, are not stated; nor is the memory in \
         use, on which the share found in the page cache depends",
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
    (
        "R5 Micron 7450",
        "these drives seem to collect garbage in bursts that hold up writes, and some reads, for \
         milliseconds at rates below saturation; here moves are spread evenly over writes",
    ),
    (
        "R5 Kioxia CM7-R",
        "some writes take milliseconds at rates below saturation, as if garbage collection came in \
         bursts; here moves are spread evenly over writes",
    ),
    (
        "R5 Solidigm D7-P5520",
        "a median read takes as long beside 20,000 writes a second as beside 60,000; here it grows \
         with the share of time in which dies program",
    ),
    (
        "R5",
        "one delay stands for all suspensions of programs and erases; a drive's depends on how far \
         they are",
    ),
];
