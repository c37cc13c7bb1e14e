//! Replay: recorded requests on another disk, and how faithfully they were played.

mod error;
mod lanes;
mod play;
mod record;

pub use error::ReplayError;
pub use lanes::bounds;
pub use play::SPIN;
pub use record::{fidelity, judged};

use crate::{Finished, Host, Purpose, RunError, Session, Source, Watcher};
use lanes::Lane;
use play::Stage;
use seekwell_access::Fingerprint;
use seekwell_io::dispatch::TagPolicy;
use seekwell_io::units::{Nanos, time_left};
use seekwell_runs::ReplayMode;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{self, Doubt, Reading};
use seekwell_trace::record::Record;
use seekwell_trace::replay::{Fit, Moment, Survey, survey};
use seekwell_trace::source::{About, Tables, TraceSource};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

/// A replay at recorded times that lasts longer says so beforehand, in seconds.
const LONG_S: f64 = 120.0;

/// Which trace is replayed, where and how.
#[derive(Debug, Clone)]
pub struct ReplayOptions {
    /// The trace.
    pub trace: PathBuf,
    /// How it is read, if its first bytes do not show it.
    pub reading: Reading,
    /// What is played where.
    pub targets: Targets,
    /// When requests are issued.
    pub mode: ReplayMode,
    /// So many times as fast as recorded.
    pub speed: f64,
    /// The most requests outstanding; `None` is what buffers allow or, with [`ReplayMode::Depth`],
    /// as many as in the recording.
    pub depth: Option<u32>,
    /// What to do where the recorded disk was larger than the target.
    pub fit: Fit,
    /// The recorded time that counts.
    pub moment: Moment,
    /// Requests issued later than this count as late.
    pub late: Nanos,
    /// Size of the temporary file, or of the part of the target used.
    pub size_bytes: Option<u64>,
    /// Rounds.
    pub repeats: u32,
    /// A limit on outstanding requests, and who gets a free tag.
    pub tags: Option<(TagPolicy, u32)>,
    /// Serial numbers of the devices that may be overwritten, `none` for a target that may not: one
    /// for each target, or none at all.
    pub destroy: Vec<String>,
    /// Fingerprints of unknown data that may be overwritten.
    pub accept_data: Vec<Fingerprint>,
    /// Changed parameters of a modelled machine.
    pub set: Vec<(String, String)>,
}

/// Which recorded devices are played on which targets.
#[derive(Debug, Clone)]
pub enum Targets {
    /// One on one.
    One {
        /// The target.
        on: PathBuf,
        /// The recorded device, where the trace has several.
        device: Option<String>,
    },
    /// Each recorded device on a target of its own.
    Mapped(Vec<(String, PathBuf)>),
}

/// What one pass over the trace found.
struct Surveyed {
    about: About,
    tables: Tables,
    survey: Survey,
}

/// Replays a trace. `None` when it was interrupted before anything was played.
///
/// # Errors
/// [`RunError`] when the trace, the targets or the safety rules do not allow it.
pub fn replay<W: Watcher>(
    host: Host<'_>,
    watcher: W,
    purpose: Purpose,
    options: &ReplayOptions,
) -> Result<Option<Finished>, RunError> {
    let surveyed = look(options, host, &watcher)?;
    let stopped = || host.control.stop.load(Relaxed);
    if stopped() {
        return Ok(None);
    }
    check(options, &surveyed)?;
    let mut lanes = lanes::prepare(options, &surveyed, host, &watcher)?;
    announce(options, &surveyed, &lanes, &watcher);

    let mut session = Session::begin(host, watcher, purpose, lanes[0].inspection.clone())?;
    for lane in &mut lanes {
        lane.settle(session.engine(), options, &session.line);
    }
    session.document.medium = Some(lanes[0].medium.clone());
    session.document.phases = lanes.iter().map(|l| record::phase(l, options, &surveyed)).collect();
    session.save();
    let stage = Stage {
        options,
        lanes: &lanes,
        first: surveyed.survey.first,
        span: surveyed.survey.span(),
        engine: session.engine(),
        host,
    };
    for round in 0..options.repeats {
        if stopped() {
            break;
        }
        let played = stage.round(round, &session.line);
        record::keep(&mut session, &lanes, &played, u64::from(round));
        session.save();
        if session.document.phases.iter().any(record::is_hopeless) {
            break;
        }
    }
    drop(lanes);
    let interrupted = stopped();
    record::close(&mut session, interrupted);
    session.conclude(interrupted, options.size_bytes);
    Ok(Some(session.end()))
}

/// A source that ends when the user has had enough.
struct Heeding<'a, W> {
    source: Box<dyn TraceSource + Send>,
    host: Host<'a>,
    watcher: &'a W,
    read: u64,
}

impl<W: Watcher> TraceSource for Heeding<'_, W> {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        if self.host.control.stop.load(Relaxed) {
            return Ok(());
        }
        let before = out.len();
        self.source.read(out)?;
        self.read += (out.len() - before) as u64;
        self.watcher.doing(&format!("reading the trace: {} requests", self.read));
        Ok(())
    }
    fn about(&self) -> &About {
        self.source.about()
    }
    fn tables(&self) -> &Tables {
        self.source.tables()
    }
}

fn look(
    options: &ReplayOptions,
    host: Host<'_>,
    watcher: &impl Watcher,
) -> Result<Surveyed, TraceError> {
    let source = formats::open_file(&options.trace, &options.reading)?;
    let mut source = Heeding { source, host, watcher, read: 0 };
    let survey = survey(&mut source, options.moment)?;
    let (about, tables) = (source.about().clone(), source.tables().clone());
    Ok(Surveyed { about, tables, survey })
}

/// Whether the trace has what the mode needs.
fn check(options: &ReplayOptions, surveyed: &Surveyed) -> Result<(), ReplayError> {
    let Surveyed { about, survey, .. } = surveyed;
    if survey.total() == 0 {
        return Err(ReplayError::Empty { path: options.trace.clone() });
    }
    if options.mode != ReplayMode::Depth {
        if survey.untimed == survey.total() {
            let why = "the trace does not tell when requests came".to_owned();
            return Err(ReplayError::NoTimes { why });
        }
        if let Some(step) = about.time_step_ns {
            let why = format!("the trace's times come in steps of {}", Nanos(step));
            return Err(ReplayError::NoTimes { why });
        }
    }
    if survey.devices.iter().any(|d| d.with_completion > 0) {
        return Ok(());
    }
    match (options.mode, options.depth) {
        (ReplayMode::Depth, None) => Err(ReplayError::NoCompletions {
            what: "how many were outstanding",
            instead: "--depth N",
        }),
        (ReplayMode::Dependent, _) => Err(ReplayError::NoCompletions {
            what: "what each of them had waited for",
            instead: "--mode timed or --mode depth --depth N",
        }),
        _ => Ok(()),
    }
}

/// Says beforehand what will differ from the recording.
fn announce(options: &ReplayOptions, surveyed: &Surveyed, lanes: &[Lane], watcher: &impl Watcher) {
    let Surveyed { about, survey, .. } = surveyed;
    if !about.complete() {
        watcher.note("the trace is incomplete: what was lost while recording is not played");
    }
    let timed = options.mode == ReplayMode::Timed
        && !lanes.iter().any(|lane| matches!(lane.source, Source::Modelled(_)));
    let lasts_s = survey.span().as_secs_f64() / options.speed * f64::from(options.repeats);
    if timed && lasts_s > LONG_S {
        watcher.note(&format!(
            "this takes {}: --speed N plays the trace N times as fast, --mode depth without its \
             pauses",
            time_left(Nanos((lasts_s * 1e9) as u64))
        ));
    }
    if survey.bios > 0 {
        watcher.note(&format!(
            "{} requests were merged with others or split on their way to the recorded device; \
             what is played is what the device got",
            survey.bios
        ));
    }
    if let Some(doubt) = Doubt::of(about, survey.total(), Some(survey.span().0)) {
        watcher.note(&doubt.to_string());
    }
    if survey.untimed > 0 && options.mode != ReplayMode::Depth {
        watcher.note(&format!("{} requests have no time and are left out", survey.untimed));
    }
    for lane in lanes {
        let [_, writes, flushes, discards] = lane.survey.requests;
        let path = lane.path.display();
        if !lane.writes && writes + flushes + discards > 0 {
            watcher.note(&format!(
                "NOT PLAYED on {path}: {writes} writes, {flushes} flushes and {discards} discards; \
                 only reads are, for it was not given to be destroyed (--destroy SERIAL, or a \
                 directory)"
            ));
        }
        if options.depth.is_none() && lane.depth < lanes::DEPTH {
            watcher.note(&format!(
                "at most {} requests are outstanding on {path}, for each may be {} KiB long",
                lane.depth,
                lane.longest_bytes >> 10
            ));
        }
        if lane.survey.longest_bytes > lane.longest_bytes {
            watcher.note(&format!(
                "requests longer than {} KiB are split on {path}",
                lane.longest_bytes >> 10
            ));
        }
    }
}
