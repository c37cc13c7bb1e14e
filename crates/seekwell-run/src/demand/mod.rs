//! Whether a target meets a program's demand: jobs with bounds on their metrics, repeated until
//! each bound is decided.

mod file;
#[cfg(test)]
mod tests;

pub use file::DemandError;

use crate::jobs::{Jobs, Request};
use crate::shipped::{self, Library, shipped};
use crate::{Finished, Host, Purpose, RunError, Watcher};
use file::KIND;
use seekwell_checkup::numbers;
use seekwell_job::job::JobFile;
use seekwell_runs::{Bound, Demand, DemandVerdict, RunDocument, Study};
use seekwell_stats::majority;

/// The chance that a bound is ever decided wrongly.
const ALPHA: f64 = 0.05;
/// The fewest runs that decide: those that agree.
const FEWEST: usize = 5;

/// The demands.
pub static DEMANDS: Library<DemandFile> = Library {
    kind: KIND,
    command: "fit-for",
    files: shipped!(
        "demands":
        "backup",
        "ceph-db",
        "elasticsearch",
        "etcd",
        "etcd-heavy",
        "kafka",
        "mysql",
        "postgresql",
        "prometheus",
        "sd-a1",
        "sd-a2",
        "sd-v30",
        "sqlite",
        "video-4k",
        "vm-host",
        "zfs-slog",
        "zookeeper",
    ),
    of: DemandFile::of,
};

/// A demand as it was read: its jobs and its bounds, all undecided.
#[derive(Debug, Clone)]
pub struct DemandFile {
    demand: Demand,
    jobs: JobFile,
}

impl DemandFile {
    /// The demand that a text describes.
    ///
    /// # Errors
    /// As for [`Library::read`].
    pub fn of(name: &str, text: &str) -> Result<Self, RunError> {
        let (demand, job) = file::parse(name, text)?;
        let bounds = demand.bounds.iter().map(|bound| ("a bound", &*bound.job));
        let jobs = shipped::jobs(name, &job, bounds)?;
        Ok(Self { demand, jobs })
    }

    /// What is demanded.
    pub fn demand(&self) -> &Demand {
        &self.demand
    }

    /// The jobs on a target.
    ///
    /// # Errors
    /// As for [`Jobs::of`].
    pub fn jobs<'a>(&self, request: Request<'a>) -> Result<Jobs<'a>, RunError> {
        Jobs::of(request, self.jobs.clone())
    }

    /// Repeats the jobs until each bound is decided, or one is not kept, at most as often as the
    /// request says. The result is the document's study.
    ///
    /// # Errors
    /// As for [`Plan::run`](crate::jobs::Plan::run).
    pub fn run<W: Watcher>(
        &self,
        jobs: &Jobs<'_>,
        host: Host<'_>,
        watcher: W,
        purpose: Purpose,
    ) -> Result<(Finished, Result<(), RunError>), RunError> {
        let plan = jobs.plan(|text| watcher.note(text))?;
        plan.run_until(host, watcher, purpose, |document, _| {
            let demand = judged(&self.demand, document);
            let runs = document.phases.iter().map(|phase| phase.repeats.len()).max().unwrap_or(0);
            // A percentile of too few requests, or a metric that the jobs do not have.
            let never = |bound: &Bound| runs >= FEWEST && bound.values.is_empty();
            let is_over = demand.verdict == DemandVerdict::DoesNotFit
                || demand.bounds.iter().all(|bound| bound.holds.is_some() || never(bound));
            document.study = Some(Study::Demand(Box::new(demand)));
            is_over
        })
    }
}

/// A demand with what the runs so far say about it.
fn judged(demand: &Demand, document: &RunDocument) -> Demand {
    let decided = |bound: &Bound| decided(bound, values(bound, document));
    let bounds: Vec<Bound> = demand.bounds.iter().map(decided).collect();
    let verdict = DemandVerdict::of(&bounds);
    Demand { bounds, verdict, ..demand.clone() }
}

/// A bound's metric of each valid run; empty if one of them lacks it, such as a percentile of too
/// few requests: the others would be a biased sample.
fn values(bound: &Bound, document: &RunDocument) -> Vec<f64> {
    let phase = document.phases.iter().find(|phase| phase.is_of_job(&bound.job));
    let valid = phase.iter().flat_map(|p| &p.repeats).filter(|repeat| repeat.invalid.is_none());
    let of_bound = |(name, value)| (name == bound.metric).then_some(value);
    let each = valid.map(|repeat| numbers(repeat).into_iter().find_map(of_bound));
    each.collect::<Option<_>>().unwrap_or_default()
}

fn decided(bound: &Bound, values: Vec<f64>) -> Bound {
    let kept = values.iter().filter(|value| bound.keeps(**value)).count() as u32;
    let holds = majority(kept, values.len() as u32 - kept, ALPHA);
    Bound { values, holds, ..bound.clone() }
}
