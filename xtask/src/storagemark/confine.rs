//! Memory as scarce as in the document: cgroups of our own, of either version.

use crate::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long killed processes may take to be gone.
const GONE: Duration = Duration::from_secs(10);

/// A cgroup of the scene and one below it, which is limited. Dropping it kills what is left in
/// both and removes them.
pub struct Confine {
    top: PathBuf,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Where a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Memory and page cache are limited together.
    Limited,
    /// They are not; it is only ended with the rest.
    Free,
}

impl Room {
    const ALL: [Self; 2] = [Self::Limited, Self::Free];

    fn name(self) -> &'static str {
        match self {
            Self::Limited => "limited",
            Self::Free => "free",
        }
    }
}

impl Confine {
    /// Makes both, named `name`.
    pub fn new(name: &str) -> Result<Self, Failure> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let (base, version) = hierarchy(&mounts, &own)
            .ok_or("no cgroup hierarchy with the memory controller is mounted")?;
        let confine = Self { top: base.join(name), version };
        confine.make().map_err(|e| format!("{}: {e}", confine.top.display()))?;
        Ok(confine)
    }

    /// The version of the cgroups.
    pub fn version(&self) -> u32 {
        match self.version {
            Version::One => 1,
            Version::Two => 2,
        }
    }

    /// One that an earlier run left behind, to be dropped.
    pub fn left_behind(name: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let (base, version) = hierarchy(&mounts, &own)?;
        let top = base.join(name);
        top.is_dir().then_some(Self { top, version })
    }

    fn make(&self) -> std::io::Result<()> {
        let share = |dir: &Path| fs::write(dir.join("cgroup.subtree_control"), "+memory");
        if self.version == Version::Two {
            self.top.parent().map_or(Ok(()), share)?;
        }
        fs::create_dir(&self.top)?;
        if self.version == Version::Two {
            share(&self.top)?;
        }
        Room::ALL.into_iter().try_for_each(|room| fs::create_dir(self.dir(room)))
    }

    fn dir(&self, room: Room) -> PathBuf {
        self.top.join(room.name())
    }

    /// Limits memory and page cache together; what is over is dropped or written out.
    pub fn limit(&self, bytes: u64) -> Result<(), Failure> {
        let name = match self.version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        Ok(fs::write(self.dir(Room::Limited).join(name), bytes.to_string())?)
    }

    /// Page cache and everything else that is charged to the limited one, in bytes.
    pub fn used(&self) -> Result<(u64, u64), Failure> {
        let dir = self.dir(Room::Limited);
        let (cache, all) = match self.version {
            Version::One => ("cache", "memory.usage_in_bytes"),
            Version::Two => ("file", "memory.current"),
        };
        let text = fs::read_to_string(dir.join("memory.stat"))?;
        let line = text.lines().find_map(|l| l.strip_prefix(cache)?.strip_prefix(' '));
        let cache: u64 = line.ok_or("memory.stat lacks the page cache")?.trim().parse()?;
        let all: u64 = fs::read_to_string(dir.join(all))?.trim().parse()?;
        Ok((cache, all.saturating_sub(cache)))
    }

    /// The command, run there, and killed if this program ends before it.
    pub fn command(&self, room: Room, program: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "echo $$ >\"$0\" && exec setpriv --pdeathsig KILL -- \"$@\""])
            .arg(self.dir(room).join("cgroup.procs"))
            .arg(program);
        command
    }

    /// Processes in both.
    fn processes(&self) -> Vec<i32> {
        Room::ALL
            .into_iter()
            .filter_map(|room| fs::read_to_string(self.dir(room).join("cgroup.procs")).ok())
            .flat_map(|text| text.lines().filter_map(|l| l.parse().ok()).collect::<Vec<_>>())
            .collect()
    }

    /// Kills whatever runs in either, and waits until nothing does.
    pub fn kill(&self) {
        let start = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() || start.elapsed() > GONE {
                return;
            }
            for pid in left.into_iter().filter_map(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Confine {
    fn drop(&mut self) {
        self.kill();
        for room in Room::ALL {
            let _ = fs::remove_dir(self.dir(room));
        }
        let _ = fs::remove_dir(&self.top);
    }
}

/// Where a cgroup of ours goes: below our own in version 1; at the top in version 2, where one with
/// processes may have none below.
fn hierarchy(mounts: &str, own: &str) -> Option<(PathBuf, Version)> {
    let mut fields = mounts.lines().map(|l| l.split(' ').collect::<Vec<_>>());
    let one = fields.clone().find(|f| {
        f.get(2) == Some(&"cgroup") && f.get(3).is_some_and(|o| o.split(',').any(|o| o == "memory"))
    });
    if let Some(mount) = one {
        let below = own.lines().find_map(|l| {
            let (_, rest) = l.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            controllers.split(',').any(|c| c == "memory").then_some(path)
        })?;
        return Some((Path::new(mount[1]).join(below.trim_start_matches('/')), Version::One));
    }
    let two = fields.find(|f| f.get(2) == Some(&"cgroup2"))?;
    Some((PathBuf::from(two[1]), Version::Two))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_controller_is_found_in_either_version_of_cgroups() {
        let mixed = "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n\
                     cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let own = "4:memory:/a/b\n0::/x\n";
        assert_eq!(hierarchy(mixed, own), Some(("/sys/fs/cgroup/memory/a/b".into(), Version::One)));
        let new = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
        assert_eq!(hierarchy(new, "0::/x\n"), Some(("/sys/fs/cgroup".into(), Version::Two)));
        assert_eq!(hierarchy("proc /proc proc rw 0 0\n", own), None);
    }
}
