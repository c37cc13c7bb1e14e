//! A read of the guard's own: the surest sign that a disk still answers.

use crate::reason::Trouble;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use seekwell_sys::thread::start_with_stack;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

/// What is read: a multiple of every block size in use.
const BLOCK: usize = 4096;

/// Stack of the reading thread.
const STACK: usize = 128 << 10;

/// Reads the first block past the page cache, on its own thread.
pub(super) struct Canary {
    go: Sender<()>,
    done: Receiver<Result<(), Errno>>,
    since: Option<Instant>,
    limit: Duration,
}

impl Canary {
    /// Of this disk, which counts as slow after `limit`.
    ///
    /// # Errors
    /// When it cannot be opened, past the page cache.
    pub(super) fn new(node: &Path, limit: Duration) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let disk = rustix::fs::open(node, flags, Mode::empty())?;
        let (go, gone) = channel::<()>();
        let (tell, done) = channel();
        start_with_stack("canary", STACK, move || {
            let mut buffer = Buffer::new();
            for () in gone {
                if tell.send(read(&disk, &mut buffer)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { go, done, since: None, limit })
    }

    /// Looks whether the last read has come back, and begins another.
    pub(super) fn look(&mut self) -> Option<Trouble> {
        if let Some(since) = self.since {
            match self.done.try_recv() {
                Ok(Ok(())) => self.since = None,
                Ok(Err(errno)) => {
                    return Some(Trouble::ReadFailed { error: io::Error::from(errno).to_string() });
                }
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) if since.elapsed() > self.limit => {
                    let after_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
                    return Some(Trouble::Slow { after_ms });
                }
                Err(TryRecvError::Empty) => {}
            }
        }
        if self.since.is_none() && self.go.send(()).is_ok() {
            self.since = Some(Instant::now());
        }
        None
    }
}

fn read(disk: &OwnedFd, buffer: &mut Buffer) -> Result<(), Errno> {
    let read = rustix::io::retry_on_intr(|| rustix::io::pread(disk, buffer.bytes(), 0));
    // A disk smaller than that gives less; that it gave an answer is what counts.
    read.map(drop)
}

/// One block of memory, aligned as reads past the cache want it.
struct Buffer {
    at: *mut u8,
}

impl Buffer {
    const LAYOUT: Layout = match Layout::from_size_align(BLOCK, BLOCK) {
        Ok(layout) => layout,
        Err(_) => panic!("a block is a power of two"),
    };

    fn new() -> Self {
        // SAFETY: the layout's size is not zero.
        let at = unsafe { alloc_zeroed(Self::LAYOUT) };
        if at.is_null() {
            std::alloc::handle_alloc_error(Self::LAYOUT);
        }
        Self { at }
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `at` is this many initialised bytes of our own, and `self` is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.at, BLOCK) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this very layout.
        unsafe { dealloc(self.at, Self::LAYOUT) };
    }
}
