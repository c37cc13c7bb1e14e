//! What a flow-equivalent drive is described by.

use crate::limits::{OutOfRange, within};
use serde::{Deserialize, Serialize};

/// Bytes whose time is part of a request's own.
const FIRST_BYTES: u32 = 4096;
const MINUTE: u64 = 60_000_000_000;

/// How the time of a request grows with the number outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Work is spread evenly over many servers and requests wait behind each other by chance: the
    /// time is `alone + each · n` (J. Zahorjan et al., "Balanced job bound analysis of queueing
    /// networks", Communications of the ACM 25(2), 1982).
    Balanced,
    /// One server is the limit and nothing waits before it is reached: the time is the larger of
    /// `alone` and `each · n`, the asymptotic bounds (P. Denning and J. Buzen, "The operational
    /// analysis of queueing network models", ACM Computing Surveys 10(3), 1978).
    Bottleneck,
}

/// Factors at measured places, as (place, factor), in ascending order of the places. Between two of
/// them the factor is linear over the logarithm of the place; beyond the first and the last it
/// stays as it is there, and without any it is 1.
pub type Factors = Vec<(u32, f64)>;

/// A distribution by points (share, factor): the share of requests that take at most that factor of
/// the mean, from 0 to 1, with straight lines between them.
pub type Distribution = Vec<(f64, f64)>;

/// The factor at a place.
pub fn factor_at(factors: &[(u32, f64)], place: u32) -> f64 {
    let (low, high, part) = match between(factors, place) {
        Some(found) => found,
        None => return 1.0,
    };
    low.1 + (high.1 - low.1) * part
}

/// Two entries, and a share of the way from the first to the second.
pub type Between<'a, T> = (&'a (u32, T), &'a (u32, T), f64);

/// The entries on both sides of a place, and how far from the first to the second it lies on a
/// logarithmic scale, from 0 to 1; the same entry twice beyond the ends.
pub fn between<T>(entries: &[(u32, T)], place: u32) -> Option<Between<'_, T>> {
    let above = entries.partition_point(|(at, _)| *at < place);
    let high = entries.get(above).or(entries.last())?;
    let low = if above == 0 { high } else { &entries[above - 1] };
    let span = (f64::from(high.0) / f64::from(low.0)).ln();
    let part = if span > 0.0 { (f64::from(place) / f64::from(low.0)).ln() / span } else { 0.0 };
    Some((low, high, part.clamp(0.0, 1.0)))
}

/// Reads, or writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpParams {
    /// The law of the time of a request by the number outstanding.
    pub law: Law,
    /// Time that does not depend on the number outstanding, in nanoseconds.
    pub alone_ns: f64,
    /// Time for each request outstanding, in nanoseconds: the most a second is its reciprocal.
    pub each_ns: f64,
    /// What the law's time is multiplied by, by the number outstanding: where the disk was
    /// measured and differs from the law.
    #[serde(default)]
    pub depths: Factors,
    /// Time for each byte after the first 4096 of a request, in nanoseconds; one at a time.
    pub byte_ns: f64,
    /// What the time of the bytes is multiplied by, by the bytes of a request.
    #[serde(default)]
    pub sizes: Factors,
    /// How times of single requests vary, by the number outstanding: between two numbers as a
    /// mixture of both, beyond the ends as there. Without any, all take the same.
    #[serde(default)]
    pub variation: Vec<(u32, Distribution)>,
}

impl OpParams {
    /// Time of a request of 4 KiB with `outstanding` requests, in nanoseconds.
    pub fn time_ns(&self, outstanding: u32) -> f64 {
        let queued = self.each_ns * f64::from(outstanding);
        let time = match self.law {
            Law::Balanced => self.alone_ns + queued,
            Law::Bottleneck => self.alone_ns.max(queued),
        };
        (time * factor_at(&self.depths, outstanding)).max(1.0)
    }

    /// What the bytes of a request of this length take after the first 4096, in nanoseconds.
    pub fn bytes_ns(&self, len: u32) -> f64 {
        let bytes = f64::from(len.saturating_sub(FIRST_BYTES));
        bytes * self.byte_ns * factor_at(&self.sizes, len.max(1))
    }

    fn check(&self, fields: &OpFields) -> Result<(), OutOfRange> {
        number(fields.alone_ns, self.alone_ns, 0..=MINUTE)?;
        number(fields.each_ns, self.each_ns, 0..=MINUTE)?;
        number(fields.byte_ns, self.byte_ns, 0..=MINUTE)?;
        let legal = |factors: &Factors| {
            ascending(factors) && factors.iter().all(|(_, factor)| (0.001..=1e3).contains(factor))
        };
        within(fields.depths, u64::from(legal(&self.depths)), 1..=1)?;
        within(fields.sizes, u64::from(legal(&self.sizes)), 1..=1)?;
        let legal = ascending(&self.variation) && self.variation.iter().all(|(_, d)| runs(d));
        within(fields.variation, u64::from(legal), 1..=1)
    }
}

/// What the fields of an operation are called in messages.
struct OpFields {
    alone_ns: &'static str,
    each_ns: &'static str,
    byte_ns: &'static str,
    depths: &'static str,
    sizes: &'static str,
    variation: &'static str,
}

const READ: OpFields = OpFields {
    alone_ns: "read.alone_ns",
    each_ns: "read.each_ns",
    byte_ns: "read.byte_ns",
    depths: "read.depths ascend from 1, factors from 0.001 to 1000",
    sizes: "read.sizes ascend from 1, factors from 0.001 to 1000",
    variation: "read.variation ascends, each from share 0 to share 1",
};

const WRITE: OpFields = OpFields {
    alone_ns: "write.alone_ns",
    each_ns: "write.each_ns",
    byte_ns: "write.byte_ns",
    depths: "write.depths ascend from 1, factors from 0.001 to 1000",
    sizes: "write.sizes ascend from 1, factors from 0.001 to 1000",
    variation: "write.variation ascends, each from share 0 to share 1",
};

/// Whether places begin at 1 or later and ascend.
fn ascending<T>(entries: &[(u32, T)]) -> bool {
    entries.iter().all(|(at, _)| *at > 0) && entries.windows(2).all(|w| w[0].0 < w[1].0)
}

/// Whether a distribution goes from share 0 to share 1 and ascends.
fn runs(points: &Distribution) -> bool {
    let [first, .., last] = points.as_slice() else { return false };
    let ascends = points.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1);
    first.0 == 0.0 && first.1 >= 0.0 && last.0 == 1.0 && (1e-6..=1e6).contains(&last.1) && ascends
}

/// A drive of which nothing is known but how fast it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowParams {
    /// Bytes that can be addressed.
    pub capacity_bytes: u64,
    /// Commands taken at once.
    pub depth: u32,
    /// Reads.
    pub read: OpParams,
    /// Writes.
    pub write: OpParams,
    /// How much faster, as a factor, either goes while half of what is outstanding reads and half
    /// writes; less where one kind prevails.
    pub mixed: f64,
    /// Time of a flush, in nanoseconds; of a write with FUA in addition.
    pub flush_ns: u64,
}

impl FlowParams {
    /// Whether such a drive can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("capacity_bytes", self.capacity_bytes, 1..=1 << 50)?;
        within("depth", self.depth, 1..=65_536)?;
        within("flush_ns", self.flush_ns, 0..=MINUTE)?;
        self.read.check(&READ)?;
        self.write.check(&WRITE)?;
        // In thousandths: a factor of nothing would stop the drive.
        number("mixed (thousandths)", self.mixed * 1e3, 1..=1_000_000)
    }
}

/// Checks a floating-point number; NaN is out of every range.
fn number(
    field: &'static str,
    value: f64,
    legal: std::ops::RangeInclusive<u64>,
) -> Result<(), OutOfRange> {
    let (least, most) = (*legal.start(), *legal.end());
    if value >= least as f64 && value <= most as f64 {
        return Ok(());
    }
    // Beyond both ends a cast stops at what a u64 holds; below 0 there is nothing but that to say.
    let shown = if value < least as f64 { least.wrapping_sub(1) } else { value as u64 };
    Err(OutOfRange { field, value: shown, least, most })
}
