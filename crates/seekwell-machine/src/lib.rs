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

#![warn(missing_docs)]

pub mod array;
pub mod bus;
pub mod controller;
pub mod describe;
pub mod disksim;
pub mod driver;
mod file_line;
pub mod fit;
pub mod flow;
pub mod hdd;
pub mod joined;
pub mod library;
mod limits;
pub mod link;
mod lists;
mod load_error;
mod machine;
mod model;
mod part;
pub mod plan;
mod serial;
pub mod shingled;
pub mod simple;
pub mod ssd;
pub mod ssd_cache;
pub mod sweep;
pub mod synthetic;
pub mod throttle;
pub mod validate;
pub mod what_if;
mod wire;

#[cfg(test)]
mod fake;

pub use file_line::FileLine;
pub use limits::OutOfRange;
pub use load_error::LoadError;
pub use machine::Machine;
pub use model::{
    AnyPart, ChainLink, Described, HostParams, ImportError, Imported, Misfit, Model, Speedup,
    Station, import,
};
pub use part::{Command, Done, Part, Usage, Written};
pub use wire::{Attached, Way, Wire};
