//! What the files of a snapshot may hold, and the tree being filled from them.

use crate::class::Class;
use crate::classify;
use crate::tree::{Node, Tree};
use crate::whole::read_file_or_pipe;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The first line of a snapshot in one file, and the version of what follows.
pub const FORMAT: &str = "seekwell/snapshot/1";
/// The name of a snapshot folder's listing.
pub const LISTING: &str = "sysfs.txt";
/// The name of a snapshot folder's file of sections.
pub const SECTIONS: &str = "proc.txt";
/// The path that such text has in a snapshot: no kernel has it, so it is unambiguous.
pub const LSPCI: &str = "/lspci";

/// The largest file read, in bytes. A server with a hundred disks needs about 20 MiB.
pub const MAX_FILE: u64 = 256 << 20;
/// The most files, links and directories of one snapshot.
pub const MAX_ENTRIES: usize = 2_000_000;
/// The most memory the names and contents of one snapshot may take, in bytes.
pub const MAX_HELD: usize = 768 << 20;
/// The longest path, in bytes. Real ones in sysfs stay below 300.
pub const MAX_PATH: usize = 1024;
/// The most parts of a path. Real ones in sysfs have below 40.
pub const MAX_DEPTH: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("{} could not be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(
        "{} is not a snapshot: it has neither {LISTING} nor {SECTIONS}, nor a folder sys, nor a \
         kernel log",
        path.display()
    )]
    NotOne { path: PathBuf },
    #[error("{file} is not a snapshot: it begins with {found:?}, not with {FORMAT}")]
    NoHeader { file: String, found: String },
    #[error("{file}, line {line}: {found:?} is not an entry of a snapshot")]
    Malformed {
        file: String,
        /// The line, counted from 1.
        line: usize,
        found: String,
    },
    #[error("{file}, line {line}: {what}; the most is {limit}")]
    TooMuch {
        file: String,
        /// The line, counted from 1.
        line: usize,
        what: &'static str,
        limit: usize,
    },
}

classify!(SnapshotError {
    Usage: NotOne, NoHeader, Malformed, TooMuch;
    | Self::Unreadable { source, .. } => Class::of_file(source),
});

/// Fills a tree from a file of unknown origin, within bounds.
pub(crate) struct Filler<'s> {
    tree: &'s mut Tree,
    file: &'s str,
    held: usize,
    most: usize,
}

impl<'s> Filler<'s> {
    pub fn new(tree: &'s mut Tree, file: &'s str) -> Self {
        Self { tree, file, held: 0, most: MAX_HELD }
    }

    /// With less memory than [`MAX_HELD`].
    pub fn within(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Puts an entry of the line `number`, counted from 0.
    pub fn put(&mut self, number: usize, path: &Path, node: Node) -> Result<(), SnapshotError> {
        let (bytes, depth) = (path.as_os_str().len(), path.components().count());
        let content = match &node {
            Node::File(bytes) => bytes.len(),
            Node::Link(to) => to.as_os_str().len(),
            Node::Dir | Node::Error(_) => 0,
        };
        if let Node::Link(_) = &node {
            self.check(number, "the link is too long", content, MAX_PATH)?;
        }
        self.check(number, "the path is too long", bytes, MAX_PATH)?;
        self.check(number, "the path is too deep", depth, MAX_DEPTH)?;
        if path.components().any(|c| matches!(c, Component::ParentDir | Component::CurDir)) {
            return Err(malformed(self.file, number, &path.to_string_lossy()));
        }
        let before = self.tree.len();
        self.tree.put(path, node);
        let after = self.tree.len();
        self.held += content + after.saturating_sub(before) * bytes;
        self.check(number, "there are too many entries", after, MAX_ENTRIES)?;
        self.check(number, "the snapshot is too large", self.held, self.most)
    }

    fn check(
        &self,
        number: usize,
        what: &'static str,
        have: usize,
        limit: usize,
    ) -> Result<(), SnapshotError> {
        if have <= limit {
            return Ok(());
        }
        Err(SnapshotError::TooMuch { file: self.file.to_owned(), line: number + 1, what, limit })
    }
}

/// The content of a file of at most [`MAX_FILE`] bytes; `None` if absent.
pub(crate) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, SnapshotError> {
    match read_file_or_pipe(path, MAX_FILE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SnapshotError::Unreadable { path: path.to_path_buf(), source }),
    }
}

pub(crate) fn malformed(file: &str, number: usize, line: &str) -> SnapshotError {
    let found = line.chars().take(80).collect();
    SnapshotError::Malformed { file: file.to_owned(), line: number + 1, found }
}
