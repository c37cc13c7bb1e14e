//! Quotients that are unknown where the divisor is nothing.

/// A part of a whole that is not nothing.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// So many in a time that is not nothing, per second.
pub(super) fn rate(amount: u64, duration_ns: Option<u64>) -> Option<f64> {
    duration_ns.filter(|ns| *ns > 0).map(|ns| amount as f64 * 1e9 / ns as f64)
}
