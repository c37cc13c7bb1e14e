//! Configurations side by side: runs this program kept under a label, and files that fio, bonnie++
//! and the Phoronix Test Suite wrote.
//!
//! [`sources`] brings each side into one shape, [`compare()`] holds it against the first side:
//! first what else differed, then number by number with what may be concluded. [`trend()`] looks at
//! the history of one configuration. Nothing here prints.

pub mod compare;
mod document;
mod error;
mod model;
mod phoronix_out;
pub mod sources;
mod trend;

pub use compare::{Options, compare, in_words};
pub use document::{
    Against, Checked, Comparison, Conclusion, FieldDifference, MetricComparison, Numbers, Role,
    RunSummary, SetupDifference, SideSummary, Usual,
};
pub use error::{CompareError, FormatError, SourceError};
pub use model::{Better, Class, Group, Rank, RunValues, Side, SourceKind, Unit, Value};
pub use phoronix_out::{About, WriteError, phoronix_xml};
pub use seekwell_stats::{Claim, Design, Interval, Margin, MarginError, Verdict};
pub use sources::kept::metric_title;
pub use sources::{side, sides_of_file};
pub use trend::{Change, Point, Trend, TrendError, TrendOptions, trend};
