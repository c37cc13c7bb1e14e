//! What the kernel shows of itself, read through one trait.
//!
//! Everything that looks at `/sys`, `/proc`, `/dev` or `/run` goes through [`View`], so that the
//! same code runs on the live system, on a folder a snapshot was unpacked to, and on fakes that
//! fail, block or lie. Nothing here writes.

mod live;
mod mounts;
mod view;

pub use live::Live;
pub use mounts::{DevId, Mount, parse_mountinfo};
pub use view::{MAX_BYTES, View, ViewError};
