//! What several suites do: workers side by side, aligned buffers, files written and dropped from
//! the cache.

use crate::error::{Describe, SuiteError};
use crate::frame::Stage;
use rustix::fs::{Advice, Mode, OFlags};
use seekwell_io::gate::{Gate, Ticket};
use seekwell_io::units::Nanos;
use seekwell_sys::thread::{NoThread, start_scoped};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::ScopedJoinHandle;

/// No figure from less; a little more than the 0.5 s that are needed.
pub const LEAST: Nanos = Nanos::from_millis(600);
/// Blocks of data begin at a multiple of this, so that direct requests are possible.
const ALIGN: usize = 4096;

/// Workers of one step, stopped together and counted together.
pub struct WorkerGroup<'a> {
    stop: &'a AtomicBool,
    progress: &'a (dyn Fn(f64) + Sync),
    failed: AtomicBool,
    done: AtomicU64,
    whole: u64,
}

impl WorkerGroup<'_> {
    /// Whether to go on.
    ///
    /// # Errors
    /// [`SuiteError::Interrupted`] when somebody asked to stop, or another worker failed.
    pub fn go_on(&self) -> Result<(), SuiteError> {
        let ends = self.stop.load(Relaxed) || self.failed.load(Relaxed);
        if ends { Err(SuiteError::Interrupted) } else { Ok(()) }
    }

    /// Counts what was done, of the whole that was announced.
    pub fn did(&self, n: u64) {
        let done = self.done.fetch_add(n, Relaxed) + n;
        self.reached(done as f64 / self.whole.max(1) as f64);
    }

    /// Tells how much of the work is done, for work that is not counted.
    pub fn reached(&self, share: f64) {
        (self.progress)(share.min(1.0));
    }
}

/// Runs `workers` threads that begin together, and gives what each of them gave. `whole` is what
/// they will count with [`WorkerGroup::did`].
///
/// # Errors
/// The first that is not an interruption; the others are stopped.
pub fn together<T: Send>(
    stage: &Stage<'_>,
    workers: u32,
    whole: u64,
    work: impl Fn(u32, &WorkerGroup<'_>) -> Result<T, SuiteError> + Sync,
) -> Result<Vec<T>, SuiteError> {
    prepared_together(stage.stop, stage.progress, workers, whole, Ok, work)
}

/// The same with workers that each prepare something on their own thread before all begin.
///
/// # Errors
/// As [`together`].
pub fn prepared_together<P, T: Send>(
    stop: &AtomicBool,
    progress: &(dyn Fn(f64) + Sync),
    workers: u32,
    whole: u64,
    prepare: impl Fn(u32) -> Result<P, SuiteError> + Sync,
    work: impl Fn(P, &WorkerGroup<'_>) -> Result<T, SuiteError> + Sync,
) -> Result<Vec<T>, SuiteError> {
    let (failed, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let group = WorkerGroup { stop, progress, failed, done, whole };
    let gate = Gate::default();
    let one = |worker: u32, ticket: Ticket<'_>| {
        let prepared = prepare(worker)?;
        // Another that cannot begin says why.
        let begins = ticket.pass().then_some(()).ok_or(SuiteError::Interrupted);
        begins
            .and_then(|()| work(prepared, &group))
            .inspect_err(|_| group.failed.store(true, Relaxed))
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let one = &one;
        let tickets: Vec<_> = (0..workers).map(|worker| (worker, gate.ticket())).collect();
        let begin = |(worker, ticket)| start_scoped(scope, "worker", move || one(worker, ticket));
        let threads: Vec<_> = tickets.into_iter().map(begin).collect();
        let join = |thread: Result<ScopedJoinHandle<'_, _>, NoThread>| {
            thread?.join().unwrap_or(Err(SuiteError::Thread))
        };
        threads.into_iter().map(join).collect()
    });
    let mut given = Vec::with_capacity(results.len());
    let mut first = None;
    for result in results {
        match result {
            Ok(one) => given.push(one),
            Err(error) if matches!(first, None | Some(SuiteError::Interrupted)) => {
                first = Some(error);
            }
            Err(_) => {}
        }
    }
    first.map_or(Ok(given), Err)
}

/// Zeroed memory that begins at a multiple of 4 KiB.
pub struct Buffer {
    bytes: Vec<u8>,
    from: usize,
    len: usize,
}

impl Buffer {
    pub fn new(len: usize) -> Self {
        let bytes = vec![0; len + ALIGN];
        let from = bytes.as_ptr().align_offset(ALIGN);
        Self { bytes, from, len }
    }

    /// Bytes that no layer below can compress; the same for the same seed.
    pub fn random(len: usize, seed: u64) -> Self {
        use rand_core::{RngCore, SeedableRng};
        let mut buffer = Self::new(len);
        rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(buffer.get_mut());
        buffer
    }

    pub fn get(&self) -> &[u8] {
        &self.bytes[self.from..self.from + self.len]
    }

    /// The bytes, to be changed.
    pub fn get_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.len]
    }
}

/// Makes a new file, to be read and written.
///
/// # Errors
/// [`SuiteError`]: no room, no inodes, a file of that name.
pub fn create(path: &Path, more: OFlags) -> Result<OwnedFd, SuiteError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | more;
    rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).doing("making", path)
}

/// Opens a file that is there, to be read and written.
///
/// # Errors
/// [`SuiteError::Io`].
pub fn open(path: &Path, more: OFlags) -> Result<OwnedFd, SuiteError> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | more;
    rustix::fs::open(path, flags, Mode::empty()).doing("opening", path)
}

/// Writes all of some bytes.
///
/// # Errors
/// [`SuiteError`]: no room, or the disk failed.
pub fn write_all(file: impl AsFd, bytes: &[u8], path: &Path) -> Result<(), SuiteError> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::io::retry_on_intr(|| rustix::io::write(&file, &bytes[done..])) {
            Ok(n) => done += n,
            Err(errno) => return Err(SuiteError::io("writing", path, errno.into())),
        }
    }
    Ok(())
}

/// Makes what was written durable, and forgets what the page cache holds of it.
///
/// # Errors
/// [`SuiteError`]: no room, or the disk failed.
pub fn settle(file: impl AsFd, path: &Path) -> Result<(), SuiteError> {
    rustix::io::retry_on_intr(|| rustix::fs::fsync(&file)).doing("syncing", path)?;
    rustix::fs::fadvise(&file, 0, None, Advice::DontNeed).doing("dropping the cache of", path)
}
