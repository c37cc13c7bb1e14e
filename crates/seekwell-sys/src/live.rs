//! The live system, or a folder that looks like one.

use crate::view::{MAX_BYTES, View, ViewError};
use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

/// Reads below a root folder: `/` for the live system, anything else for an unpacked snapshot.
#[derive(Debug, Clone)]
pub struct Live {
    root: PathBuf,
}

impl Live {
    pub fn system() -> Self {
        Self { root: PathBuf::from("/") }
    }

    /// A folder that holds `sys/`, `proc/` and so on.
    pub fn rooted(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn at(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

impl View for Live {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        let fail = |e: &std::io::Error| ViewError::from_io(path, e);
        // Non-blocking, because some sysfs and device files wait for an event when read.
        let file = fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc_o_nonblock())
            .open(self.at(path))
            .map_err(|e| fail(&e))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|e| fail(&e))?;
        Ok(bytes)
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
        let entries = fs::read_dir(self.at(path)).map_err(|e| ViewError::from_io(path, &e))?;
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
        fs::read_link(self.at(path)).map_err(|e| ViewError::from_io(path, &e))
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
        let whole = fs::canonicalize(self.at(path)).map_err(|e| ViewError::from_io(path, &e))?;
        let root = fs::canonicalize(&self.root).map_err(|e| ViewError::from_io(path, &e))?;
        let inside = whole.strip_prefix(&root).unwrap_or(&whole);
        let parts = inside.components().filter(|c| *c != Component::RootDir);
        Ok(Path::new("/").join(parts.collect::<PathBuf>()))
    }

    fn exists(&self, path: &Path) -> bool {
        self.at(path).symlink_metadata().is_ok()
    }
}

fn libc_o_nonblock() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits().cast_signed()
}
