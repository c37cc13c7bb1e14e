//! The names by which a person can show that they mean this very device.
//!
//! A device node is not one of them: `/dev/sdb` is another disk after the next boot. A serial
//! number or WWN is printed on the label and survives every change of port. A loop device is named
//! by its backing file; a disk made of memory, which has no serial and no history, by its name.

use crate::device::Family;
use crate::member::backing_file;
use seekwell_sys::{View, usb_device};
use std::path::Path;

/// Devices made of memory: nothing outlives them, so their kernel name is enough.
const MEMORY_DISKS: [&str; 4] = ["zram", "ram", "nullb", "pmem"];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Identity {
    Serial(String),
    Wwn(String),
    File(String),
    Name(String),
}

/// What a given serial was worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It names this device.
    Right,
    /// It names something else; the word says what would have been right.
    Wrong { wanted: &'static str },
    /// The device has no identity that could be given.
    Nameless,
}

/// Compares what was typed with every identity of the whole disk of the target.
pub(crate) fn check(view: &dyn View, family: &Family, given: &str) -> Answer {
    let known = identities(view, family);
    let wanted = match known.first() {
        None => return Answer::Nameless,
        Some(Identity::File(_)) => "the path of its backing file",
        Some(Identity::Name(_)) => "its kernel name",
        Some(Identity::Serial(_) | Identity::Wwn(_)) => "its serial number or WWN",
    };
    let given = given.trim();
    if !given.is_empty() && known.iter().any(|identity| identity.is(view, given)) {
        Answer::Right
    } else {
        Answer::Wrong { wanted }
    }
}

impl Identity {
    fn is(&self, view: &dyn View, given: &str) -> bool {
        match self {
            Self::Serial(value) | Self::Name(value) => value == given,
            Self::Wwn(value) => bare_wwn(value) == bare_wwn(given),
            Self::File(value) => {
                // A removed backing file is marked so; the path before the mark still names it.
                let value = value.strip_suffix(" (deleted)").unwrap_or(value);
                let canonical = |path: &str| view.canonical(Path::new(path)).ok();
                value == given
                    || (Path::new(given).is_absolute()
                        && canonical(given).is_some_and(|path| Some(path) == canonical(value)))
            }
        }
    }
}

/// `0x5000c500a1b2c3d4`, `naa.5000c500a1b2c3d4` and `wwn-0x5000…` are one number.
fn bare_wwn(text: &str) -> String {
    let mut text = text.trim().to_ascii_lowercase();
    for prefix in ["wwn-", "naa.", "eui.", "0x"] {
        if let Some(rest) = text.strip_prefix(prefix) {
            text = rest.to_owned();
        }
    }
    text
}

/// A number that a device keeps, and that others do not have.
pub(crate) fn seed(view: &dyn View, family: &Family) -> u64 {
    let known = identities(view, family);
    let name = known.first().map(|identity| match identity {
        Identity::Serial(text) | Identity::Wwn(text) => text,
        Identity::File(text) | Identity::Name(text) => text,
    });
    // FNV-1a.
    name.into_iter().flat_map(|text| text.bytes()).fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn identities(view: &dyn View, family: &Family) -> Vec<Identity> {
    let disk = &family.disk;
    if let Some(file) = backing_file(view, disk) {
        return vec![Identity::File(file)];
    }
    let digits = |c: char| c.is_ascii_digit();
    let stem = disk.name.trim_end_matches(digits);
    if MEMORY_DISKS.contains(&stem) && stem != disk.name {
        return vec![Identity::Name(disk.name.clone())];
    }
    let mut known = Vec::new();
    let mut add = |identity: fn(String) -> Identity, value: Option<String>| {
        let value = value.map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
        known.extend(value.map(identity).filter(|new| {
            !matches!(new, Identity::Wwn(w)
            if bare_wwn(w).is_empty())
        }));
    };
    let sysfs = |name: &str| view.text(&disk.sysfs.join(name)).ok();
    add(Identity::Serial, page_80(view, &disk.sysfs.join("device/vpd_pg80")));
    for name in ["serial", "device/serial", "dm/uuid", "md/uuid"] {
        add(Identity::Serial, sysfs(name));
    }
    let usb = usb_device(view, &disk.sysfs).map(|device| device.join("serial"));
    add(Identity::Serial, usb.and_then(|path| view.text(&path).ok()));
    for name in ["wwid", "device/wwid"] {
        add(Identity::Wwn, sysfs(name));
    }
    let udev = udev_properties(view, disk.dev);
    for (key, value) in udev {
        match key.as_str() {
            "ID_SERIAL_SHORT" | "ID_SERIAL" | "ID_SCSI_SERIAL" => {
                add(Identity::Serial, Some(value));
            }
            "ID_WWN" | "ID_WWN_WITH_EXTENSION" => add(Identity::Wwn, Some(value)),
            _ => {}
        }
    }
    known
}

/// The unit serial number page of SCSI (SPC-4, 7.8.15): a length at byte 2, then text.
fn page_80(view: &dyn View, path: &Path) -> Option<String> {
    let page = view.read(path).ok()?;
    let len = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let text = page.get(4..4 + len)?;
    Some(String::from_utf8_lossy(text).trim_matches(['\0', ' ']).to_owned())
}

/// The `E:KEY=value` lines of a device's entry in the udev database, if there is one.
pub(crate) fn udev_properties(view: &dyn View, dev: seekwell_sys::DevId) -> Vec<(String, String)> {
    let text = view.text(format!("/run/udev/data/b{dev}").as_ref()).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.strip_prefix("E:")?.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::{DevId, Live};
    use std::fs;
    use std::os::unix::fs::symlink;

    const DEV: DevId = DevId { major: 8, minor: 16 };

    fn disk(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        fs::write(at("sys/devices/x/block/sdb/dev"), "8:16\n").unwrap();
        symlink("../../devices/x/block/sdb", at("sys/dev/block/8:16")).unwrap();
        for (path, content) in files {
            fs::write(at(path), content).unwrap();
        }
        root
    }

    fn answer(root: &tempfile::TempDir, given: &str) -> Answer {
        let view = Live::rooted(root.path());
        check(&view, &Family::of(&view, root.path(), DEV).unwrap(), given)
    }

    #[test]
    fn a_scsi_disk_is_named_by_its_unit_serial_page_or_its_wwn_in_any_spelling() {
        let root = disk(&[
            ("sys/devices/x/block/sdb/device/vpd_pg80", b"\0\x80\0\x08WD-12345"),
            ("sys/devices/x/block/sdb/device/wwid", b"naa.5000C500A1B2C3D4\n"),
        ]);
        for right in ["WD-12345", " WD-12345 ", "0x5000c500a1b2c3d4", "naa.5000c500a1b2c3d4"] {
            assert_eq!(answer(&root, right), Answer::Right, "{right}");
        }
        for wrong in ["WD-1234", "", "0x", "naa.", "sdb", "/dev/sdb"] {
            let wanted = "its serial number or WWN";
            assert_eq!(answer(&root, wrong), Answer::Wrong { wanted }, "{wrong}");
        }
    }

    #[test]
    fn the_udev_database_names_a_disk_whose_sysfs_is_silent() {
        let root = disk(&[("run/udev/data/b8:16", b"I:1\nE:ID_SERIAL_SHORT=ABC9\nE:ID_WWN=\n")]);
        assert_eq!(answer(&root, "ABC9"), Answer::Right);
        assert_ne!(answer(&root, ""), Answer::Right);
    }

    #[test]
    fn a_disk_without_any_identity_cannot_be_named() {
        assert_eq!(answer(&disk(&[]), "anything"), Answer::Nameless);
    }

    #[test]
    fn a_page_80_cut_short_names_nothing() {
        let root = disk(&[("sys/devices/x/block/sdb/device/vpd_pg80", b"\0\x80\0\x20WD")]);
        assert_eq!(answer(&root, "WD"), Answer::Nameless);
    }
}
