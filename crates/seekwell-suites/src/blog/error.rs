//! What can be wrong with the blogs on disk.

use std::path::PathBuf;

/// The blogs on disk differ from those that were written.
#[derive(Debug, thiserror::Error)]
pub enum BlogError {
    /// A file that becomes visible only once complete has a size that no file has.
    #[error("{} was read as {bytes} bytes, which was never written", .path.display())]
    Torn { path: PathBuf, bytes: u64 },
    #[error("{} holds {found} where {expected} were written", .path.display())]
    Differs {
        path: PathBuf,
        /// Files and bytes by what was written.
        expected: String,
        /// Files and bytes on disk.
        found: String,
    },
}
