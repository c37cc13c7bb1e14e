//! Where in a file something stands.

use std::fmt;
use std::sync::Arc;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLine {
    /// The file's name as it was given.
    pub file: Arc<str>,
    /// Counted from 1.
    pub line: u32,
}

impl fmt::Display for FileLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
