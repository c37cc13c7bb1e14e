//! Why a drive cannot be built.

/// A parameter that no drive can have.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ParamsError {
    #[error("{field} is {value}, not within {least} to {most}")]
    Range { field: &'static str, value: f64, least: f64, most: f64 },
    /// A zone's number outside its range.
    #[error("zone {zone}: {field} is {value}, not within {least} to {most}")]
    Zone {
        /// Which zone, from 0.
        zone: usize,
        field: &'static str,
        value: f64,
        least: f64,
        most: f64,
    },
    #[error("seek: {what}")]
    Seek { what: &'static str },
}
