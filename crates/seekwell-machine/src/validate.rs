//! A trace with measured service times played to a part, and how far apart the two distributions
//! are.
//!
//! The next request is issued its recorded think time after the modelled end of the one before, so
//! that a wrong time does not shift those after it against the part's background work.

use crate::part::{Command, Done, Part};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// A request of which the service time was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// What it did.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// How long it took, in nanoseconds.
    pub service_ns: u64,
    /// From its end to the next request, in nanoseconds.
    pub think_ns: u64,
}

/// A request and what the part took for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played {
    /// As measured.
    pub request: Measured,
    /// How long the part took, in nanoseconds.
    pub modelled_ns: u64,
}

/// Service times, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times(Vec<u64>);

/// Measured and modelled service times of the same requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// As measured.
    pub measured: Times,
    /// As modelled.
    pub modelled: Times,
    /// Each request and its modelled time, in their order.
    pub played: Vec<Played>,
    /// Requests that lie beyond the part's end and were left out.
    pub beyond: u64,
}

/// Plays the requests to a part that has nothing outstanding, one at a time from its time zero on.
pub fn validate<P: Part>(part: &mut P, requests: impl IntoIterator<Item = Measured>) -> Validation {
    let mut issue = Nanos::ZERO;
    let mut done: Vec<Done> = Vec::new();
    let (mut played, mut beyond) = (Vec::new(), 0);
    for request in requests {
        let Measured { op, offset, len, .. } = request;
        if offset.saturating_add(u64::from(len)) > part.capacity() {
            beyond += 1;
            continue;
        }
        part.submit(Command { tag: 0, op, offset, len, durable: false }, issue);
        while done.is_empty() && part.next() < Nanos::MAX {
            part.advance(part.next().max(issue), &mut done);
        }
        let end = done.drain(..).map(|done| done.at).max().unwrap_or(issue);
        played.push(Played { request, modelled_ns: end.since(issue).0 });
        issue = end + Nanos(request.think_ns);
    }
    let measured = Times::new(played.iter().map(|one| one.request.service_ns).collect());
    let modelled = Times::new(played.iter().map(|one| one.modelled_ns).collect());
    Validation { measured, modelled, played, beyond }
}

impl Times {
    /// The distribution of these times, in nanoseconds.
    pub fn new(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// How many there are.
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// The mean in nanoseconds; 0 of none.
    pub fn mean_ns(&self) -> f64 {
        let sum: f64 = self.0.iter().map(|time| *time as f64).sum();
        sum / (self.0.len().max(1)) as f64
    }

    /// The time that the share `q` (0 to 1) of all stay below, in nanoseconds, with straight lines
    /// between one and the next; 0 of none.
    pub fn quantile_ns(&self, q: f64) -> f64 {
        let Some(last) = self.0.len().checked_sub(1) else { return 0.0 };
        let at = q.clamp(0.0, 1.0) * last as f64;
        let below = at.floor() as usize;
        let (low, high) = (self.0[below] as f64, self.0[(below + 1).min(last)] as f64);
        low + (high - low) * (at - below as f64)
    }
}

impl Validation {
    /// The demerit figure of Ruemmler and Wilkes (IEEE Computer 27(3), 1994), in milliseconds: the
    /// root mean square of the horizontal distance between the two cumulative distributions.
    ///
    /// Both have as many times, so that the distance at every height is the difference of the nth
    /// shortest of one and the nth shortest of the other, and the mean over all n is exact.
    /// DiskSim's own program samples heights in steps of 0.0001 and leaves out the last, which
    /// gives the same for 10,000 requests but for the longest of each.
    pub fn demerit_ms(&self) -> f64 {
        root_mean_square(&self.measured.0, &self.modelled.0)
    }
}

fn root_mean_square(measured: &[u64], modelled: &[u64]) -> f64 {
    let pairs = measured.iter().zip(modelled);
    let sum: f64 = pairs.map(|(a, b)| (*a as f64 - *b as f64) / 1e6).map(|d| d * d).sum();
    (sum / measured.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validation(measured: &[u64], modelled: &[u64]) -> Validation {
        let (measured, modelled) = (Times::new(measured.to_vec()), Times::new(modelled.to_vec()));
        Validation { measured, modelled, played: Vec::new(), beyond: 0 }
    }

    #[test]
    fn the_demerit_is_the_horizontal_distance_of_the_curves() {
        const MS: u64 = 1_000_000;
        // The order of the requests is of no matter; a shift is its own distance.
        assert_eq!(validation(&[MS, 5 * MS], &[7 * MS, 3 * MS]).demerit_ms(), 2.0);
        // One of two off by 2 ms.
        let half = validation(&[MS, 5 * MS], &[MS, 7 * MS]).demerit_ms();
        assert!((half - 2f64.sqrt()).abs() < 1e-12, "{half}");
        assert_eq!(validation(&[], &[]).demerit_ms(), 0.0);
    }

    #[test]
    fn quantiles_lie_on_lines_between_the_times() {
        let times = Times::new(vec![30, 10, 20]);
        assert_eq!((times.quantile_ns(0.0), times.quantile_ns(1.0)), (10.0, 30.0));
        assert_eq!((times.quantile_ns(0.25), times.mean_ns()), (15.0, 20.0));
    }
}
