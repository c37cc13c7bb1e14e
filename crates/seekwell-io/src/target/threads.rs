//! Files and block devices through pread, pwrite and fsync: for kernels and containers that forbid
//! io_uring, and for depth 1, where a plain system call is what a database makes.

use super::buffers::Buffers;
use super::{Target, TargetError, Until};
use crate::clock::Clock;
use crate::request::{Completion, Op, Request, Tagged};
use crate::units::Nanos;
use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A pool with a thread for each slot; a pool of one does requests on the caller's thread.
pub struct Threads {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Requests taken at depth 1, done in `reap`.
    inline: VecDeque<Tagged>,
    syscalls: u64,
}

struct Shared {
    file: OwnedFd,
    buffers: Mutex<Buffers>,
    clock: Clock,
    state: Mutex<State>,
    work: Condvar,
    done: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(Tagged, usize)>,
    finished: Vec<Completion>,
    closing: bool,
}

impl Threads {
    /// A pool for `depth` requests of up to `max_bytes` on `file`.
    ///
    /// # Errors
    /// [`TargetError::Setup`] when buffers or threads cannot be made.
    pub fn new(
        file: BorrowedFd<'_>,
        depth: u32,
        max_bytes: u32,
        seed: u64,
    ) -> Result<Self, TargetError> {
        let setup = |what| {
            move |e: std::io::Error| TargetError::Setup {
                what,
                errno: e.raw_os_error().unwrap_or(0),
            }
        };
        let shared = Arc::new(Shared {
            file: file.try_clone_to_owned().map_err(setup("duplicating the file descriptor"))?,
            buffers: Mutex::new(Buffers::new(depth, max_bytes, seed)?),
            clock: Clock::real(),
            state: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
        });
        let mut target = Self { shared, workers: Vec::new(), inline: VecDeque::new(), syscalls: 0 };
        for _ in 0..if depth > 1 { depth } else { 0 } {
            let shared = Arc::clone(&target.shared);
            let builder = std::thread::Builder::new().name("seekwell-io".into());
            let worker = builder.spawn(move || shared.serve());
            target.workers.push(worker.map_err(setup("starting an I/O thread"))?);
        }
        Ok(target)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn serve(&self) {
        loop {
            let mut state = lock(&self.state);
            let (tagged, buffer) = loop {
                if state.closing {
                    return;
                }
                if let Some(next) = state.queue.pop_front() {
                    break next;
                }
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            };
            drop(state);
            let result = perform(self.file.as_fd(), &tagged.request, buffer as *mut u8);
            let at = self.clock.now();
            lock(&self.state).finished.push(Completion { slot: tagged.slot, result, at });
            self.done.notify_one();
        }
    }
}

/// Does one request with one system call.
fn perform(file: BorrowedFd<'_>, request: &Request, buffer: *mut u8) -> Result<u32, i32> {
    let fd: RawFd = file.as_raw_fd();
    let (len, at) = (request.len as usize, request.offset.cast_signed());
    // SAFETY: `buffer` is the slot's own, at least `len` bytes long, and no one else touches it
    // until the completion is reaped; the descriptor is open for the whole call.
    let moved = unsafe {
        match request.op {
            Op::Read => libc::pread(fd, buffer.cast(), len, at),
            Op::Write if request.durable => {
                let part = libc::iovec { iov_base: buffer.cast(), iov_len: len };
                libc::pwritev2(fd, &raw const part, 1, at, libc::RWF_DSYNC)
            }
            Op::Write => libc::pwrite(fd, buffer.cast(), len, at),
            Op::Flush => libc::fsync(fd) as isize,
            Op::Discard => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                libc::fallocate(fd, mode, at, request.len.into()) as isize
            }
        }
    };
    u32::try_from(moved).map_err(|_| std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

impl Target for Threads {
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        self.syscalls += batch.len() as u64;
        let mut buffers = lock(&self.shared.buffers);
        batch.iter().for_each(|tagged| buffers.prepare(tagged));
        if self.workers.is_empty() {
            self.inline.extend(batch);
            return Ok(());
        }
        let with_buffer = batch.iter().map(|tagged| (*tagged, buffers.of(tagged.slot) as usize));
        lock(&self.shared.state).queue.extend(with_buffer);
        if batch.len() == 1 {
            self.shared.work.notify_one()
        } else {
            self.shared.work.notify_all()
        }
        Ok(())
    }

    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        let first = out.len();
        while let Some(tagged) = self.inline.pop_front() {
            let buffer = lock(&self.shared.buffers).of(tagged.slot);
            let result = perform(self.shared.file.as_fd(), &tagged.request, buffer);
            out.push(Completion { slot: tagged.slot, result, at: self.now() });
        }
        let mut state = lock(&self.shared.state);
        loop {
            out.append(&mut state.finished);
            let wait = until.deadline.since(self.shared.clock.now());
            if (out.len() - first) as u32 >= until.completions || wait == Nanos::ZERO {
                return Ok(());
            }
            let waited = self.shared.done.wait_timeout(state, wait.into());
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn now(&self) -> Nanos {
        self.shared.clock.now()
    }

    fn syscalls(&self) -> u64 {
        self.syscalls
    }
}

impl Drop for Threads {
    /// Waits for requests that are outstanding: their buffers go with the pool.
    fn drop(&mut self) {
        lock(&self.shared.state).closing = true;
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}
