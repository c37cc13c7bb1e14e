//! Holding sides against the first of them. A run is one number per metric, runs that were kept are
//! a separate design, and one run each is a table of changes and never a verdict.

pub mod bands;
mod judge;
mod pair;
mod setup;
mod words;

pub(crate) use setup::differences as setup_differences;
pub use setup::in_words;

use crate::document::{
    Against, Checked, Comparison, Conclusion, MetricComparison, Role, RunSummary, SideSummary,
};
use crate::error::CompareError;
use crate::model::{Better, MOST_RUNS, Rank, Side, only_newest};
use seekwell_stats::{Claim, Design, METHOD, Margin};

/// What is wanted of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The primary metric: `METRIC`, or `WORKLOAD/METRIC`.
    pub metric: Option<String>,
    /// The margin, in place of ±2 % for rates and ±5 % for latencies.
    pub margin: Option<Margin>,
    /// A claim on the primary metric that is to be checked.
    pub expect: Option<Claim>,
    pub different_workloads: bool,
}

/// Compares every side with the first.
///
/// # Errors
/// [`CompareError`] names the workloads, fields or metrics that stand in the way.
pub fn compare(sides: &[Side], options: &Options) -> Result<Comparison, CompareError> {
    let sides: Vec<Side> = sides.iter().map(newest).collect();
    let [first, rest @ ..] = sides.as_slice() else { return Err(CompareError::OneSide) };
    if rest.is_empty() {
        return Err(CompareError::OneSide);
    }
    let against: Result<Vec<Against>, CompareError> =
        rest.iter().map(|side| against(first, side, options)).collect();
    Ok(Comparison {
        schema: Comparison::SCHEMA.into(),
        method: METHOD.into(),
        against: against?,
        sides: sides.iter().map(summary).collect(),
    })
}

/// A side with no more runs than are compared.
fn newest(side: &Side) -> Side {
    let mut side = side.clone();
    let all = side.runs.len();
    if all > MOST_RUNS {
        side.runs.drain(..all - MOST_RUNS);
        side.runs[0].left_out.insert(0, only_newest(all));
    }
    side
}

fn summary(side: &Side) -> SideSummary {
    let mut left_out: Vec<String> = Vec::new();
    for why in side.runs.iter().flat_map(|r| &r.left_out) {
        if !left_out.contains(why) && left_out.len() < 100 {
            left_out.push(why.clone());
        }
    }
    let run = |name: &String, at: &Option<String>| RunSummary {
        name: name.clone(),
        started_at: at.clone(),
    };
    SideSummary {
        name: side.name.clone(),
        source: side.source,
        modelled: side.runs.iter().any(|r| r.modelled),
        runs: side.runs.iter().map(|r| run(&r.name, &r.started_at)).collect(),
        left_out,
        not_one_setup: setup::within(side),
    }
}

fn against(a: &Side, b: &Side, options: &Options) -> Result<Against, CompareError> {
    let paired = pair::pair(a, b, options.different_workloads)?;
    let mut metrics = judge::numbers(a, b, &paired.pairs);
    let primary = primary(&metrics, options)?;
    judge::judge(&mut metrics, primary, options.margin, &b.name);
    // Nothing may be concluded from different workloads, whatever the numbers say.
    let forced =
        !paired.differences.is_empty() || [a, b].iter().any(|s| !pair::mixed(s).is_empty());
    if forced {
        metrics.iter_mut().for_each(judge::disqualify);
    }
    let design = Design::of_runs(a.runs.len(), b.runs.len());
    let (setup, setup_known) = setup::differences(a, b);
    let expectation = match options.expect {
        None => None,
        Some(claim) => Some(checked(claim, primary.map(|at| &metrics[at]), &metrics)?),
    };
    let mut summary = words::summary(&metrics, design, b);
    summary.extend(words::limits(a, b, &paired.pairs));
    Ok(Against {
        a: a.name.clone(),
        b: b.name.clone(),
        heading: words::heading(a, b, &paired.pairs, &metrics),
        design,
        caveat: design.caveat().unwrap_or_default().to_owned(),
        different_workloads: paired.differences,
        setup,
        setup_known,
        only_in_a: paired.only_in_a,
        only_in_b: paired.only_in_b,
        metrics,
        summary,
        expectation,
    })
}

fn full_name(metric: &MetricComparison) -> String {
    format!("{}/{}", metric.group, metric.metric)
}

/// The metric named, or the only headline there is.
fn primary(metrics: &[MetricComparison], options: &Options) -> Result<Option<usize>, CompareError> {
    let found: Vec<usize> = match &options.metric {
        None => {
            let headline = |m: &&MetricComparison| m.rank == Rank::Headline;
            let at = metrics.iter().position(|m| m.rank == Rank::Headline);
            let only = metrics.iter().filter(headline).count() == 1;
            return Ok(at.filter(|_| only));
        }
        Some(wanted) => {
            let all = metrics.iter().enumerate();
            all.filter(|(_, m)| m.metric == *wanted || full_name(m) == *wanted)
                .map(|(i, _)| i)
                .collect()
        }
    };
    match found.as_slice() {
        [one] => Ok(Some(*one)),
        _ => {
            let wanted = options.metric.clone().unwrap_or_default();
            Err(CompareError::NoSuchMetric { wanted, candidates: candidates(metrics) })
        }
    }
}

fn candidates(metrics: &[MetricComparison]) -> Vec<String> {
    let mut sorted: Vec<&MetricComparison> = metrics.iter().collect();
    sorted.sort_by_key(|m| m.rank);
    sorted.into_iter().map(full_name).collect()
}

fn checked(
    claim: Claim,
    primary: Option<&MetricComparison>,
    metrics: &[MetricComparison],
) -> Result<Checked, CompareError> {
    let candidates = || candidates(metrics);
    let metric = primary.ok_or_else(|| CompareError::NoPrimary { candidates: candidates() })?;
    if metric.better == Better::Neither {
        return Err(CompareError::NotJudged { metric: full_name(metric) });
    }
    debug_assert_eq!(metric.role, Role::Primary);
    let holds = match claim {
        Claim::Faster => metric.conclusion == Conclusion::Faster,
        Claim::Slower => metric.conclusion == Conclusion::Slower,
        // A small difference that was shown is no difference beyond the margin either.
        Claim::Equivalent => judge::within_margin(metric),
    };
    let outcome = match (holds, metric.conclusion) {
        (true, _) => "holds",
        (
            false,
            Conclusion::Undecided | Conclusion::OneEach | Conclusion::TooFew | Conclusion::Invalid,
        ) => "is not shown",
        (false, _) => "does not hold",
    };
    let metric = full_name(metric);
    let sentence = format!("The claim \"{}\" on {metric} {outcome}.", claim.name());
    Ok(Checked { claim, metric, holds, sentence })
}

#[cfg(test)]
mod tests;
