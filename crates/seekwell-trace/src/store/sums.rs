//! Checksums of the store (CRC-32). Each covers the bytes from the end of one group to the end of
//! the next, or a column of one; the footer lists them, and the eight bytes before the footer are
//! its own.

use super::files::{io_error, key};
use crate::error::TraceError;
use crc32fast::Hasher;
use seekwell_access::OutputFile;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
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

/// The checksums of one group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSum {
    /// Where the group ends in the file.
    pub end_bytes: u64,
    /// CRC-32 of the bytes since the group before, or since the start of the file.
    pub crc32: u32,
    /// CRC-32 of the bytes of each column; earlier versions wrote none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<u32>,
}

/// A file that sums up what is written into it. What is written is held until it is a group.
pub struct Summed {
    /// Taken out when the file is whole.
    pub file: Option<OutputFile>,
    held: Vec<u8>,
    /// Where what is held begins.
    from: u64,
    /// Those of the groups so far.
    pub groups: Vec<GroupSum>,
}

impl Summed {
    pub const fn new(file: OutputFile) -> Self {
        Self { file: Some(file), held: Vec::new(), from: 0, groups: Vec::new() }
    }

    /// What is held is a group, with these columns.
    pub fn end_group(&mut self, columns: impl Iterator<Item = Range<u64>>) -> io::Result<()> {
        let place = |at: u64| (at - self.from) as usize;
        let columns = columns
            .map(|column| crc32fast::hash(&self.held[place(column.start)..place(column.end)]));
        let (columns, crc32) = (columns.collect(), crc32fast::hash(&self.held));
        let end_bytes = self.from + self.held.len() as u64;
        self.groups.push(GroupSum { end_bytes, crc32, columns });
        self.write_held()
    }

    /// Writes what is held.
    pub fn write_held(&mut self) -> io::Result<()> {
        self.file.as_mut().expect("nothing is written after the end").write_all(&self.held)?;
        self.from += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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

/// Checks the bytes of a group, or, where not all of its columns are read and each has a checksum,
/// of those that are.
///
/// # Errors
/// [`TraceError::Io`], and [`TraceError::Damaged`].
pub fn verify(
    file: &File,
    path: &Path,
    groups: &[GroupSum],
    number: usize,
    read: &[Option<Range<u64>>],
) -> Result<(), TraceError> {
    let group = &groups[number];
    let from = number.checked_sub(1).map_or(0, |before| groups[before].end_bytes);
    let by_column = group.columns.len() == read.len() && read.contains(&None);
    let sums = if by_column {
        let columns = read.iter().cloned().zip(&group.columns);
        columns.filter_map(|(bytes, crc32)| Some((bytes?, *crc32))).collect()
    } else {
        vec![(from..group.end_bytes, group.crc32)]
    };
    for (bytes, crc32) in sums {
        if sum_of(file, bytes).map_err(|e| io_error("reading", path, e))? != crc32 {
            let what = format!("group {} of {} of its requests", number + 1, groups.len());
            return Err(damaged(path, what));
        }
    }
    Ok(())
}

fn sum_of(file: &File, bytes: Range<u64>) -> io::Result<u32> {
    let (mut hasher, mut chunk, mut from) = (Hasher::new(), vec![0; CHUNK], bytes.start);
    while from < bytes.end {
        let n = (bytes.end - from).min(CHUNK as u64) as usize;
        file.read_exact_at(&mut chunk[..n], from)?;
        hasher.update(&chunk[..n]);
        from += n as u64;
    }
    Ok(hasher.finalize())
}

/// A store whose footer lists checksums and is not sealed was damaged where the seal was.
pub fn unsealed(path: &Path) -> TraceError {
    damaged(path, format!("the seal before the footer, which lists {},", key::SUMS))
}

fn damaged(path: &Path, what: String) -> TraceError {
    TraceError::Damaged { path: path.to_owned(), what }
}
