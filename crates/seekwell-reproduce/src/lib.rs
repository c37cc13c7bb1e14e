//! Published figures beside what modelled machines give: `seekwell reproduce`.
//!
//! [`rows()`] holds every numeric figure of the five documents with the machine that models it and
//! the workload that gives the modelled one. What a row was used to fit a parameter of its machine
//! with is told by the machine's description, and such a row never counts as reproduced.

mod play;
mod row;
mod rows;
mod run;

pub use row::{Better, Drawn, Figure, How, Pace, Played, Property, Rate, Row};
pub use rows::{DOCUMENTS, rows};
pub use run::{
    NEAR, ReproduceError, Reproduced, Summary, effects, is_same_direction, reproduce, summary,
};
