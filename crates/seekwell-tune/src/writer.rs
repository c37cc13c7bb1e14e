//! The one place that writes to the kernel's files, behind a trait.
//!
//! A write to sysfs may be refused, changed, or never return. The trait has a twin that does all of
//! that in tests ([`fake`]); everything above it is the same code.

pub mod fake;

use crate::commands::{self, Kind, Knobs};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest an attribute is: a page.
const PAGE: usize = 4096;

pub trait Writer: Send + Sync {
    /// The attribute's text, white space at the ends removed.
    ///
    /// # Errors
    /// As the kernel answers.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Writes the whole text in one system call.
    ///
    /// # Errors
    /// As the kernel answers.
    fn write(&self, path: &Path, text: &str) -> io::Result<()>;

    /// Whether the driver made the attribute writable at all; root may open even a read-only one.
    ///
    /// # Errors
    /// When it is not there.
    fn writable(&self, path: &Path) -> io::Result<bool>;
}

/// The running system, with folders and files held open from before anything is changed.
///
/// A descriptor of an attribute belongs to the device it was opened on: when the device is
/// replaced, writing fails instead of reaching the new one.
#[derive(Debug, Default)]
pub struct Sysfs {
    dirs: Vec<(PathBuf, OwnedFd)>,
    files: HashMap<PathBuf, OwnedFd>,
    /// Devices and files of settings that are no files of their own, by folder.
    devices: HashMap<PathBuf, Arc<dyn Knobs>>,
}

impl Sysfs {
    /// Nothing held open.
    pub fn new() -> Self {
        Self::default()
    }

    /// Holds a folder open: what is below it is from now on opened from there.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn hold_dir(&mut self, dir: &Path) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        self.dirs.push((dir.to_path_buf(), rustix::fs::open(dir, flags, Mode::empty())?));
        Ok(())
    }

    /// Holds an attribute open; one that cannot be opened for writing is left to be opened later.
    pub fn hold(&mut self, path: &Path) {
        if let Some((kind, folder, _)) = commands::split(path) {
            if let Ok(device) = commands::open(kind, folder) {
                self.devices.entry(folder.to_path_buf()).or_insert(device);
            }
            return;
        }
        if let Ok(fd) = self.open(path, OFlags::RDWR) {
            self.files.insert(path.to_path_buf(), fd);
        }
    }

    /// The device or file of a setting that is no file of its own, with the setting's name.
    fn device<'p>(&self, path: &'p Path) -> Option<io::Result<(Arc<dyn Knobs>, &'p str)>> {
        let (kind, folder, knob) = commands::split(path)?;
        // A line names its disk by number, which another disk gets once this one is gone.
        let same = |(dir, _): &(PathBuf, OwnedFd)| {
            self.read(&dir.join("dev")).is_ok_and(|dev| dev == knob)
        };
        if kind == Kind::Line && !self.dirs.iter().all(same) {
            return Some(Err(io::ErrorKind::NotFound.into()));
        }
        let device = match self.devices.get(folder) {
            Some(device) => Ok(Arc::clone(device)),
            None => commands::open(kind, folder),
        };
        Some(device.map(|device| (device, knob)))
    }

    fn open(&self, path: &Path, how: OFlags) -> io::Result<OwnedFd> {
        let flags = how | OFlags::CLOEXEC;
        for (dir, fd) in &self.dirs {
            if let Ok(below) = path.strip_prefix(dir) {
                return Ok(rustix::fs::openat(fd, below, flags, Mode::empty())?);
            }
        }
        Ok(rustix::fs::open(path, flags, Mode::empty())?)
    }

    /// Runs `act` on the held descriptor, or on a new one if none is held or the held one is of
    /// an attribute that was taken away: the files of a scheduler come and go with it.
    fn with<T>(
        &self,
        path: &Path,
        how: OFlags,
        act: impl Fn(&OwnedFd) -> Result<T, Errno>,
    ) -> io::Result<T> {
        if let Some(fd) = self.files.get(path) {
            match act(fd) {
                Err(Errno::NODEV) => {}
                done => return Ok(done?),
            }
        }
        Ok(act(&self.open(path, how)?)?)
    }
}

impl Writer for Sysfs {
    fn read(&self, path: &Path) -> io::Result<String> {
        if let Some(device) = self.device(path) {
            return device.and_then(|(device, knob)| device.read(knob));
        }
        let bytes = self.with(path, OFlags::RDONLY, |fd| {
            let mut page = [0u8; PAGE];
            let read = rustix::io::retry_on_intr(|| rustix::io::pread(fd, &mut page[..], 0))?;
            Ok(page[..read].to_vec())
        })?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        if let Some(device) = self.device(path) {
            return device.and_then(|(device, knob)| device.write(knob, text));
        }
        let line = format!("{text}\n");
        let written = self.with(path, OFlags::WRONLY, |fd| {
            rustix::io::retry_on_intr(|| rustix::io::pwrite(fd, line.as_bytes(), 0))
        })?;
        if written < text.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(())
    }

    fn writable(&self, path: &Path) -> io::Result<bool> {
        use std::os::unix::fs::PermissionsExt;
        if commands::split(path).is_some() {
            return Ok(true);
        }
        Ok(std::fs::metadata(path)?.permissions().mode() & 0o222 != 0)
    }
}
