//! The checkup: which workloads are run in which order, and what is kept of them.
//!
//! Nothing here touches a disk. A [`plan`] is data; the [`driver`] runs it on anything that can
//! execute a workload; and [`summary`] turns measurements into the numbers of the run document. So
//! all of it is tested without hardware, and `seekwell bench` uses the same driver and the same
//! summary.

pub mod driver;
mod host;
pub mod limit;
pub mod plan;
pub mod slow;
pub mod steady;
pub mod summary;
pub mod sustained;

pub use driver::{
    ExecuteError, Execution, Executor, Load, Observer, Progress, Results, Wear, WentBack, resume,
    run,
};
pub use plan::{Group, Level, PhaseSpec, Plan, PlanInputs, PlanMedium, Rise, Rounds, Tracked};
pub use summary::{
    SHORTEST_RATE, detail, is_only_short, latency, metrics, numbers, summarize, too_short,
};
