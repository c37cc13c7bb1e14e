//! The process that rolls back by itself.
//!
//! It is the same program, run from a copy in memory: the tuned disk may hold the program's
//! own file, and then the very code that is to put a setting back could not be read in any more. It
//! leaves the terminal's session, ignores hang-up and Ctrl-C, is locked in memory, has every file
//! it needs open before the first change, and writes the changes itself, so that there is no moment
//! at which a changed setting depends on a program that may be killed.
//!
//! It ends in one of three ways: someone says `keep`; someone says `undo`; or trouble, a signal or
//! the end of the time makes it put everything back.

mod canary;
mod health;
mod kernel_log;
mod protocol;
mod run;
mod start;

pub use health::{Health, Vitals};
pub use kernel_log::LogWatch;
pub use protocol::{Ask, Reply, Report, ask};
pub use run::main;
pub(crate) use run::{is_gone, recover, replaced};
pub(crate) use start::{Started, start};
