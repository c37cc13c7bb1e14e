//! How offsets are drawn, how fast requests come, and what else may matter to speed.

use super::By;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Law;

/// One zone of a zoned distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// Share of the requests, of 100.
    pub access_percent: u8,
    /// Its length: a share of the region, of 100.
    pub size_percent: u8,
    /// Its length in bytes, if it was given so (`zoned_abs`); `size_percent` is then 0.
    pub size_bytes: u64,
}

/// Where random requests go.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// By a law over the whole region.
    Law(Law),
    /// Zones one after the other from the start of the region, each with its share of requests.
    Zoned(By<Vec<Zone>>),
    /// These blocks of the region in this order, over and over.
    Sequence {
        /// Numbers of blocks of the smallest size, from 0; never empty.
        blocks: Vec<u64>,
        /// Each time over begins as many blocks later as there are numbers.
        moving: bool,
    },
}

/// One pass that leaves an SSD in its steady state (`sprandom`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precondition {
    /// Flash that the drive has beyond its size, as a share of that (`spr_op`).
    pub spare: f64,
    /// Parts of equal size, each left with a validity of its own (`spr_num_regions`).
    pub regions: u32,
}

impl Precondition {
    /// How many writes a pass over `blocks` blocks is: as many as the drive has room for.
    pub fn physical_blocks(self, blocks: u64) -> u64 {
        blocks.saturating_add((blocks as f64 * self.spare).ceil() as u64)
    }
}

/// How offsets are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Random {
    /// Where requests go.
    pub distribution: Distribution,
    /// Every block is used once before any is used again (`norandommap` unset).
    pub once_each: bool,
    /// In an order that brings an SSD to its steady state.
    pub precondition: Option<Precondition>,
    /// Offsets are the same in each run (`randrepeat`).
    pub repeat: bool,
    /// The seed given (`randseed`).
    pub seed: Option<u64>,
}

/// How requests are spaced below a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Process {
    /// Even.
    #[default]
    Linear,
    /// Exponential gaps.
    Poisson,
}

/// The most, and the least, that a clone does in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    /// At most this many bytes a second.
    pub bytes_per_s: By<Option<u64>>,
    /// At most this many requests a second.
    pub iops: By<Option<u32>>,
    /// The job fails below this many bytes a second.
    pub min_bytes_per_s: By<Option<u64>>,
    /// The job fails below this many requests a second.
    pub min_iops: By<Option<u32>>,
    /// How requests are spaced.
    pub process: Process,
    /// `min_…` is looked at over windows of this length.
    pub cycle: Nanos,
    /// Time lost by thinking is not made up for.
    pub ignore_thinktime: bool,
}

impl Rate {
    /// Whether there is an upper bound.
    pub fn limits(&self) -> bool {
        self.bytes_per_s.iter().any(Option::is_some) || self.iops.iter().any(Option::is_some)
    }
}

/// What is counted towards the next pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThinkAt {
    /// Requests completed.
    #[default]
    Complete,
    /// Requests issued.
    Issue,
}

/// Pauses between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thinktime {
    /// How long a pause is.
    pub pause: Nanos,
    /// The first part of it is spent computing, not sleeping.
    pub spin: Nanos,
    /// Requests between pauses.
    pub every: u32,
    /// What is counted.
    pub at: ThinkAt,
    /// A pause also comes after this much time of requests; zero for not.
    pub io_time: Nanos,
}

/// What may make a job faster or slower without changing its requests. All of it is as asked for;
/// what a run made of it is the runner's to say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hints {
    /// A kernel thread submits.
    pub sq_poll: bool,
    /// Every Nth request is forced to a kernel worker.
    pub force_async: u32,
    /// Requests fail rather than wait.
    pub nowait: bool,
    /// The name of the clones' threads (`comm`).
    pub comm: Option<String>,
    /// CPUs that clones may run on; empty for all.
    pub cpus: Vec<u32>,
    /// Each clone gets one of `cpus` (`cpus_allowed_policy=split`).
    pub cpus_split: bool,
    /// Buffers in huge pages (`mem=shmhuge`, `mmaphuge`).
    pub huge_pages: bool,
}
