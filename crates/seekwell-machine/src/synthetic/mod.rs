//! Synthetic workloads as DiskSim defines them: processes that think, ask, and sometimes wait.
//!
//! Each generator is a process. Thought takes a processor; a process that waits for a request gives
//! its processor up. So an open workload is one whose processes never wait, a closed one is one
//! whose processes always do, and with fewer processors than processes some stand in line.
//!
//! Source: the DiskSim 4 manual (J. Bucy et al., CMU-PDL-08-101, 2008), and the public program
//! where the manual says nothing: what of that is not obvious is explained beside it.

mod distribution;
mod generator;
mod processes;
mod rand48;

#[cfg(test)]
mod tests;

pub use distribution::{Distribution, LARGEST_POISSON_MEAN};
pub use generator::{Class, Drawn, GeneratorParams};
pub use processes::{Issued, Processes, Sign};

use seekwell_io::units::Nanos;

/// A workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Requests after which it ends.
    pub requests: u64,
    /// The time at which it ends at the latest.
    pub until: Nanos,
    /// Processors, at least 1.
    pub processors: u32,
    /// By how much think time exceeds its nominal value.
    pub scale: f64,
    /// Seed of all draws.
    pub seed: u32,
    /// The processes.
    pub generators: Vec<GeneratorParams>,
}
