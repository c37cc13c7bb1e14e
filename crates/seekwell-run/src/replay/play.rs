//! One round: every lane on a thread of its own, all against one base time.

use super::ReplayOptions;
use super::lanes::{Lane, Taken};
use crate::executor::share;
use crate::{Host, Source, Watcher};
use seekwell_io::clock::Clock;
use seekwell_io::dispatch::dispatcher;
use seekwell_io::engine::{Bounds, EngineError, run_source, sharpen_timers};
use seekwell_io::gate::{Gate, Ticket};
use seekwell_io::measurement::Measurement;
use seekwell_io::target::{Engine, Real, Stamped, Target, TargetError};
use seekwell_io::units::{Nanos, time_left};
use seekwell_io::workload;
use seekwell_runs::{DeviceCount, ReplayMode};
use seekwell_sys::thread::start_scoped;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats;
use seekwell_trace::replay::{Closed, Dependent, Feed, Fidelity, Picked, Skipped, Timed};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The first request is due this long after everything is open.
const LEAD: Nanos = Nanos::from_millis(20);
/// A request that is wanted within this time is watched for and not slept for.
pub const SPIN: Nanos = Nanos::from_micros(60);
/// Between two looks at how far it is.
const LOOK: Duration = Duration::from_millis(250);

/// What a round needs.
pub struct Stage<'a> {
    /// As was asked.
    pub options: &'a ReplayOptions,
    /// What is played where.
    pub lanes: &'a [Lane],
    /// Time of the trace's first request.
    pub first: Nanos,
    /// From it to the last.
    pub span: Nanos,
    /// How requests are issued.
    pub engine: Engine,
    /// Signals and the system.
    pub host: Host<'a>,
}

/// What a lane needs to begin with the others.
struct Start<'g> {
    ticket: Ticket<'g>,
    /// When the first request of the trace is due.
    base: &'g OnceLock<Nanos>,
}

/// What one lane gave.
pub struct Played {
    /// As of any run.
    pub measurement: Measurement,
    /// How far it was from the recording.
    pub fidelity: Fidelity,
    /// What was not played as recorded.
    pub skipped: Result<Skipped, TraceError>,
    /// What the device counted meanwhile.
    pub device: Option<DeviceCount>,
    /// Whether the device was there to the end.
    pub gone: bool,
}

/// Why a lane gave nothing.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum PlayError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("not begun, because another target could not be set up")]
    Other,
}

impl Stage<'_> {
    /// Plays all lanes once; results in their order.
    pub fn round(&self, round: u32, watcher: &impl Watcher) -> Vec<Result<Played, PlayError>> {
        let (gate, base) = (Gate::default(), OnceLock::new());
        let lanes: Vec<_> = self.lanes.iter().map(|lane| (lane, gate.ticket())).collect();
        std::thread::scope(|scope| {
            // Nothing is sent: the channel closes when the last lane has ended.
            let (playing, ended) = channel::<()>();
            let start = |(lane, ticket)| {
                let (start, playing) = (Start { ticket, base: &base }, playing.clone());
                start_scoped(scope, "lane", move || {
                    let played = self.play(lane, start, round);
                    drop(playing);
                    played
                })
            };
            let threads: Vec<_> = lanes.into_iter().map(start).collect();
            drop(playing);
            let goes_on = || ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout);
            self.watch(&base, round, watcher, goes_on);
            let ended = threads.into_iter().map(|thread| {
                let thread = thread.map_err(EngineError::from)?;
                thread.join().unwrap_or(Err(PlayError::Engine(EngineError::Thread)))
            });
            ended.collect()
        })
    }

    /// Shows how far it is until it is over.
    fn watch(
        &self,
        base: &OnceLock<Nanos>,
        round: u32,
        watcher: &impl Watcher,
        goes_on: impl Fn() -> bool,
    ) {
        let (clock, control) = (Clock::real(), self.host.control);
        let wanted: u64 = self
            .lanes
            .iter()
            .map(|l| if l.writes { l.survey.total() } else { l.survey.requests[0] })
            .sum();
        let before = control.requests.load(Relaxed);
        let begun = clock.now();
        let rounds = match self.options.repeats {
            1 => String::new(),
            repeats => format!(" · round {} of {repeats}", round + 1),
        };
        let lasts = self.span.as_secs_f64() / self.options.speed;
        while goes_on() {
            let now = clock.now();
            let done = control.requests.load(Relaxed) - before;
            let share = if self.options.mode == ReplayMode::Timed {
                let since = base.get().map_or(0.0, |base| now.since(*base).as_secs_f64());
                since / lasts.max(1e-9)
            } else {
                done as f64 / wanted.max(1) as f64
            };
            let share = share.clamp(0.0, 1.0);
            let spent = now.since(begun).as_secs_f64();
            let left = if share > 0.0 { spent / share - spent } else { lasts };
            let left = time_left(Nanos((left * 1e9) as u64));
            let what = format!("replaying{rounds} · {done} requests · {left} left");
            watcher.part(&what, (share * 1e6) as u64, 1_000_000);
        }
    }

    fn play(&self, lane: &Lane, start: Start<'_>, round: u32) -> Result<Played, PlayError> {
        sharpen_timers();
        let seed = u64::from(round);
        let file = match &lane.source {
            Source::Modelled(model) => return self.on(lane, start, || Ok(model.build(seed))),
            Source::Opened { opened, .. } => Some(opened.as_fd()),
            Source::Null => None,
        };
        let size = (lane.depth, lane.longest_bytes);
        self.on(lane, start, || {
            Real::open(self.engine, file.as_slice(), size, || Stamped::new(seed))
        })
    }

    fn on<T: Target>(
        &self,
        lane: &Lane,
        start: Start<'_>,
        open: impl FnOnce() -> Result<T, TargetError>,
    ) -> Result<Played, PlayError> {
        let mut target = open().map_err(EngineError::from)?;
        let source = formats::open_file(&self.options.trace, &self.options.reading)?;
        let mut feed = Feed::start(source, self.picked(lane))?;
        // What decoding takes until the first request is there delays none.
        feed.peek();
        if !start.ticket.pass() {
            return Err(PlayError::Other);
        }
        let mut base = *start.base.get_or_init(|| Clock::real().now() + LEAD);
        if matches!(lane.source, Source::Modelled(_)) {
            // A model has a clock of its own.
            base = target.now() + LEAD;
        }
        let view = self.host.view;
        let before = lane.source.counters(view);
        let (measurement, feed, fidelity) = self.run(lane, feed, base, &mut target)?;
        drop(target);
        let after = lane.source.counters(view);
        let device = before.zip(after).and_then(|(b, a)| share(&a.since(&b), &measurement));
        let gone = lane.source.was_removed(&measurement, view);
        Ok(Played { measurement, fidelity, skipped: feed.finish(), device, gone })
    }

    fn run<T: Target>(
        &self,
        lane: &Lane,
        feed: Feed,
        base: Nanos,
        target: &mut T,
    ) -> Result<(Measurement, Feed, Fidelity), EngineError> {
        // A thread that waits for its own request is no device that is full.
        let room = if lane.taken == Taken::OneByOne { u32::MAX } else { lane.depth };
        let tags = self.options.tags.map_or(room, |(_, tags)| tags.min(room));
        let fidelity = Fidelity::new(tags, self.options.late);
        let speed = self.options.speed;
        Ok(match self.options.mode {
            ReplayMode::Timed => {
                let mut source = Timed::new(feed, base, speed, fidelity);
                let measured = self.drive(lane, &mut source, target)?;
                let (feed, fidelity) = source.finish();
                (measured, feed, fidelity)
            }
            ReplayMode::Depth => {
                let mut source = Closed::new(feed, self.options.depth, fidelity);
                let measured = self.drive(lane, &mut source, target)?;
                let (feed, fidelity) = source.finish();
                (measured, feed, fidelity)
            }
            ReplayMode::Dependent => {
                let mut source = Dependent::new(feed, base, speed, fidelity);
                let measured = self.drive(lane, &mut source, target)?;
                let (feed, fidelity) = source.finish();
                (measured, feed, fidelity)
            }
        })
    }

    fn drive<S: workload::Source, T: Target>(
        &self,
        lane: &Lane,
        source: &mut S,
        target: &mut T,
    ) -> Result<Measurement, EngineError> {
        let is_timed = self.options.mode != ReplayMode::Depth;
        let model = match &lane.source {
            Source::Modelled(model) => Some(model),
            Source::Null | Source::Opened { .. } => None,
        };
        let bounds = Bounds {
            depth: lane.depth,
            ramp: Nanos::ZERO,
            runtime: Nanos::ZERO,
            spin: if is_timed && model.is_none() { self.spin() } else { Nanos::ZERO },
        };
        let mut dispatcher = dispatcher(self.options.tags.or_else(|| model.and_then(|m| m.tags())));
        run_source(source, bounds, target, &mut dispatcher, self.host.control)
    }

    /// Watching the clock is for threads that have a processor each; others would be in the way.
    fn spin(&self) -> Nanos {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        if self.lanes.len() < processors.max(2) { SPIN } else { Nanos::ZERO }
    }

    fn picked(&self, lane: &Lane) -> Picked {
        Picked {
            device: lane.device,
            moment: self.options.moment,
            first: self.first,
            writes: lane.writes,
            placing: lane.placing,
            longest_bytes: lane.longest_bytes,
            untimed: self.options.mode == ReplayMode::Depth,
            dependencies: self.options.mode == ReplayMode::Dependent,
            device_shift: None,
        }
    }
}
