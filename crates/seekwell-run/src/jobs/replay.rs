//! The requests of a clone that plays a trace.

use super::trace::Trace;
use seekwell_io::measurement::Failure;
use seekwell_io::request::{Completion, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use seekwell_job::job::{By, Errors, Job};
use seekwell_job::play::address::Address;
use seekwell_job::play::source::{Cut, failure};
use seekwell_trace::error::TraceError;
use seekwell_trace::replay::{
    Closed, Feed, Fidelity, Fit, Moment, Picked, Placing, Skipped, Timed,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A request handed over later than this is late, as for `seekwell replay`.
const LATE: Nanos = Nanos::from_millis(1);

/// Once through the trace.
enum Pass {
    /// Not begun; what is read ahead.
    Ready(Feed),
    /// At recorded times.
    Timed(Timed),
    /// As fast as the depth allows.
    Closed(Closed),
}

impl Pass {
    /// What plays it, once it was begun.
    fn source(&mut self) -> Option<&mut dyn Source> {
        match self {
            Self::Ready(_) => None,
            Self::Timed(timed) => Some(timed),
            Self::Closed(closed) => Some(closed),
        }
    }
}

/// What became of a trace.
pub struct Ended {
    /// How far it was from the recording.
    pub fidelity: Fidelity,
    /// What was not played as recorded.
    pub skipped: Skipped,
    /// Why it could not be read to its end.
    pub error: Option<TraceError>,
}

/// Plays a trace, as often as the job asks.
pub struct JobReplay {
    trace: Arc<Trace>,
    picked: Picked,
    pass: Option<Pass>,
    no_stall: bool,
    speed: f64,
    depth: u32,
    /// Passes after this one.
    left: u64,
    outstanding: u32,
    errors: Errors,
    max_latency: By<Option<Nanos>>,
    ends: Arc<AtomicBool>,
    cut: Option<Cut>,
    ended: Ended,
}

impl JobReplay {
    /// Of a trace on files whose blocks are `block_bytes`; requests longer than `longest_bytes` are
    /// split. Reading ahead begins.
    pub fn new(
        job: &Job,
        trace: Arc<Trace>,
        (block_bytes, longest_bytes): (u32, u32),
        ends: Arc<AtomicBool>,
    ) -> Result<Self, TraceError> {
        let address = Address::new(trace.files.len());
        let (end, longest) = (trace.end_bytes(), trace.longest_bytes);
        let placing = Placing::new(Fit::Fail, block_bytes, end, longest, address.limit() - 1)
            .expect("what a layout holds can be addressed");
        let picked = Picked {
            device: None,
            moment: Moment::Queue,
            first: trace.first,
            writes: true,
            placing,
            longest_bytes,
            untimed: true,
            dependencies: false,
            device_shift: Some(address.shift()),
        };
        let mut feed = Feed::start(trace.open()?, picked)?;
        // What decoding takes until the first request is there delays none.
        feed.peek();
        let rule = job.replay.as_ref().expect("only jobs with a trace come here");
        let forever = job.timing.time_based && job.timing.runtime > Nanos::ZERO;
        let depth = job.engine.depth;
        Ok(Self {
            trace,
            picked,
            pass: Some(Pass::Ready(feed)),
            no_stall: rule.no_stall,
            speed: f64::from(rule.time_scale_percent) / 100.0,
            depth,
            left: if forever { u64::MAX } else { u64::from(job.extent.loops.max(1)) - 1 },
            outstanding: 0,
            errors: job.errors.clone(),
            max_latency: job.max_latency,
            ends,
            cut: None,
            ended: Ended {
                fidelity: Fidelity::new(depth, LATE),
                skipped: Skipped::default(),
                error: None,
            },
        })
    }

    /// Why it ended early, if it did.
    pub const fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// What became of the trace.
    pub fn finish(mut self) -> Ended {
        self.end_pass();
        self.ended
    }

    /// Adds up what a pass gave.
    fn end_pass(&mut self) {
        let (feed, fidelity) = match self.pass.take() {
            None => return,
            Some(Pass::Ready(feed)) => (feed, Fidelity::new(self.depth, LATE)),
            Some(Pass::Timed(timed)) => timed.finish(),
            Some(Pass::Closed(closed)) => closed.finish(),
        };
        self.ended.fidelity.merge(&fidelity);
        match feed.finish() {
            Ok(more) => self.ended.skipped.merge(&more),
            Err(error) => self.ended.error = Some(error),
        }
    }

    /// Begins to play what was read ahead.
    fn begin(&self, feed: Feed, now: Nanos) -> Pass {
        let fidelity = Fidelity::new(self.depth, LATE);
        match self.no_stall {
            true => Pass::Closed(Closed::new(feed, Some(self.depth), fidelity)),
            false => Pass::Timed(Timed::new(feed, now, self.speed, fidelity)),
        }
    }

    /// Reads ahead for the next pass; false after the last.
    fn begin_pass(&mut self) -> bool {
        if self.left == 0 || self.ended.error.is_some() {
            return false;
        }
        self.left -= 1;
        match self.trace.open().and_then(|source| Feed::start(source, self.picked)) {
            Ok(feed) => {
                self.pass = Some(Pass::Ready(feed));
                true
            }
            Err(error) => {
                self.ended.error = Some(error);
                false
            }
        }
    }
}

impl Source for JobReplay {
    fn next(&mut self, now: Nanos) -> Next {
        loop {
            if self.cut.is_some() || self.ends.load(Relaxed) {
                return Next::Done;
            }
            self.pass = self.pass.take().map(|pass| match pass {
                Pass::Ready(feed) => self.begin(feed, now),
                playing => playing,
            });
            let Some(source) = self.pass.as_mut().and_then(Pass::source) else { return Next::Done };
            match source.next(now) {
                Next::Done if self.outstanding > 0 => return Next::NotBefore(Nanos::MAX),
                Next::Done => {
                    self.end_pass();
                    if !self.begin_pass() {
                        return Next::Done;
                    }
                }
                next => return next,
            }
        }
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        self.outstanding += 1;
        if let Some(source) = self.pass.as_mut().and_then(Pass::source) {
            source.submitted(request, at);
        }
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        self.outstanding -= 1;
        if let Some(source) = self.pass.as_mut().and_then(Pass::source) {
            source.completed(request, submitted, completion);
        }
        let took = completion.at.since(submitted);
        if self.max_latency.of(request.op).is_some_and(|most| took > most) && self.cut.is_none() {
            self.cut = Some(Cut::Late { op: request.op, took });
        }
    }

    fn tolerates(&mut self, failure: &Failure) -> bool {
        failure::tolerates(&self.errors, failure)
    }
}
