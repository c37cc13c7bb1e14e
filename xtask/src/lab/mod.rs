//! `cargo xtask lab`: real kernels with real drivers on emulated hardware, healthy and broken, and
//! whether the program reports them correctly. QEMU in software emulation only, so that it runs
//! wherever the tests do. `docs/lab.md` says how to write a scenario.

mod cpio;
mod disk;
mod expect;
mod image;
mod machine;
mod modules;
mod parts;
mod play;
pub mod relay;
mod scenario;

use crate::Failure;
use crate::bench::stop_flag;
use parts::{Parts, Without};
use play::{Played, ScenarioResult};
use scenario::{Scenario, Tool};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(clap::Args)]
#[group(id = "lab")]
pub struct Args {
    /// Scenarios to play, by name.
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// List the scenarios.
    #[arg(long, conflicts_with_all = ["scenarios", "all", "quick", "command"])]
    list: bool,
    /// Play all scenarios.
    #[arg(long, conflicts_with_all = ["scenarios", "quick", "command"])]
    all: bool,
    /// Play the dozen that `make test` plays.
    #[arg(long, conflicts_with_all = ["scenarios", "command"])]
    quick: bool,
    /// Boots at a time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=16))]
    jobs: u32,
    /// The program to put into the guest [default: built now, dev profile].
    #[arg(long, value_name = "FILE")]
    seekwell: Option<PathBuf>,
    /// Instead of the scenario's steps, run this in its guest (after those that set it up).
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let all = scenario::all()?;
    if args.list {
        list(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(args, all)?;
    let stop = stop_flag()?;
    let tools: BTreeSet<Tool> = chosen.iter().flat_map(|s| s.tools.iter().copied()).collect();
    let tools: Vec<Tool> = tools.into_iter().collect();
    let parts = match Parts::gather(args.seekwell.as_deref(), &tools) {
        Ok(parts) => parts,
        Err(Without::Machine(why)) => {
            let skip = |s: &Scenario| Played {
                name: s.name.clone(),
                took: Duration::ZERO,
                said: String::new(),
                outcome: ScenarioResult::Skipped(why.clone()),
            };
            return Ok(table(&chosen.iter().map(skip).collect::<Vec<_>>()));
        }
        Err(Without::Broken(error)) => return Err(error),
    };
    if !args.command.is_empty() {
        return by_hand(&chosen, &parts, &stop, &args.command.join(" "));
    }
    let played = play_all(&chosen, &parts, &stop, args.jobs);
    let code = table(&played);
    Ok(if stop.load(Ordering::Relaxed) { ExitCode::from(130) } else { code })
}

/// Plays the scenario of this name with a program, and returns what its steps printed.
pub fn printed(name: &str, seekwell: &Path, stop: &Arc<AtomicBool>) -> Result<String, Failure> {
    let scenario = scenario::all()?.into_iter().find(|s| s.name == name);
    let scenario = scenario.ok_or_else(|| format!("no scenario {name}"))?;
    let played = match Parts::gather(Some(seekwell), &scenario.tools) {
        Ok(parts) => play::scenario(&scenario, &parts, stop),
        Err(Without::Machine(why)) => return Err(why.into()),
        Err(Without::Broken(error)) => return Err(error),
    };
    match played.outcome {
        ScenarioResult::Passed(_) => Ok(played.said),
        ScenarioResult::Skipped(why) => Err(why.into()),
        ScenarioResult::Failed(wrong) => Err(wrong.join("; ").into()),
    }
}

fn choose(args: &Args, mut all: Vec<Scenario>) -> Result<Vec<Scenario>, Failure> {
    if args.all {
        return Ok(all);
    }
    if args.quick {
        all.retain(|s| s.quick);
        return Ok(all);
    }
    if args.scenarios.is_empty() {
        return Err("which scenario? `cargo xtask lab --list` shows them".into());
    }
    if !args.command.is_empty() && args.scenarios.len() > 1 {
        return Err("a command runs in one scenario".into());
    }
    let find = |name: &String| {
        let found = all.iter().find(|s| s.name == *name).cloned();
        found.ok_or_else(|| format!("no scenario {name}; `cargo xtask lab --list` shows them"))
    };
    Ok(args.scenarios.iter().map(find).collect::<Result<_, _>>()?)
}

fn list(all: &[Scenario]) -> Result<(), Failure> {
    let wide = all.iter().map(|s| s.name.len()).max().unwrap_or(0);
    let mut out = std::io::stdout().lock();
    for scenario in all {
        let quick = if scenario.quick { "quick" } else { "" };
        writeln!(out, "{:wide$}  {quick:5}  {}", scenario.name, scenario.description)?;
    }
    Ok(())
}

fn by_hand(
    chosen: &[Scenario],
    parts: &Parts,
    stop: &Arc<AtomicBool>,
    command: &str,
) -> Result<ExitCode, Failure> {
    let ran = match play::command(&chosen[0], parts, stop, command) {
        Ok(ran) => ran,
        Err(Without::Machine(why)) => return Err(format!("skipped: {why}").into()),
        Err(Without::Broken(error)) => return Err(error),
    };
    std::io::stdout().write_all(ran.out.as_bytes())?;
    std::io::stderr().write_all(ran.err.as_bytes())?;
    Ok(ExitCode::from(u8::try_from(ran.status).unwrap_or(1)))
}

/// Plays the scenarios, `jobs` at a time; in the order given.
fn play_all(chosen: &[Scenario], parts: &Parts, stop: &Arc<AtomicBool>, jobs: u32) -> Vec<Played> {
    let next = Mutex::new(chosen.iter().enumerate());
    let done = Mutex::new(Vec::new());
    let work = || {
        loop {
            // A panic in another worker leaves both as good as they were.
            let taken = next.lock().unwrap_or_else(|e| e.into_inner()).next();
            let Some((at, scenario)) = taken else { return };
            let played = if stop.load(Ordering::Relaxed) {
                let outcome = ScenarioResult::Skipped("interrupted".to_owned());
                let name = scenario.name.clone();
                Played { name, took: Duration::ZERO, said: String::new(), outcome }
            } else {
                play::scenario(scenario, parts, stop)
            };
            progress(&played);
            done.lock().unwrap_or_else(|e| e.into_inner()).push((at, played));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, played)| played).collect()
}

fn word(outcome: &ScenarioResult) -> &'static str {
    match outcome {
        ScenarioResult::Passed(_) => "passed",
        ScenarioResult::Failed(_) => "failed",
        ScenarioResult::Skipped(_) => "skipped",
    }
}

#[expect(clippy::print_stderr, reason = "progress is for the terminal")]
fn progress(played: &Played) {
    let seconds = played.took.as_secs_f64();
    eprintln!("lab: {} {} after {seconds:.1} s", played.name, word(&played.outcome));
}

/// Prints what became of each scenario; the status says whether any failed.
#[expect(clippy::print_stdout, reason = "the table is the result")]
fn table(played: &[Played]) -> ExitCode {
    let wide = played.iter().map(|p| p.name.len()).max().unwrap_or(0);
    let mut unseen = 0;
    for p in played {
        let (name, seconds) = (&p.name, p.took.as_secs_f64());
        let rest = match &p.outcome {
            ScenarioResult::Skipped(why) => format!(": {why}"),
            _ => String::new(),
        };
        println!("{name:wide$}  {seconds:6.1} s  {}{rest}", word(&p.outcome));
        match &p.outcome {
            ScenarioResult::Passed(false) => unseen += 1,
            ScenarioResult::Failed(wrong) => {
                wrong.iter().for_each(|w| println!("  {w}"));
                println!("  log: {}", play::log(name).display());
            }
            _ => {}
        }
    }
    if unseen > 0 {
        println!("findings not looked at in {unseen}: the program tells none yet");
    }
    let count = |w: &str| played.iter().filter(|p| word(&p.outcome) == w).count();
    let [passed, failed, skipped] = ["passed", "failed", "skipped"].map(count);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
