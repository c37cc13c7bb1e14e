//! `seekwell record`.

use super::{Force, values};
use clap::{Args, ValueEnum, ValueHint};
use seekwell_io::units::Nanos;
use std::ffi::OsString;
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell record /dev/sda -o boot.parquet --for 60s
  seekwell record /srv -o build.parquet -- make -j8     while a command runs
  seekwell record /dev/sda -o db.parquet --process mariadbd
  seekwell record /dev/sda -o slow.parquet --min-latency 10ms   and show slow requests at once
  seekwell trace stats build.parquet                    what was that?

Without --for and COMMAND it records until Ctrl-C.

Exit status: that of COMMAND, 128 and the signal's number where a signal ended it, 127 where it does
not exist, 126 where it may not run. Otherwise 0 done; 2 usage; 3 refused (permission, lockdown, no
space); 4 events were lost, so the trace is incomplete; 130 interrupted, the file is whole.";

/// `seekwell record`.
#[derive(Debug, Args)]
pub struct Record {
    /// A block device, a partition of one, or a directory or file on one
    #[arg(value_hint = ValueHint::AnyPath)]
    pub device: PathBuf,
    /// Trace file to write: .parquet (seekwell's own format), .csv or .iolog
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
    /// How long to record
    #[arg(long = "for", value_name = "TIME", value_parser = values::duration)]
    pub duration: Option<Nanos>,
    /// Record the whole stack: the device and every device above and below it
    #[arg(long)]
    pub stack: bool,
    /// Which requests, and how events are read.
    #[command(flatten)]
    pub traced: Traced,
    /// A command to run while recording; the recording ends with it
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// Which requests are traced, and how.
#[derive(Debug, Args)]
pub struct Traced {
    /// Only requests of this process and its threads; may be repeated
    ///
    /// Judged when a request is queued. What the page cache writes later is queued by the kernel's
    /// own threads, whichever process wrote it.
    #[arg(long, value_name = "PID")]
    pub pid: Vec<u32>,
    /// Only requests of processes or threads with this name; may be repeated
    #[arg(long, value_name = "NAME")]
    pub process: Vec<String>,
    /// The kernel's buffer for each CPU [default: 64 MiB, less on small machines]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub buffer: Option<u64>,
    /// How events are read
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub via: Via,
    /// Print each request that takes at least this long, one per line
    ///
    /// When it completed, process, device, operation, first byte and size, the time in the queue
    /// and at the device, and both. `record` prints them on standard error; `top` on standard
    /// output, in place of the table.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub min_latency: Option<Nanos>,
}

impl Traced {
    /// Whether single events are needed, because counts are not enough.
    pub fn needs_events(&self) -> bool {
        let Self { pid, process, buffer, via, min_latency } = self;
        let chosen = !pid.is_empty() || !process.is_empty();
        chosen || buffer.is_some() || *via != Via::Auto || min_latency.is_some()
    }
}

/// How events are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Via {
    /// Programs in the kernel where it takes them, a tracefs instance elsewhere
    Auto,
    /// Programs in the kernel (BPF), or an error
    Bpf,
    /// A tracefs instance, or an error
    Tracefs,
}
