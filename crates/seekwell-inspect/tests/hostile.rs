//! Views that lie: whatever sysfs and procfs answer, inspection ends, soon, and without a panic.

use proptest::prelude::*;
use seekwell_inspect::{FsSpace, Target, TargetKind, all_disks, inspect};
use seekwell_sys::fake::Fake;
use seekwell_sys::{DevId, View, ViewError};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Answers every question by its own hash: garbage, plausible values, errors, links in circles.
struct Liar {
    seed: u64,
    garbage: Vec<u8>,
    /// How many of ten questions get a plausible answer.
    plausible: u64,
}

const WORDS: [&str; 26] = [
    "18446744073709551615",
    "-1",
    "0",
    "1",
    "512",
    "[none] mq-deadline",
    "8:0",
    "7:0",
    "raid1",
    "/tmp/x",
    "/dev/sda",
    "LVM-x",
    "XFER_UDMA_5",
    "0x010601",
    "8.0 GT/s PCIe",
    "4294967295",
    "pcie",
    "\n\n",
    "ATA",
    "1 2 8:0 / / rw - ext4 /dev/sda rw\n3 1 0:4 / /x rw - overlay o rw,upperdir=/y\nbroken",
    "MemTotal: 18446744073709551615 kB\nprocessor : 0\nflags: hypervisor",
    "0-4294967295,1",
    "0x",
    "<unknown>",
    "E:ID_MODEL_ENC=\\x2\\xzz\\x41\nE:ID_SERIAL_SHORT=\u{1b}[2J",
    "Linux version ",
];

const NAMES: [&str; 30] = [
    "sda",
    "sda1",
    "dm-0",
    "md0",
    "loop0",
    "zram0",
    "nvme0",
    "nvme0n1",
    "nvme0c0n1",
    "ata1",
    "host0",
    "target0:0:0",
    "0:0:0:0",
    "block",
    "usb1",
    "1-1",
    "1-1:1.0",
    "virtio0",
    "0000:00:1f.2",
    "pci0000:00",
    "mmc_host",
    "mmc0",
    "mmc0:0001",
    "end_device-0:0",
    "expander-0:0",
    "rport-0",
    "session1",
    "phy-0:0",
    "..",
    "",
];

const FOLDERS: [&str; 6] = [
    "/sys/devices/virtual/block",
    "/sys/devices",
    "/sys/devices/virtual/nvme-subsystem/nvme-subsys0",
    "/",
    "",
    "relative/path",
];

impl Liar {
    fn dice(&self, what: &str, path: &Path) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.seed, what, path).hash(&mut hasher);
        hasher.finish()
    }

    fn error(path: &Path, dice: u64) -> ViewError {
        let path = path.to_path_buf();
        match dice % 3 {
            0 => ViewError::Absent { path },
            1 => ViewError::Denied { path },
            _ => ViewError::Failed { path, kind: ErrorKind::TimedOut },
        }
    }

    fn path(dice: u64) -> PathBuf {
        let folder = FOLDERS[(dice % FOLDERS.len() as u64) as usize];
        let mut path = PathBuf::from(folder);
        let mut dice = dice / 7;
        while dice > 0 {
            path.push(NAMES[(dice % NAMES.len() as u64) as usize]);
            dice /= 1 << 9;
        }
        path
    }
}

impl View for Liar {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        let dice = self.dice("read", path);
        match dice % 10 {
            n if n < self.plausible => {
                Ok(WORDS[(dice / 10 % WORDS.len() as u64) as usize].as_bytes().to_vec())
            }
            8 => Err(Self::error(path, dice / 10)),
            _ => Ok(self.garbage.clone()),
        }
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
        let dice = self.dice("list", path);
        if dice.is_multiple_of(4) {
            return Err(Self::error(path, dice / 4));
        }
        let chosen = |n: u64| NAMES[(dice.rotate_right(n as u32) % NAMES.len() as u64) as usize];
        Ok((0..dice % 9).map(|n| chosen(n * 5).to_owned()).collect())
    }

    fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
        Ok(Self::path(self.dice("link", path)))
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
        let dice = self.dice("canonical", path);
        if dice.is_multiple_of(5) {
            return Err(Self::error(path, dice / 5));
        }
        Ok(Self::path(dice / 5))
    }

    fn exists(&self, path: &Path) -> bool {
        self.dice("exists", path).is_multiple_of(2)
    }
}

fn targets() -> Vec<Target> {
    let space = FsSpace { size_bytes: u64::MAX, available_bytes: 0, inodes_available: Some(1) };
    let at = |path: &str, kind, dev| Target {
        given: path.to_owned(),
        path: PathBuf::from(path),
        kind,
        dev,
        space: Some(space),
    };
    let dev = |major, minor| Some(DevId { major, minor });
    vec![
        at("/dev/sda", TargetKind::BlockDevice, dev(8, 0)),
        at("/dev/mapper/x-y", TargetKind::BlockDevice, None),
        at("/x/y", TargetKind::Directory, dev(0, 4)),
        at("/", TargetKind::File, dev(8, 0)),
        at("", TargetKind::File, dev(u32::MAX, u32::MAX)),
        Target::null(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_lying_view_never_makes_inspection_panic_or_hang(
        seed: u64,
        plausible in 0u64..=8,
        garbage in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let liar = Liar { seed, garbage, plausible };
        let started = Instant::now();
        for target in targets().into_iter().chain(all_disks(&liar)) {
            let inspection = inspect(&liar, &target);
            prop_assert_eq!(inspection.schema, "seekwell/inspect/1");
            prop_assert!(inspection.missing.iter().all(|m| !m.reason.is_empty()));
        }
        prop_assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn device_pages_of_any_bytes_are_read_or_refused(
        page in prop::collection::vec(any::<u8>(), 0..700),
        number in any::<u8>(),
    ) {
        let mut page = page;
        if let Some(code) = page.get_mut(1) {
            *code = [0x80, 0x83, 0x89, number][usize::from(number % 4)];
        }
        let at = "/sys/devices/h/host0/target0:0:0/0:0:0:0";
        let fake = Fake::new()
            .symlink("/sys/dev/block/8:0", format!("{at}/block/sda"))
            .symlink(format!("{at}/block/sda/device"), "../..")
            .file(format!("{at}/scsi_level"), "6")
            .file(format!("{at}/vendor"), "ATA")
            .bytes(format!("{at}/vpd_pg80"), page.clone())
            .bytes(format!("{at}/vpd_pg83"), page.clone())
            .bytes(format!("{at}/vpd_pg89"), page);
        let target = Target::block_device("sda", DevId { major: 8, minor: 0 });
        let device = inspect(&fake, &target).device.unwrap();
        let shown = [device.model, device.serial, device.wwn, device.firmware];
        for fact in shown.into_iter().flatten() {
            prop_assert!(!fact.value.chars().any(char::is_control), "{:?}", fact);
        }
    }
}

#[test]
fn devices_that_stand_on_each_other_in_a_circle_end() {
    let at = "/sys/devices/virtual/block";
    let fake = Fake::new()
        .symlink("/sys/dev/block/253:0", format!("{at}/dm-0"))
        .symlink(format!("{at}/dm-0/slaves/dm-1"), format!("{at}/dm-1"))
        .symlink(format!("{at}/dm-1/slaves/dm-0"), format!("{at}/dm-0"));
    let target = Target::block_device("dm-0", DevId { major: 253, minor: 0 });
    let inspection = inspect(&fake, &target);
    let device = inspection.device.unwrap();
    assert_eq!(device.below.len(), 1);
    assert_eq!(device.below[0].below.len(), 0);
    let told = inspection.missing.iter().any(|m| m.reason.contains("below itself"));
    assert!(told, "{:?}", inspection.missing);
}

#[test]
fn a_bush_of_devices_is_cut() {
    // Ten levels of ten devices each would be 10^10 paths.
    let at = "/sys/devices/virtual/block";
    let mut fake = Fake::new().symlink("/sys/dev/block/253:0", format!("{at}/dm-0"));
    for level in 0..10 {
        for from in 0..10 {
            for to in 0..10 {
                let (above, below) = (level * 10 + from, level * 10 + 10 + to);
                let link = format!("{at}/dm-{above}/slaves/dm-{below}");
                fake = fake.symlink(link, format!("{at}/dm-{below}"));
            }
        }
    }
    let started = Instant::now();
    let target = Target::block_device("dm-0", DevId { major: 253, minor: 0 });
    let inspection = inspect(&fake, &target);
    assert!(inspection.missing.iter().any(|m| m.reason.contains("too many")));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
