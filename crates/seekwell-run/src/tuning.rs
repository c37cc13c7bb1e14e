//! Settings under measurement: a search for one that helps a workload, a trial with one run before
//! and one under it, and the numbers that the kernel's io.cost controller takes.

mod auto;
mod document;
mod iocost;
mod measure;

pub use auto::{AutoOptions, Goal, auto};
pub use document::{AutoDocument, AutoOutcome, Confirmed, Screened};
pub use iocost::{IOCOST_RUNTIME, Influence, IocostDocument, IocostOptions, IocostRun, iocost};
pub use measure::{Measured, MeasuredTrial, TrialEnd, Tried, measure};
