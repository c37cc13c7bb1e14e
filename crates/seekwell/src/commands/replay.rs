//! `seekwell replay`: recorded requests on another disk, and how faithfully they were played.

use super::show;
use crate::Ended;
use crate::cli::replay::Replay;
use crate::context::Context;
use crate::exit::Exit;
use crate::session::{RunOptions, begin_command};
use seekwell_run::replay::{ReplayOptions, Targets, replay};
use seekwell_runs::RunKind;

pub fn run(args: &Replay, context: &Context) -> Ended {
    let options = RunOptions { kind: RunKind::Replay, keep: &args.keep, engine: args.engine };
    let (line, purpose) = begin_command(context, options)?;
    match replay(context.host(), line, purpose, &asked(args))? {
        Some((document, detail, ending)) => show(context, &(document, detail, ending.into()), None),
        None => Ok(Exit::Interrupted),
    }
}

fn asked(args: &Replay) -> ReplayOptions {
    ReplayOptions {
        trace: args.trace.clone(),
        reading: args.reading.how(),
        targets: match &args.on {
            Some(on) => Targets::One { on: on.clone(), device: args.device.clone() },
            None => Targets::Mapped(args.map.clone()),
        },
        mode: args.mode,
        speed: args.speed,
        depth: args.depth,
        fit: args.fit,
        moment: args.times,
        late: args.late,
        size_bytes: args.size,
        repeats: args.repeats,
        tags: args.tags.map(|tags| (args.tag_policy, tags)),
        destroy: args.destroy.clone(),
        accept_data: args.accept_data.clone(),
        set: args.set.clone(),
    }
}
