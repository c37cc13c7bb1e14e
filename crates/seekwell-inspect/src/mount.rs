//! The mount that holds a path, and the device below it.

use crate::find;
use crate::model::{Fact, Filesystem};
use crate::reader::{Need, Reader, reason, show};
use crate::target::FsSpace;
use seekwell_sys::{DevId, Mount, ViewError, parse_mountinfo};
use std::path::{Path, PathBuf};

pub(crate) const MOUNTINFO: &str = "/proc/self/mountinfo";

/// All mounts this process sees. A malformed line is reported and left out.
pub(crate) fn read(r: &mut Reader<'_>, need: Need) -> Vec<Mount> {
    let path = Path::new(MOUNTINFO);
    let text = match r.view.text(path) {
        Ok(text) => text,
        Err(error) => {
            r.miss_error("mounts", &error, need);
            return Vec::new();
        }
    };
    let mut mounts = Vec::new();
    for line in text.lines() {
        match parse_mountinfo(line, path) {
            Ok(found) => mounts.extend(found),
            Err(error @ ViewError::Malformed { .. }) => {
                r.miss("one of the mounts", MOUNTINFO, reason(&error));
            }
            Err(_) => {}
        }
    }
    mounts
}

/// The mount a path is on. `dev` is the path's `st_dev`, if it is known.
///
/// Of the mounts above the path the deepest with the right number is it; the last of equals, for
/// it covers the others. A btrfs subvolume and a file on overlayfs have numbers no mount has: for
/// these the deepest anonymous mount is taken, then the deepest of all.
pub(crate) fn holding<'m>(
    mounts: &'m [Mount],
    path: &Path,
    dev: Option<DevId>,
) -> Option<&'m Mount> {
    let above = || mounts.iter().filter(|m| path.starts_with(&m.mount_point));
    let deepest = |found: &mut dyn Iterator<Item = &'m Mount>| {
        found.max_by_key(|m| m.mount_point.components().count())
    };
    let Some(dev) = dev else { return deepest(&mut above()) };
    deepest(&mut above().filter(|m| m.dev == dev))
        .or_else(|| deepest(&mut above().filter(|m| m.dev.major == 0)).filter(|_| dev.major == 0))
        .or_else(|| deepest(&mut above()))
}

pub(crate) fn filesystem(mount: &Mount, space: Option<FsSpace>) -> Filesystem {
    let fact = |value: String| Fact::new(value, MOUNTINFO);
    let counted = |value: u64| Fact::new(value, "statvfs");
    Filesystem {
        mount_point: fact(show(&mount.mount_point)),
        fstype: fact(mount.fstype.clone()),
        source: fact(mount.source.clone()),
        read_only: mount.options.iter().any(|o| o == "ro"),
        options: Fact::new(mount.options.clone(), MOUNTINFO),
        size_bytes: space.map(|s| counted(s.size_bytes)),
        available_bytes: space.map(|s| counted(s.available_bytes)),
        inodes_available: space.and_then(|s| s.inodes_available).map(counted),
        below: None,
        fuse: None,
    }
}

/// The sysfs folder of the block device a mount is on; `dev` is the number of the path on it.
pub(crate) fn device_dir(r: &Reader<'_>, mount: &Mount, dev: Option<DevId>) -> Option<PathBuf> {
    let numbers = dev.into_iter().chain([mount.dev]).filter(|d| d.major != 0);
    let by_number = || numbers.into_iter().find_map(|d| find::by_number(r, d));
    // bcachefs joins its members by colons; the first stands for all.
    let source = || find::by_node(r, mount.source.split(':').next()?);
    by_number().or_else(source)
}

/// The folder in sysfs of the btrfs on the device of this name, and the names of all its devices.
pub(crate) fn btrfs_folder(r: &Reader<'_>, device: &str) -> Option<(PathBuf, Vec<String>)> {
    let all = Path::new("/sys/fs/btrfs");
    r.names(all).into_iter().find_map(|uuid| {
        let folder = all.join(uuid);
        let devices = r.names(&folder.join("devices"));
        devices.iter().any(|d| d == device).then_some((folder, devices))
    })
}

/// The names of all members of the btrfs file system that has `member`, if there are several.
pub(crate) fn btrfs_members(r: &Reader<'_>, member: &Path) -> Option<Fact<Vec<String>>> {
    let (folder, names) = btrfs_folder(r, member.file_name()?.to_str()?)?;
    (names.len() > 1).then(|| Fact::new(names, show(&folder.join("devices"))))
}

/// Where the upper layer of an overlay is, when this mount namespace shows it.
///
/// A container's runtime mounts the overlay outside and then changes the root, so that the path
/// leads nowhere inside. Yet it also binds files of its own folder over `/etc/hosts` and the like;
/// such a mount with a device and a root in the same folder shows the device. The second value says
/// which mount showed it.
pub(crate) fn below_overlay<'m>(
    mounts: &'m [Mount],
    overlay: &Mount,
) -> Option<(&'m Mount, &'static str)> {
    let upper = overlay.options.iter().find_map(|o| o.strip_prefix("upperdir="))?;
    let upper = Path::new(upper);
    let seen = holding(mounts, upper, None).filter(|m| m.dev != overlay.dev);
    if let Some(mount) = seen {
        return Some((mount, "the mount of its upper directory"));
    }
    // Three names in common: /var/lib/docker, /var/lib/containers.
    let folder: PathBuf = upper.components().take(4).collect();
    let bound = |m: &&Mount| {
        let etc = m.mount_point.starts_with("/etc") && m.dev.major != 0;
        etc && folder.components().count() == 4 && Path::new(&m.root).starts_with(&folder)
    };
    Some((
        mounts.iter().find(bound)?,
        "the mount of a file the container's runtime keeps beside it",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts(text: &str) -> Vec<Mount> {
        parse_mountinfo(text, Path::new(MOUNTINFO)).unwrap()
    }

    fn dev(major: u32, minor: u32) -> Option<DevId> {
        Some(DevId { major, minor })
    }

    const PLAIN: &str = "\
21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 8:2 / /srv rw - xfs /dev/sda2 rw
23 22 8:2 /projects /srv/bind rw - xfs /dev/sda2 rw
24 21 0:40 / /mnt/my\\040disk rw - btrfs /dev/sdb rw,subvol=/
25 21 0:41 / /tmp rw - tmpfs tmpfs rw
26 21 0:42 / /net rw - nfs4 server:/export rw
27 21 8:17 / /tmp/over ro - ext4 /dev/sdb1 ro
28 21 8:18 / /tmp/over rw - ext4 /dev/sdb2 rw
";

    fn at(path: &str, dev: Option<DevId>) -> String {
        let mounts = mounts(PLAIN);
        holding(&mounts, Path::new(path), dev).map(|m| m.source.clone()).unwrap_or_default()
    }

    #[test]
    fn the_deepest_mount_with_the_right_number_holds_the_path() {
        assert_eq!(at("/etc/passwd", dev(8, 1)), "/dev/sda1");
        assert_eq!(at("/srv/bind/x", dev(8, 2)), "/dev/sda2");
        let all = mounts(PLAIN);
        let bind = holding(&all, Path::new("/srv/bind/x"), dev(8, 2)).unwrap();
        assert_eq!(bind.root, "/projects");
        assert_eq!(at("/srvx", dev(8, 1)), "/dev/sda1", "a name is no prefix of a longer one");
        assert_eq!(at("/tmp/x", dev(0, 41)), "tmpfs");
        assert_eq!(at("/net/x", dev(0, 42)), "server:/export");
        assert_eq!(at("/mnt/my disk/x", dev(0, 40)), "/dev/sdb");
    }

    #[test]
    fn of_mounts_on_one_point_the_last_covers_the_others() {
        assert_eq!(at("/tmp/over/x", None), "/dev/sdb2");
        assert_eq!(at("/tmp/over/x", dev(8, 17)), "/dev/sdb1", "an open file may be on the first");
    }

    #[test]
    fn a_btrfs_subvolume_has_a_number_no_mount_has() {
        assert_eq!(at("/mnt/my disk/sub/x", dev(0, 77)), "/dev/sdb");
    }

    #[test]
    fn no_mounts_hold_nothing() {
        assert_eq!(holding(&[], Path::new("/x"), dev(8, 1)), None);
    }

    #[test]
    fn the_disk_below_a_container_s_overlay_is_told_by_a_bound_file() {
        let inside = mounts(
            "30 1 0:50 / / rw - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/A,\
             upperdir=/var/lib/docker/overlay2/abc/diff,workdir=/w\n\
             31 30 0:51 / /etc/other rw - tmpfs tmpfs rw\n\
             32 30 259:2 /var/lib/docker/containers/abc/hosts /etc/hosts rw - ext4 /dev/root rw\n",
        );
        let (mount, _) = below_overlay(&inside, &inside[0]).unwrap();
        assert_eq!(mount.dev, DevId { major: 259, minor: 2 });
        assert_eq!(below_overlay(&inside[..2], &inside[0]), None);
    }

    #[test]
    fn the_disk_below_an_overlay_is_its_upper_directory_s() {
        let outside = mounts(
            "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n22 21 8:2 / /data rw - ext4 /dev/sda2 rw\n\
             23 21 0:50 / /merged rw - overlay overlay \
             rw,lowerdir=/l,upperdir=/data/up,workdir=/w\n",
        );
        let (mount, _) = below_overlay(&outside, &outside[2]).unwrap();
        assert_eq!(mount.source, "/dev/sda2");
    }
}
