//! What came of running a workload: histograms per operation, a time series, errors, CPU used.

pub use crate::failure::{FailureKind, is_device_gone};
use crate::histogram::Histogram;
use crate::request::{Completion, Op, Request};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Everything measured about one operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpMeasurement {
    /// Requests completed without error.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Submit to complete.
    pub service: Histogram,
    /// Wanted to complete: for open loops, and for the flush of a commit.
    pub response: Histogram,
}

/// One interval of the time series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Requests completed, by [`Op`] number.
    pub requests: [u64; 4],
    /// Bytes moved by reads and by writes.
    pub bytes: [u64; 2],
    /// Sum of service times, by [`Op`] number, in nanoseconds.
    pub latency_ns_sum: [u64; 4],
    /// Longest service time in nanoseconds.
    pub latency_ns_max: u64,
}

impl Interval {
    /// Adds another interval to this one.
    pub fn merge(&mut self, other: &Self) {
        for i in 0..4 {
            self.requests[i] += other.requests[i];
            self.latency_ns_sum[i] += other.latency_ns_sum[i];
        }
        for i in 0..2 {
            self.bytes[i] += other.bytes[i];
        }
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
    }
}

/// Rates over time in even steps. When it would grow past [`Series::MAX_STEPS`], neighbours are
/// merged and the step doubles, so its size does not depend on how long a run takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Length of one step.
    pub step_ns: Nanos,
    /// The steps, from the start of measuring.
    pub steps: Vec<Interval>,
}

impl Series {
    /// The most steps kept.
    pub const MAX_STEPS: usize = 2048;

    /// An empty series.
    pub fn new(step: Nanos) -> Self {
        assert!(step > Nanos::ZERO, "a series needs a step");
        Self { step_ns: step, steps: Vec::with_capacity(64) }
    }

    /// The step that holds the time `at` after the start.
    #[inline]
    pub fn at(&mut self, at: Nanos) -> &mut Interval {
        let mut index = at.0 / self.step_ns.0;
        while index >= Self::MAX_STEPS as u64 {
            self.halve();
            index = at.0 / self.step_ns.0;
        }
        let index = index as usize;
        if index >= self.steps.len() {
            self.steps.resize(index + 1, Interval::default());
        }
        &mut self.steps[index]
    }

    fn halve(&mut self) {
        let merged = self.steps.chunks(2).map(|pair| {
            let mut first = pair[0];
            if let Some(second) = pair.get(1) {
                first.merge(second);
            }
            first
        });
        self.steps = merged.collect();
        self.step_ns = Nanos(self.step_ns.0 * 2);
    }

    /// Adds a series of another thread of the same run.
    pub fn merge(&mut self, mut other: Self) {
        while self.step_ns < other.step_ns {
            self.halve();
        }
        while other.step_ns < self.step_ns {
            other.halve();
        }
        let longer = self.steps.len().max(other.steps.len());
        self.steps.resize(longer, Interval::default());
        for (mine, theirs) in self.steps.iter_mut().zip(&other.steps) {
            mine.merge(theirs);
        }
    }
}

/// A request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What it was to do.
    pub op: Op,
    /// Where, in bytes.
    pub offset: u64,
    /// How much, in bytes.
    pub len: u32,
    /// How it failed.
    pub kind: FailureKind,
}

impl Failure {
    /// How a completed request failed, where it did not do all that it was to do.
    #[inline]
    pub fn of(request: &Request, completion: &Completion) -> Option<Self> {
        let kind = match (completion.result, request.op) {
            (Ok(_), Op::Flush | Op::Discard) => return None,
            (Ok(moved), _) if moved == request.len => return None,
            (Ok(moved), _) => FailureKind::Short { moved },
            (Err(kind), _) => kind,
        };
        Some(Self { op: request.op, offset: request.offset, len: request.len, kind })
    }
}

impl fmt::Display for Failure {
    /// What was to be done, where, and how it failed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, offset, len, kind } = self;
        write!(f, "{} of {len} bytes at offset {offset}: {kind}", op.name())
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// Its time was over or its requests were done.
    #[default]
    Finished,
    /// Someone asked it to stop.
    Interrupted,
    /// A request failed.
    Failed,
    /// Nothing completed for too long.
    Stalled,
}

/// Who makes the requests, once that is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Issuer {
    /// The thread itself, through a ring.
    Ring,
    /// Threads of the kernel that serve the ring: the device cannot be asked without waiting.
    RingWorkers,
    /// The thread itself, one system call after the other.
    Calls,
    /// A pool of threads, one for each request outstanding.
    Pool,
}

/// What one run of one workload gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Measured time, ramp excluded: the runtime, or until the last completion if that is later or
    /// the source had no more requests.
    pub elapsed: Nanos,
    /// By [`Op`] number.
    pub ops: [OpMeasurement; 4],
    /// Rates over time.
    pub series: Series,
    /// CPU time of the whole process meanwhile, in user mode.
    pub cpu_user: Nanos,
    /// CPU time of the whole process meanwhile, in the kernel (its I/O workers included).
    pub cpu_system: Nanos,
    /// System calls made to submit and to reap.
    pub syscalls: u64,
    /// Failed requests: how many, and the first of them.
    pub failed: u64,
    /// The first failure.
    pub first_failure: Option<Failure>,
    /// Requests given up on when a stalled or twice interrupted run ended without them.
    pub abandoned: u64,
    /// Why it ended.
    pub stopped: Stopped,
    /// Who made the requests, where the kernel got any.
    pub issuer: Option<Issuer>,
}

impl Measurement {
    /// Nothing measured yet.
    pub fn new(step: Nanos) -> Self {
        Self {
            elapsed: Nanos::ZERO,
            ops: Default::default(),
            series: Series::new(step),
            cpu_user: Nanos::ZERO,
            cpu_system: Nanos::ZERO,
            syscalls: 0,
            failed: 0,
            first_failure: None,
            abandoned: 0,
            stopped: Stopped::Finished,
            issuer: None,
        }
    }

    /// Counts a request that was handed over at `submitted` and done whole at `at`; measuring began
    /// at `started`.
    #[inline]
    pub fn record(&mut self, request: &Request, submitted: Nanos, at: Nanos, started: Nanos) {
        let (op, len) = (request.op as usize, u64::from(request.len));
        let latency = at.since(submitted);
        let totals = &mut self.ops[op];
        totals.requests += 1;
        totals.bytes += len;
        totals.service.record(latency);
        if let Some(wanted) = request.wanted {
            totals.response.record(at.since(wanted));
        }
        let since_start = at.since(started);
        self.elapsed = self.elapsed.max(since_start);
        let step = self.series.at(since_start);
        step.requests[op] += 1;
        if op < step.bytes.len() {
            step.bytes[op] += len;
        }
        step.latency_ns_sum[op] += latency.0;
        step.latency_ns_max = step.latency_ns_max.max(latency.0);
    }

    /// Counts a request that failed.
    #[cold]
    pub fn fail(&mut self, failure: Failure) {
        self.failed += 1;
        self.first_failure.get_or_insert(failure);
        debug_assert!(self.failed > 0 && self.first_failure.is_some());
    }

    /// The numbers of one operation.
    pub fn op(&self, op: Op) -> &OpMeasurement {
        &self.ops[op as usize]
    }

    /// Requests of all operations.
    pub fn requests(&self) -> u64 {
        self.ops.iter().map(|o| o.requests).sum()
    }

    /// Bytes of all operations.
    pub fn bytes(&self) -> u64 {
        self.ops.iter().map(|o| o.bytes).sum()
    }

    /// Adds what another thread of the same run measured.
    pub fn merge(&mut self, other: Self) {
        self.elapsed = self.elapsed.max(other.elapsed);
        for (mine, theirs) in self.ops.iter_mut().zip(&other.ops) {
            mine.requests += theirs.requests;
            mine.bytes += theirs.bytes;
            mine.service.merge(&theirs.service);
            mine.response.merge(&theirs.response);
        }
        self.series.merge(other.series);
        // Each thread read the same counters of the process.
        self.cpu_user = self.cpu_user.max(other.cpu_user);
        self.cpu_system = self.cpu_system.max(other.cpu_system);
        self.syscalls += other.syscalls;
        self.failed += other.failed;
        self.first_failure = self.first_failure.or(other.first_failure);
        self.abandoned += other.abandoned;
        self.issuer = self.issuer.or(other.issuer);
        if self.stopped == Stopped::Finished {
            self.stopped = other.stopped;
        }
    }
}
