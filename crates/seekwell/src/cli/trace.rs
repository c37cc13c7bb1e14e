//! `seekwell trace`.

use super::{Force, values};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueHint};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_trace::copy::Selection;
use seekwell_trace::formats::Format;
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell trace list                                   which formats, and what each can hold
  seekwell trace info web_2.csv.gz                      what is in this file?
  seekwell trace stats web_2.csv.gz -o web.html         what kind of load is it?
  seekwell trace convert web_2.csv.gz web.parquet       any format into any that is written
  seekwell trace cut db.parquet busy.parquet --start 60s --end 90s --op read

Formats are told apart by their first bytes; gzip and zstd are read through. The format of an
output follows from its name: .parquet, .csv and .iolog; for others name it with --to.";

/// `seekwell trace`.
#[derive(Debug, Args)]
pub struct Trace {
    /// What to do.
    #[command(subcommand)]
    pub command: TraceCommand,
}

/// What to do with traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Show which formats are read and written, and what each can hold
    List,
    /// Say what is known of a trace: where it is from, devices, counts, what was lost
    Info(Info),
    /// Say what kind of load a trace is: sizes, arrivals, queue, latencies, locality, reuse
    ///
    /// One pass in bounded memory. Every block is remembered up to 3 GiB touched; beyond that
    /// blocks are sampled by a hash of their address, and what follows from them is marked as an
    /// estimate.
    Stats(Stats),
    /// Write a trace in another format
    Convert(Convert),
    /// Keep a part of a trace: a time, a device, a process, some operations
    Cut(Cut),
}

/// `seekwell trace info`.
#[derive(Debug, Args)]
pub struct Info {
    /// The trace
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Its format, where the first bytes do not tell
    #[arg(long, value_name = "FORMAT", value_parser = readable())]
    pub from: Option<&'static Format>,
}

/// `seekwell trace stats`.
#[derive(Debug, Args)]
pub struct Stats {
    /// The trace
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Its format, where the first bytes do not tell
    #[arg(long, value_name = "FORMAT", value_parser = readable())]
    pub from: Option<&'static Format>,
    /// Leave out reuse distances and the miss-ratio curve: faster
    #[arg(long)]
    pub no_reuse: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Write the page to this file
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
}

/// `seekwell trace convert`.
#[derive(Debug, Args)]
pub struct Convert {
    /// What is read and written
    #[command(flatten)]
    pub files: Files,
}

/// Where from and where to.
#[derive(Debug, Args)]
pub struct Files {
    /// The trace to read
    #[arg(value_hint = ValueHint::FilePath)]
    pub input: PathBuf,
    /// The trace to write
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Format of the input, where the first bytes do not tell
    #[arg(long, value_name = "FORMAT", value_parser = readable())]
    pub from: Option<&'static Format>,
    /// Format of the output [default: by the ending of its name]
    #[arg(long, value_name = "FORMAT", value_parser = writable())]
    pub to: Option<&'static Format>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
}

/// `seekwell trace cut`.
#[derive(Debug, Args)]
pub struct Cut {
    /// What is read and written
    #[command(flatten)]
    pub files: Files,
    /// Leave out what arrived earlier than this after the first request
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub start: Option<Nanos>,
    /// Leave out what arrived this long after the first request, or later
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub end: Option<Nanos>,
    /// Keep requests to this device only, by the name `trace info` shows; may be repeated
    #[arg(long, value_name = "NAME")]
    pub device: Vec<String>,
    /// Keep requests of this process number only; may be repeated
    #[arg(long, value_name = "PID")]
    pub pid: Vec<u32>,
    /// Keep requests of processes of this name only; may be repeated
    #[arg(long, value_name = "NAME")]
    pub process: Vec<String>,
    /// Keep these operations only
    #[arg(long, value_name = "OP,…", value_delimiter = ',', value_parser = op())]
    pub op: Vec<Op>,
}

impl Cut {
    /// What is kept.
    pub fn selection(&self) -> Selection {
        Selection {
            start: self.start,
            end: self.end,
            devices: self.device.clone(),
            pids: self.pid.clone(),
            processes: self.process.clone(),
            ops: self.op.clone(),
        }
    }
}

/// Names of formats that are read.
pub fn readable() -> impl TypedValueParser<Value = &'static Format> {
    among(Format::ALL.into_iter())
}

fn writable() -> impl TypedValueParser<Value = &'static Format> {
    among(Format::written())
}

fn op() -> impl TypedValueParser<Value = Op> {
    PossibleValuesParser::new(Op::ALL.map(Op::name))
        .map(|name| Op::ALL.into_iter().find(|op| op.name() == name).expect("one of the names"))
}

fn among(
    formats: impl Iterator<Item = &'static Format>,
) -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(formats.map(|f| f.name))
        .map(|name| Format::named(&name).expect("one of the names"))
}
