//! Questions that take several runs, in words, as a table and as a plot: sweeps, the limit under a
//! bound, steady state, sustained writes, write amplification. Terminal, Markdown and page are
//! handed the same words and cells.

mod beside;
mod calibration;
mod demand;
mod limit;
pub(crate) mod plot;
mod pts;
mod steady;
mod sustained;
mod sweep;
#[cfg(test)]
mod tests;
mod text;
mod together;
mod wa;

pub use demand::of_job;
pub use text::StudyText;

use crate::units::{capacity, time};
use seekwell_runs::{RunDocument, Study};

/// The text of a run's study, in parts; empty if it has none. The first sentence heads a report.
pub fn study(document: &RunDocument) -> Vec<StudyText> {
    let Some(study) = &document.study else { return Vec::new() };
    vec![match study {
        Study::Pts(pts) => return pts::texts(document, pts),
        Study::Sweep(sweep) => sweep::text(document, sweep),
        Study::Limit(limit) => limit::text(limit),
        Study::Steady(steady) => steady::text(steady),
        Study::Beside(beside) => beside::text(document, beside),
        Study::Together(together) => together::text(together),
        Study::Sustained(sustained) => sustained::text(sustained),
        Study::Amplification(amplification) => wa::text(amplification),
        Study::Demand(demand) => demand::text(document, demand),
        Study::Calibration(calibration) => calibration::text(document, calibration),
    }]
}

/// What was written before measuring, as a sentence; `None` if nothing was.
pub fn preconditioning(document: &RunDocument) -> Option<String> {
    let done = document.preconditioning?;
    Some(format!(
        "Before measuring, {} were written sequentially and {} at random, in {}.",
        capacity(done.sequential_bytes),
        capacity(done.random_bytes),
        time(done.took_ns as f64),
    ))
}
