//! Jobs on a modelled machine: all clones of a stage take turns on one machine and its own clock,
//! and each is measured for itself.

use super::member::{MemberError, Outcome, Part, Played};
use super::stage::{Ends, Known, Run, ends};
use super::zones;
use seekwell_io::dispatch::dispatcher;
use seekwell_io::engine::{Bounds, run_source};
use seekwell_io::measurement::{Failure, Measurement, Stopped};
use seekwell_io::request::{Completion, Op, Request};
use seekwell_io::target::Target;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use seekwell_job::job::Job;
use seekwell_job::job::OpenSync;
use seekwell_job::layout::Layout;
use seekwell_job::play::address::Address;
use seekwell_job::play::zones::SharedZones;
use seekwell_machine::{AnyPart, Machine, Model};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// First step of a clone's series, as of any run's.
const SERIES_STEP: Nanos = Nanos::from_millis(50);
/// What requests of a trace are whole multiples of.
const SECTOR: u32 = 512;

/// A machine; stages find it as those before them left it.
pub struct Modelled<'m> {
    model: &'m Model,
    machine: Machine<AnyPart>,
    /// Where each place of the layout begins.
    bases: Vec<u64>,
    /// Those of its drive, if the jobs follow them.
    zones: Option<Arc<SharedZones>>,
}

struct CloneState<'r> {
    part: Part<'r>,
    /// When it may begin, once the jobs it waits for have ended.
    start: Nanos,
    /// It has been asked for requests.
    begun: bool,
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
    clones: Vec<CloneState<'r>>,
    turn: usize,
    flights: Vec<Option<Flight>>,
    free: Vec<u32>,
    ends: Ends,
}

impl<'m> Modelled<'m> {
    /// A new machine for the files of a layout, which lie one after the other in it.
    pub fn new(model: &'m Model, jobs: &[Job], layout: &Layout, seed: u64) -> Self {
        let zones = zones::modelled(model, jobs, layout);
        Self { model, machine: model.build(seed), bases: layout.bases(), zones }
    }

    /// Runs one stage: what each clone gave, in the order of the layout's members.
    pub fn stage(&mut self, run: &Run<'_>, stage: &[usize]) -> Vec<Outcome> {
        let ends = ends(stage);
        let known = |number, member: &_, job: &_| Known {
            block_bytes: SECTOR,
            zones: zones::of(|_| self.zones.as_ref(), number, member, job),
        };
        let parts = run.parts(stage, &ends, known);
        let (numbers, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        match parts.into_iter().collect::<Result<Vec<_>, _>>().and_then(|p| self.play(run, p, ends))
        {
            Ok(played) => numbers.into_iter().zip(played.into_iter().map(Ok)).collect(),
            Err(error) => {
                // Told of the first; the others were not begun.
                let mut error = Some(error);
                let mut why = || error.take().unwrap_or(MemberError::NotBegun);
                numbers.into_iter().map(|n| (n, Err(why()))).collect()
            }
        }
    }

    fn play(
        &mut self,
        run: &Run<'_>,
        parts: Vec<Part<'_>>,
        ends: Ends,
    ) -> Result<Vec<Played>, MemberError> {
        let now = self.machine.now();
        let clones: Vec<CloneState<'_>> =
            parts.into_iter().map(|part| CloneState::new(part, now)).collect();
        let depth: u32 = clones.iter().map(|one| one.part.job.engine.depth).sum();
        if depth == 0 {
            return Ok(Vec::new());
        }
        let (flights, free) = (vec![None; depth as usize], (0..depth).collect());
        let mut all = Multiplexer { run, bases: &self.bases, clones, turn: 0, flights, free, ends };
        let none = Nanos::ZERO;
        let bounds = Bounds { depth, ramp: none, runtime: none, spin: none };
        let rule = &mut dispatcher(self.model.tags());
        let whole = run_source(&mut all, bounds, &mut self.machine, rule, run.host.control)?;
        if whole.stopped == Stopped::Finished {
            assert_eq!(all.free.len(), depth as usize, "a stage ends when all requests are done");
            assert!(
                all.clones.iter().all(CloneState::has_ended),
                "a stage ends when all clones have"
            );
        }
        Ok(all.clones.into_iter().map(|one| one.end(&whole)).collect())
    }
}

impl<'r> CloneState<'r> {
    fn new(part: Part<'r>, now: Nanos) -> Self {
        let start = part.delay.max(now);
        let measurement = Measurement::new(SERIES_STEP);
        Self { part, start, begun: false, measures: None, outstanding: 0, over: false, measurement }
    }
}

impl CloneState<'_> {
    /// What it asks for next, within its time.
    fn next(&mut self, now: Nanos) -> Next {
        debug_assert!(!self.over && self.outstanding < self.part.job.engine.depth);
        if self.part.ends.load(Relaxed) {
            return Next::Done;
        }
        if now < self.start {
            return Next::NotBefore(self.start);
        }
        self.begun = true;
        self.measures = self.part.source.ramp.end(now);
        let end = match (self.measures, self.part.job.timing.runtime) {
            (Some(measures), runtime @ Nanos(1..)) => measures + runtime,
            _ => Nanos::MAX,
        };
        if now >= end {
            return Next::Done;
        }
        match self.part.source.next(now) {
            Next::NotBefore(at) => Next::NotBefore(at.min(end)),
            next => next,
        }
    }

    /// Counts a request that is done.
    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        debug_assert!(self.outstanding > 0 && submitted <= completion.at);
        self.outstanding -= 1;
        self.part.source.completed(request, submitted, completion);
        match Failure::of(request, completion) {
            None => {
                if let Some(started) = self.measures.filter(|started| completion.at >= *started) {
                    self.measurement.record(request, submitted, completion.at, started);
                }
            }
            Some(failure) => {
                self.measurement.fail(failure);
                if !self.part.source.tolerates(&failure) {
                    self.measurement.stopped = Stopped::Failed;
                    self.over = true;
                }
            }
        }
    }

    /// It begins nothing more, and nothing is outstanding.
    const fn has_ended(&self) -> bool {
        self.over && self.outstanding == 0
    }

    /// What it gave; the processor of the machine is that of all together.
    fn end(self, whole: &Measurement) -> Played {
        let mut main = self.measurement;
        (main.cpu_user, main.cpu_system) = (whole.cpu_user, whole.cpu_system);
        if main.stopped == Stopped::Finished && !self.over {
            main.stopped = whole.stopped;
        }
        Played::of(main, self.part.source, |_| 0).0
    }
}

impl Multiplexer<'_> {
    /// Whether some clone of a job is not over yet.
    fn is_running(&self, job: usize) -> bool {
        self.clones.iter().any(|one| one.part.member.job == job && !one.has_ended())
    }

    /// Hands a clone's request to the machine.
    fn hand_out(&mut self, index: usize, request: Request) -> Request {
        let one = &mut self.clones[index];
        one.outstanding += 1;
        let Part { job, member, .. } = &one.part;
        let (file, offset) = Address::new(member.uses.len()).split(request.offset);
        let place = member.uses[file as usize].place;
        let durable = job.durability.open != OpenSync::None && request.op == Op::Write;
        let id = self.free.pop().expect("no clone has more outstanding than its depth");
        let before = self.flights[id as usize].replace((index, request));
        debug_assert!(before.is_none(), "a free number is nobody's");
        let end = offset + u64::from(request.len);
        let is_inside = end <= self.run.layout.places[place].end;
        debug_assert!(request.op == Op::Flush || is_inside, "{request:?} is beyond its file");
        let offset = if request.op == Op::Flush { 0 } else { self.bases[place] + offset };
        let durable = request.durable || durable;
        Request { offset, id, durable, queue: index as u16, ..request }
    }

    /// A clone begins nothing more; what its end ends, ends.
    fn close(&mut self, index: usize) {
        let one = &mut self.clones[index];
        one.over = true;
        let cut = one.part.source.source.cut();
        let failed = one.measurement.stopped == Stopped::Failed || cut.is_some();
        self.run.exit(one.part.job, failed, &self.ends);
    }
}

impl Source for Multiplexer<'_> {
    fn next(&mut self, now: Nanos) -> Next {
        let mut earliest: Option<Nanos> = None;
        let mut step = 0;
        while step < self.clones.len() {
            let index = (self.turn + step) % self.clones.len();
            step += 1;
            let one = &self.clones[index];
            if one.over {
                // What is outstanding may be waited for.
                if one.outstanding > 0 {
                    earliest = earliest.or(Some(Nanos::MAX));
                }
                continue;
            }
            let waits_for = one.part.waits_for.filter(|_| !one.begun);
            let is_held = waits_for.is_some_and(|job| self.is_running(job));
            if is_held || one.outstanding == one.part.job.engine.depth {
                earliest = earliest.or(Some(Nanos::MAX));
                continue;
            }
            match self.clones[index].next(now) {
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
            self.clones[index].part.source.submitted(&own, at);
        }
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        let flight = self.flights[request.id as usize].take();
        let (index, own) = flight.expect("a request was handed out, and is done once");
        self.free.push(request.id);
        let was_over = self.clones[index].over;
        self.clones[index].completed(&own, submitted, completion);
        if self.clones[index].over && !was_over {
            self.close(index);
        }
    }

    /// Each clone decides for itself.
    fn tolerates(&mut self, _: &Failure) -> bool {
        true
    }
}
