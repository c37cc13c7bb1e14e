//! A snapshot in one file that can be attached to a bug report.
//!
//! ```text
//! seekwell/snapshot/1
//! # What a kernel showed of its disks; read it with: seekwell inspect --from FILE
//! tool: seekwell 0.1.0
//! target: {"given":"/dev/sda",…}
//!
//! == /proc/swaps
//! |Filename  Type  Size  Used  Priority
//! /sys/block/sda -> ../devices/…/block/sda
//! /sys/devices/…/block/sda/size: 524288
//! ```
//!
//! First what the file is and fields of a header, then entries as in a listing, in the order of
//! their paths, so that two files can be compared line by line. A file of several lines outside
//! `/sys` stands below `== PATH`, each line behind a `|`, so that no content is ever taken for an
//! entry.

use crate::entry;
use crate::filler::{FORMAT, Filler, MAX_HELD, SnapshotError, bytes, malformed};
use crate::snapshot::Snapshot;
use crate::tree::Node;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const MAX_FIELDS: usize = 10_000;

/// A snapshot with what is known of its making.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Names and values, in the order they stand in the file. A name may stand several times.
    pub header: Vec<(String, String)>,
    pub snapshot: Snapshot,
}

impl Bundle {
    /// Whether a file begins as a snapshot does.
    pub fn begins(content: &[u8]) -> bool {
        content.starts_with(FORMAT.as_bytes())
    }

    /// Adds a field to the header. A value with a line end in it is cut there.
    pub fn field(&mut self, name: &str, value: impl AsRef<str>) {
        let line = value.as_ref().lines().next().unwrap_or_default();
        let plain = line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        self.header.push((name.to_owned(), plain));
    }

    /// The values of a field, in order.
    pub fn fields<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b str> {
        self.header.iter().filter(move |(have, _)| have == name).map(|(_, value)| value.as_str())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`SnapshotError`] names the file, and the line if there is one.
    pub fn open(path: &Path) -> Result<Self, SnapshotError> {
        let absent = || SnapshotError::Unreadable {
            path: path.to_path_buf(),
            source: io::ErrorKind::NotFound.into(),
        };
        let content = bytes(path)?.ok_or_else(absent)?;
        Self::parse(&path.display().to_string(), &content)
    }

    /// Reads the content of a file. `file` is named in errors.
    ///
    /// # Errors
    /// As for [`Bundle::open`].
    pub fn parse(file: &str, content: &[u8]) -> Result<Self, SnapshotError> {
        Self::parse_within(file, content, MAX_HELD)
    }

    fn parse_within(file: &str, content: &[u8], most: usize) -> Result<Self, SnapshotError> {
        let text = String::from_utf8_lossy(content);
        let mut lines = text.lines().enumerate();
        let first = lines.next().map_or("", |(_, line)| line);
        if first != FORMAT {
            let found = first.chars().take(40).collect();
            return Err(SnapshotError::NoHeader { file: file.to_owned(), found });
        }
        let mut bundle = Self::default();
        let mut filler = Filler::new(bundle.snapshot.tree_mut(), file).within(most);
        let mut open: Option<(usize, PathBuf, Vec<u8>)> = None;
        for (number, line) in lines {
            if let Some(content) = line.strip_prefix('|') {
                let Some((_, _, lines)) = &mut open else {
                    return Err(malformed(file, number, line));
                };
                lines.extend_from_slice(content.as_bytes());
                lines.push(b'\n');
                continue;
            }
            if let Some((number, path, content)) = open.take() {
                filler.put(number, &path, Node::File(content))?;
            }
            if let Some(path) = line.strip_prefix("== ") {
                let path = Some(PathBuf::from(path)).filter(|p| p.is_absolute());
                let path = path.ok_or_else(|| malformed(file, number, line))?;
                open = Some((number, path, Vec::new()));
            } else if line.starts_with('/') {
                let (path, node) =
                    entry::read(line).ok_or_else(|| malformed(file, number, line))?;
                filler.put(number, &path, node)?;
            } else if !line.is_empty() && !line.starts_with('#') {
                let field = line.split_once(": ").filter(|_| bundle.header.len() < MAX_FIELDS);
                let (name, value) = field.ok_or_else(|| malformed(file, number, line))?;
                bundle.header.push((name.to_owned(), value.to_owned()));
            }
        }
        if let Some((number, path, content)) = open {
            filler.put(number, &path, Node::File(content))?;
        }
        Ok(bundle)
    }

    /// Writes the file. Gives how many entries could not be written, because their names are no
    /// single line.
    ///
    /// # Errors
    /// Of the writer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<usize> {
        writeln!(out, "{FORMAT}")?;
        writeln!(
            out,
            "# What a kernel showed of its disks. Look at it with: seekwell inspect --from FILE"
        )?;
        for (name, value) in &self.header {
            writeln!(out, "{name}: {value}")?;
        }
        writeln!(out)?;
        let mut left_out = 0;
        let mut entries = self.snapshot.tree().iter().peekable();
        while let Some((path, node)) = entries.next() {
            let holds = entries.peek().is_some_and(|(next, _)| next.parent() == Some(path));
            if path == Path::new("/") || (*node == Node::Dir && holds) {
                continue;
            }
            if let Some((name, text)) = block(path, node) {
                writeln!(out, "== {name}")?;
                for line in text.lines() {
                    writeln!(out, "|{line}")?;
                }
            } else if let Some(line) = entry::write(path, node) {
                writeln!(out, "{line}")?;
            } else {
                left_out += 1;
            }
        }
        Ok(left_out)
    }
}

/// Name and text of a file that is better read line by line.
fn block<'n>(path: &'n Path, node: &'n Node) -> Option<(&'n str, &'n str)> {
    let Node::File(bytes) = node else { return None };
    let name = entry::plain_path(path)?;
    let text = entry::text_of(bytes)?;
    (!path.starts_with("/sys") && text.lines().nth(1).is_some()).then_some((name, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;

    fn parse(body: &str) -> Result<Bundle, SnapshotError> {
        Bundle::parse("f", format!("{FORMAT}\n{body}").as_bytes())
    }

    fn sample() -> Bundle {
        let mut snapshot = Snapshot::new();
        let listing = "/sys/a/size: 12\n/sys/a/uevent: A\\nB\n/sys/a/bin: hex:00ff\n/sys/b -> a\n\
                       /sys/a/bad: !EIO\n/sys/a/empty/\n/sys/a/seen: !not-read\n";
        snapshot.listing("l", listing).unwrap();
        let log = "6,1,2,-;== /sys/a/size\n/sys/a/size: 13\n|x\n\n";
        snapshot.put_file(Path::new("/dev/kmsg"), log);
        let mut bundle = Bundle { snapshot, ..Bundle::default() };
        bundle.field("tool", "seekwell 1");
        bundle.field("target", "a\nsize: 1");
        bundle.field("target", "b");
        bundle
    }

    #[test]
    fn a_bundle_is_read_back_as_it_was_written() {
        let bundle = sample();
        let mut text = Vec::new();
        assert_eq!(bundle.write(&mut text).unwrap(), 0);
        let back = Bundle::parse("f", &text).unwrap();
        assert_eq!(back, bundle);
        assert_eq!(back.fields("target").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(back.snapshot.text(Path::new("/sys/a/size")), Ok("12".to_owned()));
        let shown = String::from_utf8(text).unwrap();
        assert!(shown.contains("\n== /dev/kmsg\n|6,1,2,-;== /sys/a/size\n"), "{shown}");
        assert!(shown.contains("\n/sys/a/uevent: A\\nB\n"), "{shown}");
    }

    #[test]
    fn a_file_that_is_no_bundle_is_refused_by_its_first_line() {
        for other in ["", "seekwell/snapshot/2\n", "{\"a\": 1}", "\0\0"] {
            let error = Bundle::parse("f", other.as_bytes()).unwrap_err();
            assert!(matches!(error, SnapshotError::NoHeader { .. }), "{error}");
        }
    }

    #[test]
    fn hostile_lines_are_named_with_their_number() {
        for (body, line) in [
            ("/sys/../../etc/passwd: x\n", 2),
            ("a: b\n\n/x: 1\n== relative\n", 5),
            ("|content of nothing\n", 2),
            ("nonsense\n", 2),
            ("/x\n", 2),
            (&format!("/x: 1\n{}: 1\n", "/d".repeat(MAX_TEST_DEPTH)), 3),
            (&format!("/{}: 1\n", "n".repeat(2000)), 2),
            (&format!("/l -> {}\n", "../".repeat(1000)), 2),
        ] {
            let error = parse(body).unwrap_err().to_string();
            assert!(error.starts_with(&format!("f, line {line}: ")), "{error}");
        }
    }

    const MAX_TEST_DEPTH: usize = 100;

    #[test]
    fn a_flood_of_directories_ends_before_memory_does() {
        // 60 directories a line: a file of 256 MiB would have become a tree of many gigabytes.
        let deep = |i: usize| format!("/{i}{}/x: 1\n", "/dddddddddddd".repeat(60));
        let body: String = (0..2000).map(deep).collect();
        let content = format!("{FORMAT}\n{body}");
        let held = 2000 * 60 * 400;
        assert!(Bundle::parse_within("f", content.as_bytes(), 3 * held).is_ok());
        let error = Bundle::parse_within("f", content.as_bytes(), held / 10).unwrap_err();
        let SnapshotError::TooMuch { line, .. } = error else { panic!("{error}") };
        assert!((50..500).contains(&line), "it ends at line {line}, not at the last");
    }

    #[test]
    fn a_file_that_was_a_directory_before_is_written_as_it_is_read() {
        // Found by fuzzing: what was below came back as a directory when it was read again.
        let bundle = parse("/a/c: 1\n/a: 2\n").unwrap();
        let mut text = Vec::new();
        bundle.write(&mut text).unwrap();
        assert_eq!(Bundle::parse("f", &text).unwrap(), bundle);
        assert_eq!(bundle.snapshot.text(Path::new("/a")), Ok("2".to_owned()));
    }

    #[test]
    fn links_in_a_circle_are_kept_and_lead_nowhere() {
        let bundle = parse("/a -> b\n/b -> a\n/c -> /c/c\n").unwrap();
        for path in ["/a", "/b/x", "/c"] {
            assert!(bundle.snapshot.read(Path::new(path)).is_err());
        }
    }
}
