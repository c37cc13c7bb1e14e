//! Statistics take no more memory the longer the trace and the more it touches. A program of its
//! own: the kernel counts the peak of a whole process.

#![allow(clippy::print_stderr)]

use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_trace::record::{Record, Stamp};
use seekwell_trace::source::{About, BATCH, Capture, Clock, Tables};
use seekwell_trace::stats::{Options, Stats};

/// Less than the 512 MiB that are promised for 10⁹ requests to this many devices.
const MOST_BYTES: u64 = 256 << 20;
const DEVICES: u64 = 4000;
/// Half of the requests go to these, and their ends are not to be believed.
const BAD_DEVICES: u64 = 100;

/// The most memory this process ever had.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// The worst there is for every table: blocks, processes and sizes never seen before, and
/// ends so far away that ever more requests are under way.
fn record(i: u64) -> Record {
    let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let at = |ns: u64| Stamp::at(Nanos(ns));
    let op = if mixed >> 63 == 0 { Op::Read } else { Op::Write };
    let is_bad = i.is_multiple_of(2);
    let near = if is_bad { 0 } else { 24 };
    let device = i / 2 % if is_bad { BAD_DEVICES } else { DEVICES };
    Record {
        queued: at(i * 1000),
        issued: at(i * 1000 + (mixed >> (20 + near))),
        completed: at(i * 1000 + (u64::from(is_bad) << 50) + (mixed >> (16 + near))),
        device: device as u32,
        process: (i % 70_000) as u32,
        ..Record::new(op, i * 4096, 1 + (mixed >> 40) as u32 % (1 << 17))
    }
}

#[test]
fn the_worst_of_traces_stays_within_the_bound_however_long_it_is() {
    let requests: u64 = if cfg!(debug_assertions) { 9_600_000 } else { 30_000_000 };
    let mut stats = Stats::new(Options { rate_log2: 9, ..Options::default() });
    let about = About::new("made", Clock::Start, Capture::Both);
    let tables = Tables::default();
    let mut batch = Vec::with_capacity(BATCH);
    let mut after_half = 0;
    for i in 0..requests {
        batch.push(record(i));
        if batch.len() == BATCH {
            stats.update(&batch, &about, &tables).expect("there is room");
            batch.clear();
        }
        if i == requests / 2 {
            after_half = peak_bytes().unwrap_or(0);
        }
    }
    stats.update(&batch, &about, &tables).expect("there is room");
    let (told, _) = stats.finish("made");
    assert_eq!(told.requests, requests);
    assert!(told.space.estimated && told.reuse.is_some_and(|reuse| reuse.estimated));
    let Some(peak) = peak_bytes() else {
        eprintln!("skipped: the kernel tells no peak");
        return;
    };
    eprintln!("peak {} MiB, at the half {} MiB", peak >> 20, after_half >> 20);
    assert!(peak <= MOST_BYTES, "{peak}");
    // The kernel's peak is of several counters, and may seem to fall by some pages.
    assert!(peak.saturating_sub(after_half) <= 8 << 20, "{after_half} {peak}");
}
