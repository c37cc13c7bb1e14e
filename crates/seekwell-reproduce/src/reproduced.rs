//! The modelled figure of a row, its verdict, and the summary of all rows.

use crate::interval::Interval;
use crate::row::{How, NEAR, Row};
use crate::rows::why_missed;
use seekwell_machine::what_if::Relief;

/// A modelled figure within this share of a fitted figure of the same test repeats it; a ratio
/// within this share of 1 is no effect.
pub(crate) const REPEATS: f64 = 0.005;
/// Published figures that differ by more than this share are an effect.
const EFFECT: f64 = 0.03;
/// An interval is narrow enough to be a prediction where its ends differ by less than this factor.
const NARROW: f64 = 1.5;
/// The least part of a published effect, on a logarithmic scale, that a modelled one must reach.
const SIZE: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// No row that was fitted determines it.
    Predicted,
    /// It repeats the figure of a row that was fitted, or is a property of a re-recorded trace.
    CarriedOver,
    /// A parameter of the machine was fitted on it.
    Fitted,
    /// No model gives this figure.
    NotModelled,
}

impl Basis {
    /// The word in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Predicted => "predicted",
            Self::CarriedOver => "carried over",
            Self::Fitted => "fitted",
            Self::NotModelled => "not modelled",
        }
    }
}

/// How a published figure compares with the modelled one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The published figure lies in the modelled interval, which is narrow.
    Predicted,
    /// It lies in the interval, which is wide: the unstated inputs decide.
    Consistent,
    /// It lies outside.
    Missed,
    /// See [`Basis::CarriedOver`].
    CarriedOver,
    /// See [`Basis::Fitted`].
    Fitted,
    /// See [`Basis::NotModelled`].
    NotModelled,
}

impl Verdict {
    /// The word in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Predicted => "predicted",
            Self::Consistent => "consistent",
            Self::Missed => "missed",
            Self::CarriedOver => Basis::CarriedOver.name(),
            Self::Fitted => Basis::Fitted.name(),
            Self::NotModelled => Basis::NotModelled.name(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Reproduced {
    /// What was published, and how it is modelled.
    pub row: Row,
    /// The modelled figure with the assumed inputs, if there is a model of it.
    pub modelled: Option<f64>,
    /// The modelled interval over all unstated inputs; `None` without samples, and for rows that
    /// are not predicted.
    pub interval: Option<Interval>,
    /// The modelled figure of each sample of the unstated inputs, without run-to-run variation.
    pub(crate) samples: Vec<f64>,
    /// What limits the modelled figure, if it was asked for and a load gives the figure.
    pub limited_by: Option<Relief>,
    /// Parameters of the machine that were fitted on this row.
    pub fitted: Vec<String>,
    pub basis: Basis,
}

impl Reproduced {
    /// Modelled over published, less one.
    pub fn error(&self) -> Option<f64> {
        self.modelled.map(|modelled| modelled / self.row.published - 1.0)
    }

    /// Whether the figure is as near as [`crate::Reading::near`] says, or rounds to a published
    /// share of the processor, which has no decimals; `None` if there is no figure.
    pub fn is_near(&self) -> Option<bool> {
        let modelled = self.modelled?;
        let is_printed_so = self.rounding() > 0.0 && modelled.round() == self.row.published;
        let near = if let How::Load { reads, .. } = &self.row.how { reads.near() } else { NEAR };
        Some(is_printed_so || self.error()?.abs() <= near)
    }

    /// Shares of the processor are printed without decimals.
    fn rounding(&self) -> f64 {
        if self.row.unit == "%CP" { 0.5 } else { 0.0 }
    }

    /// The verdict. Without an interval, a predicted figure has to be near.
    pub fn verdict(&self) -> Verdict {
        match (self.basis, &self.interval) {
            (Basis::NotModelled, _) => Verdict::NotModelled,
            (Basis::Fitted, _) => Verdict::Fitted,
            (Basis::CarriedOver, _) => Verdict::CarriedOver,
            (Basis::Predicted, None) if self.is_near() == Some(true) => Verdict::Predicted,
            (Basis::Predicted, None) => Verdict::Missed,
            (Basis::Predicted, Some(interval)) => {
                let (published, by) = (self.row.published, self.rounding());
                let is_inside = interval.low <= published + by && published - by <= interval.high;
                match interval.high < NARROW * interval.low {
                    true if is_inside => Verdict::Predicted,
                    false if is_inside => Verdict::Consistent,
                    _ => Verdict::Missed,
                }
            }
        }
    }

    /// Why the row is not modelled, or what is known of why it misses.
    pub fn why(&self) -> Option<&'static str> {
        let is_off = match self.verdict() {
            Verdict::Missed => true,
            Verdict::CarriedOver | Verdict::Fitted => self.is_near() == Some(false),
            _ => false,
        };
        match &self.row.how {
            How::NotModelled { why } => Some(why),
            _ if is_off => why_missed(&self.row.id()),
            _ => None,
        }
    }
}

/// Rows that repeat a fitted figure, or were fitted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub rows: usize,
    pub near: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    pub rows: usize,
    /// Rows that no fitted figure determines, by verdict.
    pub predicted: usize,
    pub consistent: usize,
    pub missed: usize,
    pub carried_over: Count,
    pub fitted: Count,
    pub not_modelled: usize,
    /// Neighbouring configurations whose published figures differ, not fitted at both ends.
    pub effects: usize,
    /// Effects that the models reproduce in the right direction.
    pub direction: usize,
    /// Effects that also have at least half of the published size, on a logarithmic scale.
    pub size: usize,
}

impl Summary {
    /// Rows that no fitted figure determines.
    pub const fn unfitted(&self) -> usize {
        self.predicted + self.consistent + self.missed
    }
}

pub fn summary(rows: &[Reproduced]) -> Summary {
    let mut sum = Summary { rows: rows.len(), ..Summary::default() };
    for row in rows {
        let count = match row.verdict() {
            Verdict::Predicted => &mut sum.predicted,
            Verdict::Consistent => &mut sum.consistent,
            Verdict::Missed => &mut sum.missed,
            Verdict::NotModelled => &mut sum.not_modelled,
            Verdict::CarriedOver => {
                sum.carried_over.near += usize::from(row.is_near() == Some(true));
                &mut sum.carried_over.rows
            }
            Verdict::Fitted => {
                sum.fitted.near += usize::from(row.is_near() == Some(true));
                &mut sum.fitted.rows
            }
        };
        *count += 1;
    }
    for effect in effects(rows) {
        sum.effects += 1;
        sum.direction += usize::from(effect.has_direction());
        sum.size += usize::from(effect.has_size());
    }
    sum
}

/// The ratio of the figures of two neighbouring configurations.
#[derive(Debug, Clone)]
pub struct Effect<'a> {
    pub from: &'a Reproduced,
    pub to: &'a Reproduced,
    pub published: f64,
    /// With the assumed inputs.
    pub modelled: f64,
    /// Over the samples, which both configurations share.
    pub interval: Option<Interval>,
}

impl Effect<'_> {
    /// The median ratio of the samples, if there are any.
    fn ratio(&self) -> f64 {
        self.interval.as_ref().map_or(self.modelled, |interval| interval.median)
    }

    /// Whether the modelled effect has the direction of the published one.
    pub fn has_direction(&self) -> bool {
        let ratio = self.ratio();
        (ratio - 1.0).abs() > REPEATS && (ratio > 1.0) == (self.published > 1.0)
    }

    /// Whether it also has at least half of its size, on a logarithmic scale.
    pub fn has_size(&self) -> bool {
        self.has_direction() && self.ratio().ln() / self.published.ln() >= SIZE
    }
}

/// Neighbouring configurations of one test whose published figures differ, by more than a rounded
/// share of the processor can; not those fitted at both ends, where the model has no say.
pub fn effects(rows: &[Reproduced]) -> impl Iterator<Item = Effect<'_>> {
    rows.iter().enumerate().filter_map(|(index, to)| {
        let same = |a: &&Reproduced| {
            a.row.document == to.row.document
                && a.row.what == to.row.what
                && !to.row.machine.is_empty()
        };
        let from = rows[..index].iter().rev().find(same)?;
        let rounding = 2.0 * to.rounding();
        let by = (to.row.published - from.row.published).abs();
        let differ = by > rounding && by / from.row.published > EFFECT;
        let is_free = from.fitted.is_empty() || to.fitted.is_empty();
        (differ && is_free).then_some(())?;
        Some(Effect {
            from,
            to,
            published: to.row.published / from.row.published,
            modelled: to.modelled? / from.modelled?,
            interval: Interval::of_ratio((&from.row, &from.samples), (&to.row, &to.samples)),
        })
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::row::Better;

    pub(crate) fn row(what: &str, published: f64, modelled: f64, fitted: bool) -> Reproduced {
        Reproduced {
            row: Row {
                document: "R9",
                what: what.to_owned(),
                configuration: "",
                machine: "some",
                unit: "/s",
                better: Better::Higher,
                published,
                how: How::NotModelled { why: "" },
            },
            modelled: Some(modelled),
            interval: None,
            samples: Vec::new(),
            limited_by: None,
            fitted: if fitted { vec!["drive.rpm".to_owned()] } else { Vec::new() },
            basis: Basis::NotModelled,
        }
    }

    #[test]
    fn an_effect_has_a_direction_and_at_least_half_of_its_size() {
        let shown = |published, modelled, fitted| {
            let rows = [row("a", 100.0, 100.0, fitted), row("a", published, modelled, fitted)];
            let told = |effect: Effect<'_>| (effect.has_direction(), effect.has_size());
            effects(&rows).map(told).collect::<Vec<_>>()
        };
        assert_eq!(shown(200.0, 150.0, false), [(true, true)]);
        assert_eq!(shown(200.0, 130.0, false), [(true, false)]);
        assert_eq!(shown(200.0, 50.0, false), [(false, false)]);
        assert_eq!(shown(90.0, 99.9, false), [(false, false)], "no difference has no direction");
        assert_eq!(shown(102.0, 130.0, false), [(false, false); 0], "no effect was published");
        assert_eq!(shown(200.0, 200.0, true), [(true, true); 0], "both ends were fitted");
    }

    #[test]
    fn what_lies_in_a_narrow_interval_is_predicted_and_in_a_wide_one_consistent() {
        let of = |published, low, high| {
            let median = (low + high) / 2.0;
            let interval = Some(Interval { low, median, high, place: 0.5, depends_on: None });
            let basis = Basis::Predicted;
            Reproduced { interval, basis, ..row("a", published, median, false) }.verdict()
        };
        assert_eq!(of(100.0, 80.0, 110.0), Verdict::Predicted);
        assert_eq!(of(100.0, 50.0, 110.0), Verdict::Consistent);
        assert_eq!(of(100.0, 101.0, 110.0), Verdict::Missed);
        assert_eq!(of(100.0, 50.0, 99.0), Verdict::Missed, "however wide");
    }
}
