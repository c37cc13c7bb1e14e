//! Where the scene lies: one folder with the modelled disk, a loop device over it and an ext4 on
//! that, all taken down again on every way out. What a killed run left is removed by the next.

use super::confine::Confine;
use super::disk::Disk;
use crate::devices::{Loop, Mount};
use crate::{Failure, process};
use rustix::mount::{UnmountFlags, unmount};
use seekwell_machine::Model;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// How folders and cgroups of the scene begin; the number of the process follows.
const PREFIX: &str = "seekwell-scene-";
/// File systems that are memory.
const MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// Makes an ext4 that has no work left to do by itself.
pub const EXT4: &str = "mkfs.ext4 -q -E nodiscard,lazy_itable_init=0,lazy_journal_init=0";

/// What is made on the modelled disk.
pub struct Layout {
    pub size: u64,
    pub model: Model,
    /// How many times farther apart things lie on the modelled disk.
    pub stretch: u64,
    /// The program that makes the file system and its options, between spaces; the device follows.
    pub mkfs: &'static str,
    /// Options of its mount, by ext4's driver.
    pub mount: &'static str,
}

/// The scene's place. Fields are dropped in order: processes first, the folder last.
pub struct TestBed {
    pub confine: Confine,
    mounted: Option<Mount>,
    device: Loop,
    /// The modelled disk below.
    pub disk: Disk,
    options: &'static str,
    dir: TempDir,
}

impl TestBed {
    /// Makes it below `work`.
    pub fn new(work: &Path, layout: Layout) -> Result<Self, Failure> {
        let Layout { size, model, stretch, mkfs, mount: options } = layout;
        let kind = rustix::fs::statfs(work)?;
        if MEMORY.contains(&(kind.f_type as i64)) {
            return Err(
                format!("{} lies in memory; name a folder on a disk", work.display()).into()
            );
        }
        let free = kind.f_bavail.saturating_mul(u64::try_from(kind.f_bsize)?);
        if free < size + (1 << 30) {
            return Err(format!(
                "{} has {} MiB free and {} are needed",
                work.display(),
                free >> 20,
                (size >> 20) + 1024
            )
            .into());
        }
        sweep(work);
        let name = format!("{PREFIX}{}", std::process::id());
        let dir = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(work)?;
        let confine = Confine::new(&name)?;
        // Servers run as nobody.
        fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let (served, root) = (dir.path().join("served"), dir.path().join("root"));
        fs::create_dir(&served)?;
        fs::create_dir(&root)?;
        let disk = Disk::new(&dir.path().join("backing"), &served, size, (&model, stretch))?;
        let device = Loop::over(disk.path(), &["--direct-io=on"])?;
        let mut place = Self { confine, mounted: None, device, disk, options, dir };
        let mut words = mkfs.split(' ');
        let program = words.next().unwrap_or_default();
        process::text(Command::new(program).args(words).arg(place.device()))?;
        place.mount()?;
        Ok(place)
    }

    pub fn device(&self) -> &Path {
        &self.device.node
    }

    /// Top of the file system on it.
    pub fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    /// A folder beside it, on the machine's own disk, for what is not part of the load.
    pub fn aside(&self) -> &Path {
        self.dir.path()
    }

    fn mount(&mut self) -> Result<(), Failure> {
        let words = ["-t", "ext4", "-o", self.options, self.device.name()];
        self.mounted = Some(Mount::new(&words, &self.root())?);
        Ok(())
    }

    /// Unmounts and mounts again, so that nothing of it is in memory.
    pub fn forget(&mut self) -> Result<(), Failure> {
        self.mounted.take().map_or(Ok(()), Mount::end)?;
        self.mount()
    }
}

/// Removes what killed runs left below `work`.
fn sweep(work: &Path) {
    let Ok(entries) = fs::read_dir(work) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = name.strip_prefix(PREFIX).and_then(|n| n.parse::<u32>().ok()) else {
            continue;
        };
        if !Path::new(&format!("/proc/{pid}")).exists() {
            clear(&entry.path(), &name);
        }
    }
}

fn clear(dir: &Path, name: &str) {
    drop(Confine::left_behind(name));
    // Loop devices first: their files lose their paths with the mounts.
    let list = process::text(Command::new("losetup").args([
        "--noheadings",
        "--raw",
        "-O",
        "NAME,BACK-FILE",
    ]));
    for line in list.unwrap_or_default().lines() {
        if let Some((device, file)) = line.split_once(' ')
            && Path::new(file).starts_with(dir)
        {
            drop(Loop::at(PathBuf::from(device), Path::new(file)));
        }
    }
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let below = |path: &&str| Path::new(path).starts_with(dir);
    let mounts = mounts.lines().filter_map(|l| l.split(' ').nth(1)).filter(below);
    for path in mounts.collect::<Vec<_>>().into_iter().rev() {
        let _ = unmount(path, UnmountFlags::DETACH);
    }
    let _ = fs::remove_dir_all(dir);
}
