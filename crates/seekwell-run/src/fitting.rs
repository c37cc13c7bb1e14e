//! A model of the disk that a kept run measured.

use seekwell_inspect::{Device, Fact, Inspection};
use seekwell_machine::fit::{self, Facts, FitError, Fitted, Next, Observed, Times};
use seekwell_machine::link::SataSpeed;
use seekwell_runs::{Medium, OpSummary, Phase, RunDocument};
use std::ops::RangeInclusive;

/// Fits a model to what runs of one disk measured at these depths; the facts are those of the
/// first.
///
/// # Errors
/// [`FitError`] when the runs show too little.
pub fn fit(runs: &[RunDocument], depths: &RangeInclusive<u32>) -> Result<Fitted, FitError> {
    let (facts, observed) = told(runs)?;
    fit::fit(&facts, &observed, depths)
}

/// The job that a fit to these runs knows least about; see [`fit::next`].
///
/// # Errors
/// [`FitError::Drifted`] when the runs are of different states of the disk.
pub fn fit_next(runs: &[RunDocument], threads: usize) -> Result<Option<Next>, FitError> {
    let (facts, observed) = told(runs)?;
    Ok(fit::next(&facts, &observed, threads))
}

fn told(runs: &[RunDocument]) -> Result<(Facts, Vec<Observed>), FitError> {
    let mut all = Vec::new();
    for run in runs {
        fit::join(&mut all, &run.id, run.phases.iter().filter_map(observed).collect())?;
    }
    let facts = runs.first().map_or_else(Facts::default, |first| facts(first, &all));
    Ok((facts, all))
}

/// What a phase gave, where it drew requests and none of its numbers is missing.
fn observed(phase: &Phase) -> Option<Observed> {
    let workload = phase.workload.drawn()?.clone();
    let rates: Vec<_> = ["read", "write"]
        .iter()
        .filter_map(|op| phase.metrics.get(&format!("{op}.requests_per_s")))
        .collect();
    let requests_per_s: f64 = rates.iter().map(|s| s.median).sum();
    let width: f64 = rates.iter().map(|s| s.high - s.low).sum();
    (requests_per_s > 0.0).then(|| Observed {
        phase: phase.name.clone(),
        workload,
        requests_per_s,
        spread_percent: 50.0 * width / requests_per_s,
        reads: times(phase, "read"),
        writes: times(phase, "write"),
    })
}

/// Times of single reads or writes.
fn times(phase: &Phase, name: &str) -> Times {
    let valid = phase.repeats.iter().filter(|r| r.invalid.is_none());
    let ops: Vec<&OpSummary> = valid.filter_map(|r| r.ops.get(name)).collect();
    let median = |of: &str| phase.median(&format!("{name}.latency_ns_{of}"));
    let shortest = ops.iter().map(|op| op.latency.ns_min as f64).reduce(f64::min);
    let shares = [
        (0.0, shortest),
        (0.5, median("p50")),
        (0.9, median("p90")),
        (0.99, median("p99")),
        (0.999, median("p99_9")),
        (1.0, median("max")),
    ];
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (share, ns) in shares {
        let Some(ns) = ns else { continue };
        let before = points.last().map_or(0.0, |(_, ns)| *ns);
        points.push((share, ns.max(before)));
    }
    Times { points, mean_ns: median("mean") }
}

/// What inspection and the measurement itself show of the disk.
fn facts(document: &RunDocument, observed: &[Observed]) -> Facts {
    let reached = observed.iter().map(|o| o.workload.offset_bytes + o.workload.region_bytes);
    let disk = disk_under(&document.inspection);
    let known = disk.and_then(|d| d.size_bytes.as_ref()).map(|f| f.value);
    let size = match &document.medium {
        Some(Medium::Machine { size_bytes, .. }) => Some(*size_bytes),
        _ => known,
    };
    let queue = disk.map(|d| &d.queue);
    let detail = disk.map(|d| &d.detail);
    let ata = detail.and_then(|d| d.ata.as_ref());
    let identify = detail.and_then(|d| d.identify.as_ref());
    let told = identify.and_then(|i| i.value.rotation_rpm).map(u64::from);
    let page = detail.and_then(|d| d.scsi.as_ref()).and_then(|s| s.rotation_rpm.as_ref());
    // 1 stands for a drive that does not rotate.
    let rpm = told.or(page.map(|f| f.value)).filter(|rpm| *rpm > 1).map(|rpm| rpm as f64);
    let sector = queue.and_then(|q| q.logical_block_bytes.as_ref()).map(|f| f.value);
    Facts {
        title: title(document, disk),
        capacity_bytes: size.unwrap_or(0).max(reached.max().unwrap_or(0)),
        sector_bytes: sector.and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(512),
        rotational: queue.and_then(|q| q.rotational.as_ref()).map(|f| f.value),
        rpm,
        depth: queue.and_then(|q| q.queue_depth.as_ref()).and_then(|f| u32::try_from(f.value).ok()),
        link: ata.and_then(|a| a.link_speed.as_ref()).and_then(speed),
    }
}

/// The one disk the measured device stands on, if it is one.
fn disk_under(inspection: &Inspection) -> Option<&Device> {
    let mut device = inspection.device.as_ref()?;
    while let [below] = device.below.as_slice() {
        device = below;
    }
    Some(device)
}

fn title(document: &RunDocument, disk: Option<&Device>) -> String {
    let model = disk.and_then(|d| d.model.as_ref()).map(|f| f.value.trim().to_owned());
    let name = match &document.medium {
        Some(Medium::Machine { title, .. }) => Some(title.clone()),
        _ => model.filter(|m| !m.is_empty()).or_else(|| disk.map(|d| d.name.clone())),
    };
    let name = name.unwrap_or_else(|| document.inspection.target.clone());
    format!("{name}, fitted to {}", document.id)
}

/// A speed as the kernel words it: `6.0 Gbps`.
fn speed(fact: &Fact<String>) -> Option<SataSpeed> {
    match fact.value.trim() {
        "1.5 Gbps" => Some(SataSpeed::Gbps1_5),
        "3.0 Gbps" => Some(SataSpeed::Gbps3),
        "6.0 Gbps" => Some(SataSpeed::Gbps6),
        _ => None,
    }
}
