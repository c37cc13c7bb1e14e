//! One round: every lane on a thread of its own, all against one base time.

use super::lanes::Lane;
use super::{moment, tags};
use crate::cli::replay::{Mode, Replay};
use crate::context::Context;
use crate::progress::Line;
use seekwell_io::clock::Clock;
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::{Bounds, EngineError, run_source, sharpen_timers};
use seekwell_io::measurement::Measurement;
use seekwell_io::target::Engine;
use seekwell_io::target::{Null, Target, TargetError, Threads, Uring};
use seekwell_io::units::Nanos;
use seekwell_io::workload;
use seekwell_run::replay_bounds::SPIN;
use seekwell_run::{Source, share};
use seekwell_runs::DeviceCount;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats;
use seekwell_trace::replay::{Closed, Dependent, Feed, Fidelity, Picked, Skipped, Timed};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Barrier, OnceLock};
use std::time::Duration;

/// The first request is due this long after everything is open.
const LEAD: Nanos = Nanos::from_millis(20);
/// Measuring begins this much before the first request is due, so that none is missed.
const EARLY: Nanos = Nanos::from_millis(1);
/// Between two looks at how far it is.
const LOOK: Duration = Duration::from_millis(250);

/// What a round needs.
pub struct Stage<'a> {
    /// As was asked.
    pub args: &'a Replay,
    /// What is played where.
    pub lanes: &'a [Lane],
    /// Time of the trace's first request.
    pub first: Nanos,
    /// From it to the last.
    pub span: Nanos,
    /// How requests are issued.
    pub engine: Engine,
    /// Signals and the system.
    pub context: &'a Context,
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
pub enum PlayError {
    /// The trace cannot be read any more.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The target cannot be set up or failed as a whole.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Another lane could not begin.
    #[error("not begun, because another target could not be set up")]
    Other,
}

/// Where lanes wait for each other.
struct Gate {
    barrier: Barrier,
    is_broken: AtomicBool,
    base: OnceLock<Nanos>,
}

impl Gate {
    /// Waits until every lane has come here; then all go on, or none.
    fn pass<T>(&self, ready: Result<T, PlayError>) -> Result<(T, Nanos), PlayError> {
        if ready.is_err() {
            self.is_broken.store(true, Relaxed);
        }
        self.barrier.wait();
        let ready = ready?;
        if self.is_broken.load(Relaxed) {
            return Err(PlayError::Other);
        }
        let base = *self.base.get_or_init(|| Clock::real().now() + LEAD);
        Ok((ready, base))
    }
}

impl Stage<'_> {
    /// Plays all lanes once; results in their order.
    pub fn round(&self, round: u32, line: &Line) -> Vec<Result<Played, PlayError>> {
        let gate = Gate {
            barrier: Barrier::new(self.lanes.len()),
            is_broken: AtomicBool::new(false),
            base: OnceLock::new(),
        };
        std::thread::scope(|scope| {
            let start = |lane| {
                let gate = &gate;
                scope.spawn(move || self.play(lane, gate, round))
            };
            let threads: Vec<_> = self.lanes.iter().map(start).collect();
            if self.context.progress {
                self.watch(&gate, round, line, || threads.iter().all(|t| t.is_finished()));
            }
            let ended = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or(Err(PlayError::Engine(EngineError::Thread))));
            ended.collect()
        })
    }

    /// Shows how far it is until it is over.
    fn watch(&self, gate: &Gate, round: u32, line: &Line, is_over: impl Fn() -> bool) {
        let (clock, control) = (Clock::real(), &self.context.control);
        let wanted: u64 = self
            .lanes
            .iter()
            .map(|l| if l.writes { l.survey.total() } else { l.survey.requests[0] })
            .sum();
        let before = control.requests.load(Relaxed);
        let begun = clock.now();
        let rounds = match self.args.repeats {
            1 => String::new(),
            repeats => format!(" · round {} of {repeats}", round + 1),
        };
        let lasts = self.span.as_secs_f64() / self.args.speed;
        let mut looks = 0u32;
        while !is_over() {
            // Looked at often at first, so that a short replay is not kept waiting.
            std::thread::sleep(if looks < 40 { LOOK / 25 } else { LOOK });
            looks += 1;
            let now = clock.now();
            let done = control.requests.load(Relaxed) - before;
            let share = if self.args.mode == Mode::Timed {
                let since = gate.base.get().map_or(0.0, |base| now.since(*base).as_secs_f64());
                since / lasts.max(1e-9)
            } else {
                done as f64 / wanted.max(1) as f64
            };
            let share = share.clamp(0.0, 1.0);
            let spent = now.since(begun).as_secs_f64();
            let left = if share > 0.0 { spent / share - spent } else { lasts };
            let what = format!("replaying{rounds} · {done} requests · {left:.0} s left");
            line.part(&what, (share * 1e6) as u64, 1_000_000);
        }
    }

    fn play(&self, lane: &Lane, gate: &Gate, round: u32) -> Result<Played, PlayError> {
        sharpen_timers();
        let (depth, bytes, seed) = (lane.depth, lane.longest_bytes, u64::from(round));
        match &lane.source {
            Source::Null => self.on(lane, gate, || Ok(Null::new())),
            Source::Modelled(model) => self.on(lane, gate, || Ok(model.build(seed))),
            Source::Opened { opened, .. } if self.engine != Engine::Threads => {
                self.on(lane, gate, || Uring::new(opened.as_fd(), depth, bytes, seed))
            }
            Source::Opened { opened, .. } => {
                self.on(lane, gate, || Threads::new(opened.as_fd(), depth, bytes, seed))
            }
        }
    }

    fn on<T: Target>(
        &self,
        lane: &Lane,
        gate: &Gate,
        open: impl FnOnce() -> Result<T, TargetError>,
    ) -> Result<Played, PlayError> {
        let set_up = || {
            let target = open().map_err(EngineError::from)?;
            let mut feed = Feed::start(
                formats::open_file(&self.args.trace, self.args.from)?,
                self.picked(lane),
            );
            // What decoding takes until the first request is there delays none.
            feed.peek();
            Ok((feed, target))
        };
        let ((feed, mut target), mut base) = gate.pass(set_up())?;
        if matches!(lane.source, Source::Modelled(_)) {
            // A model has a clock of its own.
            base = target.now() + LEAD;
        }
        let view = &self.context.view;
        let before = lane.source.counters(view);
        let (measurement, feed, fidelity) = self.run(lane, feed, base, &mut target)?;
        drop(target);
        let after = lane.source.counters(view);
        let device = before.zip(after).and_then(|(b, a)| share(&a.since(&b), &measurement));
        let gone = measurement.first_failure.is_some() && lane.source.is_gone(view);
        Ok(Played { measurement, fidelity, skipped: feed.finish(), device, gone })
    }

    fn run<T: Target>(
        &self,
        lane: &Lane,
        feed: Feed,
        base: Nanos,
        target: &mut T,
    ) -> Result<(Measurement, Feed, Fidelity), EngineError> {
        let tags = tags(self.args).map_or(lane.depth, |(_, tags)| tags.min(lane.depth));
        let fidelity = Fidelity::new(tags, self.args.late);
        let speed = self.args.speed;
        Ok(match self.args.mode {
            Mode::Timed => {
                let mut source = Timed::new(feed, base, speed, fidelity);
                let measured = self.drive(lane, &mut source, base, target)?;
                let (feed, fidelity) = source.finish();
                (measured, feed, fidelity)
            }
            Mode::Depth => {
                let mut source = Closed::new(feed, self.args.depth, fidelity);
                let measured = self.drive(lane, &mut source, base, target)?;
                let (feed, fidelity) = source.finish();
                (measured, feed, fidelity)
            }
            Mode::Dependent => {
                let mut source = Dependent::new(feed, base, speed, fidelity);
                let measured = self.drive(lane, &mut source, base, target)?;
                let (feed, fidelity) = source.finish();
                (measured, feed, fidelity)
            }
        })
    }

    fn drive<S: workload::Source, T: Target>(
        &self,
        lane: &Lane,
        source: &mut S,
        base: Nanos,
        target: &mut T,
    ) -> Result<Measurement, EngineError> {
        let is_timed = self.args.mode != Mode::Depth;
        let model = match &lane.source {
            Source::Modelled(model) => Some(model),
            Source::Null | Source::Opened { .. } => None,
        };
        let ramp = if is_timed { base.since(target.now() + EARLY) } else { Nanos::ZERO };
        let bounds = Bounds {
            depth: lane.depth,
            ramp,
            runtime: Nanos::ZERO,
            spin: if is_timed && model.is_none() { self.spin() } else { Nanos::ZERO },
        };
        let control = &self.context.control;
        match tags(self.args).or_else(|| model.and_then(|m| m.tags())) {
            None => run_source(source, bounds, target, &mut Unlimited::default(), control),
            Some((policy, tags)) => {
                run_source(source, bounds, target, &mut policy.over(tags), control)
            }
        }
    }

    /// Watching the clock is for threads that have a processor each; others would be in the way.
    fn spin(&self) -> Nanos {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        if self.lanes.len() < processors.max(2) { SPIN } else { Nanos::ZERO }
    }

    fn picked(&self, lane: &Lane) -> Picked {
        Picked {
            device: lane.device,
            moment: moment(self.args),
            first: self.first,
            writes: lane.writes,
            placing: lane.placing,
            longest_bytes: lane.longest_bytes,
            untimed: self.args.mode == Mode::Depth,
            dependencies: self.args.mode == Mode::Dependent,
            device_shift: None,
        }
    }
}
