//! Builders: a checkup of a healthy disk of each kind, to be spoiled by one test at a time.

use super::machine::{self, fact, inspection, word};
use crate::{Observed, findings};
use seekwell_checkup::plan::{Level, Plan, PlanInputs, PlanMedium};
use seekwell_inspect::{Device, DeviceKind, Fact, Finding, Inspection, Queue, TargetKind};
use seekwell_io::measurement::{Failure, FailureKind, Stopped};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Workload;
use seekwell_runs::{
    DeviceCount, Engine, Medium, Phase, Repeat, RunDocument, RunKind, Spread, Study, Tool,
};

/// A checkup with everything the rules look at.
#[derive(Clone)]
pub struct Case {
    pub inspection: Inspection,
    pub phases: Vec<Phase>,
    pub preconditioned: bool,
    pub study: Option<Study>,
    pub medium: Option<Medium>,
    pub engine: Option<Engine>,
    pub wanted_bytes: Option<u64>,
    pub io_uring_disabled: Option<Fact<u64>>,
}

/// How a disk behaves, in round numbers.
struct Behaviour {
    curve: [(u32, f64); 9],
    read_ns: f64,
    write_ns: f64,
    commit_ns: f64,
    sequential: f64,
    cpu_percent: f64,
}

/// Every healthy kind with its name.
pub fn all_healthy() -> Vec<(&'static str, Case)> {
    vec![
        ("nvme", Case::nvme()),
        ("sata ssd", Case::sata_ssd()),
        ("hdd", Case::hdd()),
        ("virtio", Case::virtio()),
        ("zram", Case::zram()),
    ]
}

fn disk(name: &str, transport: &str, driver: &str, depth: u64, scheduler: &str) -> Device {
    let q = |file: &str| format!("/sys/block/{name}/queue/{file}");
    let mut disk = machine::device(name, DeviceKind::Disk);
    disk.serial = None;
    disk.transport = word(transport, "the device's sysfs path");
    disk.driver = word(driver, "/sys/bus/pci/devices/0000:00:1f.2/driver");
    disk.pci = word("0000:00:1f.2", "the device's sysfs path");
    let all = ["none", "mq-deadline", "kyber", "bfq"].map(String::from);
    disk.queue.schedulers = fact(all.into(), &q("scheduler"));
    disk.queue.scheduler = word(scheduler, &q("scheduler"));
    disk.queue.nr_requests = fact(256, &q("nr_requests"));
    disk.queue.fua = fact(true, &q("fua"));
    disk.queue.alignment_offset_bytes = fact(0, "/sys/block/x/alignment_offset");
    disk.queue.queue_depth = fact(depth, "/sys/block/x/device/queue_depth");
    disk.queue.iostats = fact(true, &q("iostats"));
    disk
}

impl Case {
    pub fn nvme() -> Self {
        let mut d = disk("nvme0n1", "nvme", "nvme", 1023, "none");
        d.queue.physical_block_bytes = fact(512, "/sys/block/nvme0n1/queue/physical_block_size");
        let rates = [12e3, 24e3, 48e3, 95e3, 180e3, 320e3, 450e3, 520e3, 530e3];
        Self::of(d, true, &behaviour(rates, 80e3, 20e3, 900e3, 3.2e9, 70.0))
    }

    pub fn sata_ssd() -> Self {
        let rates = [9e3, 18e3, 34e3, 60e3, 85e3, 95e3, 0.0, 0.0, 0.0];
        let d = disk("sda", "sata", "ahci", 32, "mq-deadline");
        Self::of(d, true, &behaviour(rates, 110e3, 45e3, 1.8e6, 540e6, 30.0))
    }

    /// ST2000DM006, as measured.
    pub fn hdd() -> Self {
        let rates = [57.6, 64.5, 71.2, 78.6, 86.3, 93.6, 0.0, 0.0, 0.0];
        let mut d = disk("sdb", "sata", "ahci", 32, "mq-deadline");
        d.queue.rotational = fact(true, "/sys/block/sdb/queue/rotational");
        Self::of(d, true, &behaviour(rates, 17e6, 9e6, 25e6, 190e6, 2.0))
    }

    pub fn virtio() -> Self {
        let rates = [2e3, 4e3, 8e3, 16e3, 30e3, 50e3, 60e3, 0.0, 0.0];
        let mut d = disk("vda", "virtio-blk", "virtio_blk", 256, "mq-deadline");
        d.queue.read_ahead_bytes = fact(4 << 20, "/sys/block/vda/queue/read_ahead_kb");
        let mut case = Self::of(d, true, &behaviour(rates, 480e3, 500e3, 1.2e6, 1.1e9, 40.0));
        case.inspection.host.virtualization = fact("kvm".into(), "/sys/class/dmi/id/sys_vendor");
        case
    }

    pub fn zram() -> Self {
        let rates = [800e3, 820e3, 830e3, 830e3, 830e3, 830e3, 0.0, 0.0, 0.0];
        let mut d = disk("zram0", "memory", "zram", 1, "none");
        d.kind = DeviceKind::Zram;
        let mut case = Self::of(d, false, &behaviour(rates, 900.0, 1500.0, 2e3, 6e9, 60.0));
        case.inspection.filesystem = None;
        case.inspection.kind = TargetKind::BlockDevice;
        case.wanted_bytes = None;
        let serial = "/dev/zram0".into();
        case.medium = Some(Medium::Destroyed {
            serial,
            size_bytes: 2 << 30,
            direct: true,
            looked_at_bytes: Some(1),
        });
        case
    }

    fn of(disk: Device, partitioned: bool, behaviour: &Behaviour) -> Self {
        let device = if partitioned { partition(disk) } else { disk };
        Self {
            inspection: inspection(device),
            phases: phases(behaviour),
            preconditioned: false,
            study: None,
            medium: Some(Medium::TemporaryFile {
                directory: "/srv".into(),
                size_bytes: 1 << 30,
                direct: true,
            }),
            engine: Some(Engine {
                name: "io_uring".into(),
                notice: None,
                cost_ns_per_request: Some(120.0),
            }),
            wanted_bytes: Some(1 << 30),
            io_uring_disabled: None,
        }
    }

    pub fn input(&self) -> Observed<'_> {
        Observed {
            phases: Some(&self.phases),
            preconditioned: self.preconditioned,
            study: self.study.as_ref(),
            medium: self.medium.as_ref(),
            engine: self.engine.as_ref(),
            wanted_bytes: self.wanted_bytes,
            io_uring_disabled: self.io_uring_disabled.as_ref(),
            ..Observed::new(&self.inspection)
        }
    }

    /// As a run keeps it.
    fn document(&self) -> RunDocument {
        let engine = self.engine.clone().unwrap_or(Engine {
            name: "io_uring".into(),
            notice: None,
            cost_ns_per_request: None,
        });
        let tool = Tool { version: "0".into(), git_commit: None };
        let (kind, inspection) = (RunKind::Checkup, self.inspection.clone());
        RunDocument {
            phases: self.phases.clone(),
            study: self.study.clone(),
            ..RunDocument::new("x", kind, "2026-11-20T23:15:02Z", (tool, engine), inspection)
        }
    }

    pub fn explain(&self) -> Vec<Finding> {
        let limits = seekwell_limits::judge(&self.document()).limits;
        let found = findings(&Observed { limits: &limits, ..self.input() });
        for f in &found {
            assert!(!f.evidence.is_empty(), "{} has no evidence", f.id);
            assert!(f.evidence.iter().all(|e| !e.seen.is_empty() && !e.from.is_empty()), "{f:?}");
            assert!(f.title.len() > 10 && f.why.len() > 20 && f.remedy.len() > 10, "{f:?}");
        }
        found
    }

    /// The finding with this identifier, which must be there.
    pub fn finding(&self, id: &str) -> Finding {
        let found = self.explain();
        let ids: Vec<_> = found.iter().map(|f| f.id.clone()).collect();
        let one = found.into_iter().find(|f| f.id == id);
        one.unwrap_or_else(|| panic!("no {id} in {ids:?}"))
    }

    /// Asserts that the rule with this identifier says nothing.
    pub fn quiet(&self, id: &str) {
        let found = self.explain().into_iter().find(|f| f.id == id);
        assert!(found.is_none(), "{found:#?}");
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub fn with_disk(mut self, change: impl FnOnce(&mut Device)) -> Self {
        let top = self.inspection.device.as_mut().expect("a device");
        change(if top.below.is_empty() { top } else { &mut top.below[0] });
        self
    }

    pub fn drawn(&mut self, name: impl Into<String>) -> &mut Workload {
        self.phase_mut(name).workload.drawn_mut().expect("checkup draws its requests")
    }

    pub fn phase_mut(&mut self, name: impl Into<String>) -> &mut Phase {
        let name = name.into();
        self.phases.iter_mut().find(|p| p.name == name).expect(&name)
    }

    pub fn set(&mut self, phase: impl Into<String>, metric: &str, value: f64) {
        self.spread(phase, metric, value, value, value);
    }

    pub fn spread(
        &mut self,
        phase: impl Into<String>,
        metric: &str,
        median: f64,
        low: f64,
        high: f64,
    ) {
        let spread = Spread { median, low, high, n: 3 };
        self.phase_mut(phase).metrics.insert(metric.into(), spread);
    }

    /// Scales a metric of every phase whose name begins so.
    pub fn scale(&mut self, prefix: impl Into<String>, metric: &str, factor: f64) {
        let prefix = prefix.into();
        for p in self.phases.iter_mut().filter(|p| p.name.starts_with(&prefix)) {
            if let Some(s) = p.metrics.get_mut(metric) {
                *s = Spread {
                    median: s.median * factor,
                    low: s.low * factor,
                    high: s.high * factor,
                    n: s.n,
                };
            }
        }
    }

    /// A failed request in the second repeat of a phase.
    pub fn fail(&mut self, phase: &str, errno: i32) {
        let kind = FailureKind::Errno { errno };
        let repeat = &mut self.phase_mut(phase).repeats[1];
        repeat.failed = 1;
        repeat.stopped = Stopped::Failed;
        repeat.failure = Some(Failure { op: Op::Read, offset: 81920, len: 4096, kind });
        repeat.invalid = Some("a request failed".into());
    }
}

fn behaviour(
    rates: [f64; 9],
    read_ns: f64,
    write_ns: f64,
    commit_ns: f64,
    sequential: f64,
    cpu_percent: f64,
) -> Behaviour {
    let mut curve = [(0, 0.0); 9];
    for (i, rate) in rates.into_iter().enumerate() {
        curve[i] = (1 << i, rate);
    }
    Behaviour { curve, read_ns, write_ns, commit_ns, sequential, cpu_percent }
}

fn partition(disk: Device) -> Device {
    Device {
        name: format!("{}{}1", disk.name, if disk.name.starts_with("nvme") { "p" } else { "" }),
        kind: DeviceKind::Partition,
        role: fact("1".into(), "/sys/class/block/x1/partition"),
        queue: Queue {
            alignment_offset_bytes: fact(0, "/sys/class/block/x1/alignment_offset"),
            ..disk.queue.clone()
        },
        below: vec![disk.clone()],
        ..disk
    }
}

fn phases(b: &Behaviour) -> Vec<Phase> {
    let inputs = PlanInputs {
        medium: PlanMedium::Scratch,
        offset_bytes: 0,
        region_bytes: 1 << 30,
        logical_block_bytes: 512,
        direct: true,
        seed: 1,
    };
    let plan = Plan::new(Level::Normal, inputs);
    let mut out = Vec::new();
    for spec in plan.phases {
        let mut phase = Phase::new(spec.name, spec.title, spec.workload);
        for (name, value) in numbers(b, &phase) {
            let spread = Spread { median: value, low: value * 0.97, high: value * 1.03, n: 3 };
            phase.metrics.insert(name.into(), spread);
        }
        phase.repeats = if phase.metrics.is_empty() { vec![] } else { vec![repeat(); 3] };
        out.push(phase);
    }
    out
}

/// The metrics of one phase on a disk that behaves so.
fn numbers(b: &Behaviour, phase: &Phase) -> Vec<(&'static str, f64)> {
    let depth = phase.workload.drawn().map_or(1, |w| w.pace.depth());
    let rate = |d: u32| b.curve.iter().find(|(at, _)| *at == d).map_or(0.0, |(_, rate)| *rate);
    let at32 = rate(32);
    let reads = |rate: f64, ns: f64| {
        vec![
            ("read.requests_per_s", rate),
            ("read.latency_ns_mean", ns),
            ("read.latency_ns_p50", ns * 0.95),
            ("read.latency_ns_p99", ns * 2.0),
            ("cpu_percent", b.cpu_percent),
            ("device_share", 1.0),
        ]
    };
    let writes = |rate: f64| {
        vec![
            ("write.requests_per_s", rate),
            ("write.latency_ns_mean", b.write_ns),
            ("cpu_percent", b.cpu_percent),
            ("device_share", 1.0),
        ]
    };
    match phase.name.as_str() {
        "cached-read" => {
            vec![("read.requests_per_s", 9e3), ("cpu_percent", 99.0), ("device_share", 0.0)]
        }
        "seq-read-1m" => {
            let mut all = reads(b.sequential / 1048576.0, 4e6);
            all.push(("read.rate_bytes_per_s", b.sequential));
            all
        }
        "seq-write-1m" => writes(b.sequential / 2e6),
        "rand-write-4k-d1" => writes(1e9 / b.write_ns),
        "rand-write-4k-d8" | "rand-write-4k-d32" => writes(4e9 / b.write_ns),
        "mix-70-30-4k-d32" => {
            let mut all = reads(at32 * 0.5, 32e9 / at32 * 1.5);
            all.push(("write.requests_per_s", at32 * 0.2));
            all
        }
        "commit-4k" => {
            let mut all = writes(1e9 / b.commit_ns);
            all.push(("flush.response_ns_p50", b.commit_ns));
            all
        }
        "rand-read-128k-d8" => reads(b.sequential / 131072.0, 8.0 * 131072e9 / b.sequential),
        "rand-write-128k-d8" => writes(b.sequential / 262144.0),
        name if name.starts_with("rand-read") => {
            let rate = rate(depth);
            if rate == 0.0 {
                return vec![];
            }
            reads(rate, if depth == 1 { b.read_ns } else { f64::from(depth) * 1e9 / rate })
        }
        name => panic!("no numbers for {name}"),
    }
}

fn repeat() -> Repeat {
    Repeat {
        elapsed_ns: Nanos::from_millis(700),
        device: Some(DeviceCount { read_bytes: 1, written_bytes: 0, flushes: 0, share: 1.0 }),
        ..Repeat::new(1, Stopped::Finished)
    }
}
