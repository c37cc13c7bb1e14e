//! Writes until the rate has settled, and again after each rest.

use super::BenchOptions;
use super::stage::Stage;
use super::watch::{Enough, Watch};
use crate::{RunError, Watcher};
use seekwell_checkup::sustained::fast_region;
use seekwell_checkup::{Group, PhaseSpec, Plan};
use seekwell_explain::{Observed, fast_cause};
use seekwell_io::measurement::Stopped;
use seekwell_io::units::{Nanos, capacity, time};
use seekwell_job::PlainJob;
use seekwell_runs::{FastRegion, Medium, Phase, Recovery, Study, Sustained, SustainedEnd};

/// Parts that are kept for plots.
const SHOWN: usize = 256;
/// A rest gave back what it did once such a share of the fast region was slow again.
const SLOW: u64 = 16;

/// Writes and rests; gives whether it was interrupted.
///
/// # Errors
/// [`RunError`] where the target has no room for it.
pub fn write<W: Watcher>(
    stage: &mut Stage<'_, W>,
    options: &BenchOptions<'_>,
    job: &PlainJob,
    (runtime, rests): (Option<Nanos>, &[Nanos]),
) -> Result<bool, RunError> {
    let mut workload = stage.workload(job, options.seed)?;
    let block = u64::from(job.block_bytes);
    let most_bytes = workload.region_bytes / block * block;
    workload.requests = most_bytes / block;
    workload.runtime_ns = runtime.unwrap_or(Nanos::ZERO);
    announce(stage, most_bytes, runtime);
    let watch = Watch::new(Nanos::ZERO, Enough::Settled, most_bytes, job.block_bytes);
    stage.executor.watch(watch);
    let spec = PhaseSpec::new(job.name(), job.title(), Group::Custom, workload.clone(), 1);
    let plan = Plan::of(vec![spec], Nanos::ZERO);
    let interrupted = stage.session.run(&plan, &mut stage.executor);
    let Some(watch) = stage.executor.watched() else { return Ok(interrupted) };
    let phase = stage.session.document.phases.last();
    let ended = phase.map_or(SustainedEnd::Stopped, |phase| how(phase, &watch, most_bytes));
    let stretches = watch.curve.stretches();
    let fast = fast_region(&stretches);
    let (part_bytes, rates_bytes_per_s) = watch.curve.parts(SHOWN);
    let mut study = Sustained {
        phase: job.name(),
        written_bytes: watch.curve.bytes(),
        most_bytes,
        ended,
        stretches,
        fast,
        cause: fast_cause(&Observed::new(&stage.session.document.inspection), fast),
        recoveries: Vec::new(),
        part_bytes,
        rates_bytes_per_s,
    };
    stage.session.document.study = Some(Study::Sustained(study.clone()));
    let Some(fast) = fast.filter(|_| ended != SustainedEnd::Stopped) else {
        return Ok(interrupted);
    };
    workload.requests = fast.bytes.div_ceil(block).max(1);
    for rest in rests {
        stage.executor.watch(after(*rest, fast, job));
        let what = format!("writing again, after {} of rest", time(rest.0 as f64));
        let written = stage.drive(&what, &workload)?;
        let (Some(_), Some(watch)) = (written, stage.executor.watched()) else { return Ok(true) };
        let bytes = watch.curve.at_rate(fast.before_bytes_per_s, fast.after_bytes_per_s);
        study.recoveries.push(Recovery { idle_ns: rest.0, bytes });
        stage.session.document.study = Some(Study::Sustained(study.clone()));
    }
    Ok(interrupted)
}

/// Says how much is written, and what a file's figures may mean.
fn announce<W: Watcher>(stage: &Stage<'_, W>, most_bytes: u64, runtime: Option<Nanos>) {
    let time = |most: Nanos| format!(", for {} at most", time(most.0 as f64));
    let time = runtime.map(time).unwrap_or_default();
    let most = capacity(most_bytes);
    stage.session.line.note(&format!(
        "writes {most} at most{time}, then after each rest no more than the fast region"
    ));
    if let Some(Medium::TemporaryFile { .. }) = stage.session.document.medium {
        stage.session.line.note(
            "on a directory the rate of the file system is measured: where it falls may be its \
             doing; --size says how much is written",
        );
    }
}

/// What looks on after a rest: it ends once the rate is nearer to the slow one.
fn after(rest: Nanos, fast: FastRegion, job: &PlainJob) -> Watch {
    let per_s = (fast.before_bytes_per_s * fast.after_bytes_per_s).sqrt();
    let enough = Enough::Slow { bytes: fast.bytes / SLOW, per_s };
    Watch::new(rest, enough, fast.bytes, job.block_bytes)
}

fn how(phase: &Phase, watch: &Watch, most_bytes: u64) -> SustainedEnd {
    match phase.repeats.last() {
        Some(repeat) if repeat.stopped == Stopped::Finished && repeat.failed == 0 => {
            if watch.is_over {
                SustainedEnd::Settled
            } else if watch.curve.bytes() >= most_bytes {
                SustainedEnd::Size
            } else {
                SustainedEnd::Runtime
            }
        }
        _ => SustainedEnd::Stopped,
    }
}
