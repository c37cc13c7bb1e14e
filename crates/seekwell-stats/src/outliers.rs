//! Which of several equal things is not equal: how far a value lies from the median, in the median
//! absolute deviations of all, and how far the values of equal things ever lie.
//!
//! Values are compared as logarithms, so that half and double are equally far. Few values make a
//! median absolute deviation that may be small by chance, and heavy tails put values far out: the
//! distance that counts follows from both. The references are Student's t with 4 degrees of
//! freedom, whose fourth moment is infinite already, and Laplace's law, whose peak makes small
//! deviations common; the larger distance counts. Normal, log-normal and logistic values give fewer
//! false alarms than were asked for.

use crate::design::log;
use crate::margin::Margin;
use crate::rank::median_sorted;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Fewest values among which one can be an outlier: with fewer, the distance that counts grows
/// beyond use.
pub const OUTLIER_FLOOR: usize = 6;
/// A median absolute deviation times this is the standard deviation of normal values.
pub const SD_OF_MAD: f64 = 1.4826;
/// Values drawn for the distance of one number of values.
const DRAWN: usize = 120_000;

/// Where the middle of several values is and how far they lie from it, as logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Middle {
    /// The median.
    pub median: f64,
    /// The median absolute deviation from it.
    pub mad: f64,
}

impl Middle {
    /// That of the values that have a logarithm; `None` of none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut logs: Vec<f64> = values.iter().filter_map(|v| log(*v)).collect();
        (!logs.is_empty()).then(|| Self::of_logs(&mut logs))
    }

    fn of_logs(logs: &mut [f64]) -> Self {
        logs.sort_unstable_by(f64::total_cmp);
        let median = median_sorted(logs);
        logs.iter_mut().for_each(|x| *x = (*x - median).abs());
        logs.sort_unstable_by(f64::total_cmp);
        Self { median, mad: median_sorted(logs) }
    }

    /// The logarithm of a value's ratio to the median; `None` of a value that has no logarithm.
    pub fn log_ratio(&self, value: f64) -> Option<f64> {
        Some(log(value)? - self.median)
    }

    /// The logarithm of the ratio to the median beyond which a value is an outlier: `distance`
    /// median absolute deviations, but at least the margin.
    pub fn reach(&self, distance: f64, margin: Margin) -> f64 {
        (distance * self.mad).max(margin.log())
    }
}

/// The distribution of outlier distances among values that differ only by chance.
#[derive(Debug, Clone)]
pub struct Equals {
    count: usize,
    /// Of each of [`LAWS`]: medians and median absolute deviations of samples in which one value is
    /// infinite.
    middles: [Vec<Middle>; 2],
}

/// A distribution of values that differ only by chance.
struct Law {
    draw: fn(&mut Xoshiro256PlusPlus) -> f64,
    /// The probability of a larger value.
    tail: fn(f64) -> f64,
}

const LAWS: [Law; 2] =
    [Law { draw: student, tail: student_tail }, Law { draw: laplace, tail: laplace_tail }];

impl Equals {
    /// Of `count` values; `None` below [`OUTLIER_FLOOR`].
    pub fn new(count: usize) -> Option<Self> {
        if count < OUTLIER_FLOOR {
            return None;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(count as u64);
        let mut sample = vec![0.0; count];
        let middles = LAWS.map(|law| {
            let middle = |_| {
                sample.fill_with(|| (law.draw)(&mut random));
                sample[0] = f64::INFINITY;
                Middle::of_logs(&mut sample)
            };
            (0..(DRAWN / count).clamp(200, 20_000)).map(middle).collect()
        });
        Some(Self { count, middles })
    }

    /// The distance from the median, in median absolute deviations, beyond which any of the values
    /// lies with at most this probability.
    ///
    /// A value that is far out changes neither the median nor the median absolute deviation by
    /// being farther out. So the chance that it is beyond a distance follows from those of samples
    /// in which it is infinite, without drawing the rare values themselves; the chance that any is
    /// beyond is at most the sum over the values.
    pub fn distance(&self, probability: f64) -> f64 {
        let beyond_in = |law: &Law, middles: &[Middle], distance: f64| {
            let tails = middles.iter().map(|m| (law.tail)(distance.mul_add(m.mad, m.median)));
            2.0 * self.count as f64 * tails.sum::<f64>() / middles.len() as f64
        };
        let beyond = |distance| {
            let each = LAWS.iter().zip(&self.middles);
            each.map(|(law, middles)| beyond_in(law, middles, distance)).fold(0.0, f64::max)
        };
        // Logarithms of distances; below 2 the reasoning does not hold.
        let (mut low, mut high) = (2.0_f64.ln(), 20.0);
        for _ in 0..20 {
            let middle = f64::midpoint(low, high);
            if beyond(f64::exp(middle)) > probability { low = middle } else { high = middle }
        }
        high.exp()
    }
}

/// Above 0 and at most 1.
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// A value of Student's t with 4 degrees of freedom (Bailey 1994, Math. Comp. 62:779–781).
fn student(random: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = (4.0 * (uniform(random).powf(-0.5) - 1.0)).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}

fn student_tail(t: f64) -> f64 {
    // The exact form loses its digits there.
    if t > 1000.0 {
        return 3.0 / t.powi(4);
    }
    let sine = t / t.mul_add(t, 4.0).sqrt();
    0.5 - 0.5 * sine * 0.5f64.mul_add(1.0 - sine * sine, 1.0)
}

fn laplace(random: &mut Xoshiro256PlusPlus) -> f64 {
    uniform(random).ln() - uniform(random).ln()
}

fn laplace_tail(x: f64) -> f64 {
    let half = (-x.abs()).exp() / 2.0;
    if x > 0.0 { half } else { 1.0 - half }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, Exp, LogNormal, Normal, StudentT};
    use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

    const MARGIN: Margin = Margin::THROUGHPUT;

    /// Whether any of some metrics of some hosts is called an outlier at 5 % over all.
    fn alarms(distance: f64, metrics: &[Vec<f64>]) -> bool {
        metrics.iter().any(|values| {
            let middle = Middle::of(values).unwrap();
            let reach = middle.reach(distance, MARGIN);
            values.iter().any(|v| middle.log_ratio(*v).is_some_and(|ratio| ratio.abs() > reach))
        })
    }

    #[test]
    fn the_tails_are_those_of_the_laws_that_are_drawn() {
        let known = StudentsT::new(0.0, 1.0, 4.0).unwrap();
        for t in [-3.0, 0.0, 0.5, 2.0, 7.0, 30.0, 200.0, 999.0, 1001.0, 5000.0] {
            let (ours, theirs) = (student_tail(t), known.sf(t));
            assert!((ours / theirs - 1.0).abs() < 1e-4, "{t}: {ours:e} {theirs:e}");
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for law in LAWS {
            for x in [-1.5, 0.3, 2.131_85, 4.0] {
                let beyond = (0..100_000).filter(|_| (law.draw)(&mut random) > x).count() as f64;
                let expected = 100_000.0 * (law.tail)(x);
                assert!((beyond - expected).abs() < 6.0 * expected.sqrt(), "{x}: {beyond}");
            }
        }
    }

    /// 2,000 fleets for each law. At a true rate of 5 % more than `most` alarms come by chance once
    /// in 10⁶ runs over all laws, were the seed not fixed.
    #[test]
    fn equal_hosts_give_no_outlier_in_95_of_100_fleets_whatever_the_tails_of_their_values() {
        const FLEETS: u64 = 2000;
        let most = Binomial::new(0.05, FLEETS).unwrap().inverse_cdf(1.0 - 1e-8);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        type Law = Box<dyn Fn(&mut Xoshiro256PlusPlus) -> f64>;
        let (normal, heavy) = (Normal::new(0.0, 1.0).unwrap(), StudentT::new(4.0).unwrap());
        let (skewed, flat) = (LogNormal::new(0.0, 0.5).unwrap(), Exp::new(1.0).unwrap());
        let laws: [(&str, Law); 5] = [
            ("normal", Box::new(move |r| 1000.0 + 50.0 * normal.sample(r))),
            ("log-normal", Box::new(move |r| 1000.0 * skewed.sample(r))),
            ("Student's t", Box::new(move |r| 1000.0 * f64::exp(0.05 * heavy.sample(r)))),
            (
                "Laplace",
                Box::new(move |r| 1000.0 * f64::exp(0.05 * (flat.sample(r) - flat.sample(r)))),
            ),
            ("ties", Box::new(move |r| (100.0 + 0.3 * normal.sample(r)).round())),
        ];
        for (hosts, metrics) in [(30, 8), (8, 3), (OUTLIER_FLOOR, 1)] {
            let distance = Equals::new(hosts).unwrap().distance(0.05 / metrics as f64);
            for (name, law) in &laws {
                let fleet = |random: &mut Xoshiro256PlusPlus| -> Vec<Vec<f64>> {
                    (0..metrics).map(|_| (0..hosts).map(|_| law(random)).collect()).collect()
                };
                let found = (0..FLEETS).filter(|_| alarms(distance, &fleet(&mut random))).count();
                assert!(found as u64 <= most, "{name}: {found} of {FLEETS} fleets of {hosts}");
            }
        }
    }

    #[test]
    fn one_host_of_thirty_at_half_the_rate_is_found_and_it_alone() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let noise = Normal::new(0.0, 0.02).unwrap();
        let distance = Equals::new(30).unwrap().distance(0.05 / 10.0);
        for _ in 0..500 {
            let mut values: Vec<f64> =
                (0..30).map(|_| 1000.0 * f64::exp(noise.sample(&mut random))).collect();
            values[4] /= 2.0;
            let middle = Middle::of(&values).unwrap();
            let reach = middle.reach(distance, MARGIN);
            let found: Vec<usize> =
                (0..30).filter(|i| middle.log_ratio(values[*i]).unwrap().abs() > reach).collect();
            assert_eq!(found, [4], "{values:?}");
        }
    }

    #[test]
    fn the_distance_grows_as_the_probability_shrinks_and_few_values_have_none() {
        assert!(Equals::new(OUTLIER_FLOOR - 1).is_none());
        for count in [OUTLIER_FLOOR, 12, 30, 100, 1000, 5000] {
            let equals = Equals::new(count).unwrap();
            let [often, rarely] = [0.05, 0.001].map(|p| equals.distance(p));
            assert!((4.0..rarely).contains(&often), "{count}: {often} {rarely}");
            assert!(rarely < 150.0, "{count}: {rarely}");
        }
    }

    #[test]
    fn values_without_a_logarithm_are_passed_over_and_ties_have_no_spread() {
        assert_eq!(Middle::of(&[f64::NAN, 0.0, -1.0, f64::INFINITY]), None);
        let one = Middle::of(&[7.0, f64::NAN]).unwrap();
        assert_eq!((one.median, one.mad), (7f64.ln(), 0.0));
        let tied = Middle::of(&[100.0, 100.0, 100.0, 100.0, 101.0, 50.0]).unwrap();
        let reach = tied.reach(30.0, MARGIN);
        assert!(tied.log_ratio(101.0).unwrap() < reach, "1 % does not matter");
        assert!(-tied.log_ratio(50.0).unwrap() > reach);
        assert_eq!(tied.log_ratio(0.0), None);
    }
}
