//! A workload with fio's option names: what `bench` runs and both arms of an `experiment` share.

use super::replay::tag_policy;
use super::{RateProcess, values};
use clap::Args;
use seekwell_io::dispatch::TagPolicy;
use seekwell_io::request::Flags;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Rw};
use seekwell_job::PlainJob;

/// A workload and how it is issued.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workload, with fio's option names")]
pub struct Workload {
    /// Direction and order of requests
    #[arg(
        long, default_value = "randread", alias = "readwrite", value_parser = values::direction()
    )]
    pub rw: Rw,
    /// Size of one request
    #[arg(long, value_name = "SIZE", default_value = "4k", value_parser = values::block_size)]
    pub bs: u32,
    /// Requests each thread keeps outstanding
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub iodepth: u32,
    /// Threads, each with its own depth
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub numjobs: u32,
    /// How long to measure in one run [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub runtime: Option<Nanos>,
    /// How long to run before measuring
    #[arg(
        long = "ramp_time", value_name = "TIME", default_value = "0",
        value_parser = values::duration
    )]
    pub ramp_time: Nanos,
    /// How much of the target is used from --offset on, or of a temporary file
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub size: Option<u64>,
    /// First byte used
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = values::size)]
    pub offset: u64,
    /// Share of reads in a mix, in percent
    #[arg(
        long, value_name = "PERCENT", default_value_t = 50,
        value_parser = clap::value_parser!(u8).range(0..=100)
    )]
    pub rwmixread: u8,
    /// Requests per second per thread, reads and writes together [default: as many as the depth
    /// allows]
    #[arg(long = "rate_iops", value_name = "N")]
    pub rate_iops: Option<f64>,
    /// Arrivals under --rate_iops: evenly spaced or random
    #[arg(long = "rate_process", value_name = "HOW", default_value = "linear")]
    pub rate_process: RateProcess,
    /// Where random requests go
    #[arg(
        long = "random_distribution", value_name = "HOW", default_value = "random",
        value_parser = values::distribution
    )]
    pub random_distribution: Pattern,
    /// A flush after every N writes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub fsync: u32,
    /// Past the page cache (1) or through it (0)
    #[arg(
        long, value_name = "0|1", default_value_t = 1,
        value_parser = clap::value_parser!(u8).range(0..=1)
    )]
    pub direct: u8,
    /// Each write is done whole or not at all, also when power fails (`RWF_ATOMIC`)
    #[arg(long)]
    pub atomic: bool,
    /// Data does not stay in the page cache (`RWF_DONTCACHE`); implies --direct 0
    #[arg(long)]
    pub uncached: bool,
    /// Poll for completions in place of interrupts (`IORING_SETUP_IOPOLL`)
    #[arg(long)]
    pub hipri: bool,
    /// At most N outstanding requests per thread, whatever the depth
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub tags: Option<u32>,
    /// How free tags are assigned to waiting requests
    #[arg(
        long = "tag-policy", value_name = "POLICY", default_value = "shared", requires = "tags",
        value_parser = tag_policy()
    )]
    pub tag_policy: TagPolicy,
    /// How requests are issued
    #[arg(long, default_value = "auto", value_parser = values::engine())]
    pub engine: Engine,
}

impl Workload {
    /// As the library has it.
    pub fn job(&self) -> PlainJob {
        PlainJob {
            rw: self.rw,
            block_bytes: self.bs,
            iodepth: self.iodepth,
            numjobs: self.numjobs,
            direct: self.direct == 1,
            flags: Flags { atomic: self.atomic, uncached: self.uncached, polled: self.hipri },
            engine: self.engine,
            tags: self.tags,
            tag_policy: self.tag_policy,
            mix_read_percent: self.rwmixread,
            rate_iops: self.rate_iops,
            poisson: self.rate_process == RateProcess::Poisson,
            distribution: self.random_distribution,
            fsync: self.fsync,
            offset_bytes: self.offset,
            runtime_ns: self.runtime.unwrap_or(PlainJob::default().runtime_ns),
            ramp_ns: self.ramp_time,
        }
    }
}
