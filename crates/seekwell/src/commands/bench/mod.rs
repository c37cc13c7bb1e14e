//! `seekwell bench`: one workload, with fio's option names.

pub mod jobs;
pub mod limit;
mod stage;
pub mod sweep;

use super::format;
use crate::Ended;
use crate::cli::Bench;
use crate::commands::experiment::arms::options;
use crate::context::Context;
use crate::session;
use seekwell_checkup::steady::{ROUNDS, conclude};
use seekwell_checkup::{Group, PhaseSpec, Plan, Rounds};
use seekwell_experiment::{Options, Rw};
use seekwell_io::units::{Nanos, exact};
use seekwell_runs::Study;
use stage::Stage;

pub fn run(args: &Bench, context: &Context) -> Ended {
    if !args.jobs.is_empty() {
        return jobs::run(args, context);
    }
    if let Some(suite) = &args.suite {
        return crate::commands::suite::run(suite, args, context);
    }
    format::check(&args.results, None, context)?;
    let options = options(&args.workload);
    if !args.beyond.sweep.is_empty() {
        return sweep::run(args, &options, context);
    }
    if let Some(bound) = args.beyond.limit {
        return limit::run(args, &options, bound, context);
    }
    format::check_plots(&args.results, &[&options])?;
    let mut stage = Stage::begin(args, context, &[&options])?;
    let workload = stage.workload(&options, args.seed)?;
    let (name, title) = (name(&options), title(&options));
    let mut spec = PhaseSpec::new(name, title, Group::Custom, workload.clone(), args.repeats);
    if args.beyond.steady {
        (spec.rounds, spec.repeats) = (Rounds::UntilSteady, ROUNDS);
    }
    let plan = Plan::of(vec![spec], Nanos::ZERO);
    let interrupted = (args.beyond.precondition && stage.precondition(&workload)?)
        || stage.session.run(&plan, &mut stage.executor);
    if args.beyond.steady {
        let rounds = stage.session.document.phases.first().map(conclude);
        stage.session.document.study = rounds.map(Study::Steady);
    }
    stage.session.conclude(interrupted, args.workload.size);
    format::finish(context, &session::end(stage.session), &args.results)
}

fn name(options: &Options) -> String {
    let tags = options.tags().map(|(policy, tags)| format!("-{}-{tags}", policy.name()));
    let (rw, bytes, depth) = (options.rw.name(), options.block_bytes, options.iodepth);
    format!("{rw}-{bytes}-d{depth}{}", tags.unwrap_or_default())
}

fn title(options: &Options) -> String {
    let mixed = options.mix_read_percent;
    let what = match options.rw {
        Rw::Read => "sequential read".to_owned(),
        Rw::Write => "sequential write".to_owned(),
        Rw::RandRead => "random read".to_owned(),
        Rw::RandWrite => "random write".to_owned(),
        Rw::ReadWrite => format!("sequential mix, {mixed} % reads,"),
        Rw::RandRw => format!("random mix, {mixed} % reads,"),
    };
    let size = exact(options.block_bytes.into());
    let threads = match options.numjobs {
        1 => String::new(),
        jobs => format!(", {jobs} threads"),
    };
    let tags = match options.tags() {
        None => String::new(),
        Some((policy, tags)) => format!(", {tags} tags {}", policy.name()),
    };
    format!("{what} {size}, depth {}{threads}{tags}", options.iodepth)
}
