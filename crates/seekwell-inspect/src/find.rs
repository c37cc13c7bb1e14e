//! From a device number, a kernel name or a `/dev` path to a device's own folder in sysfs.

use crate::reader::Reader;
use crate::sysfs::{is_pci_function, name};
use seekwell_sys::DevId;
use std::path::{Path, PathBuf};

pub(crate) fn by_number(r: &Reader<'_>, dev: DevId) -> Option<PathBuf> {
    if let Ok(dir) = r.view.canonical(&dev.sysfs()) {
        return Some(dir);
    }
    // Where /sys/dev is not shown, every device says its number itself.
    let wanted = dev.to_string();
    let folders = ["/sys/class/block", "/sys/block"];
    let names = folders.iter().flat_map(|f| r.names(Path::new(f)));
    names
        .filter_map(|n| by_name(r, &n))
        .find(|dir| r.hint(&dir.join("dev")).as_ref() == Some(&wanted))
}

/// The folder of the device with this kernel name.
pub(crate) fn by_name(r: &Reader<'_>, name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains('/') || name.starts_with('.') {
        return None;
    }
    let folders = ["/sys/class/block", "/sys/block"];
    folders.iter().find_map(|f| r.view.canonical(&Path::new(f).join(name)).ok())
}

/// The folder of the device a `/dev` path names, links included. Device-mapper names are found
/// without the help of udev's links.
pub(crate) fn by_node(r: &Reader<'_>, node: &str) -> Option<PathBuf> {
    let path = Path::new(node);
    let inside = path.strip_prefix("/dev").ok()?;
    if let Ok(real) = r.view.canonical(path)
        && let Ok(name) = real.strip_prefix("/dev")
        && let Some(dir) = name.to_str().and_then(|n| by_name(r, &n.replace('/', "!")))
    {
        return Some(dir);
    }
    if let Some(dir) = inside.to_str().and_then(|n| by_name(r, &n.replace('/', "!"))) {
        return Some(dir);
    }
    let wanted = match inside.strip_prefix("mapper") {
        Ok(name) => name.to_str()?.to_owned(),
        // LVM joins /dev/group/volume by a hyphen and doubles those already there.
        Err(_) => {
            let parts: Vec<String> =
                inside.iter().filter_map(|p| Some(p.to_str()?.replace('-', "--"))).collect();
            parts.join("-")
        }
    };
    let mappers = r.names(Path::new("/sys/block")).into_iter().filter(|n| n.starts_with("dm-"));
    mappers
        .filter_map(|n| by_name(r, &n))
        .find(|dir| r.hint(&dir.join("dm/name")).as_ref() == Some(&wanted))
}

/// The folders of all PCI functions: from the bus, and above the disks if it is not shown.
pub(crate) fn pci_functions(r: &Reader<'_>) -> Vec<PathBuf> {
    let listed = |folder: &str| -> Vec<PathBuf> {
        let folder = Path::new(folder);
        let real = |n: String| r.view.canonical(&folder.join(n)).ok();
        r.names(folder).into_iter().filter_map(real).collect()
    };
    let mut all = listed("/sys/bus/pci/devices");
    for device in listed("/sys/block").into_iter().chain(listed("/sys/class/ata_port")) {
        let is_function = |p: &&Path| is_pci_function(name(p));
        all.extend(device.ancestors().find(is_function).map(Path::to_path_buf));
    }
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    fn mapper() -> Fake {
        Fake::new()
            .symlink("/sys/block/dm-0", "../devices/virtual/block/dm-0")
            .file("/sys/devices/virtual/block/dm-0/dm/name", "my--group-data\n")
            .file("/sys/devices/virtual/block/dm-0/dev", "253:0\n")
    }

    #[test]
    fn a_number_is_found_where_sys_dev_is_not_shown() {
        let fake = mapper();
        let dir = by_number(&Reader::new(&fake), DevId { major: 253, minor: 0 });
        assert_eq!(dir.as_deref(), Some(Path::new("/sys/devices/virtual/block/dm-0")));
        assert_eq!(by_number(&Reader::new(&fake), DevId { major: 253, minor: 1 }), None);
    }

    #[test]
    fn a_logical_volume_is_found_by_each_of_its_names() {
        let fake = mapper().symlink("/dev/disk/by-id/x", "../../dm-0").file("/dev/dm-0", "");
        let r = Reader::new(&fake);
        for node in
            ["/dev/dm-0", "/dev/mapper/my--group-data", "/dev/my-group/data", "/dev/disk/by-id/x"]
        {
            assert!(by_node(&r, node).is_some(), "{node}");
        }
        for node in ["/dev/mapper/other", "/tmp/dm-0", "/dev", "/dev/..", "none", ""] {
            assert_eq!(by_node(&r, node), None, "{node}");
        }
    }
}
