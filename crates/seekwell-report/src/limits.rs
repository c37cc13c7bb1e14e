//! What limits each phase, and the ceilings that are known, as rows of text.

use crate::rows::NONE;
use crate::text::clean;
use crate::units::{grouped, iops, percent, rate, three_digits};
use seekwell_runs::RunDocument;
use seekwell_runs::limits::{Ceiling, Confidence, Known, Next, PhaseLimit, Station, Unit};
use serde::Serialize;

/// The heading over [`limits`] in every report.
pub(crate) const TITLE: &str = "What limits each phase";
pub(crate) const COLUMNS: [&str; 5] = ["phase", "limited by", "share", "how sure", "next"];

/// What limits one phase. All text is clean; what is not known is `—`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitRow {
    pub phase: String,
    /// The phase's title, or its name if it has none.
    pub title: String,
    pub name: String,
    /// `98 % of 150 MB/s`.
    pub share: String,
    pub sure: &'static str,
    /// `then the medium, up to ×3.4`.
    pub next: String,
    /// What `next` is written from.
    #[serde(skip)]
    pub(crate) then: Option<Next>,
    /// What else it may be, and the command that would settle it.
    pub or: Option<String>,
    /// `by`, for people: `the link`.
    pub station: &'static str,
}

impl LimitRow {
    /// What limits it, and what else it may be.
    pub(crate) fn name_and_or(&self) -> String {
        match &self.or {
            Some(or) => format!("{} ({or})", self.name),
            None => self.name.clone(),
        }
    }

    /// As a row under [`COLUMNS`].
    pub(crate) fn cells(&self) -> Vec<String> {
        let words = [self.sure.to_owned(), self.next.clone()];
        let first = [self.title.clone(), self.name_and_or(), self.share.clone()];
        first.into_iter().chain(words).collect()
    }
}

/// One ceiling. All text is clean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CeilingRow {
    /// With the operation, if it is a ceiling of that alone.
    pub name: String,
    pub rate: String,
    pub known: &'static str,
    pub from: String,
    /// `by`, for people.
    pub station: &'static str,
}

/// A row for each statement about a phase, in their order.
pub fn limits(document: &RunDocument) -> Vec<LimitRow> {
    document.limits.iter().map(|limit| row(document, limit)).collect()
}

/// A row for each known ceiling, in their order.
pub fn ceilings(document: &RunDocument) -> Vec<CeilingRow> {
    document.ceilings.iter().map(ceiling).collect()
}

fn row(document: &RunDocument, limit: &PhaseLimit) -> LimitRow {
    let title = document.phase(&limit.phase).map_or(&limit.phase, |phase| &phase.title);
    LimitRow {
        phase: clean(&limit.phase),
        title: clean(title),
        name: clean(&limit.name),
        share: share(limit),
        sure: match limit.confidence {
            Confidence::Shown => "shown",
            Confidence::Likely => "likely",
            Confidence::Possible => "possible",
        },
        next: next(&limit.next.into_iter().collect::<Vec<_>>()),
        then: limit.next,
        or: or(limit),
        station: limit.by.words(),
    }
}

fn share(limit: &PhaseLimit) -> String {
    let ceiling = limit.ceiling.zip(limit.unit).map(|(most, unit)| amount(most, unit));
    match (limit.share.map(percent), ceiling) {
        (Some(share), Some(ceiling)) => format!("{share} of {ceiling}"),
        (Some(share), None) => share,
        (None, _) => NONE.to_owned(),
    }
}

/// What would limit one phase next, or several of which the same is to be said.
pub(crate) fn next(next: &[Next]) -> String {
    let Some(first) = next.first() else { return NONE.to_owned() };
    let station = first.by.words();
    let mut gains: Vec<f64> = next.iter().filter_map(|next| next.gain).collect();
    gains.sort_by(f64::total_cmp);
    let times = |gain: f64| match gain {
        gain if gain >= 9.95 => format!("×{}", grouped(gain)),
        gain => format!("×{gain:.1}"),
    };
    let then = match first.by {
        Station::Unknown => String::new(),
        _ => format!("then {station}, "),
    };
    match (gains.first().copied().map(times), gains.last().copied().map(times)) {
        (Some(low), Some(high)) if low == high => format!("{then}up to {low}"),
        (Some(low), Some(high)) => format!("{then}up to {low} – {high}"),
        _ => format!("then {station}"),
    }
}

fn or(limit: &PhaseLimit) -> Option<String> {
    let others: Vec<&str> = limit.or.iter().map(|station| station.words()).collect();
    let tell = limit.tell.as_deref().map(|command| format!("to tell: {}", clean(command)));
    let or = (!others.is_empty()).then(|| format!("or {}", others.join(" or ")));
    let said: Vec<String> = or.into_iter().chain(tell).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn ceiling(ceiling: &Ceiling) -> CeilingRow {
    let name = clean(&ceiling.name);
    CeilingRow {
        name: match &ceiling.op {
            Some(op) => format!("{name}, {}s only", clean(op)),
            None => name,
        },
        rate: amount(ceiling.rate, ceiling.unit),
        known: match ceiling.known {
            Known::Declared => "declared",
            Known::Measured => "measured",
            Known::Inferred => "inferred",
        },
        from: clean(&ceiling.from),
        station: ceiling.by.words(),
    }
}

fn amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::BytesPerS => format!("{} MB/s", rate(value)),
        Unit::RequestsPerS => format!("{} IOPS", iops(value)),
        Unit::Commands if value.fract() == 0.0 => format!("{value} commands"),
        Unit::Commands => format!("{} commands", three_digits(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_ceiling_that_is_not_known_is_a_dash() {
        let (document, _) = testing::limited();
        let rows = limits(&document);
        let told = |phase: &str| rows.iter().find(|row| row.phase == phase).expect("a row");
        assert_eq!(told("seq-read-1m").share, "98 % of 3,500 MB/s");
        assert_eq!(told("seq-read-1m").next, "then the flash, up to ×2.0");
        let waits = told("rand-read-4k-d1");
        assert_eq!((waits.share.as_str(), waits.next.as_str()), (NONE, "then the link, up to ×64"));
        assert_eq!(told("commit-4k").next, NONE);
        assert_eq!(told("rand-read-4k-d128").share, "99 % of 128 commands");
    }

    #[test]
    fn hostile_names_of_stations_are_shown_and_not_obeyed() {
        let (mut document, _) = testing::limited();
        document.limits[0].name = "\u{1b}[2J<b>".into();
        document.ceilings[0].from = "\u{202e}x".into();
        assert_eq!(limits(&document)[0].name, "␛[2J<b>");
        assert_eq!(ceilings(&document)[0].from, "�x");
    }
}
