//! `seekwell checkup`: inspect, measure, explain, keep and show.

use super::{begin_asked, show};
use crate::Ended;
use crate::cli::Checkup;
use crate::context::Context;
use crate::session::{RunOptions, begin_command};
use seekwell_checkup::Level;
use seekwell_run::checkup::{CheckupOptions, checkup};
use seekwell_runs::RunKind;

pub fn run(args: &Checkup, context: &Context) -> Ended {
    let level = match (args.quick, args.thorough) {
        (true, _) => Level::Quick,
        (_, true) => Level::Thorough,
        _ => Level::Normal,
    };
    let options = CheckupOptions {
        target: &args.target,
        level,
        size_bytes: args.size,
        destroy: args.destroy.consent(),
        set: &args.set,
        seed: args.seed,
    };
    let kept = RunOptions { kind: RunKind::Checkup, keep: &args.keep, engine: args.engine };
    let page = begin_asked(args.output.as_deref(), args.replace, context)?;
    let (line, purpose) = begin_command(context, kept)?;
    let ((document, detail, ending), measured) = checkup(context.host(), line, purpose, &options)?;
    let exit = show(context, &(document, detail, ending.into()), page)?;
    measured?;
    Ok(exit)
}
