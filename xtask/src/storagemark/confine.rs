//! Memory as scarce as in the document: cgroups of our own, of either version.

use crate::Failure;
use seekwell_sys::{MemoryCgroup, Version};
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
    cgroup: MemoryCgroup,
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
        let confine = Self::named(name)?;
        confine.make().map_err(|e| format!("{}: {e}", confine.top.display()))?;
        Ok(confine)
    }

    /// In version 1 it goes below our own; in version 2 to the top, for one with processes may have
    /// none below there.
    fn named(name: &str) -> Result<Self, Failure> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let cgroup = MemoryCgroup::find(&mounts, &own)
            .ok_or("no cgroup hierarchy with the memory controller is mounted")?;
        let base = match cgroup.version {
            Version::One => cgroup.mount_point.join(&cgroup.below),
            Version::Two => cgroup.mount_point.clone(),
        };
        Ok(Self { top: base.join(name), cgroup })
    }

    pub fn version(&self) -> u32 {
        match self.cgroup.version {
            Version::One => 1,
            Version::Two => 2,
        }
    }

    /// One that an earlier run left behind, to be dropped.
    pub fn left_behind(name: &str) -> Option<Self> {
        Self::named(name).ok().filter(|found| found.top.is_dir())
    }

    fn make(&self) -> std::io::Result<()> {
        let share = |dir: &Path| fs::write(dir.join("cgroup.subtree_control"), "+memory");
        if self.cgroup.version == Version::Two {
            self.top.parent().map_or(Ok(()), share)?;
        }
        fs::create_dir(&self.top)?;
        if self.cgroup.version == Version::Two {
            share(&self.top)?;
        }
        Room::ALL.into_iter().try_for_each(|room| fs::create_dir(self.dir(room)))
    }

    fn dir(&self, room: Room) -> PathBuf {
        self.top.join(room.name())
    }

    /// Limits memory and page cache together; what is over is dropped or written out.
    pub fn limit(&self, bytes: u64) -> Result<(), Failure> {
        let file = self.dir(Room::Limited).join(self.cgroup.limit_file());
        Ok(fs::write(file, bytes.to_string())?)
    }

    /// Page cache and everything else that is charged to the limited one, in bytes.
    pub fn used(&self) -> Result<(u64, u64), Failure> {
        let dir = self.dir(Room::Limited);
        let (cache, all) = match self.cgroup.version {
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
