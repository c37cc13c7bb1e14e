//! An input file, decompressed on the way, and its lines without a copy.

use super::archive;
use super::unpack::unpacked;
use crate::error::{At, TraceError};
use memchr::memchr;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use seekwell_io::engine::Control;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// First bytes that [`Input::head`] shows.
const HEAD_LEN: usize = 16 << 10;
/// No line of a trace is longer; what is longer is no text.
const MAX_LINE: usize = 64 << 10;
const CHUNK: usize = 256 << 10;

/// How often a reader of a pipe looks whether it is to stop.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// What decoders pass on when a reader was asked to stop.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
struct Stopped;

fn unread(path: &Path, source: io::Error) -> TraceError {
    if source.get_ref().is_some_and(|e| e.is::<Stopped>()) {
        return TraceError::Interrupted;
    }
    TraceError::Io { what: "reading", path: path.to_owned(), source }
}

/// Opens a file, a member of an archive, or a pipe without waiting for its writer.
fn raw(path: &Path, control: &Arc<Control>) -> io::Result<Box<dyn Read + Send>> {
    match (std::fs::metadata(path), archive::split(path)) {
        (Ok(found), _) if found.is_file() => return Ok(Box::new(File::open(path)?)),
        (Ok(_), _) => {}
        (Err(_), Some((archive, member))) => return archive::open(archive, member),
        (Err(error), None) => return Err(error),
    }
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    Ok(Box::new(Pipe { file, control: Arc::clone(control) }))
}

/// A pipe or device that may say nothing forever.
struct Pipe {
    file: File,
    control: Arc<Control>,
}

impl Read for Pipe {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.control.stop.load(Relaxed) {
                return Err(io::Error::other(Stopped));
            }
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&POLL_INTERVAL)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(errno) => return Err(errno.into()),
            }
            match self.file.read(out) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// A file being read from its start: plain, gzip or zstd, recognised by its first bytes.
pub struct Input {
    path: PathBuf,
    head: Vec<u8>,
    taken: usize,
    reader: Box<dyn Read + Send>,
}

impl Input {
    /// Opens a file and reads its first bytes. A pipe is waited for until `control` says stop.
    ///
    /// # Errors
    /// [`TraceError::Io`] and [`TraceError::Interrupted`].
    pub fn open(path: &Path, control: &Arc<Control>) -> Result<Self, TraceError> {
        let reader = raw(path, control).and_then(unpacked).map_err(|e| unread(path, e))?;
        Self::from_reader(path, reader)
    }

    /// Takes bytes from anywhere; `path` only names them in errors.
    ///
    /// # Errors
    /// [`TraceError::Io`].
    pub fn from_reader(path: &Path, mut reader: Box<dyn Read + Send>) -> Result<Self, TraceError> {
        let mut head = Vec::new();
        reader
            .by_ref()
            .take(HEAD_LEN as u64)
            .read_to_end(&mut head)
            .map_err(|source| unread(path, source))?;
        Ok(Self { path: path.to_owned(), head, taken: 0, reader })
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its first bytes, decompressed; reading begins with them all the same.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Reads it line by line.
    pub fn lines(self, format: &'static str) -> Lines {
        Lines { bytes: Bytes::new(self, format), line: 0, is_whole: true }
    }

    /// Reads it in pieces of known length.
    pub fn bytes(self, format: &'static str) -> Bytes {
        Bytes::new(self, format)
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken < self.head.len() {
            let n = (&self.head[self.taken..]).read(out)?;
            self.taken += n;
            return Ok(n);
        }
        self.reader.read(out)
    }
}

/// A buffer over an [`Input`] that knows where it is.
pub struct Bytes {
    input: Input,
    format: &'static str,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of the input before `start`.
    at: u64,
    is_over: bool,
}

impl Bytes {
    fn new(input: Input, format: &'static str) -> Self {
        let buffer = vec![0; CHUNK];
        Self { input, format, buffer, start: 0, end: 0, at: 0, is_over: false }
    }

    /// Bytes of the (decompressed) input consumed so far.
    pub const fn position(&self) -> u64 {
        self.at
    }

    /// The next `len` bytes, not consumed; fewer only at the end. `len` is at most 256 KiB.
    ///
    /// # Errors
    /// [`TraceError::Io`].
    pub fn peek(&mut self, len: usize) -> Result<&[u8], TraceError> {
        assert!(len <= CHUNK, "no piece of a trace is that long");
        while self.end - self.start < len && self.fill()? {}
        Ok(&self.buffer[self.start..self.end.min(self.start + len)])
    }

    /// The next `len` bytes, or none at the end of the input.
    ///
    /// # Errors
    /// [`TraceError::Truncated`] naming `what` if there are some but not all, and
    /// [`TraceError::Io`].
    pub fn take(&mut self, len: usize, what: &'static str) -> Result<Option<&[u8]>, TraceError> {
        let got = self.peek(len)?.len();
        if got == 0 {
            return Ok(None);
        }
        if got < len {
            let at = At::Byte(self.at + got as u64);
            return Err(TraceError::Truncated { format: self.format, at, what });
        }
        let from = self.start;
        self.skip(len);
        Ok(Some(&self.buffer[from..from + len]))
    }

    fn skip(&mut self, len: usize) {
        self.start += len;
        self.at += len as u64;
    }

    /// Reads more behind what is there; false at the end of the input.
    fn fill(&mut self) -> Result<bool, TraceError> {
        if self.is_over {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.is_over = true;
                    return Ok(false);
                }
                Ok(n) => {
                    self.end += n;
                    return Ok(true);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(unread(&self.input.path, source)),
            }
        }
    }
}

/// Lines of an [`Input`], each borrowed from one buffer.
pub struct Lines {
    bytes: Bytes,
    line: u64,
    is_whole: bool,
}

impl Lines {
    /// The next line without its end, `\n` or `\r\n`; none at the end of the input.
    ///
    /// # Errors
    /// [`TraceError::Io`], or [`TraceError::Malformed`] where a line is longer than 64 KiB.
    #[inline]
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let (from, len) = loop {
            let bytes = &self.bytes;
            if let Some(len) = memchr(b'\n', &bytes.buffer[bytes.start..bytes.end]) {
                let from = bytes.start;
                self.bytes.skip(len + 1);
                break (from, len);
            }
            if !self.more()? {
                let (from, len) = (self.bytes.start, self.bytes.end - self.bytes.start);
                if len == 0 {
                    return Ok(None);
                }
                self.is_whole = false;
                self.bytes.skip(len);
                break (from, len);
            }
        };
        self.line += 1;
        let line = &self.bytes.buffer[from..from + len];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Reads on in the middle of a line.
    #[cold]
    fn more(&mut self) -> Result<bool, TraceError> {
        if self.bytes.end - self.bytes.start > MAX_LINE {
            return Err(TraceError::Malformed {
                format: self.bytes.format,
                at: At::Line(self.line + 1),
                wrong: "a line of at most 64 KiB",
                found: String::new(),
            });
        }
        self.bytes.fill()
    }

    /// Number of the line handed out last, from 1.
    pub const fn number(&self) -> u64 {
        self.line
    }

    /// Whether the line handed out last ended with a newline; a torn file's last one does not.
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn lines_of(data: &[u8]) -> Lines {
        let reader = Box::new(io::Cursor::new(data.to_vec()));
        Input::from_reader(Path::new("test"), reader).expect("reads").lines("test")
    }

    fn all(mut lines: Lines) -> Vec<String> {
        let mut out = Vec::new();
        while let Some(line) = lines.next_line().expect("reads") {
            out.push(String::from_utf8_lossy(line).into_owned());
        }
        out
    }

    #[test]
    fn lines_are_the_same_whatever_they_end_with() {
        assert_eq!(all(lines_of(b"a\r\nb\nc")), ["a", "b", "c"]);
    }

    #[test]
    fn lines_cross_the_edges_of_the_buffer_whole() {
        let text: Vec<String> = (0..100_000).map(|i| format!("line number {i}")).collect();
        assert_eq!(all(lines_of(text.join("\n").as_bytes())), text);
    }

    #[test]
    fn a_file_without_newlines_is_refused_and_not_kept_in_memory() {
        let mut lines = lines_of(&vec![b'x'; 1 << 20]);
        let error = lines.next_line().expect_err("too long");
        assert_eq!(error.to_string(), "test, line 1: expected a line of at most 64 KiB");
    }

    #[test]
    fn gzip_of_several_members_and_zstd_read_like_the_plain_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("packed");
        let mut two = Vec::new();
        for part in [&b"a\nb"[..], b"c\nd\n"] {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(part).expect("packs");
            two.extend(gzip.finish().expect("packs"));
        }
        std::fs::write(&path, two).expect("writes");
        assert_eq!(
            all(Input::open(&path, &Arc::default()).expect("opens").lines("test")),
            ["a", "bc", "d"]
        );
        std::fs::write(&path, zstd::encode_all(&b"a\nb\n"[..], 1).expect("packs")).expect("writes");
        assert_eq!(
            all(Input::open(&path, &Arc::default()).expect("opens").lines("test")),
            ["a", "b"]
        );
    }

    #[test]
    fn a_torn_gzip_file_is_an_error_and_not_a_short_trace() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("torn.gz");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all("line\n".repeat(9999).as_bytes()).expect("packs");
        let whole = gzip.finish().expect("packs");
        std::fs::write(&path, &whole[..whole.len() - 20]).expect("writes");
        let opened =
            Input::open(&path, &Arc::default()).map(|i| i.lines("test")).and_then(|mut lines| {
                while lines.next_line()?.is_some() {}
                Ok(())
            });
        assert!(matches!(opened, Err(TraceError::Io { .. })), "{opened:?}");
    }
}
