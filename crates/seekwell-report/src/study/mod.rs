//! Questions that take several runs, in words, as a table and as a plot: sweeps, the limit under a
//! bound, steady state. Terminal, Markdown and page are handed the same words and cells.

mod limit;
pub(crate) mod plot;
mod steady;
mod sweep;
#[cfg(test)]
mod tests;

use crate::units::{capacity, time};
use seekwell_io::workload::Pace;
use seekwell_runs::{Phase, RunDocument, Study, Work};
use serde::Serialize;

/// What is said of a study. All text is clean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// What it is.
    pub title: String,
    /// What came of it, in sentences; none for a sweep.
    pub sentences: Vec<String>,
    /// The columns of its table.
    pub columns: Vec<String>,
    /// So many columns are words, the others numbers.
    pub words: usize,
    /// So many columns at the end can be left out where there is no room.
    pub spare: usize,
    /// The rows of its table.
    pub rows: Vec<Vec<String>>,
    /// Its plots.
    #[serde(skip)]
    pub(crate) panels: Vec<plot::Panel>,
}

/// What is to be said of a run's study, where it has one.
pub fn study(document: &RunDocument) -> Option<Told> {
    Some(match document.study.as_ref()? {
        Study::Sweep(sweep) => sweep::told(document, sweep),
        Study::Limit(limit) => limit::told(limit),
        Study::Steady(steady) => steady::told(steady),
    })
}

/// What was written before measuring, as a sentence; none where nothing was.
pub fn preconditioning(document: &RunDocument) -> Option<String> {
    let done = document.preconditioning?;
    Some(format!(
        "Before measuring, {} were written from start to end and {} at random, in {}.",
        capacity(done.sequential_bytes),
        capacity(done.random_bytes),
        time(done.took_ns as f64),
    ))
}

/// Reads and writes a second of a phase.
fn total(phase: &Phase) -> Option<f64> {
    let of = |op: &str| phase.median(&format!("{op}.requests_per_s"));
    let sum = of("read").unwrap_or(0.0) + of("write").unwrap_or(0.0);
    (sum > 0.0).then_some(sum)
}

/// The highest 99th percentile of its operations, in nanoseconds: response time under a fixed rate,
/// else service time.
fn p99(phase: &Phase) -> Option<f64> {
    let open = matches!(&phase.workload, Work::Drawn(w) if matches!(w.pace, Pace::Open { .. }));
    let clock = if open { "response" } else { "latency" };
    let of = |op: &str| phase.median(&format!("{op}.{clock}_ns_p99"));
    ["read", "write"].into_iter().filter_map(of).reduce(f64::max)
}
