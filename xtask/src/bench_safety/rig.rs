//! Devices, mounts and processes of the campaign's own, gone after it.

use crate::bench_suites::place::SuiteDir;
use crate::{Failure, process};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
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
    /// Kept runs, journals, rules, temporary files, images.
    pub home: TempDir,
    _place: SuiteDir,
    pub quick: bool,
    pub kills: u32,
    random: Xoshiro256PlusPlus,
}

impl Rig {
    /// In a directory, or in a file system of its own: neither a full disk nor a busy one then
    /// changes what is found.
    pub fn new(
        seekwell: PathBuf,
        dir: Option<&Path>,
        seed: u64,
        quick: bool,
        kills: u32,
    ) -> Result<Self, Failure> {
        let ours = std::env::temp_dir();
        let root = rustix::process::geteuid().is_root();
        let place = SuiteDir::new(dir.or_else(|| (!root).then_some(&*ours)))?;
        let home = TempDir::with_prefix_in("safety-", place.dir())?;
        for name in ["rules", "tmp"] {
            fs::create_dir(home.path().join(name))?;
        }
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Ok(Self { seekwell, home, _place: place, quick, kills, random })
    }

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
        let ended = self.run(words)?;
        // 4: a machine too busy for valid figures has room all the same.
        Ok(ended.ended_with(0).or_else(|_| ended.ended_with(4)))
    }

    /// Runs a command to its end, or kills it if it does not end in time.
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
    process::text(Command::new(program).env("PATH", path).args(args))
}

/// A checksum of all bytes of a file. Blocks of zeros count by being absent, and holes are not
/// read, so that a large image costs what is in it.
pub fn digest(path: &Path) -> Result<u64, Failure> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let file = File::open(path)?;
    let mut sum = std::hash::DefaultHasher::new();
    sum.write_u64(file.metadata()?.len());
    let (mut at, mut bytes) = (0, vec![0; MIB as usize]);
    while let Ok(data) = rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(at)) {
        let hole = rustix::fs::seek(&file, rustix::fs::SeekFrom::Hole(data))?;
        at = data / 4096 * 4096;
        while at < hole {
            let part = &mut bytes[..(hole - at).min(MIB) as usize];
            file.read_exact_at(part, at)?;
            for block in part.chunks(ZEROS.len()) {
                if *block != ZEROS[..block.len()] {
                    sum.write_u64(at);
                    sum.write(block);
                }
                at += block.len() as u64;
            }
        }
    }
    Ok(sum.finish())
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

/// A word of a command with its placeholders filled in. A value may itself contain one, as names
/// drawn at random do now and then.
pub fn filled(word: &str, values: &[(&str, &str)]) -> String {
    let found = values.iter().filter_map(|(name, value)| Some((word.find(name)?, *name, *value)));
    match found.min_by_key(|(at, ..)| *at) {
        None => word.to_owned(),
        Some((at, name, value)) => {
            let rest = filled(&word[at + name.len()..], values);
            format!("{}{value}{rest}", &word[..at])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn a_value_that_contains_a_placeholder_stays_as_it_is() {
        let values = [("OUT", "/tmp/xINy/OUT"), ("IN", "/tmp/OUTER"), ("SPARE_FILE", "f")];
        let values = [&values[..], &[("SPARE", "s")]].concat();
        assert_eq!(filled("OUT", &values), "/tmp/xINy/OUT");
        assert_eq!(filled("--of=IN.csv:OUT.csv", &values), "--of=/tmp/OUTER.csv:/tmp/xINy/OUT.csv");
        assert_eq!(filled("SPARE_FILE,SPARE", &values), "f,s");
        assert_eq!(filled("--quick", &values), "--quick");
    }
}
