//! Reads beside a flood of writes on a modelled drive: what one pool of tags does to them, and what
//! keeping tags apart does.

use proptest::prelude::*;
use seekwell_io::dispatch::{Dispatcher, TagPolicy};
use seekwell_io::engine::{Bounds, Control, run_source};
use seekwell_io::request::{Completion, Op, Tagged};
use seekwell_io::target::{Target, TargetError, Until};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Generator, Pattern, Together, Workload};
use seekwell_machine::library::{Shelf, machine};
use seekwell_machine::{AnyPart, Machine, Model};

const REGION: u64 = 200 << 30;

fn model() -> Model {
    let text = machine("dragonfly-hdd-after").expect("ships");
    Model::read("dragonfly", text, &[], &Shelf::default()).expect("is right")
}

/// What came of reads and of writes.
#[derive(Debug)]
struct Beside {
    per_s: [f64; 2],
    /// The longest that one took from when it had a tag.
    longest: [Nanos; 2],
    /// The most that had a tag at once.
    most: [u32; 2],
}

/// A machine that counts what it holds of reads and of writes.
struct Counted {
    machine: Machine<AnyPart>,
    /// By slot: whether it writes.
    ops: Vec<Option<bool>>,
    most: [u32; 2],
}

impl Target for Counted {
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        for tagged in batch {
            let slot = tagged.slot as usize;
            self.ops.resize(self.ops.len().max(slot + 1), None);
            self.ops[slot] = Some(tagged.request.op == Op::Write);
        }
        for (writes, most) in [false, true].into_iter().zip(&mut self.most) {
            let held = self.ops.iter().filter(|op| **op == Some(writes)).count();
            *most = (*most).max(held as u32);
        }
        self.machine.submit(batch)
    }

    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        let before = out.len();
        self.machine.reap(until, out)?;
        for done in &out[before..] {
            self.ops[done.slot as usize] = None;
        }
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.machine.now()
    }
}

/// Some readers beside some writers, each with one request at a time.
fn beside(
    model: &Model,
    tags: Option<(TagPolicy, u32)>,
    readers: u32,
    writers: u32,
    seed: u64,
) -> Beside {
    let random = |read_percent, depth: u32| (depth > 0).then(|| random(read_percent, depth));
    let workloads = [random(100, readers), random(0, writers)];
    together(model, tags, workloads.into_iter().flatten(), seed)
}

fn random(read_percent: u8, depth: u32) -> Workload {
    Workload::closed(Pattern::Random, read_percent, 4096, depth, REGION)
}

/// Workloads at the same time.
fn together(
    model: &Model,
    tags: Option<(TagPolicy, u32)>,
    workloads: impl IntoIterator<Item = Workload>,
    seed: u64,
) -> Beside {
    let member = |workload: Workload| {
        let depth = workload.pace.depth();
        (Generator::new(&Workload { seed, ..workload }, 0), depth)
    };
    let mut source = Together::new(workloads.into_iter().map(member));
    let bounds = Bounds {
        depth: source.depth(),
        ramp: Nanos::from_millis(5_000),
        runtime: Nanos::from_millis(20_000),
        spin: Nanos::ZERO,
    };
    let mut dispatcher: Box<dyn Dispatcher> = match tags.or_else(|| model.tags()) {
        None => unreachable!("the machine has a policy"),
        Some((policy, tags)) => policy.over(tags),
    };
    let mut machine = Counted { machine: model.build(seed), ops: Vec::new(), most: [0; 2] };
    let control = Control::new(Nanos(u64::MAX));
    let run = run_source(&mut source, bounds, &mut machine, &mut dispatcher, &control);
    let measured = run.expect("runs");
    let of = |op| {
        let op = measured.op(op);
        (op.requests as f64 / measured.elapsed.as_secs_f64(), op.service.max().unwrap_or_default())
    };
    let ((reads, longest_read), (writes, longest_write)) = (of(Op::Read), of(Op::Write));
    Beside { per_s: [reads, writes], longest: [longest_read, longest_write], most: machine.most }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// DragonFly's driver gave tags first come, first served until April 2011. Writes came in
    /// floods and took all of them.
    #[test]
    fn one_pool_of_tags_starves_reads_and_a_split_cures_it(
        writers in 96_u32..400,
        readers in 4_u32..20,
        seed: u64,
    ) {
        let model = model();
        let alone = beside(&model, None, readers, 0, seed);
        let shared = beside(&model, Some((TagPolicy::Shared, 31)), readers, writers, seed);
        let split = beside(&model, Some((TagPolicy::Split, 31)), readers, writers, seed);
        // The pool gives reads no more than their share of what waits.
        prop_assert!(shared.per_s[0] < 0.25 * alone.per_s[0], "{alone:?} {shared:?}");
        prop_assert!(split.per_s[0] > 0.4 * alone.per_s[0], "{alone:?} {split:?}");
        // The pool starves least where readers are many: 2.996 for 17 beside 96 writers.
        let times = if writers < 8 * readers { 2.5 } else { 3.0 };
        prop_assert!(split.per_s[0] > times * shared.per_s[0], "{shared:?} {split:?}");
        // Writes pay for it, but go on; and no request waits forever.
        prop_assert!(split.per_s[1] > 0.3 * shared.per_s[1], "{shared:?} {split:?}");
        prop_assert!(split.longest.iter().all(|ns| ns.as_secs_f64() < 15.0), "{split:?}");
        // Two thirds and one of 31.
        prop_assert!(split.most.iter().all(|most| *most <= 21), "{split:?}");
        prop_assert!(shared.most[0] + shared.most[1] <= 62 && shared.most[1] > 21, "{shared:?}");
    }
}

/// Story: of tags kept apart, writes held ten all the while, and the drive did 14 of them a second
/// beside 315 reads: a read's waiting counted, and that of a write without room in the cache did
/// not.
#[test]
fn with_tags_kept_apart_neither_reads_nor_writes_starve_each_other() {
    let model = model();
    for (readers, writers) in [(32, 32), (200, 32), (32, 200)] {
        let split = beside(&model, None, readers, writers, 1);
        let least = split.per_s.iter().copied().fold(f64::MAX, f64::min);
        assert!(least > 0.1 * split.per_s.iter().sum::<f64>(), "{readers}, {writers}: {split:?}");
    }
    // The opposite: in one pool, who asks for more gets all.
    for (readers, writers, starved) in [(200, 8, 1), (8, 200, 0)] {
        let shared = beside(&model, Some((TagPolicy::Shared, 31)), readers, writers, 1);
        let split = beside(&model, None, readers, writers, 1);
        assert!(split.per_s[starved] > 1.5 * shared.per_s[starved], "{shared:?} {split:?}");
    }
}

/// Story: a reader with one request at a time got 2.7 a second beside a stream of large writes,
/// which lay nearer until the read had waited a third of a second.
#[test]
fn a_reader_keeps_going_beside_a_stream_of_writes() {
    let model = model();
    for kib in [64, 256, 1024] {
        let stream = Workload::closed(Pattern::Sequential, 0, kib << 10, 16, REGION);
        let alone = together(&model, None, [random(100, 1)], 1);
        let writing = together(&model, None, [stream.clone()], 1);
        let both = together(&model, None, [random(100, 1), stream], 1);
        assert!(both.per_s[0] > 0.15 * alone.per_s[0], "{kib} KiB: {alone:?} {both:?}");
        assert!(both.per_s[1] > 0.4 * writing.per_s[1], "{kib} KiB: {writing:?} {both:?}");
    }
}
