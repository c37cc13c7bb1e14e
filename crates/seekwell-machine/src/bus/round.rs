//! One burst of an adapter and the turns that others take before its next.

use super::params::{Clocks, PciParams};
use crate::wire::Way;

/// Another master's use of the bus.
#[derive(Debug, Clone, Copy)]
struct Turn {
    /// Share of all clocks that it would take: below 1, or more than the bus has.
    share: f64,
    burst: f64,
}

/// Masters that take turns.
#[derive(Debug)]
pub struct Round {
    clock_ps: u64,
    others: Vec<Turn>,
}

impl Round {
    /// The masters beside the adapter.
    pub fn new(params: &PciParams) -> Self {
        let clocks_per_s = 1e12 / params.kind.clock_ps() as f64;
        let turn = |competitor: &super::Competitor| {
            let bytes = params.cut(competitor.burst_bytes, params.write_wait_clocks);
            let burst = f64::from(params.overhead(Way::In) + params.kind.data_clocks(bytes));
            let bursts_per_s = competitor.bytes_per_s as f64 / f64::from(bytes);
            Turn { share: bursts_per_s * burst / clocks_per_s, burst }
        };
        Self { clock_ps: params.kind.clock_ps(), others: params.load.iter().map(turn).collect() }
    }

    /// Time from the beginning of a burst of `own` clocks to that of the adapter's next: in it each
    /// other master gets its share, and no more than one burst.
    ///
    /// With S those that want a burst every time, the length is (own + Σ burst of S) ÷ (1 − Σ share
    /// of the rest); S grows until no master outside it would get more than a burst.
    pub fn picos(&self, own: Clocks) -> u64 {
        let own = f64::from(own);
        let mut length = own + self.others.iter().map(|other| other.burst).sum::<f64>();
        // From above: with all masters in S the length is an upper bound; taking out one that wants
        // less than a burst of it only shortens it, so that at most one pass a master is needed.
        for _ in 0..self.others.len() {
            let hungry = |other: &&Turn| other.share * length >= other.burst;
            let bursts: f64 = self.others.iter().filter(hungry).map(|other| other.burst).sum();
            let shares: f64 =
                self.others.iter().filter(|other| !hungry(other)).map(|other| other.share).sum();
            length = (own + bursts) / (1.0 - shares);
        }
        (length * self.clock_ps as f64).ceil() as u64
    }
}
