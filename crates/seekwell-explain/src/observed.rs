//! Everything the rules may look at.

use crate::found::Found;
use crate::look::{FASTEST_ROTATING_NS, ONE_READ, SLOWEST_FLASH_NS, is_honest, text, walk};
use seekwell_inspect::log::LogReport;
use seekwell_inspect::{Device, Evidence, Fact, Inspection, TargetKind};
use seekwell_io::workload::{Pace, Pattern};
use seekwell_runs::limits::{PhaseLimit, Station};
use seekwell_runs::{Engine, Medium, Phase, PhaseId, Repeat, Study};
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// The target as it is.
    pub inspection: &'a Inspection,
    /// The kernel log, where it could be read.
    pub log: Option<&'a LogReport>,
    /// The same target some time before: error counters are judged by what they grew.
    pub earlier: Option<&'a Inspection>,
    /// The phases of a run with their metrics; `None` if nothing was to be measured.
    pub phases: Option<&'a [Phase]>,
    /// What limits each of these phases.
    pub limits: &'a [PhaseLimit],
    /// Whether the device was written twice over before the run.
    pub preconditioned: bool,
    /// The question the run was to answer, beyond its numbers.
    pub study: Option<&'a Study>,
    /// What the data lay in, where anything was measured.
    pub medium: Option<&'a Medium>,
    /// How requests were issued, where any were.
    pub engine: Option<&'a Engine>,
    /// The size the temporary file should have had, in bytes.
    pub wanted_bytes: Option<u64>,
    /// The value of `kernel.io_uring_disabled`, where it could be read.
    pub io_uring_disabled: Option<&'a Fact<u64>>,
}

impl<'a> Observed<'a> {
    pub fn new(inspection: &'a Inspection) -> Self {
        Self {
            inspection,
            log: None,
            earlier: None,
            phases: None,
            limits: &[],
            preconditioned: false,
            study: None,
            medium: None,
            engine: None,
            wanted_bytes: None,
            io_uring_disabled: None,
        }
    }

    /// The target's device and everything below it, each name once.
    pub(crate) fn devices(&self) -> Vec<&'a Device> {
        let mut out = Vec::new();
        self.inspection.device.iter().for_each(|d| walk(d, &mut out));
        out
    }

    pub(crate) fn each(&self, rule: impl Fn(&'a Device) -> Option<Found>) -> Vec<Found> {
        self.devices().into_iter().filter_map(rule).collect()
    }

    /// The same device in the earlier inspection: same serial number, or same name where neither
    /// gives one.
    pub(crate) fn before(&self, device: &Device) -> Option<&'a Device> {
        let all = Self::new(self.earlier?).devices();
        let serial = |d: &Device| d.serial.as_ref().map(|s| s.value.clone());
        let wanted = serial(device);
        let same = |d: &&&Device| serial(d) == wanted;
        let named = all.iter().filter(same).find(|d| d.name == device.name);
        named.or_else(|| all.iter().find(same).filter(|_| wanted.is_some())).copied()
    }

    /// Whether a device is a virtual machine's, whose figures are what the host pretends.
    pub(crate) fn is_virtual(&self, device: &Device) -> bool {
        let model = text(&device.model);
        self.inspection.hypervisor().is_some()
            || ["QEMU", "VMware", "VBOX", "Virtual"].iter().any(|m| model.contains(m))
            || device.detail.pci.iter().any(|f| {
                let board = text(&f.subsystem);
                ["1af4:", "15ad:", "80ee:", "1b36:"].iter().any(|v| board.starts_with(v))
            })
    }

    pub(crate) fn is_model(&self) -> bool {
        self.inspection.kind == TargetKind::Machine
    }

    /// A word of the kernel's command line that starts with `prefix`.
    pub(crate) fn boot_option(&self, prefix: &str) -> Option<Fact<String>> {
        let line = self.inspection.host.vm.command_line.as_ref()?;
        let word = line.value.split_whitespace().find(|w| w.starts_with(prefix))?;
        Some(Fact::new(word.to_owned(), line.from.clone()))
    }
}

/// Depth, phase and rate of each point.
type Curve<'a> = Vec<(u32, &'a Phase, f64)>;

/// A run, and the disk it was on.
impl<'a> Observed<'a> {
    /// The phases of the run, if there was one.
    pub(crate) fn phases(&self) -> &'a [Phase] {
        self.phases.unwrap_or_default()
    }

    /// Whether the facts are about what was measured: below the null target there is no disk.
    pub(crate) fn has_facts(&self) -> bool {
        self.phases.is_none() || self.inspection.kind != TargetKind::Null
    }

    /// This phase of the checkup, if it was run.
    pub(crate) fn phase(&self, id: PhaseId) -> Option<&'a Phase> {
        self.phases().iter().find(|p| p.is(id))
    }

    /// The median of a metric of a phase whose numbers are the device's and not a cache's.
    pub(crate) fn honest(&self, phase: PhaseId, metric: &str) -> Option<f64> {
        let phase = self.phase(phase).filter(|p| is_honest(p))?;
        phase.median(metric)
    }

    /// How long one random read takes, in nanoseconds, where it came from the device.
    pub(crate) fn one_read_ns(&self) -> Option<f64> {
        let of = |metric| self.honest(ONE_READ, metric);
        of("read.latency_ns_p50").or_else(|| of("read.latency_ns_mean"))
    }

    /// The one disk under the target, reached through partitions and mapped devices only. `None`
    /// if there are several, or if a loop device, memory or a network lies between.
    pub(crate) fn disk(&self) -> Option<&'a Device> {
        self.inspection.disk()
    }

    /// How it is known that a disk is a virtual machine's, where it is: its latencies and its cache
    /// are the host's affair.
    pub(crate) fn virtual_evidence(&self, disk: &Device) -> Option<Evidence> {
        self.inspection.virtual_evidence(disk)
    }

    /// Whether a physical disk rotates, where flag and latencies do not contradict each other.
    pub(crate) fn rotates(&self, disk: &Device) -> Option<bool> {
        if self.virtual_evidence(disk).is_some() {
            return None;
        }
        let flag = disk.queue.rotational.as_ref()?.value;
        match self.one_read_ns() {
            Some(ns) if flag && ns < FASTEST_ROTATING_NS => None,
            Some(ns) if !flag && ns > SLOWEST_FLASH_NS => None,
            _ => Some(flag),
        }
    }

    /// Random reads by depth, honest ones only: depth, phase, median rate. Of several sizes or
    /// numbers of threads, those measured at the most depths.
    pub(crate) fn curve(&self) -> Curve<'a> {
        let mut curves: Vec<(_, Curve<'a>)> = Vec::new();
        for phase in self.phases().iter().filter(|p| is_honest(p)) {
            let Some(w) = phase.workload.drawn().filter(|w| w.pattern == Pattern::Random) else {
                continue;
            };
            let rate = phase.median("read.requests_per_s").filter(|r| *r > 0.0);
            let (Pace::Closed { depth }, 100, Some(rate)) = (w.pace, w.read_percent, rate) else {
                continue;
            };
            let (like, point) = ((&w.sizes, w.threads, w.region_bytes), (depth, phase, rate));
            match curves.iter_mut().find(|(other, _)| *other == like) {
                Some((_, curve)) => curve.push(point),
                None => curves.push((like, vec![point])),
            }
        }
        let longest = curves.into_iter().rev().max_by_key(|(_, points)| points.len());
        let mut points = longest.map(|(_, points)| points).unwrap_or_default();
        points.sort_by_key(|(depth, ..)| *depth);
        points
    }

    /// The most of all processors that other programs had during one of these phases, 0 to 1, where
    /// it was enough to matter.
    pub(crate) fn others(&self, phases: impl Iterator<Item = &'a Phase>) -> Option<f64> {
        let repeats = phases.flat_map(|p| &p.repeats);
        let most =
            repeats.filter_map(|r| r.values.get(Repeat::OTHERS).copied()).reduce(f64::max)?;
        (most >= Repeat::OTHERS_MATTER).then_some(most / 100.0)
    }

    /// The most that a value was in any repeat of the run, and in which phase.
    pub(crate) fn most(&self, value: &str) -> Option<(&'a Phase, f64)> {
        let of = |phase: &'a Phase| {
            phase.repeats.iter().filter_map(move |r| Some((phase, *r.values.get(value)?)))
        };
        self.phases().iter().flat_map(of).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The statement on the fastest phase that this station limits, unless it is only a guess.
    pub(crate) fn limited_by(&self, station: Station) -> Option<&'a PhaseLimit> {
        let those = self.limits.iter().filter(|limit| limit.by == station && limit.is_known());
        those.max_by(|a, b| a.measured.partial_cmp(&b.measured).unwrap_or(Ordering::Equal))
    }

    /// Whether the processor limits a phase.
    pub(crate) fn is_cpu_bound(&self, phase: &Phase) -> bool {
        let processor = |l: &PhaseLimit| l.by == Station::Processor && l.phase == phase.name;
        self.limits.iter().any(processor)
    }
}
