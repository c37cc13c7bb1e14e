//! What many layers need: something that does one thing at a time, a table by tag, and what is on
//! its way out.

use crate::part::Done;
use seekwell_io::units::Nanos;

/// Something that does one thing at a time: a wire, a bus, a processor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Serial {
    free: Nanos,
    busy: Nanos,
}

impl Serial {
    /// How long it was, and is reserved to be, at work.
    pub const fn busy(&self) -> Nanos {
        self.busy
    }

    /// Does something of length `span` once everything reserved is done, and not before `from`.
    /// Returns the beginning.
    pub fn reserve(&mut self, from: Nanos, span: Nanos) -> Nanos {
        let start = from.max(self.free);
        self.free = start + span;
        self.busy += span;
        debug_assert!(self.busy <= self.free, "it does one thing at a time");
        start
    }

    /// Does something short at `from` without waiting, between the pieces of what is reserved;
    /// whatever is reserved from now on comes later by as much. Returns the end of the short thing.
    pub fn slip_in(&mut self, from: Nanos, span: Nanos) -> Nanos {
        self.free = self.free.max(from) + span;
        self.busy += span;
        debug_assert!(self.busy <= self.free, "it does one thing at a time");
        from + span
    }
}

/// What is remembered of each command, by its tag.
#[derive(Debug, Clone, Default)]
pub struct ByTag<T>(Vec<T>);

impl<T: Copy + Default> ByTag<T> {
    /// Remembers.
    pub fn set(&mut self, tag: u32, value: T) {
        let index = tag as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, T::default());
        }
        self.0[index] = value;
    }

    /// What was last remembered for a tag that was set.
    pub fn get(&self, tag: u32) -> T {
        self.0[tag as usize]
    }
}

/// What is done in a part and leaves it at times of its own.
#[derive(Debug, Clone, Default)]
pub struct Leaving(Vec<Done>);

impl Leaving {
    /// Something that leaves at `done.at`.
    pub fn push(&mut self, done: Done) {
        self.0.push(done);
    }

    /// The command of that tag leaves at `at`, all of its data at once.
    pub fn end(&mut self, tag: u32, at: Nanos) {
        self.push(Done { tag, ready: at, at });
    }

    /// When the next leaves; [`Nanos::MAX`] if nothing will.
    pub fn next(&self) -> Nanos {
        self.0.iter().map(|end| end.at).min().unwrap_or(Nanos::MAX)
    }

    /// Appends what has left by `now`, in order of time and, at the same time, as it was put here.
    pub fn take(&mut self, now: Nanos, done: &mut Vec<Done>) {
        self.0.sort_by_key(|end| end.at);
        let there = self.0.partition_point(|end| end.at <= now);
        done.extend(self.0.drain(..there));
    }
}
