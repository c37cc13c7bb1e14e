//! What a flow-equivalent drive is described by.

use crate::limits::{OutOfRange, within};
use serde::{Deserialize, Serialize};

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

/// Reads, or writes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpParams {
    /// The law of the time of a request by the number outstanding.
    pub law: Law,
    /// Time that does not depend on the number outstanding, in nanoseconds.
    pub alone_ns: f64,
    /// Time for each request outstanding, in nanoseconds: the most a second is its reciprocal.
    pub each_ns: f64,
    /// Time for each byte after the first 4096 of a request, in nanoseconds; one at a time.
    pub byte_ns: f64,
}

impl OpParams {
    /// Time of a request of 4 KiB with `outstanding` requests, in nanoseconds.
    pub fn time_ns(&self, outstanding: u32) -> f64 {
        let queued = self.each_ns * f64::from(outstanding);
        let time = match self.law {
            Law::Balanced => self.alone_ns + queued,
            Law::Bottleneck => self.alone_ns.max(queued),
        };
        time.max(1.0)
    }
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
    /// How much faster, as a factor, either goes while both are outstanding.
    pub mixed: f64,
    /// Time of a flush, in nanoseconds; of a write with FUA in addition.
    pub flush_ns: u64,
    /// How times of single requests vary: points of their distribution as (share, factor), the
    /// share of requests that take at most that factor of the mean, from 0 to 1, with straight
    /// lines between them. Empty where all take the same.
    #[serde(default)]
    pub variation: Vec<(f64, f64)>,
}

impl FlowParams {
    /// Whether such a drive can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        const MINUTE: u64 = 60_000_000_000;
        within("capacity_bytes", self.capacity_bytes, 1..=1 << 50)?;
        within("depth", self.depth, 1..=65_536)?;
        within("flush_ns", self.flush_ns, 0..=MINUTE)?;
        number("read.alone_ns", self.read.alone_ns, 0..=MINUTE)?;
        number("read.each_ns", self.read.each_ns, 0..=MINUTE)?;
        number("read.byte_ns", self.read.byte_ns, 0..=MINUTE)?;
        number("write.alone_ns", self.write.alone_ns, 0..=MINUTE)?;
        number("write.each_ns", self.write.each_ns, 0..=MINUTE)?;
        number("write.byte_ns", self.write.byte_ns, 0..=MINUTE)?;
        // In thousandths: a factor of nothing would stop the drive.
        number("mixed (thousandths)", self.mixed * 1e3, 1..=1_000_000)?;
        let mut last = (0.0, 0.0);
        for (index, point) in self.variation.iter().enumerate() {
            let ascends = point.0 >= last.0 && point.1 >= last.1 && point.1 <= 1e6;
            let begins = index > 0 || point.0 == 0.0;
            let legal = u64::from(ascends && begins);
            within("variation ascends from share 0", legal, 1..=1)?;
            last = *point;
        }
        let ends = self.variation.is_empty() || (last.0 == 1.0 && last.1 > 0.0);
        within("variation ends at share 1", u64::from(ends), 1..=1)
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
