//! Playing one scenario: boot, steps, verdict.

use super::expect;
use super::machine::{Images, LIMIT, Machine, Ran, Until};
use super::parts::{self, Parts, Without};
use super::scenario::{SAME, Scenario, Step};
use crate::Failure;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long a first boot may take before it is tried once more.
const BOOT: Duration = Duration::from_secs(100);

#[derive(Debug)]
pub enum ScenarioResult {
    /// Everything was as it must be. `false`: findings could not be looked at.
    Passed(bool),
    /// What was not, in sentences.
    Failed(Vec<String>),
    /// It was not played, and why.
    Skipped(String),
}

#[derive(Debug)]
pub struct Played {
    pub name: String,
    pub took: Duration,
    /// What the steps printed.
    pub said: String,
    pub outcome: ScenarioResult,
}

/// The log of a scenario: console, monitor and steps.
pub fn log(name: &str) -> PathBuf {
    parts::cache().join("logs").join(format!("{name}.log"))
}

pub fn scenario(scenario: &Scenario, parts: &Parts, stop: &Arc<AtomicBool>) -> Played {
    let begin = Instant::now();
    let mut said = String::new();
    let outcome = match all_steps(scenario, parts, stop, &mut said) {
        Ok(outcome) => outcome,
        Err(Without::Machine(why)) => ScenarioResult::Skipped(why),
        Err(Without::Broken(error)) => ScenarioResult::Failed(vec![error.to_string()]),
    };
    Played { name: scenario.name.clone(), took: begin.elapsed(), said, outcome }
}

fn all_steps(
    scenario: &Scenario,
    parts: &Parts,
    stop: &Arc<AtomicBool>,
    said: &mut String,
) -> Result<ScenarioResult, Without> {
    let mut lab = Lab::begin(scenario, parts, stop)?;
    let (mut wrong, mut with_findings) = (Vec::new(), true);
    'all: for round in 1..=scenario.rounds {
        for step in scenario.steps.iter().filter(|s| round == 1 || !s.setup) {
            let which = match scenario.rounds {
                1 => format!("step {:?}", step.name),
                _ => format!("round {round}, step {:?}", step.name),
            };
            let ran = lab.play(step, round).map_err(|e| e.during(&which))?;
            let verdict = expect::judge(step, &ran);
            said.push_str(&ran.out);
            with_findings &= !verdict.without_findings;
            let failed = !verdict.wrong.is_empty();
            wrong.extend(verdict.wrong.into_iter().map(|w| format!("{which}: {w}")));
            // Where the power is not as the next step thinks, it would only say so again.
            if failed && (step.setup || step.power_cut || ran.power_cut) {
                break 'all;
            }
        }
    }
    if wrong.is_empty() {
        return Ok(ScenarioResult::Passed(with_findings));
    }
    lab.explain(&wrong)?;
    Ok(ScenarioResult::Failed(wrong))
}

/// Boots a scenario, does the steps that set it up, and runs a command by hand.
pub fn command(
    scenario: &Scenario,
    parts: &Parts,
    stop: &Arc<AtomicBool>,
    command: &str,
) -> Result<Ran, Without> {
    let mut lab = Lab::begin(scenario, parts, stop)?;
    for step in scenario.steps.iter().filter(|s| s.setup) {
        let ran = lab.play(step, 1)?;
        let wrong = expect::judge(step, &ran).wrong;
        if !wrong.is_empty() {
            return Err(format!("step {:?}: {}", step.name, wrong.join("; ")).into());
        }
    }
    let by_hand = Step { name: "by hand".to_owned(), run: command.to_owned(), ..Step::default() };
    lab.play(&by_hand, 1)
}

/// A scenario that is being played: its disks, and the machine they are in.
struct Lab<'a> {
    scenario: &'a Scenario,
    parts: &'a Parts,
    images: Images,
    /// `None` after a power cut.
    machine: Option<Machine>,
    until: Until,
}

impl<'a> Lab<'a> {
    fn begin(
        scenario: &'a Scenario,
        parts: &'a Parts,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Without> {
        let log = log(&scenario.name);
        if let Some(folder) = log.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&log, "")?;
        let images = Images::make(scenario, parts, &log)?;
        let until = Until { deadline: Instant::now(), stop: Arc::clone(stop) };
        let mut lab = Self { scenario, parts, images, machine: None, until };
        lab.boot(SAME)?;
        Ok(lab)
    }

    /// Cuts the power where it is on, and starts a machine.
    fn boot(&mut self, name: &str) -> Result<(), Without> {
        self.machine = None;
        let scenario = self.scenario.on_machine(name)?;
        let log = log(&scenario.name);
        self.until.deadline = Instant::now() + LIMIT;
        let soon = Until { deadline: Instant::now() + BOOT, ..self.until.clone() };
        let boot = |until: &Until| Machine::boot(&scenario, &self.images, self.parts, &log, until);
        let mut machine = match boot(&soon) {
            // On a busy host an emulated clock can fail its calibration, and the kernel then hangs
            // before it has started a single process. That says nothing of the program.
            Err(Without::Broken(_)) if soon.is_over() && !self.until.is_over() => {
                boot(&self.until)?
            }
            booted => booted?,
        };
        for node in &scenario.nodes {
            let ran = machine.run(&format!("wait_for {node}"), &self.until, |_, _| Ok(()))?;
            if ran.status != 0 {
                let kernel = machine.run("dmesg", &self.until, |_, _| Ok(()))?;
                machine.write(&kernel.out)?;
                return Err(ran.err.trim().to_owned().into());
            }
        }
        self.machine = Some(machine);
        Ok(())
    }

    fn play(&mut self, step: &Step, round: u32) -> Result<Ran, Without> {
        if let Some(name) = &step.boot {
            self.boot(name)?;
        }
        let machine = self.machine.as_mut().ok_or("the power is off")?;
        for command in &step.host {
            machine.monitor(command, &self.until)?;
        }
        if step.run.is_empty() {
            return Ok(Ran::default());
        }
        machine.write(&format!("\n=== step: {} ({round})\n{}\n", step.name, step.run.trim()))?;
        let script = format!("ROUND={round}\n{}", step.run);
        let ran = machine.run(&script, &self.until, |machine, mark| {
            let commands = self.scenario.marks.get(mark);
            let commands = commands.ok_or_else(|| format!("no mark {mark}"))?;
            commands.iter().try_for_each(|command| machine.monitor(command, &self.until))
        })?;
        if ran.power_cut {
            machine.write("--- the power is cut\n")?;
            self.machine = None;
            return Ok(ran);
        }
        machine.write(&format!(
            "--- status {}\n--- output\n{}\n--- errors\n{}\n",
            ran.status, ran.out, ran.err
        ))?;
        Ok(ran)
    }

    /// Puts into the log what is wrong, and what the kernel says of it.
    fn explain(&mut self, wrong: &[String]) -> Result<(), Failure> {
        let Some(machine) = &mut self.machine else { return Ok(()) };
        let kernel = machine.run("dmesg", &self.until, |_, _| Ok(()))?;
        machine.write(&format!("\n=== kernel log\n{}\n=== wrong\n{wrong:#?}\n", kernel.out))
    }
}
