//! Tables of ZFS, DRBD and udev, and the names of journals, come from modules outside the kernel,
//! and from snapshots.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_explain::{Observed, findings};
use seekwell_inspect::{Inspection, Target, TargetKind, inspect};
use seekwell_sys::DevId;
use seekwell_sys::fake::Fake;
use std::path::PathBuf;

const DISK: &str = "/sys/devices/virtual/block/drbd0";
const MOUNTS: &str = "28 21 0:36 / /tank rw - zfs tank/home rw\n\
                      29 21 147:0 / /srv rw - ext4 /dev/drbd0 rw\n";

// Parted by NULs: counters of the ARC, a pool's state, the table of DRBD, an entry of udev, the
// name of a journal's thread.
fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(5, |byte| *byte == 0).map(<[u8]>::to_vec);
    let mut next = || parts.next().unwrap_or_default();
    let view = Fake::new()
        .bytes("/proc/spl/kstat/zfs/arcstats", next())
        .bytes("/proc/spl/kstat/zfs/tank/state", next())
        .bytes("/proc/drbd", next())
        .bytes("/run/udev/data/b147:0", next())
        .bytes("/proc/7/comm", next())
        .file("/sys/fs/ext4/drbd0/journal_task", "7")
        .file("/sys/fs/ext4/drbd0/errors_count", "0")
        .dir("/proc/fs/jbd2/sdb1")
        .dir("/proc/fs/jbd2/drbd0-8")
        .file(format!("{DISK}/dev"), "147:0")
        .symlink("/sys/class/block/drbd0", DISK)
        .symlink("/sys/dev/block/147:0", DISK)
        .file("/proc/self/mountinfo", MOUNTS);
    let of_pool = Target {
        given: "/tank".to_owned(),
        path: PathBuf::from("/tank"),
        kind: TargetKind::Directory,
        dev: Some(DevId { major: 0, minor: 36 }),
        space: None,
    };
    let pool = inspect(&view, &of_pool);
    assert!(pool.device.as_ref().is_some_and(|d| d.detail.zfs.is_some()));
    let disk = Target::block_device("drbd0", DevId { major: 147, minor: 0 });
    judge(&pool);
    judge(&inspect(&view, &disk));
});

fn judge(found: &Inspection) {
    serde_json::to_string(found).expect("an inspection is JSON");
    for finding in findings(&Observed::new(found)) {
        assert!(!finding.evidence.is_empty(), "{} needs evidence", finding.id);
    }
}
