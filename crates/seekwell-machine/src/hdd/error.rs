//! Why a drive cannot be built.

/// A parameter that no drive can have.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ParamsError {
    /// A number outside its range.
    #[error("{field} is {value}, not within {least} to {most}")]
    Range {
        /// Name of the field.
        field: &'static str,
        /// What it was set to.
        value: f64,
        /// The least it may be.
        least: f64,
        /// The most it may be.
        most: f64,
    },
    /// A zone's number outside its range.
    #[error("zone {zone}: {field} is {value}, not within {least} to {most}")]
    Zone {
        /// Which zone, from 0.
        zone: usize,
        /// Name of the field.
        field: &'static str,
        /// What it was set to.
        value: f64,
        /// The least it may be.
        least: f64,
        /// The most it may be.
        most: f64,
    },
    /// A seek curve that is not one.
    #[error("seek: {what}")]
    Seek {
        /// What is wrong with it.
        what: &'static str,
    },
}
