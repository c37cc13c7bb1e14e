//! Files and block devices through pread, pwrite and fsync: for kernels and containers that forbid
//! io_uring, for depth 1, where a plain system call is what a database makes, and for devices that
//! complete each request within the call.

use super::buffers::Buffers;
use super::payload::{Payload, Stamped};
use super::{Target, TargetError, Until, nowait};
use crate::clock::Clock;
use crate::failure::FailureKind;
use crate::measurement::Issuer;
use crate::request::{Completion, Op, Tagged};
use crate::units::Nanos;
use seekwell_sys::thread::start;
use std::collections::VecDeque;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A pool with a thread for each slot, or none: then requests are made on the caller's thread.
pub struct Threads<P = Stamped> {
    payload: P,
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Requests that no other thread makes: they are made in `reap`.
    inline: VecDeque<Job>,
    syscalls: u64,
}

struct Shared {
    files: Vec<OwnedFd>,
    buffers: Mutex<Buffers>,
    clock: Clock,
    state: Mutex<State>,
    work: Condvar,
    done: Condvar,
}

/// A request, where it goes and its buffer's address.
#[derive(Clone, Copy)]
struct Job {
    tagged: Tagged,
    file: u32,
    at: u64,
    data_only: bool,
    flags: i32,
    buffer: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    finished: Vec<Completion>,
    closing: bool,
}

impl Threads {
    /// A pool for `depth` requests of up to `max_bytes` on `file`, with data drawn from `seed`.
    ///
    /// # Errors
    /// [`TargetError::Setup`] when buffers or threads cannot be made.
    pub fn new(
        file: BorrowedFd<'_>,
        depth: u32,
        max_bytes: u32,
        seed: u64,
    ) -> Result<Self, TargetError> {
        Self::with(&[file], depth, max_bytes, Stamped::new(seed))
    }

    /// Whether a device completes a request on `file` within the call that makes it, so that the
    /// thread is soon free for the next.
    pub fn is_prompt(file: BorrowedFd<'_>) -> bool {
        nowait::is_prompt(file)
    }
}

impl<P: Payload> Threads<P> {
    /// A pool for `depth` requests of up to `max_bytes` on `files`, in the payload's numbers; at
    /// depth 1 the caller's thread makes them.
    ///
    /// # Errors
    /// As for [`Threads::new`].
    pub fn with(
        files: &[BorrowedFd<'_>],
        depth: u32,
        max_bytes: u32,
        payload: P,
    ) -> Result<Self, TargetError> {
        let mut target = Self::calls(files, depth, max_bytes, payload)?;
        for _ in 0..if depth > 1 { depth } else { 0 } {
            let shared = Arc::clone(&target.shared);
            target.workers.push(start("seekwell-io", move || shared.serve())?);
        }
        Ok(target)
    }

    /// The same without a pool: the caller's thread makes one request after the other, however many
    /// are outstanding.
    ///
    /// # Errors
    /// As for [`Threads::new`].
    pub fn calls(
        files: &[BorrowedFd<'_>],
        depth: u32,
        max_bytes: u32,
        mut payload: P,
    ) -> Result<Self, TargetError> {
        let files: Result<_, _> = files.iter().map(BorrowedFd::try_clone_to_owned).collect();
        let buffers = Buffers::new(depth, max_bytes, |buffer| payload.begin(buffer))?;
        let shared = Arc::new(Shared {
            files: files.map_err(setup("duplicating file descriptors"))?,
            buffers: Mutex::new(buffers),
            clock: Clock::real(),
            state: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
        });
        let (workers, inline) = (Vec::new(), VecDeque::new());
        Ok(Self { payload, shared, workers, inline, syscalls: 0 })
    }

    /// What requests carry.
    pub fn payload(&mut self) -> &mut P {
        &mut self.payload
    }

    /// Lets the payload look at what was taken since `first`.
    fn look(&mut self, first: usize, out: &mut [Completion]) {
        if P::LOOKS {
            let mut buffers = lock(&self.shared.buffers);
            for completion in &mut out[first..] {
                let buffer = buffers.get(completion.slot);
                completion.result = self.payload.done(completion.slot, buffer, completion.result);
            }
        }
    }
}

fn setup(what: &'static str) -> impl FnOnce(std::io::Error) -> TargetError {
    move |e| TargetError::Setup { what, errno: e.raw_os_error().unwrap_or(0) }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn serve(&self) {
        loop {
            let mut state = lock(&self.state);
            let job = loop {
                if state.closing {
                    return;
                }
                if let Some(next) = state.queue.pop_front() {
                    break next;
                }
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            };
            drop(state);
            let completion = self.perform(&job);
            lock(&self.state).finished.push(completion);
            self.done.notify_one();
        }
    }

    fn perform(&self, job: &Job) -> Completion {
        let result = perform(self.files[job.file as usize].as_raw_fd(), job);
        let result = result.map_err(|errno| FailureKind::Errno { errno });
        Completion { slot: job.tagged.slot, result, at: self.clock.now() }
    }
}

/// Does one request with one system call.
fn perform(fd: RawFd, job: &Job) -> Result<u32, i32> {
    let (request, buffer) = (&job.tagged.request, job.buffer as *mut u8);
    let (len, at) = (request.len as usize, job.at.cast_signed());
    // SAFETY: `buffer` is the slot's own, at least `len` bytes long, and no one else touches it
    // until the completion is reaped; the descriptor is open for the whole call.
    let moved = unsafe {
        match request.op {
            Op::Read if job.flags != 0 => {
                let part = libc::iovec { iov_base: buffer.cast(), iov_len: len };
                libc::preadv2(fd, &raw const part, 1, at, job.flags)
            }
            Op::Read => libc::pread(fd, buffer.cast(), len, at),
            Op::Write if job.flags != 0 => {
                let part = libc::iovec { iov_base: buffer.cast(), iov_len: len };
                libc::pwritev2(fd, &raw const part, 1, at, job.flags)
            }
            Op::Write => libc::pwrite(fd, buffer.cast(), len, at),
            Op::Flush if job.data_only => libc::fdatasync(fd) as isize,
            Op::Flush => libc::fsync(fd) as isize,
            Op::Discard => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                libc::fallocate(fd, mode, at, request.len.into()) as isize
            }
        }
    };
    u32::try_from(moved).map_err(|_| std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

impl<P: Payload> Target for Threads<P> {
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        self.syscalls += batch.len() as u64;
        let mut buffers = lock(&self.shared.buffers);
        let payload = &mut self.payload;
        let jobs = batch.iter().map(|tagged| {
            let request = &tagged.request;
            payload.prepare(tagged, buffers.sent(tagged));
            let (file, at) = payload.place(request);
            let data_only = payload.data_only(request);
            let buffer = buffers.of(tagged.slot) as usize;
            let flags = payload.flags().of(request);
            Job { tagged: *tagged, file, at, data_only, flags, buffer }
        });
        if self.workers.is_empty() {
            self.inline.extend(jobs);
            return Ok(());
        }
        lock(&self.shared.state).queue.extend(jobs);
        if batch.len() == 1 {
            self.shared.work.notify_one()
        } else {
            self.shared.work.notify_all()
        }
        Ok(())
    }

    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        let first = out.len();
        while let Some(job) = self.inline.pop_front() {
            out.push(self.shared.perform(&job));
            if (out.len() - first) as u32 >= until.completions {
                break;
            }
        }
        let mut state = lock(&self.shared.state);
        loop {
            out.append(&mut state.finished);
            let wait = until.deadline.since(self.shared.clock.now());
            if (out.len() - first) as u32 >= until.completions || wait == Nanos::ZERO {
                break;
            }
            let waited = self.shared.done.wait_timeout(state, wait.into());
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        self.look(first, out);
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.shared.clock.now()
    }

    fn syscalls(&self) -> u64 {
        self.syscalls
    }

    fn issuer(&self) -> Option<Issuer> {
        Some(if self.workers.is_empty() { Issuer::Calls } else { Issuer::Pool })
    }
}

impl<P> Drop for Threads<P> {
    /// Waits for requests that are outstanding: their buffers go with the pool.
    fn drop(&mut self) {
        lock(&self.shared.state).closing = true;
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}
