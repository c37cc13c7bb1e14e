//! Settings of the arms, through the machinery of `seekwell tune`.
//!
//! Each run with settings is a trial of its own: journalled, applied in the right order by a guard
//! process, read back, and undone before the next run. So what a `kill -9` leaves behind is put
//! back by the guard when its time is up, whatever happened to this program.

use seekwell_experiment::{Applied, NotRestored, PrepareError, Setting};
use seekwell_sys::Live;
use seekwell_tune::apply::Limits;
use seekwell_tune::journal::Phase;
use seekwell_tune::setting::Risk;
use seekwell_tune::trial::{TrialRequest, TrialStatus, Tuner};
use seekwell_tune::{Commanded, Disk, TuneError, default_run_dir};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How much longer than the run itself a guard waits before it puts everything back.
const SLACK: Duration = Duration::from_secs(60);

/// How long a guard may take to leave after it has put everything back.
const LEAVING: Duration = Duration::from_secs(3);

/// Applies and puts back settings of one disk.
pub struct Setter {
    view: Commanded<Live>,
    disk: Disk,
    run_dir: PathBuf,
    /// How long a trial may last.
    time: Duration,
    /// Keys that the arms set: a trial of other keys is someone else's.
    keys: Vec<String>,
    /// The highest risk a setting may have.
    allow: Risk,
    active: bool,
    /// A trial that an earlier session may have left is looked for.
    adopt: bool,
}

impl Setter {
    /// For the disk `target` is on; runs last `run`. With `adopt`, a trial of the same keys that is
    /// still going on is taken for that of a killed session and undone.
    ///
    /// # Errors
    /// [`TuneError`] when there is no disk.
    pub fn new(
        target: &Path,
        run: Duration,
        keys: Vec<String>,
        adopt: bool,
    ) -> Result<Self, TuneError> {
        let view = Commanded::new(Live::system());
        let disk = Disk::of(&view, target)?;
        let run_dir = default_run_dir(std::env::var_os("SEEKWELL_RUN_DIR").as_deref());
        let (time, allow) = (run + SLACK, Risk::B);
        Ok(Self { view, disk, run_dir, time, keys, allow, active: false, adopt })
    }

    /// Lets settings of this risk through too, as an arm says it.
    pub fn allow(&mut self, letter: Option<char>) {
        let risks = [Risk::C, Risk::D].into_iter();
        let risk = letter.and_then(|l| risks.into_iter().find(|risk| risk.letter() == l));
        self.allow = risk.unwrap_or(Risk::B);
    }

    fn tuner(&self) -> Tuner<'_> {
        Tuner {
            view: &self.view,
            run_dir: self.run_dir.clone(),
            // No rule is ever written or removed by an experiment.
            rules_dir: PathBuf::new(),
            program: PathBuf::from("/proc/self/exe"),
        }
    }

    /// Applies settings and says what they were and are.
    ///
    /// # Errors
    /// [`TuneError`]; nothing is changed then, but for what it names.
    pub fn apply(&mut self, settings: &[Setting]) -> Result<Vec<Applied>, TuneError> {
        if settings.is_empty() {
            return Ok(Vec::new());
        }
        let request = TrialRequest {
            words: settings.iter().map(|s| format!("{}={}", s.key, s.value)).collect(),
            time: self.time,
            allow: self.allow,
            limits: Limits::default(),
            // Its reads would be measured with the rest.
            canary: false,
            owned: true,
        };
        let asked = Instant::now();
        let begun = loop {
            match self.tuner().begin(&self.disk, &request) {
                // The guard of a killed session puts everything back by itself and is about to go.
                Err(TuneError::Busy { .. }) if asked.elapsed() < LEAVING => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                done => break done?,
            }
        };
        self.active = true;
        let applied = begun.changed.into_iter();
        Ok(applied.map(|d| Applied { key: d.key, was: d.was, is: d.is }).collect())
    }

    /// The trial of this program, or of a session that was killed.
    fn going_on(&self) -> Result<Option<TrialStatus>, TuneError> {
        let all = self.tuner().status(Some(&self.disk))?;
        // Others change with a setting, so one key of ours is enough.
        let ours = |s: &TrialStatus| {
            s.changed.is_empty() || s.changed.iter().any(|c| self.keys.contains(&c.key))
        };
        let unsettled = |s: &TrialStatus| {
            matches!(s.phase, Phase::Applying | Phase::Trying | Phase::RollingBack)
        };
        Ok(all.into_iter().find(|s| unsettled(s) && (self.active || ours(s))))
    }

    /// What a guard that ended by itself could not put back.
    fn left_by_guard(&self) -> Vec<NotRestored> {
        let all = self.tuner().status(Some(&self.disk)).unwrap_or_default();
        let left = all.into_iter().flat_map(|s| s.left).filter(|key| self.keys.contains(key));
        let why = "its guard could not put it back; `seekwell tune undo` tries again";
        left.map(|key| NotRestored { key, wanted: "what it was".to_owned(), why: why.to_owned() })
            .collect()
    }

    /// Whether the settings are still applied.
    ///
    /// # Errors
    /// Why they are not, in words.
    pub fn verify(&self) -> Result<(), String> {
        if !self.active {
            return Ok(());
        }
        let all = self.tuner().status(Some(&self.disk)).map_err(|e| e.to_string())?;
        if all.iter().any(|s| s.phase == Phase::Trying) {
            return Ok(());
        }
        let why = all.into_iter().find_map(|s| s.ended_because);
        let why = why.unwrap_or_else(|| "its guard ended".to_owned());
        Err(format!("the settings were put back during the run: {why}"))
    }

    /// Puts back what is applied and says what could not be.
    pub fn restore(&mut self) -> Vec<NotRestored> {
        if !self.active && !self.adopt {
            return Vec::new();
        }
        let unknown = |error: TuneError| {
            vec![NotRestored {
                key: self.keys.join(", "),
                wanted: "what it was".to_owned(),
                why: error.to_string(),
            }]
        };
        let undone = match self.going_on() {
            Ok(None) => {
                let left = if self.active { self.left_by_guard() } else { Vec::new() };
                (self.active, self.adopt) = (false, false);
                return left;
            }
            Ok(Some(_)) => self.tuner().undo(Some(&self.disk)),
            Err(error) => return unknown(error),
        };
        match undone {
            Ok(undone) => {
                (self.active, self.adopt) = (false, false);
                let left = undone.outcome.left.into_iter();
                left.map(|l| NotRestored { key: l.key, wanted: l.wanted, why: l.error.to_string() })
                    .collect()
            }
            Err(error) => unknown(error),
        }
    }
}

impl Drop for Setter {
    fn drop(&mut self) {
        self.adopt = false;
        self.restore();
    }
}

/// An error of tune's as one of an arm.
pub fn not_applied(settings: &[Setting], error: &TuneError) -> PrepareError {
    let named = match error {
        TuneError::NotApplied { key, .. } => settings.iter().find(|s| s.key == *key),
        _ => None,
    };
    let first = named.or(settings.first());
    let (key, value) = first.map_or_else(Default::default, |s| (s.key.clone(), s.value.clone()));
    PrepareError::Setting { key, value, why: error.to_string() }
}
