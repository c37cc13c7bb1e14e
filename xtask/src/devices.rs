//! Devices, mounts and file systems of our own, gone when they are dropped.

use crate::bench::Dice;
use crate::{Failure, process};
use rustix::fs::{Advice, fadvise};
use rustix::mount::{UnmountFlags, unmount};
use std::any::Any;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Size of each filled device in memory.
pub const SIZE_BYTES: u64 = 1 << 30;

/// An error for who cannot make devices.
pub fn need_root() -> Result<(), Failure> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { Err("needs root".into()) }
}

pub struct Loop {
    pub node: PathBuf,
    pub backing: PathBuf,
    /// What its backing file lies on, and goes with it.
    below: Option<Box<dyn Any + Send + Sync>>,
}

impl Loop {
    /// Over a file, with more words for `losetup`.
    pub fn over(backing: &Path, how: &[&str]) -> Result<Self, Failure> {
        let mut command = Command::new("losetup");
        let shown = process::text(command.args(["--find", "--show"]).args(how).arg(backing))?;
        Ok(Self::at(PathBuf::from(shown.trim()), backing))
    }

    /// One that is there already.
    pub fn at(node: PathBuf, backing: &Path) -> Self {
        Self { node, backing: backing.to_path_buf(), below: None }
    }

    /// Over a new sparse file.
    pub fn sparse(dir: &Path, name: &str, bytes: u64) -> Result<Self, Failure> {
        let backing = dir.join(name);
        File::create(&backing)?.set_len(bytes)?;
        Self::over(&backing, &[])
    }

    /// Over a sparse file in a tmpfs of its own.
    pub fn in_memory(bytes: u64) -> Result<Self, Failure> {
        let memory = Mount::tmpfs(bytes + (64 << 20))?;
        let mut disk = Self::sparse(memory.point(), "disk", bytes)?;
        disk.below = Some(Box::new(memory));
        Ok(disk)
    }

    /// Over a file in a tmpfs of its own, full of data.
    pub fn filled() -> Result<Self, Failure> {
        need_memory()?;
        let disk = Self::in_memory(SIZE_BYTES)?;
        fill(OpenOptions::new().write(true).open(&disk.backing)?, SIZE_BYTES)?;
        Ok(disk)
    }

    /// Over a file on the disk that this directory is on, full of data; its requests bypass the
    /// cache of the file.
    pub fn on_disk(dir: &Path, bytes: u64) -> Result<Self, Failure> {
        let dir = TempDir::new_in(dir)?;
        let backing = dir.path().join("disk");
        fill(File::create(&backing)?, bytes)?;
        // Reclaiming gigabytes of unused cache would disturb the measurement.
        fadvise(File::open(&backing)?, 0, None, Advice::DontNeed)?;
        let mut disk = Self::over(&backing, &["--direct-io=on"])?;
        disk.below = Some(Box::new(dir));
        Ok(disk)
    }

    pub fn name(&self) -> &str {
        self.node.to_str().unwrap_or_default()
    }

    pub fn sysfs(&self) -> PathBuf {
        Path::new("/sys/block").join(self.node.file_name().unwrap_or_default())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.node).status();
    }
}

pub struct Mount {
    point: PathBuf,
    /// The mount point, if it was made for this.
    own: Option<TempDir>,
}

impl Mount {
    /// Mounts by mount(8); the mount point is made.
    pub fn new<A: AsRef<std::ffi::OsStr>>(args: &[A], point: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(point)?;
        process::output(Command::new("mount").args(args).arg(point))?;
        Ok(Self { point: point.to_path_buf(), own: None })
    }

    /// A tmpfs at a mount point of its own.
    pub fn tmpfs(bytes: u64) -> Result<Self, Failure> {
        need_root()?;
        let dir = tempfile::tempdir()?;
        let options = format!("size={bytes},mode=755");
        let mut mount = Self::new(&["-t", "tmpfs", "-o", &options, "tmpfs"], dir.path())?;
        mount.own = Some(dir);
        Ok(mount)
    }

    pub fn point(&self) -> &Path {
        &self.point
    }

    /// Unmounts, or says why that cannot be done.
    pub fn end(mut self) -> Result<(), Failure> {
        unmount(&self.point, UnmountFlags::empty())
            .map_err(|e| format!("cannot unmount {}: {e}", self.point.display()))?;
        drop(self.own.take());
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if unmount(&self.point, UnmountFlags::empty()).is_err() {
            let _ = unmount(&self.point, UnmountFlags::DETACH);
        }
    }
}

/// An ext4 on a loop device. Fields are dropped in order.
pub struct Ext4 {
    mount: Mount,
    _disk: Loop,
}

impl Ext4 {
    pub fn on(disk: Loop) -> Result<Self, Failure> {
        let plain = ["-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0"];
        process::output(Command::new("mkfs.ext4").args(plain).arg(&disk.node))?;
        let dir = tempfile::tempdir()?;
        let mut mount = Mount::new(&[&disk.node], dir.path())?;
        mount.own = Some(dir);
        Ok(Self { mount, _disk: disk })
    }

    pub fn dir(&self) -> &Path {
        self.mount.point()
    }
}

/// A zram device, full of data.
pub struct Zram {
    number: String,
}

impl Zram {
    pub fn new() -> Result<Self, Failure> {
        need_memory()?;
        let number = fs::read_to_string("/sys/class/zram-control/hot_add")
            .map_err(|e| format!("no zram device could be added: {e}"))?;
        let zram = Self { number: number.trim().to_owned() };
        let size = format!("/sys/block/zram{}/disksize", zram.number);
        fs::write(size, SIZE_BYTES.to_string())
            .map_err(|e| format!("the zram device could not be given a size: {e}"))?;
        fill(OpenOptions::new().write(true).open(zram.path())?, SIZE_BYTES)?;
        Ok(zram)
    }

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

/// A bound on the requests a second that this process and its children send to a device.
pub struct Throttle {
    /// Files of a cgroup, each with what lifts the bound again.
    set: Vec<(PathBuf, String)>,
}

impl Throttle {
    /// Bounds reads and writes a second, by the cgroup that this process is in, of either version.
    pub fn on(device: &Path, (reads, writes): (u32, u32)) -> Result<Self, Failure> {
        let sysfs = Path::new("/sys/block").join(device.file_name().unwrap_or_default());
        let number = fs::read_to_string(sysfs.join("dev"))?;
        let number = number.trim();
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let group = |kind: &str| own.lines().find_map(|line| line.split_once(kind));
        let bounds = match group(":blkio:/") {
            Some((_, path)) => [("read", reads), ("write", writes)].map(|(op, most)| {
                let file = format!("/sys/fs/cgroup/blkio/{path}/blkio.throttle.{op}_iops_device");
                (file, format!("{number} {most}"), format!("{number} 0"))
            }),
            None => {
                let (_, path) = group("0::/").ok_or("this process is in no cgroup")?;
                [("riops", reads), ("wiops", writes)].map(|(key, most)| {
                    let file = format!("/sys/fs/cgroup/{path}/io.max");
                    (file, format!("{number} {key}={most}"), format!("{number} {key}=max"))
                })
            }
        };
        let mut throttle = Self { set: Vec::new() };
        for (file, bound, lift) in bounds {
            fs::write(&file, bound).map_err(|e| format!("{device:?} is not throttled: {e}"))?;
            throttle.set.push((file.into(), lift));
        }
        Ok(throttle)
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        for (file, lift) in &self.set {
            if let Err(error) = fs::write(file, lift) {
                complain(&format!("{} still has a bound: {error}", file.display()));
            }
        }
    }
}

#[expect(clippy::print_stderr, reason = "something is left behind")]
fn complain(what: &str) {
    eprintln!("{what}");
}

/// Room for two devices, and some.
fn need_memory() -> Result<(), Failure> {
    need_root()?;
    match seekwell_sys::memory_bytes("MemAvailable") {
        Some(bytes) if bytes < 3 * SIZE_BYTES => {
            Err(format!("needs 3 GiB of memory; {} MiB are available", bytes >> 20).into())
        }
        _ => Ok(()),
    }
}

/// Writes incompressible data (a xorshift sequence), so that nothing is answered from a map of zero
/// pages, with the mark, so that it may be overwritten.
fn fill(mut file: File, bytes: u64) -> Result<(), Failure> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut block = vec![0; 1 << 20];
    for _ in 0..bytes >> 20 {
        for word in block.chunks_exact_mut(8) {
            word.copy_from_slice(&dice.next().to_le_bytes());
        }
        seekwell_sys::mark::put(&mut block);
        file.write_all(&block)?;
    }
    file.sync_all()?;
    Ok(())
}
