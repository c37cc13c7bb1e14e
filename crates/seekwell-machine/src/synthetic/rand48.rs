//! The generator of `drand48(3)`.

/// A linear congruential generator of 48 bits, as POSIX specifies it for `drand48`.
///
/// With it and DiskSim's order of draws, a workload of DiskSim is the same here request by request.
#[derive(Debug, Clone)]
pub struct Rand48(u64);

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const BITS: u32 = 48;
/// What `srand48` puts below the seed.
const BELOW_SEED: u64 = 0x330E;

impl Rand48 {
    /// The generator as `srand48` leaves it.
    pub const fn new(seed: u32) -> Self {
        Self(((seed as u64) << 16) | BELOW_SEED)
    }

    /// The next number, from 0 to below 1.
    pub const fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & ((1 << BITS) - 1);
        self.0 as f64 / (1u64 << BITS) as f64
    }
}
