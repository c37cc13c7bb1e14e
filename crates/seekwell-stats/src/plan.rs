//! How many blocks: fixed by the precision wanted, never by the verdict.
//!
//! Deciding after each block whether to go on until it "turns significant" calls 22 of 100
//! comparisons of a thing with itself different. A pilot, one computation and one decision keep the
//! level (Stein 1945, two-stage procedures of fixed width; measured in `docs/statistics.md`).

use crate::margin::Margin;

/// Fewest blocks for which a two-sided 95 % interval exists: 2 / 2^6 is below 0.05, 2 / 2^5 not.
pub const BLOCKS_FLOOR: u32 = 6;
/// Blocks of the pilot, and the fewest for a verdict.
pub const BLOCKS_PILOT: u32 = 8;
/// Blocks unless another number is asked for.
pub const BLOCKS_DEFAULT: u32 = 10;
/// Most blocks planned.
pub const BLOCKS_CAP: u32 = 40;

/// Half-width of the 95 % interval over s/√n, between the normal 1.96 and Student's 2.36 at eight
/// blocks.
const WIDTH_FACTOR: f64 = 2.2;

/// Total number of blocks that brings the half-width of the 95 % interval to half the margin:
/// n = ⌈(2.2 s / h)²⌉ with s the standard deviation of the pilot's block values (log ratios) and
/// h = ln(1 + m) / 2, between [`BLOCKS_DEFAULT`] and [`BLOCKS_CAP`]. The pilot's blocks count. A
/// pilot that has no standard deviation (fewer than two values, or not numbers) gives the cap.
pub fn blocks_needed(pilot: &[f64], margin: Margin) -> u32 {
    let Some(sd) = crate::student::sd(pilot) else { return BLOCKS_CAP };
    let needed = (WIDTH_FACTOR * sd / wanted(margin)).powi(2).ceil();
    needed.clamp(f64::from(BLOCKS_DEFAULT), f64::from(BLOCKS_CAP)) as u32
}

/// How many blocks more, beside `have`, would settle a comparison whose 95 % interval now has the
/// half-width `half_width` (log scale): n ((h_now / h)² - 1), at least one.
pub fn more_blocks(have: u32, half_width: f64, margin: Margin) -> u32 {
    let more = f64::from(have) * ((half_width / wanted(margin)).powi(2) - 1.0);
    // A float beyond u32 saturates.
    (more.ceil() as u32).max(1)
}

/// Half-width wanted, on the log scale.
fn wanted(margin: Margin) -> f64 {
    margin.log() / 2.0
}
