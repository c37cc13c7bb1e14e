//! Jobs that run at the same time: from one `stonewall` to the next.

use super::logs::recorder;
use super::media::Media;
use super::member::{Own, Part, Played, is_called_off};
use super::record::groups;
use super::trace::{self, Traces};
use crate::{Host, Watcher};
use seekwell_access::AccessError;
use seekwell_io::clock::Clock;
use seekwell_io::engine::{Control, EngineError, sharpen_timers};
use seekwell_io::measurement::{Measurement, Stopped};
use seekwell_io::request::Op;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_jobs::job::{EngineKind as Asked, ExitWhat, Job};
use seekwell_jobs::layout::{Layout, Member};
use seekwell_jobs::play::source::pace::{Flow, FlowShare};
use seekwell_jobs::play::steady::Steady;
use seekwell_runs::DeviceCount;
use seekwell_sys::DiskCounters;
use seekwell_trace::error::TraceError;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Between two looks at flags and at how far it is.
const LOOK: Duration = Duration::from_millis(50);

/// Why a clone gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    /// A file could not be opened as the job asks.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The target cannot be set up or failed as a whole.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Its trace cannot be read any more.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It was stopped before it began.
    #[error("stopped before it began")]
    NotBegun,
}

/// A clone that is run, and its job.
struct Runner<'a> {
    part: Part<'a>,
    own: Own,
}

/// Everything that clones tell each other.
struct Board {
    /// Clones that are not set up yet, and whether one of them cannot be.
    setting_up: Mutex<(usize, bool)>,
    all_set_up: Condvar,
    /// Clones still to end, by job.
    left: Mutex<BTreeMap<usize, u32>>,
    ended: Condvar,
    /// By job: set to end it.
    ends: BTreeMap<usize, Arc<AtomicBool>>,
}

/// One run of a job file.
pub struct Run<'a> {
    /// The jobs.
    pub jobs: &'a [Job],
    /// What they play.
    pub traces: &'a Traces,
    /// Their clones and files.
    pub layout: &'a Layout,
    /// How asynchronous engines are carried out.
    pub engine: Engine,
    /// Signals and the system.
    pub host: Host<'a>,
    /// When it began: start delays count from here.
    pub begun: Nanos,
    /// Set when a job's end is to end everything.
    pub all_end: AtomicBool,
    /// Of all that is drawn.
    pub seed: u64,
}

/// The jobs of each stage, by their numbers.
pub fn stages(jobs: &[Job]) -> Vec<Vec<usize>> {
    let mut stages: Vec<Vec<usize>> = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        match stages.last_mut() {
            Some(stage) if !job.group.stonewall => stage.push(number),
            _ => stages.push(vec![number]),
        }
    }
    stages
}

/// The seed of one clone.
pub fn seed(base: u64, job: usize, clone: u32) -> u64 {
    let mixed = (base ^ ((job as u64) << 40) ^ (u64::from(clone) << 20))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

impl Run<'_> {
    /// Runs one stage: what each clone gave, in the order of the layout's members.
    pub fn stage(&self, stage: &[usize], media: &mut Media, line: &impl Watcher) -> Vec<Outcome> {
        let members: Vec<(usize, &Member)> = self
            .layout
            .members
            .iter()
            .enumerate()
            .filter(|(_, m)| stage.contains(&m.job))
            .collect();
        let ends: BTreeMap<usize, Arc<AtomicBool>> =
            stage.iter().map(|job| (*job, Arc::default())).collect();
        let mut flows: BTreeMap<u32, Arc<Flow>> = BTreeMap::new();
        let steady = self.steady(stage);
        let mut ready = Vec::new();
        for (_, member) in &members {
            let runner = self.runner(member, media, &ends, &mut flows);
            ready.push(runner.map(|mut runner| {
                runner.own.steady = steady.get(&member.job).cloned();
                runner
            }));
        }
        let board = Board {
            setting_up: Mutex::new((
                ready.iter().filter(|r| r.is_ok()).count(),
                ready.iter().any(Result::is_err),
            )),
            all_set_up: Condvar::new(),
            left: Mutex::new(stage.iter().map(|job| (*job, self.jobs[*job].clones)).collect()),
            ended: Condvar::new(),
            ends,
        };
        let results = std::thread::scope(|scope| {
            let board = &board;
            let threads: Vec<_> = ready
                .into_iter()
                .map(|runner| runner.map(|runner| scope.spawn(move || self.one(runner, board))))
                .collect();
            self.watch(stage, line, || {
                threads.iter().flatten().all(std::thread::ScopedJoinHandle::is_finished)
            });
            let results = threads.into_iter().map(|thread| match thread {
                Ok(thread) => thread.join().unwrap_or(Err(EngineError::Thread.into())),
                Err(error) => Err(error.into()),
            });
            results.collect::<Vec<_>>()
        });
        members.into_iter().map(|(i, _)| i).zip(results).collect()
    }

    /// By job of a stage: what ends it, with those it is reported with, when they are steady.
    pub fn steady(&self, stage: &[usize]) -> BTreeMap<usize, Arc<Steady>> {
        let mut all = BTreeMap::new();
        for group in groups(self.jobs) {
            let Some(rule) = self.jobs[group[0]].steady_state else { continue };
            let steady = Arc::new(Steady::new(rule));
            let here = group.into_iter().filter(|job| stage.contains(job));
            all.extend(here.map(|job| (job, Arc::clone(&steady))));
        }
        all
    }

    fn runner<'a>(
        &'a self,
        member: &'a Member,
        media: &mut Media,
        ends: &BTreeMap<usize, Arc<AtomicBool>>,
        flows: &mut BTreeMap<u32, Arc<Flow>>,
    ) -> Result<Runner<'a>, AccessError> {
        let job = &self.jobs[member.job];
        let mut files = Vec::new();
        if job.engine.kind != Asked::Null {
            for used in &member.uses {
                if job.files.invalidate {
                    media.forget(used.place);
                }
                files.push(media.descriptor(used.place, job)?);
            }
        }
        let flow = job.flow.map(|flow| {
            let shared = flows.entry(flow.id).or_default();
            FlowShare::join(Arc::clone(shared), u64::from(flow.weight), flow.sleep)
        });
        let part = Part {
            job,
            member,
            trace: trace::of(self.traces, self.jobs, member.job, member.clone),
            files,
            block_bytes: media.block_bytes(member.uses.iter().map(|u| u.place), job),
            engine: self.engine,
            seed: seed(job.random.seed.unwrap_or(self.seed), member.job, member.clone),
            ends: Arc::clone(&ends[&member.job]),
        };
        Ok(Runner {
            part,
            own: Own { flow, log: recorder(self.jobs, self.layout, member), steady: None },
        })
    }

    /// One clone on its own thread.
    fn one(&self, runner: Runner<'_>, board: &Board) -> Result<Played, MemberError> {
        sharpen_timers();
        let Runner { part, own } = runner;
        let control = &*self.host.control;
        let mut called_off = false;
        let mut ticket = Ticket { board, is_ready: false };
        let gate = |ready: Result<(), EngineError>| {
            ticket.is_ready = ready.is_ok();
            drop(ticket);
            ready?;
            called_off = !board.all_are_ready() || !self.may_begin(&part, board);
            if called_off { Err(EngineError::Thread) } else { Ok(()) }
        };
        let played = part.run(own, control, gate);
        board.end(part.member.job);
        let failed = played.as_ref().map_or(true, |p| {
            p.main.stopped == Stopped::Failed || p.cut.is_some() || p.bad_count > 0
        });
        self.exit(part.job, failed, &board.ends);
        if called_off {
            return Err(MemberError::NotBegun);
        }
        played
    }

    /// Waits for the job that this one waits for, and for its start; false when it is called off.
    fn may_begin(&self, part: &Part<'_>, board: &Board) -> bool {
        let control = &*self.host.control;
        if let Some(name) = &part.job.group.wait_for {
            let before = &self.jobs[..part.member.job];
            let waited = before.iter().rposition(|job| job.name == *name);
            // A job of an earlier stage is over.
            board.wait_for(waited.unwrap_or(usize::MAX), || is_called_off(control, &part.ends));
        }
        let delay = part.job.group.start_delay;
        let span = delay.max.since(delay.min).0.saturating_add(1);
        let start = self.begun + delay.min + Nanos(part.seed % span);
        let clock = Clock::real();
        while clock.now() < start && !is_called_off(control, &part.ends) {
            std::thread::sleep(Duration::from(start.since(clock.now())).min(LOOK));
        }
        !is_called_off(control, &part.ends)
    }

    /// Ends what the end of a clone of `job` is to end.
    pub fn exit(&self, job: &Job, failed: bool, ends: &BTreeMap<usize, Arc<AtomicBool>>) {
        let exit = job.exit;
        if !(exit.all || (exit.all_on_error && failed)) {
            return;
        }
        for (other, ends) in ends {
            let same_group = self.jobs[*other].group.number == job.group.number;
            if exit.what != ExitWhat::Group || same_group {
                ends.store(true, Relaxed);
            }
        }
        if exit.what == ExitWhat::All {
            self.all_end.store(true, Relaxed);
        }
    }

    /// Shows how far it is until it is over.
    fn watch(&self, stage: &[usize], line: &impl Watcher, is_over: impl Fn() -> bool) {
        let (control, clock): (&Control, _) = (&self.host.control, Clock::real());
        let names: BTreeSet<&str> = stage.iter().map(|j| self.jobs[*j].name.as_str()).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let (begun, before) = (clock.now(), control.bytes.load(Relaxed));
        let time = stage.iter().map(|j| &self.jobs[*j].timing).map(|t| t.ramp + t.runtime).max();
        let bytes: u64 = self
            .layout
            .members
            .iter()
            .filter(|m| stage.contains(&m.job))
            .map(|m| m.loop_bytes)
            .sum();
        while !is_over() {
            std::thread::sleep(LOOK / 5);
            let by_time = time.filter(|t| *t > Nanos::ZERO);
            let (done, whole) = match by_time {
                Some(time) => (clock.now().since(begun).0.min(time.0), time.0),
                None => ((control.bytes.load(Relaxed) - before).min(bytes), bytes),
            };
            line.part(&format!("running {names}"), done / 1000, whole / 1000);
        }
    }
}

/// A clone's promise to be set up. Dropped unready, by an error or a panic, it calls the others
/// off.
struct Ticket<'a> {
    board: &'a Board,
    is_ready: bool,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.board.setting_up.lock().unwrap_or_else(PoisonError::into_inner);
        *state = (state.0 - 1, state.1 || !self.is_ready);
        self.board.all_set_up.notify_all();
    }
}

impl Board {
    /// Waits until every clone is set up or is known never to be; then all go on, or none.
    fn all_are_ready(&self) -> bool {
        let mut state = self.setting_up.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 > 0 {
            state = self.all_set_up.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.1
    }

    fn end(&self, job: usize) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = left.get_mut(&job) {
            *left = left.saturating_sub(1);
        }
        self.ended.notify_all();
    }

    fn wait_for(&self, job: usize, is_called_off: impl Fn() -> bool) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while left.get(&job).is_some_and(|left| *left > 0) && !is_called_off() {
            let waited = self.ended.wait_timeout(left, LOOK);
            left = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A clone's number in the layout and what it gave.
pub type Outcome = (usize, Result<Played, MemberError>);

/// Bytes that a clone asked for.
pub fn moved(outcome: &Outcome) -> u64 {
    let of = |m: &Measurement| m.op(Op::Read).bytes + m.op(Op::Write).bytes;
    outcome.1.as_ref().map_or(0, |p| of(&p.main) + p.back.as_ref().map_or(0, of))
}

/// What the devices counted beside what was asked for; nothing where nothing was.
pub fn counted(counted: &DiskCounters, asked: u64) -> Option<DeviceCount> {
    let moved = counted.read_bytes + counted.written_bytes;
    (asked > 0).then(|| DeviceCount {
        read_bytes: counted.read_bytes,
        written_bytes: counted.written_bytes,
        flushes: counted.flushes,
        share: (moved as f64 / asked as f64).min(1.0),
    })
}
