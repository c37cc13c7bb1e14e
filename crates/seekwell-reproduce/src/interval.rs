//! Where a figure may lie when what a document leaves out is anywhere in its range.

use crate::reproduced::Reproduced;
use crate::unstated::{Point, is_sampled, once};

/// The quantiles at the ends of an interval.
const ENDS: [f64; 2] = [0.05, 0.95];
/// An input that explains less than this of how a figure spreads does not decide it.
const LEAST_SHARE: f64 = 0.1;

/// Figures at all points of the ranges of what is left out, each as one run measures it.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// The 5th percentile.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub high: f64,
    /// The share of the figures that are below the published one, 0 to 1.
    pub place: f64,
    /// The input that the figure depends on most, where one does.
    pub depends_on: Option<Dependence>,
}

/// The input that explains most of how figures spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// Its name.
    pub input: &'static str,
    /// The share of the variance of the figure's logarithm that it explains alone, 0 to 1: an
    /// estimate of its first-order Sobol index.
    pub share: f64,
}

impl Interval {
    /// Of a row; `None` where no points were drawn.
    pub(crate) fn of(row: &Reproduced) -> Option<Self> {
        let runs = once(&row.row, row.draws.len());
        let figures: Vec<f64> = row.draws.iter().zip(runs).map(|(draw, run)| draw * run).collect();
        Self::from(&figures, row.row.published, dependence(row, &row.draws))
    }

    /// Of the second row's figure over the first's, point by point.
    pub(crate) fn of_ratio(from: &Reproduced, to: &Reproduced) -> Option<Self> {
        let ratios: Vec<f64> = to.draws.iter().zip(&from.draws).map(|(b, a)| b / a).collect();
        let [of_a, of_b] = [from, to].map(|row| once(&row.row, row.draws.len()));
        let runs = of_b.iter().zip(of_a).map(|(b, a)| b / a);
        let figures: Vec<f64> = ratios.iter().zip(runs).map(|(ratio, run)| ratio * run).collect();
        let published = to.row.published / from.row.published;
        let interval = Self::from(&figures, published, dependence(to, &ratios))?;
        // What a run does to either has no direction.
        Some(Self { median: quantile(&ratios, 0.5)?, ..interval })
    }

    fn from(figures: &[f64], published: f64, depends_on: Option<Dependence>) -> Option<Self> {
        let [low, high] = ENDS.map(|q| quantile(figures, q));
        let below = figures.iter().filter(|figure| **figure < published).count();
        let place = below as f64 / figures.len() as f64;
        Some(Self { low: low?, median: quantile(figures, 0.5)?, high: high?, place, depends_on })
    }
}

/// A quantile, between the two nearest.
fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = q * sorted.len().checked_sub(1)? as f64;
    let (below, part) = (sorted[at as usize], at.fract());
    let above = sorted[(at.ceil() as usize).min(sorted.len() - 1)];
    Some(below + (above - below) * part)
}

/// The input whose parts explain most of how figures spread: the correlation ratio, less what
/// chance explains (epsilon squared, T. L. Kelley, PNAS 21, 1935).
fn dependence(row: &Reproduced, figures: &[f64]) -> Option<Dependence> {
    let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let square = |values: &[f64], about: f64| -> f64 {
        values.iter().map(|value| (value - about).powi(2)).sum()
    };
    let all = square(&logs, mean(&logs));
    if !is_sampled(&row.row) || all.is_nan() || all <= 0.0 {
        return None;
    }
    let points = Point::of(&row.row, logs.len());
    let share = |index: usize| {
        let (input, _) = points[0].places()[index];
        let mut parts: Vec<Vec<f64>> = Vec::new();
        for (point, log) in points.iter().zip(&logs) {
            let part = input.range.part(point.places()[index].1);
            parts.resize(parts.len().max(part + 1), Vec::new());
            parts[part].push(*log);
        }
        parts.retain(|part| !part.is_empty());
        let within: f64 = parts.iter().map(|part| square(part, mean(part))).sum();
        let free = logs.len().checked_sub(parts.len()).filter(|free| *free > 0)?;
        let chance = (logs.len() - 1) as f64 / free as f64;
        Some(Dependence { input: input.name.as_str(), share: 1.0 - within / all * chance })
    };
    let most = (0..points.first()?.places().len())
        .filter_map(share)
        .max_by(|a, b| a.share.total_cmp(&b.share));
    most.filter(|most| most.share >= LEAST_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduced::tests::row as plain;
    use crate::rows;

    #[test]
    fn quantiles_lie_between_the_nearest_values() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[0.0, 10.0], 0.95), Some(9.5));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn the_input_that_decides_a_figure_is_named() {
        let of = |decides: usize| {
            let row = rows().into_iter().find(|row| row.id() == "R0 random seeks, piix");
            let row = row.expect("it is a row");
            let points = Point::of(&row, 40);
            let draws = points.iter().map(|point| 100.0 + 50.0 * point.places()[decides].1);
            let draws = draws.collect::<Vec<_>>();
            let row = Reproduced { row, ..plain("", 1.0, 1.0, false) };
            dependence(&row, &draws).expect("one decides")
        };
        assert_eq!(of(1).input, "share found in the page cache");
        assert_eq!(of(2).input, "average seek, ms");
        assert!(of(2).share > 0.8);
    }

    #[test]
    fn a_ratio_is_taken_point_by_point() {
        let rows: Vec<_> = rows().into_iter().filter(|r| r.what == "sequential delete").collect();
        let of = |index: usize, draws: &[f64]| Reproduced {
            row: rows[index].clone(),
            draws: draws.to_vec(),
            ..plain("", 1.0, 1.0, false)
        };
        let (a, b) = (of(0, &[1.0, 10.0, 100.0]), of(1, &[2.0, 20.0, 200.0]));
        let ratio = Interval::of_ratio(&a, &b).expect("there are points");
        assert_eq!(ratio.median, 2.0, "however both spread");
        assert!(ratio.low > 1.7 && ratio.high < 2.3, "{ratio:?}");
    }
}
