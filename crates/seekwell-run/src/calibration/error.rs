//! What can be wrong with a calibration.

use super::facts::FACTS;
use seekwell_sys::classify;

/// Why a calibration makes no sense.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum CalibrationError {
    #[error("{name}: a calibration needs at least one [[quantity]]")]
    NoQuantity { name: String },
    #[error(
        "{name}: a quantity cannot be called {quantity:?}: a name must be unique, consist of \
         a-z, 0-9 and _, and not be one of {}", FACTS.join(", ")
    )]
    Name { name: String, quantity: String },
    #[error("{name}: first of {quantity} cannot be {asked:?}: {why}")]
    First { name: String, quantity: String, asked: String, why: &'static str },
    #[error(
        "{name}: the text has an unknown placeholder {{{placeholder}}}; known: {}",
        known.join(", ")
    )]
    Placeholder { name: String, placeholder: String, known: Vec<String> },
    #[error("{name}: {quantity} is measured and not in the text")]
    Unused { name: String, quantity: String },
}

classify!(CalibrationError {
    Usage: NoQuantity, Name, First, Placeholder, Unused;
});
