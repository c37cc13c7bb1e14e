//! Devices of a test's own, with journals and rules of their own.

use crate::common::{self, LONG, Loop, Ran, done, skip, tool, wait_for};
use seekwell_tune::journal::{Phase, TrialFiles};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub const MIB: u64 = 1 << 20;

/// A loop device with journals and rules of its own. Its attributes are put back and its guard is
/// ended when it goes, whatever became of the test.
pub struct Rig {
    device: String,
    pub backing: PathBuf,
    _disk: Box<dyn Send + Sync>,
    pub home: tempfile::TempDir,
    before: BTreeMap<String, String>,
}

impl Rig {
    pub fn new() -> Option<Self> {
        let disk = Loop::new(16 * MIB)?;
        Self::on(disk.device.clone(), disk.backing.clone(), Box::new(disk))
    }

    pub fn on(device: String, backing: PathBuf, disk: Box<dyn Send + Sync>) -> Option<Self> {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("rules")).unwrap();
        let mut rig = Self { device, backing, _disk: disk, home, before: BTreeMap::new() };
        if !rig.sysfs().join("queue/scheduler").exists() {
            skip("sysfs does not show the loop device");
            return None;
        }
        rig.before = rig.attributes();
        Some(rig)
    }

    pub fn device(&self) -> &str {
        &self.device
    }

    pub fn sysfs(&self) -> PathBuf {
        Path::new("/sys/block").join(Path::new(&self.device).file_name().unwrap())
    }

    pub fn run_dir(&self) -> PathBuf {
        self.home.path().join("run")
    }

    pub fn place(&self) -> TrialFiles {
        TrialFiles::new(
            &self.run_dir(),
            fs::read_to_string(self.sysfs().join("dev")).unwrap().trim(),
        )
    }

    pub fn phase(&self) -> Option<Phase> {
        self.place().state().unwrap().map(|s| s.phase())
    }

    pub fn program(&self) -> Command {
        let mut program = common::seekwell(self.home.path());
        program
            // Also of a program that is killed, nothing is left outside.
            .env("TMPDIR", self.home.path())
            .env("SEEKWELL_RUN_DIR", self.run_dir())
            .env("SEEKWELL_RULES_DIR", self.home.path().join("rules"));
        program
    }

    pub fn tune(&self, args: &[&str]) -> Ran {
        done(self.program().arg("tune").args(args).output().unwrap())
    }

    /// Tries and must succeed.
    pub fn begin(&self, settings: &[&str], time: &str) {
        self.tune(&[&["try", self.device(), "--for", time], settings].concat()).ends(0);
    }

    pub fn value(&self, attribute: &str) -> String {
        let text = fs::read_to_string(self.sysfs().join("queue").join(attribute)).unwrap();
        seekwell_tune::apply::current(&text)
    }

    /// Every writable attribute of the queue with its text.
    pub fn attributes(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for dir in ["queue", "queue/iosched", "bdi"] {
            for name in fs::read_dir(self.sysfs().join(dir)).into_iter().flatten().flatten() {
                if let Ok(text) = fs::read_to_string(name.path()) {
                    let name = format!("{dir}/{}", name.file_name().to_string_lossy());
                    // A share of the memory that is free at the moment.
                    if name.starts_with("bdi/") && name.ends_with("_bytes") {
                        continue;
                    }
                    all.insert(name, text);
                }
            }
        }
        all
    }

    pub fn assert_as_before(&self, when: &str) {
        let now = self.attributes();
        let names = self.before.keys().chain(now.keys());
        let differs = names.filter(|n| self.before.get(*n) != now.get(*n));
        let show = |n: &String| format!("{n}: {:?} → {:?}", self.before.get(n), now.get(n));
        let differences: Vec<String> = differs.map(show).collect();
        assert!(differences.is_empty(), "{when}: {differences:#?}");
    }

    /// The guard of this rig's trial.
    pub fn guard(&self) -> Option<i32> {
        let journal = self.place().journal();
        let journal = journal.to_str().unwrap();
        fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            let mut words = line.split(|b| *b == 0);
            (words.nth(1)? == b"tune-guard" && words.next()? == journal.as_bytes()).then_some(pid)
        })
    }

    /// A killed process loses its command line before it loses its locks: both must be gone.
    pub fn wait_for_guard_to_end(&self) {
        wait_for("the end of the guard", || !self.is_locked() && self.guard().is_none());
    }

    fn is_locked(&self) -> bool {
        let Ok(lock) = fs::metadata(self.place().journal().with_extension("lock")) else {
            return false;
        };
        let of_it = format!(":{} ", lock.ino());
        fs::read_to_string("/proc/locks").unwrap().lines().any(|line| line.contains(&of_it))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(guard) = self.guard() {
            kill(guard, "TERM");
            let begun = Instant::now();
            while self.guard().is_some() && begun.elapsed() < LONG {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        // The scheduler first, for it resets others; what cannot be written is not ours.
        let now = self.attributes();
        let differs = |n: &&String| now.get(*n) != self.before.get(*n);
        let mut names: Vec<&String> = self.before.keys().filter(differs).collect();
        names.sort_by_key(|n| *n != "queue/scheduler");
        for name in names {
            let value = seekwell_tune::apply::current(&self.before[name]);
            let _ = fs::write(self.sysfs().join(name), value);
        }
    }
}

pub fn kill(pid: i32, signal: &str) {
    // It may be gone already.
    let _ =
        Command::new("kill").args(["-s", signal, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// A loop device with a number that no other test uses, so that it can be detached and attached
/// again without another test getting it in between.
pub struct Numbered {
    number: usize,
    pub dir: tempfile::TempDir,
}

impl Numbered {
    pub fn new() -> Option<Self> {
        if !common::is_root() {
            skip("loop devices need root");
            return None;
        }
        let number = 2000 + usize::try_from(std::process::id()).unwrap() % 10_000;
        let own = Self { number, dir: tempfile::tempdir().unwrap() };
        if own.control(0x4C80).is_none() || own.attach("first.img").is_none() {
            skip("a loop device with a chosen number cannot be set up here");
            return None;
        }
        Some(own)
    }

    pub fn device(&self) -> String {
        format!("/dev/loop{}", self.number)
    }

    pub fn attach(&self, name: &str) -> Option<PathBuf> {
        let file = self.dir.path().join(name);
        fs::File::create(&file).unwrap().set_len(16 * MIB).unwrap();
        tool("losetup", &[&self.device(), file.to_str().unwrap()])?;
        Some(file)
    }

    pub fn detach(&self) {
        tool("losetup", &["--detach", &self.device()]);
        let backing = format!("/sys/block/loop{}/loop/backing_file", self.number);
        wait_for("detaching", || !Path::new(&backing).exists());
    }

    /// `LOOP_CTL_ADD` (0x4C80) or `LOOP_CTL_REMOVE` (0x4C81).
    pub fn control(&self, what: u32) -> Option<()> {
        let control = fs::File::options().read(true).write(true).open("/dev/loop-control").ok()?;
        // SAFETY: both take the number of a device as an integer and touch no memory of ours.
        unsafe {
            match what {
                0x4C80 => {
                    let add = rustix::ioctl::IntegerSetter::<0x4C80>::new_usize(self.number);
                    rustix::ioctl::ioctl(&control, add).ok()
                }
                _ => {
                    let remove = rustix::ioctl::IntegerSetter::<0x4C81>::new_usize(self.number);
                    rustix::ioctl::ioctl(&control, remove).ok()
                }
            }
        }
    }
}

impl Drop for Numbered {
    fn drop(&mut self) {
        tool("losetup", &["--detach", &self.device()]);
        let begun = Instant::now();
        while self.control(0x4C81).is_none() && begun.elapsed() < LONG {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A frozen file system; thawed whatever becomes of the test.
pub struct Frozen<'a>(pub &'a Path);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        tool("fsfreeze", &["--unfreeze", self.0.to_str().unwrap()]);
    }
}
