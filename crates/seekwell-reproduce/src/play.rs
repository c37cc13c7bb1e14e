//! Workloads and traces on a modelled machine.

use crate::row::{Drawn, Pace, Property};
use seekwell_io::dispatch::{Dispatcher, Unlimited};
use seekwell_io::engine::{Bounds, Control, EngineError, run_source};
use seekwell_io::measurement::Measurement;
use seekwell_io::request::{Completion, Op, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Generator, Next, Pattern, Source, Together, Workload};
use seekwell_machine::Model;
use seekwell_trace::error::TraceError;
use seekwell_trace::replay::{
    Closed, Dependent, Feed, Fidelity, Fit, FitError, Moment, Picked, Placing, survey,
};
use seekwell_trace::shipped::Shipped;
use seekwell_trace::source::each_batch;

/// Addresses and lengths of a trace on a model are multiples of this.
const SECTOR: u32 = 512;
/// Most requests of a trace outstanding at once.
const DEPTH: u32 = 1024;
/// The first request of a dependent trace comes this long after the machine's clock began.
const LEAD: Nanos = Nanos::from_millis(1);
/// The seed of everything drawn.
const SEED: u64 = 1;

/// A row whose machine could not be run.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Fit(#[from] FitError),
}

fn dispatcher(model: &Model) -> Box<dyn Dispatcher> {
    match model.tags() {
        None => Box::new(Unlimited::default()),
        Some((policy, tags)) => policy.over(tags),
    }
}

/// Runs a drawn workload; what is counted is its own requests, not the writes beside it.
pub fn drawn(model: &Model, drawn: &Drawn) -> Result<Measurement, PlayError> {
    let pattern = if drawn.is_random { Pattern::Random } else { Pattern::Sequential };
    let capacity = model.capacity();
    let from = capacity / 100 * u64::from(drawn.from_percent) / (1 << 20) * (1 << 20);
    let region = match drawn.region_bytes {
        0 => capacity - from,
        bytes => bytes.min(capacity - from),
    };
    let closed = |pattern, read_percent, bytes, depth| Workload {
        offset_bytes: from,
        runtime_ns: drawn.runs,
        seed: SEED,
        ..Workload::closed(pattern, read_percent, bytes, depth, region)
    };
    let own = closed(pattern, drawn.read_percent, drawn.bytes, drawn.depth);
    let thinks = drawn.thinks.and_then(|work| model.host().work_ns.get(work).copied());
    let member = |workload: &Workload, thread, think: f64| {
        let source = Thinking::new(Generator::new(workload, thread), Nanos(think as u64));
        (source, workload.pace.depth())
    };
    let mut members = vec![member(&own, 0, thinks.unwrap_or(0.0))];
    if let Some((depth, bytes)) = drawn.beside_writes {
        let beside = Workload { threads: 2, ..closed(Pattern::Random, 0, bytes, depth) };
        members.push(member(&beside, 1, 0.0));
    }
    let mut source = Together::new(members);
    let bounds = Bounds { depth: source.depth(), ..Bounds::of(&own) };
    let mut machine = model.build(SEED);
    let mut dispatcher = dispatcher(model);
    let control = Control::default();
    Ok(run_source(&mut source, bounds, &mut machine, &mut dispatcher, &control)?)
}

/// Plays a trace to its end. Its addresses shrink evenly to a machine smaller than they reach.
///
/// `speed` is how many times faster than the recording's host the modelled one thinks.
pub fn played(
    model: &Model,
    trace: Shipped,
    pace: Pace,
    speed: f64,
) -> Result<Measurement, PlayError> {
    let surveyed = survey(&mut *trace.open()?, Moment::Queue)?;
    let device = surveyed.devices.first().copied().unwrap_or_default();
    let capacity = model.capacity();
    let fit = if device.end_bytes > capacity { Fit::Scale } else { Fit::Fail };
    let picked = Picked {
        device: None,
        moment: Moment::Queue,
        first: surveyed.first,
        writes: true,
        placing: Placing::new(fit, SECTOR, device.end_bytes, device.longest_bytes, capacity)?,
        longest_bytes: (device.longest_bytes + 2 * SECTOR).next_multiple_of(SECTOR),
        untimed: pace != Pace::Dependent,
        dependencies: pace == Pace::Dependent,
        device_shift: None,
    };
    let mut feed = Feed::start(trace.open()?, picked);
    feed.peek();
    let bounds =
        Bounds { depth: DEPTH, ramp: Nanos::ZERO, runtime: Nanos::ZERO, spin: Nanos::ZERO };
    let fidelity = Fidelity::new(DEPTH, Nanos::MAX);
    let mut machine = model.build(SEED);
    let mut dispatcher = dispatcher(model);
    let control = Control::default();
    let (measured, feed) = match pace {
        Pace::Depth(_) | Pace::RecordedDepth => {
            let depth = if let Pace::Depth(depth) = pace { Some(depth) } else { None };
            let mut source = Closed::new(feed, depth, fidelity);
            let done = run_source(&mut source, bounds, &mut machine, &mut dispatcher, &control)?;
            (done, source.finish().0)
        }
        Pace::Dependent => {
            let mut source = Dependent::new(feed, LEAD, speed, fidelity);
            let done = run_source(&mut source, bounds, &mut machine, &mut dispatcher, &control)?;
            (done, source.finish().0)
        }
    };
    feed.finish()?;
    Ok(measured)
}

/// What a recording shows of itself.
pub fn recorded(trace: Shipped, property: Property) -> Result<f64, PlayError> {
    let mut source = trace.open()?;
    let (mut first, mut last) = (Nanos::MAX, Nanos::ZERO);
    let (mut waited_s, mut bytes, mut read) = (0.0, 0_u64, 0_u64);
    each_batch(&mut *source, |batch| {
        for record in batch {
            let len = u64::from(record.len);
            bytes += if matches!(record.op, Op::Read | Op::Write) { len } else { 0 };
            read += if record.op == Op::Read { len } else { 0 };
            if let (Some(from), Some(to)) = (record.queued.get(), record.completed.get()) {
                (first, last) = (first.min(from), last.max(to));
                waited_s += to.since(from).as_secs_f64();
            }
        }
        true
    })?;
    let seconds = last.since(first).as_secs_f64();
    Ok(match property {
        // Little's law: requests under way are what waits in a second.
        Property::Queue => waited_s / seconds,
        Property::ReadPercent => 100.0 * read as f64 / bytes as f64,
        Property::MegabytesPerSecond => bytes as f64 / 1e6 / seconds,
    })
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
