//! The numbers that a program needs: how well each is known, and where the program's own method
//! gives a different one.

use super::text::StudyText;
use crate::rows::NONE;
use crate::units::{amount, binary, percent, requests_per_s, three_digits, time};
use seekwell_runs::{
    Beginning, Calibration, Fall, FastCause, Quantity, QuantityState, RunDocument, SteadyValue,
};

/// A program's own number that differs by more than this is reported in a sentence; two
/// calibrations may differ by as much.
const DIFFERENCE: f64 = 0.05;

/// A run that lasted this share of its time was not cut short.
const NEARLY: f64 = 0.99;

pub(super) fn text(document: &RunDocument, calibration: &Calibration) -> StudyText {
    let columns = ["number", "state", "steady", "±", "its own", "in all runs", "runs"];
    let quantities = &calibration.quantities;
    let missing = quantities.iter().filter_map(missing);
    let verdict = match calibration.text {
        Some(_) => format!("CALIBRATED for {}.", calibration.name),
        None => format!("NOT CALIBRATED for {}: nothing is written.", calibration.name),
    };
    let beside = quantities.iter().flat_map(|quantity| [differs(quantity), fell(quantity)]);
    let short = quantities.iter().find_map(|quantity| is_short(document, quantity));
    let credits = calibration.credits_may_last.then(|| {
        "This is a cloud's volume: if it has burst credits, they may outlast the measurement, and \
         these are the rates with them. --runtime 1h shows it."
            .to_owned()
    });
    StudyText {
        title: calibration.title.clone(),
        sentences: std::iter::once(verdict)
            .chain(missing)
            .chain(beside.flatten())
            .chain(short)
            .chain(credits)
            .collect(),
        columns: columns.map(String::from).into(),
        words: 2,
        spare: 2,
        rows: quantities.iter().map(row).collect(),
        panels: Vec::new(),
    }
}

fn row(quantity: &Quantity) -> Vec<String> {
    let word = match quantity.state {
        QuantityState::Known => "known",
        QuantityState::Missing => "missing",
        QuantityState::Unsettled => "unsettled",
        QuantityState::Vague => "vague",
    };
    let number = |value: f64| amount(&quantity.metric, value);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let low = quantity.own.iter().copied().min_by(f64::total_cmp);
    let high = quantity.own.iter().copied().max_by(f64::total_cmp);
    let range = |(low, high)| format!("{} … {}", number(low), number(high));
    let runs = quantity.settled.len();
    vec![
        quantity.name.clone(),
        word.to_owned(),
        or_none(quantity.steady.map(|steady| number(steady.mean))),
        or_none(quantity.steady.map(|steady| percent(steady.reach()))),
        or_none(quantity.own.first().copied().map(number)),
        or_none(low.zip(high).map(range)),
        format!("{} of {runs}", runs - quantity.skipped_runs as usize),
    ]
}

/// Why a number is not known.
fn missing(quantity: &Quantity) -> Option<String> {
    let name = &quantity.name;
    match (quantity.state, quantity.steady) {
        (QuantityState::Known, _) => None,
        (QuantityState::Vague, Some(steady)) => Some(format!(
            "{name} is known to ±{} only, and ±2.5 % is needed: more runs (--repeats) narrow it.",
            percent(steady.reach())
        )),
        (QuantityState::Missing, _) => Some(format!(
            "{name}: {} valid runs gave it, and five are needed. Longer runs (--runtime) have more \
             requests.",
            quantity.settled.len()
        )),
        _ => Some(format!(
            "{name} has not settled: five runs in a row have to agree, and be level in their \
             second halves. Longer runs (--runtime) or more of them (--repeats) may show it."
        )),
    }
}

/// A sentence if runs are shorter than what the program measures.
fn is_short(document: &RunDocument, quantity: &Quantity) -> Option<String> {
    let Some(Beginning::Ns(part)) = quantity.own_part else { return None };
    let phase = document.phases.iter().find(|phase| phase.is_of_job(&quantity.job))?;
    let took = phase.repeats.first()?.elapsed_ns;
    ((took.0 as f64) < part.0 as f64 * NEARLY).then(|| {
        let (took, part) = (time(took.0 as f64), time(part.0 as f64));
        format!(
            "The program's own method measures {} for {part}, and runs lasted {took}: its number \
             is the mean of the entire run.",
            quantity.name
        )
    })
}

fn differs(quantity: &Quantity) -> Option<String> {
    let ratio = quantity.own_differs().filter(|ratio| (ratio - 1.0).abs() > DIFFERENCE)?;
    let (own, SteadyValue { mean, .. }) = (*quantity.own.first()?, quantity.steady?);
    let part = match quantity.own_part? {
        Beginning::Ns(part) => time(part.0 as f64),
        Beginning::Requests(count) => format!("{count} requests"),
    };
    Some(format!(
        "{}: the program's own method, the mean of the first {part}, gives {} in the first run: \
         ×{} of the steady {}.",
        quantity.name,
        amount(&quantity.metric, own),
        three_digits(ratio),
        amount(&quantity.metric, mean),
    ))
}

fn fell(quantity: &Quantity) -> Option<String> {
    let Fall { run, slowdown, moved_bytes, cause } = quantity.fall?;
    let looks = match cause {
        FastCause::Unknown => String::new(),
        cause => format!(" It looks like {}.", cause.words()),
    };
    Some(format!(
        "{}: the rate fell for good after {} of run {}, when {} were moved: from {} to {}.{looks}",
        quantity.name,
        time(slowdown.at_ns as f64),
        run + 1,
        binary(moved_bytes),
        requests_per_s(slowdown.before_per_s),
        requests_per_s(slowdown.after_per_s),
    ))
}
