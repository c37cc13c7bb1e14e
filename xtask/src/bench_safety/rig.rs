//! Devices, mounts and processes of the campaign's own, gone after it.

use crate::Failure;
use crate::bench_engine::devices;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::mount::{UnmountFlags, unmount};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const MIB: u64 = 1 << 20;
/// What does not end by then hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// The surroundings of every try.
pub struct Rig {
    pub seekwell: PathBuf,
    /// Kept runs, journals, rules, temporary files.
    pub home: TempDir,
    pub quick: bool,
    pub kills: u32,
    random: Xoshiro256PlusPlus,
}

impl Rig {
    pub fn new(
        seekwell: PathBuf,
        dir: &Path,
        seed: u64,
        quick: bool,
        kills: u32,
    ) -> Result<Self, Failure> {
        let home = TempDir::with_prefix_in("safety-", dir)?;
        for name in ["rules", "tmp"] {
            fs::create_dir(home.path().join(name))?;
        }
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Ok(Self { seekwell, home, quick, kills, random })
    }

    /// A path below the rig's own folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// An empty folder below the rig's own.
    pub fn folder(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.path(name);
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.random.next_u64() % bound.max(1)
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.random.fill_bytes(bytes);
    }

    /// Points a command at the rig's own folders.
    pub fn at_home<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("SEEKWELL_RUNS", self.path("runs"))
            .env("SEEKWELL_RUN_DIR", self.path("run"))
            .env("SEEKWELL_RULES_DIR", self.path("rules"))
            .env("TMPDIR", self.path("tmp"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
    }

    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(&self.seekwell);
        self.at_home(&mut command).args(args);
        command
    }

    pub fn run<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> Result<Ended, Failure> {
        self.finish(&mut self.command(args))
    }

    /// Runs a command as short as they come that measures in a folder, and so sweeps it; why it
    /// fails where it does, as on a disk without room.
    pub fn measures_in(&self, dir: &Path) -> Result<Result<(), String>, Failure> {
        let dir = dir.display().to_string();
        let words = ["bench", "--rw=randread", "--size=64m", "--runtime=800ms", "--on", &dir];
        Ok(self.run(words)?.ended_with(0))
    }

    /// Runs a command to its end, or kills it where it has none.
    pub fn finish(&self, command: &mut Command) -> Result<Ended, Failure> {
        let (out, err) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let child = command.stdout(out.try_clone()?).stderr(err.try_clone()?).spawn()?;
        let status = wait(child, PATIENCE)?;
        Ok(Ended { status, out: text_of(out)?, err: text_of(err)? })
    }
}

fn text_of(mut file: File) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(4 * MIB).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits for a process; one that is still there after `limit` is killed, and has no status.
pub fn wait(mut child: Child, limit: Duration) -> Result<Option<ExitStatus>, Failure> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// How a command ended.
pub struct Ended {
    /// None when it had to be killed.
    pub status: Option<ExitStatus>,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// It ended by itself, with a status that the help names, and without a panic.
    pub fn documented(&self) -> Result<(), String> {
        let Some(status) = self.status else { return Err(format!("hangs: {}", self.last())) };
        if let Some(signal) = status.signal() {
            return Err(format!("killed by signal {signal}: {}", self.last()));
        }
        if self.err.contains("panicked at") {
            return Err(format!("panics: {}", self.err.trim()));
        }
        match status.code() {
            Some(0..=5 | 130) => Ok(()),
            code => Err(format!("exit status {code:?}: {}", self.last())),
        }
    }

    /// It ended with this status.
    pub fn ended_with(&self, wanted: i32) -> Result<(), String> {
        self.documented()?;
        match self.code() {
            Some(code) if code == wanted => Ok(()),
            code => Err(format!("exit status {code:?}, not {wanted}: {}", self.last())),
        }
    }

    fn last(&self) -> &str {
        self.err.trim().lines().last().unwrap_or_default()
    }
}

/// A loop device over a file.
pub struct Loop {
    pub node: PathBuf,
    pub backing: PathBuf,
}

impl Loop {
    /// Over a sparse file of its own.
    pub fn new(dir: &Path, name: &str, bytes: u64) -> Result<Self, Failure> {
        let backing = dir.join(name);
        File::create(&backing)?.set_len(bytes)?;
        Self::over(&backing)
    }

    pub fn over(backing: &Path) -> Result<Self, Failure> {
        let node = devices::attached(backing, &[])?;
        Ok(Self { node, backing: backing.to_path_buf() })
    }

    pub fn node(&self) -> &str {
        self.node.to_str().unwrap_or_default()
    }

    /// Its folder in sysfs.
    pub fn sysfs(&self) -> PathBuf {
        Path::new("/sys/block").join(self.node.file_name().unwrap_or_default())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.node).status();
    }
}

/// A mount that goes with this value.
pub struct Mount(pub PathBuf);

impl Mount {
    pub fn new(args: &[&str], point: PathBuf) -> Result<Self, Failure> {
        fs::create_dir_all(&point)?;
        tool("mount", args.iter().map(OsStr::new).chain([point.as_os_str()]))?;
        Ok(Self(point))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

/// A process that is killed when this is dropped.
pub struct Background(pub Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program of the system that must succeed.
pub fn tool<A: AsRef<OsStr>>(
    program: &str,
    args: impl IntoIterator<Item = A>,
) -> Result<String, Failure> {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program)
        .env("PATH", path)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{program} does not start: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program}: {}", said.trim().lines().last().unwrap_or_default()).into())
}

/// A checksum of all bytes of a file.
pub fn digest(path: &Path) -> Result<u64, Failure> {
    let mut file = File::open(path)?;
    let mut sum = std::hash::DefaultHasher::new();
    let mut block = vec![0; MIB as usize];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(sum.finish()),
            n => sum.write(&block[..n]),
        }
    }
}

/// Every file below a folder with its checksum; of links, devices and pipes the kind and the inode.
pub fn tree(dir: &Path) -> Result<BTreeMap<PathBuf, u64>, Failure> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let about = path.symlink_metadata()?;
            let kind = about.file_type();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let sum = digest(&path)?;
                found.insert(path, sum);
            } else {
                let special = kind.is_symlink() || kind.is_fifo() || kind.is_char_device();
                found.insert(path, about.ino() << 1 | u64::from(special));
            }
        }
    }
    Ok(found)
}

/// What differs between two trees, in words.
pub fn changed(before: &BTreeMap<PathBuf, u64>, after: &BTreeMap<PathBuf, u64>) -> Vec<String> {
    let lost = before.iter().filter(|(path, sum)| after.get(*path) != Some(sum));
    lost.map(|(path, _)| format!("{} changed or is gone", path.display())).collect()
}
