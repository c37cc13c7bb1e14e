//! How the rate grows with depth.

use crate::Run;
use crate::point::Point;

/// What a phase would gain from twice the depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// Times as many requests, 1 to 2.
    pub times: f64,
    /// It was measured at twice the depth, not inferred from other depths.
    pub measured: bool,
}

impl Gain {
    /// Nothing is full: a request waits for the one before it.
    pub fn is_latency(self) -> bool {
        self.times >= 1.7
    }

    /// Something is full.
    pub fn is_flat(self) -> bool {
        self.times < 1.15
    }
}

/// The phases that differ from this one in depth alone, it among them, by depth.
pub fn curve<'r>(run: &'r Run<'_>, point: &Point<'_>) -> Vec<&'r Point<'r>> {
    let mut like: Vec<_> = run.points.iter().filter(|p| p.is_like(point)).collect();
    like.sort_by_key(|p| p.depth);
    like
}

/// What twice the depth would gain, as far as phases of other depths show. A closed loop's rate is
/// concave in its depth: what some doublings gained together, the first gained most of, and none
/// gains more than the one before.
pub fn gain(run: &Run<'_>, point: &Point<'_>) -> Option<Gain> {
    let curve = curve(run, point);
    let doublings = |a: &Point<'_>, b: &Point<'_>| (f64::from(b.depth) / f64::from(a.depth)).log2();
    let deeper = curve.iter().find(|p| p.depth >= point.depth.saturating_mul(2));
    if let Some(deeper) = deeper {
        let all = deeper.requests_per_s / point.requests_per_s;
        let measured = deeper.depth == point.depth.saturating_mul(2);
        return Some(Gain { times: all.clamp(0.0, 2.0), measured });
    }
    let shallower = curve.iter().rev().find(|p| p.depth.saturating_mul(2) <= point.depth)?;
    let all = point.requests_per_s / shallower.requests_per_s;
    let each = all.powf(1.0 / doublings(shallower, point));
    Some(Gain { times: each.clamp(0.0, 2.0), measured: false })
}

/// The most of a curve.
pub fn best<'r>(run: &'r Run<'_>, point: &Point<'_>) -> Option<&'r Point<'r>> {
    curve(run, point).into_iter().max_by(|a, b| a.requests_per_s.total_cmp(&b.requests_per_s))
}

/// The most bytes a second that large requests of the same operation reached.
pub fn best_large<'r>(run: &'r Run<'_>, point: &Point<'_>) -> Option<&'r Point<'r>> {
    let large = run.points.iter().filter(|p| p.is_large() && p.op == point.op);
    large.max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
}

/// Whether two values differ by no more than this share.
pub fn near(a: f64, b: f64, share: f64) -> bool {
    (a / b - 1.0).abs() <= share
}
