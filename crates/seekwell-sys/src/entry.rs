//! One line of a listing: reading it and writing it.

use crate::tree::Node;
use rustix::io::Errno;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

/// The value of a file that was seen in its folder and whose content was not kept.
const NOT_READ: &str = "not-read";

/// Names of errors and the numbers they stand for. Of two names for one kind of error the first is
/// written. `write-only` is how folders of saved machines name a file without read permission.
const ERRORS: [(&str, Errno); 34] = [
    ("EACCES", Errno::ACCESS),
    ("write-only", Errno::ACCESS),
    ("EPERM", Errno::PERM),
    (NOT_READ, Errno::NOENT),
    ("ENOENT", Errno::NOENT),
    // Stands for all that have no kind of their own.
    ("EIO", Errno::IO),
    ("EINVAL", Errno::INVAL),
    ("EAGAIN", Errno::AGAIN),
    ("EBUSY", Errno::BUSY),
    ("EINTR", Errno::INTR),
    ("ENOMEM", Errno::NOMEM),
    ("EOPNOTSUPP", Errno::OPNOTSUPP),
    ("ENOTSUP", Errno::OPNOTSUPP),
    ("ENOSYS", Errno::NOSYS),
    ("ETIMEDOUT", Errno::TIMEDOUT),
    ("EISDIR", Errno::ISDIR),
    ("ENOTDIR", Errno::NOTDIR),
    ("ELOOP", Errno::LOOP),
    ("ENOTEMPTY", Errno::NOTEMPTY),
    ("EEXIST", Errno::EXIST),
    ("EROFS", Errno::ROFS),
    ("ENOSPC", Errno::NOSPC),
    ("EFBIG", Errno::FBIG),
    ("EDQUOT", Errno::DQUOT),
    ("ESPIPE", Errno::SPIPE),
    ("EPIPE", Errno::PIPE),
    ("EMLINK", Errno::MLINK),
    ("EXDEV", Errno::XDEV),
    ("ESTALE", Errno::STALE),
    ("E2BIG", Errno::TOOBIG),
    ("ETXTBSY", Errno::TXTBSY),
    ("EDEADLK", Errno::DEADLK),
    ("ENAMETOOLONG", Errno::NAMETOOLONG),
    ("ECONNRESET", Errno::CONNRESET),
];

fn kind_of(errno: Errno) -> io::ErrorKind {
    io::Error::from(errno).kind()
}

/// The error a name such as `EIO` stands for. Names the table lacks are some other error; text
/// after `!` that is no such name is a value.
fn error(name: &str) -> Option<io::ErrorKind> {
    if let Some((_, errno)) = ERRORS.iter().find(|(known, _)| *known == name) {
        return Some(kind_of(*errno));
    }
    let rest = name.strip_prefix('E')?;
    let letter = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit();
    (!rest.is_empty() && rest.bytes().all(letter)).then(|| kind_of(Errno::IO))
}

/// Reads an entry. `None` when the line is not one.
pub(crate) fn read(line: &str) -> Option<(PathBuf, Node)> {
    if !line.starts_with('/') {
        return None;
    }
    let value = line.find(": ");
    let link = line.find(" -> ");
    let (path, node) = match (value, link) {
        (value, Some(at)) if value.is_none_or(|v| at < v) => {
            (&line[..at], Node::Link(PathBuf::from(plain(&line[at + 4..])?)))
        }
        (Some(at), _) => (&line[..at], content(&line[at + 2..])),
        _ if line.len() > 1 && line.ends_with('/') => (line, Node::Dir),
        // An empty value whose trailing space an editor has taken away.
        _ => (line.strip_suffix(':')?, Node::File(Vec::new())),
    };
    Some((PathBuf::from(plain(path)?), node))
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

/// Writes an entry, without a line end, so that [`read`] gives the same back. `None` when its path
/// or its link cannot be written as one line.
pub(crate) fn write(path: &Path, node: &Node) -> Option<String> {
    let name = plain_path(path)?;
    let line = match node {
        Node::Dir => format!("{name}/"),
        Node::Link(to) => format!("{name} -> {}", plain(to.to_str()?)?),
        Node::Error(kind) => format!("{name}: !{}", name_of(*kind)),
        Node::File(bytes) => format!("{name}: {}", value(bytes)),
    };
    Some(line)
}

/// A path that can begin an entry.
pub(crate) fn plain_path(path: &Path) -> Option<&str> {
    let name = plain(path.to_str()?)?;
    // These would be read as the end of the path, or as an empty value.
    let ends = name.contains(": ") || name.contains(" -> ");
    (!ends && name.starts_with('/') && name.len() > 1 && !name.ends_with([':', '/', ' ']))
        .then_some(name)
}

/// A path or a link that fits in one line; the kernel gives no other.
fn plain(text: &str) -> Option<&str> {
    (!text.is_empty() && !text.contains(char::is_control)).then_some(text)
}

fn name_of(kind: io::ErrorKind) -> &'static str {
    if kind == io::ErrorKind::NotFound {
        return NOT_READ;
    }
    ERRORS.iter().find(|(_, errno)| kind_of(*errno) == kind).map_or("EIO", |(name, _)| name)
}

/// The text of a file where that says every byte of it, else its bytes in hexadecimal.
fn value(bytes: &[u8]) -> String {
    if let Some(text) = text_of(bytes) {
        let value = text[..text.len() - 1].replace('\n', "\\n");
        if content(&value) == Node::File(bytes.to_vec()) {
            return value;
        }
    }
    let mut hex = String::with_capacity(4 + 2 * bytes.len());
    hex.push_str("hex:");
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// The content as text that may stand in a file for people: lines, each ended, of characters that
/// do nothing to a terminal.
pub(crate) fn text_of(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok().filter(|t| t.ends_with('\n'))?;
    let strange = |c: char| c.is_control() && c != '\n' && c != '\t';
    (!text.contains(strange)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(path: &str, node: &Node) -> Option<String> {
        let line = write(Path::new(path), node)?;
        let back = read(&line).unwrap_or_else(|| panic!("{line:?} is no entry"));
        assert_eq!((back.0.as_path(), &back.1), (Path::new(path), node), "{line:?}");
        Some(line)
    }

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let file = |text: &str| round("/a/b", &Node::File(text.as_bytes().to_vec())).unwrap();
        assert_eq!(file("12\n"), "/a/b: 12");
        assert_eq!(file("A=1\nB=2\n\n"), "/a/b: A=1\\nB=2\\n");
        assert_eq!(file("\n"), "/a/b: ");
        assert_eq!(file(""), "/a/b: hex:");
        assert_eq!(file("no end"), "/a/b: hex:6e6f20656e64");
        assert!(file("a\\nb\n").starts_with("/a/b: hex:"));
        assert!(file("!EIO\n").starts_with("/a/b: hex:"));
        assert!(file("hex:00\n").starts_with("/a/b: hex:"));
        assert!(file("\x1b[31m\n").starts_with("/a/b: hex:"));
        assert_eq!(file("tab\there -> é: \n"), "/a/b: tab\there -> é: ");
        assert_eq!(round("/a/b", &Node::Dir).unwrap(), "/a/b/");
        assert_eq!(round("/a b", &Node::Link("../c: d".into())).unwrap(), "/a b -> ../c: d");
    }

    #[test]
    fn every_kind_of_error_a_file_gives_survives() {
        // From 98 to 115, but for "timed out", they are of networks.
        for errno in (1..98).chain([110]).chain(116..134) {
            let kind = io::Error::from_raw_os_error(errno).kind();
            round("/a", &Node::Error(kind)).unwrap();
        }
    }

    #[test]
    fn names_that_cannot_be_one_line_are_not_written() {
        for path in ["/a: b", "/a -> b", "/a\nb", "/", "/a:", "/a "] {
            assert_eq!(write(Path::new(path), &Node::Dir), None, "{path:?}");
        }
        assert_eq!(write(Path::new("/a"), &Node::Link("b\nc".into())), None);
    }
}
