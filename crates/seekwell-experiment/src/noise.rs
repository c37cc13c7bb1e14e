//! The noise floor of a machine: how far apart blocks of one and the same thing are, and how long
//! an answer of a given width will take because of it.

use crate::conclude::block_values;
use crate::design::{Design, Forecast, Shape};
use crate::document::Document;
use seekwell_inspect::{Inspection, TargetKind};
use seekwell_job::PlainJob;
use seekwell_stats::{BLOCKS_CAP, estimate};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All noise floors that were measured here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// `seekwell/noise/1`.
    pub schema: String,
    /// Oldest first; one for each target, workload and shape.
    pub floors: Vec<NoiseFloor>,
}

impl Default for Noise {
    fn default() -> Self {
        Self { schema: Self::SCHEMA.to_owned(), floors: Vec::new() }
    }
}

/// One A/A experiment's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// What the target is known by.
    pub identity: String,
    /// The workload, as `KEY=VALUE` words.
    pub workload: Vec<String>,
    /// Runs of a block.
    pub shape: Shape,
    /// Standard deviation of the blocks' log ratios, by metric.
    pub sd: BTreeMap<String, f64>,
    pub blocks: u32,
    pub from: String,
    /// RFC 3339, UTC.
    pub at: String,
}

impl Noise {
    /// The schema's name.
    pub const SCHEMA: &str = "seekwell/noise/1";

    /// Takes in what a complete A/A experiment measured, in place of what it replaces. `false` when
    /// the experiment says nothing about noise.
    pub fn learn(&mut self, document: &Document) -> bool {
        let Some(floor) = NoiseFloor::of(document) else { return false };
        self.floors.retain(|old| {
            (&old.identity, &old.workload, old.shape)
                != (&floor.identity, &floor.workload, floor.shape)
        });
        self.floors.push(floor);
        true
    }
}

impl NoiseFloor {
    fn of(document: &Document) -> Option<Self> {
        if !document.design.aa || document.conclusion.is_none() || document.invalid.is_some() {
            return None;
        }
        let first = document.runs.first()?;
        let sd: BTreeMap<String, f64> = first
            .values
            .keys()
            .filter_map(|metric| {
                let d = block_values(document, metric);
                let whole = d.len() as u32 == document.complete_blocks();
                let sd = estimate(&d).filter(|_| whole)?.sd?;
                (sd > 0.0).then(|| (metric.clone(), sd))
            })
            .collect();
        Some(Self {
            identity: document.identity.clone(),
            workload: words(&document.a.job),
            shape: document.design.shape,
            sd,
            blocks: document.complete_blocks(),
            from: document.id.clone(),
            at: document.ended_at.clone().unwrap_or_default(),
        })
    }
}

fn words(options: &PlainJob) -> Vec<String> {
    options.words().into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}

/// How long an experiment of this design on this target will take, by the newest noise floor of the
/// same target, metric and shape; one of the same workload comes first. `None` without one.
pub fn forecast(
    noise: &Noise,
    identity: &str,
    design: &Design,
    a: &PlainJob,
    b: &PlainJob,
) -> Option<Forecast> {
    let (workload_a, workload_b) = (words(a), words(b));
    let fits = |f: &&NoiseFloor| {
        f.identity == identity && f.shape == design.shape && f.sd.contains_key(&design.metric)
    };
    let same = |f: &NoiseFloor| f.workload == workload_a || f.workload == workload_b;
    let newest = noise.floors.iter().rev();
    let floor = newest.clone().filter(fits).find(|f| same(f)).or_else(|| {
        let mut any = newest.filter(fits);
        any.next()
    })?;
    let sd = *floor.sd.get(&design.metric)?;
    // Two values that have this standard deviation, for a function of values.
    let half = sd / std::f64::consts::SQRT_2;
    let needed = seekwell_stats::blocks_needed(&[-half, half], design.margin);
    let blocks = design.blocks.unwrap_or(needed);
    let run = |o: &PlainJob| (o.runtime_ns + o.ramp_ns + design.settle_ns).as_secs_f64();
    let runs = f64::from(blocks * design.shape.runs());
    Some(Forecast {
        sd,
        blocks,
        seconds: runs * f64::midpoint(run(a), run(b)),
        beyond_cap: needed == BLOCKS_CAP,
        same_workload: same(floor),
        from: floor.from.clone(),
    })
}

/// What a target is known by, so that noise measured on it is found again: the serial number or
/// WWN of its disk with the kind of target, else the name of the device or the path.
pub fn identity(inspection: &Inspection) -> String {
    let kind = match serde_json::to_value(inspection.kind) {
        Ok(serde_json::Value::String(kind)) => kind,
        _ => String::new(),
    };
    // What a modelled machine is made of depends on how it was set.
    let real = inspection.device.as_ref().filter(|_| inspection.kind != TargetKind::Machine);
    let Some(device) = real else { return format!("{kind} {}", inspection.path) };
    let known = device.wwn.as_ref().or(device.serial.as_ref());
    let role = device.role.as_ref().map(|r| r.value.clone());
    let name = known.map(|f| f.value.clone()).or(role).unwrap_or_else(|| device.name.clone());
    format!("{kind} {name}")
}
