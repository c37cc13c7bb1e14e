//! Counts of errors that a disk keeps itself, read around each run: a disk that reallocates a
//! sector or meets a bad cable in the middle of a run was slow for that, not for the setting.
//!
//! Neither SMART READ DATA nor an NVMe log page touches the medium, and they are asked for between
//! runs. Sources: ATA/ATAPI-7 §6.37 (SMART), SAT-3 §12.2 (pass-through), NVM Express Base
//! Specification 1.4 §5.14.1.2 (health log); the meanings of the ATA attributes are the vendors'
//! common ones. Only those are taken that no healthy disk counts up, so not the entries of NVMe's
//! error log: a command that a drive does not know is one.

use seekwell_inspect::probe::{Passthrough, SgIo};
use seekwell_tune::Disk;
use seekwell_tune::commands::health_log;
use std::collections::BTreeMap;

/// Attributes whose raw value is a count of trouble.
const COUNTS: [(u8, &str); 8] = [
    (5, "reallocated sectors"),
    (184, "end-to-end errors"),
    (187, "uncorrectable errors"),
    (188, "command time-outs"),
    (196, "reallocations"),
    (197, "pending sectors"),
    (198, "sectors that cannot be corrected"),
    (199, "CRC errors of the cable"),
];

/// ATA PASS-THROUGH(16): PIO data-in, one block, from the device; SMART READ DATA.
const READ_DATA: [u8; 16] = [0x85, 4 << 1, 0x0e, 0, 0xd0, 0, 1, 0, 0, 0, 0x4f, 0, 0xc2, 0, 0xb0, 0];

const BLOCK: usize = 512;
/// Entries of the table, from byte 2 on: number, flags, two values, six bytes of raw value.
const ENTRIES: usize = 30;
const ENTRY: usize = 12;

/// Counts in NVMe's health log: first byte, bytes, and what is counted.
const HEALTH: [(usize, usize, &str); 5] = [
    (160, 16, "media errors"),
    (192, 4, "minutes above the warning temperature"),
    (196, 4, "minutes above the critical temperature"),
    (216, 4, "slowdowns for its heat"),
    (220, 4, "heavy slowdowns for its heat"),
];

/// The counts of a disk on libata or nvme; none where it keeps none, or this user may not ask.
pub fn counts(disk: &Disk) -> BTreeMap<String, u64> {
    let node = disk.node();
    if disk.identity.name.starts_with("nvme") {
        return health_log(&node).map_or_else(|_| BTreeMap::new(), |log| of_log(&log));
    }
    match (&disk.ata_port, SgIo::open(&node.to_string_lossy())) {
        (Some(_), Ok(mut opened)) => ask(&mut opened),
        _ => BTreeMap::new(),
    }
}

fn of_log(log: &[u8; BLOCK]) -> BTreeMap<String, u64> {
    let number = |at: usize, bytes: usize| {
        // Of sixteen bytes the lower eight: nobody has seen the others.
        log[at..at + bytes.min(8)].iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
    };
    HEALTH.iter().map(|(at, bytes, what)| ((*what).to_owned(), number(*at, *bytes))).collect()
}

fn ask(disk: &mut dyn Passthrough) -> BTreeMap<String, u64> {
    let mut data = [0; BLOCK];
    let answered = disk.send(READ_DATA, &mut data);
    // The bytes of a table that was delivered add up to zero; one of zeroes was not.
    let sum = data.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    let whole = answered.is_ok_and(|reply| reply.status == 0 && reply.host == 0);
    if !whole || sum != 0 {
        return BTreeMap::new();
    }
    let entries = data[2..2 + ENTRIES * ENTRY].chunks_exact(ENTRY);
    let counted = entries.filter_map(|entry| {
        let (_, name) = COUNTS.iter().find(|(id, _)| *id == entry[0])?;
        // The upper bytes hold other things on some drives.
        let count = u32::from_le_bytes([entry[5], entry[6], entry[7], entry[8]]);
        Some(((*name).to_owned(), u64::from(count)))
    });
    counted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_inspect::probe::{ProbeError, Reply};

    struct Drive {
        table: [u8; BLOCK],
        status: u8,
    }

    impl Passthrough for Drive {
        fn send(&mut self, cdb: [u8; 16], data: &mut [u8]) -> Result<Reply, ProbeError> {
            assert_eq!((cdb[0], cdb[14], cdb[4]), (0x85, 0xb0, 0xd0), "SMART READ DATA");
            data.copy_from_slice(&self.table);
            Ok(Reply { status: self.status, ..Reply::default() })
        }
    }

    fn drive(attributes: &[(u8, u32)]) -> Drive {
        let mut table = [0; BLOCK];
        for (i, (id, raw)) in attributes.iter().enumerate() {
            let at = 2 + i * ENTRY;
            table[at] = *id;
            table[at + 5..at + 9].copy_from_slice(&raw.to_le_bytes());
        }
        let sum = table.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        table[BLOCK - 1] = sum.wrapping_neg();
        Drive { table, status: 0 }
    }

    #[test]
    fn counts_of_trouble_are_taken_and_hours_and_starts_are_not() {
        let found = ask(&mut drive(&[(9, 8760), (5, 3), (199, 70_000), (12, 40)]));
        let want = [("CRC errors of the cable", 70_000), ("reallocated sectors", 3)];
        assert!(found.iter().map(|(k, v)| (k.as_str(), *v)).eq(want), "{found:?}");
    }

    #[test]
    fn an_nvme_log_gives_its_media_errors_and_slowdowns() {
        let mut log = [0; BLOCK];
        (log[161], log[168], log[216], log[176]) = (1, 9, 7, 5);
        let found = of_log(&log);
        assert_eq!(found["media errors"], 256, "the upper half does not count");
        assert_eq!(found["slowdowns for its heat"], 7);
        assert_eq!(found.len(), HEALTH.len());
    }

    #[test]
    fn a_table_that_did_not_arrive_whole_counts_nothing() {
        let mut torn = drive(&[(5, 3)]);
        torn.table[100] ^= 1;
        assert!(ask(&mut torn).is_empty());
        let refused = Drive { status: 2, ..drive(&[(5, 3)]) };
        assert!(ask(&mut { refused }).is_empty());
    }
}
