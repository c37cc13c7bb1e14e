//! `seekwell fleet`: this program on many hosts, and what they measured side by side.

use super::{begin_asked, write_page};
use crate::Ended;
use crate::cli::Cli;
use crate::cli::fleet::{FleetCommand, Report, Run};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::signals;
use clap::Parser;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use seekwell_fleet::Scope;
use seekwell_fleet::remote::{
    Bound, Bounds, Fleet, Host, News, Outcome, Stage, Visit, hosts, keep,
};
use seekwell_report::units::bytes;
use seekwell_runs::StoreError;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

pub fn run(command: &FleetCommand, context: &Context) -> Ended {
    match command {
        FleetCommand::Run(args) => on_hosts(args, context),
        FleetCommand::Report(args) => report(args, context),
    }
}

fn report(args: &Report, context: &Context) -> Ended {
    let page = begin_asked(args.output.as_deref(), args.replace, context)?;
    let scope = Scope { label: args.label.clone(), since: args.since };
    let fleet = seekwell_fleet::fleet(&*context.runs(args.from.store.as_deref())?, &scope)?;
    if let Some(page) = page {
        write_page(page, &seekwell_report::html_fleet(&fleet)?, context)?;
    }
    if context.json {
        context.print_json(&fleet)?;
    } else {
        context.print(&seekwell_report::fleet(&fleet, context.width, context.style))?;
    }
    Ok(Exit::Done)
}

fn on_hosts(args: &Run, context: &Context) -> Ended {
    // What cannot be typed here is not sent to a thousand hosts.
    let typed = std::iter::once("seekwell").chain(args.command.iter().map(String::as_str));
    if let Err(error) = Cli::try_parse_from(typed) {
        let _ = error.print();
        return Ok(Exit::Usage);
    }
    let hosts = hosts(&args.hosts)?;
    let store = context.outbox(&args.push)?;
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let here = std::env::current_exe();
    let program = match (&args.program, here) {
        (Some(program), _) => program.clone(),
        (None, Ok(here)) => here,
        (None, Err(source)) => {
            return Err(CommandError::Read { path: "/proc/self/exe".into(), source });
        }
    };
    let fleet = Fleet {
        args: &args.command,
        program: &program,
        version: args.program.is_none().then_some(concat!("seekwell ", env!("SEEKWELL_BUILD"))),
        config: args.ssh_config.as_deref(),
        options: &args.ssh_option,
        jobs: args.jobs.get(),
        per: &args.per,
        timeout: args.timeout.map(Duration::from),
        bounds: Bounds { runs: args.max_runs, bytes: args.max_bytes },
        control: &context.control,
    };
    let lines = Lines::new(context.progress);
    let mut visits: BTreeMap<usize, (Box<Visit>, Vec<String>)> = BTreeMap::new();
    let mut kept: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut not_kept: Option<StoreError> = None;
    fleet.run(&hosts, |number, news| match news {
        News::At(stage) => lines.at(number, &hosts[number], stage),
        News::Run(run, detail) => match keep(&store, *run, &detail) {
            Ok(id) => kept.entry(number).or_default().push(id),
            Err(error) => {
                // The other hosts would lose theirs too.
                context.control.stop.store(true, Relaxed);
                not_kept.get_or_insert(error);
            }
        },
        News::Done(visit) => {
            lines.done(number);
            visits.insert(number, (visit, kept.remove(&number).unwrap_or_default()));
        }
    })?;
    lines.clear();
    show(args, &hosts, &visits, context)?;
    if let Some(error) = not_kept {
        return Err(error.into());
    }
    let outcomes = || visits.values().map(|(visit, _)| &visit.outcome);
    let statuses = outcomes().map(|outcome| match outcome {
        Outcome::Ended(status) => Some(*status),
        _ => None,
    });
    Ok(match statuses.collect::<Option<Vec<u8>>>() {
        _ if context.control.stop.load(Relaxed) => Exit::Interrupted,
        None => Exit::Refused,
        Some(statuses) => match statuses.into_iter().max() {
            None | Some(0) => Exit::Done,
            Some(status) => Exit::Command(status),
        },
    })
}

fn show(
    args: &Run,
    hosts: &[Host],
    visits: &BTreeMap<usize, (Box<Visit>, Vec<String>)>,
    context: &Context,
) -> Result<(), CommandError> {
    if context.json {
        let hosts = visits.iter().map(|(number, (visit, runs))| {
            let status = match visit.outcome {
                Outcome::Ended(status) => Some(status),
                _ => None,
            };
            json!({
                "host": hosts[*number].name, "labels": hosts[*number].labels,
                "outcome": visit.outcome.name(), "status": status, "runs": runs,
                "seconds": visit.took.as_secs_f64(), "said": visit.said, "output": visit.output,
            })
        });
        return context.print_json(&json!({
            "schema": "seekwell/fleet-run/1", "command": args.command,
            "hosts": hosts.collect::<Vec<_>>(),
        }));
    }
    let rows = visits.iter().map(|(number, (visit, runs))| {
        let took = format!("{:.0} s", visit.took.as_secs_f64());
        vec![hosts[*number].name.clone(), outcome(visit, args), took, runs.join(" ")]
    });
    let table = seekwell_report::table(&["host", "result", "time", "run"], rows, context.width);
    let done = visits.values().filter(|(visit, _)| visit.outcome == Outcome::Ended(0)).count();
    context.print(&format!("{table}\n{done} of {} hosts done\n", hosts.len()))
}

/// How a host's part ended, in words.
fn outcome(visit: &Visit, args: &Run) -> String {
    let last = visit.said.lines().last().unwrap_or_default();
    let because = |what: &str| match last {
        "" => what.to_owned(),
        last => format!("{what}: {last}"),
    };
    match &visit.outcome {
        Outcome::Ended(0) => "done".into(),
        Outcome::Ended(status) => because(&format!("exit status {status}")),
        Outcome::Unreachable => because("not reached"),
        Outcome::NoRoom => "no room for the program in its temporary directory".into(),
        Outcome::DoesNotStart => because(
            "the program does not start there (--program names one that does, as the static one)",
        ),
        Outcome::Lost => because("connection lost"),
        Outcome::TimedOut => "stopped: took longer than --timeout".into(),
        Outcome::Stopped => "stopped".into(),
        Outcome::TooMuch(Bound::Runs) => {
            format!("stopped: sends more than {} runs (--max-runs)", args.max_runs)
        }
        Outcome::TooMuch(Bound::Bytes) => {
            format!("stopped: sends more than {} (--max-bytes)", bytes(args.max_bytes))
        }
        Outcome::Damaged(why) => format!("its answer is damaged: {why}"),
    }
}

/// A line on the terminal for each host that is being worked on.
struct Lines {
    all: MultiProgress,
    bars: std::cell::RefCell<BTreeMap<usize, ProgressBar>>,
}

impl Lines {
    fn new(shown: bool) -> Self {
        let target = if shown {
            ProgressDrawTarget::stderr_with_hz(4)
        } else {
            ProgressDrawTarget::hidden()
        };
        Self { all: MultiProgress::with_draw_target(target), bars: Default::default() }
    }

    fn at(&self, number: usize, host: &Host, stage: Stage) {
        let mut bars = self.bars.borrow_mut();
        let bar = bars.entry(number).or_insert_with(|| {
            let bar = self.all.add(ProgressBar::new_spinner());
            let style = ProgressStyle::with_template("{prefix:20!} {msg:10} {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_prefix(host.name.clone());
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        bar.set_message(match stage {
            Stage::Connecting => "connecting",
            Stage::Copying => "copying",
            Stage::Running => "running",
        });
    }

    fn done(&self, number: usize) {
        if let Some(bar) = self.bars.borrow_mut().remove(&number) {
            bar.finish_and_clear();
        }
    }

    fn clear(&self) {
        let _ = self.all.clear();
    }
}
