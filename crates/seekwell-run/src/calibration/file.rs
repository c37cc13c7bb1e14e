//! The file format of calibrations: TOML with jobs in fio's language, the numbers that are taken
//! from them, and the text that is made of the numbers.

use super::course::rate;
use super::error::CalibrationError;
use super::facts::FACTS;
use super::text::Template;
use crate::RunError;
use crate::shipped::written;
use seekwell_io::value;
use seekwell_runs::{Beginning, Calibration, Quantity, QuantityState};
use serde::Deserialize;

/// What such a file is, in messages.
pub(super) const KIND: &str = "calibration";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: String,
    sources: Vec<String>,
    job: String,
    text: String,
    #[serde(default)]
    quantity: Vec<WrittenQuantity>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenQuantity {
    name: String,
    job: String,
    metric: String,
    first: Option<String>,
}

/// The calibration, its template, and the text of its jobs.
pub(super) fn parse(name: &str, text: &str) -> Result<(Calibration, Template, String), RunError> {
    let written: Written = written(KIND, name, text)?;
    let mut quantities: Vec<Quantity> = Vec::new();
    for one in written.quantity {
        let is_taken = quantities.iter().any(|other| other.name == one.name);
        if is_taken || !is_name(&one.name) || FACTS.contains(&&*one.name) {
            let (name, quantity) = (name.to_owned(), one.name);
            return Err(CalibrationError::Name { name, quantity }.into());
        }
        quantities.push(quantity(name, one)?);
    }
    if quantities.is_empty() {
        return Err(CalibrationError::NoQuantity { name: name.to_owned() }.into());
    }
    let template = Template::of(name, &written.text, &quantities)?;
    let calibration = Calibration {
        name: name.to_owned(),
        title: written.title,
        sources: written.sources,
        quantities,
        credits_may_last: false,
        text: None,
    };
    Ok((calibration, template, written.job))
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !name.is_empty() && name.chars().all(fits)
}

fn quantity(name: &str, written: WrittenQuantity) -> Result<Quantity, CalibrationError> {
    let own_part = written.first.as_deref().map(|text| match beginning(text) {
        _ if rate(&written.metric).is_none() => Err((text, "only a rate has a beginning")),
        None => Err((text, "needed is a time such as \"12s\" or \"3000 requests\"")),
        Some(part) => Ok(part),
    });
    let own_part = own_part.transpose().map_err(|(asked, why)| CalibrationError::First {
        name: name.to_owned(),
        quantity: written.name.clone(),
        asked: asked.to_owned(),
        why,
    })?;
    Ok(Quantity {
        name: written.name,
        job: written.job,
        metric: written.metric,
        own_part,
        own: Vec::new(),
        settled: Vec::new(),
        skipped_runs: 0,
        state: QuantityState::Missing,
        steady: None,
        fall: None,
    })
}

fn beginning(text: &str) -> Option<Beginning> {
    let part = match text.strip_suffix(" requests") {
        Some(count) => Beginning::Requests(count.parse().ok()?),
        None => Beginning::Ns(value::duration(text).ok()?),
    };
    let is_some = match part {
        Beginning::Requests(count) => count > 0,
        Beginning::Ns(time) => time.0 > 0,
    };
    is_some.then_some(part)
}
