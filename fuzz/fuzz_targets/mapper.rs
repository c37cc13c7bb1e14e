//! A table and a status of the device mapper come from the kernel, and from snapshots.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_explain::{Observed, findings};
use seekwell_inspect::{Target, inspect};
use seekwell_sys::DevId;
use seekwell_sys::fake::Fake;

const DISK: &str = "/sys/devices/virtual/block/dm-0";

// The table up to the first NUL, then the status.
fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let (table, status) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let view = Fake::new()
        .file(format!("{DISK}/dev"), "253:0")
        .file(format!("{DISK}/dm/name"), "fuzz")
        .symlink("/sys/block/dm-0", DISK)
        .symlink("/sys/dev/block/253:0", DISK)
        .bytes("/dev/mapper/control/page/table-253:0", table.to_vec())
        .bytes("/dev/mapper/control/page/status-253:0", status.to_vec());
    let found = inspect(&view, &Target::block_device("dm-0", DevId { major: 253, minor: 0 }));
    assert!(found.device.as_ref().is_some_and(|d| d.detail.mapper.is_some()));
    serde_json::to_string(&found).expect("an inspection is JSON");
    for finding in findings(&Observed::new(&found)) {
        assert!(!finding.evidence.is_empty(), "{} needs evidence", finding.id);
    }
});
