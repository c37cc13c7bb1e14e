//! Measuring, as a library: a target is looked at and opened under the safety rules, a plan is run
//! on it by an engine, and what comes out is a run document, saved after every unit.
//!
//! Nothing here prints or ends the process. A [`Watcher`] is informed of progress; what stops a run
//! early is the [`Control`](seekwell_io::engine::Control) that the caller's signals set.

#![warn(missing_docs)]

pub mod bench;
pub mod calibration;
pub mod checkup;
pub mod demand;
mod described;
mod error;
mod executor;
pub mod experiment;
mod fitting;
pub mod jobs;
mod judge;
pub mod ledger;
mod limiting;
mod medium;
mod planning;
mod ratio;
pub mod record;
pub mod replay;
mod session;
mod shipped;
pub mod suite;
mod target;
pub mod top;
pub mod tuning;
mod watcher;
mod wear;

pub use error::RunError;
pub use executor::{RealExecutor, Source, pick, share};
pub use fitting::{fit, fit_next};
pub use judge::{Judged, judge, live_log};
pub use limiting::{AskedLoad, LimitedPhase, limited};
pub use medium::{Ready, SMALLEST, Wanted, machine, prepare, sweep};
pub use planning::{Asked, Burden, PlanRow, arrivals, plan_rows};
pub use session::{Ending, Finished, Keeping, Purpose, Session};
pub use shipped::{FileError, Library};
pub use target::{is_modelled, look, model};
pub use watcher::{ANSWER, Host, Watcher};
