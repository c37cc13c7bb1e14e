//! The interval of a modelled figure over the samples of its unstated inputs.

use crate::row::Row;
use crate::unstated::{Sample, is_sampled, run_to_run};

/// The quantiles at the ends of an interval.
const ENDS: [f64; 2] = [0.05, 0.95];
/// An input that explains less than this share of the variance is not named.
const LEAST_SHARE: f64 = 0.1;

/// The figures of all samples, with run-to-run variation.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// The 5th percentile.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub high: f64,
    /// The share of the figures below the published one, 0 to 1.
    pub place: f64,
    /// The input that explains most of the variance, where one explains enough.
    pub depends_on: Option<Dependence>,
}

/// The input on which a figure depends most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// Its name.
    pub input: &'static str,
    /// The share of the variance of the figure's logarithm that it explains by itself, 0 to 1: an
    /// estimate of its first-order Sobol index.
    pub share: f64,
}

impl Interval {
    /// Of a row with these figures; `None` without samples.
    pub(crate) fn of(row: &Row, samples: &[f64]) -> Option<Self> {
        let runs = run_to_run(row, samples.len());
        let figures: Vec<f64> =
            samples.iter().zip(runs).map(|(figure, run)| figure * run).collect();
        Self::from(&figures, row.published, dependence(row, samples))
    }

    /// Of the second row's figure over the first's, sample by sample.
    pub(crate) fn of_ratio(from: (&Row, &[f64]), to: (&Row, &[f64])) -> Option<Self> {
        let ratios: Vec<f64> = to.1.iter().zip(from.1).map(|(to, from)| to / from).collect();
        let [of_from, of_to] = [from.0, to.0].map(|row| run_to_run(row, ratios.len()));
        let runs = of_to.iter().zip(of_from).map(|(to, from)| to / from);
        let figures: Vec<f64> = ratios.iter().zip(runs).map(|(ratio, run)| ratio * run).collect();
        let published = to.0.published / from.0.published;
        let interval = Self::from(&figures, published, dependence(to.0, &ratios))?;
        // Run-to-run variation has no direction.
        Some(Self { median: quantile(&ratios, 0.5)?, ..interval })
    }

    fn from(figures: &[f64], published: f64, depends_on: Option<Dependence>) -> Option<Self> {
        let [low, high] = ENDS.map(|q| quantile(figures, q));
        let below = figures.iter().filter(|figure| **figure < published).count();
        let place = below as f64 / figures.len() as f64;
        Some(Self { low: low?, median: quantile(figures, 0.5)?, high: high?, place, depends_on })
    }
}

/// A quantile, interpolated between the two nearest values.
fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = q * sorted.len().checked_sub(1)? as f64;
    let (below, part) = (sorted[at as usize], at.fract());
    let above = sorted[(at.ceil() as usize).min(sorted.len() - 1)];
    Some(below + (above - below) * part)
}

/// The input that explains most of the variance of these figures: the correlation ratio over the
/// parts of each input's range, corrected for chance (epsilon squared, T. L. Kelley, PNAS 21,
/// 1935).
fn dependence(row: &Row, figures: &[f64]) -> Option<Dependence> {
    let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let squares = |values: &[f64], about: f64| -> f64 {
        values.iter().map(|value| (value - about).powi(2)).sum()
    };
    let all = squares(&logs, mean(&logs));
    if !is_sampled(row) || all.is_nan() || all <= 0.0 {
        return None;
    }
    let samples = Sample::of(row, logs.len());
    let share = |index: usize| {
        let (input, _) = samples[0].inputs()[index];
        let mut parts: Vec<Vec<f64>> = Vec::new();
        for (sample, log) in samples.iter().zip(&logs) {
            let part = input.range.part(sample.inputs()[index].1);
            parts.resize(parts.len().max(part + 1), Vec::new());
            parts[part].push(*log);
        }
        parts.retain(|part| !part.is_empty());
        let within: f64 = parts.iter().map(|part| squares(part, mean(part))).sum();
        let free = logs.len().checked_sub(parts.len()).filter(|free| *free > 0)?;
        let chance = (logs.len() - 1) as f64 / free as f64;
        Some(Dependence { input: input.name.as_str(), share: 1.0 - within / all * chance })
    };
    let most = (0..samples.first()?.inputs().len())
        .filter_map(share)
        .max_by(|a, b| a.share.total_cmp(&b.share));
    most.filter(|most| most.share >= LEAST_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    #[test]
    fn quantiles_lie_between_the_nearest_values() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[0.0, 10.0], 0.95), Some(9.5));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn the_input_that_decides_a_figure_is_named() {
        let rows = rows();
        let row = rows.iter().find(|row| row.id() == "R0 random seeks, piix").expect("a row");
        let samples = Sample::of(row, 40);
        let of = |decides: usize| {
            let figures = samples.iter().map(|sample| 100.0 + 50.0 * sample.inputs()[decides].1);
            dependence(row, &figures.collect::<Vec<_>>()).expect("one decides")
        };
        assert_eq!(of(1).input, "share found in the page cache");
        assert_eq!(of(2).input, "average seek, ms");
        assert!(of(2).share > 0.8);
    }

    #[test]
    fn a_ratio_is_taken_sample_by_sample() {
        let rows: Vec<_> = rows().into_iter().filter(|r| r.what == "sequential delete").collect();
        let (from, to) = ([1.0, 10.0, 100.0], [2.0, 20.0, 200.0]);
        let ratio = Interval::of_ratio((&rows[0], &from), (&rows[1], &to)).expect("samples");
        assert_eq!(ratio.median, 2.0, "however much both vary");
        assert!(ratio.low > 1.7 && ratio.high < 2.3, "{ratio:?}");
    }
}
