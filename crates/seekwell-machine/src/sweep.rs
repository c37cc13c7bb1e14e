//! One trace on many machines, on as many threads as there are.

use crate::{LoadError, Model};
use seekwell_io::dispatch::{Dispatcher, Unlimited};
use seekwell_io::engine::{Bounds, Control, EngineError, run_source};
use seekwell_io::histogram::Histogram;
use seekwell_io::measurement::Measurement;
use seekwell_io::request::Request;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use seekwell_sys::thread::start_scoped;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Requests of a trace, one after the other, for a disk of some capacity.
struct Played<'a> {
    requests: std::slice::Iter<'a, Request>,
    capacity: u64,
}

impl Source for Played<'_> {
    fn next(&mut self, _: Nanos) -> Next {
        let Some(request) = self.requests.next() else { return Next::Done };
        Next::Request(within(*request, self.capacity))
    }
}

/// The request, at another place where it lies beyond the end of a small machine.
pub(crate) fn within(mut request: Request, capacity: u64) -> Request {
    if request.offset + u64::from(request.len) > capacity {
        let room = capacity.saturating_sub(u64::from(request.len)) / 4096;
        request.offset = request.offset / 4096 % room.max(1) * 4096;
    }
    request
}

/// Plays the same requests to each of some machines, given with their seeds, keeping `depth`
/// outstanding, on up to `threads` threads. What each gives is in the machines' order and does not
/// depend on the number of threads. A request that lies beyond the end of a small machine goes to
/// another place on it.
///
/// # Errors
/// For each machine, as [`run_source`].
pub fn sweep(
    machines: &[(&Model, u64)],
    requests: &[Request],
    depth: u32,
    threads: usize,
) -> Vec<Result<Measurement, EngineError>> {
    on_threads(machines.len(), threads, |index| {
        let (model, seed) = machines[index];
        play(model, seed, requests, depth)
    })
}

/// Does work number 0 to before `count` on up to `threads` threads, or on as many as can be started
/// and the caller's; gives the results in that order.
pub(crate) fn on_threads<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    let all = || {
        loop {
            let index = next.fetch_add(1, Relaxed);
            if index >= count {
                return;
            }
            let result = work(index);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            let _ = start_scoped(scope, "model", all);
        }
        all();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn play(
    model: &Model,
    seed: u64,
    requests: &[Request],
    depth: u32,
) -> Result<Measurement, EngineError> {
    let mut source = Played { requests: requests.iter(), capacity: model.capacity() };
    run(model, seed, &mut source, depth)
}

/// Response times and requests a second of what was measured.
///
/// # Errors
/// [`LoadError`] where a request failed, and where there was none.
pub(crate) fn completed(measured: &Measurement) -> Result<(Histogram, f64), LoadError> {
    if let Some(failure) = &measured.first_failure {
        return Err(LoadError::Failed(failure.kind));
    }
    let requests = measured.requests();
    if requests == 0 || measured.elapsed == Nanos::ZERO {
        return Err(LoadError::Empty);
    }
    let mut times = Histogram::default();
    for op in &measured.ops {
        // A closed loop wants nothing at a time of its own.
        times.merge(if op.response.count() > 0 { &op.response } else { &op.service });
    }
    Ok((times, requests as f64 / measured.elapsed.as_secs_f64()))
}

/// Runs a source to its end on a new machine of a model.
///
/// # Errors
/// As [`run_source`].
pub(crate) fn run(
    model: &Model,
    seed: u64,
    source: &mut impl Source,
    depth: u32,
) -> Result<Measurement, EngineError> {
    let bounds = Bounds { depth, ramp: Nanos::ZERO, runtime: Nanos::ZERO, spin: Nanos::ZERO };
    run_within(model, seed, source, bounds)
}

/// Runs a source on a new machine of a model, within bounds.
///
/// # Errors
/// As [`run_source`].
pub(crate) fn run_within(
    model: &Model,
    seed: u64,
    source: &mut impl Source,
    bounds: Bounds,
) -> Result<Measurement, EngineError> {
    let mut machine = model.build(seed);
    let mut dispatcher: Box<dyn Dispatcher> = match model.tags() {
        None => Box::new(Unlimited::default()),
        Some((policy, tags)) => policy.over(tags),
    };
    // On a virtual clock nothing stalls for longer than this.
    let control = Control::new(Nanos(u64::MAX));
    run_source(source, bounds, &mut machine, &mut dispatcher, &control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{Shelf, machine};
    use seekwell_io::request::Op;

    fn trace(count: u64) -> Vec<Request> {
        let request = |n: u64| Request {
            op: if n.is_multiple_of(3) { Op::Write } else { Op::Read },
            offset: n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 42) / 4096 * 4096,
            len: 4096 << (n % 4),
            wanted: None,
            id: 0,
            durable: false,
            queue: 0,
        };
        (0..count).map(request).collect()
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bit_for_bit() {
        let names = ["sata-7200", "nvme-ssd", "megaraid1600-pci32-33", "dragonfly-hdd-after"];
        let read = |name: &str| {
            let text = machine(name).expect("ships");
            Model::read(name, text, &[], &Shelf::default()).expect("is right")
        };
        let models: Vec<Model> = names.iter().map(|name| read(name)).collect();
        let machines: Vec<(&Model, u64)> =
            (0..3).flat_map(|seed| models.iter().map(move |m| (m, seed))).collect();
        let requests = trace(2_000);
        let told = |threads| {
            let swept = sweep(&machines, &requests, 16, threads);
            let each = swept.into_iter().map(|m| {
                let m = m.expect("runs");
                assert_eq!((m.requests(), m.first_failure), (2_000, None));
                (m.elapsed, m.ops.map(|op| (op.requests, op.bytes, op.service.sparse())))
            });
            each.collect::<Vec<_>>()
        };
        let one = told(1);
        assert_eq!(one.len(), 12);
        assert_ne!(one[0], one[4], "another seed is another machine");
        for threads in [2, 3, 16] {
            assert!(told(threads) == one, "{threads} threads");
        }
    }
}
