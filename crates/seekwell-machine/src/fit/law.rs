//! Which law, and which times in it, give the measured times best.

use crate::flow::{Law, OpParams};

/// Outstanding requests and the time of one, in nanoseconds.
pub type Point = (u32, f64);

/// The law's times that come nearest to the points, in the sense of least squares of relative
/// errors. Bytes cost nothing yet.
pub fn nearest(law: Law, points: &[Point]) -> OpParams {
    let with = |alone_ns, each_ns| OpParams { law, alone_ns, each_ns, byte_ns: 0.0 };
    let (alone_ns, each_ns) = match law {
        Law::Balanced => line(points),
        Law::Bottleneck => {
            // Up to some depth nothing waits; beyond it everything does.
            let cuts = (0..=points.len()).map(|cut| {
                let (flat, steep) = points.split_at(cut);
                let alone = constant(flat.iter().map(|(_, time)| *time));
                let each = constant(steep.iter().map(|(n, time)| time / f64::from(*n)));
                with(alone, each)
            });
            let best = cuts.min_by(|a, b| squares(a, points).total_cmp(&squares(b, points)));
            best.map_or((0.0, 0.0), |best| (best.alone_ns, best.each_ns))
        }
    };
    with(alone_ns, each_ns)
}

/// How far the law is from each point when it is fitted to the others, as a share of the measured
/// rate: what it would have been wrong by, had that one not been measured. The first point is left
/// out: nothing says what is below it.
pub fn unseen_errors(law: Law, points: &[Point]) -> Vec<f64> {
    let error = |left_out: usize| {
        let others: Vec<Point> =
            points.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, p)| *p).collect();
        let (n, time) = points[left_out];
        (time / nearest(law, &others).time_ns(n) - 1.0).abs()
    };
    (1..points.len()).map(error).collect()
}

/// Least squares of relative errors by one number.
fn constant(times: impl Iterator<Item = f64>) -> f64 {
    let (mut one, mut two) = (0.0, 0.0);
    for time in times.filter(|time| *time > 0.0) {
        one += 1.0 / time;
        two += 1.0 / (time * time);
    }
    if two > 0.0 { one / two } else { 0.0 }
}

/// Least squares of relative errors by `a + b·n`, neither negative.
fn line(points: &[Point]) -> (f64, f64) {
    let (mut aa, mut ab, mut bb, mut a, mut b) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (n, time) in points {
        let (x, y) = (1.0 / time, f64::from(*n) / time);
        aa += x * x;
        ab += x * y;
        bb += y * y;
        a += x;
        b += y;
    }
    let det = aa * bb - ab * ab;
    let both = ((a * bb - ab * b) / det, (aa * b - ab * a) / det);
    if det > aa * bb * 1e-12 && both.0 >= 0.0 && both.1 >= 0.0 {
        return both;
    }
    let alone = (constant(points.iter().map(|(_, time)| *time)), 0.0);
    let each = (0.0, constant(points.iter().map(|(n, time)| time / f64::from(*n))));
    let squares = |(a, b): (f64, f64)| {
        squares(&OpParams { law: Law::Balanced, alone_ns: a, each_ns: b, byte_ns: 0.0 }, points)
    };
    if squares(alone) <= squares(each) { alone } else { each }
}

fn squares(op: &OpParams, points: &[Point]) -> f64 {
    points.iter().map(|(n, time)| (op.time_ns(*n) / time - 1.0).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn points_on_a_law_give_the_law_back(
            alone in 1_000.0_f64..1e7,
            share in 0.01_f64..2.0,
            bottleneck: bool,
        ) {
            let law = if bottleneck { Law::Bottleneck } else { Law::Balanced };
            let made = OpParams { law, alone_ns: alone, each_ns: alone * share, byte_ns: 0.0 };
            let points: Vec<Point> = [1, 2, 4, 8, 16].map(|n| (n, made.time_ns(n))).to_vec();
            let found = nearest(law, &points);
            for n in [1, 2, 3, 8, 16] {
                let apart = found.time_ns(n) / made.time_ns(n) - 1.0;
                prop_assert!(apart.abs() < 1e-6, "{n}: {found:?} for {made:?}");
            }
            prop_assert!(unseen_errors(law, &points[..4]).iter().all(|e| e.is_finite()));
        }
    }

    #[test]
    fn a_rate_that_never_rises_is_one_server_and_nothing_else() {
        let flat: Vec<Point> = [1, 2, 4, 8].map(|n| (n, 175_000.0 * f64::from(n))).to_vec();
        let op = nearest(Law::Balanced, &flat);
        assert!(op.alone_ns < 1.0 && (op.each_ns - 175_000.0).abs() < 1.0, "{op:?}");
    }
}
