//! Arrays of drives and the controllers that make one of them: RAID 0, 1, 4, 5 and 10, and the
//! controller's cache, which is a part of its own in front of an array or of a single drive.
//!
//! A hardware RAID adapter is `OnPci<Cached<Array<…>>>`: the host's bus, the adapter's memory, the
//! array's arithmetic, and the drives, each by the wire it hangs on.

mod cache;
mod layout;
mod member;
mod params;
mod plan;
mod raid;
mod stripes;

#[cfg(test)]
mod adapter_tests;
#[cfg(test)]
mod layout_tests;
#[cfg(test)]
mod raid_tests;

pub use cache::{CacheParams, Cached, WritePolicy};
pub use layout::{Layout, Level, Piece, Rotation};
pub use member::Order;
pub use params::{ArrayError, ArrayParams, ParityUpdate, ReadChoice};
pub use raid::Array;
