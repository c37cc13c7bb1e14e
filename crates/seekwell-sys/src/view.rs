//! The trait and its error.

use std::io;
use std::path::{Path, PathBuf};

/// Why one path could not be read. The path is the one asked for, without any injected root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The path is not there: the kernel, driver or device does not offer it.
    #[error("{} does not exist", path.display())]
    Absent { path: PathBuf },
    #[error("{} may not be read by this user", path.display())]
    Denied { path: PathBuf },
    #[error("reading {} failed: {kind}", path.display())]
    Failed { path: PathBuf, kind: io::ErrorKind },
    #[error("{} holds {found:?}, which is not {expected}", path.display())]
    Malformed { path: PathBuf, expected: &'static str, found: String },
}

impl ViewError {
    /// Files an [`io::Error`] under the reason a person needs to hear.
    pub fn from_io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_path_buf();
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Absent { path },
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            kind => Self::Failed { path, kind },
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::Absent { path }
            | Self::Denied { path }
            | Self::Failed { path, .. }
            | Self::Malformed { path, .. } => path,
        }
    }
}

/// A read-only view of the kernel's files. Paths are absolute (`/sys/block/sda/size`).
pub trait View: Send + Sync {
    /// The whole content of a file, at most [`MAX_BYTES`] of it.
    ///
    /// # Errors
    /// [`ViewError`] says whether the path is absent, denied or failing.
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError>;

    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// As for [`View::read`].
    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError>;

    /// Where a symbolic link points, as written in the link.
    ///
    /// # Errors
    /// As for [`View::read`]; a path that is not a link is [`ViewError::Failed`].
    fn link(&self, path: &Path) -> Result<PathBuf, ViewError>;

    /// The path with every symbolic link on the way resolved.
    ///
    /// # Errors
    /// As for [`View::read`].
    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError>;

    fn exists(&self, path: &Path) -> bool;

    /// The content as text with white space at the ends removed.
    ///
    /// # Errors
    /// As for [`View::read`]; text that is not UTF-8 is read lossily, never refused.
    fn text(&self, path: &Path) -> Result<String, ViewError> {
        let bytes = self.read(path)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The content as an unsigned decimal number.
    ///
    /// # Errors
    /// As for [`View::read`], and [`ViewError::Malformed`] when it is not a number.
    fn number(&self, path: &Path) -> Result<u64, ViewError> {
        let text = self.text(path)?;
        text.parse().map_err(|_| ViewError::Malformed {
            path: path.to_path_buf(),
            expected: "an unsigned number",
            found: text.chars().take(40).collect(),
        })
    }
}

impl<V: View + ?Sized> View for &V {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        (**self).read(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
        (**self).list(path)
    }

    fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
        (**self).link(path)
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
        (**self).canonical(path)
    }

    fn exists(&self, path: &Path) -> bool {
        (**self).exists(path)
    }
}

/// The most that is ever read of one file: sysfs attributes are at most a page, `/proc` tables and
/// identify data well under this.
pub const MAX_BYTES: u64 = 4 << 20;
