//! The kernel log as evidence.
//!
//! The kernel says when it slows a disk down, and says it once, in a log that is rarely read.
//! [`read`] takes the log from where it is kept (`source`), parses its lines (`record`), knows
//! those that matter (`catalogue`, through `matcher`), ties the names in them to disks (`map`) and
//! puts them together to what happened (`assemble`, `draft`, `incident`). What was said when
//! hardware was found is kept too (`facts`). A log of any size is read as a stream in bounded
//! memory, and anything in it that is no line of a kernel is passed over.

pub mod catalogue;

mod assemble;
mod draft;
mod event;
mod facts;
mod incident;
mod learn;
mod map;
mod matcher;
mod record;
mod report;
mod source;
mod stamp;
mod states;
mod stream;

pub use event::KernelEvent;
pub use facts::{AhciBanner, AtaDevice, AtaPort, Link, LogFacts, Ncq, Queues};
pub use incident::{DeviceState, Incident, MappedBy};
pub use record::Record;
pub use report::LogReport;
pub use source::{LogError, LogSource, read};
pub use stamp::Stamp;
pub use stream::{Collector, MAX_LINE};

pub(crate) use learn::port_of;
