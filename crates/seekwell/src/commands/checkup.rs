//! `seekwell checkup`: inspect, measure, explain, keep and show.

use super::{begin_asked, show};
use crate::Ended;
use crate::cli::Checkup;
use crate::context::Context;
use crate::session::{RunOptions, begin_command};
use seekwell_checkup::Level;
use seekwell_run::checkup::{CheckupOptions, checkup, disks, several};
use seekwell_runs::RunKind;
use std::path::Path;

pub fn run(args: &Checkup, context: &Context) -> Ended {
    let level = match (args.quick, args.thorough) {
        (true, _) => Level::Quick,
        (_, true) => Level::Thorough,
        _ => Level::Normal,
    };
    let options = CheckupOptions {
        level,
        size_bytes: args.size,
        destroy: args.destroy.consent(),
        set: &args.set,
        seed: args.seed,
    };
    let kept = RunOptions { kind: RunKind::Checkup, keep: &args.keep, engine: args.engine };
    let page = begin_asked(args.output.as_deref(), args.replace, context)?;
    let mut targets = args.targets.clone();
    if args.all {
        let found = disks(&context.host().drives())?;
        found.left_out.iter().for_each(|why| context.note(why));
        targets = found.nodes;
    }
    let (line, purpose) = begin_command(context, kept)?;
    let host = context.host();
    let (finished, measured) = match &targets[..] {
        [] => checkup(host, line, purpose, Path::new("."), &options)?,
        [target] => checkup(host, line, purpose, target, &options)?,
        targets => several(host, line, purpose, targets, &options)?,
    };
    let (document, detail, ending) = finished;
    let exit = show(context, &(document, detail, ending.into()), page)?;
    measured?;
    Ok(exit)
}
