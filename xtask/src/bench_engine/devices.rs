//! Block devices made for a measurement and gone after it.

use crate::Failure;
use rustix::fs::{Advice, fadvise};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Size of each device.
pub const SIZE_BYTES: u64 = 1 << 30;

/// A loop device over a file in a tmpfs of its own, or on a disk.
pub struct Loop {
    path: PathBuf,
    _tmpfs: Option<Tmpfs>,
    _dir: Option<TempDir>,
}

struct Tmpfs(TempDir);

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = unmount(self.0.path(), UnmountFlags::DETACH);
    }
}

impl Loop {
    /// Sets one up in memory, filled.
    pub fn new() -> Result<Self, Failure> {
        enough()?;
        let dir = tempfile::tempdir()?;
        mount("tmpfs", dir.path(), "tmpfs", MountFlags::empty(), c"size=1100m,mode=700")
            .map_err(|e| format!("a tmpfs could not be mounted: {e}"))?;
        let tmpfs = Tmpfs(dir);
        let backing = tmpfs.0.path().join("disk");
        fill(File::create(&backing)?, SIZE_BYTES)?;
        let path = attached(&backing, &[])?;
        Ok(Self { path, _tmpfs: Some(tmpfs), _dir: None })
    }

    /// Sets one of `bytes` up on the disk that this directory is on, filled; its requests pass by
    /// the cache of the file.
    pub fn on_disk(dir: &Path, bytes: u64) -> Result<Self, Failure> {
        let dir = TempDir::new_in(dir)?;
        let backing = dir.path().join("disk");
        fill(File::create(&backing)?, bytes)?;
        // Gigabytes that nobody reads again would have to go while somebody measures.
        fadvise(File::open(&backing)?, 0, None, Advice::DontNeed)?;
        let path = attached(&backing, &["--direct-io=on"])?;
        Ok(Self { path, _tmpfs: None, _dir: Some(dir) })
    }

    /// Its node.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Shows a file as a loop device, with more words for `losetup`, and gives its node.
pub fn attached(backing: &Path, how: &[&str]) -> Result<PathBuf, Failure> {
    let shown = Command::new("losetup")
        .args(["--find", "--show"])
        .args(how)
        .arg(backing)
        .output()
        .map_err(|e| format!("losetup could not be started: {e}"))?;
    if !shown.status.success() {
        let said = String::from_utf8_lossy(&shown.stderr);
        return Err(format!("losetup failed: {}", said.trim()).into());
    }
    Ok(PathBuf::from(String::from_utf8(shown.stdout)?.trim()))
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}

/// A zram device of its own.
pub struct Zram {
    number: String,
}

impl Zram {
    /// Sets one up, filled.
    pub fn new() -> Result<Self, Failure> {
        enough()?;
        let number = fs::read_to_string("/sys/class/zram-control/hot_add")
            .map_err(|e| format!("no zram device could be added: {e}"))?;
        let zram = Self { number: number.trim().to_owned() };
        let size = format!("/sys/block/zram{}/disksize", zram.number);
        fs::write(size, SIZE_BYTES.to_string())
            .map_err(|e| format!("the zram device could not be given a size: {e}"))?;
        fill(OpenOptions::new().write(true).open(zram.path())?, SIZE_BYTES)?;
        Ok(zram)
    }

    /// Its node.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/dev/zram{}", self.number))
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let reset = format!("/sys/block/zram{}/reset", self.number);
        let removed = || {
            fs::write(&reset, "1")?;
            fs::write("/sys/class/zram-control/hot_remove", &self.number)
        };
        // The files of a ring are closed some time after the program that had it has ended.
        let gone = (0..100).any(|_| {
            let done = removed().is_ok();
            if !done {
                thread::sleep(Duration::from_millis(50));
            }
            done
        });
        if !gone {
            complain(&format!("zram{} could not be removed: it is still in use", self.number));
        }
    }
}

#[expect(clippy::print_stderr, reason = "something is left behind")]
fn complain(what: &str) {
    eprintln!("{what}");
}

/// Both devices lie in memory.
fn enough() -> Result<(), Failure> {
    if !rustix::process::geteuid().is_root() {
        return Err("needs root".into());
    }
    let text = fs::read_to_string("/proc/meminfo")?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
    match kib.map(|k| k * 1024) {
        Some(bytes) if bytes < 3 * SIZE_BYTES => {
            Err(format!("needs 3 GiB of memory; {} MiB are available", bytes >> 20).into())
        }
        _ => Ok(()),
    }
}

/// Writes data that does not compress (a xorshift sequence), so that nothing is answered from a map
/// of zero pages.
fn fill(mut file: File, bytes: u64) -> Result<(), Failure> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut block = vec![0; 1 << 20];
    for _ in 0..bytes >> 20 {
        for word in block.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block)?;
    }
    file.sync_all()?;
    Ok(())
}
