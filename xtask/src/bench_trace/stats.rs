//! How fast a trace becomes statistics: records made here go straight into the accumulators, on one
//! core, with no format to read; the CPU time of making them is not counted. Then `trace stats` on
//! two threads beside one.

use super::Bench;
use super::import::write_msr;
use crate::bench::Dice;
use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, bench, process};
use rustix::time::ClockId;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_trace::record::{Record, Stamp};
use seekwell_trace::source::{About, BATCH, Capture, Clock, Tables};
use seekwell_trace::stats::{Asked, Figure, Options, Stats};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const REQUESTS: u64 = 20_000_000;
/// What is promised, in requests per second of one core.
const WITHOUT_REUSE: f64 = 10e6;
const WITH_SHARDS: f64 = 10e6;
/// One block in 256, as for a trace of a few gigabytes.
pub const RATE_LOG2: u32 = 8;

/// Skewed requests of 4 KiB over 1 TiB, queued, issued and completed: with and without reuse, and
/// with it to many devices that take turns.
pub fn stats(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    for (what, reuse, devices, at_least) in [
        ("statistics without reuse distance", false, 1, WITHOUT_REUSE),
        ("statistics with SHARDS", true, 1, WITH_SHARDS),
        ("statistics with SHARDS, 100 devices", true, 100, WITH_SHARDS),
        ("statistics with SHARDS, 4,000 devices", true, 4000, WITH_SHARDS),
    ] {
        let values = (0..bench.rounds).map(|round| one(u64::from(round), reuse, devices));
        page.rows.push(Row::new(
            what,
            Unit::Named("requests/s of CPU"),
            values.collect::<Result<_, _>>()?,
            Wanted::AtLeast(at_least),
        ));
    }
    Ok(())
}

fn one(seed: u64, reuse: bool, devices: u32) -> Result<f64, Failure> {
    let mut made = Made::new(seed + 1, devices);
    let asked = if reuse { Asked::ALL } else { Asked::ALL.without(Figure::Reuse) };
    // As without a page.
    let options = Options { asked, maps: false, rate_log2: RATE_LOG2, ..Options::default() };
    let mut stats = Stats::new(options);
    let about = About::new("made", Clock::Start, Capture::Both);
    let tables = Tables::default();
    let mut batch = Vec::with_capacity(BATCH);
    let mut spent_s = 0.0;
    for _ in 0..REQUESTS / BATCH as u64 {
        batch.clear();
        batch.extend((0..BATCH).map(|_| made.record()));
        let before = bench::cpu_s(ClockId::ThreadCPUTime);
        stats.update(&batch, &about, &tables)?;
        spent_s += bench::cpu_s(ClockId::ThreadCPUTime) - before;
    }
    let (told, _) = stats.finish("made");
    Ok(told.requests as f64 / spent_s)
}

const LINES: u64 = 5_000_000;
const DISKS: u64 = 1000;
const TWO_THREADS: f64 = 1.8;

/// A trace of text and the same one in the store, each on two threads beside one.
pub fn threads(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let (text, store) = (folder.path().join("a.csv"), folder.path().join("a.parquet"));
    write_msr(File::create(&text)?, LINES, DISKS)?;
    let convert = [Path::new("trace"), Path::new("convert"), &text, &store];
    process::output(Command::new(&bench.seekwell).args(convert))?;
    for (what, file) in [("MSR CSV", &text), ("the store", &store)] {
        let rate = |threads| {
            let mut stats = Command::new(&bench.seekwell);
            stats.args(["trace", "stats", "--json", "--threads", threads]).arg(file);
            let begun = Instant::now();
            process::output(&mut stats)?;
            Ok(LINES as f64 / begun.elapsed().as_secs_f64())
        };
        // The page cache is filled first.
        rate("2")?;
        let both =
            bench::in_turn(bench.rounds, &AtomicBool::new(false), || rate("2"), || rate("1"));
        let what = format!("statistics of {what}, {DISKS} devices: two threads, beside one");
        let unit = Unit::Named("requests/s");
        page.rows.push(Row::beside(what, unit, both?, Wanted::RatioAtLeast(TWO_THREADS)));
    }
    Ok(())
}

/// Where requests come from.
pub struct Made {
    dice: Dice,
    now_ns: u64,
    devices: u32,
}

impl Made {
    pub const fn new(seed: u64, devices: u32) -> Self {
        Self { dice: Dice(seed), now_ns: 0, devices }
    }

    /// About 100,000 a second, eight under way.
    pub fn record(&mut self) -> Record {
        let (dice, share) = (self.dice.next(), self.dice.uniform());
        self.now_ns += dice % 20_000;
        // Density about 1/x: few blocks get most.
        let block = (28.0 * share).exp2() as u64;
        let op = if dice >> 40 & 1 == 0 { Op::Read } else { Op::Write };
        let after = |ns| Stamp::at(Nanos(self.now_ns + ns));
        Record {
            queued: after(0),
            issued: after((dice >> 8) % 3000),
            completed: after(3000 + (dice >> 16) % 150_000),
            device: (dice >> 32) as u32 % self.devices,
            ..Record::new(op, block * 4096, 4096)
        }
    }
}
