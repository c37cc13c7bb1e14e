//! One trace on many machines, on as many threads as there are.

use crate::Model;
use seekwell_io::dispatch::{Dispatcher, Unlimited};
use seekwell_io::engine::{Bounds, Control, EngineError, run_source};
use seekwell_io::measurement::Measurement;
use seekwell_io::request::Request;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
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
        let mut request = *request;
        if request.offset + u64::from(request.len) > self.capacity {
            let room = self.capacity.saturating_sub(u64::from(request.len)) / 4096;
            request.offset = request.offset / 4096 % room.max(1) * 4096;
        }
        Next::Request(request)
    }
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
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(machines.len()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Relaxed);
            let Some((model, seed)) = machines.get(index) else { return };
            let measured = play(model, *seed, requests, depth);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((index, measured));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(machines.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, measured)| measured).collect()
}

fn play(
    model: &Model,
    seed: u64,
    requests: &[Request],
    depth: u32,
) -> Result<Measurement, EngineError> {
    let mut machine = model.build(seed);
    let mut source = Played { requests: requests.iter(), capacity: model.capacity() };
    let mut dispatcher: Box<dyn Dispatcher> = match model.tags() {
        None => Box::new(Unlimited::default()),
        Some((policy, tags)) => policy.over(tags),
    };
    let bounds = Bounds { depth, ramp: Nanos::ZERO, runtime: Nanos::ZERO, spin: Nanos::ZERO };
    // On a virtual clock nothing stalls for longer than this.
    let control = Control::new(Nanos(u64::MAX));
    run_source(&mut source, bounds, &mut machine, &mut dispatcher, &control)
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
