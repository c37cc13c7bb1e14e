//! Where the history of a metric changed: many runs of one configuration over weeks, never A/B.
//!
//! The algorithm of Hunter, now Apache Otava (Fleming et al. 2023, arXiv 2301.03034): E-divisive
//! (Matteson & James 2014, JASA 109:334–345) proposes where to cut, inside windows that overlap by
//! half; a t test in place of the permutation test decides, so the answer is the same every time;
//! weak proposals are kept until their neighbours are known and judged again strictly; what is too
//! small to matter goes. Two differences: the test is Welch's, as a change often changes the
//! variance too, and a segment has at least three runs, as two give no variance worth the name.

use crate::student::{mean, welch};
use serde::{Deserialize, Serialize};

/// Fewest runs of a segment.
const SEGMENT: usize = 3;
/// A proposal is kept for judgement up to this multiple of the strict p value.
const WEAK: f64 = 10.0;

/// What counts as a change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangeRule {
    /// Runs looked at together; at least six.
    pub window: usize,
    /// Highest p value.
    pub p: f64,
    /// Smallest change of the mean, as a fraction.
    pub magnitude: f64,
}

impl Default for ChangeRule {
    /// Hunter's: windows of 50 runs, p below 0.001, at least 5 %.
    fn default() -> Self {
        Self { window: 50, p: 0.001, magnitude: 0.05 }
    }
}

/// A change of the mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// First run after the change.
    pub index: usize,
    /// Mean from the change before to this one, in the unit of the series.
    pub before: f64,
    /// Mean from this change to the next.
    pub after: f64,
    /// p value of Welch's test between the two.
    pub p: f64,
}

impl ChangePoint {
    /// Change of the mean in per cent of what it was.
    pub fn percent(&self) -> f64 {
        (self.after / self.before - 1.0) * 100.0
    }

    /// The larger of the changes there and back, as a fraction, as Hunter measures it.
    fn magnitude(&self) -> f64 {
        (self.after / self.before - 1.0).abs().max((self.before / self.after - 1.0).abs())
    }
}

/// Change points of `series`, one value per run, oldest first, in order. Empty when there are none,
/// when there are fewer than six runs, or when a value is not finite.
pub fn change_points(series: &[f64], rule: ChangeRule) -> Vec<ChangePoint> {
    if series.iter().any(|x| !x.is_finite()) {
        return Vec::new();
    }
    let mut cuts = proposals(series, rule.window.max(2 * SEGMENT), rule.p * WEAK);
    loop {
        let points = judge(series, &cuts);
        let weakest = points.iter().max_by(|x, y| x.p.total_cmp(&y.p));
        let smallest = points.iter().min_by(|x, y| x.magnitude().total_cmp(&y.magnitude()));
        let drop = match (weakest, smallest) {
            (Some(weakest), _) if weakest.p > rule.p => weakest.index,
            (_, Some(smallest)) if smallest.magnitude() < rule.magnitude => smallest.index,
            _ => return points,
        };
        cuts.retain(|cut| *cut != drop);
    }
}

/// Cuts proposed in windows that advance by half of their length, or to the last cut.
fn proposals(series: &[f64], window: usize, weak: f64) -> Vec<usize> {
    let mut cuts: Vec<usize> = Vec::new();
    let mut start = 0;
    while start < series.len() {
        let end = (start + window).min(series.len());
        let mut found = Vec::new();
        split(&series[start..end], start, weak, &mut found);
        // A window that begins after a cut must not cut again within a segment of it.
        found.retain(|cut| cuts.iter().all(|old| old.abs_diff(*cut) >= SEGMENT));
        found.sort_unstable();
        let step = start + window / 2;
        start = found.last().map_or(step, |last| step.max(*last));
        cuts.extend(found);
        cuts.sort_unstable();
    }
    cuts
}

/// Cuts `segment` where E-divisive says, while Welch's test agrees, and then both halves.
fn split(segment: &[f64], offset: usize, weak: f64, cuts: &mut Vec<usize>) {
    let Some(cut) = best_cut(segment) else { return };
    let (left, right) = segment.split_at(cut);
    if welch(left, right).is_none_or(|test| test.p > weak) {
        return;
    }
    cuts.push(offset + cut);
    split(left, offset, weak, cuts);
    split(right, offset + cut, weak, cuts);
}

/// The cut with the highest divergence Q = mn / (m + n) · (2 E|X - Y| - E|X - X'| - E|Y - Y'|)
/// (Matteson & James 2014, equation 5, exponent 1). `None` when there is no room for a cut.
fn best_cut(x: &[f64]) -> Option<usize> {
    // Moving the cut by one run moves that run's distances from one sum to another.
    let distance = |i: usize, range: std::ops::Range<usize>| -> f64 {
        range.map(|j| (x[i] - x[j]).abs()).sum()
    };
    let total: f64 = (0..x.len()).map(|i| distance(i, 0..i)).sum();
    let (mut within, mut beyond) = (0.0, total);
    let mut best: Option<(usize, f64)> = None;
    for cut in 1..x.len() {
        within += distance(cut - 1, 0..cut - 1);
        beyond -= distance(cut - 1, cut..x.len());
        let (m, n) = (cut as f64, (x.len() - cut) as f64);
        if cut < SEGMENT || x.len() - cut < SEGMENT {
            continue;
        }
        let across = total - within - beyond;
        let mean_within = 2.0 * within / (m * (m - 1.0));
        let mean_beyond = 2.0 * beyond / (n * (n - 1.0));
        let q = m * n / (m + n) * (2.0 * across / (m * n) - mean_within - mean_beyond);
        if best.is_none_or(|(_, highest)| q > highest) {
            best = Some((cut, q));
        }
    }
    best.map(|(cut, _)| cut)
}

/// The means on both sides of every cut, out to the neighbouring cuts, and their test.
fn judge(series: &[f64], cuts: &[usize]) -> Vec<ChangePoint> {
    let edges: Vec<usize> =
        std::iter::once(0).chain(cuts.iter().copied()).chain([series.len()]).collect();
    edges
        .windows(3)
        .map(|edge| {
            let (left, right) = (&series[edge[0]..edge[1]], &series[edge[1]..edge[2]]);
            let p = welch(left, right).map_or(1.0, |test| test.p);
            ChangePoint { index: edge[1], before: mean(left), after: mean(right), p }
        })
        .collect()
}
