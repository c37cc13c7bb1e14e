//! Time of a seek by its distance.

use super::error::ParamsError;
use serde::{Deserialize, Serialize};

/// Time of a seek, in milliseconds, by its distance in cylinders. A seek of no distance takes none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SeekCurve {
    /// The same for every distance.
    Constant {
        /// Any seek.
        ms: f64,
    },
    /// Measured at some distances, straight lines between them, the last line going on.
    Table(
        /// Distance and time, ascending distances from 1 on.
        Vec<(u32, f64)>,
    ),
    /// Two straight lines through three points: one cylinder, a third of all, all.
    Lines {
        /// One cylinder.
        one_ms: f64,
        /// A third of the cylinders: the mean of random seeks.
        average_ms: f64,
        /// All cylinders.
        full_ms: f64,
    },
    /// A curve `a + b·(d−1) + c·√(d−1)` through the same three points.
    ThreePoint {
        /// One cylinder.
        one_ms: f64,
        /// A third of the cylinders: the mean of random seeks.
        average_ms: f64,
        /// All cylinders.
        full_ms: f64,
    },
    /// Below a distance a root, above it a line, with the shortest ones listed.
    ///
    /// C. Ruemmler and J. Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3),
    /// 1994; listed distances: B. Worthington et al., UM CSE-TR-194-94.
    RootThenLine {
        /// Times of 1, 2, 3 … cylinders, which the equation does not give well.
        first_ms: Vec<f64>,
        /// From this distance on it is a line.
        line_from: u32,
        /// Constant of the root.
        root_ms: f64,
        /// Factor of the root of the distance.
        per_root_ms: f64,
        /// Constant of the line.
        line_ms: f64,
        /// Factor of the distance.
        per_cylinder_ms: f64,
    },
}

const LONGEST_MS: f64 = 1000.0;

impl SeekCurve {
    pub(super) fn check(&self) -> Result<(), ParamsError> {
        let legal = |ms: &f64| (0.0..=LONGEST_MS).contains(ms);
        let times = |all: &[f64]| {
            let what = "a time is not within 0 to 1000 ms";
            all.iter().all(legal).then_some(()).ok_or(ParamsError::Seek { what })
        };
        match self {
            Self::Constant { ms } => times(&[*ms]),
            Self::Lines { one_ms, average_ms, full_ms }
            | Self::ThreePoint { one_ms, average_ms, full_ms } => {
                times(&[*one_ms, *average_ms, *full_ms])
            }
            Self::Table(points) => {
                if points.is_empty() || points[0].0 == 0 {
                    return Err(ParamsError::Seek { what: "no distance of 1 or more is given" });
                }
                if points.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                    return Err(ParamsError::Seek { what: "distances do not ascend" });
                }
                points.iter().try_for_each(|point| times(&[point.1]))
            }
            Self::RootThenLine {
                first_ms, root_ms, per_root_ms, line_ms, per_cylinder_ms, ..
            } => {
                times(first_ms)?;
                times(&[root_ms.abs(), per_root_ms.abs(), line_ms.abs(), per_cylinder_ms.abs()])
            }
        }
    }

    /// Time in nanoseconds of every distance below `cylinders`.
    fn tabulate(&self, cylinders: u32) -> Vec<u32> {
        let mut table = vec![0; cylinders as usize];
        let mut at = 0;
        for distance in 1..cylinders {
            let ms = match self {
                Self::Table(points) => {
                    while at + 2 < points.len() && points[at + 1].0 <= distance {
                        at += 1;
                    }
                    between(&points[at..], distance)
                }
                _ => self.equation(distance, cylinders),
            };
            table[distance as usize] = (ms.clamp(0.0, LONGEST_MS) * 1e6).round() as u32;
        }
        table
    }

    fn equation(&self, distance: u32, cylinders: u32) -> f64 {
        let d = f64::from(distance);
        let all = f64::from(cylinders);
        match self {
            Self::Constant { ms } => *ms,
            Self::Table(points) => between(points, distance),
            Self::Lines { one_ms, average_ms, full_ms } => {
                let third = all / 3.0;
                let (from, to, low, high) = if d <= third {
                    (1.0, third, *one_ms, *average_ms)
                } else {
                    (third, all - 1.0, *average_ms, *full_ms)
                };
                low + (high - low) * (d - from) / (to - from).max(1.0)
            }
            Self::ThreePoint { one_ms, average_ms, full_ms } => {
                let (line, root) = through(*one_ms, *average_ms, *full_ms, all);
                one_ms + line * (d - 1.0) + root * (d - 1.0).sqrt()
            }
            Self::RootThenLine {
                first_ms,
                line_from,
                root_ms,
                per_root_ms,
                line_ms,
                per_cylinder_ms,
            } => match first_ms.get(distance as usize - 1) {
                Some(ms) => *ms,
                None if distance < *line_from => root_ms + per_root_ms * d.sqrt(),
                None => line_ms + per_cylinder_ms * d,
            },
        }
    }
}

/// The line and root factors of the curve through one cylinder, a third and all.
fn through(one: f64, average: f64, full: f64, cylinders: f64) -> (f64, f64) {
    let (near, far) = ((cylinders / 3.0 - 1.0).max(1.0), (cylinders - 2.0).max(2.0));
    // near·b + √near·c = average − one; far·b + √far·c = full − one
    let determinant = near * far.sqrt() - far * near.sqrt();
    let line = ((average - one) * far.sqrt() - (full - one) * near.sqrt()) / determinant;
    let root = ((full - one) * near - (average - one) * far) / determinant;
    (line, root)
}

/// The time at `distance` on the line of the first two points.
fn between(points: &[(u32, f64)], distance: u32) -> f64 {
    let (near, low) = points[0];
    let Some(&(far, high)) = points.get(1) else { return low };
    low + (high - low) * (f64::from(distance) - f64::from(near)) / f64::from(far - near)
}

/// Seek times by distance, small enough to stay in a processor's cache: exact for short distances
/// and for drives with few cylinders, elsewhere one value for a group of neighbouring distances,
/// whose times differ by about a microsecond.
#[derive(Debug)]
pub(super) struct SeekTable {
    near: Vec<u32>,
    far: Vec<u32>,
    shift: u32,
}

/// Distances that have a value of their own.
const NEAR: usize = 1 << 14;

impl SeekTable {
    pub fn new(curve: &SeekCurve, cylinders: u32) -> Self {
        let all = curve.tabulate(cylinders);
        let shift = (all.len() / NEAR + 1).ilog2() + u32::from(all.len() > NEAR);
        let far = all.chunks(1 << shift).map(|group| group[group.len() / 2]).collect();
        Self { near: all[..all.len().min(NEAR)].to_vec(), far, shift }
    }

    /// Nanoseconds of a seek over `distance`, which is less than the cylinders there are.
    pub fn at(&self, distance: u32) -> u32 {
        match self.near.get(distance as usize) {
            Some(time) => *time,
            None => self.far[(distance >> self.shift) as usize],
        }
    }
}
