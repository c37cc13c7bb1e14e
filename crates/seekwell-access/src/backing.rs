//! Which file a loop device shows or a process uses, as far as files can be distinguished.
//!
//! Device and inode name a file, but not for file systems that show the files of others: the same
//! file has other numbers through an overlay, FUSE or a network. What an overlay shows is looked up
//! in its layers. Where a file lies on anything else of that kind, its data may be any other file's
//! of the same size.

use crate::member::{Member, backing_file};
use crate::namespaces::tables;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Statx, StatxFlags, statx};
use seekwell_sys::{DevId, Mount, View, parse_mountinfo};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A file, by device and inode and not by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    pub dev: DevId,
    pub inode: u64,
}

impl FileId {
    pub(crate) fn of(stat: &Statx) -> Self {
        let dev = DevId { major: stat.stx_dev_major, minor: stat.stx_dev_minor };
        Self { dev, inode: stat.stx_ino }
    }
}

/// A file that somebody uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backing {
    /// As its user has it open.
    id: FileId,
    /// The file that holds its data, if it is known.
    data: Option<FileId>,
    /// Unknown where the file cannot be reached by its name.
    size_bytes: Option<u64>,
    /// What it lies on; empty if that is unknown.
    pub fstype: String,
}

/// The process whose view of the file system a path belongs to; `None` is this one.
type Process = Option<u32>;

/// File systems without a block device of their own in `st_dev` that hold their files themselves.
const OWN: [&str; 7] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "btrfs", "bcachefs", "zfs"];
/// What the kernel calls memory that is a file on a mount of its own.
const MEMORY: [&str; 4] = ["/memfd:", "/SYSV", "/dev/zero", "/anon_hugepage"];

/// Looks at a file without asking a server, which may be gone.
pub(crate) fn look(path: &Path) -> rustix::io::Result<Statx> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    statx(CWD, path, AtFlags::STATX_DONT_SYNC, wanted)
}

impl Backing {
    /// The file of a loop device, which the kernel knows by `id`. The name it has for it may be
    /// gone, or be another file's.
    pub(crate) fn of_loop(view: &dyn View, member: &Member, id: FileId) -> Self {
        let name = backing_file(view, member).map(PathBuf::from).unwrap_or_default();
        let found = |path: &Path| look(path).ok().filter(|stat| FileId::of(stat) == id);
        if let Some(stat) = found(&name) {
            return Self::of(view, &name, None, &stat);
        }
        // The file system of a container may be mounted nowhere but there.
        let mut fstype = String::new();
        for (process, mounts) in tables(view).unwrap_or_default() {
            let Some(mount) = mounts.into_iter().find(|mount| mount.dev == id.dev) else {
                continue;
            };
            if let Some(stat) = process.and_then(|pid| found(&inside(pid, &name))) {
                return Self::of(view, &name, process, &stat);
            }
            fstype = mount.fstype;
        }
        let own = is_own(id.dev, &fstype);
        Self { id, data: own.then_some(id), size_bytes: None, fstype }
    }

    /// The file that a process knows as `name`.
    fn of(view: &dyn View, name: &Path, process: Process, stat: &Statx) -> Self {
        let id = FileId::of(stat);
        let on = |mount: &Mount| mount.id == stat.stx_mnt_id;
        let mount = mounts(view, None).into_iter().find(on);
        let mount = mount.or_else(|| mounts(view, process).into_iter().find(on));
        let memory = MEMORY.iter().any(|start| name.to_string_lossy().starts_with(start));
        let (fstype, data) = match &mount {
            Some(mount) if mount.fstype == "overlay" => {
                ("overlay", shown_by_overlay(view, mount, name, process, stat))
            }
            Some(mount) => (&*mount.fstype, is_own(id.dev, &mount.fstype).then_some(id)),
            None => ("", (id.dev.major != 0 || memory).then_some(id)),
        };
        Self { id, data, size_bytes: Some(stat.stx_size), fstype: fstype.to_owned() }
    }

    /// Opens the file of a loop device for reading, if it is still where it was.
    pub(crate) fn open(&self, view: &dyn View, member: &Member) -> Option<OwnedFd> {
        let name = backing_file(view, member)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = rustix::fs::open(name, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        let id = FileId { dev: DevId::from_raw(stat.st_dev), inode: stat.st_ino };
        (id == self.id).then_some(file)
    }

    /// Whether it is unknown which file holds the data.
    pub(crate) fn is_unclear(&self) -> bool {
        self.data.is_none()
    }

    /// Whether both are one file, as far as is known.
    pub(crate) fn may_be(&self, other: &Self) -> bool {
        match (self.data, other.data) {
            _ if self.id == other.id => true,
            (Some(own), Some(others)) => own == others,
            _ => match (self.size_bytes, other.size_bytes) {
                (Some(own), Some(others)) => own == others,
                _ => true,
            },
        }
    }

    /// Whether it may be what a path leads to.
    pub(crate) fn may_be_at(
        &self,
        view: &dyn View,
        path: &Path,
        process: Process,
        stat: &Statx,
    ) -> bool {
        let id = FileId::of(stat);
        if id == self.id || Some(id) == self.data {
            return true;
        }
        if id.dev.major != 0 || self.size_bytes.is_some_and(|size| size != stat.stx_size) {
            return false;
        }
        let name = view.link(path).unwrap_or_else(|_| path.to_path_buf());
        self.may_be(&Self::of(view, &name, process, stat))
    }
}

fn is_own(dev: DevId, fstype: &str) -> bool {
    dev.major != 0 || OWN.contains(&fstype)
}

/// What a process knows as `path`.
fn inside(pid: u32, path: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/root")).join(path.strip_prefix("/").unwrap_or(path))
}

fn mounts(view: &dyn View, process: Process) -> Vec<Mount> {
    let who = process.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let path = PathBuf::from(format!("/proc/{who}/mountinfo"));
    let text = view.text(&path).unwrap_or_default();
    parse_mountinfo(&text, &path).unwrap_or_default()
}

/// The file that an overlay shows as `name`: of those with that name in its layers the one with
/// what an overlay takes from it. `None` if a layer cannot be reached, or calls it otherwise.
fn shown_by_overlay(
    view: &dyn View,
    mount: &Mount,
    name: &Path,
    process: Process,
    shown: &Statx,
) -> Option<FileId> {
    let below = name.strip_prefix(&mount.mount_point).ok()?;
    let below = Path::new(mount.root.trim_start_matches('/')).join(below);
    let attributes = |s: &Statx| {
        let times = [s.stx_mtime, s.stx_ctime].map(|time| (time.tv_sec, time.tv_nsec));
        (s.stx_size, s.stx_blocks, s.stx_mode, s.stx_uid, times)
    };
    mount.overlay_layers().iter().map(|layer| layer.join(&below)).find_map(|file| {
        // A layer has the name that was given at the mount.
        let inside = process.map(|pid| inside(pid, &file));
        [Some(file.clone()), inside].into_iter().flatten().find_map(|path| {
            let stat = look(&path).ok()?;
            let same = path.is_absolute() && attributes(&stat) == attributes(shown);
            same.then(|| Backing::of(view, &file, process, &stat).data)?
        })
    })
}
