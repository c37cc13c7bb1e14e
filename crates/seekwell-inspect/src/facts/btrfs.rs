//! How a mounted btrfs lays its data out, and what it counted
//! (`Documentation/ABI/testing/sysfs-fs-btrfs` and `fs/btrfs/sysfs.c` of the kernel).

use super::Usage;
use crate::model::Fact;
use crate::mount::btrfs_folder;
use crate::reader::{Reader, show};
use crate::sysfs::name;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const PROFILES: [&str; 9] =
    ["single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6"];

/// A mounted btrfs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BtrfsFacts {
    /// The block devices it is on, `sda1`.
    pub devices: Vec<String>,
    /// How data is kept, `single`, `raid1` …; two while it is converted, with a plus between.
    pub data_profile: Option<Fact<String>>,
    pub metadata_profile: Option<Fact<String>>,
    /// What of the space set aside for data is used.
    pub data: Option<Fact<Usage>>,
    pub metadata: Option<Fact<Usage>>,
    /// `none`, `balance`, `device replace`, `resize` …
    pub operation: Option<Fact<String>>,
    /// Devices that should be there and are not.
    pub missing_devices: Option<Fact<u64>>,
    /// Failed reads, writes and flushes and damaged blocks, of all its devices, until reset.
    pub errors: Option<Fact<u64>>,
}

/// The btrfs file systems on the devices at these folders, each once.
pub(crate) fn btrfs(r: &mut Reader<'_>, dirs: &[PathBuf]) -> Vec<BtrfsFacts> {
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut found = Vec::new();
    for dir in dirs {
        let Some((folder, devices)) = btrfs_folder(r, name(dir)) else { continue };
        if !seen.contains(&folder) {
            found.push(one(r, &folder, devices));
            seen.push(folder);
        }
    }
    found
}

fn one(r: &mut Reader<'_>, folder: &Path, devices: Vec<String>) -> BtrfsFacts {
    let of = |kind: &str| folder.join("allocation").join(kind);
    let members: Vec<PathBuf> = {
        let info = folder.join("devinfo");
        r.names(&info).into_iter().map(|id| info.join(id)).collect()
    };
    let sum = |file: &str, counted: &dyn Fn(&str) -> u64| {
        let texts: Vec<String> = members.iter().filter_map(|m| r.hint(&m.join(file))).collect();
        let total = texts.iter().map(|t| counted(t)).fold(0, u64::saturating_add);
        (!texts.is_empty()).then(|| Fact::new(total, show(&folder.join("devinfo/*").join(file))))
    };
    BtrfsFacts {
        data_profile: profile(r, &of("data")),
        metadata_profile: profile(r, &of("metadata")),
        data: used(r, &of("data")),
        metadata: used(r, &of("metadata")),
        missing_devices: sum("missing", &|text| u64::from(text.trim() == "1")),
        errors: sum("error_stats", &errors),
        operation: r.optional(&folder.join("exclusive_operation"), "what the file system does"),
        devices,
    }
}

fn profile(r: &Reader<'_>, folder: &Path) -> Option<Fact<String>> {
    let names = r.names(folder).into_iter().filter(|n| PROFILES.contains(&n.as_str()));
    let all = names.collect::<Vec<_>>().join("+");
    (!all.is_empty()).then(|| Fact::new(all, show(folder)))
}

fn used(r: &Reader<'_>, folder: &Path) -> Option<Fact<Usage>> {
    let number = |file: &str| Some(r.parsed::<u64>(&folder.join(file))?.value);
    let room = Usage { used_bytes: number("bytes_used")?, bytes: number("total_bytes")? };
    Some(Fact::new(room, show(&folder.join("bytes_used"))))
}

/// Lines of `write_errs 0`.
fn errors(text: &str) -> u64 {
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    words.iter().filter_map(|word| word.parse::<u64>().ok()).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    #[test]
    fn profiles_use_errors_and_missing_devices_are_read() {
        let at = "/sys/fs/btrfs/1234";
        let stats = |writes: u32| format!("write_errs {writes}\nread_errs 0\ncorruption_errs 2\n");
        let fake = Fake::new()
            .file(format!("{at}/devices/sda1/dev"), "8:1")
            .file(format!("{at}/devices/sdb1/dev"), "8:17")
            .file(format!("{at}/allocation/data/raid1/total_bytes"), "9")
            .file(format!("{at}/allocation/data/bytes_used"), "250\n")
            .file(format!("{at}/allocation/data/total_bytes"), "1000\n")
            .file(format!("{at}/allocation/metadata/dup/total_bytes"), "9")
            .file(format!("{at}/allocation/metadata/raid1/total_bytes"), "9")
            .file(format!("{at}/devinfo/1/error_stats"), stats(0))
            .file(format!("{at}/devinfo/2/error_stats"), stats(5))
            .file(format!("{at}/devinfo/1/missing"), "0\n")
            .file(format!("{at}/devinfo/2/missing"), "1\n")
            .file(format!("{at}/exclusive_operation"), "balance\n");
        let dirs = ["/x/sda".into(), "/x/sda/sda1".into(), "/x/sdb/sdb1".into()];
        let all = btrfs(&mut Reader::new(&fake), &dirs);
        let [facts] = &all[..] else { panic!("{all:?}") };
        assert_eq!(facts.devices, ["sda1", "sdb1"]);
        assert_eq!(facts.data_profile.as_ref().unwrap().value, "raid1");
        assert_eq!(facts.metadata_profile.as_ref().unwrap().value, "dup+raid1");
        assert_eq!(facts.data.as_ref().unwrap().value.share(), 0.25);
        assert_eq!(facts.metadata, None);
        assert_eq!(facts.errors.as_ref().unwrap().value, 9);
        assert_eq!(facts.missing_devices.as_ref().unwrap().value, 1);
        assert_eq!(facts.operation.as_ref().unwrap().value, "balance");
        assert!(btrfs(&mut Reader::new(&Fake::new()), &dirs).is_empty());
    }
}
