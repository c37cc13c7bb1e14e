//! Checksums of the store (CRC-32). Each covers the bytes from the end of one group to the end of
//! the next; the footer lists them, and the eight bytes before the footer are its own.

use super::files::{io_error, key};
use crate::error::TraceError;
use crc32fast::Hasher;
use seekwell_access::OutputFile;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What a sealed footer begins with; its checksum follows, little-endian.
const SEAL: &[u8; 4] = b"SKWF";
const SEAL_LEN: usize = 8;
/// The footer's length, little-endian, and `PAR1`.
const TAIL_LEN: usize = 8;
const CHUNK: usize = 256 << 10;
/// A few kilobytes for each group, and the names.
const MAX_FOOTER: u64 = 256 << 20;

/// The checksum of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSum {
    /// Where the group ends in the file.
    pub end_bytes: u64,
    /// CRC-32 of the bytes since the group before, or since the start of the file.
    pub crc32: u32,
}

/// A file that sums up what is written into it.
pub struct Summed {
    /// Taken out when the file is whole.
    pub file: Option<BufWriter<OutputFile>>,
    hasher: Hasher,
    written: u64,
    /// Those of the groups so far.
    pub groups: Vec<GroupSum>,
}

impl Summed {
    pub fn new(file: OutputFile) -> Self {
        let file = Some(BufWriter::with_capacity(1 << 20, file));
        Self { file, hasher: Hasher::new(), written: 0, groups: Vec::new() }
    }

    /// What was written since the last call is a group.
    pub fn end_group(&mut self) {
        let crc32 = std::mem::take(&mut self.hasher).finalize();
        self.groups.push(GroupSum { end_bytes: self.written, crc32 });
    }

    fn file(&mut self) -> &mut BufWriter<OutputFile> {
        self.file.as_mut().expect("nothing is written after the end")
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file().write(bytes)?;
        self.hasher.update(&bytes[..n]);
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

/// What goes before a footer: its checksum.
pub fn seal(footer: &[u8]) -> [u8; SEAL_LEN] {
    let mut seal = [0; SEAL_LEN];
    seal[..4].copy_from_slice(SEAL);
    seal[4..].copy_from_slice(&crc32fast::hash(footer).to_le_bytes());
    seal
}

/// The footer at the end of a file, and whether it was sealed; none if absent.
///
/// # Errors
/// [`TraceError::Io`], and [`TraceError::Damaged`] where the seal does not fit.
pub fn footer_of(file: &File, path: &Path) -> Result<Option<(Vec<u8>, bool)>, TraceError> {
    let failed = |e| io_error("reading", path, e);
    let size = file.metadata().map_err(failed)?.len();
    let mut tail = [0; TAIL_LEN];
    let Some(tail_at) = size.checked_sub(TAIL_LEN as u64) else { return Ok(None) };
    file.read_exact_at(&mut tail, tail_at).map_err(failed)?;
    let [a, b, c, d, magic @ ..] = tail;
    let len = u64::from(u32::from_le_bytes([a, b, c, d]));
    let from = tail_at.checked_sub(len).filter(|_| magic == *b"PAR1" && len <= MAX_FOOTER);
    let Some(from) = from else { return Ok(None) };
    let before = from.min(SEAL_LEN as u64);
    let mut read = vec![0; (size - from + before) as usize];
    file.read_exact_at(&mut read, from - before).map_err(failed)?;
    let footer = read.split_off(before as usize);
    let is_sealed = read.starts_with(SEAL);
    if is_sealed && read != seal(&footer) {
        return Err(damaged(path, "the footer".to_owned()));
    }
    Ok(Some((footer, is_sealed)))
}

/// Checks the bytes of a group.
///
/// # Errors
/// [`TraceError::Io`], and [`TraceError::Damaged`].
pub fn verify(
    file: &File,
    path: &Path,
    groups: &[GroupSum],
    number: usize,
) -> Result<(), TraceError> {
    let mut from = number.checked_sub(1).map_or(0, |before| groups[before].end_bytes);
    let GroupSum { end_bytes, crc32 } = groups[number];
    let mut hasher = Hasher::new();
    let mut chunk = vec![0; CHUNK];
    while from < end_bytes {
        let n = (end_bytes - from).min(CHUNK as u64) as usize;
        file.read_exact_at(&mut chunk[..n], from).map_err(|e| io_error("reading", path, e))?;
        hasher.update(&chunk[..n]);
        from += n as u64;
    }
    if hasher.finalize() == crc32 {
        return Ok(());
    }
    Err(damaged(path, format!("group {} of {} of its requests", number + 1, groups.len())))
}

/// A store whose footer lists checksums and is not sealed was damaged where the seal was.
pub fn unsealed(path: &Path) -> TraceError {
    damaged(path, format!("the seal before the footer, which lists {},", key::SUMS))
}

fn damaged(path: &Path, what: String) -> TraceError {
    TraceError::Damaged { path: path.to_owned(), what }
}
