//! Settings under measurement: a search for one that helps a workload, and a trial with one run
//! before and one under it.

mod auto;
mod document;
mod measure;

pub use auto::{AutoOptions, Goal, auto};
pub use document::{AutoDocument, AutoOutcome, Confirmed, Screened};
pub use measure::{Measured, MeasuredTrial, TrialEnd, Tried, measure};
