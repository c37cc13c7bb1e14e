//! One job of a job file, typed: what is asked for, with every default filled in.
//!
//! A [`Job`] is what a `[section]` describes, for all of its `numjobs` clones together. Lengths are
//! bytes, times [`Nanos`]. What a job does is in the fields; [`Job::options`] keeps the words it
//! was asked for with, because readers of fio's results look for them there.

mod data;
mod observe;
mod pace;
mod place;

pub use data::{Buffers, Checksum, Contents, Dedupe, Pattern, PatternPart, Repeats, Verify};
pub use observe::{
    Errors, LatencyTarget, Logs, Metric, Percentiles, Report, SteadyState, WindowValue,
};
pub use pace::{
    Distribution, Hints, Precondition, Process, Random, Rate, ThinkAt, Thinktime, Zone,
};
pub use place::{
    Amount, Creation, Fallocate, Files, FixedRange, Service, ServiceOrder, Strided, Zoned,
};

use seekwell_io::request::{Flags, Op};
use seekwell_io::units::Nanos;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A value for each kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct By<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For discards.
    pub trim: T,
}

impl<T> By<T> {
    /// One value made for each kind from that of another triple.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> By<U> {
        By { read: f(&self.read), write: f(&self.write), trim: f(&self.trim) }
    }

    /// The value for a kind of request; flushes have none and count as reads.
    #[inline]
    pub const fn of(&self, op: Op) -> &T {
        match op {
            Op::Read | Op::Flush => &self.read,
            Op::Write => &self.write,
            Op::Discard => &self.trim,
        }
    }

    /// The same, to be changed.
    #[inline]
    pub const fn of_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read | Op::Flush => &mut self.read,
            Op::Write => &mut self.write,
            Op::Discard => &mut self.trim,
        }
    }

    /// The three values: reads, writes, discards.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.read, &self.write, &self.trim].into_iter()
    }
}

impl<T: Clone> By<T> {
    /// The same value for every kind.
    pub fn all(value: T) -> Self {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }
}

/// Where in a job file, or in the arguments, something was said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The file as it was named; `arguments` for the command line form.
    pub file: String,
    /// Its line, from 1; for the command line form the number of the argument.
    pub line: u32,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// All that a run of one job file needs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobFile {
    /// The jobs in their order.
    pub jobs: Vec<Job>,
    /// What was accepted and will make no difference.
    pub warnings: Vec<Warning>,
}

/// An option that was accepted and makes no difference to its job, or another than may be expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The job's name.
    pub job: String,
    /// The option's canonical name.
    pub option: String,
    /// Why, as half a sentence.
    pub why: String,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "job `{}`: {}: {}", self.job, self.option, self.why)
    }
}

/// One job, with `clones` copies that differ in number, seed and, where names are made, in files.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The section's name, or what `name` says.
    pub name: String,
    /// Where its section begins.
    pub origin: Origin,
    /// How many copies run at the same time (`numjobs`).
    pub clones: u32,
    /// When it starts, relative to other jobs, and with which it is reported.
    pub group: Group,
    /// What kind of requests, in which order.
    pub access: Access,
    /// How long each request is.
    pub blocks: By<Blocks>,
    /// What offsets are multiples of, in bytes.
    pub align_bytes: By<u64>,
    /// Sizes drawn from a range need not be multiples of the smallest (`bs_unaligned`).
    pub unaligned: bool,
    /// The files it uses.
    pub files: Files,
    /// How much is done, and where.
    pub extent: Extent,
    /// How long it runs.
    pub timing: Timing,
    /// How offsets are drawn.
    pub random: Random,
    /// The most it may do in a second.
    pub rate: Rate,
    /// Pauses between requests.
    pub thinktime: Option<Thinktime>,
    /// Turns of an empty loop after each request.
    pub thinkcycles: u32,
    /// How requests are handed to the kernel.
    pub engine: Engine,
    /// What makes writes durable.
    pub durability: Durability,
    /// What written blocks hold.
    pub buffers: Buffers,
    /// Checking what was written; none without `verify`.
    pub verify: Option<Verify>,
    /// Requests confined to strides of the file; none without `zonemode=strided`.
    pub strided: Option<Strided>,
    /// The files are zoned devices whose write pointers are followed; `None` without
    /// `zonemode=zbd`.
    pub zoned: Option<Zoned>,
    /// The depth is searched so that latency stays below a target.
    pub latency_target: Option<LatencyTarget>,
    /// A request that takes longer ends the job.
    pub max_latency: By<Option<Nanos>>,
    /// A share of requests against other jobs of the same flow.
    pub flow: Option<Flow>,
    /// The job ends when it is steady.
    pub steady_state: Option<SteadyState>,
    /// Which figures are wanted.
    pub report: Report,
    /// Which log files are wanted.
    pub logs: Logs,
    /// What a failed request does.
    pub errors: Errors,
    /// Whether the end of this job ends others.
    pub exit: Exit,
    /// Requests come from a recorded trace in place of being drawn.
    pub replay: Option<Replay>,
    /// The requests made are to be written to this file (`write_iolog`).
    pub record: Option<PathBuf>,
    /// What may make it faster or slower without changing its requests.
    pub hints: Hints,
    /// Each option as it was given (after variables), by canonical name; a flag without a value is
    /// `1`. `rw`, `bs`, `iodepth` and `numjobs` are there always.
    pub options: BTreeMap<String, String>,
}

impl Job {
    /// Whether it changes what its files hold.
    pub fn destroys(&self) -> bool {
        self.access.kind.writes() || self.access.kind.trims()
    }

    /// Which kinds of request it makes.
    pub fn makes(&self) -> By<bool> {
        let kind = self.access.kind;
        By { read: kind.reads(), write: kind.writes(), trim: kind.trims() }
    }

    /// The largest request that it can make, in bytes.
    pub fn max_block(&self) -> u32 {
        self.used_blocks().map(Blocks::max).max().unwrap_or(0)
    }

    /// The smallest, in bytes.
    pub fn min_block(&self) -> u32 {
        self.used_blocks().map(Blocks::min).min().unwrap_or(1)
    }

    /// The lengths of the kinds of request that it makes.
    pub fn used_blocks(&self) -> impl Iterator<Item = &Blocks> {
        let (makes, blocks) = (self.makes(), &self.blocks);
        let all =
            [(makes.read, &blocks.read), (makes.write, &blocks.write), (makes.trim, &blocks.trim)];
        all.into_iter().filter(|(used, _)| *used).map(|(_, blocks)| blocks)
    }

    /// Whether what it writes is remembered, to be read back.
    pub fn remembers(&self) -> bool {
        let wants = self.verify.as_ref().is_some_and(|v| v.read_back || v.backlog.is_some());
        wants && self.access.kind.writes() && self.engine.kind != EngineKind::Null
    }
}

/// When a job starts, and with which jobs its figures are added up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    /// Which reporting group it belongs to, from 0: a new one begins at every `stonewall` and
    /// `new_group`.
    pub number: u32,
    /// Waits for all jobs before it (`stonewall`, `wait_for_previous`).
    pub stonewall: bool,
    /// Begins a reporting group (`new_group`).
    pub new_group: bool,
    /// Figures of the group's jobs are added up (`group_reporting`).
    pub reporting: bool,
    /// Waits for every clone of the job of this name.
    pub wait_for: Option<String>,
    /// Starts this long after it could; drawn for each clone from the range.
    pub start_delay: FixedRange<Nanos>,
}

/// Which of reads, writes and discards a job makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Only discards.
    Trim,
    /// Reads and writes, mixed by [`Access::read_percent`].
    ReadWrite,
    /// Each block is discarded, then written.
    TrimWrite,
}

impl Kind {
    /// Whether it reads.
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether it writes.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite | Self::TrimWrite)
    }

    /// Whether it discards.
    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::TrimWrite)
    }
}

/// What kind of requests, in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Reads, writes, discards.
    pub kind: Kind,
    /// Offsets are drawn (`rand…`).
    pub random: bool,
    /// Share of reads in a mix, 0 to 100.
    pub read_percent: u8,
    /// Random jobs: this many requests follow each other before the next offset is drawn
    /// (`rw=randread:8`); 1 for each its own.
    pub draw_every: u32,
    /// Sequential jobs: added to the offset after each request (`rw=read:4k`), in bytes; negative
    /// with a size of its own goes backwards through the file.
    pub skip_bytes: i64,
    /// Requests between two draws go to the same offset in place of the next
    /// (`rw_sequencer=identical`).
    pub identical: bool,
    /// Share of offsets that are drawn; the rest follows the one before. 100 in a random job.
    pub percent_random: By<u8>,
}

/// How long requests are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocks {
    /// All the same, in bytes.
    Fixed(u32),
    /// Any multiple of `min` (or any size, when [`Job::unaligned`]) from `min` to `max` bytes.
    Range {
        /// The smallest, in bytes.
        min: u32,
        /// The largest, in bytes.
        max: u32,
    },
    /// These sizes, each with its share.
    Split(Vec<BlockShare>),
}

/// One size of request and how often it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockShare {
    /// Length in bytes.
    pub bytes: u32,
    /// Of 100 requests; shares of one split add up to 100.
    pub percent: u8,
}

impl Blocks {
    /// The smallest request, in bytes.
    pub fn min(&self) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range { min, .. } => *min,
            Self::Split(shares) => shares.iter().map(|s| s.bytes).min().unwrap_or(0),
        }
    }

    /// The largest request, in bytes.
    pub fn max(&self) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range { max, .. } => *max,
            Self::Split(shares) => shares.iter().map(|s| s.bytes).max().unwrap_or(0),
        }
    }
}

/// How much is done, and where in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// All files of one clone together; none takes what is there (a device, an existing file).
    pub size: Option<Amount>,
    /// What one clone transfers in each loop, where that differs from `size`.
    pub io_size: Option<Amount>,
    /// Where in each file it begins.
    pub offset: Amount,
    /// Added to the offset for each clone: clone n begins n of these later.
    pub offset_increment: Amount,
    /// An offset given in percent becomes a multiple of this many bytes; 0 is the smallest block.
    pub offset_align_bytes: u64,
    /// Ends a clone after this many requests; none for no bound.
    pub number_ios: Option<u64>,
    /// How often the work is done over.
    pub loops: u32,
    /// Writes go on until the file system or device is full (`fill_device`).
    pub fill_device: bool,
}

/// How long a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timing {
    /// Ends the job; zero for no bound.
    pub runtime: Nanos,
    /// The work is begun over until `runtime` is through.
    pub time_based: bool,
    /// Runs this long before it is measured; comes before `runtime`.
    pub ramp: Nanos,
    /// Transfers this many bytes before it is measured, with those it is reported with; 0 for none.
    pub ramp_bytes: u64,
}

/// fio's name for the way requests are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// `lseek` and `read` or `write`.
    Sync,
    /// `pread`, `pwrite`: fio's default.
    Psync,
    /// `readv`, `writev`, which joins adjacent requests.
    Vsync,
    /// `preadv`, `pwritev`.
    Pvsync,
    /// `preadv2`, `pwritev2`.
    Pvsync2,
    /// The kernel's old asynchronous interface.
    Libaio,
    /// io_uring.
    IoUring,
    /// NVMe passthrough.
    IoUringCmd,
    /// The C library's threads.
    Posixaio,
    /// Copies to and from a mapping.
    Mmap,
    /// Nothing is transferred.
    Null,
}

impl EngineKind {
    /// Whether it can keep only one request outstanding.
    pub const fn synchronous(self) -> bool {
        matches!(
            self,
            Self::Sync | Self::Psync | Self::Vsync | Self::Pvsync | Self::Pvsync2 | Self::Mmap
        )
    }

    /// fio's word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Psync => "psync",
            Self::Vsync => "vsync",
            Self::Pvsync => "pvsync",
            Self::Pvsync2 => "pvsync2",
            Self::Libaio => "libaio",
            Self::IoUring => "io_uring",
            Self::IoUringCmd => "io_uring_cmd",
            Self::Posixaio => "posixaio",
            Self::Mmap => "mmap",
            Self::Null => "null",
        }
    }
}

/// How requests are handed to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Which interface.
    pub kind: EngineKind,
    /// Requests one clone keeps outstanding; 1 in a synchronous engine, whatever was asked for.
    pub depth: u32,
    /// A request that overlaps one outstanding waits for it.
    pub serialize_overlap: bool,
    /// Another thread submits (`io_submit_mode=offload`).
    pub offload: bool,
    /// Past the page cache (`direct=1` or `buffered=0`).
    pub direct: bool,
    /// What requests ask of the kernel (`atomic`, `uncached`, `hipri`).
    pub flags: Flags,
}

/// How writes are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenSync {
    /// Without a flag.
    #[default]
    None,
    /// `O_SYNC`.
    Sync,
    /// `O_DSYNC`.
    Dsync,
}

impl Durability {
    /// Whether files are synced when the job is done.
    pub const fn syncs_at_end(self) -> bool {
        self.end_fsync || self.fsync_on_close || self.end_syncfs
    }
}

/// What makes writes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Durability {
    /// Each write is durable when it returns.
    pub open: OpenSync,
    /// An `fsync` after this many writes; 0 for none.
    pub fsync_every: u32,
    /// An `fdatasync` after this many writes; 0 for none.
    pub fdatasync_every: u32,
    /// An `fsync` of each file when the job is done.
    pub end_fsync: bool,
    /// An `fsync` at each close.
    pub fsync_on_close: bool,
    /// A `syncfs` of each file system when the job is done.
    pub end_syncfs: bool,
}

/// A share of requests against other jobs of the same flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Jobs with the same number share.
    pub id: u32,
    /// Its part against the other jobs' weights, 1 to 1000.
    pub weight: u32,
    /// Sleeps this long when it is ahead of its share.
    pub sleep: Nanos,
}

/// Which jobs the end of this one ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExitWhat {
    /// Those of its group.
    #[default]
    Group,
    /// Those running now; what comes after the next stonewall is run.
    Stonewall,
    /// All, also those not begun.
    All,
}

/// Whether the end of this job ends others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exit {
    /// Its end ends those in `what`.
    pub all: bool,
    /// Its failure ends those in `what`.
    pub all_on_error: bool,
    /// Which jobs.
    pub what: ExitWhat,
}

/// Requests that come from a recorded trace (`read_iolog`).
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The traces; clone n plays number n modulo their count.
    pub files: Vec<PathBuf>,
    /// As fast as possible, not at the recorded times.
    pub no_stall: bool,
    /// Everything goes to this file or device.
    pub redirect: Option<PathBuf>,
    /// Offsets are divided by this.
    pub scale: u32,
    /// Offsets become multiples of this many bytes; 0 leaves them.
    pub align_bytes: u32,
    /// Recorded time passes at this percentage of its speed: 50 is half as fast.
    pub time_scale_percent: u32,
    /// Kinds of request left out.
    pub skip: By<bool>,
    /// Flushes are left out.
    pub skip_flush: bool,
    /// The kinds of request that `rw` allows, if it is given: a trace with others contradicts it.
    pub kind: Option<Kind>,
    /// Only the last part of recorded names counts: everything is in another folder.
    pub base_names: bool,
}
