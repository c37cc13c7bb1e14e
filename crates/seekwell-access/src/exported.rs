//! Whether the kernel itself gives a device away: to hosts on the network, or over USB.
//!
//! The NVMe target, files of the SCSI target and the USB mass-storage gadget open what they export
//! without claiming it, and no process has a descriptor. What they export stands in configfs.
//!
//! Sources: `nvmet_bdev_ns_enable` in drivers/nvme/target/io-cmd-bdev.c; `fd_configure_device` and
//! `fd_show_configfs_dev_params` in drivers/target/target_core_file.c; `fsg_lun_open` in
//! drivers/usb/gadget/function/storage_common.c.

use crate::Refusal;
use crate::backing::look;
use crate::device::{Family, block_device_at};
use crate::namespaces::tables;
use seekwell_sys::{View, ViewError};
use std::path::{Path, PathBuf};

/// A kind of export: the module, the folders of configfs that may hold one, and what one that is
/// switched on gives away.
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
        // Not configured, it says so in words without a file.
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

/// Refuses when any member, or the file below, is exported, and when that cannot be told.
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
            if let Some(device) = gives_away(view, target, family, Path::new(&file))? {
                return Err(Refusal::Exported { target: target.to_path_buf(), device, entry });
            }
        }
    }
    Ok(())
}

/// The member that a path leads to, or the target where it leads to the file below.
fn gives_away(
    view: &dyn View,
    target: &Path,
    family: &Family,
    path: &Path,
) -> Result<Option<String>, Refusal> {
    if let Some(dev) = block_device_at(view, path) {
        return Ok(family.member(dev).map(|member| member.node()));
    }
    let Some(below) = &family.file else { return Ok(None) };
    let stat = look(path).map_err(|errno| Refusal::Failed {
        target: target.to_path_buf(),
        step: "compared with a file that the kernel exports",
        source: errno.into(),
    })?;
    let same = below.file.may_be_at(view, path, None, &stat);
    Ok(same.then(|| family.target.node()))
}

/// Where configfs is mounted, in any mount namespace: all show the same.
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

/// The folders below `root` that a pattern names; `*` at the end of a part stands for any rest.
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
                // A file beside the folders, or one that went away meanwhile.
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

    /// A disk that no machine has, so that its node is looked for in the view.
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
    fn what_the_nvme_target_exports_is_in_use() {
        let namespace = format!("{ROOT}/nvmet/subsystems/lab/namespaces/1");
        let exports = |enable: &str, path: &str| {
            with_configfs()
                .file(format!("{namespace}/enable"), enable)
                .file(format!("{namespace}/device_path"), path)
        };
        let text = refusal(&exports("1\n", "/dev/exported0\n")).expect("exported").to_string();
        assert!(text.contains("/dev/exported0 is in use") && text.contains(&namespace), "{text}");
        assert!(refusal(&exports("0\n", "/dev/exported0\n")).is_none(), "it is switched off");
        assert!(refusal(&exports("1\n", "/dev/other0\n")).is_none(), "it is another disk");
        let closed = with_configfs().denied(format!("{namespace}/enable"));
        assert!(matches!(refusal(&closed), Some(Refusal::Unsure { .. })), "it cannot be told");
    }

    #[test]
    fn files_of_the_scsi_target_and_usb_gadgets_are_in_use() {
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
    fn a_target_module_whose_exports_cannot_be_seen_is_no_proof_that_nothing_is_exported() {
        assert!(refusal(&host("")).is_none());
        let loaded = host("").file("/sys/module/nvmet/refcnt", "1\n");
        let text = refusal(&loaded).expect("not known").to_string();
        assert!(text.contains("mount -t configfs"), "{text}");
    }
}
