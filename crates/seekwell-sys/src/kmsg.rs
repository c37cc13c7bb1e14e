//! The kernel's log buffer, `/dev/kmsg` (Documentation/ABI/testing/dev-kmsg).
//!
//! Each read gives one whole record or an error, so it cannot be read like a file.

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Where the kernel shows its log.
pub const KMSG: &str = "/dev/kmsg";

/// The longest record the kernel gives (`CONSOLE_EXT_LOG_MAX`).
const RECORD: usize = 8192;

/// What was next in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KmsgRecord {
    /// A record: `prio,seq,usec,flags;message`, its line end, and lines of its dictionary.
    Text(Vec<u8>),
    /// Records were overwritten before they were read.
    Lost,
}

/// Reads the log record by record, without waiting.
#[derive(Debug)]
pub struct KmsgReader {
    file: OwnedFd,
    buffer: Vec<u8>,
}

impl KmsgReader {
    /// Opens the log at its oldest record.
    ///
    /// # Errors
    /// Mostly that the log is for root only (`kernel.dmesg_restrict`).
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { file, buffer: vec![0; RECORD] })
    }

    /// Skips to behind the newest record.
    ///
    /// # Errors
    /// When the file is no log.
    pub fn skip_to_end(&mut self) -> io::Result<()> {
        rustix::fs::seek(&self.file, SeekFrom::End(0))?;
        Ok(())
    }

    /// The next record; `None` until one arrives.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn next_record(&mut self) -> io::Result<Option<KmsgRecord>> {
        loop {
            return match rustix::io::read(&self.file, self.buffer.as_mut_slice()) {
                Ok(0) | Err(Errno::AGAIN) => Ok(None),
                Ok(read) => {
                    let mut record = self.buffer[..read].to_vec();
                    if !record.ends_with(b"\n") {
                        record.push(b'\n');
                    }
                    Ok(Some(KmsgRecord::Text(record)))
                }
                Err(Errno::PIPE) => Ok(Some(KmsgRecord::Lost)),
                Err(Errno::INTR) => continue,
                Err(errno) => Err(errno.into()),
            };
        }
    }

    /// Asked of poll(2): whether there is something to read.
    pub fn poll_fd(&self) -> PollFd<'_> {
        PollFd::new(&self.file, PollFlags::IN)
    }
}

impl AsFd for KmsgReader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The whole log as raw records, at most `limit` bytes of it: the newest.
///
/// # Errors
/// As for [`KmsgReader::open`].
pub fn read_kmsg(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut reader = KmsgReader::open(path)?;
    let mut log: Vec<u8> = Vec::new();
    while let Some(record) = reader.next_record()? {
        let KmsgRecord::Text(text) = record else { continue };
        log.extend_from_slice(&text);
        if log.len() > 2 * limit {
            drop_oldest(&mut log, limit);
        }
    }
    drop_oldest(&mut log, limit);
    Ok(log)
}

/// Leaves at most `limit` bytes, beginning with a record.
fn drop_oldest(log: &mut Vec<u8>, limit: usize) {
    let Some(excess) = log.len().checked_sub(limit).filter(|e| *e > 0) else { return };
    let begins = |at: usize| log[at - 1] == b'\n' && log.get(at).is_none_or(u8::is_ascii_digit);
    let cut = (excess..log.len()).find(|at| begins(*at)).unwrap_or(log.len());
    log.drain(..cut);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_records_are_kept_whole() {
        let mut log = b"6,1,0,-;one\n K=v\n6,2,0,-;two\n6,3,0,-;three\n".to_vec();
        drop_oldest(&mut log, 40);
        assert_eq!(log, b"6,2,0,-;two\n6,3,0,-;three\n");
        drop_oldest(&mut log, 3);
        assert_eq!(log, b"");
        let mut short = b"6,1,0,-;x\n".to_vec();
        drop_oldest(&mut short, 100);
        assert_eq!(short, b"6,1,0,-;x\n");
    }

    #[test]
    #[allow(clippy::print_stderr)]
    fn the_running_kernel_s_log_is_records_from_first_to_last() {
        let log = match read_kmsg(Path::new(KMSG), 1 << 20) {
            Ok(log) => log,
            Err(error) => return eprintln!("skipped: {KMSG}: {error}"),
        };
        assert!(!log.is_empty());
        assert!(log[0].is_ascii_digit() && log.ends_with(b"\n"), "{:?}", &log[..40.min(log.len())]);
    }
}
