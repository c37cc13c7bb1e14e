use super::*;
use seekwell_io::histogram::Histogram;
use seekwell_run::top::{Flow, Now};
use seekwell_trace::stats::document::Latency;

/// A disk with this rate and these response times.
fn disk(name: &str, per_s: f64, times_ns: &[u64]) -> Disk {
    let mut response = Histogram::default();
    for time in times_ns {
        response.record_many(Nanos(*time), 5_000);
    }
    let flow = |op| Flow {
        op,
        requests: per_s as u64 / 2,
        requests_per_s: per_s / 2.0,
        bytes: per_s as u64 * 2048,
        bytes_per_s: per_s * 2048.0,
        waited_ns: 0,
        bins: Vec::new(),
    };
    Disk {
        device: name.to_owned(),
        seen: Some(Seen::Requests),
        requests: per_s as u64,
        requests_per_s: per_s,
        requests_at_device: Some(per_s as u64),
        failed: 0,
        operations: vec![flow(Op::Read), flow(Op::Write)],
        latencies: Span::ALL.into_iter().filter_map(|s| Latency::of(s, None, &response)).collect(),
        histograms: Vec::new(),
        depth_mean: per_s / 30_000.0,
        depth_max: Some(128),
        busy_share: 1.0,
        outstanding: 0,
        oldest_ns: None,
        limit: None,
        processes: vec![Process {
            process: "a-name-longer-than-its-column\u{1b}[2J".to_owned(),
            pid: 4_194_304,
            requests: per_s as u64,
            bytes: per_s as u64 * 4096,
            waited_ns: 1_000_000_000,
        }],
    }
}

fn interval(devices: Vec<Disk>) -> Interval {
    let time = "2026-11-23T08:00:00.000Z".to_owned();
    let (schema, source) = ("seekwell/top/1", Source::Events);
    Interval { schema, time, interval_s: 1.0, source, lost_events: 0, devices }
}

#[test]
fn a_slow_and_a_fast_disk_have_their_columns_in_80_columns() {
    let mut hung = disk("sdb", 1.0, &[30_000_000_000]);
    (hung.outstanding, hung.oldest_ns) = (4, Some(12_300_000_000));
    let mut fast = disk("nvme0n1", 2_000_000.0, &[2_000, 87_300, 1_250_000]);
    let name = "the PCIe link at 16 GT/s x4".to_owned();
    fast.limit = Some(Now { by: Station::Link, name, share: Some(0.93) });
    let shown = interval(vec![fast, hung]);
    assert_eq!(
        lines(&shown, 80, None),
        [
            "2026-11-23 08:00:00 UTC  1.00 s  read and write in MB/s",
            "disk      seen req/s  read write    p50    p99    max  queue depth    limit",
            "nvme0n1    req 2.00M  4096  4096 87.6µs 1.25ms 1.25ms  446µs  66.7     link",
            "  the PCIe link at 16 GT/s x4 carries 93 %",
            "sdb        req  1.00  0.00  0.00  30.0s  30.0s  30.0s  30.0s  0.00        -",
            "  4 outstanding, the oldest for 12.3 s",
            "",
            "process              pid  disk          req/s    MB/s    wait  share",
            "a-name-longer-t… 4194304  nvme0n1       2.00M   8,192   500ns   50 %",
            "a-name-longer-t… 4194304  sdb            1.00    0.00   1.00s   50 %",
        ]
    );
}

#[test]
fn every_width_and_height_is_kept_to() {
    let names = ["nvme0n1p12", "mpath-with-a-very-long-name-of-somebody", "漢字"];
    let shown = interval(names.map(|name| disk(name, 12_345.0, &[72_100])).to_vec());
    for width in [1, 10, 24, 40, 79, 80, 120, 300] {
        for height in [1, 2, 5, 24, 100] {
            let lines = lines(&shown, width, Some(height));
            assert!(lines.len() <= height, "{width}x{height}: {lines:?}");
            for line in &lines {
                let text = line.strip_prefix(HEAD).unwrap_or(line);
                assert!(columns(text) < width.max(2), "{width}: {text:?}");
                assert!(!text.contains('\u{1b}'), "{text:?}");
            }
        }
    }
    // What matters most is there to the last.
    let narrow = lines(&shown, 32, None);
    assert!(narrow[1].starts_with("disk") && narrow[1].contains("req/s"), "{narrow:?}");
    // A long name takes the room that there is.
    let wide = lines(&shown, 120, None);
    assert!(wide[3].starts_with("mpath-with-a-very-long-name-of-somebody"), "{wide:?}");
}

#[test]
fn without_traffic_it_says_so_and_lost_events_are_said_first() {
    assert_eq!(lines(&interval(Vec::new()), 80, None)[1..], ["no requests"]);
    let lost = Interval { lost_events: 412, ..interval(Vec::new()) };
    assert!(lines(&lost, 80, None)[1].starts_with("412 events were lost"));
}

#[test]
fn flushes_discards_failures_and_merges_are_told_below_their_disk() {
    let mut one = disk("sda", 1_000.0, &[72_100]);
    one.operations.push(Flow {
        op: Op::Flush,
        requests: 12,
        requests_per_s: 12.0,
        bytes: 0,
        bytes_per_s: 0.0,
        waited_ns: 0,
        bins: Vec::new(),
    });
    (one.failed, one.requests_at_device) = (3, Some(250));
    let told = &lines(&interval(vec![one]), 80, None)[3];
    assert_eq!(told, "  3 failed; 12.0 flushes/s; merged into 250/s at the device");
}
