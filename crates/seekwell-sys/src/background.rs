//! Background work on disks, identified by the kernel thread or program that does it.

use crate::View;
use std::collections::BTreeMap;
use std::path::Path;

/// A kind of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Background {
    /// ext4 zeroes the inode tables that mkfs left (`ext4lazyinit` in fs/ext4/super.c).
    InodeTables,
    /// MD synchronises, checks, rebuilds or reshapes an array (`md0_resync` in drivers/md/md.c;
    /// older kernels have `md0_reshape`).
    ArraySync,
    /// A balance, a scrub or a defragmentation of btrfs: `btrfs` itself, or the kernel that resumes
    /// a balance (`btrfs-balance` in fs/btrfs/volumes.c).
    Btrfs,
    /// btrfs frees the space of deleted subvolumes and snapshots (fs/btrfs/disk-io.c).
    BtrfsCleaner,
    /// bcache writes dirty data back or collects garbage (drivers/md/bcache).
    Bcache,
    /// F2FS cleans its segments (`f2fs_gc-8:1` in fs/f2fs/gc.c).
    SegmentCleaning,
    /// Memory is reclaimed: the page cache shrinks, pages are swapped out (`kswapd0` in
    /// mm/vmscan.c).
    Reclaim,
    /// Unused blocks are trimmed.
    Trim,
    /// A mounted file system, or a snapshot of one, is checked.
    Check,
    /// The names of all files are read for `locate`.
    FileIndex,
}

impl Background {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::InodeTables,
        Self::ArraySync,
        Self::Btrfs,
        Self::BtrfsCleaner,
        Self::Bcache,
        Self::SegmentCleaning,
        Self::Reclaim,
        Self::Trim,
        Self::Check,
        Self::FileIndex,
    ];

    /// The name of who does it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InodeTables => "ext4lazyinit",
            Self::ArraySync => "md_resync",
            Self::Btrfs => "btrfs",
            Self::BtrfsCleaner => "btrfs_cleaner",
            Self::Bcache => "bcache",
            Self::SegmentCleaning => "f2fs_gc",
            Self::Reclaim => "kswapd",
            Self::Trim => "fstrim",
            Self::Check => "check",
            Self::FileIndex => "updatedb",
        }
    }

    /// What a program of this name does, or a thread of the kernel. Kernels before 5.17 cut the
    /// names of their threads to 15 bytes, as names of programs are.
    fn of(comm: &str, is_kernel: bool) -> Option<Self> {
        Some(match (is_kernel, comm) {
            (true, "ext4lazyinit") => Self::InodeTables,
            (true, name) if name.ends_with("_resync") || name.ends_with("_reshape") => {
                Self::ArraySync
            }
            (true, "btrfs-balance") | (false, "btrfs") => Self::Btrfs,
            (true, "btrfs-cleaner") => Self::BtrfsCleaner,
            (true, "bcache_gc" | "bcache_writebac" | "bcache_writeback") => Self::Bcache,
            (true, name) if name.starts_with("f2fs_gc-") => Self::SegmentCleaning,
            (true, name) if name.starts_with("kswapd") => Self::Reclaim,
            (false, "fstrim") => Self::Trim,
            (false, "e2fsck" | "xfs_scrub") => Self::Check,
            (false, name) if name.starts_with("updatedb") => Self::FileIndex,
            _ => return None,
        })
    }

    /// The CPU time so far, in nanoseconds, of each process that does any of it, by its number. A
    /// program's other threads are left out, and so is everything on a kernel without
    /// `CONFIG_SCHED_INFO`.
    pub(crate) fn running(view: &dyn View) -> BTreeMap<String, (Self, u64)> {
        let names = view.list(Path::new("/proc")).unwrap_or_default();
        let numbers = names.into_iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
        numbers.filter_map(|pid| Some((pid.clone(), process(view, &pid)?))).collect()
    }
}

/// What a process does in the background, and its CPU time in nanoseconds.
fn process(view: &dyn View, pid: &str) -> Option<(Background, u64)> {
    let text = |file: &str| view.text(&Path::new("/proc").join(pid).join(file)).ok();
    let comm = text("comm")?;
    // Few have such a name, and only of these it matters whose they are.
    [true, false].iter().find_map(|is_kernel| Background::of(&comm, *is_kernel))?;
    let background = Background::of(&comm, is_kernel_thread(&text("stat")?)?)?;
    let ran_ns = text("schedstat")?.split(' ').next()?.parse().ok()?;
    Some((background, ran_ns))
}

/// Whether it is a child of `kthreadd`, process 2: the second field behind the name, which may hold
/// anything (proc(5)).
fn is_kernel_thread(stat: &str) -> Option<bool> {
    Some(stat.rsplit_once(") ")?.1.split(' ').nth(1)? == "2")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn with(fake: Fake, pid: u32, comm: &str, parent: u32, ns: u64) -> Fake {
        let at = format!("/proc/{pid}");
        fake.file(format!("{at}/comm"), format!("{comm}\n"))
            .file(format!("{at}/stat"), format!("{pid} ({comm}) S {parent} 0 0 0 -1 2129984 0\n"))
            .file(format!("{at}/schedstat"), format!("{ns} 100008 2\n"))
    }

    #[test]
    fn threads_are_known_by_name_and_programs_cannot_pass_for_them() {
        let fake = Fake::new().file("/proc/stat", "cpu  1 2 3\n");
        let fake = with(fake, 40, "kswapd0", 2, 7_000);
        let fake = with(fake, 41, "kswapd0", 1, 9_000_000);
        let fake = with(fake, 42, "md127_resync", 2, 8_000);
        let fake = with(fake, 43, "bcache_writebac", 2, 1);
        let fake = with(fake, 44, "fstrim", 1, 5);
        let fake = with(fake, 45, "kworker/0:1-events", 2, 77);
        let fake = with(fake, 46, "updatedb.plocat", 45, 6).without("/proc/46/schedstat");
        let found = Background::running(&fake);
        let found: Vec<_> = found.iter().map(|(pid, what)| (pid.as_str(), *what)).collect();
        assert_eq!(
            found,
            [
                ("40", (Background::Reclaim, 7_000)),
                ("42", (Background::ArraySync, 8_000)),
                ("43", (Background::Bcache, 1)),
                ("44", (Background::Trim, 5)),
            ]
        );
    }
}
