//! Published figures beside what modelled machines give: `seekwell reproduce`.
//!
//! [`rows()`] holds every numeric figure of the documents with the machine that models it and
//! the workload that gives the modelled one. [`Basis`] keeps apart what was predicted, what only
//! repeats a figure that was fitted, and what was fitted; the machine's description says which rows
//! its parameters were fitted on. What documents leave out lies in ranges ([`unstated()`]): a
//! predicted row is modelled all over them, and its [`Verdict`] says what the published figure is
//! beside that.

mod interval;
mod recorded;
mod reproduced;
mod row;
mod rows;
mod run;
mod unstated;

pub use interval::{Dependence, Interval};
pub use reproduced::{Basis, Count, Effect, Reproduced, Summary, Verdict, effects, summary};
pub use row::{Better, How, NEAR, Property, Reading, Row};
pub use rows::{DOCUMENTS, ON_REQUEST, rows};
pub use run::{Effort, ReproduceError, reproduce};
pub use unstated::{Key, Knob, Range, Unstated, unstated};

/// Points in the ranges of what documents leave out, unless asked otherwise.
pub const POINTS: usize = 16;
