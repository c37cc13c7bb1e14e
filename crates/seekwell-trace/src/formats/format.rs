//! What a trace format is: its name, how it is recognised, what reads and writes it, and what of a
//! request it keeps. Each format declares one in its own file.

use super::input::Input;
use super::output::Output;
use super::time_unit::TimeUnit;
use crate::error::TraceError;
use crate::source::{About, Capture, Sink, TraceSource};
use seekwell_io::request::Op;
use std::fmt;
use std::path::{Path, PathBuf};

/// A source of records, or why it cannot be opened.
pub type Opened = Result<Box<dyn TraceSource + Send>, TraceError>;
/// A sink for records, or why it cannot be created.
pub type Created = Result<Box<dyn Sink + Send>, TraceError>;

/// A way of writing a trace down.
pub struct Format {
    /// The name that `--from` and `--to` take.
    pub name: &'static str,
    /// One line on what it is and where it comes from.
    pub description: &'static str,
    /// What it keeps of a request.
    pub holds: Holds,
    /// Reads it.
    pub(crate) reader: Reader,
    /// Writes it, where anything does.
    pub(crate) writer: Option<Writer>,
    /// What the name of an output in this format ends with, without the dot.
    pub(crate) ending: Option<&'static str>,
    /// How likely a file that begins like this is in this format.
    pub(crate) looks_like: fn(&Sample<'_>) -> Option<Certainty>,
    /// The file that holds the trace of this name, if no file has the name itself.
    pub(crate) locate: Option<fn(&Path) -> Option<PathBuf>>,
    /// What its times are written in, where a file may well mean another unit.
    pub(crate) unit: Option<TimeUnit>,
}

/// Where a reader takes its bytes from.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// Anywhere, decompressed on the way.
    Stream(fn(Input) -> Opened),
    /// A file that can be read at any offset.
    File(fn(&Path) -> Opened),
}

/// What writes a format, and what that leaves out.
pub(crate) struct Writer {
    pub create: Create,
    /// Operations that have no place in the output.
    pub leaves_out: &'static [Op],
}

/// Where a writer puts its bytes.
pub(crate) enum Create {
    /// Into a stream, compressed where the output's name asks for it.
    Stream(fn(Output, &About) -> Created),
    /// Into a file that it goes back into, and that therefore cannot be compressed. The last
    /// argument allows replacing a file.
    File(fn(&Path, &About, bool) -> Created),
}

impl Format {
    /// Whether [`super::create`] writes it.
    pub const fn is_written(&self) -> bool {
        self.writer.is_some()
    }

    /// The operations that writing this format leaves out, besides what none but ours keep:
    /// commands that are only counted.
    pub fn leaves_out(&self) -> &'static [Op] {
        self.writer.as_ref().map_or(&[], |writer| writer.leaves_out)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A step in the life of a request that has a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It entered the block layer (Q).
    Queued,
    /// It was given to the driver (D).
    Issued,
    /// It was done (C).
    Completed,
}

impl Step {
    /// All steps, in their order in time.
    pub const ALL: [Self; 3] = [Self::Queued, Self::Issued, Self::Completed];

    /// The letter that blktrace uses for it.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Queued => "Q",
            Self::Issued => "D",
            Self::Completed => "C",
        }
    }
}

/// What may be known of a request besides its times, operation and place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Which of several devices it went to.
    Device,
    /// The process that queued it.
    Process,
    /// The CPU that queued it.
    Cpu,
    /// Sync, FUA, read-ahead and the like.
    Flags,
    /// How it failed.
    Error,
}

impl Detail {
    /// All details.
    pub const ALL: [Self; 5] = [Self::Device, Self::Process, Self::Cpu, Self::Flags, Self::Error];

    /// The word for it in documentation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Process => "process",
            Self::Cpu => "CPU",
            Self::Flags => "flags",
            Self::Error => "error",
        }
    }
}

/// What of a request a format can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holds {
    /// Steps whose time it holds.
    pub times: &'static [Step],
    /// Resolution of its times in nanoseconds.
    pub step_ns: u64,
    /// Operations that it distinguishes; none if it does not keep the operation.
    pub ops: &'static [Op],
    /// What else it holds.
    pub details: &'static [Detail],
}

impl Holds {
    pub(crate) const EVERYTHING: Self =
        Self { times: &Step::ALL, step_ns: 1, ops: &Op::ALL, details: &Detail::ALL };

    /// The arrival, to the nanosecond, of reads and writes to several devices.
    pub(crate) const ARRIVALS: Self = Self {
        times: &[Step::Queued],
        step_ns: 1,
        ops: &[Op::Read, Op::Write],
        details: &[Detail::Device],
    };

    /// Whether it holds this detail.
    pub fn has(&self, detail: Detail) -> bool {
        self.details.contains(&detail)
    }

    /// The letters of its times, `Q D C`.
    pub fn letters(&self) -> String {
        self.times.iter().map(|step| step.letter()).collect::<Vec<_>>().join(" ")
    }

    /// The names of its operations, `read write flush discard`.
    pub fn op_names(&self) -> String {
        if self.ops.is_empty() {
            return "(none)".to_owned();
        }
        self.ops.iter().map(|op| op.name()).collect::<Vec<_>>().join(" ")
    }

    /// Which times of a request a trace in this format was recorded with.
    pub(crate) fn capture(&self) -> Capture {
        match (self.times.contains(&Step::Queued), self.times.contains(&Step::Issued)) {
            (true, true) => Capture::Both,
            (false, true) => Capture::Issue,
            (_, false) => Capture::Queue,
        }
    }
}

/// How much the beginning of a file says for a format; the most certain format is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// Its name or its values are possible in this format.
    Plausible,
    /// Its second line is one of this format; the first may be a row of names.
    SecondLine,
    /// Its first line is one of this format.
    FirstLine,
    /// An early line names an event that only this format has.
    Event,
    /// It begins with a header or with records that only this format has.
    Header,
}

impl Certainty {
    /// This certainty, where the condition holds.
    pub fn when(self, holds: bool) -> Option<Self> {
        holds.then_some(self)
    }
}

/// The beginning of a file, decompressed, and its name.
pub(crate) struct Sample<'a> {
    pub bytes: &'a [u8],
    pub path: &'a Path,
}

impl<'a> Sample<'a> {
    /// Up to 64 lines without the blanks around them; empty ones and binary ones are left out.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        self.bytes
            .split(|&b| b == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty() && !line.contains(&0))
            .take(64)
    }

    /// The first line; empty if absent.
    pub fn first_line(&self) -> &'a [u8] {
        self.lines().next().unwrap_or_default()
    }

    /// How certain a format is whose lines are recognised by `is_line`.
    pub fn by_lines(&self, mut is_line: impl FnMut(&[u8]) -> bool) -> Option<Certainty> {
        match self.lines().take(2).position(&mut is_line)? {
            0 => Some(Certainty::FirstLine),
            _ => Some(Certainty::SecondLine),
        }
    }
}
