//! Large hard drives beside what their maker publishes of them.

#![allow(clippy::expect_used)]

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::below;
use seekwell_machine::library::{Shelf, machine};
use seekwell_machine::{Command, Model, Part};

fn model(name: &str) -> Model {
    let text = machine(name).expect("a machine that ships");
    Model::read(name, text, &[], &Shelf::default()).expect("it can be built")
}

/// Requests a second in the second half of `count` requests of `len` bytes, with `depth`
/// outstanding.
fn rate(name: &str, depth: u32, count: u32, len: u32, next: &mut dyn FnMut() -> (Op, u64)) -> f64 {
    let mut part = model(name).part(3);
    let mut now = Nanos::ZERO;
    let mut give = |part: &mut dyn Part, tag, now| {
        let (op, offset) = next();
        part.submit(Command { tag, op, offset, len, durable: false }, now);
    };
    (0..depth).for_each(|tag| give(&mut part, tag, now));
    let (mut ended, mut done, mut half) = (0, Vec::new(), Nanos::ZERO);
    while ended < count {
        if ended < count / 2 {
            half = now;
        }
        now = part.next();
        part.advance(now, &mut done);
        for end in done.drain(..) {
            ended += 1;
            give(&mut part, end.tag, now);
        }
    }
    f64::from(ended - count / 2) / (now - half).as_secs_f64()
}

/// Random requests of 4 KiB a second anywhere on the disk.
fn random(name: &str, op: Op, depth: u32, count: u32) -> f64 {
    let blocks = model(name).capacity() / 4096;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    rate(name, depth, count, 4096, &mut || (op, below(&mut rng, blocks) * 4096))
}

/// Bytes a second of streams that begin at these parts of the disk, in turn.
fn sequential(name: &str, op: Op, parts: &[f64]) -> f64 {
    const LEN: u32 = 1 << 20;
    let capacity = model(name).capacity() as f64;
    let begin = |part: &f64| (capacity * part) as u64 / 4096 * 4096;
    let mut offsets: Vec<u64> = parts.iter().map(begin).collect();
    let mut turn = 0;
    let mut next = || {
        turn = (turn + 1) % offsets.len();
        let offset = offsets[turn];
        offsets[turn] += u64::from(LEN);
        (op, offset)
    };
    rate(name, 8, 4096, LEN, &mut next) * f64::from(LEN)
}

fn near(what: &str, modelled: f64, published: f64, percent: f64) {
    let off = (modelled / published - 1.0) * 100.0;
    assert!(off.abs() < percent, "{what}: {modelled}, published {published}: {off} %");
}

#[test]
fn random_reads_are_those_of_the_data_sheet() {
    near("X18", random("exos-x18", Op::Read, 16, 4000), 170.0, 3.0);
    near("2X18", random("exos-2x18", Op::Read, 16, 4000), 304.0, 10.0);
}

/// That of the X18 is fitted to nothing, and comes out low.
#[test]
fn random_writes_are_about_as_many_as_published() {
    near("X18", random("exos-x18", Op::Write, 16, 12_000), 550.0, 20.0);
    near("2X18", random("exos-2x18", Op::Write, 16, 8_000), 560.0, 10.0);
}

#[test]
fn one_stream_keeps_one_actuator_busy() {
    let both = sequential("exos-2x18", Op::Read, &[0.0, 0.5]);
    for half in [0.0, 0.5] {
        let one = sequential("exos-2x18", Op::Read, &[half]);
        assert!((1.9..2.1).contains(&(both / one)), "{one} and {both}");
    }
}

#[test]
fn the_outer_edge_is_as_fast_as_published() {
    near("X18", sequential("exos-x18", Op::Read, &[0.0]), 270e6, 5.0);
    near("2X18", sequential("exos-2x18", Op::Read, &[0.0, 0.5]), 554e6, 5.0);
    near("X18, writing", sequential("exos-x18", Op::Write, &[0.0]), 270e6, 5.0);
}
