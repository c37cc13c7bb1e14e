//! Why a trace cannot be played as was asked.

use seekwell_sys::classify;
use seekwell_trace::replay::FitError;
use std::path::PathBuf;

/// What stands in the way, and the way around it.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ReplayError {
    #[error("{} holds no request that can be played", path.display())]
    Empty { path: PathBuf },
    #[error(
        "the trace holds no reads, and {} is only read: name it with --destroy SERIAL, or give a \
         directory and a temporary file is written to", path.display()
    )]
    NoReads { path: PathBuf },
    #[error(
        "the trace has {} devices ({}): replay one with --device NAME, or several with --map \
         NAME=TARGET for each", names.len(), shown(names)
    )]
    SeveralDevices { names: Vec<String> },
    #[error("the trace has no device {name:?}; it has {}", shown(names))]
    NoSuchDevice { name: String, names: Vec<String> },
    #[error("{name} is given two targets")]
    MappedTwice { name: String },
    /// `--destroy` does not say which target it is for.
    #[error(
        "{given} --destroy for {targets} targets: give it once for each, in their order; `none` \
         for one that is not to be written to"
    )]
    Destroy { given: usize, targets: usize },
    /// The trace does not say when requests came.
    #[error("{why}, so they cannot be issued at their times: use --mode depth --depth N")]
    NoTimes { why: String },
    #[error(
        "the trace does not tell when requests were done, so {what} is not known: use {instead}"
    )]
    NoCompletions { what: &'static str, instead: &'static str },
    #[error("{}: {source}{}", path.display(), fitting(source))]
    Fit { source: FitError, path: PathBuf },
}

classify!(ReplayError {
    Usage: Empty, SeveralDevices, NoSuchDevice, MappedTwice, Destroy, NoTimes, NoCompletions, Fit;
    Refused: NoReads;
});

/// At most a dozen names, without what a terminal would act on.
fn shown(names: &[String]) -> String {
    let first = names.iter().take(12).map(|name| name.escape_debug().to_string());
    let mut out = first.collect::<Vec<_>>().join(", ");
    if names.len() > 12 {
        out += ", …";
    }
    out
}

const fn fitting(error: &FitError) -> &'static str {
    match error {
        FitError::TooLarge { .. } => {
            "; --fit modulo wraps addresses around, --fit scale shrinks them evenly"
        }
        FitError::Tiny { .. } => "",
    }
}
