//! Reading files whole, up to a bound. A path that was typed or found may name a device without an
//! end, a pipe without a writer, or a file larger than memory.

use rustix::fs::OFlags;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Enough for any text that people write: descriptions, parameters, rules.
pub const MAX_TEXT: u64 = 16 << 20;

/// Why a file is not read whole; inside an [`io::Error`].
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("it is {0}, not a regular file")]
    Kind(&'static str),
    #[error("it is larger than {} KiB, the most that is read", .0 >> 10)]
    TooLarge(u64),
}

/// Reads a regular file of at most `most` bytes. Nothing else is even opened.
///
/// # Errors
/// What the kernel answered, or [`ErrorKind::InvalidInput`] for what is not a regular file and
/// [`ErrorKind::FileTooLarge`].
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    regular(fs::metadata(path)?.file_type())?;
    // Should the path be replaced by a FIFO meanwhile, opening it does not wait.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    regular(found.file_type())?;
    if found.len() > most {
        return Err(too_large(most));
    }
    bounded(file, most)
}

/// The same of text in UTF-8.
///
/// # Errors
/// As for [`read_file`], and [`ErrorKind::InvalidData`].
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_file(path, most)?).map_err(|e| io::Error::new(ErrorKind::InvalidData, e))
}

/// Reads a regular file or what a pipe brings, as in `<(zcat FILE)`, of at most `most` bytes.
///
/// # Errors
/// As for [`read_file`].
pub fn read_file_or_pipe(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_fifo() { bounded(File::open(path)?, most) } else { read_file(path, most) }
}

/// Whether another file should have been named: it is not there, or it is no file of the kind or
/// content that is needed. What no system call answered is about the content.
pub fn is_wrong_file(error: &io::Error) -> bool {
    use ErrorKind::{IsADirectory, NotADirectory, NotFound};
    error.raw_os_error().is_none()
        || matches!(error.kind(), NotFound | IsADirectory | NotADirectory)
}

fn regular(kind: FileType) -> io::Result<()> {
    let kind = match kind {
        k if k.is_file() => return Ok(()),
        k if k.is_dir() => "a directory",
        k if k.is_fifo() => "a pipe",
        k if k.is_char_device() => "a character device",
        k if k.is_block_device() => "a block device",
        _ => "a socket",
    };
    Err(io::Error::new(ErrorKind::InvalidInput, Unfit::Kind(kind)))
}

fn bounded(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(most));
    }
    Ok(bytes)
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, Unfit::TooLarge(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_the_bound_and_not_beyond() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, [b'x'; 2048]).unwrap();
        assert_eq!(read_file(&path, 2048).unwrap().len(), 2048);
        let error = read_file(&path, 1024).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it is larger than 1 KiB, the most that is read");
        assert!(is_wrong_file(&error));
    }

    #[test]
    fn devices_pipes_and_directories_are_refused_at_once() {
        // `machine show /dev/zero` took all memory, and a FIFO waited forever.
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).unwrap();
        for (path, kind) in [
            (Path::new("/dev/zero"), "a character device"),
            (&fifo, "a pipe"),
            (dir.path(), "a directory"),
        ] {
            let error = read_text(path, MAX_TEXT).unwrap_err();
            assert_eq!(error.to_string(), format!("it is {kind}, not a regular file"));
            assert!(is_wrong_file(&error));
        }
        assert!(read_file_or_pipe(Path::new("/dev/zero"), 10).is_err());
    }

    #[test]
    fn a_pipe_is_bounded_where_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).unwrap();
        let through = |most| {
            std::thread::scope(|scope| {
                // Closing it early is an error of the writer.
                scope.spawn(|| drop(fs::write(&fifo, [b'x'; 100])));
                read_file_or_pipe(&fifo, most)
            })
        };
        assert_eq!(through(100).unwrap().len(), 100);
        assert_eq!(through(99).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
