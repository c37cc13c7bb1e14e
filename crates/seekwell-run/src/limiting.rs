//! What limits loads on a modelled machine, shown by making each of its stations faster.

use crate::medium::plan_medium;
use seekwell_checkup::{Level, Plan, PlanInputs};
use seekwell_io::workload::Workload;
use seekwell_job::PlainJob;
use seekwell_machine::what_if::{WhatIf, what_if};
use seekwell_machine::{LoadError, Model};
use serde::Serialize;

/// A phase of `seekwell/machine-limits/1`.
#[derive(Debug, Clone, Serialize)]
pub struct LimitedPhase {
    /// Its name: `rand-read-4k-d32`.
    pub phase: String,
    /// For people.
    pub title: String,
    /// What it gets, and what it would get.
    #[serde(flatten)]
    pub found: WhatIf,
}

/// A load that is asked about.
#[derive(Debug, Clone)]
pub struct AskedLoad {
    /// Its name as a phase.
    pub phase: String,
    /// For people.
    pub title: String,
    /// What it asks for.
    pub workload: Workload,
}

impl AskedLoad {
    /// A job over the whole disk.
    pub fn of(job: &PlainJob, seed: u64) -> Self {
        Self { phase: job.name(), title: job.title(), workload: job.workload(u64::MAX, true, seed) }
    }

    /// The phases of a quick checkup of a machine.
    pub fn checkup(model: &Model, seed: u64) -> Vec<Self> {
        let inputs = PlanInputs {
            medium: plan_medium(model),
            offset_bytes: 0,
            region_bytes: model.capacity(),
            logical_block_bytes: model.sector_bytes(),
            direct: true,
            seed,
        };
        let phases = Plan::new(Level::Quick, inputs).phases.into_iter();
        let run = phases.filter(|spec| spec.skipped.is_none());
        run.map(|spec| Self { phase: spec.name, title: spec.title, workload: spec.workload })
            .collect()
    }
}

/// What limits each of some loads on a machine, in the loads' order; see [`what_if`].
///
/// # Errors
/// For each load, [`LoadError`].
pub fn limited(
    model: &Model,
    loads: &[AskedLoad],
    factor: f64,
    seed: u64,
    threads: usize,
) -> Vec<Result<LimitedPhase, LoadError>> {
    let workloads: Vec<Workload> = loads.iter().map(|load| load.workload.clone()).collect();
    let found = what_if(model, &workloads, factor, seed, threads);
    let named = |(load, found): (&AskedLoad, Result<WhatIf, LoadError>)| {
        let (phase, title) = (load.phase.clone(), load.title.clone());
        Ok(LimitedPhase { phase, title, found: found? })
    };
    loads.iter().zip(found).map(named).collect()
}

#[cfg(test)]
mod tests {
    use seekwell_machine::Station;

    #[test]
    fn stations_of_models_are_called_as_those_of_documents() {
        let known = seekwell_runs::limits::Station::ALL.map(seekwell_runs::limits::Station::name);
        for station in Station::ALL {
            assert!(known.contains(&station.name()), "{station}");
        }
    }
}
