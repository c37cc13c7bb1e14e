//! `seekwell trace`.

use super::{Force, values};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueHint};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_trace::copy::Selection;
use seekwell_trace::formats::{self, Format, Mapping, TimeUnit};
use seekwell_trace::split;
use seekwell_trace::stats::{Figure, Policy, Shard};
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell trace list                                   formats, and the traces that are built in
  seekwell trace info web-light                         what is in this trace?
  seekwell trace stats db-heavy -o db.html              what kind of load is it?
  seekwell trace stats db.parquet --only counts,sizes   these alone, from the columns they need
  seekwell trace convert web-light web.csv              any format into any that is written
  seekwell trace cut db-heavy busy.parquet --start 10s --end 20s --op read
  seekwell trace stats web_2.csv.gz --shard 3/16 -o part.stats  a part, on one of 16 machines
  seekwell trace merge 1.stats 2.stats                  the figures of one run over everything
  seekwell trace stats mine.csv --columns 'time=ts*us,offset=lba*512,length=bytes,op=rw'

FILE is a file or the name of a built-in trace. Formats are told apart by their first bytes; gzip
and zstd are read through. The format of an
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
    /// List the formats, what each can hold, and the built-in traces
    List,
    /// Say what is known of a trace: where it is from, devices, counts, what was lost
    Info(Info),
    /// Say what kind of load a trace is: sizes, arrivals, queue, latencies, locality, reuse
    ///
    /// One pass. Blocks are sampled by a hash of device and address, one in 2^K (--rate-log2), and
    /// what follows from a sample is marked as an estimate. Without it every block of a file of up
    /// to 8 MiB (2 MiB compressed or Parquet) is followed, one in two of twice that, and so on; of
    /// a pipe one in 256.
    Stats(Stats),
    /// Put statistics together that were gathered in parts
    ///
    /// Parts are files that `trace stats -o NAME.stats` wrote, each of other devices and all at the
    /// same sampling rate. The figures and the digest are those of one run over everything. A part
    /// that is damaged is named, and nothing is shown (status 4); so are parts that do not fit
    /// together (status 2).
    Merge(Merge),
    /// Split traces by device in one pass
    ///
    /// A device keeps its name in all files: that of the trace, after the host's if the trace
    /// has it, or else the name of the file.
    Split(Split),
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
    /// How it is read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `seekwell trace stats`.
#[derive(Debug, Args)]
pub struct Stats {
    /// The trace
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// How it is read.
    #[command(flatten)]
    pub reading: Reading,
    /// Show these figures alone, and read only the columns of a store that they need: counts,
    /// sizes, arrivals, queue, latencies, order, space, reuse, alignment, idle, devices, processes
    #[arg(long, value_name = "FIGURE,…", value_delimiter = ',', value_parser = figure(),
          hide_possible_values = true)]
    pub only: Vec<Figure>,
    /// Leave out reuse distances and the miss-ratio curve: faster
    #[arg(long, conflicts_with = "only")]
    pub no_reuse: bool,
    /// Follow one block in 2^K [default: by the size of the file]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=32))]
    pub rate_log2: Option<u32>,
    /// Follow every block, whatever memory that takes: 60 bytes each
    #[arg(long, conflicts_with = "rate_log2")]
    pub exact: bool,
    /// Show what one cache of all devices would miss under these policies: lru, fifo, clock,
    /// s3-fifo, sieve, arc
    #[arg(long, value_name = "POLICY,…", value_delimiter = ',', value_parser = policy(),
          hide_possible_values = true)]
    pub policy: Vec<Policy>,
    /// Take only the devices whose hashed names fall to part I of N
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Threads that read and count [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// How the figures are shown.
    #[command(flatten)]
    pub shown: Figures,
}

/// `seekwell trace merge`.
#[derive(Debug, Args)]
pub struct Merge {
    /// The parts
    #[arg(required = true, value_name = "PART", value_hint = ValueHint::FilePath)]
    pub parts: Vec<PathBuf>,
    /// Show them though shards are missing. A part (-o NAME.stats) keeps which
    #[arg(long)]
    pub partial: bool,
    /// How the figures are shown.
    #[command(flatten)]
    pub shown: Figures,
}

/// How statistics are shown.
#[derive(Debug, Args)]
pub struct Figures {
    /// Show all figures, not only what fits on a screen and a half
    #[arg(long, short = 'v', conflicts_with_all = ["json", "markdown"])]
    pub verbose: bool,
    /// Print all figures in Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Write the page to this file, or, where its name ends with .stats, a part for `trace merge`
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
}

/// `seekwell trace split`.
#[derive(Debug, Args)]
pub struct Split {
    /// The traces, one after the other
    #[arg(required = true, value_name = "IN", value_hint = ValueHint::FilePath)]
    pub inputs: Vec<PathBuf>,
    /// How they are read.
    #[command(flatten)]
    pub reading: Reading,
    /// What they are split by
    #[arg(long, value_name = "WHAT", value_parser = ["device"])]
    pub by: String,
    /// Folder to write to; made if it is not there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub into: PathBuf,
    /// Put the devices into N files, by a hash of their names, instead of one file each
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u64).range(1..=split::MOST_FILES as u64))]
    pub parts: Option<u64>,
    /// Format of the files
    #[arg(long, value_name = "FORMAT", value_parser = writable(), default_value = "seekwell")]
    pub format: &'static Format,
    /// What is done with files that exist.
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

/// How a trace is read, if its first bytes do not show it.
#[derive(Debug, Clone, Args)]
pub struct Reading {
    /// Format of the trace, if it cannot be detected
    #[arg(long, value_name = "FORMAT", value_parser = readable())]
    pub from: Option<&'static Format>,
    /// Which column of a CSV or Parquet file holds what: time=ts*us,offset=lba*512,length=size
    ///
    /// Each is FIELD=COLUMN, with *N or *ns, *us, *ms, *s where its numbers are no bytes or
    /// nanoseconds. Fields are time, issued, completed, response, offset, length, op, device, pid,
    /// process, cpu, error and flags; those not given are looked for under the names of our own
    /// columns (queued_ns, offset_bytes, …). Columns may be given by number, from 1, if a CSV file
    /// has no line of names.
    #[arg(long, value_name = "FIELD=COLUMN,…", conflicts_with = "from")]
    pub columns: Option<Mapping>,
    /// Unit of the times in the file, if not the one that its format says
    #[arg(long, value_name = "UNIT", value_parser = time_unit(), conflicts_with = "columns")]
    pub time_unit: Option<TimeUnit>,
}

impl Reading {
    /// As the library wants it.
    pub fn how(&self) -> formats::Reading {
        let (format, columns, unit) = (self.from, self.columns.clone(), self.time_unit);
        formats::Reading { format, columns, unit }
    }
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
    /// How it is read.
    #[command(flatten)]
    pub reading: Reading,
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

fn figure() -> impl TypedValueParser<Value = Figure> {
    PossibleValuesParser::new(Figure::ALL.map(Figure::name)).map(|name| {
        Figure::ALL.into_iter().find(|figure| figure.name() == name).expect("one of the names")
    })
}

fn policy() -> impl TypedValueParser<Value = Policy> {
    PossibleValuesParser::new(Policy::ALL.map(Policy::name)).map(|name| {
        Policy::ALL.into_iter().find(|policy| policy.name() == name).expect("one of the names")
    })
}

fn time_unit() -> impl TypedValueParser<Value = TimeUnit> {
    PossibleValuesParser::new(TimeUnit::ALL.map(TimeUnit::symbol))
        .map(|symbol| symbol.parse().expect("one of the symbols"))
}

/// Names of formats that are read.
fn readable() -> impl TypedValueParser<Value = &'static Format> {
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
