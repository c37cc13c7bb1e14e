//! A small run made by hand, and what comes of it in every form.

mod forms;
mod laws;

use seekwell_inspect::{Device, DeviceKind, Inspection, TargetKind};
use seekwell_io::histogram::Histogram;
use seekwell_io::measurement::{Interval, Series, Stopped};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, SizeShare, Workload};
use seekwell_runs::{
    Detail, DeviceCount, Latency, OpSummary, Phase, Repeat, RepeatDetail, RunDocument, Spread,
};
use serde_json::json;
use std::collections::BTreeMap;

/// Nanoseconds that every test request of one kind took, in turn.
const READS: [u64; 4] = [60, 12_000, 90_000, 3_000_000];
const FLUSHES: [u64; 1] = [250_000];

/// A run of no phases yet.
fn empty() -> RunDocument {
    let document = json!({
        "schema": RunDocument::SCHEMA, "id": "20261120-231502-bench-5f3a", "kind": "bench",
        "status": "complete", "label": "be\"fore", "modelled": false,
        "started_at": "2026-11-20T23:15:02Z", "ended_at": "2026-11-20T23:15:04.25Z",
        "tool": {"version": "0.1.0", "git_commit": null},
        "engine": {"name": "io_uring", "notice": null, "cost_ns_per_request": null},
        "medium": null,
        "inspection": inspection(),
        "phases": [], "findings": [], "invalid": [],
    });
    serde_json::from_value(document).expect("a run document")
}

fn inspection() -> Inspection {
    Inspection {
        device: Some(Device::new("sda", "8:0", DeviceKind::Disk)),
        ..Inspection::new("/dev/sda", TargetKind::BlockDevice)
    }
}

/// `n` requests in a second that took these times in turn: their summary and their bins.
fn taken(times: &[u64], n: u64, bytes: u64) -> (OpSummary, Vec<(u32, u64)>) {
    let mut histogram = Histogram::default();
    times.iter().cycle().take(n as usize).for_each(|ns| histogram.record(Nanos(*ns)));
    let latency = Latency {
        ns_min: histogram.min().unwrap().0,
        ns_mean: histogram.mean_ns().unwrap(),
        ns_p50: None,
        ns_p90: None,
        ns_p99: None,
        ns_p99_9: None,
        ns_p99_99: None,
        ns_max: histogram.max().unwrap().0,
    };
    let summary = OpSummary {
        requests: n,
        bytes: n * bytes,
        requests_per_s: n as f64,
        rate_bytes_per_s: (n * bytes) as f64,
        latency,
        response: None,
    };
    (summary, histogram.sparse())
}

/// Ten even steps of a second in which there were reads and flushes.
fn series(reads: u64, flushes: u64) -> Series {
    let mut series = Series::new(Nanos::from_millis(100));
    series.steps = vec![
        Interval {
            requests: [reads / 10, 0, flushes / 10, 0],
            bytes: [reads / 10 * 4096, 0],
            latency_ns_sum: [reads / 10 * READS.iter().sum::<u64>() / 4, 0, 0, 0],
            latency_ns_max: 3_000_000,
        };
        10
    ];
    series
}

/// One phase with `repeats` repeats of 2,000 reads and 40 flushes in a second.
fn run(repeats: u32) -> (RunDocument, Detail) {
    let (reads, read_bins) = taken(&READS, 2_000, 4096);
    let (flushes, flush_bins) = taken(&FLUSHES, 40, 0);
    let mut workload = Workload::closed(Pattern::Zipf { theta: 1.2 }, 100, 4096, 8, 1 << 30);
    workload.threads = 2;
    let device =
        DeviceCount { read_bytes: 2_000 * 4096, written_bytes: 512, flushes: 40, share: 1.0 };
    let repeat = |number: u32| Repeat {
        elapsed_ns: Nanos::from_millis(1_000),
        ops: BTreeMap::from([
            ("read".to_owned(), reads.clone()),
            ("flush".to_owned(), flushes.clone()),
        ]),
        cpu_user_ns: Nanos::from_millis(100),
        cpu_system_ns: Nanos::from_millis(300),
        syscalls: 100,
        device: Some(device),
        ..Repeat::new(u64::from(number), Stopped::Finished)
    };
    let name = "randread-4096-d8";
    let spread = |value: f64| Spread { median: value, low: value, high: value, n: repeats };
    let metrics = [
        ("read.requests_per_s", 2_000.0),
        ("read.latency_ns_p99_9", 3_014_656.0),
        ("cpu_percent", 40.0),
        ("cpu_ns_per_request", 196_078.0),
        ("device_share", 1.0),
    ];
    let phase = Phase {
        repeats: (1..=repeats).map(repeat).collect(),
        metrics: metrics.map(|(metric, value)| (metric.to_owned(), spread(value))).into(),
        ..Phase::new(name, "random read 4 KiB, depth 8, 2 threads", workload)
    };
    let detail = |repeat: u32| RepeatDetail {
        phase: name.into(),
        repeat,
        latency_bins: BTreeMap::from([
            ("read".to_owned(), read_bins.clone()),
            ("flush".to_owned(), flush_bins.clone()),
        ]),
        response_bins: BTreeMap::new(),
        series: series(2_000, 40),
    };
    let run = RunDocument { phases: vec![phase], ..empty() };
    (run, Detail { repeats: (0..repeats).map(detail).collect() })
}

/// The phase's workload, to be made different.
fn workload(run: &mut RunDocument) -> &mut Workload {
    run.phases[0].workload.drawn_mut().expect("a phase of drawn requests")
}

/// Two sizes, one request in three of the larger.
fn two_sizes() -> Vec<SizeShare> {
    vec![SizeShare { bytes: 4096, weight: 2 }, SizeShare { bytes: 1 << 20, weight: 1 }]
}
