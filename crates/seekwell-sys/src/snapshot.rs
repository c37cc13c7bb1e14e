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
//! (`!write-only` for a file without read permission, `!not-read` for one whose content was not
//! kept) and a directory is there because something is in it, or as an entry that ends in `/`. A
//! file of *sections* has the content of whole files, each below `== /proc/version`. Both may come
//! from anybody: they only ever fill a tree in memory, whose size is bounded.

use crate::entry;
use crate::filler::{Filler, LISTING, LSPCI, SECTIONS, SnapshotError, bytes, malformed};
use crate::kmsg::KMSG;
use crate::tree::{Node, Tree};
use crate::view::{View, ViewError};
use std::path::{Path, PathBuf};

/// A listing in a folder that has no other: attributes by the paths of their classes alone, with a
/// bar for each line end.
const AFTER: &str = "sysfs-after.txt";
/// The kernel log in a snapshot folder: raw records where they were kept, else as `dmesg` shows it.
const LOGS: [&str; 2] = ["kmsg.txt", "dmesg.txt"];
/// What `lspci` printed, in a snapshot folder: the first of these that is there.
const LSPCI_TEXTS: [&str; 3] = ["lspci-vvnnk.txt", "lspci-vvnn.txt", "lspci.txt"];
/// What `lsmod` printed, which begins its lines as the kernel's own list does.
const MODULES: &str = "/proc/modules";
/// Texts beside a listing, by what they become.
const TEXTS: [(&str, &[&str]); 3] =
    [(KMSG, &LOGS), (LSPCI, &LSPCI_TEXTS), (MODULES, &["lsmod.txt"])];

/// The files of a folder that [`Snapshot::open`] makes no use of, in the order of their names; none
/// of a folder that is a copied tree.
pub fn unused(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    let there = |name: &str| names.iter().any(|n| n == name);
    let listed = there(LISTING) || there(SECTIONS);
    if !listed && crate::folder::is_one(folder) {
        return Vec::new();
    }
    let listing = if there(LISTING) { LISTING } else { AFTER };
    let texts = TEXTS.iter().filter_map(|(_, names)| names.iter().find(|n| there(n)));
    let used: Vec<&str> = texts.copied().chain([listing, SECTIONS]).collect();
    names.retain(|name| !used.contains(&name.as_str()));
    names.sort();
    names
}

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

    /// Reads a folder: its `sysfs.txt` and `proc.txt`, with the kernel log beside them, which
    /// becomes `/dev/kmsg`, and the text of `lspci`, which becomes [`LSPCI`]; any one of them is
    /// enough, and other files are of no account. Or the copied `sys` and `proc` of a sosreport.
    ///
    /// # Errors
    /// [`SnapshotError`] names the file, and the line if there is one.
    pub fn open(folder: &Path) -> Result<Self, SnapshotError> {
        let (listing, sections) = (text(folder, LISTING)?, text(folder, SECTIONS)?);
        if listing.is_none() && sections.is_none() && crate::folder::is_one(folder) {
            return Ok(crate::folder::read(folder)?.into());
        }
        let mut snapshot = Self::new();
        if let Some(text) = &listing {
            snapshot.listing(LISTING, text)?;
        } else if let Some(text) = text(folder, AFTER)? {
            snapshot.listing(AFTER, &unbarred(&text))?;
        }
        if let Some(text) = sections {
            snapshot.sections(SECTIONS, &text)?;
        }
        for (path, names) in TEXTS {
            if crate::View::exists(&snapshot, Path::new(path)) {
                continue;
            }
            let mut contents = names.iter().map(|name| bytes(&folder.join(name)));
            if let Some(content) = contents.find_map(Result::transpose).transpose()? {
                snapshot.put_file(Path::new(path), content);
            }
        }
        if snapshot.is_empty() {
            return Err(SnapshotError::NotOne { path: folder.to_path_buf() });
        }
        Ok(snapshot)
    }

    /// Adds a listing. `file` is named in errors.
    ///
    /// # Errors
    /// [`SnapshotError::Malformed`] for the first line that is not an entry, and
    /// [`SnapshotError::TooMuch`] for the first beyond what a machine has.
    pub fn listing(&mut self, file: &str, text: &str) -> Result<(), SnapshotError> {
        let mut filler = Filler::new(&mut self.tree, file);
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let (path, node) = entry::read(line).ok_or_else(|| malformed(file, number, line))?;
            filler.put(number, &path, node)?;
        }
        Ok(())
    }

    /// Adds a file of sections. `file` is named in errors.
    ///
    /// # Errors
    /// [`SnapshotError::Malformed`] for text before the first section, and
    /// [`SnapshotError::TooMuch`] as for a listing.
    pub fn sections(&mut self, file: &str, text: &str) -> Result<(), SnapshotError> {
        let mut filler = Filler::new(&mut self.tree, file);
        let mut section: Option<(usize, PathBuf, String)> = None;
        for (number, line) in text.lines().enumerate() {
            if let Some(path) = line.strip_prefix("== ").filter(|p| p.starts_with('/')) {
                let next = (number, PathBuf::from(path.trim()), String::new());
                if let Some((number, path, content)) = section.replace(next) {
                    filler.put(number, &path, Node::File(content.into_bytes()))?;
                }
            } else if let Some((_, _, content)) = &mut section {
                content.push_str(line);
                content.push('\n');
            } else if !line.trim().is_empty() {
                return Err(malformed(file, number, line));
            }
        }
        if let Some((number, path, content)) = section {
            filler.put(number, &path, Node::File(content.into_bytes()))?;
        }
        Ok(())
    }

    /// Puts a file in, as for a log that is beside a snapshot.
    pub fn put_file(&mut self, path: &Path, content: impl Into<Vec<u8>>) {
        self.tree.put(path, Node::File(content.into()));
    }

    /// How many entries it holds, directories included.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn into_tree(self) -> Tree {
        self.tree
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn tree_mut(&mut self) -> &mut Tree {
        &mut self.tree
    }
}

impl From<Tree> for Snapshot {
    fn from(tree: Tree) -> Self {
        Self { tree }
    }
}

/// A listing with bars for line ends as one with `\n`. Binary pages were copied into it as they
/// are; what they leave that is no entry is left out.
fn unbarred(text: &str) -> String {
    let entries = text.lines().filter(|line| entry::read(line).is_some());
    entries.map(|line| line.trim_end_matches('|').replace('|', "\\n") + "\n").collect()
}

/// A file of a folder as text; `None` if absent.
fn text(folder: &Path, name: &str) -> Result<Option<String>, SnapshotError> {
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(bytes(&folder.join(name))?.map(lossy))
}

impl View for Snapshot {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        self.tree.read(path)
    }

    crate::forward_view!(tree);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{View, ViewError};
    use std::io;

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

    /// A link with a NUL in it was read, and could not be written again: a saved machine lost a
    /// disk when it was saved a second time.
    #[test]
    fn a_path_or_link_that_could_not_be_written_again_is_no_entry() {
        for line in ["/sys/block/sda -> \0./x\n", "/sys/b\u{1}: 1\n", "/sys/b\u{7f}/\n"] {
            assert!(listing(line).is_err(), "{line:?}");
        }
        assert!(listing("/sys/a: \u{1}\n").is_ok(), "a value may hold anything");
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
    fn any_one_of_the_files_is_enough_and_others_do_no_harm() {
        let whole = [
            (LISTING, "/sys/a: 1\n"),
            (SECTIONS, "== /proc/b\n2\n"),
            ("kmsg.txt", "6,1,0,-;x\n"),
            (LSPCI_TEXTS[2], "00:00.0 Host bridge [0600]: X [8086:0000]\n"),
        ];
        let paths = ["/sys/a", "/proc/b", KMSG, LSPCI];
        for kept in 0..=whole.len() {
            let folder =
                std::env::temp_dir().join(format!("seekwell-folder-{}-{kept}", std::process::id()));
            std::fs::create_dir_all(folder.join("tools")).unwrap();
            std::fs::write(folder.join("notes.bin"), b"\xff\0nonsense").unwrap();
            for (i, (name, text)) in whole.iter().enumerate() {
                if i == kept || kept == whole.len() {
                    std::fs::write(folder.join(name), text).unwrap();
                }
            }
            let snapshot = Snapshot::open(&folder);
            std::fs::remove_dir_all(&folder).unwrap();
            let snapshot = snapshot.unwrap();
            for (i, path) in paths.iter().enumerate() {
                let there = i == kept || kept == whole.len();
                assert_eq!(snapshot.exists(Path::new(path)), there, "{path}");
            }
        }
    }

    #[test]
    fn a_listing_with_bars_for_line_ends_is_read_past_its_binary_pages() {
        let text = "/sys/class/x/ering: [1.0]Timeout|[0.5]Unknown|\n/sys/block/sda/page: \u{fffd}\n\
                    rest of a page\n/sys/block/sda/device/state: running|\n/sys/x/empty: \n";
        let snapshot = listing(&unbarred(text)).unwrap();
        let at = |path: &str| snapshot.text(Path::new(path)).unwrap();
        assert_eq!(at("/sys/class/x/ering"), "[1.0]Timeout\n[0.5]Unknown");
        assert_eq!(
            (at("/sys/block/sda/device/state"), at("/sys/x/empty")),
            ("running".into(), String::new())
        );
    }

    #[test]
    fn a_folder_without_a_snapshot_says_so() {
        let folder = std::env::temp_dir();
        let nothing = folder.join("seekwell-no-snapshot-here");
        let error = Snapshot::open(&nothing).unwrap_err();
        assert!(matches!(error, SnapshotError::NotOne { .. }), "{error}");
    }
}
