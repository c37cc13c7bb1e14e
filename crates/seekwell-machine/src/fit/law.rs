//! Which law, and which times in it, give the measured times best.

use crate::flow::{Law, OpParams};

/// Outstanding requests and the time of one, in nanoseconds.
pub type Point = (u32, f64);

/// The furthest that a disk may be from its law, as a factor: what is further away follows another.
const MOST_APART: f64 = 1.5;

/// How points are made into times of all depths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The law.
    pub law: Law,
    /// Whether the times go through the points, the law filling what is between and beyond, or
    /// are those of the law alone.
    pub through: bool,
}

impl Shape {
    /// All that are tried.
    pub const ALL: [Self; 4] = [
        Self { law: Law::Balanced, through: false },
        Self { law: Law::Bottleneck, through: false },
        Self { law: Law::Balanced, through: true },
        Self { law: Law::Bottleneck, through: true },
    ];
}

/// Reads or writes that follow a law, whose bytes cost nothing and whose times do not vary.
pub fn plain(law: Law, alone_ns: f64, each_ns: f64) -> OpParams {
    let (depths, sizes, variation) = (Vec::new(), Vec::new(), Vec::new());
    OpParams { law, alone_ns, each_ns, byte_ns: 0.0, depths, sizes, variation }
}

/// The times of this shape for the points.
pub fn shaped(shape: Shape, points: &[Point]) -> OpParams {
    let mut op = nearest(shape.law, points);
    if shape.through {
        let mut depths: Vec<(u32, f64)> = Vec::new();
        for same in points.chunk_by(|a, b| a.0 == b.0) {
            let time = same.iter().map(|(_, time)| time).sum::<f64>() / same.len() as f64;
            let factor = (time / op.time_ns(same[0].0)).clamp(1.0 / MOST_APART, MOST_APART);
            depths.push((same[0].0, factor));
        }
        op.depths = depths;
    }
    op
}

/// The law's times that come nearest to the points, in the sense of least squares of relative
/// errors.
fn nearest(law: Law, points: &[Point]) -> OpParams {
    let with = |alone_ns, each_ns| plain(law, alone_ns, each_ns);
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

/// How far the times are from each point when they are fitted to the others, as a share of the
/// measured rate: what they would have been wrong by, had that one not been measured. The first
/// point is left out: nothing says what is below it.
pub fn unseen_errors(shape: Shape, points: &[Point]) -> Vec<f64> {
    let error = |left_out: usize| {
        let others: Vec<Point> =
            points.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, p)| *p).collect();
        let (n, time) = points[left_out];
        (time / shaped(shape, &others).time_ns(n) - 1.0).abs()
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
    let squares = |(a, b): (f64, f64)| squares(&plain(Law::Balanced, a, b), points);
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
            let made = plain(law, alone, alone * share);
            let points: Vec<Point> = [1, 2, 4, 8, 16].map(|n| (n, made.time_ns(n))).to_vec();
            let found = nearest(law, &points);
            for n in [1, 2, 3, 8, 16] {
                let apart = found.time_ns(n) / made.time_ns(n) - 1.0;
                prop_assert!(apart.abs() < 1e-6, "{n}: {found:?} for {made:?}");
            }
            for through in [false, true] {
                let errors = unseen_errors(Shape { law, through }, &points[..4]);
                prop_assert!(errors.iter().all(|e| e.is_finite()));
            }
        }
    }

    #[test]
    fn a_rate_that_never_rises_is_one_server_and_nothing_else() {
        let flat: Vec<Point> = [1, 2, 4, 8].map(|n| (n, 175_000.0 * f64::from(n))).to_vec();
        let op = nearest(Law::Balanced, &flat);
        assert!(op.alone_ns < 1.0 && (op.each_ns - 175_000.0).abs() < 1.0, "{op:?}");
    }

    #[test]
    fn times_go_through_points_that_no_law_meets_and_keep_to_the_law_between() {
        let points: Vec<Point> = vec![(1, 10e3), (2, 14e3), (4, 15e3), (8, 26e3), (16, 40e3)];
        let through = shaped(Shape { law: Law::Balanced, through: true }, &points);
        for (n, time) in &points {
            assert!((through.time_ns(*n) / time - 1.0).abs() < 1e-9, "{n}: {through:?}");
        }
        assert!((15e3..26e3).contains(&through.time_ns(6)), "{through:?}");
        let law = nearest(Law::Balanced, &points);
        let beyond = |n| through.time_ns(n) / law.time_ns(n);
        assert!((beyond(16) / beyond(64) - 1.0).abs() < 1e-9, "{through:?}");
    }
}
