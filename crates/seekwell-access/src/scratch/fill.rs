//! Writes a temporary file once from start to end with data no layer below can compress.

use super::Fill;
use crate::AccessError;
use crate::bytes::{ALIGN, Aligned};
use crate::error::uid;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::Ordering;

const CHUNK: usize = 1 << 20;

/// Writes and flushes `size_bytes`, a multiple of [`ALIGN`]. Says whether direct requests worked;
/// when they did not, the descriptor is back to buffered ones.
pub(super) fn fill(
    file: &OwnedFd,
    dir: &Path,
    size_bytes: u64,
    fill: Fill<'_>,
) -> Result<bool, AccessError> {
    assert!(size_bytes.is_multiple_of(ALIGN as u64), "planned sizes are whole blocks");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(fill.seed);
    let mut buffer = Aligned::new(CHUNK);
    let mut direct = rustix::fs::fcntl_setfl(file, OFlags::DIRECT).is_ok();
    let mut written = 0;
    while written < size_bytes {
        if fill.stop.load(Ordering::Relaxed) {
            return Err(AccessError::Stopped { written_bytes: written, wanted_bytes: size_bytes });
        }
        let len = CHUNK.min((size_bytes - written) as usize);
        random.fill_bytes(buffer.get_mut());
        let chunk = &buffer.get()[..len];
        if let Err(first) = write_whole(file, chunk, written) {
            let refused = direct && first.errno == Errno::INVAL;
            let answer = if refused {
                direct = false;
                rustix::fs::fcntl_setfl(file, OFlags::empty())
                    .map_err(|errno| Failed { errno, written })
                    .and_then(|()| write_whole(file, chunk, written))
            } else {
                Err(first)
            };
            answer.map_err(|failed| name(dir, failed.errno, failed.written, size_bytes))?;
        }
        written += len as u64;
        (fill.progress)(written, size_bytes);
    }
    // Some file systems find out only now that there is no room.
    rustix::io::retry_on_intr(|| rustix::fs::fsync(file))
        .map_err(|errno| name(dir, errno, written, size_bytes))?;
    Ok(direct)
}

struct Failed {
    errno: Errno,
    /// How far the file was written, in bytes.
    written: u64,
}

/// Writes a whole chunk. What a short write left is written again from the block it broke off in,
/// because a direct request may not start in the middle of one.
fn write_whole(file: &OwnedFd, chunk: &[u8], at: u64) -> Result<(), Failed> {
    let mut done = 0;
    while done < chunk.len() {
        let offset = at + done as u64;
        let failed = |errno| Failed { errno, written: offset };
        let wrote = rustix::io::retry_on_intr(|| rustix::io::pwrite(file, &chunk[done..], offset))
            .map_err(failed)?;
        let end = done + wrote;
        let next = if end == chunk.len() { end } else { end - end % ALIGN };
        if next == done {
            return Err(failed(Errno::NOSPC));
        }
        done = next;
    }
    Ok(())
}

fn name(dir: &Path, errno: Errno, written_bytes: u64, wanted_bytes: u64) -> AccessError {
    let dir = dir.to_path_buf();
    match errno {
        Errno::NOSPC => AccessError::NoSpace { dir, written_bytes, wanted_bytes },
        Errno::DQUOT => AccessError::Quota { dir, uid: uid(), written_bytes, wanted_bytes },
        Errno::FBIG => AccessError::FileTooLarge { dir, written_bytes, wanted_bytes },
        Errno::ROFS => AccessError::ReadOnlyFileSystem { dir },
        _ => {
            AccessError::Io { what: "filling a temporary file in", path: dir, source: errno.into() }
        }
    }
}
