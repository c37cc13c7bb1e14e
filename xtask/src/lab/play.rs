//! Playing one scenario: boot, steps, verdict.

use super::expect;
use super::machine::{LIMIT, Machine, Ran, Until};
use super::parts::{self, Parts, Without};
use super::scenario::{Scenario, Step};
use crate::Failure;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long a first boot may take before it is tried once more.
const BOOT: Duration = Duration::from_secs(50);

/// How a scenario went.
#[derive(Debug)]
pub enum Outcome {
    /// Everything was as it must be. `false`: findings could not be looked at.
    Passed(bool),
    /// What was not, in sentences.
    Failed(Vec<String>),
    /// It was not played, and why.
    Skipped(String),
}

/// A scenario that was played.
#[derive(Debug)]
pub struct Played {
    /// Its name.
    pub name: String,
    /// How long it took.
    pub took: Duration,
    /// How it went.
    pub outcome: Outcome,
}

/// The log of a scenario: console, monitor and steps.
pub fn log(name: &str) -> PathBuf {
    parts::cache().join("logs").join(format!("{name}.log"))
}

/// Plays a scenario with all its steps.
pub fn scenario(scenario: &Scenario, parts: &Parts, stop: &Arc<AtomicBool>) -> Played {
    let begin = Instant::now();
    let outcome = match all_steps(scenario, parts, stop) {
        Ok(outcome) => outcome,
        Err(Without::Machine(why)) => Outcome::Skipped(why),
        Err(Without::Broken(error)) => Outcome::Failed(vec![error.to_string()]),
    };
    Played { name: scenario.name.clone(), took: begin.elapsed(), outcome }
}

fn all_steps(
    scenario: &Scenario,
    parts: &Parts,
    stop: &Arc<AtomicBool>,
) -> Result<Outcome, Without> {
    let until = Until { deadline: Instant::now() + LIMIT, stop: Arc::clone(stop) };
    let mut machine = start(scenario, parts, &until)?;
    let (mut wrong, mut with_findings) = (Vec::new(), true);
    for step in &scenario.steps {
        let ran = play(step, scenario, &mut machine, &until)
            .map_err(|e| format!("step {:?}: {e}", step.name))?;
        let verdict = expect::judge(step, &ran);
        with_findings &= !verdict.without_findings;
        let failed = !verdict.wrong.is_empty();
        wrong.extend(verdict.wrong.into_iter().map(|w| format!("step {:?}: {w}", step.name)));
        if failed && step.setup {
            break;
        }
    }
    if wrong.is_empty() {
        return Ok(Outcome::Passed(with_findings));
    }
    let kernel = machine.run("dmesg", &until, |_, _| Ok(()))?;
    machine.write(&format!("\n=== kernel log\n{}\n=== wrong\n{wrong:#?}\n", kernel.out))?;
    Ok(Outcome::Failed(wrong))
}

/// Boots a scenario, does the steps that set it up, and runs a command by hand.
pub fn command(
    scenario: &Scenario,
    parts: &Parts,
    stop: &Arc<AtomicBool>,
    command: &str,
) -> Result<Ran, Without> {
    let until = Until { deadline: Instant::now() + LIMIT, stop: Arc::clone(stop) };
    let mut machine = start(scenario, parts, &until)?;
    for step in scenario.steps.iter().filter(|s| s.setup) {
        let ran = play(step, scenario, &mut machine, &until)?;
        let wrong = expect::judge(step, &ran).wrong;
        if !wrong.is_empty() {
            return Err(format!("step {:?}: {}", step.name, wrong.join("; ")).into());
        }
    }
    Ok(machine.run(command, &until, |_, _| Ok(()))?)
}

fn start(scenario: &Scenario, parts: &Parts, until: &Until) -> Result<Machine, Without> {
    let log = log(&scenario.name);
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder)?;
    }
    let soon = Until { deadline: until.deadline.min(Instant::now() + BOOT), ..until.clone() };
    let mut machine = match Machine::boot(scenario, parts, &log, &soon) {
        // On a busy host an emulated clock can fail its calibration, and the kernel then hangs
        // before it has started a single process. That says nothing of the program.
        Err(Without::Broken(_)) if soon.is_over() && !until.is_over() => {
            Machine::boot(scenario, parts, &log, until)?
        }
        booted => booted?,
    };
    for node in &scenario.nodes {
        let ran = machine.run(&format!("wait_for {node}"), until, |_, _| Ok(()))?;
        if ran.status != 0 {
            let kernel = machine.run("dmesg", until, |_, _| Ok(()))?;
            machine.write(&kernel.out)?;
            return Err(ran.err.trim().to_owned().into());
        }
    }
    Ok(machine)
}

fn play(
    step: &Step,
    scenario: &Scenario,
    machine: &mut Machine,
    until: &Until,
) -> Result<Ran, Failure> {
    for command in &step.host {
        machine.monitor(command, until)?;
    }
    if step.run.is_empty() {
        return Ok(Ran::default());
    }
    machine.write(&format!("\n=== step: {}\n{}\n", step.name, step.run.trim()))?;
    let ran = machine.run(&step.run, until, |machine, mark| {
        let commands = scenario.marks.get(mark).ok_or_else(|| format!("no mark {mark}"))?;
        commands.iter().try_for_each(|command| machine.monitor(command, until))
    })?;
    machine.write(&format!(
        "--- status {}\n--- output\n{}\n--- errors\n{}\n",
        ran.status, ran.out, ran.err
    ))?;
    Ok(ran)
}
