//! The command line of seekwell as a library, so that man pages, completions and tests are made
//! from the same definitions. One file per command in `commands`; nothing else prints.

mod asked;
pub mod cli;
mod commands;
mod context;
mod exit;
mod live;
mod progress;
mod screen;
mod session;
mod signals;

pub use exit::Exit;

use cli::fleet::FleetCommand;
use cli::{Cli, Command, PushTo};
use context::Context;
use exit::CommandError;
use seekwell_sys::thread::start_with_stack;
use std::panic::resume_unwind;

/// Commands run on a stack of this size: that of the first thread is bound by `ulimit -s`, and a
/// small one does not hold the parsing of the command line.
const STACK_BYTES: usize = 8 << 20;

/// Does work on a thread with a stack of a known size, and waits for it.
pub fn on_own_stack(work: impl FnOnce() -> Exit + Send + 'static) -> Exit {
    match start_with_stack("seekwell", STACK_BYTES, work) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        Err(error) => {
            context::note(&error.to_string());
            Exit::Refused
        }
    }
}

/// Runs one command line to its end and says how it ended. Errors are printed on standard error.
pub fn run(cli: Cli) -> Exit {
    let context = Context::new(&cli.global);
    if let Err(error) = signals::survive_file_size_limit() {
        context.note(&format!("a file that reaches `ulimit -f` will end this process: {error}"));
    }
    if !matches!(cli.command, Command::Tune(_) | Command::TuneGuard(_)) {
        commands::tune::note_unfinished(&context);
    }
    if measures(&cli.command) && rustix::process::geteuid().is_root() {
        seekwell_trace::capture::remove_leftovers();
    }
    let ended = match &cli.command {
        Command::Checkup(args) => commands::checkup::run(args, &context),
        Command::Inspect(args) => commands::inspect::run(args, &context),
        Command::Diff(args) => commands::diff::run(args, &context),
        Command::Bench(args) => commands::bench::run(args, &context),
        Command::FitFor(args) => commands::fit_for::run(args, &context),
        Command::FlushLedger(args) => commands::ledger::run(&args.command, &context),
        Command::Calibrate(args) => commands::calibrate::run(args, &context),
        Command::Compare(args) => commands::compare::run(args, &context),
        Command::Experiment(args) => commands::experiment::run(args, &context),
        Command::Tune(args) => commands::tune::run(&args.command, &context),
        Command::TuneGuard(args) => commands::tune::guard(args),
        Command::Record(args) => commands::record::run(args, &context),
        Command::Top(args) => commands::top::run(args, &context),
        Command::Replay(args) => commands::replay::run(args, &context),
        Command::Trace(args) => commands::trace::run(&args.command, &context),
        Command::Machine(args) => commands::machine::run(args, &context),
        Command::Reproduce(args) => commands::reproduce::run(args, &context),
        Command::Report(args) => commands::report::run(args, &context),
        Command::Fleet(args) => commands::fleet::run(&args.command, &context),
        Command::Serve(args) => commands::serve::run(args, &context),
        Command::Runs(args) => commands::runs::run(&args.command, &context),
    };
    if let Some((push, kept)) = pushed(&cli.command) {
        commands::push::send_waiting(push, kept, &context);
    }
    ended.unwrap_or_else(|error| {
        let exit = error.exit();
        if exit != Exit::Done {
            context.complain(&error);
        }
        match exit {
            Exit::Invalid if signals::reached_file_size_limit() => Exit::Refused,
            exit => exit,
        }
    })
}

/// Whether a command does or may do requests to a disk, or records them.
const fn measures(command: &Command) -> bool {
    use Command::{
        Bench, Calibrate, Checkup, Experiment, FitFor, FlushLedger, Record, Replay, Top, Trace,
        Tune,
    };
    matches!(
        command,
        Bench(_)
            | Calibrate(_)
            | Checkup(_)
            | Experiment(_)
            | FitFor(_)
            | FlushLedger(_)
            | Record(_)
            | Replay(_)
            | Top(_)
            | Trace(_)
            | Tune(_)
    )
}

/// Where the runs of a command are sent, and whether it keeps them.
const fn pushed(command: &Command) -> Option<(&PushTo, bool)> {
    let keep = match command {
        Command::Checkup(args) => &args.keep,
        Command::Bench(args) => &args.keep,
        Command::FitFor(args) => &args.repeated.keep,
        Command::Calibrate(args) => &args.repeated.keep,
        Command::Replay(args) => &args.keep,
        Command::Fleet(fleet) => match &fleet.command {
            FleetCommand::Run(args) => return Some((&args.push, true)),
            FleetCommand::Report(_) => return None,
        },
        _ => return None,
    };
    Some((&keep.push, !keep.no_keep))
}

/// What a command gives back.
type Ended = Result<Exit, CommandError>;
