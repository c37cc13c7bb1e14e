//! Looks on while a device is written, and ends it once enough is known.

use seekwell_checkup::sustained::Curve;
use seekwell_io::request::{Completion, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};

/// How often in a run it is checked whether enough is known.
const LOOKS: u64 = 128;

/// When enough is known.
#[derive(Debug, Clone, Copy)]
pub enum Enough {
    /// The rate has settled.
    Settled,
    /// The last `bytes` were written no faster than `per_s`.
    Slow {
        /// The bytes.
        bytes: u64,
        /// Bytes a second.
        per_s: f64,
    },
}

/// What looks on at one run.
#[derive(Debug)]
pub struct Watch {
    /// How long the target rests before the first request, on the target's clock.
    rest: Nanos,
    enough: Enough,
    /// The most that is written.
    whole_bytes: u64,
    begins: Option<Nanos>,
    looked_bytes: u64,
    /// What was written when.
    pub curve: Curve,
    /// Enough is known.
    pub is_over: bool,
}

impl Watch {
    /// Looks on at a run that writes `whole_bytes` in requests of `block_bytes`.
    pub fn new(rest: Nanos, enough: Enough, whole_bytes: u64, block_bytes: u32) -> Self {
        let curve = Curve::new(block_bytes.into());
        Self { rest, enough, whole_bytes, begins: None, looked_bytes: 0, curve, is_over: false }
    }

    /// A source at which it looks on.
    pub const fn over<S>(&mut self, source: S) -> Watched<'_, S> {
        Watched { watch: self, source }
    }

    fn begins(&mut self, now: Nanos) -> Nanos {
        *self.begins.get_or_insert(now + self.rest)
    }

    fn note(&mut self, bytes: u32, at: Nanos) {
        let begun = self.begins.unwrap_or(at);
        self.curve.note(bytes.into(), at.since(begun));
        if self.curve.bytes() - self.looked_bytes >= self.whole_bytes / LOOKS {
            self.looked_bytes = self.curve.bytes();
            self.is_over = match self.enough {
                Enough::Settled => self.curve.is_settled(self.whole_bytes),
                Enough::Slow { bytes, per_s } => self.curve.is_slow(bytes, per_s),
            };
        }
    }
}

/// A source, after the rest, until enough is known.
pub struct Watched<'a, S> {
    watch: &'a mut Watch,
    source: S,
}

impl<S: Source> Source for Watched<'_, S> {
    fn next(&mut self, now: Nanos) -> Next {
        let begins = self.watch.begins(now);
        match self.watch.is_over {
            true => Next::Done,
            false if now < begins => Next::NotBefore(begins),
            false => self.source.next(now),
        }
    }

    fn is_warming(&mut self, now: Nanos) -> bool {
        now < self.watch.begins(now)
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        self.source.submitted(request, at);
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        if completion.result.is_ok() {
            self.watch.note(request.len, completion.at);
        }
        self.source.completed(request, submitted, completion);
    }
}
