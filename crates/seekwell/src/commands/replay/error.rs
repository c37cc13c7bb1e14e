//! Why a trace cannot be played as was asked.

use seekwell_report::units::capacity;
use seekwell_sys::classify;
use seekwell_trace::replay::FitError;
use std::path::PathBuf;

/// What stands in the way, and the way around it.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Nothing can be played.
    #[error("{} holds no request that can be played", path.display())]
    Empty {
        /// The trace.
        path: PathBuf,
    },
    /// Reads alone may be played, and there are none.
    #[error(
        "the trace holds no reads, and {} is only read: name it with --destroy SERIAL, or give a \
         directory and a temporary file is written to", path.display()
    )]
    NoReads {
        /// The target.
        path: PathBuf,
    },
    /// Several recorded devices and one target.
    #[error(
        "the trace is of {} devices ({}): play one with --device NAME, or each on a target of its \
         own with --map NAME=TARGET for each", names.len(), shown(names)
    )]
    SeveralDevices {
        /// Those with requests.
        names: Vec<String>,
    },
    /// No such recorded device.
    #[error("no device of the trace is called {name:?}; there are {}", shown(names))]
    NoSuchDevice {
        /// As it was typed.
        name: String,
        /// Those with requests.
        names: Vec<String>,
    },
    /// A recorded device was given two targets.
    #[error("{name} is given two targets")]
    MappedTwice {
        /// The recorded device.
        name: String,
    },
    /// `--destroy` does not say which target it is for.
    #[error(
        "{given} --destroy for {targets} targets: give it once for each, in their order; `none` \
         for one that is not to be written to"
    )]
    Destroy {
        /// How many were given.
        given: usize,
        /// How many targets there are.
        targets: usize,
    },
    /// The trace does not tell when requests came.
    #[error("{why}, so they cannot be issued at their times: use --mode depth --depth N")]
    NoTimes {
        /// What it lacks.
        why: String,
    },
    /// The trace does not tell when requests were done.
    #[error(
        "the trace does not tell when requests were done, so {what} is not known: use {instead}"
    )]
    NoCompletions {
        /// What follows from completions.
        what: &'static str,
        /// What works.
        instead: &'static str,
    },
    /// It does not fit on the target.
    #[error("{}", too_large(.source, path))]
    Fit {
        /// Both sizes.
        source: FitError,
        /// The target.
        path: PathBuf,
    },
}

classify!(ReplayError {
    Usage: Empty, SeveralDevices, NoSuchDevice, MappedTwice, Destroy, NoTimes, NoCompletions, Fit;
    Refused: NoReads;
});

/// At most a dozen names.
fn shown(names: &[String]) -> String {
    let mut out = names.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 12 {
        out += ", …";
    }
    seekwell_report::clean(&out)
}

fn too_large(error: &FitError, path: &std::path::Path) -> String {
    let path = path.display();
    match error {
        FitError::TooLarge { trace_bytes, target_bytes } => format!(
            "the trace reaches to byte {trace_bytes} ({}), {path} holds {target_bytes} ({}): --fit \
             modulo wraps addresses around, --fit scale shrinks them evenly",
            capacity(*trace_bytes),
            capacity(*target_bytes)
        ),
        FitError::Tiny { .. } => format!("{path}: {error}"),
    }
}
