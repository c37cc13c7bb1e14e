//! Whether most runs keep a bound, decided after as few runs as possible.

use statrs::function::beta::{beta, beta_reg};

/// Whether more than half of all runs keep a bound, given that `kept` runs kept it and `broken` did
/// not; `None` if neither is shown. It may be asked after every run: the chance that it ever gives
/// the wrong answer is at most `alpha`.
///
/// The wealth of someone who bets on one side, starting with 1 and losing on average if the other
/// side is right, exceeds 1/`alpha` at any time with a chance of at most `alpha` (Ville 1939). Half
/// of it is bet on a side that all runs are on, and half on every majority alike (the mixture of
/// Robbins 1970, Ann. Math. Statist. 41:1397–1409). At 0.05, five runs that agree decide.
pub fn majority(kept: u32, broken: u32, alpha: f64) -> Option<bool> {
    let shown = |on: u32, off: u32| wealth(on, off) >= 1.0 / alpha;
    match (shown(kept, broken), shown(broken, kept)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        (false, false) => None,
    }
}

/// The wealth after `on` runs on the side that was bet on and `off` runs on the other one.
fn wealth(on: u32, off: u32) -> f64 {
    let all_in = if off == 0 { 2_f64.powi(on.cast_signed()) } else { 0.0 };
    // 2^n ∫ p^on (1 - p)^off dp over the majorities p in (1/2, 1), which have density 2.
    let (a, b) = (f64::from(on + 1), f64::from(off + 1));
    let mixture = 2_f64.powf(a + b - 1.0) * beta(a, b) * beta_reg(b, a, 0.5);
    f64::midpoint(all_in, mixture)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{RngCore, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn five_runs_that_agree_decide_and_four_do_not() {
        assert_eq!(majority(4, 0, 0.05), None);
        assert_eq!(majority(5, 0, 0.05), Some(true));
        assert_eq!(majority(0, 5, 0.05), Some(false));
        assert_eq!(majority(6, 6, 0.05), None);
        assert_eq!(majority(0, 0, 0.05), None);
        // One run that disagrees requires several more.
        let needed = (1..100).find(|kept| majority(*kept, 1, 0.05).is_some());
        assert_eq!(needed, Some(11));
    }

    #[test]
    fn wealth_is_what_the_integral_says() {
        for (on, off) in [(0, 0), (1, 0), (3, 2), (10, 1), (2, 9), (20, 20)] {
            let n = 100_000;
            let p = |i: u32| 0.5 + 0.5 * (f64::from(i) + 0.5) / f64::from(n);
            let f = |p: f64| (2.0 * p).powi(on as i32) * (2.0 * (1.0 - p)).powi(off as i32);
            let mixture = (0..n).map(|i| f(p(i))).sum::<f64>() / f64::from(n);
            let all_in = if off == 0 { 2_f64.powi(on as i32) } else { 0.0 };
            let wanted = f64::midpoint(all_in, mixture);
            assert!((wealth(on, off) / wanted - 1.0).abs() < 1e-6, "{on} {off}");
        }
    }

    #[test]
    fn a_fair_coin_is_seldom_called_either_way_however_often_one_looks() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let trials = 4000;
        let mut called = [0, 0];
        for _ in 0..trials {
            let (mut kept, mut broken) = (0, 0);
            for _ in 0..100 {
                let heads = random.next_u64() >> 63 == 1;
                *(if heads { &mut kept } else { &mut broken }) += 1;
                if let Some(verdict) = majority(kept, broken, 0.05) {
                    called[usize::from(verdict)] += 1;
                    break;
                }
            }
        }
        for side in called {
            assert!(side > trials / 100 && side < trials / 20, "{called:?} of {trials}");
        }
    }
}
