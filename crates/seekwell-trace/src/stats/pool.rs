//! Statistics gathered by several threads. Each lane holds the statistics of some devices and a
//! queue of batches to add to them; any thread may process the next batch of any lane.

use super::{Stats, StatsError};
use crate::record::Record;
use crate::source::{About, Tables};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Above this average number of queued batches per lane, the thread that adds them counts some.
const WAITING: usize = 8;

/// Requests to one lane's devices.
struct Batch {
    records: Vec<Record>,
    about: Arc<About>,
    tables: Arc<Tables>,
}

/// The statistics, or why they failed.
type Counted = Result<Box<Stats>, StatsError>;

struct Lane {
    batches: VecDeque<Batch>,
    /// `None` while a thread counts, so that batches are counted in order.
    counted: Option<Counted>,
}

/// All lanes.
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    lanes: Vec<Lane>,
    /// Empty buffers, to be used again.
    unused: Vec<Vec<Record>>,
    /// No more batches will be added.
    is_over: bool,
}

/// A lane's statistics while a thread updates them. Dropping this returns them to the lane, even
/// after a panic: otherwise other threads would wait forever.
struct Taken<'a> {
    pool: &'a Pool,
    lane: usize,
    counted: Option<Counted>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.pool.lock().lanes[self.lane].counted = self.counted.take();
        self.pool.changed.notify_all();
    }
}

impl State {
    /// The lane with the longest queue, of those that no thread is counting.
    fn next(&self) -> Option<usize> {
        let lanes = self.lanes.iter().enumerate();
        let free = lanes.filter(|(_, lane)| lane.counted.is_some() && !lane.batches.is_empty());
        free.max_by_key(|(_, lane)| lane.batches.len()).map(|(at, _)| at)
    }

    fn waiting(&self) -> usize {
        self.lanes.iter().map(|lane| lane.batches.len()).sum()
    }
}

impl Pool {
    pub fn new(lanes: impl Iterator<Item = Stats>) -> Self {
        let lane = |stats| Lane { batches: VecDeque::new(), counted: Some(Ok(Box::new(stats))) };
        let state = State { lanes: lanes.map(lane).collect(), unused: Vec::new(), is_over: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one batch if any is ready. Otherwise sleeps until another thread wakes this one.
    fn count_one<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let Some(lane) = state.next() else {
            return self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let Lane { batches, counted } = &mut state.lanes[lane];
        let mut batch = batches.pop_front().expect("a batch waits");
        let mut taken = Taken { pool: self, lane, counted: counted.take() };
        drop(state);
        if let Some(Ok(stats)) = &mut taken.counted
            && let Err(error) = stats.update(&batch.records, &batch.about, &batch.tables)
        {
            taken.counted = Some(Err(error));
        }
        drop(taken);
        batch.records.clear();
        let mut state = self.lock();
        state.unused.push(batch.records);
        state
    }

    /// Counts until [`Self::end`] was called and all batches are counted.
    pub fn count(&self) {
        let mut state = self.lock();
        while !state.is_over || state.waiting() > 0 {
            state = self.count_one(state);
        }
    }

    /// Queues the records of each lane, leaving empty buffers, and counts batches while too many
    /// are queued. Returns false once a lane has failed.
    pub fn add(
        &self,
        records: &mut [Vec<Record>],
        about: &Arc<About>,
        tables: &Arc<Tables>,
    ) -> bool {
        let mut state = self.lock();
        let State { lanes, unused, .. } = &mut *state;
        for (lane, records) in lanes.iter_mut().zip(records) {
            let records = std::mem::replace(records, unused.pop().unwrap_or_default());
            let (about, tables) = (Arc::clone(about), Arc::clone(tables));
            lane.batches.push_back(Batch { records, about, tables });
        }
        self.changed.notify_all();
        while state.waiting() > WAITING * state.lanes.len() {
            state = self.count_one(state);
        }
        !state.lanes.iter().any(|lane| matches!(lane.counted, Some(Err(_))))
    }

    /// No more batches will be added.
    pub fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// The statistics of each lane, or why they failed.
    pub fn into_parts(self) -> impl Iterator<Item = Result<Stats, StatsError>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let counted = |lane: Lane| lane.counted.expect("all threads have ended");
        state.lanes.into_iter().map(move |lane| counted(lane).map(|stats| *stats))
    }
}
