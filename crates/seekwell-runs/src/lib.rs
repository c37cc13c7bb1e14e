//! What is kept of a run: the document every command that measures produces, bundles of it on disk,
//! and an index over them.
//!
//! A bundle is a folder of two JSON files that anyone can read, copy or attach to a report without
//! this program. It is written again after every phase, so a run that was killed keeps what it had
//! finished. Everything else here, the index above all, can be thrown away and comes back from
//! the bundles.

mod bundle;
mod calibration;
mod demand;
mod document;
mod entry;
mod error;
mod id;
mod index;
mod latency;
pub mod limits;
mod medium;
mod phase;
mod place;
mod pts;
pub mod read;
mod reason;
mod slowdown;
mod spread;
mod store;
mod study;
pub mod together;
mod work;

pub use bundle::{Writer, is_being_written};
pub use calibration::{Beginning, Calibration, Fall, Quantity, QuantityState, SteadyValue};
pub use demand::{Bound, Demand, DemandVerdict, Side};
pub use document::{
    Detail, DeviceCount, Engine, OpSummary, Phase, Repeat, RepeatDetail, RunDocument, RunKind,
    Status, Tool,
};
pub use entry::{Measured, RunEntry, RunState};
pub use error::StoreError;
pub use id::{fresh_id, ids_meant, is_id};
pub use latency::Latency;
pub use medium::Medium;
pub use phase::PhaseId;
pub use place::default_dir;
pub use pts::{Measure, Pts, PtsCell, PtsFound, PtsKind, PtsSeries, PtsTest, PtsWindow};
pub use reason::{Invalid, Skipped};
pub use slowdown::{FastCause, Slowdown};
pub use spread::Spread;
pub use store::{Filter, Listing, Runs, Store};
pub use study::{
    Amplification, AmplificationOf, Beside, Effect, FastRegion, Limit, LimitOutcome, Point,
    Preconditioning, Recovery, Steady, SteadyOutcome, Stretch, Study, Sustained, SustainedEnd,
    Sweep, Trial,
};
pub use work::{
    Fidelity, JobFile, JobWork, Mismatch, Replay, ReplayMode, SteadyState, SuiteStep, Work,
};
