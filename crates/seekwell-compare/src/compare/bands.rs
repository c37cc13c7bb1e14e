//! How far two single runs of one set-up usually lie apart, by kind of metric.
//!
//! These are rules of thumb and marked `assumed`: they were not measured on this disk, which
//! is why no verdict ever rests on them. They answer the question a reader of two old lines has:
//! which of these differences is worth a second look?
//!
//! | class | band | from |
//! |---|---|---|
//! | throughput, seeks | ±10 % | assumed, near Cao et al.: see below |
//! | files created, looked up, deleted | ±20 % | assumed: twice that, see below |
//! | mean and median latency | ±10 % | assumed: in a closed loop it is the inverse of throughput |
//! | high percentiles | ±25 % | assumed: few requests decide them |
//! | longest request, CPU share | none | one request, and whole percents, say too little |
//!
//! Cao, Tarasov, Raman, Hildebrand and Zadok (On the Performance Variation in Modern Storage
//! Stacks, FAST 2017) saw runs vary by more than 10 % in over a quarter of the set-ups they
//! measured, and by less in the others. Tests of file operations are short, and depend on when a
//! journal is written: they are given twice as much.

use crate::model::Class;

pub const BASIS: &str = "assumed";

/// The band of a class as a fraction; `None` if runs have no usual distance.
pub const fn band(class: Class) -> Option<f64> {
    match class {
        Class::Throughput | Class::TypicalLatency => Some(0.10),
        Class::Metadata => Some(0.20),
        Class::TailLatency => Some(0.25),
        Class::Maximum | Class::Cpu | Class::Other => None,
    }
}

/// Whether a change in percent is beyond the band. As ratios, so that it does not matter which side
/// is called A.
pub fn beyond(change_percent: f64, band: f64) -> bool {
    (1.0 + change_percent / 100.0).ln().abs() > band.ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_beyond_the_band_in_both_directions_alike() {
        assert!(!beyond(9.9, 0.1) && beyond(10.1, 0.1));
        assert!(!beyond(-9.0, 0.1) && beyond(-9.2, 0.1), "1/1.1 is -9.09 %");
    }
}
