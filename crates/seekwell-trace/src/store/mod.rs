//! Our own store: Parquet, so that DuckDB, Polars and pandas read it too. `docs/formats.md` draws
//! the schema.
//!
//! A file is written as `NAME.RANDOM.part`, one row group after the other. After each, what would
//! be the file's footer goes into `NAME.RANDOM.part.footer`, replaced in one step. A recording that
//! is killed thus leaves everything up to its last whole group, and [`open`] reads it, marked
//! [`crate::source::About::cut_short`]. Finishing writes the footer where it belongs and renames.
//! Every group and the footer have a checksum, verified before anything of them is believed.
//! No recording ever opens or replaces the part of another.

mod columns;
mod decode;
pub(crate) mod files;
mod read;
mod schema;
mod summary;
mod sums;
mod write;

pub use columns::{Columns, Times};
pub(crate) use decode::guarded;
pub use files::part_of;
pub(crate) use read::listed;
pub use read::{Contents, Stored, contents, open};
pub use summary::{Count, DeviceSummary, Summary};
pub use write::{Options, create, create_with};

use crate::formats::format::{Certainty, Create, Format, Holds, Reader, Sample, Writer};

/// The format.
pub const FORMAT: Format = Format {
    name: files::NAME,
    description: "seekwell's own store (Parquet)",
    holds: Holds::EVERYTHING,
    reader: Reader::File(open),
    writer: Some(Writer { create: Create::File(create), leaves_out: &[] }),
    ending: Some("parquet"),
    looks_like,
    locate: Some(part_of),
    unit: None,
};

fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    Certainty::Header.when(sample.bytes.starts_with(b"PAR1"))
}

#[cfg(test)]
mod tests;
