//! Recording: the kernel's block events as they happen, as a [`crate::source::TraceSource`].
//!
//! ```text
//! kernel ─► one buffer a CPU ─► a thread that only empties them ─► channel ─┐
//!            (tracefs, BPF)                                                │
//!                                          records ◄─ kept? ◄─ paired ◄─ decoded, in order
//! ```
//!
//! The kernel keeps events in a buffer for each CPU. A thread empties the buffers and does nothing
//! else, so that a slow disk under the recording's own file costs memory and not events. Whoever
//! reads the source decodes, sorts and pairs. Nothing is recorded that the kernel lost without
//! saying so: what it counts as lost ends up in [`crate::source::Losses`].

mod decode;
pub(crate) mod error;
mod format;
mod live;

mod page;
mod plan;
mod process;
mod program;
mod raw;
mod ring;
mod shared;
#[cfg(test)]
pub(crate) mod tests;
mod tracefs;
mod transport;

pub use crate::pair::Order;
pub use error::{CaptureError, LayoutError};
pub use format::{EventFormat, Field};
pub use live::{Recording, Watch};
pub use page::PageLayout;
pub use plan::{Plan, Recorded, Via};
pub use process::Processes;
pub use tracefs::remove_leftovers;
pub(crate) use transport::monotonic;
