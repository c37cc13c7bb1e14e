//! SNIA's Solid State Storage Performance Test Specification. The tests are a table
//! ([`PtsPlan`]); this driver preconditions the target and runs rounds of cells until the tracked
//! figure is steady, whichever test it is. A run that was stopped resumes at the next cell.

mod table;

pub use table::{PtsOptions, PtsPlan};

use super::BenchOptions;
use super::stage::Stage;
use crate::{RunError, Watcher};
use seekwell_checkup::steady::{values, window};
use seekwell_checkup::{Group, PhaseSpec, Plan, Rounds, Tracked};
use seekwell_io::histogram::Histogram;
use seekwell_io::units::{Nanos, time_about};
use seekwell_io::workload::{Pattern, Workload};
use seekwell_job::PlainJob;
use seekwell_runs::{
    Detail, Measure, Medium, Phase, Pts, PtsCell, PtsFound, PtsSeries, PtsTest, PtsWindow, Repeat,
    RunDocument, Skipped, Study,
};
use seekwell_stats::steady::{Fit, WINDOW};
use seekwell_stats::student::mean;
use std::collections::BTreeMap;
use std::ops::Range;
use table::{Cell, Series, Test};

/// Runs the tests that are not finished. Returns whether it was interrupted.
///
/// # Errors
/// [`RunError`] if the target has no room for a test, or the resumed run has other options.
pub fn run<W: Watcher>(
    stage: &mut Stage<'_, W>,
    options: &BenchOptions<'_>,
    PtsPlan { options: pts, tests }: &PtsPlan,
) -> Result<bool, RunError> {
    let mut study = begun(&mut stage.session.document, options, pts)?;
    if !matches!(stage.session.document.medium, Some(Medium::Destroyed { .. })) {
        forget_unfinished(stage, &mut study);
    }
    stage.session.document.study = Some(Study::Pts(study.clone()));
    let of = if stage.session.document.modelled { " of the model's time" } else { "" };
    let mut left = longest(tests.iter().flat_map(|test| &test.series));
    let at_most = time_about(left);
    let said = format!("rounds take {at_most}{of} at most, beside what is written first");
    stage.session.line.note(&said);
    for test in tests {
        let begun = study.tests.iter().position(|begun| begun.kind == test.kind);
        if begun.is_some_and(|at| study.tests[at].finished) {
            left = left.since(longest(&test.series));
            continue;
        }
        if begun.is_none() && !write_first(stage, options, &mut study, test)? {
            return Ok(true);
        }
        let at = begun.unwrap_or(study.tests.len() - 1);
        for (number, series) in test.series.iter().enumerate() {
            left = left.since(series.longest());
            stage.session.ahead = left;
            let (interrupted, told) = rounds(stage, options, series)?;
            let is_over = !interrupted && is_over(&stage.session.document, series);
            study.tests[at].series.truncate(number);
            study.tests[at].series.push(told);
            study.tests[at].finished = is_over && number + 1 == test.series.len();
            stage.session.document.study = Some(Study::Pts(study.clone()));
            if !is_over {
                return Ok(interrupted);
            }
        }
    }
    Ok(false)
}

/// The longest that series can take.
fn longest<'a>(series: impl IntoIterator<Item = &'a Series>) -> Nanos {
    series.into_iter().fold(Nanos::ZERO, |sum, series| sum + series.longest())
}

/// The tests that the document has: none unless the run is resumed.
fn begun(
    document: &mut RunDocument,
    options: &BenchOptions<'_>,
    pts: &PtsOptions,
) -> Result<Pts, RunError> {
    let asked = asked(options, pts);
    let other = |document: &RunDocument, why| RunError::OtherRun { id: document.id.clone(), why };
    match document.study.take() {
        Some(Study::Pts(kept)) => {
            match asked.iter().find(|(name, now)| kept.asked.get(*name) != Some(*now)) {
                None => Ok(kept),
                Some((name, now)) => {
                    let before = kept.asked.get(name).map_or("", String::as_str);
                    Err(other(document, format!("its {name} was {before:?} and not {now:?}")))
                }
            }
        }
        None if document.phases.is_empty() => {
            let mut short = pts.short();
            if let Some(Medium::TemporaryFile { .. }) = document.medium {
                short.push("a file in place of a device".into());
            }
            if options.size_bytes.is_some() {
                short.push("a part of the capacity (--size)".into());
            }
            Ok(Pts { short, asked, tests: Vec::new() })
        }
        _ => Err(other(document, "it is no run of this suite".into())),
    }
}

/// The options that must not change when a run is resumed.
fn asked(options: &BenchOptions<'_>, pts: &PtsOptions) -> BTreeMap<String, String> {
    let PtsOptions { tests, cell, rounds, numjobs, iodepth, stretch, engine } = pts;
    let tests: Vec<&str> = tests.iter().map(|test| test.name()).collect();
    let set = options.set.iter().map(|(key, value)| format!("{key}={value}"));
    let size = options.size_bytes.map_or_else(|| "all".to_owned(), |bytes| bytes.to_string());
    let all = [
        ("tests", tests.join(",")),
        ("cell", cell.as_secs_f64().to_string()),
        ("rounds", rounds.to_string()),
        ("numjobs", numjobs.to_string()),
        ("iodepth", iodepth.to_string()),
        ("stretch", stretch.to_string()),
        ("engine", engine.name().to_owned()),
        ("size", size),
        ("seed", options.seed.to_string()),
        ("set", set.collect::<Vec<_>>().join(",")),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A temporary file or modelled machine is lost when the program stops, and a test needs one of the
/// same history: unfinished tests start again.
fn forget_unfinished<W: Watcher>(stage: &mut Stage<'_, W>, study: &mut Pts) {
    study.tests.retain(|test| test.finished);
    let done: Vec<&str> = study
        .tests
        .iter()
        .flat_map(|test| &test.series)
        .flat_map(|series| &series.cells)
        .map(|cell| cell.phase.as_str())
        .collect();
    drop(stage.session.withdraw(|phase| !done.contains(&phase)));
}

/// Preconditions the target for a test. Returns whether that was completed. A modelled machine is
/// new for each test, as the specification demands by a purge.
fn write_first<W: Watcher>(
    stage: &mut Stage<'_, W>,
    options: &BenchOptions<'_>,
    study: &mut Pts,
    test: &Test,
) -> Result<bool, RunError> {
    stage.executor.renew_machine();
    let mut written_first_bytes = 0;
    if let Some(bytes) = test.first_bytes {
        let job = PlainJob { block_bytes: bytes, ..test.series[0].cells[0].job.clone() };
        let like = stage.workload(&job, options.seed)?;
        let Some((written, _)) = stage.overwrite(&like, Pattern::Sequential, bytes)? else {
            return Ok(false);
        };
        written_first_bytes = written;
    }
    let (kind, series, finished) = (test.kind, Vec::new(), false);
    study.tests.push(PtsTest { kind, written_first_bytes, series, finished });
    stage.session.document.study = Some(Study::Pts(study.clone()));
    stage.session.save();
    Ok(true)
}

/// Runs the rounds of a series. Returns whether it was interrupted, and the results.
fn rounds<W: Watcher>(
    stage: &mut Stage<'_, W>,
    options: &BenchOptions<'_>,
    series: &Series,
) -> Result<(bool, PtsSeries), RunError> {
    let tracked = Tracked { place: series.tracked, measure: series.measure };
    let spec = |cell: &Cell| {
        let (drawn, skipped) = drawn(stage, &cell.job, options.seed)?;
        let (phase, title) = (cell.phase.clone(), cell.job.title());
        let mut spec = PhaseSpec::new(phase, title, Group::Custom, drawn, series.rounds);
        spec.skipped = skipped;
        if series.until_steady {
            spec.rounds = Rounds::UntilSteady(tracked);
        }
        Ok(spec)
    };
    let specs: Vec<PhaseSpec> = series.cells.iter().map(spec).collect::<Result<_, RunError>>()?;
    let mut plan = Plan::of(specs, Nanos::ZERO);
    plan.detailed_rounds = Some(1);
    let interrupted = stage.session.run(&plan, &mut stage.executor);
    let session = &stage.session;
    Ok((interrupted, told(&session.document, &session.detail, series)))
}

/// The workload of a cell on this target, or a stand-in and why the cell is left out.
fn drawn<W: Watcher>(
    stage: &Stage<'_, W>,
    job: &PlainJob,
    seed: u64,
) -> Result<(Workload, Option<String>), RunError> {
    match stage.workload(job, seed) {
        Err(RunError::PartOfSector { sector, .. }) => {
            let why = format!("left out: a sector has {sector} bytes");
            Ok((job.workload(u64::from(job.block_bytes), true, seed), Some(why)))
        }
        drawn => Ok((drawn?, None)),
    }
}

fn phase_of<'a>(document: &'a RunDocument, cell: &Cell) -> &'a Phase {
    document.phase(&cell.phase).expect("all phases of a plan are in the document")
}

/// Whether no rounds of a series are left.
fn is_over(document: &RunDocument, series: &Series) -> bool {
    let tracked = phase_of(document, &series.cells[series.tracked]);
    let rounds = tracked.repeats.len();
    let has_all = |cell: &Cell| {
        let phase = phase_of(document, cell);
        phase.repeats.len() == rounds || matches!(phase.skipped, Some(Skipped::Because(_)))
    };
    let settled = series.until_steady && window(tracked, series.measure).is_some();
    (settled || rounds == series.rounds as usize) && series.cells.iter().all(has_all)
}

/// The results of the rounds so far.
fn told(document: &RunDocument, detail: &Detail, series: &Series) -> PtsSeries {
    let tracked = phase_of(document, &series.cells[series.tracked]);
    let counting = counting(tracked, series);
    let cell = |cell: &Cell| {
        let PlainJob { block_bytes, numjobs, iodepth, .. } = cell.job;
        PtsCell {
            phase: cell.phase.clone(),
            read_percent: cell.job.read_percent(),
            block_bytes,
            threads: numjobs,
            depth: iodepth,
            found: found(phase_of(document, cell), &counting, detail),
        }
    };
    PtsSeries {
        phase: tracked.name.clone(),
        measure: series.measure,
        rounds: values(&tracked.repeats, series.measure),
        window: series.until_steady.then(|| seen(tracked, series.measure, &counting)).flatten(),
        cells: series.cells.iter().map(cell).collect(),
    }
}

/// The rounds that count: the steady window, otherwise the last five; all rounds of a series
/// without a steady-state rule.
fn counting(tracked: &Phase, series: &Series) -> Range<usize> {
    let done = tracked.repeats.len();
    let from = if series.until_steady { done.saturating_sub(WINDOW) } else { 0 };
    let steady = window(tracked, series.measure).filter(|_| series.until_steady);
    steady.unwrap_or(from..done)
}

/// How steady the tracked figure was in the rounds that count; `None` if fewer than two.
fn seen(tracked: &Phase, measure: Measure, counting: &Range<usize>) -> Option<PtsWindow> {
    let told = values(&tracked.repeats[counting.clone()], measure);
    let fit = (told.len() > 1).then(|| Fit::of(&told))?;
    Some(PtsWindow {
        from: counting.start as u32,
        rounds: counting.len() as u32,
        steady: window(tracked, measure).is_some(),
        mean: mean(&told),
        range: fit.range,
        excursion: fit.excursion,
    })
}

/// The result of a cell in the rounds that count.
fn found(phase: &Phase, counting: &Range<usize>, detail: &Detail) -> Option<PtsFound> {
    let in_phase = counting.start..counting.end.min(phase.repeats.len());
    let rounds = phase.repeats.get(in_phase)?;
    let average = |measure| {
        let told = values(rounds, measure);
        (!told.is_empty()).then(|| mean(&told))
    };
    let longest = |round: &Repeat| round.ops.values().map(|op| op.latency.ns_max).max();
    Some(PtsFound {
        requests_per_s: average(Measure::RequestsPerS)?,
        rate_bytes_per_s: average(Measure::RateBytesPerS)?,
        latency_ns_mean: average(Measure::LatencyNsMean)?,
        latency_ns_p99_999: rare(phase, detail),
        latency_ns_max: rounds.iter().filter_map(longest).max()?,
    })
}

/// The 99.999th percentile of the last round.
fn rare(phase: &Phase, detail: &Detail) -> Option<u64> {
    let last = detail.repeats.iter().rfind(|detail| detail.phase == phase.name)?;
    let mut all = Histogram::default();
    for (op, bins) in &last.latency_bins {
        let latency = &phase.repeats.last()?.ops.get(op)?.latency;
        let (min, max) = (Nanos(latency.ns_min), Nanos(latency.ns_max));
        all.merge(&Histogram::from_parts(bins, 0, min, max)?);
    }
    all.quantile(0.999_99).map(|time| time.0)
}
