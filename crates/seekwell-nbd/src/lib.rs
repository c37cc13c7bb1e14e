//! A modelled machine as a block device: clients of the NBD protocol read and write it, and every
//! request is answered when the model says, in real time.
//!
//! [`protocol`] is the wire without a socket, [`Store`] what the disk holds, [`Disk`] the machine
//! with its data and faults on any clock, and [`Server`] all of it on the real one.

#![warn(missing_docs)]

mod connection;
mod disk;
mod fault;
mod place;
pub mod protocol;
mod server;
mod store;
mod tally;

pub use disk::{Answer, Disk};
pub use fault::{Fault, FaultError, Moment};
pub use place::{ListenError, Place, PlaceError};
pub use server::{Event, Options, ServeError, Served, Server};
pub use store::{DataError, Lost, Store};
pub use tally::{OpTally, Tally};
