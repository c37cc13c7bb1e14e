//! Modelled hardware on a virtual clock: what a disk, a link, a bus, a controller, an array and a
//! cache do with commands, and when they are done.
//!
//! Everything is a [`Part`]: a state machine that takes [`Command`]s and is called with the time.
//! Parts hold other parts (a controller its links, a link its drive), and the outermost becomes a
//! [`Machine`], which is a [`seekwell_io::target::Target`] like any other: the same engine,
//! workloads and measurement as on a real disk.
//!
//! Time is in integer nanoseconds and every random draw comes from a generator seeded per part, so
//! the same description and seed give the same result, bit for bit, wherever it runs.

mod machine;
mod part;

pub use machine::Machine;
pub use part::{Command, Done, Part};
