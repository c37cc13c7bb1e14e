//! Recorded block requests: where they come from, how they are kept, what they show.
//!
//! Everything meets in one shape, the [`record::Record`], and moves in one way: a
//! [`source::TraceSource`] hands out batches of records, whether it decodes a file of some other
//! tool (`formats`), reads our own store, or listens to the kernel (`record`). Statistics,
//! conversion and replay take any source, so memory stays bounded whatever the length of a trace.

#![warn(missing_docs)]

pub mod bpf;
pub mod capture;
pub mod copy;
pub mod count;
pub mod error;
pub mod formats;
pub mod order;
pub mod pair;
pub mod record;
pub mod replay;
pub mod shipped;
pub mod source;
pub mod split;
pub mod stats;
pub mod store;
