//! A workload runs on a target and gives a measurement: the one loop of the program.
//!
//! Sources of requests ([`workload`]), the rule that decides which may be outstanding
//! ([`dispatch`]), where they go ([`target`]) and what is kept of them ([`measurement`]) are joined
//! by [`engine::run`]. It is generic over all of them, so a real run pays nothing for models.

#![warn(missing_docs)]

pub mod clock;
pub mod dispatch;
pub mod engine;
pub mod failure;
pub mod gate;
pub mod gauge;
pub mod histogram;
pub mod measurement;
pub mod request;
pub mod target;
pub mod value;
pub mod workload;

pub use seekwell_sys::units;
