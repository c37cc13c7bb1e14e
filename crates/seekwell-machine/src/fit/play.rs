//! What a model gives where a disk was measured.

use crate::Model;
use seekwell_io::dispatch::{Dispatcher, Unlimited};
use seekwell_io::engine::{Bounds, Control, run_source};
use seekwell_io::measurement::Measurement;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Generator, Together, Workload};

/// Reads and writes a second, and the 99th percentile of the reads' times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Played {
    /// Reads and writes a second.
    pub requests_per_s: f64,
    /// The time below which 99 % of reads stay, in nanoseconds, if there are enough.
    pub read_ns_p99: Option<u64>,
}

/// How a workload is shortened or lengthened for a model, which has neither noise nor a clock that
/// costs anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// This many requests from the start, whatever time they take.
    Requests(u64),
    /// As long as it was measured, with the same ramp, this many times: where what is measured
    /// depends on how full the drive's buffer has become.
    AsMeasured(u32),
}

/// Runs a workload on new machines of a model and joins what they gave.
pub fn play(model: &Model, workload: &Workload, length: Length) -> Played {
    let mut workload = workload.clone();
    let repeats = match length {
        Length::Requests(requests) => {
            (workload.requests, workload.runtime_ns, workload.ramp_ns) =
                (requests / u64::from(workload.threads.max(1)), Nanos::ZERO, Nanos::ZERO);
            1
        }
        Length::AsMeasured(repeats) => repeats,
    };
    let (mut requests, mut elapsed, mut p99) = (0, 0.0, Vec::new());
    for repeat in 0..repeats {
        workload.seed = u64::from(repeat) + 1;
        let Some(measured) = once(model, &workload) else { continue };
        requests += measured.op(Op::Read).requests + measured.op(Op::Write).requests;
        elapsed += measured.elapsed.0 as f64 / 1e9;
        p99.extend(measured.op(Op::Read).service.quantile(0.99).map(|ns| ns.0));
    }
    let requests_per_s = if elapsed > 0.0 { requests as f64 / elapsed } else { 0.0 };
    Played { requests_per_s, read_ns_p99: p99.first().copied() }
}

fn once(model: &Model, workload: &Workload) -> Option<Measurement> {
    let mut machine = model.build(workload.seed);
    let mut dispatcher: Box<dyn Dispatcher> = match model.tags() {
        None => Box::new(Unlimited::default()),
        Some((policy, tags)) => policy.over(tags),
    };
    let depth = workload.pace.depth();
    let threads = (0..workload.threads).map(|t| (Generator::new(workload, t), depth));
    let mut source = Together::new(threads);
    let bounds = Bounds { depth: source.depth(), ..Bounds::of(workload) };
    // On a virtual clock nothing stalls for longer than this.
    let control = Control::new(Nanos(u64::MAX));
    run_source(&mut source, bounds, &mut machine, &mut dispatcher, &control).ok()
}
