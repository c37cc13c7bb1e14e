//! `seekwell checkup`: inspect, measure, explain, keep and show.

use super::{begin_asked, show};
use crate::Ended;
use crate::cli::Checkup;
use crate::context::Context;
use crate::session::{self, RunOptions};
use seekwell_checkup::{Level, Plan, PlanInputs, PlanMedium};
use seekwell_run::{RunError, Wanted, look, prepare};
use seekwell_runs::RunKind;

pub fn run(args: &Checkup, context: &Context) -> Ended {
    let level = match (args.quick, args.thorough) {
        (true, _) => Level::Quick,
        (_, true) => Level::Thorough,
        _ => Level::Normal,
    };
    let inspection = look(&context.view, &args.target)?;
    let options = RunOptions {
        kind: RunKind::Checkup,
        label: args.label.as_deref(),
        keep: !args.no_keep,
        engine: args.engine,
    };
    let page = begin_asked(args.output.as_deref(), args.replace, context)?;
    let mut session = session::begin(context, options, inspection.clone())?;
    let default_bytes = level.wanted_region_bytes();
    let wanted = Wanted {
        set: &args.set,
        inspection: &inspection,
        offset_bytes: 0,
        size_bytes: args.size,
        default_bytes,
        destroy: args.destroy.consent(),
        writes: false,
    };
    let ready = match prepare(&wanted, context.host(), &session.line) {
        Err(RunError::Access(error)) if error.is_no_place() => {
            // What there is to be said of the disk is said all the same.
            let inputs = PlanInputs {
                medium: PlanMedium::Scratch,
                region_bytes: default_bytes,
                logical_block_bytes: 512,
                direct: true,
                seed: args.seed,
            };
            session.unmeasured(&Plan::new(level, inputs), &error.to_string());
            show(context, &session::end(session), page)?;
            return Err(RunError::Access(error).into());
        }
        ready => ready?,
    };
    let plan = Plan::new(level, PlanInputs { seed: args.seed, ..ready.inputs });
    session.measure(&plan, ready, None, Some(args.size.unwrap_or(default_bytes)));
    show(context, &session::end(session), page)
}
