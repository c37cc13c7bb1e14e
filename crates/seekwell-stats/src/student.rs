//! What assumes normal noise: the t interval kept beside the rank interval, and Welch's test for
//! the history of a metric.

use crate::interval::{Interval, percent};
use crate::rank::tail;
use crate::signed::signed;
use crate::signed_rank::{hodges_lehmann, interval};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Arithmetic mean; NaN of nothing.
pub fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

/// Standard deviation, n - 1 below; `None` for fewer than two values or values that are no numbers.
pub(crate) fn sd(x: &[f64]) -> Option<f64> {
    if x.len() < 2 {
        return None;
    }
    let centre = mean(x);
    let squares: f64 = x.iter().map(|v| (v - centre).powi(2)).sum();
    let sd = (squares / (x.len() - 1) as f64).sqrt();
    sd.is_finite().then_some(sd)
}

/// Student's interval of the mean (Student 1908, Biometrika 6:1–25). `None` for fewer than two
/// values, values that are not finite, or a confidence outside (0, 1).
pub fn t_interval(d: &[f64], confidence: f64) -> Option<Interval> {
    let tail = tail(confidence)?;
    let error = sd(d)? / (d.len() as f64).sqrt();
    let t = StudentsT::new(0.0, 1.0, (d.len() - 1) as f64).ok()?;
    let reach = t.inverse_cdf(1.0 - tail) * error;
    let centre = mean(d);
    Some(Interval { low: centre - reach, high: centre + reach })
}

/// The typical block and the mean block tell different stories, as with bursts in one arm only.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Skew {
    /// Change of the typical block (Hodges–Lehmann), per cent.
    pub typical: f64,
    /// Change of the mean block, per cent.
    pub mean: f64,
}

impl std::fmt::Display for Skew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (typical, mean) = (signed(self.typical, 1), signed(self.mean, 1));
        write!(f, "skewed: typical block {typical} %, mean {mean} %")
    }
}

/// A note when an end of the 95 % t interval is more than half a width of the 95 % signed-rank
/// interval away from that one's; `None` when they agree or there are too few values.
pub fn skew(d: &[f64]) -> Option<Skew> {
    let ranks = interval(d, 0.95)?;
    let normal = t_interval(d, 0.95)?;
    let apart = (ranks.low - normal.low).abs().max((ranks.high - normal.high).abs());
    (apart > ranks.half_width())
        .then(|| Skew { typical: percent(hodges_lehmann(d)), mean: percent(mean(d)) })
}

/// Welch's test of two means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Welch {
    /// t, positive when the second mean is higher; infinite when neither sample varies.
    pub t: f64,
    /// Degrees of freedom after Satterthwaite.
    pub degrees: f64,
    /// Two-sided p value.
    pub p: f64,
}

/// Welch's t test with unequal variances (Welch 1947, Biometrika 34:28–35). Two samples without any
/// variation differ surely or not at all. `None` for fewer than two values on a side or values that
/// are not finite.
pub fn welch(x: &[f64], y: &[f64]) -> Option<Welch> {
    let (vx, vy) = (sd(x)?.powi(2) / x.len() as f64, sd(y)?.powi(2) / y.len() as f64);
    let difference = mean(y) - mean(x);
    if vx + vy == 0.0 {
        let p = if difference == 0.0 { 1.0 } else { 0.0 };
        let t = if difference == 0.0 { 0.0 } else { f64::INFINITY.copysign(difference) };
        return Some(Welch { t, degrees: (x.len() + y.len() - 2) as f64, p });
    }
    let t = difference / (vx + vy).sqrt();
    let below = vx.powi(2) / (x.len() - 1) as f64 + vy.powi(2) / (y.len() - 1) as f64;
    let degrees = (vx + vy).powi(2) / below;
    let distribution = StudentsT::new(0.0, 1.0, degrees).ok()?;
    Some(Welch { t, degrees, p: (2.0 * distribution.cdf(-t.abs())).min(1.0) })
}
