//! What can be wrong with a trace.

use seekwell_access::OutputError;
use seekwell_sys::thread::NoThread;
use seekwell_sys::{Class, classify};
use std::fmt;
use std::path::PathBuf;

/// Where in an input something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// A line, counted from 1.
    Line(u64),
    /// A byte, counted from 0.
    Byte(u64),
    /// A record, counted from 0.
    Record(u64),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(n) => write!(f, "line {n}"),
            Self::Byte(n) => write!(f, "byte {n}"),
            Self::Record(n) => write!(f, "record {n}"),
        }
    }
}

/// A trace that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TraceError {
    /// The file could not be opened, read or written.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// `reading`, `writing`, …
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{format}, {at}: expected {wrong}{}", shown(found))]
    Malformed {
        format: &'static str,
        at: At,
        wrong: &'static str,
        /// The text or value there, cut short; empty if it says nothing.
        found: String,
    },
    /// A file is not as it was written: a checksum does not fit.
    #[error(
        "{}: {what} was damaged after it was written: the checksum does not fit",
        path.display()
    )]
    Damaged { path: PathBuf, what: String },
    #[error("{format}, {at}: the input ends in the middle of {what}")]
    Truncated { format: &'static str, at: At, what: &'static str },
    #[error(
        "{}: not a trace in any known format; name one with --from ({known})",
        path.display()
    )]
    Unrecognised { path: PathBuf, known: String },
    /// A format that is more than one file, or is not read from its start.
    #[error(
        "{}: a trace in the format {format} cannot be read from inside an archive; unpack it first",
        path.display()
    )]
    Packed { path: PathBuf, format: &'static str },
    #[error(
        "{path} is an archive of several files; name one as if it were a folder: {path}/{first}\
         {others}",
        path = path.display(),
        first = names.first().map_or("FILE", String::as_str),
        others = names.get(1..).filter(|more| !more.is_empty()).map_or_else(
            String::new,
            |more| format!(" (beside it: {})", more.join(", ")),
        )
    )]
    Archive {
        path: PathBuf,
        /// Its first files.
        names: Vec<String>,
    },
    #[error(
        "{format}: there is no column {name:?} for the {field} of a request, only {found}; say \
         which it is with --columns {field}=NAME"
    )]
    NoColumn { format: &'static str, field: &'static str, name: String, found: String },
    #[error("{format} says itself what its {what}: leave {option} out")]
    Known {
        format: &'static str,
        /// `times are in`, `columns hold`.
        what: &'static str,
        option: &'static str,
    },
    /// The output cannot say something that the trace contains.
    #[error("{format} cannot keep {what}")]
    Inexpressible { format: &'static str, what: String },
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The trace is read more than once, and this can be read once.
    #[error(
        "{}: a pipe or device can be read once only; write the trace to a file first",
        path.display()
    )]
    Pipe { path: PathBuf },
    #[error(
        "there are more than {most} devices, and a file for each would be open at once: put \
         several into one with --parts {most}"
    )]
    TooManyFiles { most: usize },
    /// Traces whose times do not count from the same moment.
    #[error(
        "{}: its times count from another moment than those of the first trace",
        path.display()
    )]
    OtherClock { path: PathBuf },
    /// Reading was given up because the caller's stop flag was raised.
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    NoThread(#[from] NoThread),
    #[error(transparent)]
    Capture(#[from] crate::capture::error::CaptureError),
}

classify!(TraceError {
    Usage: Pipe, Malformed, Damaged, NoColumn, Known, TooManyFiles, OtherClock, Truncated,
        Unrecognised, Archive, Packed, Inexpressible;
    Refused: Output, NoThread;
    Interrupted: Interrupted;
    | Self::Io { source, .. } => Class::of_file(source),
    | Self::Capture(error) => error.class(),
});

fn shown(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(", found {text:?}") }
}
