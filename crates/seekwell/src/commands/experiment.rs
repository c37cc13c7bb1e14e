//! `seekwell experiment`: two arms, interleaved runs, one verdict.

use super::{begin_asked, write_page};
use crate::Ended;
use crate::cli::experiment::{Experiment, ExperimentCommand, Letter};
use crate::cli::tune::RiskClass;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::session::{heed_signals, tool};
use seekwell_access::OutputFile;
use seekwell_experiment::{
    ArmError, ArmSpec, Decision, Design, Document, ExperimentStore, Shape, Status, check_metric,
    default_metric, text,
};
use seekwell_run::{experiment, is_modelled};
use seekwell_stats::Arm;
use seekwell_sys::path_text;
use std::path::Path;
use std::sync::Arc;

pub fn run(args: &Experiment, context: &Context) -> Ended {
    let (page, replace) = match &args.command {
        Some(ExperimentCommand::Resume { output, replace, .. }) => (output.as_deref(), *replace),
        None => (args.output.as_deref(), args.replace),
    };
    let page = begin_asked(page, replace, context)?;
    let place = ExperimentStore::beside(context.store()?.dir());
    let line = Line::new(context.progress, Arc::clone(&context.control));
    let document = match &args.command {
        Some(ExperimentCommand::Resume { experiment: name, .. }) => {
            heed_signals(context)?;
            experiment::resume(context.host(), &line, name.as_deref(), &place)?
        }
        None => {
            let document = asked(args)?;
            heed_signals(context)?;
            let mode = if args.now_in == Letter::A { Arm::A } else { Arm::B };
            let accepted = args.destroy.accept_data.as_slice();
            experiment::experiment(context.host(), &line, document, accepted, mode, &place)?
        }
    };
    line.clear();
    if document.status == Status::Interrupted && context.json {
        context.note(&text::unfinished(&document));
    }
    show(context, page, &document)
}

fn asked(args: &Experiment) -> Result<Document, CommandError> {
    let target = match args.on.as_deref().unwrap_or(Path::new("")) {
        on if on == Path::new("null") || is_modelled(on) && !on.exists() => path_text(on),
        // Kept absolute: an experiment may be resumed from another directory.
        on => path_text(&std::path::absolute(on).unwrap_or_else(|_| on.to_path_buf())),
    };
    let (a, b) = arms(args)?;
    let design = design(args, &a, &b)?;
    Ok(Document {
        command: command(args, design.seed),
        size_bytes: args.workload.size,
        destroy: args.destroy.destroy.clone(),
        expect: args.expect.map(|e| e.claim),
        ..Document::new(tool(), target, design, a, b)
    })
}

fn arms(args: &Experiment) -> Result<(ArmSpec, ArmSpec), ArmError> {
    let base = args.workload.job();
    let modelled = args.on.as_deref().is_some_and(is_modelled);
    let arm = |words, command: &Option<String>, mode: &Option<String>| {
        Ok::<_, ArmError>(ArmSpec {
            allow_risk: args.allow_risk.map(RiskClass::letter),
            command: command.clone(),
            mode: mode.clone(),
            ..ArmSpec::parse(&base, words, modelled)?
        })
    };
    let a = arm(&args.a, &args.a_cmd, &args.a_mode)?;
    if args.aa {
        return Ok((a.clone(), a));
    }
    let b = arm(&args.b, &args.b_cmd, &args.b_mode)?;
    if a == b { Err(ArmError::Same) } else { Ok((a, b)) }
}

fn design(args: &Experiment, a: &ArmSpec, b: &ArmSpec) -> Result<Design, CommandError> {
    let metric = match &args.metric {
        Some(metric) => {
            check_metric(metric)?;
            metric.clone()
        }
        None => default_metric(&a.job, &b.job),
    };
    let margin = args.margin.or(args.expect.and_then(|e| e.margin));
    let seed = args.seed.unwrap_or_else(Design::fresh_seed);
    Ok(Design {
        shape: if args.pairs || args.reboot_between { Shape::Pairs } else { Shape::Fours },
        // A pilot cannot be looked at in the middle of a week of reboots.
        blocks: args.blocks.or(args.reboot_between.then_some(Design::PILOT)),
        settle_ns: args.settle,
        aa: args.aa,
        reboot_between: args.reboot_between,
        ..Design::new(metric, margin, seed)
    })
}

/// The command line as it was typed, with the seed that was drawn.
fn command(args: &Experiment, seed: u64) -> Vec<String> {
    let mut words = vec!["seekwell".to_owned()];
    words.extend(std::env::args().skip(1));
    if args.seed.is_none() {
        words.push(format!("--seed={seed}"));
    }
    words
}

fn show(context: &Context, page: Option<OutputFile>, document: &Document) -> Ended {
    if let Some(page) = page {
        write_page(page, &seekwell_report::html_experiment(document)?, context)?;
    }
    if context.json {
        context.print_json(document)?;
    } else {
        context.print(&text::result(document, context.width))?;
    }
    Ok(exit(document))
}

fn exit(document: &Document) -> Exit {
    if !document.not_restored.is_empty() {
        return Exit::Incomplete;
    }
    match (document.status, &document.conclusion) {
        (Status::Interrupted | Status::Running, _) => Exit::Interrupted,
        (Status::Waiting, _) | (_, None) => Exit::NotShown,
        (_, Some(conclusion)) => match (conclusion.decision, conclusion.claim_holds) {
            (Decision::Invalid, _) => Exit::Invalid,
            (Decision::Undecided, _) | (Decision::Decided, Some(false)) => Exit::NotShown,
            (Decision::Decided, _) => Exit::Done,
        },
    }
}
