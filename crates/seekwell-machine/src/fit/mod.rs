//! A description fitted to a disk that was measured.
//!
//! Several kinds of drive are fitted to the same phases: a hard drive where times are those of an
//! arm, and the laws of a flow-equivalent drive, by themselves or
//! through the points. Which is taken is decided by cross-validation:
//! by how far each is from the points it was fitted to and from points it had not seen.

mod flow;
mod hdd;
mod law;
mod next;
mod observed;
mod play;
#[cfg(test)]
mod tests;
mod text;

pub use next::{Next, next};
pub use observed::{Facts, Observed, Role, Times, join};

use crate::Model;
use crate::describe::{DescribeError, Provenance};
use crate::library::Shelf;
use crate::link::SataSpeed;
use flow::FlowFit;
use hdd::HddFit;
use law::Shape;
use play::{Length, play};
use seekwell_sys::classify;
use std::ops::RangeInclusive;
use text::Text;

/// Depths that a curve must have for anything to be fitted to it.
pub const LEAST_DEPTHS: usize = 3;
/// A fit whose mean error is larger is no model of the disk, in percent.
pub const MOST_ERROR_PERCENT: f64 = 15.0;
/// A fit whose figures would be shown with a wider range answers nothing, in percent.
pub const MOST_RANGE_PERCENT: f64 = 100.0;
/// A disk of which the rates have changed by more from one run to another is another disk, in
/// percent.
pub const MOST_DRIFT_PERCENT: f64 = 25.0;
/// A time in nanoseconds of one read from which on it may be an arm's.
const ARM_NS: f64 = 1.5e6;
/// How much more the errors of points that a fit has seen weigh than those of points it has not: a
/// law of two values that misses four points by little does so for a reason.
const SEEN_WEIGHT: f64 = 3.0;
/// A hard drive is taken where its score, in percent, is no worse than another's by this much: it
/// also knows what its platters do. An array of them, which looks like one, is off by far more.
const HDD_ALLOWANCE: f64 = 3.0;
/// The same for a disk reported as rotating.
const ROTATING_ALLOWANCE: f64 = 10.0;

/// One phase as measured and as modelled.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The phase.
    pub phase: String,
    /// Reads and writes a second on the disk.
    pub measured_per_s: f64,
    /// Reads and writes a second on the model.
    pub modelled_per_s: f64,
    /// Whether it was fitted to, or hidden and predicted.
    pub fitted: bool,
    /// The 99th percentile of read times, modelled over measured, less one, in percent.
    pub p99_error_percent: Option<f64>,
}

impl Row {
    /// Modelled over measured, less one, in percent.
    pub fn error_percent(&self) -> f64 {
        100.0 * (self.modelled_per_s / self.measured_per_s - 1.0)
    }
}

/// A machine that was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Its description.
    pub toml: String,
    /// Its kind of drive, as in the description.
    pub kind: &'static str,
    /// Every phase that a fit uses.
    pub rows: Vec<Row>,
    /// Mean of the errors of the phases fitted to, without their signs, in percent.
    pub mean_error_percent: f64,
    /// What the description says its rates may be wrong by, in percent: the largest of the errors
    /// of the phases fitted to, of points of the curve predicted from the others, and of half the
    /// spread of the repeats.
    pub error_percent: f64,
    /// The same of the 99th percentiles of reads.
    pub tail_error_percent: f64,
}

/// Why nothing was fitted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum FitError {
    #[error(
        "a fit needs random reads of 4 KiB at {LEAST_DEPTHS} depths or more, and the run has \
         {}",
        depths(found)
    )]
    NoCurve { found: Vec<u32> },
    #[error(
        "no model fits this run: the best is off by {:.0} % in the mean (at most \
         {MOST_ERROR_PERCENT:.0} %); it does not fit {}",
        .fitted.mean_error_percent, worst(.fitted)
    )]
    Poor { fitted: Box<Fitted> },
    /// A drive fits in the mean, and says next to nothing.
    #[error(
        "this run is too uneven for a model: its figures would be shown with ± {:.0} % (at most \
         {MOST_RANGE_PERCENT:.0} %); the repeats of {uneven} are ± {spread_percent:.0} % apart; \
         measure again while nothing else uses the disk or the processors",
        .fitted.error_percent
    )]
    Uncertain {
        fitted: Box<Fitted>,
        /// The phase whose repeats are furthest apart.
        uneven: String,
        /// By how much: half of it, in percent.
        spread_percent: f64,
    },
    #[error(
        "the disk has changed: run {run} differs by {drift_percent:+.0} % from those before it in \
         {} (at most ± {MOST_DRIFT_PERCENT:.0} % is corrected for); run a new checkup while \
         nothing else uses the disk, and fit to that",
        .phases.join(", ")
    )]
    Drifted {
        run: String,
        /// What both measured.
        phases: Vec<String>,
        /// The rate now over the rate then, less one, in percent.
        drift_percent: f64,
    },
    #[error(transparent)]
    Describe(#[from] DescribeError),
}

classify!(FitError {
    Invalid: NoCurve, Poor, Uncertain, Drifted, Describe;
});

fn depths(found: &[u32]) -> String {
    match found {
        [] => "none".to_owned(),
        found => {
            let all: Vec<String> = found.iter().map(u32::to_string).collect();
            format!("them at depth {} only", all.join(", "))
        }
    }
}

fn worst(fitted: &Fitted) -> String {
    let bad =
        fitted.rows.iter().filter(|r| r.fitted && r.error_percent().abs() > MOST_ERROR_PERCENT);
    let told = bad.map(|row| format!("{} ({:+.0} %)", row.phase, row.error_percent()));
    told.collect::<Vec<_>>().join(", ")
}

trait Candidate {
    /// As descriptions have it.
    fn kind(&self) -> &'static str;

    /// The description, after its head.
    fn toml(&self, head: Text) -> String;

    /// How long a phase is played on it.
    fn length(&self, observed: &Observed) -> Length;

    fn model(&self) -> Result<Model, DescribeError> {
        Model::read("fit.toml", &self.toml(Text::default()), &[], &Shelf::default())
    }
}

/// Fits a machine to phases. Those at depths that are not among `depths` are not looked at; they
/// are predicted, and the rows show how well.
///
/// # Errors
/// [`FitError`] when there is too little to fit to, or nothing fits.
pub fn fit(
    facts: &Facts,
    observed: &[Observed],
    depths: &RangeInclusive<u32>,
) -> Result<Fitted, FitError> {
    let telling = observed.iter().filter(|o| o.role().is_some());
    let (used, hidden): (Vec<&Observed>, Vec<&Observed>) =
        telling.partition(|o| depths.contains(&o.depth()));
    let mut curve: Vec<&Observed> =
        used.iter().copied().filter(|o| matches!(o.role(), Some(Role::Curve(_)))).collect();
    curve.sort_by_key(|o| o.depth());
    let mut found: Vec<u32> = curve.iter().map(|o| o.depth()).collect();
    found.dedup();
    if found.len() < LEAST_DEPTHS {
        return Err(FitError::NoCurve { found });
    }
    let mut tried = Vec::new();
    for shape in Shape::ALL {
        let candidate = FlowFit::new(facts, shape, &used);
        let unseen = candidate.unseen_errors();
        tried.push(judge(facts, &candidate, &unseen, &used, &hidden)?);
    }
    if facts.rotational != Some(false) && curve[0].time_ns() >= ARM_NS {
        for rpm in hdd::speeds(facts, curve[0]) {
            let candidate = HddFit::new(facts, rpm, &used);
            let unseen = candidate.unseen_errors();
            let mut judged = judge(facts, &candidate, &unseen, &used, &hidden)?;
            judged.score -= match facts.rotational {
                Some(true) => ROTATING_ALLOWANCE,
                _ => HDD_ALLOWANCE,
            };
            tried.push(judged);
        }
    }
    let poor = |judged: &Judged| judged.fitted.mean_error_percent > MOST_ERROR_PERCENT;
    tried.sort_by(|a, b| poor(a).cmp(&poor(b)).then(a.score.total_cmp(&b.score)));
    // The curve alone hardly separates two speeds of rotation; all phases together do better.
    if tried[0].fitted.kind == "hdd" {
        let off = |judged: &Judged| judged.fitted.mean_error_percent;
        tried.retain(|judged| judged.fitted.kind == "hdd");
        tried.sort_by(|a, b| off(a).total_cmp(&off(b)));
    }
    let best = tried.swap_remove(0);
    if poor(&best) {
        return Err(FitError::Poor { fitted: Box::new(best.fitted) });
    }
    if best.fitted.error_percent > MOST_RANGE_PERCENT {
        let uneven = used.iter().max_by(|a, b| a.spread_percent.total_cmp(&b.spread_percent));
        return Err(FitError::Uncertain {
            fitted: Box::new(best.fitted),
            uneven: uneven.map_or_else(String::new, |o| o.phase.clone()),
            spread_percent: uneven.map_or(0.0, |o| o.spread_percent),
        });
    }
    Ok(best.fitted)
}

/// A candidate with all that is to be said of it.
struct Judged {
    fitted: Fitted,
    /// Mean errors of the curve's points, seen and unseen, weighed and added, in percent.
    score: f64,
}

fn judge(
    facts: &Facts,
    candidate: &dyn Candidate,
    unseen: &[f64],
    used: &[&Observed],
    hidden: &[&Observed],
) -> Result<Judged, DescribeError> {
    let model = candidate.model()?;
    let row = |observed: &Observed, fitted: bool| {
        let played = play(&model, &observed.workload, candidate.length(observed));
        let p99 = observed.reads.points.iter().find(|(share, _)| *share == 0.99);
        let tail = p99.zip(played.read_ns_p99);
        Row {
            phase: observed.phase.clone(),
            measured_per_s: observed.requests_per_s,
            modelled_per_s: played.requests_per_s,
            fitted,
            p99_error_percent: tail.map(|((_, ns), got)| 100.0 * (got as f64 / ns - 1.0)),
        }
    };
    let mut rows: Vec<Row> = used.iter().map(|o| row(o, true)).collect();
    let errors: Vec<f64> = rows.iter().map(|r| r.error_percent().abs()).collect();
    let of_curve =
        used.iter().zip(&errors).filter(|(o, _)| matches!(o.role(), Some(Role::Curve(_))));
    let seen = mean(of_curve.map(|(_, e)| *e));
    let unseen_percent: Vec<f64> = unseen.iter().map(|e| 100.0 * e).collect();
    let spread = used.iter().map(|o| o.spread_percent);
    let all = errors.iter().chain(&unseen_percent).copied().chain(spread);
    let tails = rows.iter().filter_map(|r| r.p99_error_percent).map(f64::abs);
    let error_percent = all.fold(0.0, f64::max).min(1000.0);
    let tail_error_percent = tails.fold(error_percent, f64::max).min(1000.0);
    rows.extend(hidden.iter().map(|o| row(o, false)));
    let mut fitted = Fitted {
        toml: String::new(),
        kind: candidate.kind(),
        rows,
        mean_error_percent: mean(errors.iter().copied()),
        error_percent,
        tail_error_percent,
    };
    fitted.toml = candidate.toml(head(facts, used, &fitted));
    Ok(Judged { score: SEEN_WEIGHT * seen + mean(unseen_percent.into_iter()), fitted })
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0_u32, 0.0), |(n, sum), value| (n + 1, sum + value));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// Title and error.
fn head(facts: &Facts, used: &[&Observed], fitted: &Fitted) -> Text {
    let about = format!(
        "Fitted by seekwell machine fit; off by {:.1} % in the mean of {} phases.",
        fitted.mean_error_percent,
        used.len()
    );
    let mut text = Text::new(&facts.title, &about);
    let on: Vec<String> = used.iter().map(|o| o.phase.clone()).collect();
    text.table("fit");
    text.fitted("error_percent", format_args!("{:.1}", fitted.error_percent), &on);
    text.fitted("tail_error_percent", format_args!("{:.1}", fitted.tail_error_percent), &on);
    let deepest = used.iter().map(|o| o.depth()).max().unwrap_or(1);
    let wrote = used.iter().filter(|o| o.workload.destroys()).map(|o| o.depth()).max();
    text.value("depth", deepest, Provenance::Measured);
    text.value("write_depth", wrote.unwrap_or(0), Provenance::Measured);
    text
}

/// The SATA link, where the disk has one.
fn link_table(text: &mut Text, facts: &Facts) {
    let Some(speed) = facts.link else { return };
    let speed = match speed {
        SataSpeed::Gbps1_5 => "1.5Gbps",
        SataSpeed::Gbps3 => "3.0Gbps",
        SataSpeed::Gbps6 => "6.0Gbps",
    };
    text.table("link");
    text.word("part", "sata-6");
    text.value("speed", format_args!("\"{speed}\""), Provenance::Measured);
}
