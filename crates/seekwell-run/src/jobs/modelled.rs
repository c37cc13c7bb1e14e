//! Jobs on a modelled machine: all clones of a stage take turns on one machine and its own clock,
//! and each is measured for itself.

use super::logs::{Noted, recorder};
use super::member::{Played, Requests};
use super::replay::JobReplay;
use super::stage::{MemberError, Outcome, Run, seed};
use super::trace;
use crate::dispatcher;
use crate::replay::bounds as lengths;
use seekwell_io::engine::{Bounds, run_source};
use seekwell_io::measurement::{Failure, FailureKind, Measurement, Stopped};
use seekwell_io::request::{Completion, Op, Request};
use seekwell_io::target::Target;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use seekwell_jobs::job::{Job, OpenSync};
use seekwell_jobs::layout::{Layout, Member};
use seekwell_jobs::play::address::Address;
use seekwell_jobs::play::log::is_whole;
use seekwell_jobs::play::source::pace::{Flow, FlowShare};
use seekwell_jobs::play::source::{Cut, JobSource, Setup};
use seekwell_jobs::play::watched::Watched;
use seekwell_machine::{AnyPart, Machine, Model};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// First step of a clone's series, as of any run's.
const SERIES_STEP: Nanos = Nanos::from_millis(50);
/// What requests of a trace are whole multiples of.
const SECTOR: u32 = 512;

/// The machine of one round; stages find it as those before them left it.
pub struct Modelled<'m> {
    model: &'m Model,
    machine: Machine<AnyPart>,
    /// Where each place of the layout begins.
    bases: Vec<u64>,
}

/// What a clone asks for.
enum Asks {
    Drawn(Box<Watched<JobSource>>),
    Played(Box<Watched<JobReplay>>),
}

impl Asks {
    fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Drawn(drawn) => &mut **drawn,
            Self::Played(played) => &mut **played,
        }
    }

    /// Why it ended early, if it did.
    const fn cut(&self) -> Option<Cut> {
        match self {
            Self::Drawn(drawn) => drawn.source.cut(),
            Self::Played(played) => played.source.cut(),
        }
    }
}

/// CloneState clone.
struct CloneState<'r> {
    job: &'r Job,
    member: &'r Member,
    asks: Asks,
    /// Set when another job's end ends it.
    ends: Arc<AtomicBool>,
    /// When it may begin, once nobody is waited for.
    start: Nanos,
    /// The job that has to end before.
    waits_for: Option<usize>,
    /// When measuring began, or will.
    measures: Option<Nanos>,
    outstanding: u32,
    /// It begins nothing more.
    over: bool,
    measurement: Measurement,
}

/// A request that is outstanding: whose it is, and as its clone knows it.
type Flight = (usize, Request);

/// All clones of a stage as one source.
struct Multiplexer<'r> {
    run: &'r Run<'r>,
    bases: &'r [u64],
    ones: Vec<CloneState<'r>>,
    turn: usize,
    flights: Vec<Option<Flight>>,
    free: Vec<u32>,
    ends: BTreeMap<usize, Arc<AtomicBool>>,
}

impl<'m> Modelled<'m> {
    /// A new machine for the files of a layout, which lie one after the other in it.
    pub fn new(model: &'m Model, layout: &Layout, seed: u64) -> Self {
        Self { model, machine: model.build(seed), bases: layout.bases() }
    }

    /// Runs one stage: what each clone gave, in the order of the layout's members.
    pub fn stage(&mut self, run: &Run<'_>, stage: &[usize]) -> Vec<Outcome> {
        let numbers: Vec<usize> = (0..run.layout.members.len())
            .filter(|n| stage.contains(&run.layout.members[*n].job))
            .collect();
        let ones = match self.clones(run, stage, &numbers) {
            Ok(ones) => ones,
            Err(error) => {
                // Told of the first; the others were not begun.
                let mut error = Some(error);
                let mut why = || error.take().unwrap_or(MemberError::NotBegun);
                return numbers.into_iter().map(|n| (n, Err(why()))).collect();
            }
        };
        let depth: u32 = ones.iter().map(|one| one.job.engine.depth).sum();
        let mut clones = Multiplexer {
            run,
            bases: &self.bases,
            turn: 0,
            flights: vec![None; depth as usize],
            free: (0..depth).collect(),
            ends: ones.iter().map(|one| (one.member.job, Arc::clone(&one.ends))).collect(),
            ones,
        };
        if clones.ones.is_empty() {
            return Vec::new();
        }
        let none = Nanos::ZERO;
        let bounds = Bounds { depth, ramp: none, runtime: none, spin: none };
        let rule = &mut dispatcher(self.model.tags());
        let whole = run_source(&mut clones, bounds, &mut self.machine, rule, &run.host.control);
        let whole = match whole {
            Ok(whole) => whole,
            Err(error) => {
                let failed = |n| (n, Err(MemberError::Engine(error.clone())));
                return numbers.into_iter().map(failed).collect();
            }
        };
        let ended = clones.ones.into_iter().map(|one| Ok(one.end(&whole)));
        numbers.into_iter().zip(ended).collect()
    }

    fn clones<'r>(
        &self,
        run: &'r Run<'r>,
        stage: &[usize],
        numbers: &[usize],
    ) -> Result<Vec<CloneState<'r>>, MemberError> {
        let steady = run.steady(stage);
        let mut flows: BTreeMap<u32, Arc<Flow>> = BTreeMap::new();
        let mut ends: BTreeMap<usize, Arc<AtomicBool>> = BTreeMap::new();
        let mut ones = Vec::with_capacity(numbers.len());
        for number in numbers {
            let member = &run.layout.members[*number];
            let job = &run.jobs[member.job];
            let ends = Arc::clone(ends.entry(member.job).or_default());
            let (log, steady) =
                (recorder(run.jobs, run.layout, member), steady.get(&member.job).cloned());
            let flow = job.flow.map(|flow| {
                let shared = Arc::clone(flows.entry(flow.id).or_default());
                FlowShare::join(shared, u64::from(flow.weight), flow.sleep)
            });
            let seed = seed(job.random.seed.unwrap_or(run.seed), member.job, member.clone);
            let (depth, ramp) = (job.engine.depth, job.timing.ramp);
            let asks = match trace::of(run.traces, run.jobs, member.job, member.clone) {
                Some(trace) => {
                    let longest = lengths(trace.longest_bytes, SECTOR, Some(depth)).1;
                    let ends = Arc::clone(&ends);
                    let played = JobReplay::new(job, Arc::clone(trace), (SECTOR, longest), ends)?;
                    Asks::Played(Box::new(Watched::new(played, ramp, log, steady)))
                }
                None => {
                    let setup = Setup {
                        job,
                        regions: member.uses.iter().map(|u| u.region).collect(),
                        loop_bytes: member.loop_bytes,
                        depth,
                        seed,
                        flow,
                        ends: Arc::clone(&ends),
                    };
                    let drawn = JobSource::new(setup);
                    Asks::Drawn(Box::new(Watched::new(drawn, ramp, log, steady)))
                }
            };
            let delay = job.group.start_delay;
            let span = delay.max.since(delay.min).0.saturating_add(1);
            let waits_for = job.group.wait_for.as_ref().and_then(|name| {
                let before = run.jobs[..member.job].iter();
                before.into_iter().rposition(|job| job.name == *name)
            });
            ones.push(CloneState {
                job,
                member,
                asks,
                ends,
                start: (delay.min + Nanos(seed % span)).max(self.machine.now()),
                waits_for,
                measures: None,
                outstanding: 0,
                over: false,
                measurement: Measurement::new(SERIES_STEP),
            });
        }
        Ok(ones)
    }
}

impl CloneState<'_> {
    /// What it asks for next, within its time.
    fn next(&mut self, now: Nanos) -> Next {
        if self.over || self.ends.load(Relaxed) {
            return Next::Done;
        }
        if now < self.start {
            return Next::NotBefore(self.start);
        }
        let timing = &self.job.timing;
        let measures = *self.measures.get_or_insert(now + timing.ramp);
        let end = match timing.runtime {
            Nanos::ZERO => Nanos::MAX,
            runtime => measures + runtime,
        };
        if now >= end {
            return Next::Done;
        }
        match self.asks.source().next(now) {
            Next::NotBefore(at) => Next::NotBefore(at.min(end)),
            next => next,
        }
    }

    /// Counts a request that is done.
    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        self.outstanding -= 1;
        self.asks.source().completed(request, submitted, completion);
        if is_whole(request, completion) {
            if let Some(started) = self.measures.filter(|started| completion.at >= *started) {
                self.measurement.record(request, submitted, completion.at, started);
            }
            return;
        }
        let kind = match completion.result {
            Ok(moved) => FailureKind::Short { moved },
            Err(errno) => FailureKind::Errno { errno },
        };
        let failure = Failure { op: request.op, offset: request.offset, len: request.len, kind };
        self.measurement.failed += 1;
        self.measurement.first_failure.get_or_insert(failure);
        if !self.asks.source().tolerates(&failure) {
            self.measurement.stopped = Stopped::Failed;
            self.over = true;
        }
    }

    /// What it gave; the processor of the machine is that of all together.
    fn end(self, whole: &Measurement) -> Played {
        let mut main = self.measurement;
        (main.cpu_user, main.cpu_system) = (whole.cpu_user, whole.cpu_system);
        if main.stopped == Stopped::Finished && !self.over {
            main.stopped = whole.stopped;
        }
        match self.asks {
            Asks::Drawn(drawn) => played(main, *drawn),
            Asks::Played(replayed) => played(main, *replayed),
        }
    }
}

fn played<S: Requests>(main: Measurement, mut watched: Watched<S>) -> Played {
    let recorded = watched.take_log().map(|(recorder, _)| recorder.finish());
    let (source, steady) = (watched.source, watched.steady);
    let (cut, found_depth) = (source.cut(), source.found_depth());
    let (_, replayed) = source.end();
    Played {
        main,
        back: None,
        cut,
        found_depth,
        end_sync: None,
        bad: Vec::new(),
        bad_count: 0,
        checked: 0,
        log: recorded.map(|recorded| Noted { recorded, epoch_ms: 0 }),
        steady,
        replayed,
    }
}

impl Multiplexer<'_> {
    /// Whether some clone of a job is not over yet.
    fn is_running(&self, job: usize) -> bool {
        self.ones.iter().any(|one| one.member.job == job && !one.has_ended())
    }

    /// Hands a clone's request to the machine.
    fn hand_out(&mut self, index: usize, request: Request) -> Request {
        let one = &mut self.ones[index];
        one.outstanding += 1;
        let (file, offset) = Address::new(one.member.uses.len()).split(request.offset);
        let base = self.bases[one.member.uses[file as usize].place];
        let durable = one.job.durability.open != OpenSync::None && request.op == Op::Write;
        let id = self.free.pop().expect("no clone has more outstanding than its depth");
        self.flights[id as usize] = Some((index, request));
        let offset = if request.op == Op::Flush { 0 } else { base + offset };
        Request { offset, id, durable: request.durable || durable, ..request }
    }

    /// A clone begins nothing more; what its end ends, ends.
    fn close(&mut self, index: usize) {
        let one = &mut self.ones[index];
        one.over = true;
        let failed = one.measurement.stopped == Stopped::Failed || one.asks.cut().is_some();
        self.run.exit(one.job, failed, &self.ends);
    }
}

impl CloneState<'_> {
    const fn has_ended(&self) -> bool {
        self.over && self.outstanding == 0
    }
}

impl Source for Multiplexer<'_> {
    fn next(&mut self, now: Nanos) -> Next {
        let mut earliest: Option<Nanos> = None;
        let mut step = 0;
        while step < self.ones.len() {
            let index = (self.turn + step) % self.ones.len();
            step += 1;
            let one = &self.ones[index];
            if one.over {
                // What is outstanding may be waited for.
                if one.outstanding > 0 {
                    earliest = earliest.or(Some(Nanos::MAX));
                }
                continue;
            }
            let held = one.measures.is_none() && one.waits_for.is_some_and(|j| self.is_running(j));
            if held || one.outstanding == one.job.engine.depth {
                earliest = earliest.or(Some(Nanos::MAX));
                continue;
            }
            match self.ones[index].next(now) {
                Next::Request(request) => {
                    self.turn = index + 1;
                    return Next::Request(self.hand_out(index, request));
                }
                Next::NotBefore(at) => earliest = Some(earliest.map_or(at, |e| e.min(at))),
                Next::Done => {
                    self.close(index);
                    // Others may have waited for it.
                    (step, earliest) = (0, None);
                }
            }
        }
        earliest.map_or(Next::Done, Next::NotBefore)
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        if let Some((index, own)) = self.flights[request.id as usize] {
            self.ones[index].asks.source().submitted(&own, at);
        }
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        let Some((index, own)) = self.flights[request.id as usize].take() else { return };
        self.free.push(request.id);
        let was_over = self.ones[index].over;
        self.ones[index].completed(&own, submitted, completion);
        if self.ones[index].over && !was_over {
            self.close(index);
        }
    }

    /// Each clone decides for itself.
    fn tolerates(&mut self, _: &Failure) -> bool {
        true
    }
}
