//! The statistics of a trace: the document `seekwell/trace-stats/1`.
//!
//! Shares lie in 0..=1. A value that the trace does not have is `None`, never zero.

use super::figure::{Asked, Figure};
use super::policy::Policy;
use crate::source::About;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

/// The name of the document's form.
pub const SCHEMA: &str = "seekwell/trace-stats/1";

/// Statistics of one trace. Figures that were not asked for are blank here and absent from JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(remote = "Self")]
pub struct TraceStats {
    /// Which figures these are.
    #[serde(skip)]
    pub asked: Asked,
    /// [`SCHEMA`].
    pub schema: String,
    /// The file as it was given.
    pub file: String,
    /// What is known of the recording.
    pub about: About,
    /// SHA-256 of all sums in their one form, in hexadecimal: the same whichever process gathered
    /// which devices, and whatever the files are called.
    pub digest: String,
    /// One block in 2^k was followed.
    pub rate_log2: u32,
    /// What kind of load it is and how far from random; the rules stand in `describe.rs`.
    pub sentences: Vec<String>,
    /// Requests: reads, writes, flushes and discards.
    pub requests: u64,
    /// Zone commands and passthrough, counted here and nowhere else.
    pub other_commands: u64,
    /// Requests that ended with an error.
    pub failed: u64,
    /// First to last arrival.
    pub duration_ns: Option<u64>,
    /// Requests that came earlier than one before them in the file; they count as coming with it.
    pub out_of_order: u64,
    /// Counts and bytes, in the order of [`Op::ALL`].
    pub operations: Vec<Operation>,
    /// Reads among reads and writes.
    pub read_share: Option<f64>,
    /// Bytes read among bytes read and written.
    pub read_bytes_share: Option<f64>,
    /// Arrivals over the duration.
    pub requests_per_s: Option<f64>,
    /// Bytes read and written over the duration.
    pub bytes_per_s: Option<f64>,
    /// How large reads and writes are.
    pub sizes: Sizes,
    /// How they come.
    pub arrivals: Option<Arrivals>,
    /// How many were under way; absent if no completion is known.
    pub queue: Option<Queue>,
    /// The same for the device alone, issue to completion; absent if that is not known apart.
    pub device_queue: Option<Queue>,
    /// How long they took.
    pub latencies: Vec<Latency>,
    /// In which order addresses come.
    pub order: Order,
    /// Which blocks are used, and how unevenly.
    pub space: Space,
    /// What follows on what in the same block.
    pub succession: Vec<Succession>,
    /// How often a block comes back, and what a cache would miss.
    pub reuse: Option<Reuse>,
    /// What one cache of all devices would miss, by policy; where asked for.
    pub policies: Vec<PolicyCurve>,
    /// Where reads and writes begin and end.
    pub alignment: Alignment,
    /// What is made durable.
    pub durability: Durability,
    /// When nothing is to be done.
    pub idle: Option<Idle>,
    /// The busiest devices first.
    pub devices: Vec<Party>,
    /// The busiest processes first; empty if none is known.
    pub processes: Vec<Party>,
}

impl Serialize for TraceStats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.asked == Asked::ALL {
            return Self::serialize(self, serializer);
        }
        let document = Self::serialize(self, serde_json::value::Serializer);
        let mut document = document.map_err(S::Error::custom)?;
        let left_out = Figure::ALL.into_iter().filter(|figure| !self.asked.has(*figure));
        if let Some(keys) = document.as_object_mut() {
            left_out.flat_map(Figure::keys).for_each(|key| drop(keys.remove(*key)));
        }
        document.serialize(serializer)
    }
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Which.
    pub op: Op,
    /// How often.
    pub requests: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Of all requests.
    pub share: f64,
    /// Of the bytes of all requests.
    pub bytes_share: f64,
}

/// Sizes of reads and writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// The mean.
    pub mean_bytes: Option<f64>,
    /// Half of the requests are at most this large; exact.
    pub median_bytes: Option<u64>,
    /// The ten most frequent, the most frequent first; exact.
    pub top: Vec<Size>,
    /// By powers of two: `bytes` is the lower end of [2^k, 2^(k+1)).
    pub powers_of_two: Vec<Size>,
}

/// Requests of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// The size.
    pub bytes: u64,
    /// Reads of it.
    pub reads: u64,
    /// Writes of it.
    pub writes: u64,
}

/// Arrivals of requests of every kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arrivals {
    /// Mean time between two.
    pub gap_ns_mean: f64,
    /// Median time between two; gaps of 34 s and more count as such.
    pub gap_ns_p50: Option<u64>,
    /// 99th percentile.
    pub gap_ns_p99: Option<u64>,
    /// Standard deviation over mean: 1 for independent arrivals, 0 for a clockwork.
    pub gap_variation: Option<f64>,
    /// In windows of a second.
    pub per_second: Windows,
    /// In windows of a minute.
    pub per_minute: Windows,
}

/// Arrivals counted in windows that begin with the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Windows {
    /// Whole windows.
    pub windows: u64,
    /// Share of the whole windows in which something arrived.
    pub active_share: Option<f64>,
    /// Most arrivals in a whole window, over the mean of whole windows.
    pub peak_to_mean: Option<f64>,
    /// Variance over mean of whole windows: 1 for independent arrivals, more for bursts.
    pub dispersion: Option<f64>,
}

/// Requests under way. Requests whose completion is unknown are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// Requests counted.
    pub requests: u64,
    /// Mean of how many others a request finds under way when it comes.
    pub seen_mean: f64,
    /// The same as a distribution: depth found, and by how many. The last bin is open.
    pub seen: Vec<(u32, u64)>,
    /// Most under way at once.
    pub deepest: u64,
    /// Mean over time from the first arrival to the last event, from counting.
    pub over_time_mean: f64,
    /// The same from the sum of all times under way: Little's law, here an identity that checks
    /// the counting and says nothing about the trace.
    pub by_littles_law: f64,
    /// The second less the first; zero unless the counting is wrong.
    pub littles_difference: f64,
}

/// Between which two moments a latency lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// Held by scheduler and software queues.
    QueueToIssue,
    /// In the driver and the device.
    IssueToComplete,
    /// Both.
    QueueToComplete,
}

impl Span {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::QueueToIssue, Self::IssueToComplete, Self::QueueToComplete];

    /// `queue → issue`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::QueueToIssue => "queue → issue",
            Self::IssueToComplete => "issue → complete",
            Self::QueueToComplete => "queue → complete",
        }
    }
}

/// How long requests of one kind took. A percentile q is there from 10/(1−q) requests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// From where to where.
    pub span: Span,
    /// Of which operation; `None` of all.
    pub op: Option<Op>,
    /// How many of them are known.
    pub requests: u64,
    /// The mean, exact.
    pub latency_ns_mean: f64,
    /// The shortest.
    pub latency_ns_min: u64,
    /// Median, within 1/128.
    pub latency_ns_p50: Option<u64>,
    /// 90th percentile.
    pub latency_ns_p90: Option<u64>,
    /// 99th percentile.
    pub latency_ns_p99: Option<u64>,
    /// 99.9th percentile.
    pub latency_ns_p99_9: Option<u64>,
    /// 99.99th percentile.
    pub latency_ns_p99_99: Option<u64>,
    /// The longest.
    pub latency_ns_max: u64,
}

impl Latency {
    /// The figures of a histogram; `None` if it is empty.
    pub fn of(span: Span, op: Option<Op>, histogram: &Histogram) -> Option<Self> {
        let quantile = |q| histogram.quantile(q).map(|ns| ns.0);
        Some(Self {
            span,
            op,
            requests: histogram.count(),
            latency_ns_mean: histogram.mean_ns()?,
            latency_ns_min: histogram.min()?.0,
            latency_ns_p50: quantile(0.5),
            latency_ns_p90: quantile(0.9),
            latency_ns_p99: quantile(0.99),
            latency_ns_p99_9: quantile(0.999),
            latency_ns_p99_99: quantile(0.9999),
            latency_ns_max: histogram.max()?.0,
        })
    }
}

/// The order of addresses of reads and writes, as they arrive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Requests that begin where the request before them on their device ended, over all.
    pub sequential_share: Option<f64>,
    /// Requests that begin where one of the previous `window_requests` of their device ended.
    pub sequential_in_window_share: Option<f64>,
    /// Requests that begin more than `random_beyond_bytes` from every one of the previous
    /// `window_requests` of their device (randomness ratio of the cloud-trace papers).
    pub random_share: Option<f64>,
    /// The window.
    pub window_requests: u32,
    /// The distance.
    pub random_beyond_bytes: u64,
    /// Distance from the end of the previous request of the device to the beginning of this one.
    pub seek: Seek,
}

/// Distances between consecutive requests of a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seek {
    /// Distances of any length: requests but for the first of each device.
    pub requests: u64,
    /// Distance zero.
    pub none_share: Option<f64>,
    /// To higher addresses.
    pub forward_share: Option<f64>,
    /// To lower addresses.
    pub backward_share: Option<f64>,
    /// Mean of all distances, zero ones too.
    pub bytes_mean: Option<f64>,
    /// Median of all distances, zero ones too, within 1/32.
    pub bytes_p50: Option<u64>,
    /// Lower end of [2^k, 2^(k+1)), how many forward, how many backward.
    pub powers_of_two: Vec<(u64, u64, u64)>,
}

/// The blocks that reads and writes touch.
///
/// `estimated`: the blocks were too many to remember them all, and what is said is scaled up from
/// those of them whose hashed address lies below a bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Space {
    /// Size of a block.
    pub block_bytes: u64,
    /// Whether the figures are scaled up from a sample.
    pub estimated: bool,
    /// Share of blocks remembered.
    pub sampled_share: f64,
    /// Times a block was touched; exact.
    pub accesses: u64,
    /// All that was touched.
    pub footprint_bytes: u64,
    /// What was read.
    pub read_bytes: u64,
    /// What was written.
    pub written_bytes: u64,
    /// What was read and written.
    pub read_and_written_bytes: u64,
    /// What was written more than once.
    pub updated_bytes: u64,
    /// Blocks written more than once, of all touched.
    pub update_coverage: Option<f64>,
    /// Share of accesses that go to the busiest hundredth of the blocks touched.
    pub busiest_1_percent_share: Option<f64>,
    /// The same for a tenth.
    pub busiest_10_percent_share: Option<f64>,
}

/// What follows on what in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Follows {
    /// A read on a read.
    ReadAfterRead,
    /// A read on a write.
    ReadAfterWrite,
    /// A write on a read.
    WriteAfterRead,
    /// A write on a write.
    WriteAfterWrite,
    /// A write on the last write, whatever was read between them.
    Update,
}

impl Follows {
    /// `read after write`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ReadAfterRead => "read after read",
            Self::ReadAfterWrite => "read after write",
            Self::WriteAfterRead => "write after read",
            Self::WriteAfterWrite => "write after write",
            Self::Update => "update (write to write)",
        }
    }
}

/// Times between two consecutive accesses of one block, of one kind; sampled as [`Space`] is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Succession {
    /// The kind.
    pub kind: Follows,
    /// How often.
    pub accesses: u64,
    /// Mean time between the two; times are absent if the trace has none.
    pub after_ns_mean: Option<f64>,
    /// Median, within 1/32.
    pub after_ns_p50: Option<u64>,
    /// 90th percentile.
    pub after_ns_p90: Option<u64>,
    /// 99th percentile.
    pub after_ns_p99: Option<u64>,
}

/// Reuse of blocks under LRU, where each device has a cache of its own: the distance of an access
/// is how many other blocks of its device were touched since its block was last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reuse {
    /// Whether distances come from a sample (SHARDS, Waldspurger et al., FAST 2015).
    pub estimated: bool,
    /// Share of blocks followed at the end.
    pub sampled_share: f64,
    /// First accesses of a block: no cache holds those.
    pub cold_share: f64,
    /// Median distance of the others, as bytes of cache that would hold the block.
    pub distance_bytes_p50: Option<u64>,
    /// 90th percentile.
    pub distance_bytes_p90: Option<u64>,
    /// A cache of LRU in bytes, and the share of accesses that it misses; smallest cache first.
    pub miss_ratio: Vec<(u64, f64)>,
    /// The smallest cache of the curve that misses no more than half of what can be hit at all.
    pub half_of_hits_bytes: Option<u64>,
    /// Half of the 95 % interval of each miss ratio; empty if all blocks were followed.
    #[serde(default)]
    pub miss_ratio_error: Vec<f64>,
    /// How many of the smallest caches held fewer than 64 sampled blocks: their miss ratios, the
    /// first of `miss_ratio`, are not reliable.
    #[serde(default)]
    pub few_samples: usize,
}

/// What one cache of all devices would miss under a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyCurve {
    /// Its name.
    pub policy: Policy,
    /// Size in bytes and the share of accesses missed, as in [`Reuse`].
    pub miss_ratio: Vec<(u64, f64)>,
    /// As in [`Reuse`].
    pub miss_ratio_error: Vec<f64>,
    /// As in [`Reuse`].
    pub few_samples: usize,
}

/// Alignment of reads and writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// Both ends on a multiple of 4 KiB.
    pub both_4k_share: Option<f64>,
    /// The beginning on a multiple of 4 KiB.
    pub start_4k_share: Option<f64>,
    /// Writes that cover some 4 KiB block in part: a drive of 4 KiB sectors has to read for those.
    pub partial_writes_share: Option<f64>,
    /// The largest power of two that divides beginning and length, at most 1 MiB; and how many.
    pub powers_of_two: Vec<(u64, u64)>,
}

/// Flushes and writes that are durable when they complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Durability {
    /// Flushes without data.
    pub flushes: u64,
    /// Writes that carry a flush before them.
    pub preflushes: u64,
    /// Writes that are durable when they complete.
    pub fua_writes: u64,
    /// Such writes of all writes.
    pub fua_share: Option<f64>,
    /// Flushes of both kinds.
    pub flushes_per_s: Option<f64>,
    /// Writes for each flush of either kind.
    pub writes_per_flush: Option<f64>,
}

/// Periods in which nothing is under way, or, if no completion is known, nothing arrives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Idle {
    /// Whether completions are known, so that the device was really idle.
    pub from_completions: bool,
    /// Share of the duration that lies in periods of any length.
    pub share: f64,
    /// The longest period.
    pub longest_ns: u64,
    /// Periods at least so long: length in nanoseconds, how many, their share of the duration.
    pub at_least: Vec<(u64, u64, f64)>,
}

/// A device or process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Party {
    /// What the trace calls it.
    pub name: String,
    /// All requests.
    pub requests: u64,
    /// Share of all requests.
    pub share: f64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Requests that begin where the one before, by this party on that device, ended.
    pub sequential_share: Option<f64>,
    /// Mean time from arrival to completion, where known.
    pub latency_ns_mean: Option<f64>,
}

/// What a page draws beside the document; not kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    /// Load over time, in steps of equal length.
    pub course: Option<Course>,
    /// Address over time, of the busiest devices.
    pub maps: Vec<Map>,
    /// Latencies by span and operation: bins of [`seekwell_io::histogram`].
    pub latencies: Vec<Bins>,
}

/// Load over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Length of a step.
    pub step_ns: u64,
    /// Begin of the first step, on the clock that starts with the first arrival.
    pub from_ns: u64,
    /// Reads in each.
    pub reads: Vec<u64>,
    /// Other requests in each.
    pub others: Vec<u64>,
    /// Bytes read and written in each.
    pub bytes: Vec<u64>,
    /// Mean number under way in each; empty if no completion is known.
    pub depth_mean: Vec<f64>,
    /// Most under way in each.
    pub depth_max: Vec<u64>,
}

/// Where reads and writes of a device begin, over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// The device.
    pub device: String,
    /// Reads and writes in it.
    pub requests: u64,
    /// Length of a column.
    pub step_ns: u64,
    /// Begin of the first column, after the first arrival.
    pub from_ns: u64,
    /// Height of a row.
    pub step_bytes: u64,
    /// Address of the first row.
    pub from_bytes: u64,
    /// Columns.
    pub columns: u32,
    /// Rows.
    pub rows: u32,
    /// Cells that are not empty: column, row, reads, writes.
    pub cells: Vec<(u32, u32, u32, u32)>,
}

/// Latencies of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bins {
    /// From where to where.
    pub span: Span,
    /// Of which operation.
    pub op: Op,
    /// Number of the bin, and how many.
    pub bins: Vec<(u32, u64)>,
}
