//! A suite's rounds, each step kept as soon as it has ended.

use crate::{
    Finished, Host, Purpose, RunError, Session, Watcher, described, look, machine, model, sweep,
};
use seekwell_inspect::{Inspection, TargetKind};
use seekwell_io::measurement::Stopped;
use seekwell_io::units::{Nanos, time_left};
use seekwell_runs::{Medium, Phase, Skipped, Status};
use seekwell_suites::{Place, Round, Settings, Suite, SuiteError, record};
use seekwell_sys::{DevId, path_text, text_path};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Progress is shown at most this often.
const TICK: Duration = Duration::from_millis(250);

/// Which suite is run, and how.
pub struct SuiteOptions<'a> {
    /// The suite.
    pub suite: &'static Suite,
    /// What of it was set.
    pub settings: Settings,
    /// Changed parameters of a modelled machine.
    pub set: &'a [(String, String)],
    /// Where its files go, what it reads, or the modelled machine that plays it.
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
    let mut inspection = look(host.view, options.target)?;
    let place = place(options, &inspection)?;
    if let Place::Directory(path) = &place {
        sweep(path, |text| watcher.note(text));
    }
    let device = inspection.device.as_ref().and_then(|d| d.dev.parse::<DevId>().ok());
    let whole = Whole { options, host, place, device };
    // Whatever is wrong with the target is said before a run is kept.
    drop(whole.round(0)?);
    if let Place::Machine(model) = &whole.place {
        inspection.device = described::device(model);
    }
    let mut session = Session::begin(host, watcher, purpose, inspection)?;
    if !session.document.modelled {
        session.document.engine = seekwell_runs::Engine {
            name: "system calls".into(),
            notice: None,
            cost_ns_per_request: None,
        };
    }
    session.document.medium = Some(whole.medium());
    let ended = whole.measure(&mut session);
    let interrupted = matches!(ended, Err(SuiteError::Interrupted));
    session.widen(|_, _| None);
    session.conclude(interrupted, None);
    let failed = ended.err().filter(|_| !interrupted);
    if failed.is_some() {
        session.document.status = Status::Failed;
    }
    Ok((session.end(), failed))
}

/// A step, and about how long it takes in real time, or why it is not run.
pub struct Announced {
    /// For people.
    pub title: String,
    /// The time, or the reason.
    pub takes: Result<Nanos, String>,
}

/// What a suite will do. On a modelled machine the beginning of each step is played for that.
///
/// # Errors
/// As for [`suite`].
pub fn announce(host: Host<'_>, options: &SuiteOptions<'_>) -> Result<Vec<Announced>, RunError> {
    let place = place(options, &look(host.view, options.target)?)?;
    let steps = (options.suite.steps)(&options.settings);
    let announced = |step: seekwell_suites::Step| {
        let takes = match place.lacks(&step) {
            Some(why) => Err(why),
            None => Ok(place.takes(&step, host.control)?),
        };
        Ok(Announced { title: step.title, takes })
    };
    steps.into_iter().map(announced).collect()
}

/// Opens the target as the suite needs it.
fn place(options: &SuiteOptions<'_>, inspection: &Inspection) -> Result<Place, RunError> {
    let (suite, path) = (options.suite, text_path(&inspection.path));
    if inspection.kind != TargetKind::Machine && !options.set.is_empty() {
        return Err(RunError::NoParameters { path });
    }
    Ok(match inspection.kind {
        TargetKind::Machine => {
            let model = model(options.target, options.set)?;
            if model.zones().is_some() {
                return Err(RunError::OnlyInOrder { machine: path });
            }
            Place::Machine(Box::new(model))
        }
        TargetKind::Directory => Place::Directory(path),
        TargetKind::BlockDevice | TargetKind::File => Place::reads(suite, path)?,
        TargetKind::Null => return Err(suite.wrong(options.target, "target without data").into()),
    })
}

/// All rounds of a suite.
struct Whole<'a> {
    options: &'a SuiteOptions<'a>,
    host: Host<'a>,
    place: Place,
    device: Option<DevId>,
}

impl Whole<'_> {
    fn round(&self, number: u32) -> Result<Round<'_>, SuiteError> {
        let (suite, settings) = (self.options.suite, &self.options.settings);
        Round::begin(suite, settings, &self.place, self.device, self.seed(number))
    }

    /// What is measured: the suite's own files, the target itself, or a modelled machine.
    fn medium(&self) -> Medium {
        let direct = (self.options.suite.direct)(&self.options.settings);
        match &self.place {
            Place::Directory(path) => {
                let size_bytes = (self.options.suite.needs)(&self.options.settings).bytes;
                Medium::TemporaryFile { directory: path_text(path), size_bytes, direct }
            }
            Place::Reads { opened, .. } => Medium::ReadOnly {
                size_bytes: opened.size_bytes(),
                direct: direct && opened.direct(),
                device: None,
            },
            Place::Machine(model) => machine(model, self.options.set),
        }
    }

    fn seed(&self, number: u32) -> u64 {
        self.options.seed.wrapping_add(u64::from(number))
    }

    /// Runs all rounds, keeping what each step gave as soon as it has given it.
    fn measure(&self, session: &mut Session<'_, impl Watcher>) -> Result<(), SuiteError> {
        let steps = (self.options.suite.steps)(&self.options.settings);
        let mut expected = Vec::with_capacity(steps.len());
        for step in &steps {
            let mut phase = record::phase(self.options.suite, step, &self.options.settings);
            let why = self.place.lacks(step);
            expected.push(match why {
                Some(_) => None,
                None => Some(self.place.takes(step, self.host.control)?),
            });
            phase.skipped = why.map(Skipped::Because).or(phase.skipped);
            session.document.phases.push(phase);
        }
        drop(steps);
        session.save();
        let mut eta = Eta::new(&expected, self.options.repeats);
        for number in 0..self.options.repeats {
            let mut round = self.round(number)?;
            for (index, planned) in expected.iter().enumerate() {
                let Some(planned) = *planned else { continue };
                self.step(session, &mut round, (number, index), (planned, &eta))?;
                eta.done += planned;
            }
        }
        Ok(())
    }

    fn step<W: Watcher>(
        &self,
        session: &mut Session<'_, W>,
        round: &mut Round,
        (number, index): (u32, usize),
        (expected, eta): (Nanos, &Eta),
    ) -> Result<(), SuiteError> {
        let title = round.steps()[index].title.clone();
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
        let result = round.run(index, self.host.control, &progress);
        let (phases, seed) = (&mut session.document.phases, self.seed(number));
        match &result {
            Ok(result) => {
                let detail = record::keep(&mut phases[index], result, seed);
                session.detail.repeats.extend(detail);
            }
            Err(SuiteError::Interrupted) => {
                not_reached(phases, &Skipped::Interrupted);
            }
            Err(error) => {
                let why = error.to_string();
                record::keep_failure(&mut phases[index], &why, Stopped::Failed, seed);
                not_reached(phases, &Skipped::NotReached);
            }
        }
        session.save();
        result.map(drop)
    }
}

/// Says why phases were not run that could have been.
fn not_reached(phases: &mut [Phase], why: &Skipped) {
    let open = |phase: &&mut Phase| {
        phase.repeats.is_empty() && !matches!(phase.skipped, Some(Skipped::Because(_)))
    };
    phases.iter_mut().filter(open).for_each(|phase| phase.skipped = Some(why.clone()));
}

/// How long it will still take: what is planned, stretched by how much longer than planned it has
/// taken so far.
struct Eta {
    began: Instant,
    whole: Nanos,
    done: Nanos,
}

impl Eta {
    fn new(expected: &[Option<Nanos>], rounds: u32) -> Self {
        let round: u64 = expected.iter().flatten().map(|n| n.0).sum();
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
