//! The loop that joins workload, dispatcher and target.

mod threads;

pub use threads::{run_beside, run_threads, sharpen_timers};

use crate::dispatch::Dispatcher;
use crate::gauge::{Feed, Gauge};
use crate::measurement::{Failure, Measurement, Stopped};
use crate::request::{Completion, Request, Tagged};
use crate::target::{Target, TargetError, Until};
use crate::units::Nanos;
use crate::workload::{Generator, Next, Source, Workload, WorkloadError};
use seekwell_sys::classify;
use seekwell_sys::thread::NoThread;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Longest single wait for completions, so that a request to stop is seen soon.
const SLICE: Nanos = Nanos::from_millis(50);
const SERIES_STEP: Nanos = Nanos::from_millis(50);
/// Requests handed over at once. Large enough that a system call costs little per request, small
/// enough that a device which answers at once is not made to look slow by its own queue.
const BATCH: usize = 32;

/// Completions are taken together where that many come within this time: waking up for each costs
/// more than a fast device's answer, and costs the kernel's side of the device as much again.
const TOGETHER: Nanos = Nanos::from_micros(20);

/// Steers a run from outside and shows how it goes. One for all threads of a run.
#[derive(Debug)]
pub struct Control {
    /// Set to stop issuing and wait for what is outstanding.
    pub stop: AtomicBool,
    /// Set to end without waiting for what is outstanding.
    pub abandon: AtomicBool,
    /// A run in which nothing completes for this long ends as stalled.
    pub stall_limit: Nanos,
    /// Requests completed so far.
    pub requests: AtomicU64,
    /// Bytes moved so far.
    pub bytes: AtomicU64,
    /// Latencies as they come, for a live display.
    pub gauge: Gauge,
}

impl Control {
    /// Nobody has asked to stop; runs stall after `stall_limit`.
    pub fn new(stall_limit: Nanos) -> Self {
        Self {
            stop: AtomicBool::new(false),
            abandon: AtomicBool::new(false),
            stall_limit,
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            gauge: Gauge::default(),
        }
    }
}

impl Default for Control {
    /// Stalls after 60 s: twice the kernel's usual command time-out, so that its own error comes
    /// first.
    fn default() -> Self {
        Self::new(Nanos::from_millis(60_000))
    }
}

/// A run that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum EngineError {
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    NoThread(#[from] NoThread),
    #[error("a measuring thread ended early")]
    Thread,
    /// One that was to begin with it could not be set up.
    #[error("what was to run beside it could not be set up")]
    CalledOff,
}

classify!(EngineError {
    Refused: Thread, CalledOff;
    | Self::Workload(error) => error.class(),
    | Self::Target(error) => error.class(),
    | Self::NoThread(error) => error.class(),
});

/// Runs one thread's share of a workload to its end.
///
/// # Errors
/// [`EngineError`] when it cannot run at all. A request that fails ends the run early and is part
/// of the [`Measurement`].
pub fn run<T: Target, D: Dispatcher>(
    workload: &Workload,
    thread: u32,
    target: &mut T,
    dispatcher: &mut D,
    control: &Control,
) -> Result<Measurement, EngineError> {
    workload.check()?;
    let mut generator = Generator::new(workload, thread);
    run_source(&mut generator, Bounds::of(workload), target, dispatcher, control)
}

/// What bounds a run, whatever its requests come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most requests outstanding at once, and the tags the target was opened with.
    pub depth: u32,
    /// Run this long before measuring.
    pub ramp: Nanos,
    /// Measure for this long; zero until the source has no more.
    pub runtime: Nanos,
    /// Watch the clock instead of sleeping when a request will be wanted within this time: waking
    /// up takes tens of microseconds, and the request would be that late. Zero always sleeps, and
    /// is the only choice on a virtual clock, which moves in no other way.
    pub spin: Nanos,
}

impl Bounds {
    /// Those a workload asks for.
    pub const fn of(workload: &Workload) -> Self {
        Self {
            depth: workload.pace.depth(),
            ramp: workload.ramp_ns,
            runtime: workload.runtime_ns,
            spin: Nanos::ZERO,
        }
    }
}

/// Runs the requests of any source to its end. The source stays with the caller, with what it
/// noted of their completions.
///
/// # Errors
/// As for [`run`].
pub fn run_source<S: Source, T: Target, D: Dispatcher>(
    source: &mut S,
    bounds: Bounds,
    target: &mut T,
    dispatcher: &mut D,
    control: &Control,
) -> Result<Measurement, EngineError> {
    let feed = Feed::new(&control.gauge, target.now());
    let mut run = Loop::new(source, bounds, target.now(), feed);
    while run.step(target, dispatcher, control)? {}
    run.feed.tell(&control.gauge, &run.measurement, target.now());
    Ok(run.finish(target))
}

/// What is remembered of an outstanding request.
#[derive(Clone, Copy)]
struct Outstanding {
    request: Request,
    submitted: Nanos,
}

/// How fast completions have come lately.
struct Recent {
    completions: u64,
    since: Nanos,
    gap: Nanos,
}

impl Recent {
    /// Completions after which the gap is measured again.
    const WINDOW: u64 = 256;

    const fn new(now: Nanos) -> Self {
        Self { completions: 0, since: now, gap: Nanos::MAX }
    }

    #[inline]
    fn turn(&mut self, completions: usize, now: Nanos) {
        self.completions += completions as u64;
        if self.completions >= Self::WINDOW {
            self.gap = Nanos((now.since(self.since).0 / self.completions).max(1));
            (self.completions, self.since) = (0, now);
        }
    }

    /// How many completions are to be expected within a time.
    const fn within(&self, time: Nanos) -> u64 {
        time.0 / self.gap.0
    }
}

struct Loop<'s, S> {
    recent: Recent,
    source: &'s mut S,
    spin: Nanos,
    depth: usize,
    free: Vec<u32>,
    outstanding: Vec<Option<Outstanding>>,
    waiting: usize,
    batch: Vec<Tagged>,
    reaped: Vec<Completion>,
    /// The last batch was full and the depth was not.
    room_left: bool,
    /// The workload has no more requests.
    exhausted: bool,
    /// Nothing more is issued.
    ending: bool,
    ramp_end: Nanos,
    end: Nanos,
    runtime: Nanos,
    measuring: bool,
    started: Nanos,
    last_progress: Nanos,
    syscalls_before: u64,
    cpu_before: (Nanos, Nanos),
    measurement: Measurement,
    feed: Feed,
}

impl<'s, S: Source> Loop<'s, S> {
    fn new(source: &'s mut S, bounds: Bounds, now: Nanos, feed: Feed) -> Self {
        let depth = bounds.depth;
        let runtime = if bounds.runtime == Nanos::ZERO { Nanos::MAX } else { bounds.runtime };
        Self {
            recent: Recent::new(now),
            source,
            spin: bounds.spin,
            depth: depth as usize,
            free: (0..depth).rev().collect(),
            outstanding: vec![None; depth as usize],
            waiting: 0,
            batch: Vec::with_capacity(BATCH),
            reaped: Vec::with_capacity(depth as usize),
            room_left: false,
            exhausted: false,
            ending: false,
            ramp_end: now + bounds.ramp,
            end: Nanos::MAX,
            runtime,
            measuring: false,
            started: now,
            last_progress: now,
            syscalls_before: 0,
            cpu_before: (Nanos::ZERO, Nanos::ZERO),
            measurement: Measurement::new(SERIES_STEP),
            feed,
        }
    }

    fn in_flight(&self) -> usize {
        self.depth - self.free.len()
    }

    /// One turn: issue what may be issued, then take what is done. False when the run is over.
    fn step<T: Target, D: Dispatcher>(
        &mut self,
        target: &mut T,
        dispatcher: &mut D,
        control: &Control,
    ) -> Result<bool, EngineError> {
        let now = target.now();
        if !self.measuring && now >= self.ramp_end && !self.source.is_warming(now) {
            self.begin(target, now);
        }
        if self.feed.is_due(now) {
            self.feed.tell(&control.gauge, &self.measurement, now);
        }
        if !self.ending && control.stop.load(Relaxed) {
            self.end_as(Stopped::Interrupted);
        }
        if !self.ending && now >= self.end {
            self.ending = true;
            // Time without completions counts too.
            self.measurement.elapsed = self.measurement.elapsed.max(self.runtime);
        }
        let next_arrival = self.issue(target, dispatcher, now)?;
        debug_assert!(self.in_flight() + self.waiting <= self.depth, "more requests than slots");
        let over = self.ending || (self.exhausted && self.waiting == 0);
        if self.in_flight() == 0 && over {
            return Ok(false);
        }
        let mut deadline = (now + SLICE).min(Nanos(next_arrival.0.saturating_sub(self.spin.0)));
        if !self.ending && self.in_flight() == 0 {
            deadline = deadline.min(self.end);
        }
        // A batch that left room is only handed over; waiting begins when the depth is full.
        let completions = if self.room_left { 0 } else { self.worth_waiting_for() };
        target.reap(Until { completions, deadline }, &mut self.reaped)?;
        debug_assert!(target.now() >= now, "the target's clock went back");
        debug_assert!(self.reaped.len() <= self.in_flight(), "more completions than requests");
        self.recent.turn(self.reaped.len(), target.now());
        self.take(dispatcher, control);
        if self.in_flight() == 0 {
            self.last_progress = target.now();
        } else if target.now().since(self.last_progress) > control.stall_limit {
            self.end_as(Stopped::Stalled);
            return Ok(false);
        }
        if control.abandon.load(Relaxed) {
            self.end_as(Stopped::Interrupted);
            return Ok(false);
        }
        Ok(true)
    }

    /// How many completions one wait is for. A quarter of what is outstanding at most: then an
    /// eighth of the depth is missing on average, and only where the device answers within
    /// microseconds.
    fn worth_waiting_for(&self) -> u32 {
        let most = (self.in_flight() / 4) as u64;
        self.recent.within(TOGETHER).min(most).max(1) as u32
    }

    /// Measuring starts: the ramp, if there was one, is over.
    fn begin<T: Target>(&mut self, target: &T, now: Nanos) {
        self.measuring = true;
        self.started = now;
        self.end = now + self.runtime;
        self.syscalls_before = target.syscalls();
        self.cpu_before = target.cpu();
    }

    fn end_as(&mut self, why: Stopped) {
        self.ending = true;
        if self.measurement.stopped == Stopped::Finished {
            self.measurement.stopped = why;
        }
    }

    /// Fills the depth from the workload and submits what the dispatcher releases. Returns when the
    /// next request will be wanted, if that is known.
    fn issue<T: Target, D: Dispatcher>(
        &mut self,
        target: &mut T,
        dispatcher: &mut D,
        now: Nanos,
    ) -> Result<Nanos, EngineError> {
        let mut next_arrival = Nanos::MAX;
        self.room_left = false;
        let done = self.ending || self.exhausted;
        while !done && self.in_flight() + self.waiting < self.depth {
            match self.source.next(now) {
                Next::Request(request) => {
                    dispatcher.queue(request, now);
                    self.waiting += 1;
                }
                Next::NotBefore(at) => {
                    next_arrival = at;
                    break;
                }
                Next::Done => {
                    self.exhausted = true;
                    break;
                }
            }
            if self.waiting >= BATCH {
                self.room_left = self.in_flight() + self.waiting < self.depth;
                break;
            }
        }
        while !self.ending
            && let Some(request) = dispatcher.release(now)
        {
            let slot = self.free.pop().expect("no more requests wait than there are slots");
            self.waiting -= 1;
            self.source.submitted(&request, now);
            let before = &self.outstanding[slot as usize];
            debug_assert!(before.is_none(), "slot {slot} is both free and outstanding");
            self.outstanding[slot as usize] = Some(Outstanding { request, submitted: now });
            self.batch.push(Tagged { slot, request });
        }
        if !self.batch.is_empty() {
            target.submit(&self.batch)?;
            self.batch.clear();
        }
        Ok(next_arrival)
    }

    /// Accounts for what was reaped.
    #[inline]
    fn take<D: Dispatcher>(&mut self, dispatcher: &mut D, control: &Control) {
        let Some(last) = self.reaped.last() else { return };
        self.last_progress = last.at;
        let mut reaped = std::mem::take(&mut self.reaped);
        let mut bytes = 0;
        for completion in &reaped {
            let done = self.outstanding[completion.slot as usize].take();
            let done = done.expect("a target completes each request once");
            debug_assert!(completion.at >= done.submitted, "done before it was submitted");
            self.free.push(completion.slot);
            dispatcher.complete(done.request.op);
            self.source.completed(&done.request, done.submitted, completion);
            match Failure::of(&done.request, completion) {
                None => {
                    bytes += u64::from(completion.result.unwrap_or(0));
                    self.record(&done, completion.at);
                }
                Some(failure) => self.fail(failure),
            }
        }
        control.requests.fetch_add(reaped.len() as u64, Relaxed);
        control.bytes.fetch_add(bytes, Relaxed);
        reaped.clear();
        self.reaped = reaped;
    }

    #[inline]
    fn record(&mut self, done: &Outstanding, at: Nanos) {
        if !self.measuring || at < self.started {
            return;
        }
        self.measurement.record(&done.request, done.submitted, at, self.started);
    }

    #[cold]
    fn fail(&mut self, failure: Failure) {
        self.measurement.fail(failure);
        if !self.source.tolerates(&failure) {
            self.end_as(Stopped::Failed);
        }
    }

    fn finish<T: Target>(mut self, target: &T) -> Measurement {
        let outstanding = self.outstanding.iter().flatten().count();
        assert_eq!(outstanding, self.in_flight(), "each slot is free or outstanding");
        let (user, system) = target.cpu();
        self.measurement.abandoned = self.in_flight() as u64;
        self.measurement.issuer = target.issuer();
        if self.measuring {
            self.measurement.cpu_user = user.since(self.cpu_before.0);
            self.measurement.cpu_system = system.since(self.cpu_before.1);
            self.measurement.syscalls = target.syscalls() - self.syscalls_before;
        }
        self.measurement
    }
}

/// User and system CPU time of this process, kernel I/O workers included.
pub fn process_cpu() -> (Nanos, Nanos) {
    // SAFETY: all-zero is a valid rusage, and the call fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let ns = |t: libc::timeval| {
        Nanos(t.tv_sec.cast_unsigned() * 1_000_000_000 + t.tv_usec.cast_unsigned() * 1_000)
    };
    (ns(usage.ru_utime), ns(usage.ru_stime))
}

#[cfg(test)]
mod tests;
