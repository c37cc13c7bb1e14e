//! Settings that are no files of their own but commands to the drive, one line of a file of many
//! disks, or a file of every CPU, made to look like files.
//!
//! Look-ahead, power management and acoustics of an ATA drive, the features of an NVMe controller
//! and two flags of the kernel's are read and set by ioctl. They get names below the disk's node,
//! where no file can be (`/dev/sda/ata/apm`), so that journal, guard, read-back and putting back
//! treat them as any attribute: [`Commanded`] shows them beside the kernel's files, and
//! [`crate::writer::Sysfs`] reads and writes them. The lines of io.cost get names below their file
//! (`/sys/fs/cgroup/io.cost.model/8:0`), and a file that every CPU has is one with a star in its
//! path (`/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor`).

mod ata;
mod block;
mod cpus;
mod knobs;
pub mod lines;
mod nvme;

pub use cpus::EVERY_CPU;
pub use knobs::Knobs;

use seekwell_sys::{View, ViewError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kinds of settings that are not files of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A command to the drive or the kernel.
    Command,
    /// The disk's line of a file.
    Line,
    /// A file that every CPU has.
    EveryCpu,
}

/// The folder and name of a setting that is no file of its own; `None` for a file's path.
pub fn split(path: &Path) -> Option<(Kind, &Path, &str)> {
    let (folder, knob) = (path.parent()?, path.file_name()?.to_str()?);
    let family = folder.file_name()?.to_str()?;
    let below_dev = folder.parent()?.starts_with("/dev") && folder.parent()? != Path::new("/dev");
    let kind = if below_dev && ["ata", "block", "nvme"].contains(&family) {
        Kind::Command
    } else if lines::holds(folder) {
        Kind::Line
    } else if cpus::star(path).is_some() {
        Kind::EveryCpu
    } else {
        return None;
    };
    Some((kind, folder, knob))
}

/// Opens the device or file of such a folder.
///
/// # Errors
/// As the kernel answers.
pub fn open(kind: Kind, folder: &Path) -> io::Result<Arc<dyn Knobs>> {
    let node = folder.parent().unwrap_or(folder);
    Ok(match (kind, folder.file_name().and_then(|f| f.to_str())) {
        (Kind::Line, _) => Arc::new(lines::Lines::open(folder)?),
        (Kind::EveryCpu, _) => Arc::new(cpus::Cpus::open(folder)?),
        (Kind::Command, Some("ata")) => Arc::new(ata::Ata::open(node)?),
        (Kind::Command, Some("nvme")) => Arc::new(nvme::Nvme::open(node)?),
        (Kind::Command, _) => Arc::new(block::Block::open(node)?),
    })
}

/// A view that shows these settings too.
pub struct Commanded<V> {
    files: V,
}

impl<V: View> Commanded<V> {
    /// Over the running system's files.
    pub fn new(files: V) -> Self {
        Self { files }
    }
}

fn read(folder: &Path, knob: &str) -> io::Result<String> {
    open(Kind::Command, folder)?.read(knob)
}

impl<V: View> View for Commanded<V> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        let Some((kind, folder, knob)) = split(path) else { return self.files.read(path) };
        let text = match kind {
            Kind::Command => read(folder, knob),
            Kind::Line => lines::line(folder, &self.files.text(folder)?, knob),
            Kind::EveryCpu => Ok(cpus::shown(&self.files, path)?),
        };
        let text = text.map_err(|error| ViewError::from_io(path, &error))?;
        Ok(text.into_bytes())
    }

    fn exists(&self, path: &Path) -> bool {
        let Some((kind, folder, knob)) = split(path) else { return self.files.exists(path) };
        match kind {
            // One that may not be asked may well be there.
            Kind::Command => match read(folder, knob) {
                Ok(_) => true,
                Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
            },
            Kind::Line => self.files.exists(folder),
            Kind::EveryCpu => cpus::shown(&self.files, path).is_ok(),
        }
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
        self.files.list(path)
    }

    fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
        self.files.link(path)
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
        self.files.canonical(path)
    }
}

#[cfg(test)]
mod tests;
