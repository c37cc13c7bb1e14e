//! Jobs that run at the same time: from one `stonewall` to the next.

use super::group::groups;
use super::media::Media;
use super::member::{MemberError, Outcome, Part, Played};
use super::noted::recorder;
use super::replay::JobReplay;
use super::requests::Requests;
use super::trace::{self, Traces};
use super::zones;
use crate::replay::bounds;
use crate::{Host, Watcher};
use seekwell_access::AccessError;
use seekwell_io::clock::Clock;
use seekwell_io::engine::{EngineError, sharpen_timers};
use seekwell_io::gate::{Gate, Ticket};
use seekwell_io::measurement::Stopped;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_job::job::{EngineKind, ExitWhat, Job};
use seekwell_job::layout::{Layout, Member, Use};
use seekwell_job::play::ramp::Ramp;
use seekwell_job::play::source::pace::{Flow, FlowShare};
use seekwell_job::play::source::{JobSource, Setup};
use seekwell_job::play::steady::Steady;
use seekwell_job::play::watched::Watched;
use seekwell_job::play::zones::Follow;
use seekwell_sys::thread::start_scoped;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// Between two looks at flags and at how far it is.
const LOOK: Duration = Duration::from_millis(50);

/// By job of a stage: set to end it.
pub type Ends = BTreeMap<usize, Arc<AtomicBool>>;

/// Everything that clones share.
struct Board {
    /// Clones still to end, by job.
    left: Mutex<BTreeMap<usize, u32>>,
    ended: Condvar,
    ends: Ends,
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

/// What is known of the files of a clone.
pub struct Known {
    /// What requests of a trace have to be whole multiples of, in bytes.
    pub block_bytes: u32,
    /// The zones of each, where they are followed.
    pub zones: Vec<Follow>,
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

/// What ends the jobs of a stage.
pub fn ends(stage: &[usize]) -> Ends {
    stage.iter().map(|job| (*job, Arc::default())).collect()
}

impl Run<'_> {
    /// Runs one stage: what each clone gave, in the order of the layout's members.
    pub fn stage(&self, stage: &[usize], media: &mut Media, line: &impl Watcher) -> Vec<Outcome> {
        let ends = ends(stage);
        let parts = self.parts(stage, &ends, |number, member, job| Known {
            block_bytes: media.block_bytes(&member.uses, job),
            zones: zones::of(|place| media.media[place].zones.as_ref(), number, member, job),
        });
        let gate = Gate::default();
        let tickets: Vec<Ticket<'_>> = parts.iter().map(|_| gate.ticket()).collect();
        let mut ready = Vec::with_capacity(parts.len());
        for ((number, part), ticket) in parts.into_iter().zip(tickets) {
            let files = part.and_then(|part| Ok((self.files(&part, media)?, part, ticket)));
            ready.push((number, files));
        }
        let left = stage.iter().map(|job| (*job, self.jobs[*job].clones)).collect();
        let board = Board { left: Mutex::new(left), ended: Condvar::new(), ends };
        std::thread::scope(|scope| {
            let board = &board;
            let begin = |(files, part, ticket)| {
                start_scoped(scope, "job", || self.one(files, part, ticket, board))
                    .map_err(|error| EngineError::from(error).into())
            };
            let threads: Vec<_> =
                ready.into_iter().map(|(number, ready)| (number, ready.and_then(begin))).collect();
            // One that could not be set up is over.
            let is_over = |(_, thread): &(_, Result<ScopedJoinHandle<'_, _>, _>)| {
                thread.as_ref().map_or(true, ScopedJoinHandle::is_finished)
            };
            self.watch(stage, line, || threads.iter().all(is_over));
            let join = |thread: Result<ScopedJoinHandle<'_, _>, _>| {
                thread?.join().unwrap_or(Err(EngineError::Thread.into()))
            };
            threads.into_iter().map(|(number, thread)| (number, join(thread))).collect()
        })
    }

    /// The clones of a stage with their numbers in the layout.
    pub fn parts(
        &self,
        stage: &[usize],
        ends: &Ends,
        known: impl Fn(usize, &Member, &Job) -> Known,
    ) -> Vec<(usize, Result<Part<'_>, MemberError>)> {
        let steady = self.steady(stage);
        let mut flows: BTreeMap<u32, Arc<Flow>> = BTreeMap::new();
        let mut ramped: BTreeMap<u32, Arc<AtomicU64>> = BTreeMap::new();
        let members = self.layout.members.iter().enumerate();
        let part = |(number, member): (usize, &'_ Member)| {
            let job = &self.jobs[member.job];
            let flow = job.flow.map(|flow| {
                let shared = Arc::clone(flows.entry(flow.id).or_default());
                FlowShare::join(shared, u64::from(flow.weight), flow.sleep)
            });
            let moved = match job.group.reporting {
                true => Arc::clone(ramped.entry(job.group.number).or_default()),
                false => Arc::default(),
            };
            let ramp = Ramp::new(&job.timing, moved);
            let steady = steady.get(&member.job).cloned();
            let ends = Arc::clone(&ends[&member.job]);
            (number, self.part(number, ends, flow, (ramp, steady), known(number, member, job)))
        };
        members.filter(|(_, m)| stage.contains(&m.job)).map(part).collect()
    }

    fn part(
        &self,
        number: usize,
        ends: Arc<AtomicBool>,
        flow: Option<FlowShare>,
        (ramp, steady): (Ramp, Option<Arc<Steady>>),
        Known { block_bytes, zones }: Known,
    ) -> Result<Part<'_>, MemberError> {
        let member = &self.layout.members[number];
        let job = &self.jobs[member.job];
        let depth = job.engine.depth;
        let seed = self.seed_of(member);
        let sharing =
            |m: &&Member| self.jobs[m.job].buffers.dedupe.is_some_and(|dedupe| dedupe.is_shared());
        let sharing = match sharing(&member) {
            true => self.layout.members.iter().filter(sharing).map(|m| self.seed_of(m)).collect(),
            false => Vec::new(),
        };
        let (longest, requests) = match trace::of(self.traces, self.jobs, member.job, member.clone)
        {
            Some(trace) => {
                let longest = bounds(trace.longest_bytes, block_bytes, Some(depth)).1;
                let (trace, ends) = (Arc::clone(trace), Arc::clone(&ends));
                let played = JobReplay::new(job, trace, (block_bytes, longest), ends)?;
                (longest, Requests::Played(Box::new(played)))
            }
            None => {
                let drawn = JobSource::new(Setup {
                    job,
                    regions: member.uses.iter().map(|u| u.region).collect(),
                    loop_bytes: match job.extent.io_size {
                        None if !zones.is_empty() => {
                            let whole = zones.iter().map(Follow::capacity_bytes).sum();
                            member.loop_bytes.min(whole)
                        }
                        _ => member.loop_bytes,
                    },
                    zones,
                    depth,
                    seed,
                    flow,
                    ramp: ramp.clone(),
                    ends: Arc::clone(&ends),
                });
                (job.max_block().max(1), Requests::Drawn(Box::new(drawn)))
            }
        };
        let log = recorder(self.jobs, self.layout, member);
        let delay = job.group.start_delay;
        let span = delay.max.since(delay.min).0.saturating_add(1);
        let before = &self.jobs[..member.job];
        let waited = |name: &String| before.iter().rposition(|job| job.name == *name);
        Ok(Part {
            job,
            member,
            seed,
            sharing,
            longest,
            source: Watched::new(requests, ramp, log, steady),
            ends,
            waits_for: job.group.wait_for.as_ref().and_then(waited),
            delay: delay.min + Nanos(seed % span),
        })
    }

    /// The seed of a clone.
    fn seed_of(&self, member: &Member) -> u64 {
        let base = self.jobs[member.job].random.seed.unwrap_or(self.seed);
        seed(base, member.job, member.clone)
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

    /// The files of a clone, opened as its job asks for.
    fn files(&self, part: &Part<'_>, media: &mut Media) -> Result<Vec<Arc<OwnedFd>>, AccessError> {
        let Part { job, member, .. } = part;
        if job.engine.kind == EngineKind::Null {
            return Ok(Vec::new());
        }
        let one = |used: &Use| {
            let place = &self.layout.places[used.place];
            media.assert_usable(used, job);
            if job.files.invalidate {
                media.forget(used.place);
            }
            media.descriptor(used.place, job).map_err(|source| {
                let path = place.path.clone();
                AccessError::Io { what: "opening", path, source }
            })
        };
        member.uses.iter().map(one).collect()
    }

    /// One clone on its own thread.
    fn one(
        &self,
        files: Vec<Arc<OwnedFd>>,
        part: Part<'_>,
        ticket: Ticket<'_>,
        board: &Board,
    ) -> Result<Played, MemberError> {
        sharpen_timers();
        let (job, number) = (part.job, part.member.job);
        let played = part.open(files, self.engine).map_err(MemberError::from).and_then(|clone| {
            match ticket.pass() && self.may_begin(&clone.part, board) {
                true => Ok(clone.run(self.host.control)?),
                false => Err(MemberError::NotBegun),
            }
        });
        board.end(number);
        let failed = played.as_ref().map_or(true, |p| {
            p.main.stopped == Stopped::Failed || p.cut.is_some() || p.bad_count > 0
        });
        self.exit(job, failed, &board.ends);
        played
    }

    /// Waits for the job that this one waits for, and for its start; false when it is called off.
    fn may_begin(&self, part: &Part<'_>, board: &Board) -> bool {
        let is_called_off = || self.host.control.stop.load(Relaxed) || part.ends.load(Relaxed);
        if let Some(job) = part.waits_for {
            // A job of an earlier stage is over.
            board.wait_for(job, is_called_off);
        }
        let (clock, start) = (Clock::real(), self.begun + part.delay);
        while clock.now() < start && !is_called_off() {
            std::thread::sleep(Duration::from(start.since(clock.now())).min(LOOK));
        }
        !is_called_off()
    }

    /// Ends what the end of a clone of `job` is to end.
    pub fn exit(&self, job: &Job, failed: bool, ends: &Ends) {
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
        let (control, clock) = (self.host.control, Clock::real());
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

impl Board {
    fn end(&self, job: usize) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let clones = left.get_mut(&job).filter(|clones| **clones > 0);
        *clones.expect("each clone of a stage ends once") -= 1;
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
