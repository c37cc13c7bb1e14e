//! Workloads and traces on a modelled machine; traces on a real target too.

use super::{Drawn, Pace, Probed, Shape};
use crate::error::PlayError;
use seekwell_io::dispatch::{Dispatcher, dispatcher};
use seekwell_io::engine::{Bounds, Control, run_source};
use seekwell_io::measurement::{Failure, Measurement, OpMeasurement};
use seekwell_io::request::{Completion, Op, Request};
use seekwell_io::target::Target;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{self, Generator, Next, Pattern, Source, Together, Workload};
use seekwell_machine::Model;
use seekwell_trace::error::TraceError;
use seekwell_trace::record::Record;
use seekwell_trace::replay::{
    Closed, Dependent, Feed, Fidelity, Fit, Moment, Picked, Placing, Survey, survey,
};
use seekwell_trace::shipped::Shipped;
use seekwell_trace::source::{About, Tables, TraceSource};

/// The first request of a dependent trace comes this long after the target's clock is read.
const LEAD: Nanos = Nanos::from_millis(1);

/// Runs a drawn workload; what is counted is its own requests, not the writes beside it.
pub fn drawn(
    model: &Model,
    drawn: &Drawn,
    seed: u64,
    control: &Control,
) -> Result<Measurement, PlayError> {
    let capacity = model.capacity();
    let region = match drawn.region_bytes {
        0 => capacity,
        bytes => bytes.min(capacity),
    };
    let (read_percent, bytes, depth, streams) = drawn.shape.requests(model);
    let pattern = match drawn.shape {
        Shape::Random { .. } => Pattern::Random,
        _ => Pattern::Sequential,
    };
    let closed = |pattern, read_percent, bytes, depth, threads| Workload {
        runtime_ns: drawn.runs,
        requests: drawn.requests.div_ceil(u64::from(streams)),
        seed,
        threads,
        ..Workload::closed(pattern, read_percent, bytes, depth, region)
    };
    let own = closed(pattern, read_percent, bytes, depth, streams);
    let thinks = drawn.thinks.and_then(|work| model.host().work_ns.get(work).copied());
    let member = |workload: &Workload, thread, think: f64| {
        let source = Thinking::new(Generator::new(workload, thread), Nanos(think as u64));
        (source, workload.pace.depth())
    };
    let mut members: Vec<_> =
        (0..streams).map(|stream| member(&own, stream, thinks.unwrap_or(0.0))).collect();
    if let Some((depth, bytes)) = drawn.beside_writes {
        members.push(member(&closed(Pattern::Random, 0, bytes, depth, 2), 1, 0.0));
    }
    let mut source = Together::new(members);
    let bounds = Bounds { depth: source.depth(), ..Bounds::of(&own) };
    let mut machine = model.build(seed);
    let mut dispatcher = dispatcher(model.tags());
    Ok(run_source(&mut source, bounds, &mut machine, &mut dispatcher, control)?)
}

/// Runs a probe beside its background: what is counted of the probe, and all writes a second.
pub fn probed(
    model: &Model,
    probed: &Probed,
    seed: u64,
    control: &Control,
) -> Result<(Measurement, f64), PlayError> {
    /// The most requests of the probe that wait: more than any that a drive keeps up with.
    const WAITING: u32 = 1024;
    let Probed { probe_per_s, background_per_s, background_read_percent, .. } = *probed;
    let queue = |thread: u32, read_percent: u8, requests_per_s: f64, depth: u32| {
        let workload = Workload {
            pace: workload::Pace::Open { requests_per_s, poisson: true, depth },
            threads: PROBES + probed.threads,
            seed,
            ramp_ns: probed.ramp,
            runtime_ns: probed.runs,
            ..Workload::closed(Pattern::Random, read_percent, 4096, depth, model.capacity())
        };
        (Generator::new(&workload, thread), depth)
    };
    let each = f64::from(probed.threads);
    let mut members =
        vec![queue(0, 100, probe_per_s / 2.0, WAITING), queue(1, 0, probe_per_s / 2.0, WAITING)];
    members.extend((0..probed.threads).map(|thread| {
        queue(PROBES + thread, background_read_percent, background_per_s / each, probed.depth)
    }));
    let mut machine = model.build(seed);
    let all = Together::new(members);
    let bounds =
        Bounds { depth: all.depth(), ramp: probed.ramp, runtime: probed.runs, spin: Nanos::ZERO };
    let mut source = Probing { all, from: probed.ramp, ops: Default::default() };
    let mut dispatcher = dispatcher(model.tags());
    let mut measured = run_source(&mut source, bounds, &mut machine, &mut dispatcher, control)?;
    let writes = measured.op(Op::Write).requests as f64;
    measured.ops = source.ops;
    let per_s = writes / measured.elapsed.as_secs_f64();
    Ok((measured, per_s))
}

/// Members of [`Probing`] that are the probe: its reads and its writes.
const PROBES: u32 = 2;

/// A probe and its background, and what became of the probe's requests.
struct Probing {
    all: Together<Generator>,
    /// Requests wanted before this do not count.
    from: Nanos,
    ops: [OpMeasurement; 4],
}

impl Source for Probing {
    fn next(&mut self, now: Nanos) -> Next {
        self.all.next(now)
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        self.all.submitted(request, at);
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        if request.id < PROBES
            && let Some(wanted) = request.wanted.filter(|wanted| *wanted >= self.from)
        {
            let op = &mut self.ops[request.op as usize];
            op.requests += 1;
            op.bytes += u64::from(request.len);
            op.service.record(completion.at.since(submitted));
            op.response.record(completion.at.since(wanted));
        }
        self.all.completed(request, submitted, completion);
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Medium {
    pub bytes: u64,
    /// Addresses and lengths are multiples of this.
    pub block: u32,
    pub writes: bool,
    pub depth: u32,
    /// Longer reads and writes are split.
    pub longest: u32,
}

impl Medium {
    /// All of a modelled machine.
    pub const fn of(model: &Model) -> Self {
        let bytes = model.capacity();
        Self { bytes, block: 512, writes: true, depth: 1024, longest: u32::MAX }
    }

    fn longest(&self, survey: &Survey) -> u32 {
        let longest = survey.devices.first().map_or(0, |device| device.longest_bytes);
        // Placing may make a request longer by a block at each end.
        (longest.next_multiple_of(self.block) + 2 * self.block).min(self.longest)
    }
}

/// A shipped trace that has been looked through.
pub struct Playing {
    trace: Shipped,
    pub requests: u64,
    /// Records that are read of it: several of them are one request where the kernel merged them.
    records: u64,
    survey: Survey,
}

impl Playing {
    /// Looks through the first requests of a trace.
    pub fn survey(trace: &str, most: u64) -> Result<Self, PlayError> {
        let missing = || PlayError::Missing { why: format!("there is no trace {trace}") };
        let trace = Shipped::named(trace).ok_or_else(missing)?;
        let mut first = First { source: trace.open()?, left: most, one_program: false };
        let survey = survey(&mut first, Moment::Queue)?;
        let records = most - first.left;
        Ok(Self { trace, requests: survey.total(), records, survey })
    }

    /// Keeps this share of it, from its beginning.
    pub fn shorten(&mut self, share: f64) {
        let part = |of: u64| (of as f64 * share).ceil() as u64;
        (self.requests, self.records) = (part(self.requests), part(self.records));
    }

    /// How many of its requests this medium gets.
    pub fn on(&self, medium: &Medium) -> u64 {
        let device = self.survey.devices.first().copied().unwrap_or_default();
        if medium.writes { self.requests } else { device.requests[0] }
    }

    /// Plays it to its end. Its addresses shrink evenly to a target smaller than they reach. What
    /// was thought between requests is thought `speed` times as fast.
    pub fn play<T: Target, D: Dispatcher>(
        &self,
        medium: &Medium,
        (pace, speed): (Pace, f64),
        target: &mut T,
        dispatcher: &mut D,
        control: &Control,
    ) -> Result<Measurement, PlayError> {
        let one_program = pace == Pace::OneProgram;
        let first = First { source: self.trace.open()?, left: self.records, one_program };
        let mut feed = Feed::start(Box::new(first), self.picked(medium, pace)?)?;
        feed.peek();
        // The bound of lateness does not count here: nothing is due at a time.
        let fidelity = Fidelity::new(medium.depth, Nanos::MAX);
        let bounds = Bounds {
            depth: medium.depth,
            ramp: Nanos::ZERO,
            runtime: Nanos::ZERO,
            spin: Nanos::ZERO,
        };
        let (measured, feed) = match pace {
            Pace::Depth(_) | Pace::RecordedDepth => {
                let depth = if let Pace::Depth(depth) = pace { Some(depth) } else { None };
                let mut source = Closed::new(feed, depth, fidelity);
                (run_source(&mut source, bounds, target, dispatcher, control)?, source.finish().0)
            }
            Pace::Dependent | Pace::OneProgram => {
                let mut source = Dependent::new(feed, target.now() + LEAD, speed, fidelity);
                (run_source(&mut source, bounds, target, dispatcher, control)?, source.finish().0)
            }
        };
        feed.finish()?;
        why_ended(&measured).map_or(Ok(measured), |why| Err(PlayError::Ended { why }))
    }

    fn picked(&self, medium: &Medium, pace: Pace) -> Result<Picked, PlayError> {
        let device = self.survey.devices.first().copied().unwrap_or_default();
        let is_dependent = matches!(pace, Pace::Dependent | Pace::OneProgram);
        let fit = if device.end_bytes > medium.bytes { Fit::Scale } else { Fit::Fail };
        let (end, longest) = (device.end_bytes, device.longest_bytes);
        Ok(Picked {
            device: None,
            moment: Moment::Queue,
            first: self.survey.first,
            writes: medium.writes,
            placing: Placing::new(fit, medium.block, end, longest, medium.bytes)?,
            longest_bytes: medium.longest(&self.survey),
            untimed: !is_dependent,
            dependencies: is_dependent,
            device_shift: None,
        })
    }

    /// The longest request there will be.
    pub fn longest(&self, medium: &Medium) -> u32 {
        medium.longest(&self.survey)
    }
}

/// Why a trace was not played to its end, if it was not.
fn why_ended(measured: &Measurement) -> Option<String> {
    if measured.abandoned > 0 {
        return Some(format!("{} requests never completed", measured.abandoned));
    }
    let failure = measured.first_failure.as_ref()?;
    let Failure { op, offset, len, kind } = failure;
    Some(format!("a {} of {len} bytes at byte {offset} failed: {kind}", op.name()))
}

/// The first requests of a trace.
struct First {
    source: Box<dyn TraceSource + Send>,
    left: u64,
    /// Whether all are those of one task.
    one_program: bool,
}

impl TraceSource for First {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        if self.left == 0 {
            return Ok(());
        }
        let before = out.len();
        self.source.read(out)?;
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        out.truncate(before.saturating_add(most));
        self.left -= (out.len() - before) as u64;
        if self.one_program {
            out[before..].iter_mut().for_each(|record| record.pid = 0);
        }
        Ok(())
    }

    fn about(&self) -> &About {
        self.source.about()
    }

    fn tables(&self) -> &Tables {
        self.source.tables()
    }
}

/// A source whose host does something after each completion before it asks for more.
struct Thinking<S> {
    source: S,
    think: Nanos,
    until: Nanos,
}

impl<S> Thinking<S> {
    const fn new(source: S, think: Nanos) -> Self {
        Self { source, think, until: Nanos::ZERO }
    }
}

impl<S: Source> Source for Thinking<S> {
    fn next(&mut self, now: Nanos) -> Next {
        if now < self.until { Next::NotBefore(self.until) } else { self.source.next(now) }
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        self.until = self.until.max(completion.at) + self.think;
        self.source.completed(request, submitted, completion);
    }
}
