//! The native half of the Python module: modelled machines, jobs and runs of them, traces and kept
//! runs, with tables as Arrow streams. What is Python's own (grids, sweeps, Ray) is in `python/`.
//!
//! Devices are only ever opened by the command line program: nothing here takes one.

// Tables are large and short-lived: page faults of fresh memory took longer than decoding a trace.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod error;
mod heed;
mod job;
mod kept;
mod machine;
mod plan;
mod requests;
mod simulate;
mod stats;
mod table;
mod trace;
mod word;

use pyo3::pymodule;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::heed::Stop;
    #[pymodule_export]
    use crate::job::Job;
    #[pymodule_export]
    use crate::kept::{Comparison, compare, runs};
    #[pymodule_export]
    use crate::machine::Machine;
    #[pymodule_export]
    use crate::plan::plan_machine;
    #[pymodule_export]
    use crate::simulate::{Run, run_cells, simulate};
    #[pymodule_export]
    use crate::stats::{Stats, usual_rate};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::trace::{Trace, scan};
}
