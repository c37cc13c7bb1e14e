//! A document in which every optional value is present, so that tests see every key.
#![allow(dead_code, reason = "each test file uses some of it")]

use seekwell_inspect::facts::NetworkPath;
use seekwell_inspect::{
    Device, DeviceKind, Evidence, Fact, Filesystem, Finding, Hop, Host, Inspection, IoLimit,
    Missing, Queue, Severity, Shared, SharedKind, TargetKind,
};
use seekwell_io::measurement::{Failure, FailureKind, Series, Stopped};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_runs::limits::{Ceiling, Confidence, Known, Next, PhaseLimit, Station, Unit};
use seekwell_runs::together::{Comparison, Part, Rate, Ratio, Target, Together};
use seekwell_runs::{
    Amplification, AmplificationOf, Beginning, Beside, Bound, Calibration, Demand, DemandVerdict,
    Detail, DeviceCount, Effect, Engine, Fall, FastCause, FastRegion, Fidelity, JobFile, JobWork,
    Latency, Limit, LimitOutcome, Measure, Medium, Mismatch, OpSummary, Phase, Point,
    Preconditioning, Pts, PtsCell, PtsFound, PtsKind, PtsSeries, PtsTest, PtsWindow, Quantity,
    QuantityState, Recovery, Repeat, RepeatDetail, Replay, ReplayMode, RunDocument, RunKind, Side,
    Slowdown, Spread, Status, Steady, SteadyOutcome, SteadyState, SteadyValue, Stretch, Study,
    SuiteStep, Sustained, SustainedEnd, Sweep, Tool, Trial,
};
use std::collections::BTreeMap;

fn fact<T>(value: T) -> Option<Fact<T>> {
    Some(Fact::new(value, "/sys/x"))
}

fn text(value: &str) -> Option<Fact<String>> {
    fact(value.to_owned())
}

/// A disk, or a partition of one.
pub fn device(below: Vec<Device>) -> Device {
    Device {
        name: "sda".into(),
        dev: "8:0".into(),
        kind: if below.is_empty() { DeviceKind::Disk } else { DeviceKind::Partition },
        role: text("1"),
        size_bytes: fact(1 << 40),
        model: text("ST2000DM006"),
        serial: text("Z4Z1"),
        wwn: text("0x5000c500"),
        firmware: text("CC26"),
        transport: text("sata"),
        driver: text("ahci"),
        pci: text("0000:00:1f.2"),
        queue: Queue {
            scheduler: text("mq-deadline"),
            schedulers: fact(vec!["none".into(), "mq-deadline".into()]),
            nr_requests: fact(64),
            read_ahead_bytes: fact(131_072),
            rotational: fact(true),
            write_cache: text("write back"),
            fua: fact(false),
            logical_block_bytes: fact(512),
            physical_block_bytes: fact(4096),
            alignment_offset_bytes: fact(0),
            queue_depth: fact(32),
            hardware_queues: fact(1),
            max_request_bytes: fact(1 << 20),
            discard_max_bytes: fact(0),
            iostats: fact(true),
        },
        attachment: vec![Hop {
            kind: "controller".into(),
            name: "0000:00:1f.2".into(),
            detail: "SATA controller, ahci".into(),
            from: "/sys/devices".into(),
        }],
        below,
        detail: Box::default(),
    }
}

pub fn inspection() -> Inspection {
    Inspection {
        host: Host {
            kernel: text("6.18.0"),
            cpu_model: text("some CPU"),
            cpus: fact(2),
            memory_bytes: fact(1 << 34),
            memory_available_bytes: fact(1 << 33),
            virtualization: text("kvm"),
            container: text("podman"),
            io_limits: fact(IoLimit { dev: "8:0".into(), writes: true, bytes: false, per_s: 20 })
                .into_iter()
                .collect(),
            ..Host::default()
        },
        filesystem: Some(Filesystem {
            mount_point: Fact::new("/mnt".into(), "mountinfo"),
            fstype: Fact::new("ext4".into(), "mountinfo"),
            source: Fact::new("/dev/sda1".into(), "mountinfo"),
            options: Fact::new(vec!["rw".into()], "mountinfo"),
            read_only: false,
            size_bytes: fact(1 << 40),
            available_bytes: fact(1 << 39),
            inodes_available: fact(1 << 20),
            below: None,
            fuse: None,
        }),
        device: Some(device(vec![device(Vec::new())])),
        notes: vec!["a virtual machine's disk".into()],
        missing: vec![Missing {
            what: "the serial number".into(),
            from: "/sys/x".into(),
            reason: "denied".into(),
        }],
        network: fact(NetworkPath {
            server: "192.168.0.2".into(),
            interface: "eth0".into(),
            megabits_per_s: Some(10_000),
        }),
        ..Inspection::new("/mnt/data", TargetKind::Directory)
    }
}

fn latency() -> Latency {
    Latency {
        ns_min: 50_000,
        ns_mean: 81_000.5,
        ns_p50: Some(80_000),
        ns_p90: Some(90_000),
        ns_p99: Some(99_000),
        ns_p99_9: Some(120_000),
        ns_p99_99: Some(150_000),
        ns_max: 200_000,
    }
}

fn repeat(seed: u64) -> Repeat {
    let op = OpSummary {
        requests: 12_000,
        bytes: 12_000 * 4096,
        requests_per_s: 12_000.0,
        rate_bytes_per_s: 49_152_000.0,
        latency: latency(),
        response: Some(latency()),
    };
    Repeat {
        elapsed_ns: Nanos(1_000_000_000),
        failure: Some(Failure {
            op: Op::Read,
            offset: 4096,
            len: 4096,
            kind: FailureKind::Errno { errno: 5 },
        }),
        failed: 1,
        ops: BTreeMap::from([("read".into(), op)]),
        cpu_user_ns: Nanos(1_000_000),
        cpu_system_ns: Nanos(2_000_000),
        syscalls: 400,
        device: Some(DeviceCount {
            read_bytes: 12_000 * 4096,
            written_bytes: 0,
            flushes: 0,
            share: 1.0,
        }),
        slowdown: Some(Slowdown { at_ns: 1, before_per_s: 9_000.0, after_per_s: 1_000.0 }),
        invalid: Some("a request failed".into()),
        ..Repeat::new(seed, Stopped::Finished)
    }
}

fn repeat_detail(phase: &str, repeat: u32) -> RepeatDetail {
    let mut series = Series::new(Nanos::from_millis(100));
    series.at(Nanos::from_millis(950)).requests[0] = 1200;
    RepeatDetail {
        phase: phase.into(),
        repeat,
        latency_bins: BTreeMap::from([("read".into(), vec![(640, 11_000), (641, 1000)])]),
        response_bins: BTreeMap::from([("read".into(), vec![(640, 12_000)])]),
        series,
    }
}

/// A run of `phases` phases with two repeats each.
pub fn run(id: &str, phases: usize) -> (RunDocument, Detail) {
    let phase = |i: usize| Phase {
        name: format!("rand-read-4k-d{}", i + 1),
        title: format!("random read 4 KiB, depth {}", i + 1),
        workload: Workload::closed(Pattern::Random, 100, 4096, i as u32 + 1, 1 << 30).into(),
        skipped: Some("no time left".into()),
        cut_short: Some(seekwell_runs::Skipped::OutOfTime),
        repeats: vec![repeat(1), repeat(2)],
        metrics: BTreeMap::from([
            ("read.requests_per_s".into(), Spread::of(&[100.0 * i as f64, 12_000.0]).unwrap()),
            ("cpu_ns_per_request".into(), Spread::of(&[140.0]).unwrap()),
        ]),
    };
    let run = RunDocument {
        schema: RunDocument::SCHEMA.into(),
        id: id.into(),
        kind: RunKind::Checkup,
        status: Status::Running,
        label: Some("before".into()),
        modelled: false,
        started_at: "2026-11-20T23:15:02Z".into(),
        ended_at: Some("2026-11-20T23:16:02Z".into()),
        tool: Tool { version: "0.1.0".into(), git_commit: Some("abc".into()) },
        engine: Engine {
            name: "io_uring".into(),
            notice: Some("none".into()),
            cost_ns_per_request: Some(140.0),
        },
        medium: Some(Medium::TemporaryFile {
            directory: "/mnt/data".into(),
            size_bytes: 1 << 30,
            direct: true,
        }),
        inspection: inspection(),
        phases: (0..phases).map(phase).collect(),
        preconditioning: Some(Preconditioning {
            sequential_bytes: 2 << 30,
            random_bytes: 2 << 30,
            took_ns: 9_000_000_000,
        }),
        study: None,
        findings: vec![Finding {
            id: "SW-QUEUE-001".into(),
            severity: Severity::Warning,
            title: "depth buys nothing".into(),
            evidence: vec![Evidence { seen: "x1.0".into(), from: "rand-read-4k-d32".into() }],
            why: "tags are not used".into(),
            remedy: "use ahci".into(),
            tune: Some("readahead".into()),
        }],
        summary: vec!["Reads at depth 32 reach 99 % of the link.".into()],
        limits: vec![phase_limit()],
        ceilings: vec![Ceiling {
            by: Station::Link,
            name: "SATA 3 Gbps".into(),
            rate: 300e6,
            unit: Unit::BytesPerS,
            op: Some("read".into()),
            known: Known::Declared,
            from: "/sys/class/ata_link/link1/sata_spd".into(),
        }],
        invalid: vec!["too noisy".into()],
    };
    let repeats = run.phases.iter().flat_map(|p| (0..2).map(|i| repeat_detail(&p.name, i)));
    let detail = Detail { repeats: repeats.collect() };
    (run, detail)
}

fn phase_limit() -> PhaseLimit {
    PhaseLimit {
        phase: "seq-read-1m".into(),
        by: Station::Link,
        name: "the SATA link at 3 Gbps".into(),
        measured: Some(290e6),
        ceiling: Some(300e6),
        unit: Some(Unit::BytesPerS),
        share: Some(0.97),
        confidence: Confidence::Shown,
        evidence: vec![Evidence { seen: "290 MB/s".into(), from: "seq-read-1m".into() }],
        or: vec![Station::Medium],
        tell: Some("seekwell bench --on sda".into()),
        next: Some(Next { by: Station::Medium, gain: Some(1.4) }),
        request_bytes: Some(1_048_576.0),
        bytes_per_s: Some(290e6),
    }
}

pub fn replay() -> Replay {
    Replay {
        trace: "web.parquet".into(),
        format: "seekwell".into(),
        complete: true,
        recorded_device: Some("sda".into()),
        requests: BTreeMap::from([("read".into(), 90), ("write".into(), 10)]),
        span_ns: Nanos::from_millis(2_000),
        mode: ReplayMode::Timed,
        times: "queue".into(),
        speed: 1.0,
        depth: 256,
        recorded_depth: false,
        tags: Some(32),
        tag_policy: Some("split".into()),
        fit: "fail".into(),
        writes: false,
    }
}

pub fn fidelity() -> Fidelity {
    Fidelity {
        verdict: "kept-up".into(),
        late_bound_ns: Nanos::from_millis(1),
        issued: 90,
        lateness: Some(latency()),
        late_device: 0,
        late_program: 1,
        drift_percent: Some(0.01),
        gap_distance: Some(0.02),
        in_flight_recorded: Some(1.5),
        in_flight: Some(1.4),
        in_flight_error: Some(0.2),
        tasks: None,
        time_ratio: None,
        handed_over: false,
        reordered: 0,
        skipped: BTreeMap::from([("write".into(), 10)]),
        skipped_other: 0,
        altered: 0,
        parts: 0,
        backwards: 0,
    }
}

pub fn demand() -> Demand {
    let bound = Bound {
        job: "wal".into(),
        metric: "flush.latency_ns_p99".into(),
        side: Side::AtMost,
        bound: 1e7,
        why: "heartbeats are missed".into(),
        values: vec![2e6, 3e6],
        holds: None,
    };
    Demand {
        name: "etcd".into(),
        title: "a log".into(),
        sources: vec!["its documentation".into()],
        bounds: vec![bound],
        verdict: DemandVerdict::Undecided,
    }
}

pub fn calibration() -> Calibration {
    let slowdown = Slowdown { at_ns: 1, before_per_s: 9_000.0, after_per_s: 1_000.0 };
    let of = |own_part| Quantity {
        name: "write_iops".into(),
        job: "write".into(),
        metric: "write.requests_per_s".into(),
        own_part: Some(own_part),
        own: vec![9_000.0, 1_000.0],
        settled: vec![1_000.0, 1_000.0],
        skipped_runs: 0,
        state: QuantityState::Known,
        steady: Some(SteadyValue { mean: 1_000.0, low: 999.0, high: 1_001.0 }),
        fall: Some(Fall { run: 0, slowdown, moved_bytes: 4096, cause: FastCause::BurstCredits }),
    };
    Calibration {
        name: "ceph".into(),
        title: "what an OSD is capable of".into(),
        sources: vec!["its documentation".into()],
        quantities: vec![of(Beginning::Requests(3_000)), of(Beginning::Ns(Nanos(1)))],
        credits_may_last: false,
        text: Some("write_iops 1000\n".into()),
    }
}

pub fn step() -> SuiteStep {
    SuiteStep {
        suite: "fs".into(),
        step: "sequential-create".into(),
        tunables: BTreeMap::from([("files".into(), "16384".into())]),
        primary: "create_per_s".into(),
    }
}

pub fn job() -> JobWork {
    JobWork {
        jobs: vec!["randwrite".into()],
        job_file: "disk.fio".into(),
        group: 0,
        clones: 4,
        engine: "io_uring".into(),
        reads_back: false,
        plain: Some(Workload::closed(Pattern::Random, 0, 4096, 1, u64::MAX)),
        options: BTreeMap::from([("rw".into(), "randwrite".into()), ("bs".into(), "4k".into())]),
        files: vec![JobFile {
            path: "randwrite.0.0".into(),
            kind: "temporary".into(),
            size_bytes: 1 << 30,
        }],
        warnings: vec!["hipri has no effect: completions come by interrupt".into()],
    }
}

pub fn mismatch() -> Mismatch {
    Mismatch {
        path: "/dev/sdb".into(),
        offset: 4096,
        len: 4096,
        differs_at: Some(4100),
        what: "checksum".into(),
        expected: "00ff".into(),
        found: "01ff".into(),
    }
}

/// One of each kind of question to several runs.
fn sustained() -> Sustained {
    let (from_bytes, from_low_bytes, from_high_bytes) = (9, 8, 10);
    let (rate_bytes_per_s, low_bytes_per_s, high_bytes_per_s) = (2.0, 1.0, 3.0);
    Sustained {
        phase: "write-1048576-d8".into(),
        written_bytes: 30,
        most_bytes: 60,
        ended: SustainedEnd::Settled,
        stretches: vec![Stretch {
            from_bytes,
            from_low_bytes,
            from_high_bytes,
            rate_bytes_per_s,
            low_bytes_per_s,
            high_bytes_per_s,
        }],
        fast: Some(FastRegion {
            bytes: 9,
            low_bytes: 8,
            high_bytes: 10,
            before_bytes_per_s: 20.0,
            after_bytes_per_s: 2.0,
        }),
        cause: FastCause::SlcCache,
        recoveries: vec![Recovery { idle_ns: 1, bytes: 4 }],
        part_bytes: 3,
        rates_bytes_per_s: vec![20.0, 2.0],
    }
}

pub fn studies() -> [Study; 10] {
    let point = Point { phase: "phase-0".into(), values: vec!["1".into()] };
    let trial = Trial {
        phase: "phase-0".into(),
        requests_per_s: 100.0,
        completed_per_s: 99.5,
        response_ns: Some(1e6),
        holds: true,
        confirms: true,
    };
    [
        Study::Sweep(Sweep { keys: vec!["iodepth".into()], points: vec![point] }),
        Study::Beside(Beside {
            alone: "phase-0/alone".into(),
            beside: "phase-0/beside".into(),
            others: vec!["other-1/phase-1".into()],
            effects: vec![Effect {
                metric: "read.latency_ns_p99".into(),
                rounds: vec![2.0, 2.1],
                ratio: Some(Ratio { ratio: 2.05, low: 1.9, high: 2.2 }),
            }],
        }),
        Study::Limit(Limit {
            metric: "p99".into(),
            bound_ns: 2_000_000,
            closed_phase: "closed".into(),
            closed_requests_per_s: Some(1_000.0),
            trials: vec![trial],
            outcome: Some(LimitOutcome::Found { requests_per_s: 100.0 }),
        }),
        Study::Sustained(sustained()),
        Study::Amplification(Amplification {
            workloads: vec![AmplificationOf {
                steady: Steady { phase: "wa-even".into(), rounds_per_s: vec![1.0], outcome: None },
                rounds: vec![Some(2.0)],
                host_written_bytes: 1,
                media_written_bytes: 2,
                write_amplification: Some(2.0),
            }],
        }),
        Study::Steady(Steady {
            phase: "phase-0".into(),
            rounds_per_s: vec![1_000.0; 5],
            outcome: Some(SteadyOutcome::Reached { from: 0, mean_per_s: 1_000.0 }),
        }),
        Study::Together(Box::new(together())),
        Study::Demand(Box::new(demand())),
        Study::Calibration(Box::new(calibration())),
        Study::Pts(pts()),
    ]
}

/// A short form of one test.
fn pts() -> Pts {
    let found = PtsFound {
        requests_per_s: 1_000.0,
        rate_bytes_per_s: 4_096_000.0,
        latency_ns_mean: 1e6,
        latency_ns_p99_999: None,
        latency_ns_max: 2_000_000,
    };
    let cell = PtsCell {
        phase: "phase-0".into(),
        read_percent: 100,
        block_bytes: 4096,
        threads: 1,
        depth: 1,
        found: Some(found),
    };
    let (mean, range, excursion) = (1_000.0, 0.1, -0.01);
    let series = PtsSeries {
        phase: "phase-0".into(),
        measure: Measure::RequestsPerS,
        rounds: vec![1_000.0; 5],
        window: Some(PtsWindow { from: 0, rounds: 5, steady: true, mean, range, excursion }),
        cells: vec![cell],
    };
    let (kind, written_first_bytes) = (PtsKind::Latency, 1);
    Pts {
        short: vec!["cells of 1 s in place of 60 s".into()],
        asked: [("cell".to_owned(), "1".to_owned())].into(),
        tests: vec![PtsTest { kind, written_first_bytes, series: vec![series], finished: true }],
    }
}

/// Two targets behind one link, and one that could not be opened.
fn together() -> Together {
    let rate = Rate { requests_per_s: 443.0, bytes_per_s: 465e6 };
    let part = |name: &str| Part {
        target: name.into(),
        alone_phase: format!("{name}/seq-read-1m/alone"),
        together_phase: format!("{name}/seq-read-1m/together"),
        alone: rate,
        together: rate,
    };
    let target = |name: &str, left_out: Option<&str>| Target {
        name: name.into(),
        inspection: Some(inspection()),
        medium: Some(Medium::ReadOnly { size_bytes: 1 << 40, direct: true, device: None }),
        left_out: left_out.map(str::to_owned),
    };
    Together {
        targets: vec![target("nvme0n1", None), target("nvme1n1", Some("it is gone"))],
        workloads: vec![Comparison {
            workload: "seq-read-1m".into(),
            title: "sequential read 1 MiB, depth 4".into(),
            parts: vec![part("nvme0n1"), part("nvme1n1")],
            alone: rate,
            together: rate,
            rounds: vec![0.61; 6],
            efficiency: Some(Ratio { ratio: 0.61, low: 0.6, high: 0.62 }),
            reached: Some(1.0),
            busy_percent: Some(20.0),
        }],
        shared: vec![Shared {
            kind: SharedKind::PcieLink,
            name: "0000:00:1c.0".into(),
            about: "PCI Express link of bridge 0000:00:1c.0, 8.0 GT/s x1".into(),
            targets: vec!["nvme0n1".into(), "nvme1n1".into()],
            bytes_per_s: Some(985e6),
            from: "/sys/x".into(),
        }],
    }
}

pub fn steady_state() -> SteadyState {
    SteadyState {
        criterion: "iops_slope".into(),
        limit: 0.5,
        percent: true,
        window_ns: Nanos::from_millis(5000),
        attained: true,
        found: Some(0.1),
        mean: 100.0,
        window_requests_per_s: vec![100.0],
        window_bytes_per_s: vec![409_600.0],
    }
}
