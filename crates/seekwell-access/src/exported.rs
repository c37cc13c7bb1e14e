//! Whether the kernel itself exports a device, over the network or USB.
//!
//! The NVMe target, the SCSI target's file backend and the USB mass-storage gadget open what they
//! export without claiming it, and no process holds a descriptor. Only configfs lists the exports.
//!
//! Sources: `nvmet_bdev_ns_enable` in drivers/nvme/target/io-cmd-bdev.c; `fd_configure_device` and
//! `fd_show_configfs_dev_params` in drivers/target/target_core_file.c; `fsg_lun_open` in
//! drivers/usb/gadget/function/storage_common.c.

use crate::Refusal;
use crate::backing::look;
use crate::device::{BelowLoop, Family, block_device_at};
use crate::namespaces::tables;
use seekwell_sys::{View, ViewError};
use std::path::{Path, PathBuf};

/// A kind of export: its module, the configfs folders of its entries, and how to read the path that
/// an active entry exports.
struct Export {
    module: &'static str,
    folders: &'static [&'static str],
    file: fn(&dyn View, &Path) -> Result<Option<String>, ViewError>,
}

const EXPORTS: [Export; 3] = [
    Export {
        module: "nvmet",
        folders: &["nvmet", "subsystems", "*", "namespaces", "*"],
        file: |view, at| match view.text(&at.join("enable"))?.as_str() {
            "0" => Ok(None),
            _ => view.text(&at.join("device_path")).map(Some),
        },
    },
    Export {
        module: "target_core_file",
        folders: &["target", "core", "fileio_*", "*"],
        // An entry that is not configured shows no file.
        file: |view, at| {
            let info = view.text(&at.join("info"))?;
            let file = info.split_once("File: ").and_then(|(_, rest)| rest.split_once("  Size: "));
            Ok(file.map(|(file, _)| file.to_owned()))
        },
    },
    Export {
        module: "usb_f_mass_storage",
        folders: &["usb_gadget", "*", "functions", "mass_storage.*", "lun.*"],
        file: |view, at| {
            view.text(&at.join("file")).map(|file| Some(file).filter(|f| !f.is_empty()))
        },
    },
];

/// Refuses if any member, or the backing file, is exported, or if that cannot be determined.
pub(crate) fn check(view: &dyn View, target: &Path, family: &Family) -> Result<(), Refusal> {
    let unsure = |source| Refusal::Unsure { target: target.to_path_buf(), source };
    let Some(root) = configfs(view).map_err(unsure)? else {
        let module = |e: &&Export| view.exists(&Path::new("/sys/module").join(e.module));
        return match EXPORTS.iter().find(module) {
            None => Ok(()),
            Some(Export { module, .. }) => {
                Err(Refusal::UnseenExports { target: target.to_path_buf(), module })
            }
        };
    };
    for export in EXPORTS {
        for entry in matching(view, &root, export.folders).map_err(unsure)? {
            let Some(file) = (export.file)(view, &entry).map_err(unsure)? else { continue };
            if let Some(device) = exported_member(view, target, family, Path::new(&file))? {
                return Err(Refusal::Exported { target: target.to_path_buf(), device, entry });
            }
        }
    }
    Ok(())
}

/// The member that an exported path refers to: a device, or the target if it is the backing file.
fn exported_member(
    view: &dyn View,
    target: &Path,
    family: &Family,
    path: &Path,
) -> Result<Option<String>, Refusal> {
    if let Some(dev) = block_device_at(view, path) {
        return Ok(family.member(dev).map(|member| member.node()));
    }
    // A path that cannot be looked at may be a name of the target.
    let stat = look(path).map_err(|errno| Refusal::Failed {
        target: target.to_path_buf(),
        step: "compared with a file that the kernel exports",
        source: errno.into(),
    })?;
    let same = |below: &BelowLoop| below.file.may_be_at(view, path, None, &stat);
    Ok(family.file.as_ref().is_some_and(same).then(|| family.target.node()))
}

/// A mount point of configfs in any mount namespace; all of them show the same content.
fn configfs(view: &dyn View) -> Result<Option<PathBuf>, ViewError> {
    for (pid, mounts) in tables(view)? {
        for mount in mounts.into_iter().filter(|mount| mount.fstype == "configfs") {
            let path = match pid {
                None => mount.mount_point,
                Some(pid) => {
                    PathBuf::from(format!("/proc/{pid}/root{}", mount.mount_point.display()))
                }
            };
            if view.list(&path).is_ok() {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}

/// The folders below `root` that match a pattern, in which a part may end in `*`.
fn matching(view: &dyn View, root: &Path, pattern: &[&str]) -> Result<Vec<PathBuf>, ViewError> {
    let mut found = vec![root.to_path_buf()];
    for part in pattern {
        let mut next = Vec::new();
        for folder in found {
            let fits = |name: &String| match part.strip_suffix('*') {
                Some(stem) => name.starts_with(stem),
                None => name == part,
            };
            match view.list(&folder) {
                Ok(names) => next.extend(names.iter().filter(|n| fits(n)).map(|n| folder.join(n))),
                // A file among the folders, or an entry that has just been removed.
                Err(ViewError::Absent { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        found = next;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::Member;
    use seekwell_sys::DevId;
    use seekwell_sys::fake::Fake;

    const MOUNTS: &str = "/proc/self/mountinfo";
    const ROOT: &str = "/sys/kernel/config";

    /// A disk that no machine has, so its node is looked up in the view.
    fn family() -> Family {
        let disk = Member {
            dev: DevId { major: 259, minor: 7 },
            name: "exported0".to_owned(),
            sysfs: "/sys/block/exported0".into(),
        };
        Family {
            target: disk.clone(),
            disk: disk.clone(),
            members: vec![disk],
            generics: Vec::new(),
            file: None,
        }
    }

    fn host(mounts: &str) -> Fake {
        Fake::new()
            .file(MOUNTS, mounts)
            .file("/sys/class/block/exported0/dev", "259:7\n")
            .file("/sys/class/block/other0/dev", "259:8\n")
    }

    fn with_configfs() -> Fake {
        host(&format!("30 1 0:40 / {ROOT} rw - configfs configfs rw\n"))
            .file(format!("{ROOT}/nvmet/hosts/any"), "")
    }

    fn refusal(view: &Fake) -> Option<Refusal> {
        check(view, Path::new("/dev/exported0"), &family()).err()
    }

    #[test]
    fn a_disk_exported_by_the_nvme_target_is_in_use() {
        let namespace = format!("{ROOT}/nvmet/subsystems/lab/namespaces/1");
        let exports = |enable: &str, path: &str| {
            with_configfs()
                .file(format!("{namespace}/enable"), enable)
                .file(format!("{namespace}/device_path"), path)
        };
        let text = refusal(&exports("1\n", "/dev/exported0\n")).expect("exported").to_string();
        assert!(text.contains("/dev/exported0 is in use") && text.contains(&namespace), "{text}");
        assert!(refusal(&exports("0\n", "/dev/exported0\n")).is_none(), "it is disabled");
        assert!(refusal(&exports("1\n", "/dev/other0\n")).is_none(), "it is another disk");
        let closed = with_configfs().denied(format!("{namespace}/enable"));
        assert!(matches!(refusal(&closed), Some(Refusal::Unsure { .. })), "access is denied");
        let gone = refusal(&exports("1\n", "/no/such/link\n"));
        assert!(matches!(gone, Some(Refusal::Failed { .. })), "the path may name the target");
    }

    #[test]
    fn a_disk_exported_by_the_scsi_target_or_a_usb_gadget_is_in_use() {
        let lun = format!("{ROOT}/usb_gadget/g1/functions/mass_storage.0/lun.0/file");
        assert!(refusal(&with_configfs().file(&lun, "/dev/exported0\n")).is_some());
        assert!(refusal(&with_configfs().file(&lun, "\n")).is_none());
        let info = |text: &str| {
            let at = format!("{ROOT}/target/core/fileio_0/disk/info");
            refusal(&with_configfs().file(at, text))
        };
        let says = "Status: ACTIVATED  Max Queue Depth: 0\n        TCM FILEIO ID: 0        \
            File: /dev/exported0  Size: 1048576  Mode: O_DSYNC Async: 0\n";
        assert!(info(says).is_some());
        assert!(info("Status: DEACTIVATED  Max Queue Depth: 0\n").is_none());
    }

    #[test]
    fn a_loaded_target_module_without_configfs_is_refused() {
        assert!(refusal(&host("")).is_none());
        let loaded = host("").file("/sys/module/nvmet/refcnt", "1\n");
        let text = refusal(&loaded).expect("not known").to_string();
        assert!(text.contains("mount -t configfs"), "{text}");
    }
}
