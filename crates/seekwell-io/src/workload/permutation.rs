//! All numbers below a bound, each once, in an order that looks drawn, without a table.
//!
//! A Feistel network permutes the numbers of an even number of bits; numbers at or above the bound
//! are sent through it again until one below comes out ("cycle walking": J. Black and P. Rogaway,
//! *Ciphers with Arbitrary Finite Domains*, CT-RSA 2002). The domain is at most four times the
//! bound, so that takes four rounds on average at most.

/// Rounds of the network: enough that neighbours come out unrelated.
const ROUNDS: usize = 4;

/// A permutation of `0..len`.
#[derive(Debug, Clone)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of `0..len` that `seed` chooses.
    pub fn new(len: u64, seed: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        let mut state = seed;
        let keys = std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        });
        Self { len, half_bits, keys }
    }

    /// How many numbers there are.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number at `index`, which is below the length.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.len, "{index} of {}", self.len);
        let mut value = index;
        loop {
            value = self.once(value);
            if value < self.len {
                return value;
            }
        }
    }

    #[inline]
    fn once(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        (left << self.half_bits) | right
    }
}

/// Every bit of the result depends on every bit of `x` (the finaliser of SplitMix64: G. Steele,
/// D. Lea and C. Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014).
#[inline]
const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_exactly_once(len in 1u64..3000, seed: u64) {
            let order = Permutation::new(len, seed);
            let mut seen = vec![false; len as usize];
            for index in 0..len {
                let value = order.at(index) as usize;
                prop_assert!(!std::mem::replace(&mut seen[value], true), "{value} came twice");
            }
        }

        #[test]
        fn large_bounds_stay_in_bounds(len in 1u64..1 << 60, part in 0.0..1.0, seed: u64) {
            let order = Permutation::new(len, seed);
            let index = ((len as f64 * part) as u64).min(len - 1);
            prop_assert!(order.at(index) < len);
        }
    }

    #[test]
    fn seeds_give_different_orders_and_no_order_is_the_natural_one() {
        let order = |seed| {
            let p = Permutation::new(1000, seed);
            (0..1000).map(|i| p.at(i)).collect::<Vec<_>>()
        };
        assert_ne!(order(1), order(2));
        let in_place = |order: &[u64]| order.iter().zip(0..).filter(|(v, i)| **v == *i).count();
        let following = order(1).windows(2).filter(|w| w[1] == w[0] + 1).count();
        // One is expected of each; twenty has a chance below 10⁻¹⁸.
        assert!(in_place(&order(1)) < 20 && following < 20);
    }
}
