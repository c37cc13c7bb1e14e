//! The machine an experiment is made on: targets, settings, commands and the running system.

use super::setter::{Setter, not_applied};
use super::smart;
use crate::bench::on_model;
use crate::{Host, RealExecutor, described, is_modelled, look, model};
use jiff::Timestamp;
use rustix::io::Errno;
use seekwell_checkup::{ExecuteError, Execution, Executor, metrics};
use seekwell_experiment::{
    Applied, ArmSpec, Condition, Document, NotRestored, PrepareError, Region, Rig,
};
use seekwell_inspect::Inspection;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Workload;
use seekwell_runs::limits::PhaseLimit;
use seekwell_runs::{self as runs, Phase, Repeat, RunDocument, RunKind, Tool, Work};
use seekwell_stats::Arm;
use seekwell_sys::thread::start;
use seekwell_sys::{View, path_text};
use seekwell_tune::Disk;
use seekwell_tune::guard::Health;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// How often a waiting program looks whether it is to stop.
const TICK: Duration = Duration::from_millis(20);
/// How long an arm's command has after it was interrupted.
const GRACE: Duration = Duration::from_secs(2);

/// This machine.
pub struct ThisMachine<'a> {
    /// The target.
    pub(super) target: PathBuf,
    /// The running system and the flags that signals set.
    pub(super) host: Host<'a>,
    /// Makes the runs.
    pub(super) executor: RealExecutor,
    /// The engine where an arm does not name one.
    pub(super) engine: Engine,
    /// What every run uses.
    pub(super) region: Region,
    /// Applies the arms' settings, if they have some.
    pub(super) setter: Option<Setter>,
    /// The command of A, which sets the state that is looked at before and after.
    pub(super) baseline: Option<String>,
    /// The target as it was seen last, for one that is gone.
    pub(super) seen: Inspection,
}

impl ThisMachine<'_> {
    /// How long a run takes on a model, in real time: the mean of both arms.
    ///
    /// # Errors
    /// When a piece of one cannot be run.
    pub(super) fn real_time(&mut self, document: &Document) -> Result<Nanos, ExecuteError> {
        let mut both = Nanos::ZERO;
        for arm in [&document.a, &document.b] {
            let room = self.region.bytes.saturating_sub(arm.job.offset_bytes);
            let workload = arm.job.workload(room, self.region.direct, document.design.seed);
            both += on_model(&workload, |piece| self.run(arm, piece))?;
        }
        Ok(Nanos(both.0 / 2))
    }

    const fn engine_of(&self, arm: &ArmSpec) -> Engine {
        match arm.job.engine {
            Engine::Auto => self.engine,
            named => named,
        }
    }

    fn stopped(&self) -> bool {
        self.host.control.stop.load(Relaxed)
    }

    /// Runs an arm's command. What it prints is not mixed with the result; the last line of its
    /// standard error is part of the error when it fails.
    fn command(&self, which: Arm, line: &str) -> Result<(), PrepareError> {
        let failed = |how: String, said: String| PrepareError::Command {
            command: line.to_owned(),
            how,
            said,
        };
        let letter = if which == Arm::A { "a" } else { "b" };
        let not_begun = |e: io::Error| failed(format!("could not be started: {e}"), String::new());
        let (mut read, write) = io::pipe().map_err(not_begun)?;
        // Read beside, for a command that says more than a pipe holds waits for its reader.
        let said = start("said", move || {
            let mut bytes = Vec::new();
            let _ = read.by_ref().take(1 << 16).read_to_end(&mut bytes);
            let _ = io::copy(&mut read, &mut io::sink());
            bytes
        });
        let said = said.map_err(|e| not_begun(e.into()))?;
        let mut child = Command::new("/bin/sh")
            .args(["-c", line])
            .env("SEEKWELL_ARM", letter)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(write)
            .spawn()
            .map_err(not_begun)?;
        let mut asked: Option<Instant> = None;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => {}
                Err(e) => return Err(failed(format!("was lost: {e}"), String::new())),
            }
            if self.stopped() && asked.get_or_insert_with(Instant::now).elapsed() > GRACE {
                let _ = child.kill();
                let _ = child.wait();
                return Err(PrepareError::Interrupted);
            }
            std::thread::sleep(TICK);
        };
        if self.stopped() {
            return Err(PrepareError::Interrupted);
        }
        if status.success() {
            // What it left running in the background may hold the pipe: it is not waited for.
            return Ok(());
        }
        let bytes = said.join().unwrap_or_default();
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with status {code}"),
            (None, signal) => format!("was ended by signal {}", signal.unwrap_or(0)),
        };
        Err(failed(how, last_line(&bytes)))
    }
}

/// The last line of what a command said, without what a terminal would act on.
fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("");
    line.trim().chars().filter(|c| !c.is_control()).take(200).collect()
}

impl Rig for ThisMachine<'_> {
    fn prepare(&mut self, which: Arm, arm: &ArmSpec) -> Result<Vec<Applied>, PrepareError> {
        let mut applied = Vec::new();
        if let Some(setter) = &mut self.setter {
            if let Some(left) = setter.restore().into_iter().next() {
                return Err(PrepareError::Stuck(left));
            }
            applied =
                setter.apply(&arm.settings).map_err(|error| not_applied(&arm.settings, &error))?;
        }
        if let Some(line) = &arm.command {
            self.command(which, line)?;
        }
        Ok(applied)
    }

    fn settle(&mut self, pause: Nanos) {
        if is_modelled(&self.target) {
            // It is a new one each time.
            return;
        }
        let (begun, pause) = (Instant::now(), Duration::from(pause));
        while !self.stopped() && begun.elapsed() < pause {
            std::thread::sleep(TICK.min(pause - begun.elapsed().min(pause)));
        }
    }

    fn run(&mut self, arm: &ArmSpec, workload: &Workload) -> Result<Execution, ExecuteError> {
        self.executor.issue_by(self.engine_of(arm), arm.job.tags());
        if is_modelled(&self.target) {
            let gone = |_| ExecuteError::OpenFailed {
                path: path_text(&self.target),
                errno: Errno::NOENT.raw_os_error(),
            };
            self.executor.ask(model(&self.target, &arm.pairs()).map_err(gone)?);
        }
        self.executor.execute(workload)
    }

    fn condition(&mut self) -> Condition {
        let on_a_disk = self.target != Path::new("null") && !is_modelled(&self.target);
        let disk = on_a_disk.then(|| Disk::of(self.host.view, &self.target).ok()).flatten();
        let mut now = Condition::read(self.host.view, disk.as_ref().map(|d| d.dir.as_path()));
        if let Some(disk) = &disk {
            let vitals = Health::new(self.host.view, disk, Duration::MAX).read(self.host.view);
            let counts = vitals.errors.into_iter().filter_map(|(what, n)| Some((what, n?)));
            let name = &disk.identity.name;
            let own = smart::counts(disk);
            let all = counts.map(|(what, n)| (what.to_owned(), n)).chain(own);
            now.counts.extend(all.map(|(what, n)| (format!("{what} of {name}"), n)));
        }
        now
    }

    fn limit(&mut self, arm: &ArmSpec, workload: &Workload, repeat: &Repeat) -> Option<PhaseLimit> {
        let mut inspection =
            look(self.host.view, &self.target).unwrap_or_else(|_| self.seen.clone());
        let modelled = is_modelled(&self.target);
        if modelled {
            let model = model(&self.target, &arm.pairs()).ok();
            inspection.device = model.as_ref().and_then(described::device);
        }
        let mut phase = Phase::new("run", "run", Work::Drawn(workload.clone()));
        phase.metrics = metrics(std::slice::from_ref(repeat));
        phase.repeats.push(repeat.clone());
        let name = if modelled { "model" } else { self.engine_of(arm).issuer() };
        let engine =
            runs::Engine { name: name.to_owned(), notice: None, cost_ns_per_request: None };
        let tool = Tool { version: String::new(), git_commit: None };
        let (kind, at, made_by) = (RunKind::Bench, self.timestamp(), (tool, engine));
        let mut one = RunDocument::new(RunDocument::NOT_KEPT, kind, at, made_by, inspection);
        (one.modelled, one.phases) = (modelled, vec![phase]);
        seekwell_limits::judge(&one).limits.pop()
    }

    fn verify(&mut self) -> Result<(), String> {
        self.setter.as_ref().map_or(Ok(()), Setter::verify)
    }

    fn put_back(&mut self) -> Vec<NotRestored> {
        self.setter.as_mut().map_or_else(Vec::new, Setter::restore)
    }

    fn inspect(&mut self) -> Inspection {
        if let Some(line) = &self.baseline {
            // Commands cannot be undone; the baseline's can be repeated. Where it fails, the
            // inspection shows what is otherwise, and the first run says why.
            let _ = self.command(Arm::A, line);
        }
        if let Ok(now) = look(self.host.view, &self.target) {
            self.seen = now;
            if is_modelled(&self.target) {
                let model = model(&self.target, &[]).ok();
                self.seen.device = model.as_ref().and_then(described::device);
            }
        } else {
            // The document says that it was there before; that it is gone is a change.
            self.seen.device = None;
            self.seen.filesystem = None;
        }
        self.seen.clone()
    }

    fn boot_id(&self) -> String {
        let text = self.host.view.text(Path::new("/proc/sys/kernel/random/boot_id"));
        text.unwrap_or_default().trim().to_owned()
    }

    fn region(&self) -> Region {
        self.region
    }

    fn now(&self) -> Nanos {
        self.executor.now()
    }

    fn timestamp(&self) -> String {
        Timestamp::now().to_string()
    }
}
