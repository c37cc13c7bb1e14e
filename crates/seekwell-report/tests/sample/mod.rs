//! Documents made by hand for tests: a disk that is well described, an array, and a run where
//! everything that can be missing is. All of it is invented, and none of it is shipped.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod fleet;
mod limits;
mod machines;
mod phases;
pub mod questions;

use phases::{Made, Noise};
use seekwell_inspect::{Evidence, Finding, Inspection, Severity};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_runs::{Detail, Engine, Medium, Phase, RunDocument, RunKind, Status, Tool};

const GIB: u64 = 1 << 30;

fn document(inspection: Inspection, made: Vec<(Phase, Detail)>) -> (RunDocument, Detail) {
    let mut detail = Detail::default();
    let mut phases = Vec::new();
    for (phase, mut part) in made {
        phases.push(phase);
        detail.repeats.append(&mut part.repeats);
    }
    let tool = Tool { version: "0.1.0".into(), git_commit: Some("7468e89c0ffee1234".into()) };
    let engine = Engine { name: "io_uring".into(), notice: None, cost_ns_per_request: Some(412.0) };
    let (id, at) = ("20261120-231502-checkup-5f3a", "2026-11-20T23:15:02Z");
    let document = RunDocument {
        status: Status::Complete,
        ended_at: Some("2026-11-20T23:16:01Z".into()),
        medium: Some(Medium::TemporaryFile {
            directory: "/home/anna".into(),
            size_bytes: GIB,
            direct: true,
        }),
        phases,
        ..RunDocument::new(id, RunKind::Checkup, at, (tool, engine), inspection)
    };
    (document, detail)
}

fn finding(
    id: &str,
    severity: Severity,
    title: &str,
    seen: &[(&str, &str)],
    [why, remedy]: [&str; 2],
) -> Finding {
    let evidence =
        seen.iter().map(|(seen, from)| Evidence { seen: (*seen).into(), from: (*from).into() });
    Finding {
        id: id.into(),
        severity,
        title: title.into(),
        evidence: evidence.collect(),
        why: why.into(),
        remedy: remedy.into(),
        tune: None,
    }
}

fn workload(pattern: Pattern, reads: u8, bytes: u32, depth: u32) -> Workload {
    let mut w = Workload::closed(pattern, reads, bytes, depth, GIB);
    w.runtime_ns = Nanos::from_millis(1000);
    w
}

/// A fast disk on half a link: every section of the page has something to show.
pub fn rich() -> (RunDocument, Detail) {
    let mut made = Vec::new();
    let mut cached = workload(Pattern::Sequential, 100, 1 << 20, 1);
    (cached.direct, cached.region_bytes) = (false, 2 << 20);
    let title = "cached read 1 MiB, depth 1 (page cache, as hdparm -T)";
    made.push(Made::new("cached-read", title, cached).read(9_800.0, 101.0, 0.04).build(3));
    let sequential = |reads| workload(Pattern::Sequential, reads, 1 << 20, 4);
    let title = "sequential read 1 MiB, depth 4";
    let read = Made::new("seq-read-1m", title, sequential(100));
    made.push(read.read(3_254.0, 1_190.0, 0.08).build(3));
    let curve = [
        (1, 13_300.0, 72.0),
        (2, 26_100.0, 73.5),
        (4, 50_700.0, 75.0),
        (8, 96_000.0, 79.0),
        (16, 171_000.0, 90.0),
        (32, 262_000.0, 117.0),
        (64, 331_000.0, 184.0),
        (128, 342_000.0, 362.0),
    ];
    for (depth, rate, median) in curve {
        let name = format!("rand-read-4k-d{depth}");
        let title = format!("random read 4 KiB, depth {depth}");
        let w = workload(Pattern::Random, 100, 4096, depth);
        made.push(Made::new(&name, &title, w).read(rate, median, 0.16).build(3));
    }
    let title = "sequential write 1 MiB, depth 4";
    let write = Made::new("seq-write-1m", title, sequential(0)).noise(Noise::CacheFillsUp);
    made.push(write.write(2_610.0, 1_480.0, 0.3).build(3));
    for (depth, rate, median) in [(1, 41_000.0, 21.4), (32, 233_000.0, 128.0)] {
        let name = format!("rand-write-4k-d{depth}");
        let title = format!("random write 4 KiB, depth {depth}");
        let w = workload(Pattern::Random, 0, 4096, depth);
        made.push(Made::new(&name, &title, w).write(rate, median, 0.25).build(3));
    }
    let title = "70 % reads, 30 % writes, random 4 KiB, depth 32";
    let w = workload(Pattern::Random, 70, 4096, 32);
    let mix = Made::new("mix-70-30-4k-d32", title, w);
    made.push(mix.read(96_000.0, 231.0, 0.45).write(41_000.0, 148.0, 0.4).build(3));
    let mut w = workload(Pattern::Sequential, 0, 4096, 1);
    w.flush_every = 1;
    let commit = Made::new("commit-4k", "commit: write 4 KiB and flush, depth 1", w);
    made.push(commit.write(1_420.0, 22.0, 0.2).flush(1_420.0, 660.0, 0.35).build(3));

    let (mut document, detail) = document(machines::nvme(), made);
    document.findings = vec![
        finding(
            "SW-QUEUE-003",
            Severity::Info,
            "Requests are not merged by a scheduler, as is right for this disk.",
            &[("scheduler none", "/sys/block/nvme0n1/queue/scheduler")],
            [
                "A disk this fast gains nothing from sorting requests, and sorting costs CPU time.",
                "Nothing: leave it as it is.",
            ],
        ),
        finding(
            "SW-LINK-001",
            Severity::Warning,
            "The disk's PCIe link runs at 2 lanes of 4.",
            &[
                ("current link width 2", "/sys/bus/pci/devices/0000:01:00.0/current_link_width"),
                ("largest link width 4", "/sys/bus/pci/devices/0000:01:00.0/max_link_width"),
                ("sequential read 3,423 MB/s", "seq-read-1m"),
            ],
            [
                "At this width the link carries half of what the disk can give, so sequential \
                 rates end at the link and not at the disk.",
                "Move the disk to the slot nearest the CPU, then look again:\nseekwell inspect \
                 /dev/nvme0n1",
            ],
        ),
    ];
    (document, detail)
}

/// The same disk, with what limits it and without findings.
pub fn limited() -> (RunDocument, Detail) {
    let (mut document, detail) = rich();
    document.findings.clear();
    limits::fill(&mut document);
    (document, detail)
}

/// A mirror of two rotating disks under LVM, and a model of it: branches and a badge.
pub fn array() -> (RunDocument, Detail) {
    let mut made = Vec::new();
    let w = workload(Pattern::Sequential, 100, 1 << 20, 4);
    let read = Made::new("seq-read-1m", "sequential read 1 MiB, depth 4", w);
    made.push(read.read(181.0, 22_000.0, 0.1).build(3));
    for (depth, rate, median) in [(1, 71.0, 14_000.0), (8, 142.0, 51_000.0), (32, 178.0, 172_000.0)]
    {
        let name = format!("rand-read-4k-d{depth}");
        let title = format!("random read 4 KiB, depth {depth}");
        let w = workload(Pattern::Random, 100, 4096, depth);
        made.push(Made::new(&name, &title, w).read(rate, median, 0.4).build(3));
    }
    let (mut document, detail) = document(machines::mirror(), made);
    document.id = "20261120-234410-bench-09c1".into();
    document.kind = RunKind::Bench;
    document.label = Some("mirror, modelled".into());
    document.modelled = true;
    (document, detail)
}

/// Names that attack: a terminal, a page, a table, and the width of all of them.
pub const HOSTILE_MODEL: &str =
    "\u{1b}[2J\u{1b}]0;owned\u{7}<script>alert(1)</script></template>|`x`";

/// A run that was stopped: one repeat, nothing left of some phases, hostile names throughout.
pub fn degraded() -> (RunDocument, Detail) {
    let mut made = Vec::new();
    let w = workload(Pattern::Random, 100, 4096, 1);
    let read = Made::new("rand-read-4k-d1", "random read 4 KiB, depth 1", w);
    let (mut phase, detail) = read.few(400).read(410.0, 2_300.0, 0.5).build(1);
    phase.metrics.remove("cpu_ns_per_request");
    phase.metrics.remove("device_share");
    made.push((phase, detail));
    let w = workload(Pattern::Sequential, 100, 1 << 20, 4);
    let cached = Made::new("seq-read-1m", "sequential read 1 MiB, depth 4", w);
    let (mut phase, detail) = cached.read(8_000.0, 400.0, 0.1).build(1);
    phase.repeats[0].invalid = Some("served by a cache".into());
    phase.metrics.clear();
    made.push((phase, detail));
    let why = "the target is only read: writing would destroy what it holds";
    for (name, title, w) in [
        (
            "seq-write-1m",
            "sequential write 1 MiB, depth 4",
            workload(Pattern::Sequential, 0, 1 << 20, 4),
        ),
        ("rand-write-4k-d1", "random write 4 KiB, depth 1", workload(Pattern::Random, 0, 4096, 1)),
    ] {
        made.push((Made::new(name, title, w).skipped(why), Detail::default()));
    }
    let (mut document, detail) = document(machines::hostile(), made);
    document.status = Status::Interrupted;
    document.label = Some("<b>label</b>\u{202e}".into());
    document.ended_at = None;
    document.engine.name = "threads".into();
    document.engine.notice = Some("io_uring is switched off (kernel.io_uring_disabled = 2)".into());
    document.invalid = vec!["the disk was hot: <img src=x onerror=alert(1)> 71 °C".into()];
    document.findings = vec![Finding {
        id: "SW-TEST-001".into(),
        severity: Severity::Error,
        title: format!("Model {HOSTILE_MODEL} is not what it says"),
        evidence: vec![Evidence {
            seen: "a\u{1b}[31mred\u{1b}[0m value".into(),
            from: format!("/sys/{}/model", "very-long-component/".repeat(12)),
        }],
        why: "Because <script>alert(2)</script> | pipes and `ticks` occur.".into(),
        remedy: "echo '</pre><script>alert(3)</script>' > /dev/null\n\u{1b}[5msecond line".into(),
        tune: None,
    }];
    (document, detail)
}
