//! `seekwell top`.

use super::record::Traced;
use super::values;
use clap::{Args, ValueHint};
use seekwell_io::units::Nanos;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell top                                    every disk with traffic
  seekwell top /dev/nvme0n1 /srv                  two disks, one by a directory on it
  seekwell top --process mariadbd                 what one program does
  seekwell top --min-latency 10ms                 slow requests, one per line
  seekwell top --json --for 60s --interval 10s    six JSON lines
  seekwell top --plain --metrics 127.0.0.1:9187   also for Prometheus, until Ctrl-C

The kernel counts by small programs (BPF), which are removed when this command ends. With
--min-latency, --pid, --process, --buffer or --via, or if the kernel refuses the programs, every
event is read instead, which costs about half a microsecond of CPU time per request.

The column `seen` says what is counted: `req`, requests that were queued, given to the driver and
completed; or `bio`, where the driver has no request queue (zram, md, most of dm) and no time in the
queue can be told apart.

Exit status: 0 done; 2 usage; 3 refused (permission, lockdown); 130 interrupted before --for was
over.";

/// `seekwell top`.
#[derive(Debug, Args)]
pub struct Top {
    /// Block devices, partitions, or directories or files on them [default: all with traffic]
    #[arg(value_name = "DEVICE", value_hint = ValueHint::AnyPath)]
    pub devices: Vec<PathBuf>,
    /// Length of an interval
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::duration)]
    pub interval: Nanos,
    /// How long to look
    #[arg(
        long = "for", visible_alias = "duration", value_name = "TIME",
        value_parser = values::duration
    )]
    pub duration: Option<Nanos>,
    /// Print one block per interval, also on a terminal
    #[arg(long)]
    pub plain: bool,
    /// Also serve the figures as OpenMetrics at http://ADDR/metrics, such as 127.0.0.1:9187; port 0
    /// picks a free one
    ///
    /// Counters and histograms by disk and operation, of every interval so far. Any address but
    /// loopback requires a token, which is generated and printed.
    #[arg(long, value_name = "ADDR")]
    pub metrics: Option<SocketAddr>,
    /// Which requests, and how events are read.
    #[command(flatten)]
    pub traced: Traced,
}
