//! Threads that each do one transaction after another, until each has done its number or the time
//! is over.

use crate::error::SuiteError;
use crate::work::{WorkerGroup, prepared_together};
use seekwell_io::histogram::Histogram;
use seekwell_io::units::Nanos;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// When a thread has done enough: whichever is reached first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enough {
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
    pub transaction: Duration,
    /// Its last statement.
    pub commit: Duration,
}

/// One thread's part: does its nth transaction.
pub type Worker<'a> = Box<dyn FnMut(u64) -> Result<Took, SuiteError> + 'a>;

/// Runs `threads` workers, which `worker` makes on their own threads before the common start.
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
    let each = enough.transactions.unwrap_or(u64::MAX);
    let whole = each.saturating_mul(threads.into());
    let work = |mut worker: Worker<'a>, group: &WorkerGroup<'_>| {
        let began = Instant::now();
        let mut mine = Tally::default();
        for n in 0..each {
            group.go_on()?;
            if enough.time.is_some_and(|time| began.elapsed() >= time) {
                break;
            }
            let took = worker(n)?;
            mine.transaction.record(took.transaction.into());
            mine.commit.record(took.commit.into());
            match enough.time {
                Some(time) => group.reached(began.elapsed().as_secs_f64() / time.as_secs_f64()),
                None => group.did(1),
            }
        }
        mine.elapsed = began.elapsed().into();
        Ok(mine)
    };
    let mut all = Tally::default();
    for one in prepared_together(stop, progress, threads, whole, worker, work)? {
        all.transaction.merge(&one.transaction);
        all.commit.merge(&one.commit);
        all.elapsed = all.elapsed.max(one.elapsed);
    }
    Ok(all)
}
