//! Rates over time, from the series of a repeat.

use seekwell_io::measurement::{Interval, Series};
use seekwell_io::units::Nanos;

/// fio takes a sample of rates this often by default (`bwavgtime`, `iopsavgtime`).
pub(super) const FIO_SAMPLE: Nanos = Nanos::from_millis(500);

/// A span of time and what was completed in it.
pub(super) struct Span {
    /// Its end, in nanoseconds from the start of measuring.
    pub(super) end: Nanos,
    /// Its length in seconds.
    pub(super) seconds: f64,
    pub(super) sum: Interval,
}

/// The series in spans of whole steps, each at least this long. The last one ends with the
/// measurement, and is left out when that cuts it to less than half.
pub(super) fn spans(series: &Series, elapsed: Nanos, at_least: Nanos) -> Vec<Span> {
    let step = series.step_ns.0.max(1);
    let steps = at_least.0.div_ceil(step).max(1);
    let length = step.saturating_mul(steps);
    let mut out = Vec::new();
    for (number, steps) in (0_u64..).zip(series.steps.chunks(steps as usize)) {
        let begin = length.saturating_mul(number);
        let end = begin.saturating_add(length).min(elapsed.0);
        let whole = end.saturating_sub(begin);
        if whole < length.div_ceil(2) {
            break;
        }
        let mut sum = Interval::default();
        steps.iter().for_each(|step| sum.merge(step));
        out.push(Span { end: Nanos(end), seconds: Nanos(whole).as_secs_f64(), sum });
    }
    out
}

/// Lowest, highest, mean and standard deviation of some samples; all zero of none, as in fio.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Samples {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) count: usize,
}

impl Samples {
    /// Of these values.
    pub(super) fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let freedom = (values.len() - 1).max(1) as f64;
        Self {
            min: values.iter().copied().fold(f64::INFINITY, f64::min) as u64,
            max: values.iter().copied().fold(0.0, f64::max) as u64,
            mean,
            deviation: (squares / freedom).sqrt(),
            count: values.len(),
        }
    }
}
