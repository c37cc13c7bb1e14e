//! A run of the command line: signals, a line of progress, and where it is kept.

use crate::cli::Keep;
use crate::context::Context;
use crate::exit::CommandError;
use crate::progress::Line;
use crate::signals;
use seekwell_io::target::{Engine, TargetError};
use seekwell_run::{Keeping, Purpose};
use seekwell_runs::{RunKind, Tool};
use std::sync::Arc;

/// What a command wants a run for.
pub struct RunOptions<'a> {
    pub kind: RunKind,
    pub keep: &'a Keep,
    /// How requests are issued.
    pub engine: Engine,
}

/// What a library function needs that begins the run itself; signals are heeded from here on.
///
/// # Errors
/// When signals cannot be watched, or there is no place to keep runs.
pub fn begin_command(
    context: &Context,
    options: RunOptions<'_>,
) -> Result<(Line, Purpose), CommandError> {
    let line = Line::new(context.progress, Arc::clone(&context.control));
    begin_command_with(line, context, options)
}

/// The same with a line that is shown otherwise.
///
/// # Errors
/// As for [`begin_command`].
pub fn begin_command_with(
    line: Line,
    context: &Context,
    options: RunOptions<'_>,
) -> Result<(Line, Purpose), CommandError> {
    heed_signals(context)?;
    Ok((line, purpose(context, options)?))
}

/// What a run is for.
///
/// # Errors
/// When there is no place for it, or none it can be sent to.
pub fn purpose(context: &Context, options: RunOptions<'_>) -> Result<Purpose, CommandError> {
    let keep = options.keep;
    let store = (!keep.no_keep).then(|| context.outbox(&keep.push)).transpose()?;
    let kept = store.map_or(Keeping::No, Keeping::New);
    Ok(Purpose {
        kind: options.kind,
        label: keep.label.clone(),
        keep: kept,
        engine: options.engine,
        tool: tool(),
    })
}

/// From here on a signal asks the command to stop.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn heed_signals(context: &Context) -> Result<(), CommandError> {
    let watched = signals::watch(Arc::clone(&context.control));
    Ok(watched.map_err(|e| TargetError::Setup {
        what: "installing signal handlers",
        errno: e.raw_os_error().unwrap_or(0),
    })?)
}

/// This program, as documents name it.
pub fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").into(),
        git_commit: option_env!("SEEKWELL_GIT_COMMIT").map(str::to_owned),
    }
}
