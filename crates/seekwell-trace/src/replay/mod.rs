//! Playing a trace back on a target.
//!
//! A reader of its own thread turns records into [`Planned`] requests (picked, placed, split, with
//! what was outstanding and what they waited for), a bounded number ahead (`feed`). On the
//! measuring thread one of three sources hands them to the engine:
//!
//! - [`Timed`]: each at its recorded time against one absolute clock; gaps are never added up, so
//!   one late request makes no other late.
//! - [`Closed`]: as soon as fewer are outstanding than a depth, or than were in the recording.
//! - [`Dependent`]: each once the requests it waited for are done, plus the time that was thought.
//!
//! Each source watches its own [`Fidelity`]: how far what was issued is from what was recorded, and
//! whether the program or the device was to blame.

mod closed;
mod depend;
mod dependent;
mod feed;
mod fidelity;
mod fit;
mod survey;
mod time;
mod timed;

#[cfg(test)]
mod tests;

pub use closed::Closed;
pub use dependent::Dependent;
pub use feed::{Feed, Picked, Planned, Skipped};
pub use fidelity::{Fidelity, Verdict};
pub use fit::{Fit, FitError, Placing};
pub use survey::{DeviceSurvey, Survey, survey};
pub use time::Moment;
pub use timed::Timed;
