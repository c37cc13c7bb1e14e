//! A saved copy of what a machine's kernel showed, as text.
//!
//! Two kinds of file, both readable and both diffable. A *listing* has one entry a line:
//!
//! ```text
//! /sys/block/sda/size: 524288
//! /sys/block/sda/device/vpd_pg80: hex:0080000432303030
//! /sys/block/sda/device/wwid: !EINVAL
//! /sys/class/block/sda -> ../../devices/pci0000:00/…/block/sda
//! ```
//!
//! where a line end inside a value is written `\n`, `!NAME` is the error the kernel answered with
//! (`!write-only` for a file without read permission) and a directory is there because something
//! is in it. A file of *sections* has the content of whole files, each below `== /proc/version`.

use crate::tree::{Node, Tree};
use crate::view::{View, ViewError};
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// Why a snapshot could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// A file of it could not be read.
    #[error("{} could not be read: {source}", path.display())]
    Unreadable {
        /// The file on disk.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder has none of the files a snapshot is made of.
    #[error("{} is not a snapshot: it has neither {LISTING} nor {SECTIONS}", path.display())]
    NotOne {
        /// The folder.
        path: PathBuf,
    },
    /// A line is not an entry.
    #[error("{file}, line {line}: {found:?} is not an entry of a snapshot")]
    Malformed {
        /// The file's name.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The start of the line.
        found: String,
    },
}

/// The name of a snapshot folder's listing.
pub const LISTING: &str = "sysfs.txt";
/// The name of a snapshot folder's file of sections.
pub const SECTIONS: &str = "proc.txt";

/// A saved machine, held in memory and read like the live one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    tree: Tree,
}

impl Snapshot {
    /// An empty snapshot, to be filled by [`Snapshot::listing`] and [`Snapshot::sections`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the folder's `sysfs.txt` and `proc.txt`; one of them is enough.
    ///
    /// # Errors
    /// [`SnapshotError`] names the file, and the line where there is one.
    pub fn open(folder: &Path) -> Result<Self, SnapshotError> {
        let read = |name: &str| {
            let path = folder.join(name);
            match std::fs::read(&path) {
                Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(source) => Err(SnapshotError::Unreadable { path, source }),
            }
        };
        let (listing, sections) = (read(LISTING)?, read(SECTIONS)?);
        if listing.is_none() && sections.is_none() {
            return Err(SnapshotError::NotOne { path: folder.to_path_buf() });
        }
        let mut snapshot = Self::new();
        if let Some(text) = listing {
            snapshot.listing(LISTING, &text)?;
        }
        if let Some(text) = sections {
            snapshot.sections(SECTIONS, &text)?;
        }
        Ok(snapshot)
    }

    /// Adds a listing. `file` is named in errors.
    ///
    /// # Errors
    /// [`SnapshotError::Malformed`] for the first line that is not an entry.
    pub fn listing(&mut self, file: &str, text: &str) -> Result<(), SnapshotError> {
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let (path, node) = entry(line).ok_or_else(|| malformed(file, number, line))?;
            self.tree.put(&path, node);
        }
        Ok(())
    }

    /// Adds a file of sections. `file` is named in errors.
    ///
    /// # Errors
    /// [`SnapshotError::Malformed`] for text before the first section.
    pub fn sections(&mut self, file: &str, text: &str) -> Result<(), SnapshotError> {
        let mut section: Option<(PathBuf, String)> = None;
        for (number, line) in text.lines().enumerate() {
            if let Some(path) = line.strip_prefix("== ").filter(|p| p.starts_with('/')) {
                self.finish(section.replace((PathBuf::from(path.trim()), String::new())));
            } else if let Some((_, content)) = &mut section {
                content.push_str(line);
                content.push('\n');
            } else if !line.trim().is_empty() {
                return Err(malformed(file, number, line));
            }
        }
        self.finish(section);
        Ok(())
    }

    fn finish(&mut self, section: Option<(PathBuf, String)>) {
        if let Some((path, content)) = section {
            self.tree.put(&path, Node::File(content.into_bytes()));
        }
    }

    /// How many entries it holds, directories included.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn into_tree(self) -> Tree {
        self.tree
    }
}

fn malformed(file: &str, number: usize, line: &str) -> SnapshotError {
    let found = line.chars().take(80).collect();
    SnapshotError::Malformed { file: file.to_owned(), line: number + 1, found }
}

fn entry(line: &str) -> Option<(PathBuf, Node)> {
    if !line.starts_with('/') {
        return None;
    }
    let value = line.find(": ");
    let link = line.find(" -> ");
    match (value, link) {
        (value, Some(at)) if value.is_none_or(|v| at < v) => {
            let to = &line[at + 4..];
            (!to.is_empty()).then(|| (PathBuf::from(&line[..at]), Node::Link(PathBuf::from(to))))
        }
        (Some(at), _) => Some((PathBuf::from(&line[..at]), content(&line[at + 2..]))),
        // An empty value whose trailing space an editor has taken away.
        _ => Some((PathBuf::from(line.strip_suffix(':')?), Node::File(Vec::new()))),
    }
}

fn content(value: &str) -> Node {
    if let Some(kind) = value.strip_prefix('!').and_then(error) {
        return Node::Error(kind);
    }
    if let Some(bytes) = value.strip_prefix("hex:").and_then(unhex) {
        return Node::File(bytes);
    }
    let mut text = value.replace("\\n", "\n");
    text.push('\n');
    Node::File(text.into_bytes())
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|p| Some((digit(p[0])? * 16 + digit(*p.get(1)?)?) as u8)).collect()
}

/// The error a name such as `EIO` stands for. Names this table lacks are some other error; text
/// after `!` that is no such name is a value.
fn error(name: &str) -> Option<io::ErrorKind> {
    let errno = match name {
        "write-only" | "EACCES" => Errno::ACCESS,
        "EPERM" => Errno::PERM,
        "ENOENT" => Errno::NOENT,
        "EINVAL" => Errno::INVAL,
        "EAGAIN" => Errno::AGAIN,
        "EBUSY" => Errno::BUSY,
        "EINTR" => Errno::INTR,
        "ENOMEM" => Errno::NOMEM,
        "EOPNOTSUPP" | "ENOTSUP" => Errno::OPNOTSUPP,
        "ETIMEDOUT" => Errno::TIMEDOUT,
        "EISDIR" => Errno::ISDIR,
        _ => {
            let rest = name.strip_prefix('E')?;
            let name = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit();
            return (!rest.is_empty() && rest.bytes().all(name)).then_some(io::ErrorKind::Other);
        }
    };
    Some(io::Error::from(errno).kind())
}

impl View for Snapshot {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        self.tree.read(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
        self.tree.list(path)
    }

    fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
        self.tree.link(path)
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
        self.tree.canonical(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.tree.exists(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(text: &str) -> Result<Snapshot, SnapshotError> {
        let mut snapshot = Snapshot::new();
        snapshot.listing("sysfs.txt", text)?;
        Ok(snapshot)
    }

    #[test]
    fn every_kind_of_entry_is_read() {
        let snapshot = listing(
            "/sys/a/size: 12\n/sys/a/uevent: A=1\\nB=2\n/sys/a/bin: hex:00ff10\n\
             /sys/a/bad: !EIO\n/sys/a/inval: !EINVAL\n/sys/a/delete: !write-only\n\
             /sys/b -> a\n/sys/a/empty: \n/sys/a/bare:\n/sys/a/note: x -> y: z\n",
        )
        .unwrap();
        let at = |p: &str| snapshot.read(Path::new(p));
        assert_eq!(at("/sys/b/size"), Ok(b"12\n".to_vec()));
        assert_eq!(at("/sys/a/uevent"), Ok(b"A=1\nB=2\n".to_vec()));
        assert_eq!(at("/sys/a/bin"), Ok(vec![0, 255, 16]));
        assert!(matches!(at("/sys/a/bad"), Err(ViewError::Failed { .. })));
        assert!(matches!(
            at("/sys/a/inval"),
            Err(ViewError::Failed { kind: io::ErrorKind::InvalidInput, .. })
        ));
        assert!(matches!(at("/sys/a/delete"), Err(ViewError::Denied { .. })));
        assert_eq!(snapshot.text(Path::new("/sys/a/empty")), Ok(String::new()));
        assert_eq!(snapshot.text(Path::new("/sys/a/bare")), Ok(String::new()));
        assert_eq!(snapshot.text(Path::new("/sys/a/note")), Ok("x -> y: z".to_owned()));
        assert_eq!(snapshot.canonical(Path::new("/sys/b")), Ok(PathBuf::from("/sys/a")));
    }

    #[test]
    fn a_value_that_only_looks_like_an_error_or_hex_stays_a_value() {
        let snapshot = listing("/a: !important\n/b: hex:zz\n/c: hex:abc\n/d: !\n").unwrap();
        let texts: Vec<_> =
            ["/a", "/b", "/c", "/d"].iter().map(|p| snapshot.text(Path::new(p)).unwrap()).collect();
        assert_eq!(texts, ["!important", "hex:zz", "hex:abc", "!"]);
    }

    #[test]
    fn a_line_that_is_no_entry_is_named_with_its_number() {
        let error = listing("/a: 1\n\nnonsense\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "sysfs.txt, line 3: \"nonsense\" is not an entry of a snapshot"
        );
        assert!(listing("/a\n").is_err());
        assert!(listing("/a -> \n").is_err());
    }

    #[test]
    fn sections_hold_whole_files() {
        let mut snapshot = Snapshot::new();
        let text = "== /proc/a\none\n\ntwo\n== not a path\n== /proc/b\n";
        snapshot.sections("proc.txt", text).unwrap();
        assert_eq!(
            snapshot.read(Path::new("/proc/a")),
            Ok(b"one\n\ntwo\n== not a path\n".to_vec())
        );
        assert_eq!(snapshot.read(Path::new("/proc/b")), Ok(Vec::new()));
        let error = snapshot.sections("proc.txt", "lost\n== /proc/a\n").unwrap_err();
        assert!(error.to_string().contains("proc.txt, line 1"), "{error}");
    }

    #[test]
    fn a_folder_without_a_snapshot_says_so() {
        let folder = std::env::temp_dir();
        let nothing = folder.join("seekwell-no-snapshot-here");
        let error = Snapshot::open(&nothing).unwrap_err();
        assert!(matches!(error, SnapshotError::NotOne { .. }), "{error}");
    }
}
