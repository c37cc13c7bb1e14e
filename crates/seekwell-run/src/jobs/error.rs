//! Why jobs cannot be run, in sentences; all of it is known before the first byte is written.

use seekwell_access::OutputError;
use seekwell_job::JobError;
use seekwell_job::job::{Job, Origin};
use seekwell_job::layout::LayoutError;
use seekwell_sys::classify;
use seekwell_trace::error::TraceError;
use std::io;
use std::path::PathBuf;

/// Jobs that cannot be run as they are.
#[derive(Debug, thiserror::Error)]
pub enum JobRunError {
    /// The job file asks for what cannot be.
    #[error(transparent)]
    File(#[from] Box<JobError>),
    /// The files of jobs cannot be laid out.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A job cannot be run.
    #[error("job `{job}`: {why}")]
    Job {
        /// Its name.
        job: String,
        /// Why.
        why: Fault,
    },
    /// A job cannot play its trace.
    #[error("{at}: job `{job}`: {why}")]
    Trace {
        /// Where the job begins.
        at: Origin,
        /// Its name.
        job: String,
        /// Why.
        why: TraceFault,
    },
    /// `--destroy` was given and no job writes to a device.
    #[error("--destroy is given, and no job writes to a block device")]
    NothingToDestroy,
    /// What was laid out is smaller by now.
    #[error(
        "{} has {now} bytes by now, and the jobs use {end}: run them again when nobody else \
         changes it", path.display()
    )]
    Shrunk {
        /// The file or device.
        path: PathBuf,
        /// Where the jobs end in it.
        end: u64,
        /// What there is.
        now: u64,
    },
    /// More files than this process may have open.
    #[error(
        "{needed} files would be open at once, and this process may have {limit}: raise it with \
         `ulimit -n {needed}` or use fewer files (nrfiles)"
    )]
    TooManyFiles {
        /// How many.
        needed: u64,
        /// How many may be.
        limit: u64,
    },
    /// A log file cannot be written.
    #[error(transparent)]
    Log(#[from] OutputError),
    /// The folder of a log cannot be made.
    #[error("cannot make the folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Why a job cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It would write to a file of the user's.
    #[error(
        "{} would be overwritten, and a file of yours is only ever read: name a file that does not \
         exist (a temporary one is made and removed), or give a directory with --on",
        path.display()
    )]
    WouldOverwrite {
        /// The file.
        path: PathBuf,
    },
    /// It would write to a device that was not given to be destroyed.
    #[error(
        "all data on {} would be lost, for the job writes to that device: if that is meant, name \
         it with --destroy SERIAL, or give a directory with --on and a temporary file is measured",
        path.display()
    )]
    WouldDestroy {
        /// The device.
        path: PathBuf,
    },
    /// Requests past the page cache have to be whole blocks.
    #[error(
        "with direct=1, {what} has to be a multiple of {block} bytes on {}; it is {found}",
        path.display()
    )]
    Unaligned {
        /// The file or device.
        path: PathBuf,
        /// Which of its values.
        what: &'static str,
        /// The value, in bytes.
        found: u64,
        /// What a block is, in bytes.
        block: u32,
    },
    /// Remembering what was written takes too much memory.
    #[error(
        "verifying {bytes} bytes in blocks of {unit} takes {needed} bytes of memory, and {limit} \
         are allowed: use larger blocks, a smaller size, or verify_backlog with do_verify=0"
    )]
    TooMuchToRemember {
        /// What it writes.
        bytes: u64,
        /// In units of so many bytes.
        unit: u64,
        /// What that needs.
        needed: u64,
        /// What is allowed.
        limit: u64,
    },
    /// The headers of verified blocks do not fit.
    #[error(
        "{what} is {found} bytes; a header of {header} bytes has to fit in, and requests have to \
         be multiples of verify_interval"
    )]
    Interval {
        /// `verify_interval` or `bs`.
        what: &'static str,
        /// Its value.
        found: u32,
        /// What a header takes.
        header: usize,
    },
    /// It asks for something that jobs here do not do: what, and what to do instead.
    #[error("{0}")]
    NotHere(&'static str),
    /// It waits for a job that does not come before it.
    #[error("it waits for `{0}`, and no job of that name comes before it")]
    NobodyToWaitFor(String),
    /// It needs more than an offset can tell.
    #[error("{files} files of up to {bytes} bytes are more than can be addressed")]
    TooFar {
        /// Files of one clone.
        files: usize,
        /// The largest end.
        bytes: u64,
    },
}

/// Why a job cannot play its trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceFault {
    /// It cannot be read.
    #[error("read_iolog: {0}")]
    Unreadable(Box<TraceError>),
    /// It has no reads and writes.
    #[error("read_iolog={} holds no request that would be played", .0.display())]
    Empty(PathBuf),
    /// The name of a recorded device is no path.
    #[error(
        "read_iolog: the trace calls its device {0:?}, which is no path: say where it is played \
         with replay_redirect or --on"
    )]
    NoPlace(String),
    /// `rw` does not allow what the trace does.
    #[error("rw={rw} and a read_iolog that does more: leave rw out, or give replay_skip={word}")]
    Against {
        /// As it was given.
        rw: String,
        /// What the trace does, as `replay_skip` calls it.
        word: &'static str,
    },
    /// An option says what the trace says already.
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
    Usage: Unaligned, Interval, NotHere, NobodyToWaitFor, TooFar;
    Refused: WouldOverwrite, WouldDestroy, TooMuchToRemember;
});

classify!(TraceFault {
    Usage: Empty, NoPlace, Against, Option;
    | Self::Unreadable(error) => error.class(),
});
