//! What the kernel shows of itself, read through one trait.
//!
//! Everything that looks at `/sys`, `/proc`, `/dev` or `/run` goes through [`View`], so that the
//! same code runs on the live system, on a folder a snapshot was unpacked to, on a snapshot kept
//! as text, and on fakes that fail or lie. Nothing here writes.

pub mod fake;
mod live;
mod mounts;
mod snapshot;
mod stat;
mod tree;
mod view;

pub use live::Live;
pub use mounts::{DevId, Mount, parse_mountinfo};
pub use snapshot::{LISTING, SECTIONS, Snapshot, SnapshotError};
pub use stat::DiskCounters;
pub use view::{MAX_BYTES, View, ViewError};
