//! The numbers that other programs need: by the program's own method and by ours.
//!
//! One measurement gives both. The jobs run in turn, repeatedly. The program's own number is the
//! mean over the first part of a run, as long as the program measures; ours is the mean over the
//! second half, by when the device should have settled. Runs count from the first of five
//! consecutive ones that agree, by the rule of the SNIA test specification
//! ([`rounds`]), and go on until the 95 % interval of their mean is within
//! 2.5 % of it. So two calibrations of the same device agree within 5 %.

mod course;
mod error;
mod facts;
mod file;
#[cfg(test)]
mod tests;
mod text;

pub use error::CalibrationError;

use crate::jobs::{Jobs, Request, plain};
use crate::shipped::{self, Library, shipped};
use crate::{Finished, Host, Purpose, RunError, Watcher};
use course::{Course, rate};
use file::KIND;
use seekwell_checkup::numbers;
use seekwell_checkup::steady::{LEAST_ROUNDS, leave_out_before};
use seekwell_explain::{Observed, fast_cause, is_cloud};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Workload;
use seekwell_job::job::{Amount, JobFile};
use seekwell_runs::{
    Calibration, Detail, Fall, FastCause, FastRegion, Quantity, QuantityState, Repeat,
    RepeatDetail, RunDocument, SteadyValue, Study,
};
use seekwell_stats::{Rounds, Traffic, over_runs, rounds, t_interval};
use text::Template;

/// Half the interval over the mean at which a number counts as known.
const REACH: f64 = 0.025;
const CONFIDENCE: f64 = 0.95;
/// A modelled target runs this many times as long as its burst credits last, so that the second
/// half of a run is without them.
const CREDITS: u64 = 3;

/// The calibrations.
pub static CALIBRATIONS: Library<CalibrationFile> = Library {
    kind: KIND,
    command: "calibrate",
    files: shipped!(
        "calibrations":
        "blk-iocost",
        "ceph",
        "elevator",
        "fio-latency-target",
        "scylla",
        "systemd-iocost",
    ),
    of: CalibrationFile::of,
};

/// A calibration as it was read: its jobs, and its numbers before they are measured.
#[derive(Debug, Clone)]
pub struct CalibrationFile {
    calibration: Calibration,
    template: Template,
    jobs: JobFile,
}

/// What differs from the jobs as they are written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Changes {
    /// How long each runs; longer on a modelled target whose burst credits last longer.
    pub runtime: Option<Nanos>,
    /// The size of each one's file, or the part of a device that is used.
    pub size_bytes: Option<u64>,
}

impl CalibrationFile {
    /// The calibration that a text describes.
    ///
    /// # Errors
    /// As for [`Library::read`].
    pub fn of(name: &str, text: &str) -> Result<Self, RunError> {
        let (calibration, template, job) = file::parse(name, text)?;
        let used = calibration.quantities.iter().map(|quantity| (&*quantity.name, &*quantity.job));
        let jobs = shipped::jobs(name, &job, used)?;
        Ok(Self { calibration, template, jobs })
    }

    /// The numbers that are asked for.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// The plain workload that a quantity's job amounts to on a region of this size; `None` if it
    /// is more than that.
    pub(crate) fn workload(&self, quantity: &str, region_bytes: u64) -> Option<Workload> {
        let quantity = self.calibration.quantities.iter().find(|known| known.name == quantity)?;
        let number = self.jobs.jobs.iter().position(|job| job.name == quantity.job)?;
        plain(&self.jobs.jobs, number, region_bytes, 1)
    }

    /// The jobs on a target. On a modelled one with burst credits they run until these are spent.
    ///
    /// # Errors
    /// As for [`Jobs::of`].
    pub fn jobs<'a>(&self, request: Request<'a>, changes: Changes) -> Result<Jobs<'a>, RunError> {
        let mut parsed = self.jobs.clone();
        for job in &mut parsed.jobs {
            job.timing.runtime = changes.runtime.unwrap_or(job.timing.runtime);
            job.extent.size = changes.size_bytes.map(Amount::Bytes).or(job.extent.size);
        }
        let jobs = Jobs::of(request, parsed.clone())?;
        match jobs.credits_last() {
            Some(last) => {
                let least = Nanos(last.0.saturating_mul(CREDITS));
                for job in &mut parsed.jobs {
                    job.timing.runtime = job.timing.runtime.max(least);
                }
                Jobs::of(request, parsed)
            }
            None => Ok(jobs),
        }
    }

    /// Repeats the jobs until each number is known, at most as often as the request says. The
    /// result is the document's study.
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
        let has_credits = jobs.credits_last().is_some();
        plan.run_until(host, watcher, purpose, |document, detail| {
            let measured = |quantity: &Quantity| {
                let mut measured = measured(quantity, document, detail);
                if let Some(fall) = measured.fall.as_mut().filter(|_| has_credits) {
                    fall.cause = FastCause::BurstCredits;
                }
                measured
            };
            let quantities: Vec<_> = self.calibration.quantities.iter().map(measured).collect();
            let text = self.template.filled(&quantities, &document.inspection);
            let is_over = text.is_some();
            if is_over {
                quantities.iter().for_each(|quantity| leave_out(quantity, document));
            }
            let has_fallen = quantities.iter().any(|quantity| quantity.fall.is_some());
            let credits_may_last = !has_fallen && is_cloud(&Observed::new(&document.inspection));
            let calibration =
                Calibration { quantities, credits_may_last, text, ..self.calibration.clone() };
            document.study = Some(Study::Calibration(Box::new(calibration)));
            is_over
        })
    }
}

/// Excludes runs before a number had settled from its phase's figures.
fn leave_out(quantity: &Quantity, document: &mut RunDocument) {
    for phase in document.phases.iter_mut().filter(|phase| phase.is_of_job(&quantity.job)) {
        let valid = phase.repeats.iter().enumerate().filter(|(_, repeat)| repeat.invalid.is_none());
        let first = valid.map(|(number, _)| number).nth(quantity.skipped_runs as usize);
        leave_out_before(phase, first.unwrap_or(phase.repeats.len()));
    }
}

/// A quantity as the runs so far determine it.
fn measured(quantity: &Quantity, document: &RunDocument, detail: &Detail) -> Quantity {
    let mut found = quantity.clone();
    let its = document.phases.iter().find(|phase| phase.is_of_job(&quantity.job));
    let Some(phase) = its else { return found };
    let runs = phase.repeats.iter().enumerate().filter(|(_, repeat)| repeat.invalid.is_none());
    let Some(rate) = rate(&quantity.metric) else {
        let is_its = |(name, value): &(String, f64)| *name == quantity.metric && *value > 0.0;
        let value = |repeat| Some(numbers(repeat).into_iter().find(is_its)?.1);
        let values = runs.map(|(_, repeat)| value(repeat)).collect::<Option<Vec<_>>>();
        decide(&mut found, values.unwrap_or_default(), |_| true);
        return found;
    };
    let (mut values, mut parts) = (Vec::new(), Vec::new());
    for (number, repeat) in runs {
        let is_its = |d: &&RepeatDetail| d.phase == phase.name && d.repeat as usize == number;
        let series = detail.repeats.iter().find(is_its).map(|d| &d.series);
        let course = series.map(|series| Course { series, elapsed: repeat.elapsed_ns, rate });
        let Some((course, value)) = course.and_then(|c| Some((c, c.settled()?))) else { continue };
        found.own.extend(quantity.own_part.map(|part| course.beginning(part)));
        found.fall = found.fall.or_else(|| fall(number, repeat, &course, document));
        values.push(value);
        parts.push(course.parts());
    }
    decide(&mut found, values, |skipped| are_level(&parts[skipped..], rate.op));
    found
}

/// Whether the second halves of runs are level; assumed if they have too few requests.
fn are_level(parts: &[Vec<f64>], op: Op) -> bool {
    let traffic = if op == Op::Read { Traffic::Reads } else { Traffic::Writes };
    let parts: Vec<&[f64]> = parts.iter().map(Vec::as_slice).collect();
    over_runs(&parts, traffic).is_none_or(|found| found.settled)
}

/// Judges the values of the runs; `is_level` says whether the rate had settled within runs from a
/// given one on.
fn decide(quantity: &mut Quantity, values: Vec<f64>, is_level: impl Fn(usize) -> bool) {
    let skipped = match rounds(&values) {
        Rounds::Steady { window, .. } => Some(window.start),
        Rounds::More { .. } | Rounds::NotReached => None,
    };
    let counted = &values[skipped.unwrap_or(0)..];
    let interval = t_interval(counted, CONFIDENCE);
    quantity.steady = interval.map(|interval| SteadyValue {
        mean: (interval.low + interval.high) / 2.0,
        low: interval.low,
        high: interval.high,
    });
    quantity.state = match (skipped, quantity.steady) {
        _ if values.len() < LEAST_ROUNDS as usize => QuantityState::Missing,
        (Some(skipped), Some(steady)) if is_level(skipped) => match steady.reach() <= REACH {
            true => QuantityState::Known,
            false => QuantityState::Vague,
        },
        _ => QuantityState::Unsettled,
    };
    quantity.skipped_runs = skipped.unwrap_or(0) as u32;
    quantity.settled = values;
}

/// Where the rate of a run fell, and why if the facts show it.
fn fall(
    number: usize,
    repeat: &Repeat,
    course: &Course<'_>,
    document: &RunDocument,
) -> Option<Fall> {
    let slowdown = repeat.slowdown?;
    let moved_bytes = course.bytes_until(Nanos(slowdown.at_ns));
    let each = course.bytes_per_request();
    let region = FastRegion {
        bytes: moved_bytes,
        low_bytes: moved_bytes,
        high_bytes: moved_bytes,
        before_bytes_per_s: slowdown.before_per_s * each,
        after_bytes_per_s: slowdown.after_per_s * each,
    };
    let cause = fast_cause(&Observed::new(&document.inspection), Some(region));
    Some(Fall { run: number as u32, slowdown, moved_bytes, cause })
}
