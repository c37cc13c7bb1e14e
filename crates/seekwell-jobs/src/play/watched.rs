//! A clone's requests with what looks on as they are done.

use super::log::{Recorder, is_whole};
use seekwell_io::measurement::Failure;
use seekwell_io::request::{Completion, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};

/// A source, its log, and when its measuring began.
#[derive(Debug)]
pub struct Watched<S> {
    /// The requests.
    pub source: S,
    log: Option<Recorder>,
    ramp: Nanos,
    ramp_end: Option<Nanos>,
    started: Option<Nanos>,
}

impl<S: Source> Watched<S> {
    /// Looks on at `source`, whose measuring begins after `ramp`.
    pub const fn new(source: S, ramp: Nanos, log: Option<Recorder>) -> Self {
        Self { source, log, ramp, ramp_end: None, started: None }
    }

    /// What its logs are made of, and when measuring began; none where it did not.
    pub fn take_log(&mut self) -> Option<(Recorder, Nanos)> {
        self.log.take().zip(self.started)
    }
}

impl<S: Source> Source for Watched<S> {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        if self.started.is_none() {
            let ramp_end = *self.ramp_end.get_or_insert(now + self.ramp);
            self.started = (now >= ramp_end).then_some(now);
        }
        self.source.next(now)
    }

    #[inline]
    fn submitted(&mut self, request: &Request, at: Nanos) {
        self.source.submitted(request, at);
    }

    #[inline]
    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        self.source.completed(request, submitted, completion);
        let Some(started) = self.started.filter(|started| completion.at >= *started) else {
            return;
        };
        if let Some(log) = &mut self.log
            && is_whole(request, completion)
        {
            log.completed(request, completion.at.since(submitted), completion.at.since(started));
        }
    }

    fn forgives(&mut self, failure: &Failure) -> bool {
        self.source.forgives(failure)
    }
}
