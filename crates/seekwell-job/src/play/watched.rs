//! A clone's requests with what looks on as they are done.

use super::log::Recorder;
use super::ramp::Ramp;
use super::steady::Steady;
use seekwell_io::measurement::Failure;
use seekwell_io::request::{Completion, Op, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use std::sync::Arc;

/// A source, what looks on at it, and when its measuring began.
#[derive(Debug)]
pub struct Watched<S> {
    /// The requests.
    pub source: S,
    log: Option<Recorder>,
    /// Ends it.
    pub steady: Option<Arc<Steady>>,
    /// What comes before measuring.
    pub ramp: Ramp,
    started: Option<Nanos>,
}

impl<S: Source> Watched<S> {
    /// Looks on at `source`, whose measuring begins after `ramp`; it ends when it is `steady`.
    pub const fn new(
        source: S,
        ramp: Ramp,
        log: Option<Recorder>,
        steady: Option<Arc<Steady>>,
    ) -> Self {
        Self { source, log, steady, ramp, started: None }
    }

    /// What its logs are made of, and when measuring began; `None` if it did not.
    pub fn take_log(&mut self) -> Option<(Recorder, Nanos)> {
        self.log.take().zip(self.started)
    }
}

impl<S: Source> Source for Watched<S> {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        if self.started.is_none() {
            self.started = self.ramp.is_over(now).then_some(now);
            if let Some((steady, at)) = self.steady.as_ref().zip(self.started) {
                steady.start(at);
            }
        }
        if self.steady.as_ref().is_some_and(|steady| steady.is_over(now)) {
            return Next::Done;
        }
        self.source.next(now)
    }

    fn is_warming(&mut self, now: Nanos) -> bool {
        !self.ramp.is_over(now)
    }

    #[inline]
    fn submitted(&mut self, request: &Request, at: Nanos) {
        self.source.submitted(request, at);
    }

    #[inline]
    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        self.source.completed(request, submitted, completion);
        self.ramp.completed(request.len);
        let Some(started) = self.started.filter(|started| completion.at >= *started) else {
            return;
        };
        let watched = self.log.is_some() || self.steady.is_some();
        if !watched || request.op == Op::Flush || Failure::of(request, completion).is_some() {
            return;
        }
        let latency = completion.at.since(submitted);
        if let Some(log) = &mut self.log {
            log.completed(request, latency, completion.at.since(started));
        }
        if let Some(steady) = &self.steady {
            steady.completed(request.len, latency);
        }
    }

    fn tolerates(&mut self, failure: &Failure) -> bool {
        self.source.tolerates(failure)
    }
}
