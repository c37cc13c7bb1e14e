//! Published figures beside what modelled machines give: `seekwell reproduce`.
//!
//! [`rows()`] holds every numeric figure of the documents with the machine that models it and
//! the workload that gives the modelled one. [`Basis`] keeps apart what was predicted, what only
//! repeats a figure that was fitted, and what was fitted; the machine's description says which rows
//! its parameters were fitted on. Inputs that a document does not state have ranges
//! ([`unstated()`]): a predicted row is modelled over samples of them, and its [`Verdict`] says
//! whether the published figure lies in the interval that results.

mod error;
mod interval;
mod recorded;
mod reproduced;
mod row;
mod rows;
mod run;
mod unstated;

pub use error::ReproduceError;
pub use interval::{Dependence, Interval};
pub use reproduced::{Basis, Count, Effect, Reproduced, Summary, Verdict, effects, summary};
pub use row::{Better, How, NEAR, Property, Reading, Row};
pub use rows::{DOCUMENTS, ON_REQUEST, rows};
pub use run::{Effort, reproduce};
pub use unstated::{Key, Knob, Range, Unstated, unstated};

/// The default number of samples of the unstated inputs.
pub const SAMPLES: usize = 20;
