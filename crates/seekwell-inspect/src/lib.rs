//! How a disk is really attached: facts, each with the place it was read from.
//!
//! [`inspect()`] reads one [`Target`] through a [`seekwell_sys::View`] and nothing else, so that it
//! gives the same answer for a live machine, a snapshot of one and a fake. One file per concern:
//! the machine (`host`), the mount a path is on (`mount`), the devices below it (`stack`), and of
//! each device its queue (`queue`), its identity (`identity/`) and its way to the CPU (`attach/`).
//! What else the kernel knows of a device is in [`facts`]; [`text`]
//! makes the same facts of what `lspci` printed.

mod attach;
pub mod diff;
pub mod facts;
mod find;
mod finding;
pub mod health;
mod host;
mod identity;
mod inspect;
mod inspection;
mod link;
pub mod log;
mod model;
mod mount;
mod notes;
mod pages;
pub mod probe;
mod queue;
mod reader;
pub mod saved;
mod shared;
mod stack;
mod sysfs;
mod target;
#[cfg(test)]
mod testing;
pub mod text;
pub mod watch;

pub use finding::{Evidence, Finding, Severity};
pub use inspect::inspect;
pub use inspection::{Device, Host, Inspection};
pub use link::Link;
pub use model::{
    Channel, DeviceKind, Fact, Filesystem, FuseFacts, Hop, Identity, IoLimit, Missing, Queue,
    TargetKind,
};
pub use pages::{Pages, ext4_groups};
pub use shared::{Overlap, Shared, SharedKind, overlap, shared};
pub use stack::identity;
pub use target::{FsSpace, InspectError, NotATarget, Target, all_disks};
