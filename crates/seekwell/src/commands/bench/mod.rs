//! `seekwell bench`: one workload with fio's option names, job files, suites.

pub mod jobs;
mod suites;

use super::format;
use crate::Ended;
use crate::cli::Bench;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::session::{RunOptions, begin_command, begin_command_with};
use seekwell_experiment::Grid;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Rw};
use seekwell_job::PlainJob;
use seekwell_run::bench::{BenchOptions, PtsOptions, PtsPlan, Question, bench};
use seekwell_run::suite::{SuiteOptions, announce, suite};
use seekwell_run::{Keeping, is_modelled};
use seekwell_runs::{LimitOutcome, RunKind, Study};
use seekwell_suites::{Level, On, Settings, SuiteError, find, written};
use std::path::Path;

pub fn run(args: &Bench, context: &Context) -> Ended {
    if !args.jobs.is_empty() || args.zones.zonemode.is_some() {
        return jobs::run(args, context);
    }
    match args.suite.as_deref() {
        Some("list") => return suites::list(args.full, context),
        Some(name) => return run_suite(name, args, context),
        None => format::check(&args.results, None, context)?,
    }
    ask(&question(args)?, &args.set, args, context)
}

/// Puts a question to the target, and shows what came of it.
fn ask(question: &Question, set: &[(String, String)], args: &Bench, context: &Context) -> Ended {
    format::check_plots(&args.results, &question.workloads())?;
    let options = BenchOptions {
        target: args.on.as_deref().unwrap_or(Path::new(".")),
        size_bytes: args.workload.size,
        destroy: args.destroy.consent(),
        set,
        precondition: args.beyond.precondition,
        repeats: match question {
            // The fewest that give an interval of 95 % without assuming a distribution.
            Question::Beside(..) if args.repeats == 1 => 6,
            _ => args.repeats,
        },
        seed: args.seed,
    };
    let line = Line::live(args.beyond.progress, context, is_modelled(options.target));
    let (line, mut purpose) = begin_command_with(line, context, kept(args, args.workload.engine))?;
    if let (Keeping::New(store), Some(name)) = (&purpose.keep, &args.resume) {
        purpose.keep = Keeping::Resumed(store.clone(), name.clone());
    }
    let (document, detail, ending) = bench(context.host(), line, purpose, &options, question)?;
    let unsettled = matches!(
        &document.study,
        Some(Study::Limit(limit)) if limit.outcome == Some(LimitOutcome::Unsettled)
    );
    let exit = match Exit::from(ending) {
        Exit::Done if unsettled => Exit::NotShown,
        exit => exit,
    };
    format::finish(context, &(document, detail, exit), &args.results)
}

fn kept(args: &Bench, engine: Engine) -> RunOptions<'_> {
    RunOptions { kind: RunKind::Bench, keep: &args.keep, engine }
}

fn question(args: &Bench) -> Result<Question, CommandError> {
    let options = args.workload.job();
    if !args.beyond.beside.is_empty() {
        let others = args.beyond.beside.iter().map(|word| PlainJob::parse(word));
        return Ok(Question::Beside(options, others.collect::<Result<_, _>>()?));
    }
    Ok(match (args.beyond.sweep.as_slice(), args.beyond.limit) {
        ([], Some(bound)) => Question::Limit(options, bound),
        ([], None) if args.beyond.steady => Question::Steady(options),
        ([], None) => Question::Once(options),
        (words, _) => Question::Sweep(Grid::parse(words, &options, args.repeats)?),
    })
}

/// Writes until the rate has settled, as the suite's tunables say.
fn sustained(settings: &Settings, args: &Bench) -> Question {
    let job = PlainJob {
        rw: Rw::Write,
        block_bytes: settings.number("bs") as u32,
        iodepth: settings.number("iodepth") as u32,
        engine: args.workload.engine,
        ..PlainJob::default()
    };
    let runtime = args.workload.runtime;
    let rests = ["idle1", "idle2"].map(|rest| Nanos::from_millis(1000 * settings.number(rest)));
    let rests = rests.into_iter().filter(|rest| *rest > Nanos::ZERO).collect();
    Question::Sustained { job, runtime, rests }
}

/// The tests of SNIA's specification.
fn pts(settings: &Settings, args: &Bench) -> Result<Question, CommandError> {
    let number = |name| settings.number(name) as u32;
    Ok(Question::Pts(PtsPlan::of(PtsOptions {
        tests: written::pts_tests(settings)?,
        cell: Nanos::from_millis(1000 * settings.number("cell")),
        rounds: number("rounds"),
        numjobs: number("numjobs"),
        iodepth: number("iodepth"),
        stretch: number("stretch"),
        engine: args.workload.engine,
    })))
}

/// Random writes, even and skewed.
fn amplification(settings: &Settings, args: &Bench) -> Question {
    let even = PlainJob {
        rw: Rw::RandWrite,
        block_bytes: settings.number("bs") as u32,
        iodepth: settings.number("iodepth") as u32,
        ..args.workload.job()
    };
    let skewed = PlainJob { distribution: Pattern::Pareto { power: 0.2 }, ..even.clone() };
    Question::Amplification { even, skewed }
}

fn run_suite(name: &str, args: &Bench, context: &Context) -> Ended {
    let found = find(name)?;
    let on = args.on.as_deref().ok_or(SuiteError::NoTarget { suite: found.name })?;
    let asks = found.on == On::Destroyed;
    // What steps ask of a model was recorded in the full form, which takes next to no time there.
    let quick = args.quick && (asks || !is_modelled(on));
    let level = if quick { Level::Quick } else { Level::Full };
    // Parameters of machines have dots, tunables have none.
    let of_machine = |(key, _): &(String, String)| is_modelled(on) && key.contains('.');
    let (set, tunables): (Vec<_>, Vec<_>) = args.set.iter().cloned().partition(of_machine);
    let settings = found.settings(level, &tunables)?;
    let wears = found.name == written::AMPLIFICATION.name;
    let goes_on = found.name == written::PTS.name;
    let given = [
        ("--size", !asks && args.workload.size.is_some()),
        ("--runtime", (!asks || goes_on) && args.workload.runtime.is_some()),
        ("--resume", !goes_on && args.resume.is_some()),
        ("--engine", !asks && args.workload.engine != Engine::Auto),
        ("--destroy", !asks && args.destroy.consent().is_some()),
        ("--precondition", !wears && args.beyond.precondition),
        ("--repeats", asks && args.repeats > 1),
        ("--show", asks && args.show),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(SuiteError::NoOption { suite: found.name, option }.into());
    }
    format::check(&args.results, if asks { None } else { Some(found.name) }, context)?;
    if asks {
        if on == Path::new("null") {
            return Err(found.wrong(on, "target without data").into());
        }
        let question = if goes_on {
            pts(&settings, args)?
        } else if wears {
            amplification(&settings, args)
        } else {
            sustained(&settings, args)
        };
        return ask(&question, &set, args, context);
    }
    let (repeats, seed) = (args.repeats, args.seed);
    let options = SuiteOptions { suite: found, settings, set: &set, target: on, repeats, seed };
    if args.show {
        let steps = announce(context.host(), &options)?;
        context.print(&suites::announced(&options, &steps))?;
        return Ok(Exit::Done);
    }
    let (line, purpose) = begin_command(context, kept(args, Engine::Auto))?;
    let (run, failed) = suite(context.host(), line, purpose, &options)?;
    let (document, detail, ending) = run;
    let exit = format::finish(context, &(document, detail, ending.into()), &args.results)?;
    failed.map_or(Ok(exit), |error| Err(error.into()))
}
