//! Lanes, each with the statistics of some devices and the batches of requests that wait to be
//! counted in them, which any number of threads do.

use super::{Stats, StatsError};
use crate::record::Record;
use crate::source::{About, Tables};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Batches of each lane that wait before the thread that adds them counts some itself.
const WAITING: usize = 8;

/// Requests of some of the devices.
pub(super) struct Batch {
    pub records: Vec<Record>,
    pub about: Arc<About>,
    pub tables: Arc<Tables>,
}

/// Some of the devices. A thread that counts a batch has taken the statistics, so that batches are
/// counted in their order.
struct Lane {
    batches: VecDeque<Batch>,
    stats: Option<Box<Stats>>,
    failed: Option<StatsError>,
}

/// What all threads share.
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    lanes: Vec<Lane>,
    /// Memory of batches that are counted.
    unused: Vec<Vec<Record>>,
    /// No batch will be added.
    is_over: bool,
}

/// More batches are to come until it is dropped.
pub(super) struct More<'a>(&'a Pool);

impl Drop for More<'_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

/// A batch and the statistics that it is counted in. Its lane gets these back even if the thread
/// panics.
struct Taken<'a> {
    pool: &'a Pool,
    lane: usize,
    stats: Option<Box<Stats>>,
    batch: Batch,
    failed: Option<StatsError>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        let mut records = std::mem::take(&mut self.batch.records);
        records.clear();
        state.unused.push(records);
        let lane = &mut state.lanes[self.lane];
        lane.stats = self.stats.take();
        lane.failed = lane.failed.take().or(self.failed.take());
        self.pool.changed.notify_all();
    }
}

impl State {
    /// The lane with the most batches, of those that no thread has taken.
    fn next(&self) -> Option<usize> {
        let is_free = |lane: &usize| {
            let lane = &self.lanes[*lane];
            lane.stats.is_some() && !lane.batches.is_empty()
        };
        let lanes = (0..self.lanes.len()).filter(is_free);
        lanes.max_by_key(|lane| self.lanes[*lane].batches.len())
    }

    fn waiting(&self) -> usize {
        self.lanes.iter().map(|lane| lane.batches.len()).sum()
    }

    fn has_failed(&self) -> bool {
        self.lanes.iter().any(|lane| lane.failed.is_some())
    }
}

impl Pool {
    pub fn new(lanes: impl Iterator<Item = Box<Stats>>) -> Self {
        let lane = |stats| Lane { batches: VecDeque::new(), stats: Some(stats), failed: None };
        let state = State { lanes: lanes.map(lane).collect(), unused: Vec::new(), is_over: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// To be held as long as batches are added.
    pub const fn more(&self) -> More<'_> {
        More(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a batch, or waits until something changes if there is none.
    fn count_or_wait<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let Some(lane) = state.next() else {
            return self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let Lane { batches, stats, failed } = &mut state.lanes[lane];
        let batch = batches.pop_front().expect("it has one");
        let has_failed = failed.is_some();
        let mut taken = Taken { pool: self, lane, stats: stats.take(), batch, failed: None };
        drop(state);
        let stats = taken.stats.as_mut().expect("the lane was free");
        if !has_failed {
            let Batch { records, about, tables } = &taken.batch;
            taken.failed = stats.update(records, about, tables).err();
        }
        drop(taken);
        self.lock()
    }

    /// Counts batches until all are counted and no more come.
    pub fn count(&self) {
        let mut state = self.lock();
        while !state.is_over || state.waiting() > 0 {
            state = self.count_or_wait(state);
        }
    }

    /// Adds a batch for each lane, and counts some if too many wait. False if a lane has failed.
    pub fn add(&self, batches: impl Iterator<Item = Batch>) -> bool {
        let mut state = self.lock();
        for (lane, batch) in state.lanes.iter_mut().zip(batches) {
            lane.batches.push_back(batch);
        }
        self.changed.notify_all();
        while state.waiting() > WAITING * state.lanes.len() {
            state = self.count_or_wait(state);
        }
        !state.has_failed()
    }

    /// Memory for the records of each lane.
    pub fn room(&self) -> Vec<Vec<Record>> {
        let mut state = self.lock();
        let lanes = state.lanes.len();
        let kept = state.unused.len().saturating_sub(lanes);
        let mut room = state.unused.split_off(kept);
        room.resize(lanes, Vec::new());
        room
    }

    /// The statistics of each lane, or why it failed.
    pub fn into_parts(self) -> impl Iterator<Item = Result<Stats, StatsError>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.lanes.into_iter().map(|lane| match lane.failed {
            Some(error) => Err(error),
            None => Ok(*lane.stats.expect("all threads have ended")),
        })
    }
}
