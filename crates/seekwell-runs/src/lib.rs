//! What is kept of a run: the document every command that measures produces, bundles of it on disk,
//! and an index over them.

mod document;

pub use document::{
    Detail, DeviceCount, Engine, Kind, Latency, Medium, OpSummary, Phase, Repeat, RepeatDetail,
    RunDocument, Spread, Status, Tool,
};
