//! The published figures, one file for each document.

mod r0;
mod r1;
mod r2;
mod r3;
mod r4;

use crate::row::Row;

/// The documents with what they are about.
pub const DOCUMENTS: [(&str, &str); 5] = [
    ("R0", "piix against AHCI under bonnie++ (2009)"),
    ("R1", "three SATA modes of one server under the Phoronix tests"),
    ("R2", "DragonFly's AHCI driver before and after it used its tags (2011)"),
    ("R3", "RAID controllers on faster buses under recorded web and database load (2004)"),
    ("R4", "hdparm on an IDE disk (2000)"),
];

/// All rows, in the order of the documents.
pub fn rows() -> Vec<Row> {
    [r0::rows(), r1::rows(), r2::rows(), r3::rows(), r4::rows()].concat()
}

/// Why a modelled figure is not near, for rows where it is known to be so.
pub fn why_missed(id: &str) -> Option<&'static str> {
    MISSED.iter().find_map(|(begin, why)| id.starts_with(begin).then_some(*why))
}

/// The beginning of ids, and a sentence for all of them.
const MISSED: [(&str, &str); 10] = [
    (
        "R0 random seeks",
        "bonnie++ finds a part of its file in memory and the piix driver's elevator sorts what \
         three processes ask for; how much memory the machine had is not stated",
    ),
    (
        "R0 sequential create",
        "creating files waits for the journal as it did on the disk of the recording, which wrote \
         faster than the document's in piix mode",
    ),
    (
        "R0 random create",
        "the recording's journal commits more often than the document's: its size and the memory \
         are not stated",
    ),
    (
        "R0 sequential delete",
        "the modelled drive's write buffer sorts by itself what the controller could not queue; \
         the document's drive gained more from queueing",
    ),
    (
        "R0 random delete",
        "the modelled drive's write buffer sorts by itself what the controller could not queue; \
         the document's drive gained more from queueing",
    ),
    (
        "R1 SQLite",
        "a commit waits for the platter three times in the recording; how the document's file \
         system, four drives and two ROMs shortened that is not stated",
    ),
    (
        "R1 FS-Mark",
        "one drive of the four is modelled, and nothing in a ROM that the driver then replaces is \
         known to change what a synced file costs",
    ),
    (
        "R2 swapcache",
        "swapcache's own reading and writing under HAMMER is not recorded; what is modelled is an \
         SSD read and written at random at once",
    ),
    (
        "R3 web heavy, AcceleRAID",
        "the two adapters differ in more than their bus and firmware time, and only those two are \
         fitted",
    ),
    (
        "R3",
        "the traces were re-recorded on another site, smaller, with longer queues and more reads \
         (docs/storagemark.md)",
    ),
];
