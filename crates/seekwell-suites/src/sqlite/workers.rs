//! Threads that each do one transaction after another, until each has done its number or the time
//! is over.

use crate::error::SuiteError;
use seekwell_io::histogram::Histogram;
use seekwell_io::units::Nanos;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// How often progress is reported.
const TICK: Duration = Duration::from_millis(100);

/// When a thread has done enough: whichever is reached first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enough {
    /// Transactions for each thread.
    pub transactions: Option<u64>,
    /// Time from the common start.
    pub time: Option<Duration>,
}

/// What the threads did together.
#[derive(Debug, Default)]
pub struct Tally {
    /// Each transaction, from before its first statement to after its commit.
    pub transaction: Histogram,
    /// The last statement of each, that which makes it durable.
    pub commit: Histogram,
    /// From the common start to the end of the last thread.
    pub elapsed: Nanos,
}

/// How long one transaction took, and how much of it its commit.
pub struct Took {
    /// Whole.
    pub transaction: Duration,
    /// Its last statement.
    pub commit: Duration,
}

/// One thread's part: does its nth transaction.
pub type Worker<'a> = Box<dyn FnMut(u64) -> Result<Took, SuiteError> + 'a>;

/// Runs `threads` workers, which `worker` makes on their own threads before the common start.
/// `progress` is given the share done, 0 to 1, ten times a second.
///
/// # Errors
/// The first error of any worker; the others stop then. [`SuiteError::Interrupted`].
pub fn run<'a>(
    threads: u32,
    enough: Enough,
    stop: &AtomicBool,
    progress: &(dyn Fn(f64) + Sync),
    worker: impl Fn(u32) -> Result<Worker<'a>, SuiteError> + Sync,
) -> Result<Tally, SuiteError> {
    let (failed, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let start = Barrier::new(threads as usize + 1);
    let shared = Shared { enough, stop, failed: &failed, done: &done, start: &start };
    thread::scope(|scope| {
        let one = |thread| {
            let (shared, worker) = (&shared, &worker);
            scope.spawn(move || shared.work(worker(thread)))
        };
        let workers: Vec<_> = (0..threads).map(one).collect();
        start.wait();
        let began = Instant::now();
        while workers.iter().any(|member| !member.is_finished()) {
            progress(share(enough, threads, done.load(Relaxed), began.elapsed()));
            thread::sleep(TICK.min(Duration::from_millis(5) + began.elapsed() / 20));
        }
        let mut all = Tally::default();
        let mut error = None;
        for member in workers {
            match member.join() {
                Ok(Ok(one)) => {
                    all.transaction.merge(&one.transaction);
                    all.commit.merge(&one.commit);
                    all.elapsed = all.elapsed.max(one.elapsed);
                }
                Ok(Err(e)) => error = error.or(Some(e)),
                Err(_) => error = error.or(Some(SuiteError::Thread)),
            }
        }
        match error {
            Some(error) => Err(error),
            None if stop.load(Relaxed) => Err(SuiteError::Interrupted),
            None => Ok(all),
        }
    })
}

fn share(enough: Enough, threads: u32, done: u64, elapsed: Duration) -> f64 {
    let all = |each: u64| done as f64 / (each * u64::from(threads)).max(1) as f64;
    let by_count = enough.transactions.map_or(0.0, all);
    let by_time = enough.time.map_or(0.0, |t| elapsed.as_secs_f64() / t.as_secs_f64().max(1e-9));
    by_count.max(by_time).min(1.0)
}

struct Shared<'a> {
    enough: Enough,
    stop: &'a AtomicBool,
    failed: &'a AtomicBool,
    done: &'a AtomicU64,
    start: &'a Barrier,
}

impl Shared<'_> {
    fn work(&self, worker: Result<Worker<'_>, SuiteError>) -> Result<Tally, SuiteError> {
        if worker.is_err() {
            self.failed.store(true, Relaxed);
        }
        self.start.wait();
        let mut worker = worker?;
        let began = Instant::now();
        let mut mine = Tally::default();
        for n in 0..self.enough.transactions.unwrap_or(u64::MAX) {
            let over = self.enough.time.is_some_and(|time| began.elapsed() >= time);
            if over || self.stop.load(Relaxed) || self.failed.load(Relaxed) {
                break;
            }
            let took = worker(n).inspect_err(|_| self.failed.store(true, Relaxed))?;
            mine.transaction.record(took.transaction.into());
            mine.commit.record(took.commit.into());
            self.done.fetch_add(1, Relaxed);
        }
        mine.elapsed = began.elapsed().into();
        Ok(mine)
    }
}
