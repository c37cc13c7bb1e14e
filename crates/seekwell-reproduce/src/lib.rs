//! Published figures beside what modelled machines give: `seekwell reproduce`.
//!
//! [`rows()`] holds every numeric figure of the documents with the machine that models it and
//! the workload that gives the modelled one. [`Basis`] keeps apart what was predicted, what only
//! repeats a figure that was fitted, and what was fitted; the machine's description says which rows
//! its parameters were fitted on.

mod recorded;
mod row;
mod rows;
mod run;

pub use row::{Better, How, NEAR, Property, Reading, Row};
pub use rows::{DOCUMENTS, ON_REQUEST, rows};
pub use run::{
    Basis, Count, ReproduceError, Reproduced, Summary, effects, is_shown, ratios, reproduce,
    summary,
};
