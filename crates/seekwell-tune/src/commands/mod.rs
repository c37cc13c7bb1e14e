//! Settings that are no files of their own but commands to the drive, or one line of a file of many
//! disks, made to look like files.
//!
//! Look-ahead, power management and acoustics of an ATA drive, the features of an NVMe controller
//! and two flags of the kernel's are read and set by ioctl. They get names below the disk's node,
//! where no file can be (`/dev/sda/ata/apm`), so that journal, guard, read-back and putting back
//! treat them as any attribute: [`Commanded`] shows them beside the kernel's files, and
//! [`crate::writer::Sysfs`] reads and writes them. The lines of io.cost get names below their file
//! (`/sys/fs/cgroup/io.cost.model/8:0`).

mod ata;
mod block;
mod knobs;
pub mod lines;
mod nvme;

pub use knobs::Knobs;

use seekwell_sys::{View, ViewError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder and name of a setting that is no file; `None` for a file's path.
pub fn split(path: &Path) -> Option<(&Path, &str)> {
    let (folder, knob) = (path.parent()?, path.file_name()?.to_str()?);
    let family = folder.file_name()?.to_str()?;
    let below_dev = folder.parent()?.starts_with("/dev") && folder.parent()? != Path::new("/dev");
    let command = below_dev && ["ata", "block", "nvme"].contains(&family);
    (command || lines::holds(folder)).then_some((folder, knob))
}

/// Opens the device or file of such a folder.
///
/// # Errors
/// As the kernel answers.
pub fn open(folder: &Path) -> io::Result<Arc<dyn Knobs>> {
    if lines::holds(folder) {
        return Ok(Arc::new(lines::Lines::open(folder)?));
    }
    let node = folder.parent().unwrap_or(folder);
    Ok(match folder.file_name().and_then(|f| f.to_str()) {
        Some("ata") => Arc::new(ata::Ata::open(node)?),
        Some("nvme") => Arc::new(nvme::Nvme::open(node)?),
        _ => Arc::new(block::Block::open(node)?),
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
    open(folder)?.read(knob)
}

impl<V: View> View for Commanded<V> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        let Some((folder, knob)) = split(path) else { return self.files.read(path) };
        let text = if lines::holds(folder) {
            lines::line(folder, &self.files.text(folder)?, knob)
        } else {
            read(folder, knob)
        };
        let text = text.map_err(|error| ViewError::from_io(path, &error))?;
        Ok(text.into_bytes())
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

    fn exists(&self, path: &Path) -> bool {
        let Some((folder, knob)) = split(path) else { return self.files.exists(path) };
        if lines::holds(folder) {
            return self.files.exists(folder);
        }
        // One that may not be asked may well be there.
        match read(folder, knob) {
            Ok(_) => true,
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        }
    }
}

#[cfg(test)]
mod tests;
