//! Why jobs cannot be run, in sentences; all of it is known before the first byte is written.

use seekwell_access::OutputError;
use seekwell_jobs::JobError;
use seekwell_jobs::job::Origin;
use seekwell_jobs::layout::LayoutError;
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
    /// A job would write to a file of the user's.
    #[error(
        "job `{job}` writes to {}, which is there already: a file of yours is only ever read; let \
         the job name a file that does not exist (a temporary one is made and removed), or give a \
         directory with --on", path.display()
    )]
    WouldOverwrite {
        /// The job.
        job: String,
        /// The file.
        path: PathBuf,
    },
    /// A job would write to a device that was not given to be destroyed.
    #[error(
        "job `{job}` writes to {}, a device: all data on it would be lost; if that is meant, name \
         it with --destroy SERIAL, or give a directory with --on and a temporary file is measured",
        path.display()
    )]
    WouldDestroy {
        /// The job.
        job: String,
        /// The device.
        path: PathBuf,
    },
    /// `--destroy` was given and no job writes to a device.
    #[error("--destroy is given, and no job writes to a block device")]
    NothingToDestroy,
    /// Requests past the page cache have to be whole blocks.
    #[error(
        "job `{job}`: with direct=1, {what} has to be a multiple of {block} bytes on {}; it is \
         {found}", path.display()
    )]
    Unaligned {
        /// The job.
        job: String,
        /// The file or device.
        path: PathBuf,
        /// Which of its values.
        what: &'static str,
        /// The value, in bytes.
        found: u64,
        /// What a block is, in bytes.
        block: u32,
    },
    /// What was laid out is smaller by now.
    #[error(
        "{} has {now} bytes by now, and the jobs use {end}: run them again when nobody else changes \
         it", path.display()
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
    /// Remembering what was written takes too much memory.
    #[error(
        "job `{job}`: verifying {bytes} bytes in blocks of {unit} takes {needed} bytes of memory, \
         and {limit} are allowed: use larger blocks, a smaller size, or verify_backlog with \
         do_verify=0"
    )]
    TooMuchToRemember {
        /// The job.
        job: String,
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
        "job `{job}`: {what} is {found} bytes; a header of {header} bytes has to fit in, and \
         requests have to be multiples of verify_interval"
    )]
    Interval {
        /// The job.
        job: String,
        /// `verify_interval` or `bs`.
        what: &'static str,
        /// Its value.
        found: u32,
        /// What a header takes.
        header: usize,
    },
    /// A pattern is to be verified and none is given.
    #[error("job `{job}`: verify=pattern needs verify_pattern")]
    NoPattern {
        /// The job.
        job: String,
    },
    /// A trace cannot be read.
    #[error("{at}: job `{job}`: read_iolog: {source}")]
    Trace {
        /// Where the job begins.
        at: Origin,
        /// The job.
        job: String,
        /// What is wrong.
        source: Box<TraceError>,
    },
    /// A trace without reads and writes.
    #[error(
        "{at}: job `{job}`: read_iolog={} holds no request that would be played", path.display()
    )]
    EmptyTrace {
        /// Where the job begins.
        at: Origin,
        /// The job.
        job: String,
        /// The trace.
        path: PathBuf,
    },
    /// A recorded device whose name is no path.
    #[error(
        "{at}: job `{job}`: read_iolog: the trace calls its device {name:?}, which is no path: say \
         where it is played with replay_redirect or --on"
    )]
    NoPlaceForTrace {
        /// Where the job begins.
        at: Origin,
        /// The job.
        job: String,
        /// The name.
        name: String,
    },
    /// `rw` does not allow what the trace does.
    #[error(
        "{at}: job `{job}`: rw={rw} and a read_iolog that does more: leave rw out, or give \
         replay_skip={word}"
    )]
    AgainstTrace {
        /// Where the job begins.
        at: Origin,
        /// The job.
        job: String,
        /// As it was given.
        rw: String,
        /// What the trace does, as `replay_skip` calls it.
        word: &'static str,
    },
    /// An option that says what a trace says already.
    #[error("{at}: job `{job}`: {option} does not go with read_iolog, which says every request")]
    WithTrace {
        /// Where the job begins.
        at: Origin,
        /// The job.
        job: String,
        /// The option.
        option: &'static str,
    },
    /// Something is asked for that jobs here do not do.
    #[error("job `{job}`: {what}")]
    NotHere {
        /// The job.
        job: String,
        /// What, and what to do instead.
        what: &'static str,
    },
    /// A job waits for one that never comes before it.
    #[error("job `{job}` waits for `{name}`, and no job of that name comes before it")]
    NobodyToWaitFor {
        /// The job.
        job: String,
        /// What `wait_for` names.
        name: String,
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
    /// A job needs more than an offset can tell.
    #[error("job `{job}`: {files} files of up to {bytes} bytes are more than can be addressed")]
    TooFar {
        /// The job.
        job: String,
        /// Files of one clone.
        files: usize,
        /// The largest end.
        bytes: u64,
    },
}

impl From<JobError> for JobRunError {
    fn from(error: JobError) -> Self {
        Self::File(Box::new(error))
    }
}

classify!(JobRunError {
    Usage: NothingToDestroy, Unaligned, Interval, NoPattern, EmptyTrace, NoPlaceForTrace,
        AgainstTrace, WithTrace, NotHere, NobodyToWaitFor, TooFar;
    Refused: WouldOverwrite, WouldDestroy, Shrunk, TooManyFiles, Folder, TooMuchToRemember;
    | Self::File(error) => error.class(),
    | Self::Layout(error) => error.class(),
    | Self::Log(error) => error.class(),
    | Self::Trace { source, .. } => source.class(),
});
