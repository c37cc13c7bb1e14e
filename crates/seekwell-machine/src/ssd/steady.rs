//! The steady state of greedy garbage collection under writes spread evenly over all addresses.
//!
//! Between its filling and its turn as victim a superblock keeps losing the same share of what it
//! still holds, and all are filled equally often. So those of a drive in its steady state, ordered
//! by age, hold a geometric sequence of valid pages: full, `q`, `q²`, … of it, the last being the
//! next victim. Their sum is what the drive holds, which fixes `q`. With v the victim's valid
//! share, write amplification is 1/(1 − v), and for many superblocks (1 − v)/(−ln v) is the share
//! of the flash that holds data, the equation that Xiang and Kurkoski (2012) and Desnoyers (2012)
//! solve by Lambert's W. A product in place of the logarithm keeps it the same on every machine.

/// Valid units of each of `blocks` superblocks of `block_units`, from the fullest to the next
/// victim, `units` in all.
pub fn steady_blocks(units: u64, block_units: u32, blocks: usize) -> Vec<u32> {
    let share = units as f64 / (blocks as f64 * f64::from(block_units));
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..64 {
        let ratio = f64::midpoint(low, high);
        let (mut held, mut sum) = (1.0, 0.0);
        for _ in 0..blocks {
            sum += held;
            held *= ratio;
        }
        if sum < share * blocks as f64 {
            low = ratio;
        } else {
            high = ratio;
        }
    }
    let mut held = f64::from(block_units);
    let mut valid: Vec<u32> = Vec::with_capacity(blocks);
    for _ in 0..blocks {
        valid.push((held as u32).clamp(1, block_units));
        held *= low;
    }
    // Rounding left a unit or so per superblock over.
    let mut sum: u64 = valid.iter().map(|count| u64::from(*count)).sum();
    while sum != units {
        for count in valid.iter_mut().rev() {
            if sum < units && *count < block_units {
                (*count, sum) = (*count + 1, sum + 1);
            } else if sum > units && *count > 1 {
                (*count, sum) = (*count - 1, sum - 1);
            }
        }
    }
    valid
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Xiang and Kurkoski (2012), abstract: 2.36 at 30 % of over-provisioning; simulation 2.35.
    #[test]
    fn the_published_write_amplification_at_thirty_percent_spare_comes_out() {
        let (block_units, blocks) = (16_384_u32, 4096_usize);
        let units = (f64::from(block_units) * blocks as f64 / 1.3) as u64;
        let valid = steady_blocks(units, block_units, blocks);
        let victim = f64::from(valid[blocks - 1]) / f64::from(block_units);
        let amplification = 1.0 / (1.0 - victim);
        assert!((amplification - 2.36).abs() < 0.01, "{amplification}");
        assert_eq!(valid.iter().map(|count| u64::from(*count)).sum::<u64>(), units);
    }
}
