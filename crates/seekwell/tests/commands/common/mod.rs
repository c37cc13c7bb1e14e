//! Running the real program, and devices made for one test and removed after it.

pub mod bonnie;
#[path = "../../../../seekwell-report/tests/common/browser.rs"]
pub mod browser;
pub mod fleet;
#[path = "../../../../seekwell-access/tests/common/place.rs"]
mod place;
pub mod postgres;
#[path = "../../../../seekwell-runs/tests/common/schema.rs"]
pub mod schema;
pub mod server;
pub mod terminal;
pub mod zram;

pub use place::Place;

use seekwell_sys::{Background, HostCounters, Live};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The program, with its kept runs in `home`.
pub fn seekwell(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seekwell"));
    command
        .env("SEEKWELL_RUNS", home.join("runs"))
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE");
    command.stdin(Stdio::null());
    command
}

/// What a command printed and how it ended.
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The same, which must have ended with this status.
    #[track_caller]
    pub fn ends(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{}", self.err);
        self
    }

    /// The document it printed, which is what its schema says.
    #[track_caller]
    pub fn json(&self) -> Value {
        let document = serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("{e} in {:?}, stderr {:?}", self.out, self.err));
        schema::check(&document);
        document
    }
}

pub fn run(home: &Path, args: &[&str]) -> Ran {
    done(seekwell(home).args(args).output().expect("the program starts"))
}

pub fn done(output: Output) -> Ran {
    Ran {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a helper program that must succeed; `None` when it is not installed or not permitted.
pub fn tool(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stderr(Stdio::piped()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Some(text);
    }
    eprintln!("{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    None
}

/// The Python of the tests' own environment, or else the system's, if it has this module.
pub fn python_with(module: &str) -> Option<String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python");
    let python = if own.exists() { own.to_str()? } else { "python3" };
    if tool(python, &["-c", &format!("import {module}")]).is_none() {
        skip(&format!("Python has no {module}"));
        return None;
    }
    Some(python.to_owned())
}

/// A file or folder that lies beside the repository.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    if !path.exists() {
        skip(&format!("{name} is not beside the repository"));
        return None;
    }
    Some(path)
}

/// Copies a program. Another process does it: a child that a test beside this one has just forked
/// would hold a file of ours open for writing, and such a file cannot be run.
pub fn install(program: &Path, to: &Path) {
    let paths = [program, to].map(|path| path.to_str().unwrap());
    tool("install", &[&["-m", "755"], &paths[..]].concat()).expect("it can be copied");
}

/// A folder of programs that are found first, in the place of those of this machine.
pub fn programs(home: &Path, scripts: &[(&str, &str)]) -> String {
    let folder = home.join("programs");
    std::fs::create_dir(&folder).unwrap();
    for (name, script) in scripts {
        let plain = home.join(name);
        std::fs::write(&plain, script).unwrap();
        install(&plain, &folder.join(name));
    }
    let program = PathBuf::from(seekwell(home).get_program());
    let bin = program.parent().expect("a folder").display();
    format!("{}:{bin}:/usr/bin:/bin", folder.display())
}

pub fn is_root() -> bool {
    tool("id", &["-u"]).is_some_and(|id| id.trim() == "0")
}

/// Says that a test could not be made here.
pub fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// A loop device over a file of its own.
pub struct Loop {
    pub device: String,
    pub backing: PathBuf,
    _dir: tempfile::TempDir,
}

impl Loop {
    pub fn new(bytes: u64) -> Option<Self> {
        Self::new_in(&std::env::temp_dir(), bytes)
    }

    /// With its file below this directory.
    pub fn new_in(folder: &Path, bytes: u64) -> Option<Self> {
        if !is_root() {
            skip("loop devices need root");
            return None;
        }
        let dir = tempfile::tempdir_in(folder).unwrap();
        let backing = dir.path().join("disk.img");
        std::fs::File::create(&backing).unwrap().set_len(bytes).unwrap();
        let device = tool("losetup", &["--find", "--show", backing.to_str().unwrap()]);
        let Some(device) = device else {
            skip("loop devices cannot be set up here");
            return None;
        };
        let device = device.trim().to_owned();
        // Settings of a killed test stay on the device.
        tool("blockdev", &["--setrw", &device]);
        let queue = Path::new("/sys/block").join(device.trim_start_matches("/dev/")).join("queue");
        for (limit, value) in [("max_sectors_kb", "1280"), ("nr_requests", "128")] {
            let _ = std::fs::write(queue.join(limit), value);
        }
        Some(Self { device, backing, _dir: dir })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        tool("losetup", &["--detach", &self.device]);
    }
}

/// A control group of the block controller that bounds what its programs do to a device.
pub struct Throttle {
    group: PathBuf,
    dev: String,
}

impl Throttle {
    /// `rule` is one of the kernel's, such as `write_iops`; `per_s` is its limit.
    pub fn on(device: &str, rule: &str, per_s: u64) -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = device.strip_prefix("/dev/")?;
        let dev = std::fs::read_to_string(format!("/sys/class/block/{name}/dev")).ok()?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("seekwell-test-{}-{number}", std::process::id());
        let group = Path::new("/sys/fs/cgroup/blkio").join(name);
        std::fs::create_dir(&group).ok()?;
        let made = Self { group, dev: dev.trim().to_owned() };
        made.set(rule, per_s).ok()?;
        Some(made)
    }

    pub fn set(&self, rule: &str, per_s: u64) -> std::io::Result<()> {
        let file = self.group.join(format!("blkio.throttle.{rule}_device"));
        std::fs::write(file, format!("{} {per_s}", self.dev))
    }

    /// The program under it, with these arguments.
    pub fn run(&self, home: &Path, args: &[&str]) -> Ran {
        let command = seekwell(home);
        let script = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.group.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh"]).arg(command.get_program()).args(args);
        let envs = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        done(shell.envs(envs).output().unwrap())
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        std::fs::remove_dir(&self.group).ok();
    }
}

pub struct Mounted {
    pub point: PathBuf,
    pub disk: Loop,
    _dir: tempfile::TempDir,
}

impl Mounted {
    pub fn ext4(bytes: u64, options: &str) -> Option<Self> {
        Self::made(bytes, &["-m", "0", "-E", "lazy_itable_init=0"], options)
    }

    /// With few inodes, so that all are soon taken.
    pub fn of_few_files(bytes: u64) -> Option<Self> {
        Self::made(bytes, &["-m", "0", "-N", "1024", "-E", "lazy_itable_init=0"], "rw")
    }

    /// Whose inode tables the kernel initialises so slowly that it is never seen to be done.
    pub fn unfinished(bytes: u64) -> Option<Self> {
        Self::made(bytes, &["-E", "nodiscard,lazy_itable_init=1"], "init_itable=1000")
    }

    /// An ext4 whose inode tables the kernel initialises at a steady pace, for at least half a
    /// minute. The kernel times the first group and pauses ten times as long after each one. If
    /// the first was held up, a remount makes the kernel time another.
    pub fn initialising() -> Option<Self> {
        const OPTIONS: &str = "init_itable=10";
        /// Steady seconds in a row. A kernel that pauses for longer may still work in one second.
        const SECONDS: usize = 3;
        let lazily = "nodiscard,lazy_itable_init=1,lazy_journal_init=1";
        let mounted = Self::made(1 << 40, &["-E", lazily], OPTIONS)?;
        // At first it reads all block bitmaps, without pauses.
        let steady = 0.000_15..0.03;
        let counters = || HostCounters::read(&Live::system());
        let is_steady = || {
            let before = counters();
            std::thread::sleep(Duration::from_secs(1));
            let worked = counters().since(&before).background;
            worked.get(&Background::InodeTables).is_some_and(|share| steady.contains(share))
        };
        let mut seconds = 0;
        wait_for("initialising inode tables", || {
            if is_steady() {
                seconds += 1;
            } else {
                seconds = 0;
                let remount = format!("remount,{OPTIONS}");
                tool("mount", &["-o", &remount, mounted.point.to_str().unwrap()]);
            }
            seconds == SECONDS
        });
        Some(mounted)
    }

    /// Remounts it read-only. The kernel refuses that while a file is open for writing, which a
    /// child that another test starts may hold until it calls exec(2).
    pub fn make_read_only(&self) {
        let remount = ["-o", "remount,ro", self.point.to_str().unwrap()];
        wait_for("remounting read-only", || tool("mount", &remount).is_some());
    }

    fn made(bytes: u64, mkfs: &[&str], options: &str) -> Option<Self> {
        let disk = Loop::new(bytes)?;
        let does = |program, args: &[&str]| {
            let done = tool(program, args);
            if done.is_none() {
                skip(&format!("{program} does not work here"));
            }
            done
        };
        does("mkfs.ext4", &[&["-q", "-F"], mkfs, &[&disk.device]].concat())?;
        let dir = tempfile::tempdir().unwrap();
        let point = dir.path().join("mnt");
        std::fs::create_dir(&point).unwrap();
        does("mount", &["-o", options, &disk.device, point.to_str().unwrap()])?;
        Some(Self { point, disk, _dir: dir })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        tool("umount", &["--lazy", self.point.to_str().unwrap()]);
    }
}

/// Longer than any machine is busy, and shorter than anything that tests begin and cut off.
pub const LONG: Duration = Duration::from_secs(50);

pub fn wait_for(what: &str, mut ready: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < LONG, "{what} did not happen within {LONG:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the kernel counted of a disk, in the order of `/sys/block/NAME/stat`. A number of a loop
/// device keeps the counters of the devices that had it before.
pub fn counters(device: &str) -> Vec<u64> {
    let name = device.trim_start_matches("/dev/");
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    stat.split_whitespace().map(|n| n.parse().unwrap()).collect()
}

/// Nanoseconds that a replay took, and its greatest lateness: one that starts late takes that much
/// less.
pub fn played_ns(repeat: &Value) -> (u64, u64) {
    let late = &repeat["fidelity"]["lateness"]["ns_max"];
    (repeat["elapsed_ns"].as_u64().unwrap(), late.as_u64().unwrap())
}

/// Waits until `count` threads of a child bear this name.
pub fn wait_for_threads(child: &Child, name: &str, count: usize) {
    let tasks = format!("/proc/{}/task", child.id());
    wait_for(&format!("{count} × a thread {name}"), || {
        let tasks = std::fs::read_dir(&tasks).into_iter().flatten().flatten();
        let named = tasks.filter(|task| {
            std::fs::read_to_string(task.path().join("comm")).is_ok_and(|it| it.trim() == name)
        });
        named.count() >= count
    });
}

pub fn signal(child: &Child, name: &str) {
    tool("kill", &["-s", name, &child.id().to_string()]).expect("the child is alive");
}

pub fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Keeps copies of the newest run, as made on `day` with these rates, each changed further.
pub fn copies(
    home: &Path,
    label: &str,
    day: &str,
    rates: &[f64],
    change: impl Fn(usize, &mut Value),
) {
    let newest = run(home, &["runs", "show", "last", "--json"]).json();
    for (i, rate) in rates.iter().enumerate() {
        let mut copy = newest.clone();
        let id = format!("{day}-{i:06}-bench-{i:04x}");
        copy["id"] = json!(id);
        copy["label"] = json!(label);
        copy["started_at"] = json!(format!("2020-01-01T00:{i:02}:00Z"));
        let spread = json!({"median": rate, "low": rate, "high": rate, "n": 1});
        copy["phases"][0]["metrics"]["read.requests_per_s"] = spread;
        change(i, &mut copy);
        let dir = home.join("runs").join(&id);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("run.json"), copy.to_string()).unwrap();
    }
}
