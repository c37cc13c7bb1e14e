//! Random numbers that sources of requests draw.

use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Uniform below `n` by multiplication; the bias is under n/2⁶⁴.
#[inline]
pub fn below(rng: &mut Xoshiro256PlusPlus, n: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

pub(super) fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Exponential with mean 1: the gaps of a Poisson process.
#[inline]
pub fn exponential(rng: &mut Xoshiro256PlusPlus) -> f64 {
    // In (0, 1], so that the logarithm is finite.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
    -uniform.ln()
}
