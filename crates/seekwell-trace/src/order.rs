//! Puts the requests of a trace into the order of their arrival.
//!
//! Many formats are written as requests complete, or by several threads. Their disorder is local,
//! so a window is enough, and memory stays bounded. A request that comes later than the window
//! can mend is given the time of the one before it, and counted: nothing downstream ever sees time
//! go backwards, and the trace says how often it did.

use crate::error::TraceError;
use crate::record::{Fields, Record, Stamp};
use crate::source::{About, BATCH, Tables, TraceSource};
use seekwell_io::units::Nanos;

/// Records held back to be sorted; what is further out of place than this is moved.
pub const WINDOW: usize = 1 << 16;

/// A source in the order of arrival.
pub struct Ordered<S> {
    inner: S,
    /// Sorted from `start` on; what stands before has been handed out.
    held: Vec<Record>,
    start: usize,
    window: usize,
    is_over: bool,
    /// Arrival of the record handed out last.
    last: Nanos,
    about: About,
    moved: u64,
    /// Handed out once what was read before it is gone.
    failed: Option<TraceError>,
}

impl<S: TraceSource> Ordered<S> {
    /// Sorts within [`WINDOW`].
    pub fn new(inner: S) -> Self {
        Self::with_window(inner, WINDOW)
    }

    /// Sorts within a window of this many records.
    pub fn with_window(inner: S, window: usize) -> Self {
        let about = inner.about().clone();
        Self {
            inner,
            held: Vec::new(),
            start: 0,
            window,
            is_over: false,
            last: Nanos::ZERO,
            about,
            moved: 0,
            failed: None,
        }
    }

    fn fill(&mut self) {
        if self.start >= self.window {
            self.held.copy_within(self.start.., 0);
            self.held.truncate(self.held.len() - self.start);
            self.start = 0;
        }
        while !self.is_over && self.held.len() - self.start < self.window + BATCH {
            let before = self.held.len();
            if let Err(error) = self.inner.read(&mut self.held) {
                self.failed = Some(error);
                self.is_over = true;
            }
            let about = self.inner.about();
            if about != &self.about {
                self.about.clone_from(about);
                self.about.losses.moved += self.moved;
            }
            if self.held.len() == before {
                self.is_over = true;
            } else {
                self.sort_from(before);
            }
        }
    }

    /// Sorts the held records, of which those from `fresh` on are new.
    fn sort_from(&mut self, fresh: usize) {
        let from = fresh.saturating_sub(1).max(self.start);
        if self.held[from..].is_sorted_by_key(Record::arrival) {
            return;
        }
        let earliest = self.held[fresh..].iter().map(Record::arrival).min();
        let earliest = earliest.expect("there is a fresh one");
        let live = &self.held[self.start..fresh];
        let first = self.start + live.partition_point(|r| r.arrival() <= earliest);
        // Stable: requests of one moment stay in the order of the input.
        self.held[first..].sort_by_key(Record::arrival);
    }
}

impl<S: TraceSource> TraceSource for Ordered<S> {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        self.fill();
        let live = self.held.len() - self.start;
        let ready = if self.is_over { live } else { live - self.window };
        let batch = &mut self.held[self.start..self.start + ready.min(BATCH)];
        self.start += batch.len();
        if batch.is_empty() {
            return self.failed.take().map_or(Ok(()), Err);
        }
        let mut moved = 0;
        for record in batch.iter_mut() {
            match record.arrival().get() {
                Some(at) if at < self.last => {
                    move_to(record, at, self.last);
                    moved += 1;
                }
                Some(at) => self.last = at,
                None => {}
            }
        }
        out.extend_from_slice(batch);
        self.moved += moved;
        self.about.losses.moved += moved;
        Ok(())
    }

    fn about(&self) -> &About {
        &self.about
    }

    fn tables(&self) -> &Tables {
        self.inner.tables()
    }

    fn narrow(&mut self, to: Fields) {
        self.inner.narrow(to.and(Fields::ARRIVAL));
    }
}

/// Moves all times of a record so that it arrives then, its latencies kept.
fn move_to(record: &mut Record, from: Nanos, to: Nanos) {
    let by = to.0 - from.0;
    for stamp in [&mut record.queued, &mut record.issued, &mut record.completed] {
        if let Some(at) = stamp.get() {
            *stamp = Stamp::at(Nanos(at.0.saturating_add(by)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Capture, Clock};
    use proptest::prelude::*;
    use seekwell_io::request::Op;

    struct Given {
        records: Vec<Record>,
        about: About,
        tables: Tables,
        step: usize,
    }

    impl TraceSource for Given {
        fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
            let n = self.records.len().min(self.step);
            out.extend(self.records.drain(..n));
            Ok(())
        }
        fn about(&self) -> &About {
            &self.about
        }
        fn tables(&self) -> &Tables {
            &self.tables
        }
    }

    fn given(times: &[u64], step: usize) -> Given {
        let records = times
            .iter()
            .enumerate()
            .map(|(i, &t)| {
                let mut record = Record::new(Op::Read, i as u64, 512);
                record.queued = Stamp::at(Nanos(t));
                record.completed = Stamp::at(Nanos(t + 7));
                record
            })
            .collect();
        let about = About::new("test", Clock::Start, Capture::Queue);
        Given { records, about, tables: Tables::default(), step }
    }

    fn all<S: TraceSource>(source: &mut S) -> Vec<Record> {
        let mut out = Vec::new();
        loop {
            let before = out.len();
            source.read(&mut out).expect("reads");
            if out.len() == before {
                return out;
            }
        }
    }

    #[test]
    fn a_request_later_than_the_window_takes_the_time_before_it_and_is_counted() {
        let mut times: Vec<u64> = (100..30_000).collect();
        times.push(5);
        let mut source = Ordered::with_window(given(&times, BATCH), 4);
        let out = all(&mut source);
        assert_eq!(out.len(), times.len());
        assert!(out.is_sorted_by_key(Record::arrival));
        let last = out.iter().find(|r| r.offset == 29_900).expect("none is lost");
        let (arrival, completed) = (last.queued.get(), last.completed.get());
        assert_eq!(completed.expect("known").0 - arrival.expect("known").0, 7);
        assert_eq!(source.about().losses.moved, 1);
        assert!(source.about().complete(), "nothing was lost");
    }

    proptest! {
        #[test]
        fn time_never_goes_backwards_and_nothing_is_lost(
            times in proptest::collection::vec(0_u64..2000, 0..9000),
            window in 1_usize..9000,
            step in 1_usize..5000,
        ) {
            let mut source = Ordered::with_window(given(&times, step), window);
            let out = all(&mut source);
            prop_assert!(out.is_sorted_by_key(Record::arrival));
            let mut offsets: Vec<u64> = out.iter().map(|r| r.offset).collect();
            offsets.sort_unstable();
            prop_assert!(offsets.into_iter().eq(0..times.len() as u64));
            if window >= times.len() {
                prop_assert_eq!(source.about().losses.moved, 0);
                let given = |r: &Record| Some(Nanos(times[r.offset as usize]));
                prop_assert!(out.iter().all(|r| r.queued.get() == given(r)));
            }
        }
    }
}
