//! What produces requests, and how they are paced.
//!
//! A [`Workload`] is a description: plain data that is kept with every result. A [`Generator`]
//! turns it into requests, one thread's share at a time, from a seed and nothing else. It is one
//! [`Source`]; the requests of a trace are another.

mod cover;
mod draw;
mod generator;
mod permutation;
mod rw;
mod spread;
#[cfg(test)]
mod tests;
mod together;

pub use cover::{Cover, Drawn};
pub use draw::{below, exponential};
pub use generator::Generator;
pub use permutation::Permutation;
pub use rw::{Discards, Rw};
pub use spread::{Law, Spread, Zone};
pub use together::Together;

use crate::measurement::Failure;
use crate::request::{Completion, Flags, Request};
use crate::units::Nanos;
use seekwell_sys::classify;
use serde::{Deserialize, Serialize};

/// What the loop is to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Issue this.
    Request(Request),
    /// Nothing is wanted before this time, or before something outstanding completes.
    NotBefore(Nanos),
    /// There are no more requests.
    Done,
}

/// Produces the requests of one thread, and may watch what becomes of them.
pub trait Source {
    /// The next request as of `now` on the target's clock. A source that waits for completions
    /// alone answers [`Next::NotBefore`] with [`Nanos::MAX`], and only while something is
    /// outstanding.
    fn next(&mut self, now: Nanos) -> Next;

    /// Whether measuring does not begin yet although the time before it is over; asked before
    /// `next`, until it begins.
    #[inline]
    fn is_warming(&mut self, _now: Nanos) -> bool {
        false
    }

    /// A request was handed to the target.
    #[inline]
    fn submitted(&mut self, _request: &Request, _at: Nanos) {}

    /// A request that was handed over at `submitted` is done.
    #[inline]
    fn completed(&mut self, _request: &Request, _submitted: Nanos, _completion: &Completion) {}

    /// Whether the run goes on although a request failed; asked after `completed`.
    fn tolerates(&mut self, _failure: &Failure) -> bool {
        false
    }
}

/// Where in the region the next request goes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Pattern {
    /// One after the other, from the start again at the end.
    Sequential,
    /// Anywhere with equal chance; blocks may repeat before all were used.
    Random,
    /// Few blocks get most requests: rank k is drawn with probability proportional to 1/k^theta,
    /// and ranks are scattered over the region.
    Zipf {
        /// The skew, above 0; 0.9 to 1.2 is usual.
        theta: f64,
    },
    /// A share 1 − h of the requests goes to a share h of the blocks, scattered over the region.
    Pareto {
        /// h, above 0 and below 1.
        power: f64,
    },
    /// A bell around the middle of the region.
    Normal {
        /// Its standard deviation in percent of the region, from 0 and below 100.
        deviation_percent: f64,
    },
}

impl Pattern {
    /// The pattern of a law, if there is one.
    pub fn of(law: &Law) -> Option<Self> {
        match *law {
            Law::Uniform => Some(Self::Random),
            Law::Zipf { theta, centre: None } => Some(Self::Zipf { theta }),
            Law::Pareto { power, centre: None } => Some(Self::Pareto { power }),
            Law::Normal { deviation, centre: 0.5 } => {
                // A share that was a percentage is that percentage again.
                Some(Self::Normal { deviation_percent: (deviation * 1e10).round() / 1e8 })
            }
            _ => None,
        }
    }

    /// How blocks are preferred; `None` if they follow each other.
    pub fn law(self) -> Option<Law> {
        match self {
            Self::Sequential => None,
            Self::Random => Some(Law::Uniform),
            Self::Zipf { theta } => Some(Law::Zipf { theta, centre: None }),
            Self::Pareto { power } => Some(Law::Pareto { power, centre: None }),
            Self::Normal { deviation_percent } => {
                Some(Law::Normal { deviation: deviation_percent / 100.0, centre: 0.5 })
            }
        }
    }

    /// The value of fio's `random_distribution`; `None` if it is the default.
    pub fn distribution(self) -> Option<String> {
        match self {
            Self::Sequential | Self::Random => None,
            Self::Zipf { theta } => Some(format!("zipf:{theta}")),
            Self::Pareto { power } => Some(format!("pareto:{power}")),
            Self::Normal { deviation_percent } => Some(format!("normal:{deviation_percent}")),
        }
    }
}

/// When the next request is issued.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Pace {
    /// A closed loop: always `depth` requests waiting or outstanding in each thread.
    Closed {
        /// Requests kept outstanding in each thread.
        depth: u32,
    },
    /// An open loop: requests arrive at a rate, whether or not the target keeps up; at most `depth`
    /// are outstanding and the rest wait, which counts in their response time.
    Open {
        /// Arrivals per second in each thread.
        requests_per_s: f64,
        /// Exponential gaps (a Poisson process) in place of even ones.
        poisson: bool,
        /// The most that may be outstanding in each thread.
        depth: u32,
    },
}

impl Pace {
    /// The most requests one thread may have outstanding.
    pub const fn depth(self) -> u32 {
        match self {
            Self::Closed { depth } | Self::Open { depth, .. } => depth,
        }
    }
}

/// One request size and how often it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeShare {
    /// Request length in bytes.
    pub bytes: u32,
    /// Weight against the other sizes.
    pub weight: u32,
}

/// A whole workload. Everything that decides its requests is in here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Where requests go.
    pub pattern: Pattern,
    /// Share of reads among reads and writes, 0 to 100.
    pub read_percent: u8,
    /// Which requests discard. Where some do, `read_percent` is 0.
    #[serde(default, skip_serializing_if = "Discards::is_none")]
    pub discards: Discards,
    /// Request sizes; offsets are multiples of the smallest unless `align_bytes` says otherwise.
    pub sizes: Vec<SizeShare>,
    /// Offsets are multiples of this many bytes; 0 means the smallest size.
    pub align_bytes: u32,
    /// When requests are issued.
    pub pace: Pace,
    /// A flush after this many writes; 0 means none. The flush's response time counts from the
    /// first of those writes, so at depth 1 and every 1 it is what one commit costs.
    pub flush_every: u32,
    /// First byte of the region used.
    pub offset_bytes: u64,
    /// Length of the region used.
    pub region_bytes: u64,
    /// Threads, each with its own share of the seed and its own depth.
    pub threads: u32,
    /// Past the page cache (`O_DIRECT`).
    pub direct: bool,
    /// What requests ask of the kernel.
    #[serde(default, skip_serializing_if = "Flags::is_none")]
    pub flags: Flags,
    /// Measure for this long; 0 means until `requests` are done.
    pub runtime_ns: Nanos,
    /// Run this long before measuring.
    pub ramp_ns: Nanos,
    /// Stop each thread after this many requests; 0 means no bound.
    pub requests: u64,
    /// Seeds offsets, sizes, mix and arrivals.
    pub seed: u64,
}

impl Workload {
    /// A closed loop of `bytes`-sized requests over the first `region_bytes`: the base every preset
    /// starts from.
    pub fn closed(
        pattern: Pattern,
        read_percent: u8,
        bytes: u32,
        depth: u32,
        region_bytes: u64,
    ) -> Self {
        Self {
            pattern,
            read_percent,
            discards: Discards::None,
            sizes: vec![SizeShare { bytes, weight: 1 }],
            align_bytes: 0,
            pace: Pace::Closed { depth },
            flush_every: 0,
            offset_bytes: 0,
            region_bytes,
            threads: 1,
            direct: true,
            flags: Flags::NONE,
            runtime_ns: Nanos::from_millis(1000),
            ramp_ns: Nanos::ZERO,
            requests: 0,
            seed: 1,
        }
    }

    /// The largest request.
    pub fn max_bytes(&self) -> u32 {
        self.sizes.iter().map(|s| s.bytes).max().unwrap_or(0)
    }

    /// What offsets are multiples of.
    pub fn alignment(&self) -> u32 {
        match self.align_bytes {
            0 => self.sizes.iter().map(|s| s.bytes).min().unwrap_or(1),
            n => n,
        }
    }

    /// Whether it changes what the target holds.
    pub fn destroys(&self) -> bool {
        self.read_percent < 100 || !self.discards.is_none()
    }

    /// Whether it makes requests of one kind, and those are writes.
    pub fn only_writes(&self) -> bool {
        self.read_percent == 0 && self.discards.is_none()
    }

    /// Whether every request lies on a multiple of the longest.
    fn keeps_whole(&self) -> bool {
        let longest = u64::from(self.max_bytes());
        let is_multiple = |n: u64| n.is_multiple_of(longest);
        is_multiple(self.alignment().into()) && is_multiple(self.offset_bytes)
    }

    /// Refuses what cannot be run.
    ///
    /// # Errors
    /// [`WorkloadError`] names the field, its value and what is needed.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let bad = |field, found: String, needed| Err(WorkloadError { field, found, needed });
        if self.sizes.is_empty() || self.sizes.iter().any(|s| s.bytes == 0 || s.weight == 0) {
            return bad(
                "sizes",
                format!("{:?}", self.sizes),
                "one or more sizes and weights, all above 0",
            );
        }
        if self.max_bytes() > 128 << 20 {
            return bad("sizes", self.max_bytes().to_string(), "at most 128 MiB a request");
        }
        if self.read_percent > 100 {
            return bad("read_percent", self.read_percent.to_string(), "0 to 100");
        }
        if self.read_percent > 0 && !self.discards.is_none() {
            return bad("read_percent", self.read_percent.to_string(), "0 where requests discard");
        }
        if !(1..=4096).contains(&self.pace.depth()) {
            return bad("depth", self.pace.depth().to_string(), "1 to 4096");
        }
        if let Pace::Open { requests_per_s, .. } = self.pace
            && !(requests_per_s > 0.0 && requests_per_s <= 1e9)
        {
            return bad("requests_per_s", requests_per_s.to_string(), "above 0 and at most 1e9");
        }
        match self.pattern {
            Pattern::Zipf { theta } if !(theta > 0.0 && theta <= 10.0) => {
                return bad("theta", theta.to_string(), "above 0 and at most 10");
            }
            Pattern::Pareto { power } if !(power > 0.0 && power < 1.0) => {
                return bad("power", power.to_string(), "above 0 and below 1");
            }
            Pattern::Normal { deviation_percent: n } if !(0.0..100.0).contains(&n) => {
                return bad("deviation_percent", n.to_string(), "from 0 and below 100");
            }
            _ => {}
        }
        let Flags { atomic, uncached, polled } = self.flags;
        if atomic && !(self.direct && self.sizes.len() == 1 && self.keeps_whole()) {
            let needed = "requests of one size at multiples of it, past the page cache (direct=1)";
            return bad("atomic", "1".into(), needed);
        }
        if uncached && self.direct {
            return bad("uncached", "1".into(), "requests through the page cache (direct=0)");
        }
        if polled && !(self.direct && self.flush_every == 0 && self.discards.is_none()) {
            let needed = "reads and writes past the page cache (direct=1), without fsync or trim";
            return bad("hipri", "1".into(), needed);
        }
        if !(1..=256).contains(&self.threads) {
            return bad("threads", self.threads.to_string(), "1 to 256");
        }
        if self.region_bytes < u64::from(self.max_bytes().max(self.alignment())) {
            return bad(
                "region_bytes",
                self.region_bytes.to_string(),
                "room for the largest request",
            );
        }
        if self.offset_bytes.checked_add(self.region_bytes).is_none_or(|end| end > i64::MAX as u64)
        {
            return bad(
                "offset_bytes",
                self.offset_bytes.to_string(),
                "a region that ends below 8 EiB",
            );
        }
        if self.runtime_ns == Nanos::ZERO && self.requests == 0 {
            return bad("runtime_ns", "0".into(), "a runtime or a number of requests");
        }
        Ok(())
    }
}

/// A workload that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("workload: {field} is {found}; needed: {needed}")]
pub struct WorkloadError {
    /// The field of [`Workload`].
    pub field: &'static str,
    /// Its value.
    pub found: String,
    /// What would be accepted.
    pub needed: &'static str,
}

classify!(WorkloadError: Usage);
