//! The file format of demands: TOML with jobs in fio's language and bounds on their metrics.

use crate::RunError;
use crate::shipped::written;
use seekwell_io::value;
use seekwell_runs::{Bound, Demand, DemandVerdict, Side};
use seekwell_sys::classify;
use serde::Deserialize;

/// What such a file is, in messages.
pub(super) const KIND: &str = "demand";

/// Why a demand makes no sense.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum DemandError {
    #[error("{name}: a demand needs at least one [[bound]]")]
    NoBound { name: String },
    #[error("{name}: {metric} of {job} needs either at_most or at_least")]
    Side { name: String, job: String, metric: String },
    #[error(
        "{name}: {metric} of {job} cannot be {asked}: needed is a number above 0{}",
        if metric.contains("_ns_") { ", in ns, or a time such as \"10ms\"" } else { "" }
    )]
    Value { name: String, job: String, metric: String, asked: String },
    #[error("{name}: {metric} of {job} cannot be at least {least} and at most {most} at once")]
    Impossible { name: String, job: String, metric: String, least: f64, most: f64 },
}

classify!(DemandError {
    Usage: NoBound, Side, Value, Impossible;
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: String,
    sources: Vec<String>,
    job: String,
    #[serde(default)]
    bound: Vec<WrittenBound>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBound {
    job: String,
    metric: String,
    at_most: Option<Value>,
    at_least: Option<Value>,
    why: String,
}

/// A number, or a time such as `10ms`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Text(String),
}

/// The demand, and the text of its jobs.
pub(super) fn parse(name: &str, text: &str) -> Result<(Demand, String), RunError> {
    let written: Written = written(KIND, name, text)?;
    let bounds: Vec<Bound> =
        written.bound.into_iter().map(|bound| bounded(name, bound)).collect::<Result<_, _>>()?;
    if bounds.is_empty() {
        return Err(DemandError::NoBound { name: name.to_owned() }.into());
    }
    check_pairs(name, &bounds)?;
    let demand = Demand {
        name: name.to_owned(),
        title: written.title,
        sources: written.sources,
        bounds,
        verdict: DemandVerdict::Undecided,
    };
    Ok((demand, written.job))
}

fn bounded(name: &str, written: WrittenBound) -> Result<Bound, DemandError> {
    let WrittenBound { job, metric, at_most, at_least, why } = written;
    let name = name.to_owned();
    let (side, value) = match (at_most, at_least) {
        (Some(most), None) => (Side::AtMost, most),
        (None, Some(least)) => (Side::AtLeast, least),
        _ => return Err(DemandError::Side { name, job, metric }),
    };
    let (number, asked) = match value {
        Value::Number(number) => (Some(number), number.to_string()),
        Value::Text(text) if metric.contains("_ns_") => {
            (value::duration(&text).ok().map(|time| time.0 as f64), format!("{text:?}"))
        }
        Value::Text(text) => (None, format!("{text:?}")),
    };
    match number.filter(|number| number.is_finite() && *number > 0.0) {
        Some(bound) => Ok(Bound { job, metric, side, bound, why, values: Vec::new(), holds: None }),
        None => Err(DemandError::Value { name, job, metric, asked }),
    }
}

/// Refuses pairs of bounds that no value can keep.
fn check_pairs(name: &str, bounds: &[Bound]) -> Result<(), DemandError> {
    for low in bounds.iter().filter(|bound| bound.side == Side::AtLeast) {
        let same = |high: &&Bound| (&high.job, &high.metric) == (&low.job, &low.metric);
        if let Some(high) = bounds.iter().filter(same).find(|high| !high.keeps(low.bound)) {
            return Err(DemandError::Impossible {
                name: name.to_owned(),
                job: low.job.clone(),
                metric: low.metric.clone(),
                least: low.bound,
                most: high.bound,
            });
        }
    }
    Ok(())
}
