//! A run in the making, for tests.

use crate::{Judged, judge};
use seekwell_inspect::facts::AtaFacts;
use seekwell_inspect::{Device, DeviceKind, Fact, Inspection, TargetKind};
use seekwell_io::workload::{Pattern, Workload};
use seekwell_runs::limits::PhaseLimit;
use seekwell_runs::{Engine, Phase, Repeat, RunDocument, RunKind, Spread, Tool, Work};

pub const LARGE: u32 = 1 << 20;
pub const SMALL: u32 = 4096;

pub struct Case(pub RunDocument);

impl Case {
    pub fn disk(rotational: Option<bool>) -> Self {
        let mut disk = Device::new("sda", "8:0", DeviceKind::Disk);
        disk.queue.rotational = rotational.map(|flag| Fact::new(flag, "queue/rotational"));
        let mut inspection = Inspection::new("/dev/sda", TargetKind::BlockDevice);
        inspection.host.cpus = Some(Fact::new(4, "/proc/cpuinfo"));
        inspection.device = Some(disk);
        let (name, notice) = ("io_uring".into(), None);
        let engine = Engine { name, notice, cost_ns_per_request: None };
        let tool = Tool { version: "0".into(), git_commit: None };
        let at = "2026-11-20T23:15:02Z";
        Self(RunDocument::new("x", RunKind::Checkup, at, (tool, engine), inspection))
    }

    pub fn with(mut self, change: impl FnOnce(&mut Device)) -> Self {
        change(self.0.inspection.device.as_mut().expect("a disk"));
        self
    }

    pub fn sata(self, words: &str) -> Self {
        let link_speed = Some(Fact::new(words.to_owned(), "sata_spd"));
        self.with(|d| d.detail.ata = Some(AtaFacts { link_speed, ..AtaFacts::default() }))
    }

    pub fn phase(mut self, name: &str, work: Workload, requests_per_s: f64) -> Self {
        let mut phase = Phase::new(name, name, Work::Drawn(work.clone()));
        let one = |value| Spread { median: value, low: value, high: value, n: 1 };
        for (op, share) in [("read", work.read_percent), ("write", 100 - work.read_percent)] {
            let rate = requests_per_s * f64::from(share) / 100.0;
            if rate > 0.0 {
                phase.metrics.insert(format!("{op}.requests_per_s"), one(rate));
                let bytes = rate * f64::from(work.max_bytes());
                phase.metrics.insert(format!("{op}.rate_bytes_per_s"), one(bytes));
            }
        }
        phase.repeats.push(Repeat::default());
        self.0.phases.push(phase);
        self
    }

    pub fn metric(mut self, name: &str, value: f64) -> Self {
        let phase = self.0.phases.last_mut().expect("a phase");
        phase.metrics.insert(name.into(), Spread { median: value, low: value, high: value, n: 1 });
        self
    }

    /// Random requests of 4 KiB at several depths, named by operation and depth.
    pub fn small(self, read_percent: u8, rates: &[(u32, f64)]) -> Self {
        let op = if read_percent == 100 { "r" } else { "w" };
        rates.iter().fold(self, |case, (depth, rate)| {
            let work = Workload::closed(Pattern::Random, read_percent, SMALL, *depth, 1 << 30);
            case.phase(&format!("{op}{depth}"), work, *rate)
        })
    }

    /// Sequential requests of 1 MiB, and random ones of 128 KiB, at these MB/s.
    pub fn large(self, read_percent: u8, sequential: f64, random: f64) -> Self {
        let op = if read_percent == 100 { "r" } else { "w" };
        let of = |pattern, bytes| Workload::closed(pattern, read_percent, bytes, 8, 1 << 30);
        let count = |mb: f64, bytes: u32| mb * 1e6 / f64::from(bytes);
        let (one, other) = (LARGE, 128 << 10);
        self.phase(&format!("{op}seq"), of(Pattern::Sequential, one), count(sequential, one)).phase(
            &format!("{op}128k"),
            of(Pattern::Random, other),
            count(random, other),
        )
    }

    pub fn judge(&self) -> Judged {
        judge(&self.0)
    }

    /// The statement on a phase.
    pub fn of(&self, phase: &str) -> PhaseLimit {
        let judged = self.judge();
        let found = judged.limits.iter().find(|limit| limit.phase == phase);
        found.unwrap_or_else(|| panic!("no {phase} in {judged:?}")).clone()
    }
}
