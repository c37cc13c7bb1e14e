//! How a disk is really attached: facts, each with the place it was read from.

mod finding;
mod model;

pub use finding::{Evidence, Finding, Severity};
pub use model::{
    Device, DeviceKind, Fact, Filesystem, Hop, Host, Inspection, Missing, Queue, TargetKind,
};
