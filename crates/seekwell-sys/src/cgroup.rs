//! Where memory is limited by cgroups (cgroups(7)), of either version.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// A hierarchy for each controller.
    One,
    Two,
}

/// The hierarchy that accounts memory, and where in it a process is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryCgroup {
    /// Its version, and with it the names of its files.
    pub version: Version,
    pub mount_point: PathBuf,
    /// The cgroup of the process, below that.
    pub below: PathBuf,
}

impl MemoryCgroup {
    /// From the texts of `/proc/self/mounts` and `/proc/self/cgroup`. `None` if no hierarchy
    /// with the memory controller is mounted.
    pub fn find(mounts: &str, own: &str) -> Option<Self> {
        let mut mounts = mounts.lines().map(|l| l.split(' ').collect::<Vec<_>>());
        let has_memory = |options: &&str| options.split(',').any(|o| o == "memory");
        let one = mounts
            .clone()
            .find(|f| f.get(2) == Some(&"cgroup") && f.get(3).is_some_and(has_memory));
        let (version, mount) = match one {
            Some(mount) => (Version::One, mount),
            None => (Version::Two, mounts.find(|f| f.get(2) == Some(&"cgroup2"))?),
        };
        let below = own.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let ours = match version {
                Version::One => has_memory(&controllers),
                Version::Two => controllers.is_empty(),
            };
            ours.then(|| PathBuf::from(path.trim_start_matches('/')))
        })?;
        Some(Self { version, mount_point: mount[1].into(), below })
    }

    /// The file of a cgroup that says how much memory it may use.
    pub fn limit_file(&self) -> &'static str {
        match self.version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        }
    }

    /// The least that the process's cgroup and those above it allow, in bytes, as `read` gives the
    /// texts of their files. `None` if none of them limits memory. A version 1
    /// limit beyond any machine's memory means no limit.
    pub fn limit(&self, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
        let cgroups = self.below.ancestors().map(|below| self.mount_point.join(below));
        cgroups.filter_map(|dir| read(&dir.join(self.limit_file()))?.trim().parse().ok()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIXED: &str = "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n\
                         cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    fn read(path: &Path) -> Option<String> {
        let files = [
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1048576\n"),
            ("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "2097152\n"),
            ("/sys/fs/cgroup/a/memory.max", "4096\n"),
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
        ];
        let held = files.iter().find(|(name, _)| Path::new(name) == path);
        held.map(|(_, text)| (*text).to_owned())
    }

    #[test]
    fn the_memory_controller_is_found_in_either_version() {
        let one = MemoryCgroup::find(MIXED, "4:memory:/a/b\n0::/x\n").unwrap();
        assert_eq!((one.version, one.below.as_path()), (Version::One, Path::new("a/b")));
        assert_eq!(one.mount_point, Path::new("/sys/fs/cgroup/memory"));
        let two = MemoryCgroup::find("c /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/a/b\n").unwrap();
        assert_eq!((two.version, two.below.as_path()), (Version::Two, Path::new("a/b")));
        assert_eq!(MemoryCgroup::find("proc /proc proc rw 0 0\n", "0::/\n"), None);
        assert_eq!(MemoryCgroup::find(MIXED, ""), None);
    }

    #[test]
    fn a_cgroup_may_use_no_more_than_those_above_it() {
        let one = MemoryCgroup::find(MIXED, "4:memory:/a/b\n").unwrap();
        assert_eq!(one.limit(read), Some(1_048_576));
        let two = MemoryCgroup::find("c /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/a/b\n").unwrap();
        assert_eq!(two.limit(read), Some(4096));
        assert_eq!(two.limit(|_| Some("max\n".into())), None);
    }
}
