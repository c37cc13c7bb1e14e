//! Experiments: change one thing, measure both ways often enough, and give one verdict.
//!
//! Two numbers of one run each say nothing, and neither do ten runs of A followed by ten of B: a
//! disk that warms up, fills or is used by others meanwhile makes either arm the winner. So runs
//! are interleaved in blocks whose order a seeded coin decides ([`Design`]), everything an arm
//! changes is put back and applied again before every run ([`Rig`]), the number of blocks follows
//! from a pilot's width and never from its result ([`fn@conduct`]), and the verdict is given once,
//! behind gates ([`fn@conclude`]).
//!
//! The whole state of an experiment is its [`Document`]: what is run next follows from what is in
//! it. It is written after every run ([`Folder`]), so an experiment goes on after Ctrl-C, a kill or
//! a reboot into another mode as if nothing had happened. Nothing here touches a disk or a setting;
//! the [`Rig`] does, and in tests that is a fake with a known effect, noise and drift.

mod arm;
mod conclude;
mod conclusion;
mod condition;
mod conduct;
mod design;
mod document;
mod error;
mod metric;
mod noise;
mod resume;
mod rig;
mod steady;
mod store;
mod sweep;
#[cfg(test)]
mod tests;
pub mod text;

pub use arm::{ArmSpec, Setting};
pub use conclude::{blocks, conclude, values};
pub use conclusion::{Check, Checked, Conclusion, Decision, Exploratory};
pub use condition::{Condition, Temperature};
pub use conduct::{Observer, Standing, conduct};
pub use design::{Design, Forecast, Shape, Slot};
pub use document::{Document, Run, Session, Status};
pub use error::{ArmError, ExperimentError};
pub use metric::{UnknownMetric, better, check_metric, default_margin, default_metric, names};
pub use noise::{Noise, NoiseFloor, forecast, identity};
pub use resume::{Next, begin, next};
pub use rig::{Applied, NotRestored, PrepareError, Region, Rig};
pub use seekwell_stats::Claim;
pub use steady::{SHORTEST_JUDGED, course};
pub use store::{ExperimentStore, Folder, Keeper};
pub use sweep::{Grid, GridPoint, SweepError, combinations};
