//! Where suites and rivals are measured: a directory of the user's, or a file system in memory.

use crate::Failure;
use crate::bench_engine::devices::Loop;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Size of the file system: what the largest suite writes, and what has to stay free.
const BYTES: u64 = 8 << 30;

/// A directory, and what has to be taken down after it.
pub struct Place {
    dir: PathBuf,
    own: Option<Memory>,
}

/// An ext4 on a loop device over a file in a tmpfs, unmounted when this is dropped.
struct Memory(TempDir);

impl Drop for Memory {
    fn drop(&mut self) {
        // The loop device goes with its file system.
        let _ = unmount(self.0.path().join("mounted"), UnmountFlags::DETACH);
        let _ = unmount(self.0.path(), UnmountFlags::DETACH);
    }
}

impl Place {
    /// A directory, or a file system of its own where none is named; that takes root.
    pub fn new(dir: Option<&Path>) -> Result<Self, Failure> {
        if let Some(dir) = dir {
            return Ok(Self { dir: dir.canonicalize()?, own: None });
        }
        let folder = tempfile::tempdir()?;
        let options = format!("size={},mode=755", BYTES + (64 << 20));
        let options = std::ffi::CString::new(options)?;
        mount("tmpfs", folder.path(), "tmpfs", MountFlags::empty(), options.as_c_str())
            .map_err(|e| format!("a tmpfs could not be mounted: {e}; or name a --dir"))?;
        let memory = Memory(folder);
        let (image, dir) = (memory.0.path().join("disk"), memory.0.path().join("mounted"));
        File::create(&image)?.set_len(BYTES)?;
        std::fs::create_dir(&dir)?;
        make_ext4(&image)?;
        done(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&dir))?;
        Ok(Self { dir, own: Some(memory) })
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory, where it is the user's and lies on a disk.
    pub fn on_disk(&self) -> Option<&Path> {
        self.own.is_none().then_some(&self.dir)
    }

    /// What it is, for the page; a path of this machine is not in it.
    pub fn words(&self) -> &'static str {
        match self.own {
            Some(_) => "an ext4 on a loop device over a file in memory (`hdparm`: a loop device)",
            None => {
                "a directory of this machine's disk (`hdparm`, `fs`: on a loop device over a file)"
            }
        }
    }
}

/// An ext4 of its own on a loop device over a file on a disk, past whose cache its requests go.
pub struct OnDisk {
    mounted: TempDir,
    disk: Loop,
}

impl OnDisk {
    /// Made in a directory.
    pub fn new(dir: &Path, bytes: u64) -> Result<Self, Failure> {
        let disk = Loop::on_disk(dir, bytes)?;
        make_ext4(disk.path())?;
        let place = Self { mounted: tempfile::tempdir()?, disk };
        done(Command::new("mount").arg(place.disk.path()).arg(place.dir()))?;
        Ok(place)
    }

    /// Where it is mounted.
    pub fn dir(&self) -> &Path {
        self.mounted.path()
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = unmount(self.dir(), UnmountFlags::empty());
    }
}

fn make_ext4(on: &Path) -> Result<(), Failure> {
    let plain = ["-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0"];
    done(Command::new("mkfs.ext4").args(plain).arg(on))
}

fn done(command: &mut Command) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name} could not be started: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
}
