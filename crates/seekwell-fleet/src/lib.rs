//! Kept runs as tables, for questions about many disks: which model is slow, since when, which host
//! is the outlier.
//!
//! [`tables()`] names the tables and their columns, [`rows`] makes their rows of a run, [`Export`]
//! appends them to a folder of Parquet files, and [`Sender`] sends them to PostgreSQL, from where
//! [`Database`] reads runs back. Histograms are kept as bins with counts,
//! so that percentiles over hosts are those of all requests together, not means of percentiles.
//!
//! [`remote`] runs this program on many hosts, and [`fleet`] compares what the newest run of each
//! measured.

#![warn(missing_docs)]

mod day;
mod error;
mod export;
mod parquet;
#[cfg(feature = "postgres")]
mod postgres;
pub mod remote;
mod report;
mod survey;
mod table;
mod tables;
#[cfg(not(feature = "postgres"))]
mod without;

pub use day::Day;
pub use error::FleetError;
pub use export::{Export, Exported};
#[cfg(feature = "postgres")]
pub use postgres::{Database, Place, Sender};
pub use report::{
    Attempt, Deviation, Difference, Fleet, Group, Headline, Limits, Member, Outlier, Scope, Test,
    Value, fleet,
};
pub use survey::Survey;
pub use table::{Cell, Column, Kind, Row, Table};
pub use tables::{rows, tables};
#[cfg(not(feature = "postgres"))]
pub use without::{Database, Place, Sender};
