//! Why jobs cannot be run, in sentences; all of it is known before the first byte is written.

use seekwell_access::{OutputError, ZonesError};
use seekwell_job::JobError;
use seekwell_job::job::{Job, Origin};
use seekwell_job::layout::LayoutError;
use seekwell_sys::classify;
use seekwell_trace::error::TraceError;
use std::io;
use std::path::PathBuf;

/// Jobs that cannot be run as they are.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum JobRunError {
    #[error(transparent)]
    File(#[from] Box<JobError>),
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error("job `{job}`: {why}")]
    Job { job: String, why: Fault },
    #[error("{at}: job `{job}`: {why}")]
    Trace { at: Origin, job: String, why: TraceFault },
    /// `--destroy` was given and no job writes to a device.
    #[error("--destroy is given, and no job writes to a block device")]
    NothingToDestroy,
    #[error(
        "{} has {now} bytes by now, and the jobs use {end}: run them again when nobody else \
         changes it", path.display()
    )]
    Shrunk { path: PathBuf, end: u64, now: u64 },
    #[error(
        "{needed} files would be open at once, and this process may have {limit}: raise it with \
         `ulimit -n {needed}` or use fewer files (nrfiles)"
    )]
    TooManyFiles { needed: u64, limit: u64 },
    #[error(transparent)]
    Log(#[from] OutputError),
    #[error("cannot make the folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
}

/// Why a job cannot be run.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Fault {
    #[error(
        "{} would be overwritten, and a file of yours is only ever read: name a file that does not \
         exist (a temporary one is made and removed), or give a directory with --on",
        path.display()
    )]
    WouldOverwrite { path: PathBuf },
    /// It would write to a device that was not given to be destroyed.
    #[error(
        "all data on {} would be lost, for the job writes to that device: if that is meant, name \
         it with --destroy SERIAL, or give a directory with --on and a temporary file is measured",
        path.display()
    )]
    WouldDestroy { path: PathBuf },
    /// Requests past the page cache have to be whole blocks.
    #[error(
        "with direct=1, {what} has to be a multiple of {block} bytes on {}; it is {found}",
        path.display()
    )]
    Unaligned {
        path: PathBuf,
        what: &'static str,
        /// The value, in bytes.
        found: u64,
        /// What a block is, in bytes.
        block: u32,
    },
    /// The kernel reports no atomic writes of it, or requests do not go past the page cache.
    #[error(
        "atomic=1, and the kernel reports no atomic writes of {}: use a device whose \
         queue/atomic_write_unit_max_bytes is above 0, or a file system that has them (XFS, ext4)",
        path.display()
    )]
    NoAtomicWrites { path: PathBuf },
    #[error(
        "with atomic=1, writes to {} have to be of one size, a power of two from {least} to {most} \
         bytes, each at a multiple of it: bs is {found}, or offset or blockalign is no \
         such multiple",
        path.display()
    )]
    NotAtomic {
        path: PathBuf,
        found: u32,
        /// The shortest, in bytes.
        least: u32,
        /// The longest, in bytes.
        most: u32,
    },
    #[error(
        "zonemode=zbd needs a zoned device, and {} has no zones; leave zonemode out, or choose a \
         device whose queue/zoned is host-managed or host-aware", path.display()
    )]
    NotZoned { path: PathBuf },
    #[error("the zones of {} cannot be read: {source}", path.display())]
    Zones { path: PathBuf, source: ZonesError },
    #[error(
        "the job's part of {} contains no whole zone; zones have {zone} bytes, and offset and size \
         must be multiples of that", path.display()
    )]
    NoWholeZone {
        path: PathBuf,
        /// Length of a zone, in bytes.
        zone: u64,
    },
    #[error(
        "zonesize is {given}, but the zones of {} have {zone} bytes; leave zonesize out",
        path.display()
    )]
    ZoneSize { path: PathBuf, given: u64, zone: u64 },
    #[error(
        "bs is {found}, but a zone of {} holds only {capacity} bytes; choose a smaller bs",
        path.display()
    )]
    BeyondZone { path: PathBuf, found: u32, capacity: u64 },
    #[error(
        "verifying {bytes} bytes in blocks of {unit} takes {needed} bytes of memory, and {limit} \
         are allowed: use larger blocks, a smaller size, or verify_backlog with do_verify=0"
    )]
    TooMuchToRemember {
        bytes: u64,
        /// Bytes of a unit.
        unit: u64,
        needed: u64,
        limit: u64,
    },
    #[error(
        "{what} is {found} bytes; a header of {header} bytes has to fit in, and requests have to \
         be multiples of verify_interval"
    )]
    Interval {
        /// `verify_interval` or `bs`.
        what: &'static str,
        found: u32,
        header: usize,
    },
    /// It asks for something that jobs here do not do: what, and what to do instead.
    #[error("{0}")]
    NotHere(&'static str),
    #[error("it waits for `{0}`, and no job of that name comes before it")]
    NobodyToWaitFor(String),
    #[error("{files} files of up to {bytes} bytes are more than can be addressed")]
    TooFar { files: usize, bytes: u64 },
}

/// Why a job cannot play its trace.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TraceFault {
    #[error("read_iolog: {0}")]
    Unreadable(Box<TraceError>),
    #[error("read_iolog={} holds no request that would be played", .0.display())]
    Empty(PathBuf),
    #[error(
        "read_iolog: the trace calls its device {0:?}, which is no path: say where it is played \
         with replay_redirect or --on"
    )]
    NoPlace(String),
    /// `rw` does not allow what the trace does.
    #[error("rw={rw} and a read_iolog that does more: leave rw out, or give replay_skip={word}")]
    Against {
        rw: String,
        /// What the trace does, as `replay_skip` calls it.
        word: &'static str,
    },
    #[error("{0} does not go with read_iolog, which says every request")]
    Option(&'static str),
}

impl From<JobError> for JobRunError {
    fn from(error: JobError) -> Self {
        Self::File(Box::new(error))
    }
}

impl Fault {
    /// The error of a job.
    pub fn of(self, job: &Job) -> JobRunError {
        JobRunError::Job { job: job.name.clone(), why: self }
    }
}

impl TraceFault {
    /// The error of a job.
    pub fn of(self, job: &Job) -> JobRunError {
        JobRunError::Trace { at: job.origin.clone(), job: job.name.clone(), why: self }
    }
}

classify!(JobRunError {
    Usage: NothingToDestroy;
    Refused: Shrunk, TooManyFiles, Folder;
    | Self::File(error) => error.class(),
    | Self::Layout(error) => error.class(),
    | Self::Log(error) => error.class(),
    | Self::Job { why, .. } => why.class(),
    | Self::Trace { why, .. } => why.class(),
});

classify!(Fault {
    Usage: Unaligned, NotAtomic, Interval, NotHere, NobodyToWaitFor, TooFar, NoWholeZone, ZoneSize,
        BeyondZone;
    Refused: NoAtomicWrites, WouldOverwrite, WouldDestroy, TooMuchToRemember, NotZoned, Zones;
});

classify!(TraceFault {
    Usage: Empty, NoPlace, Against, Option;
    | Self::Unreadable(error) => error.class(),
});
