//! A suite's rounds, each step kept as soon as it has ended.

use crate::{Finished, Host, Purpose, RunError, Session, Watcher, sweep};
use seekwell_inspect::{Target, TargetKind, inspect};
use seekwell_io::measurement::Stopped;
use seekwell_io::units::{Nanos, time_left};
use seekwell_runs::{Medium, Status};
use seekwell_suites::{Round, Settings, Suite, SuiteError, record};
use seekwell_sys::{DevId, path_text, text_path};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Progress is told at most this often.
const TICK: Duration = Duration::from_millis(250);

/// Which suite is run, and how.
pub struct SuiteOptions<'a> {
    /// The suite.
    pub suite: &'static Suite,
    /// What of it was set.
    pub settings: Settings,
    /// Where its files go, or the target that it reads.
    pub target: &'a Path,
    /// Rounds.
    pub repeats: u32,
    /// Of all that is drawn.
    pub seed: u64,
}

/// Runs a suite. What ended it early, where something did, stands beside the run.
///
/// # Errors
/// [`RunError`] for what is wrong before anything is measured.
pub fn suite<W: Watcher>(
    host: Host<'_>,
    watcher: W,
    purpose: Purpose,
    options: &SuiteOptions<'_>,
) -> Result<(Finished, Option<SuiteError>), RunError> {
    let inspection = inspect(host.view, &Target::resolve(host.view, options.target)?);
    let whole = Whole {
        options,
        host,
        target: text_path(&inspection.path),
        is_dir: inspection.kind == TargetKind::Directory,
        device: inspection.device.as_ref().and_then(|d| d.dev.parse::<DevId>().ok()),
    };
    if whole.is_dir {
        sweep(&whole.target, |text| watcher.note(text));
    }
    // Whatever is wrong with the target is said before a run is kept.
    drop(whole.round(0)?);
    let mut session = Session::begin(host, watcher, purpose, inspection)?;
    session.document.engine = seekwell_runs::Engine {
        name: "system calls".into(),
        notice: None,
        cost_ns_per_request: None,
    };
    session.document.medium = whole.medium();
    let ended = whole.measure(&mut session);
    let interrupted = matches!(ended, Err(SuiteError::Interrupted));
    session.conclude(interrupted, None);
    let failed = ended.err().filter(|_| !interrupted);
    if failed.is_some() {
        session.document.status = Status::Failed;
    }
    Ok((session.end(), failed))
}

/// All rounds of a suite.
struct Whole<'a> {
    options: &'a SuiteOptions<'a>,
    host: Host<'a>,
    target: PathBuf,
    is_dir: bool,
    device: Option<DevId>,
}

impl Whole<'_> {
    fn round(&self, number: u32) -> Result<Round, SuiteError> {
        let (target, seed) = (&self.target, self.seed(number));
        Round::begin(
            self.options.suite,
            &self.options.settings,
            target,
            self.is_dir,
            self.device,
            seed,
        )
    }

    /// What is measured: the suite's own files, or the target itself.
    fn medium(&self) -> Option<Medium> {
        let direct = (self.options.suite.direct)(&self.options.settings);
        if self.is_dir {
            let size_bytes = (self.options.suite.needs)(&self.options.settings).bytes;
            let directory = path_text(&self.target);
            return Some(Medium::TemporaryFile { directory, size_bytes, direct });
        }
        let end = File::open(&self.target).and_then(|mut file| file.seek(SeekFrom::End(0)));
        end.ok().map(|size_bytes| Medium::ReadOnly { size_bytes, direct, device: None })
    }

    fn seed(&self, number: u32) -> u64 {
        self.options.seed.wrapping_add(u64::from(number))
    }

    /// Runs all rounds, keeping what each step gave as soon as it has given it.
    fn measure(&self, session: &mut Session<'_, impl Watcher>) -> Result<(), SuiteError> {
        let steps = (self.options.suite.steps)(&self.options.settings);
        let phases = steps
            .iter()
            .map(|step| record::phase(self.options.suite, step, &self.options.settings));
        session.document.phases = phases.collect();
        let expected: Vec<Nanos> = steps.iter().map(|s| s.expected).collect();
        drop(steps);
        session.save();
        let mut eta = Eta::new(&expected, self.options.repeats);
        for number in 0..self.options.repeats {
            let mut round = self.round(number)?;
            for (index, planned) in expected.iter().enumerate() {
                self.step(session, &mut round, (number, index), &eta)?;
                eta.done += *planned;
            }
        }
        Ok(())
    }

    fn step<W: Watcher>(
        &self,
        session: &mut Session<'_, W>,
        round: &mut Round,
        (number, index): (u32, usize),
        eta: &Eta,
    ) -> Result<(), SuiteError> {
        let step = &round.steps()[index];
        let (title, expected) = (step.title.clone(), step.expected);
        let told = Mutex::new(Instant::now());
        eta.tell(&session.line, &title, Nanos::ZERO);
        let line = &session.line;
        let progress = |share: f64| {
            let Ok(mut last) = told.try_lock() else { return };
            if last.elapsed() >= TICK {
                *last = Instant::now();
                let part = expected.as_secs_f64() * share.clamp(0.0, 1.0);
                eta.tell(line, &title, Nanos::from_secs_f64(part));
            }
        };
        let result = round.run(index, &self.host.control.stop, &progress);
        let (phases, seed) = (&mut session.document.phases, self.seed(number));
        match &result {
            Ok(result) => {
                let detail = record::keep(&mut phases[index], result, seed);
                session.detail.repeats.extend(detail);
            }
            Err(SuiteError::Interrupted) => {
                let not_run = phases.iter_mut().filter(|p| p.repeats.is_empty());
                not_run.for_each(|phase| phase.skipped = Some(seekwell_runs::Skipped::Interrupted));
            }
            Err(error) => {
                let why = error.to_string();
                record::keep_failure(&mut phases[index], &why, Stopped::Failed, seed);
                let not_run = phases.iter_mut().filter(|p| p.repeats.is_empty());
                not_run.for_each(|phase| phase.skipped = Some(seekwell_runs::Skipped::NotReached));
            }
        }
        session.save();
        result.map(drop)
    }
}

/// How long it will still take: what is planned, stretched by how much longer than planned it has
/// taken so far.
struct Eta {
    began: Instant,
    whole: Nanos,
    done: Nanos,
}

impl Eta {
    fn new(expected: &[Nanos], rounds: u32) -> Self {
        let round: u64 = expected.iter().map(|n| n.0).sum();
        let whole = Nanos(round.saturating_mul(u64::from(rounds)).max(1));
        Self { began: Instant::now(), whole, done: Nanos::ZERO }
    }

    fn tell(&self, watcher: &impl Watcher, title: &str, part: Nanos) {
        let done = (self.done + part).as_secs_f64();
        let (whole, taken) = (self.whole.as_secs_f64(), self.began.elapsed().as_secs_f64());
        let stretch = if done > 1.0 { (taken / done).max(0.05) } else { 1.0 };
        let left = Nanos::from_secs_f64((whole - done).max(0.0) * stretch);
        let what = format!("{title} · {} left", time_left(left));
        watcher.part(&what, (done * 1000.0) as u64, (whole * 1000.0) as u64);
    }
}
