//! Ranges of parameters, and the error for a value outside its range.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// A parameter whose value is not one that the modelled thing can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}, not within {least} to {most}")]
pub struct OutOfRange {
    /// Name of the field.
    pub field: &'static str,
    /// What it was set to.
    pub value: u64,
    /// The least it may be.
    pub least: u64,
    /// The most it may be.
    pub most: u64,
}

/// Checks that a field's value is within its range, ends included.
pub fn within<T>(
    field: &'static str,
    value: T,
    legal: RangeInclusive<u64>,
) -> Result<(), OutOfRange>
where
    T: Into<u64> + Copy + Display,
{
    let value = value.into();
    if legal.contains(&value) {
        return Ok(());
    }
    Err(OutOfRange { field, value, least: *legal.start(), most: *legal.end() })
}
