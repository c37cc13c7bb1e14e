//! Settings that can be read, changed, verified and put back.
//!
//! Trying a setting is only safe when putting it back does not depend on the one who tried it. So
//! the change is made by a guard: a process of its own, locked in memory, with every file it needs
//! already open, that outlives the terminal and puts everything back unless it learns in time that
//! the new state is to stay ([`guard`]). What it is about to do is written and synced first
//! ([`journal`]), so that the previous state is known after a crash; every write has a
//! deadline and is read back ([`apply`]), because a kernel that accepted a value has not always set
//! it, and because a write to a queue that is stuck does not return.
//!
//! [`setting`] knows what there is to set, [`commands`] those settings that are no files but
//! commands to the drive, [`conflict`] who else sets it, [`plan()`] what may be worth setting and
//! [`candidates`] what may be worth measuring, [`trial`] joins them to the commands `try`, `keep`,
//! `undo` and `status`, and [`persist`] makes a kept state survive a reboot.

pub mod apply;
pub mod candidates;
pub mod commands;
pub mod conflict;
pub mod disk;
mod error;
pub mod guard;
pub mod journal;
pub mod persist;
pub mod plan;
mod reason;
pub mod setting;
pub mod trial;
pub mod writer;

pub use commands::Commanded;
pub use disk::{Disk, DiskError, Identity, Machine};
pub use error::TuneError;
pub use plan::{Plan, plan};
pub use reason::{Reason, Trouble};
pub use trial::{Unfinished, default_run_dir, unfinished};
