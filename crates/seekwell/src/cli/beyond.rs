//! Questions that take several runs: sweeps, the limit under a bound, steady state.

use super::When;
use super::values::{self, ValueError};
use clap::Args;
use seekwell_checkup::limit::{Bound, Metric};
use seekwell_io::units::Nanos;

/// Questions that take several runs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Beyond one run")]
pub struct Beyond {
    /// Measure at each of several values of an option: iodepth=1..256 doubles, rwmixread=0..100:25
    /// steps, bs=512,4k,64k lists
    ///
    /// May be given several times; then all combinations are measured, interleaved over the
    /// repeats. The first is the load that rate and p99 are drawn over. `depth` is short for
    /// iodepth. tags=1..32 and tags=split:1..32 bound what is outstanding, engine=io_uring,threads
    /// says how it is issued. Parameters of a modelled machine (--on MACHINE) are swept like
    /// options: drive.rpm=5400,7200,10000; each point has a new machine.
    #[arg(
        long, value_name = "KEY=VALUES",
        conflicts_with_all = ["suite", "limit", "steady"]
    )]
    pub sweep: Vec<String>,
    /// Measure the workload alone and beside another, in turn: randtrim,bs=64k,rate_iops=100
    ///
    /// May be given several times; then all of them run beside it. A direction and options as in
    /// an arm of an experiment. 6 rounds, unless --repeats says more.
    #[arg(long, value_name = "JOB", conflicts_with_all = ["suite", "limit", "steady", "sweep"])]
    pub beside: Vec<String>,
    /// Find the highest rate whose response time keeps a bound: p99=2ms, also mean, p50, p90,
    /// p99.9, p99.99
    ///
    /// Requests arrive at a rate whether or not the target keeps up, at most --iodepth of them
    /// outstanding in each thread, and response time counts from when each was wanted. The rate
    /// found is confirmed by three repeats, or as many as --repeats says.
    #[arg(
        long, value_name = "METRIC=TIME", value_parser = bound,
        conflicts_with_all = ["suite", "rate_iops"]
    )]
    pub limit: Option<Bound>,
    /// Repeat until the rate is steady: five runs within 20 % of their mean and without a trend, in
    /// 25 runs at most
    ///
    /// The rule of the SNIA Solid State Storage Performance Test Specification. Runs before the
    /// steady ones do not count. If the rate never becomes steady, the result says so.
    #[arg(long, conflicts_with_all = ["suite", "limit", "repeats"])]
    pub steady: bool,
    /// Write twice the size of the region before measuring, from start to end, then at random
    ///
    /// A new or erased flash drive is faster than a used one. Needs a target that may be written.
    #[arg(long)]
    pub precondition: bool,
    /// Show live progress; `always` prints one line per second where standard error is not a
    /// terminal
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub progress: When,
}

/// `p99=2ms`.
fn bound(text: &str) -> Result<Bound, ValueError> {
    let unknown = |found: &str| ValueError::Unreadable {
        found: found.chars().take(40).collect(),
        what: "bound",
        example: "mean=500us, p99=2ms or p99.9=10ms",
    };
    let (name, time) = text.split_once('=').ok_or_else(|| unknown(text))?;
    let name = name.replace('.', "_");
    let metric = Metric::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| unknown(text))?;
    let most = values::duration(time)?;
    if most == Nanos::ZERO {
        return Err(unknown(text));
    }
    Ok(Bound { metric, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_a_statistic_and_a_time() {
        let two = Nanos::from_millis(2);
        assert_eq!(bound("p99=2ms"), Ok(Bound { metric: Metric::P99, most: two }));
        assert_eq!(bound("p99.9=2ms"), Ok(Bound { metric: Metric::P99_9, most: two }));
        assert_eq!(bound("mean=2ms"), Ok(Bound { metric: Metric::Mean, most: two }));
        for wrong in ["", "p99", "p98=1ms", "p99=", "p99=0", "p99=fast", "=1ms"] {
            assert!(bound(wrong).is_err(), "{wrong}");
        }
    }
}
