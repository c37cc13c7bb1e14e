//! Golden values of real traces, and laws that hold for any.

mod figures;
mod golden;
mod laws;
mod merging;
mod policies;
mod reuse;

use super::document::{Drawing, TraceStats};
use super::{Options, Stats};
use crate::record::{Record, Stamp};
use crate::source::{About, Capture, Clock, Device, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Statistics of some records.
fn stats_of(records: &[Record], options: Options) -> TraceStats {
    drawn(records, options).0
}

fn drawn(records: &[Record], options: Options) -> (TraceStats, Drawing) {
    // Odd batches, so that nothing rests on their size.
    gathered(records, options, 999).finish("test")
}

/// The accumulators after batches of some length.
fn gathered(records: &[Record], options: Options, batch: usize) -> Stats {
    let mut stats = Stats::new(options);
    stats.begin("test.csv");
    let devices = records.iter().map(|r| r.device).max().unwrap_or(0);
    let processes = records.iter().map(|r| r.process).max().unwrap_or(0);
    let name = |i| Device { name: format!("d{i}"), ..Device::default() };
    let process = |i| if i == 0 { String::new() } else { format!("p{i}") };
    let tables = Tables {
        devices: (0..=devices).map(name).collect(),
        processes: (0..=processes).map(process).collect(),
    };
    let about = About::new("test", Clock::Start, Capture::Both);
    for batch in records.chunks(batch) {
        stats.update(batch, &about, &tables).expect("there is room");
    }
    stats
}

/// A request of 4 KiB at a block and a time.
fn at(op: Op, block: u64, ns: u64) -> Record {
    Record { queued: Stamp::at(Nanos(ns)), ..Record::new(op, block * 4096, 4096) }
}

/// Numbers without pattern: splitmix64.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Of 0..n, small ones far more often: density about 1/x.
    fn skewed(&mut self, n: u64) -> u64 {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((n as f64).powf(share) as u64).min(n - 1)
    }
}
