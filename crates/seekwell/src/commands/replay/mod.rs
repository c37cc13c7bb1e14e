//! `seekwell replay`: recorded requests on another disk, and how faithfully they were played.

mod error;
mod lanes;
mod play;
mod record;

pub use error::ReplayError;
pub use lanes::bounds;
pub use play::SPIN;
pub use record::{fidelity, judged};

use super::show;
use crate::Ended;
use crate::cli::replay::{Mode, Replay, Times};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::session::{self, RunOptions};
use crate::signals;
use lanes::Lane;
use play::Stage;
use seekwell_io::dispatch::TagPolicy;
use seekwell_io::engine::Control;
use seekwell_io::units::Nanos;
use seekwell_runs::Kind;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats;
use seekwell_trace::record::Record;
use seekwell_trace::replay::{Moment, Survey, survey};
use seekwell_trace::source::{About, Tables, TraceSource};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What one pass over the trace told.
pub struct Surveyed {
    about: About,
    tables: Tables,
    survey: Survey,
}

pub fn run(args: &Replay, context: &Context) -> Ended {
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let line = Line::plain(context.progress);
    let surveyed = look(args, context, &line)?;
    if context.control.stop.load(Relaxed) {
        return Ok(Exit::Interrupted);
    }
    check(args, &surveyed)?;
    let lanes = lanes::prepare(args, &surveyed, context, &line)?;
    line.clear();
    say(args, &surveyed, &lanes, context);

    let options = RunOptions {
        kind: Kind::Replay,
        label: args.label.as_deref(),
        keep: !args.no_keep,
        engine: args.engine,
    };
    let mut session = session::begin(context, options, lanes[0].inspection.clone())?;
    session.document.medium = Some(lanes[0].medium.clone());
    session.document.phases = lanes.iter().map(|l| record::phase(l, args, &surveyed)).collect();
    session.save();
    let stage = Stage {
        args,
        lanes: &lanes,
        first: surveyed.survey.first,
        span: surveyed.survey.span(),
        engine: session.engine(),
        context,
    };
    for round in 0..args.repeats {
        if context.control.stop.load(Relaxed) {
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
    let interrupted = context.control.stop.load(Relaxed);
    record::close(&mut session, interrupted);
    session.conclude(interrupted, args.size);
    show(context, &session::end(session), None)
}

/// Which recorded time counts.
const fn moment(args: &Replay) -> Moment {
    match args.times {
        Times::Queue => Moment::Queue,
        Times::Issue => Moment::Issue,
    }
}

/// The rule over tags, where one was asked for.
fn tags(args: &Replay) -> Option<(TagPolicy, u32)> {
    args.tags.map(|tags| (args.tag_policy, tags))
}

/// A source that ends when the user has had enough.
struct Heeding<'a> {
    source: Box<dyn TraceSource + Send>,
    control: &'a Control,
    line: &'a Line,
    read: u64,
}

impl TraceSource for Heeding<'_> {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        if self.control.stop.load(Relaxed) {
            return Ok(());
        }
        let before = out.len();
        self.source.read(out)?;
        self.read += (out.len() - before) as u64;
        self.line.say(&format!("reading the trace: {} requests", self.read));
        Ok(())
    }
    fn about(&self) -> &About {
        self.source.about()
    }
    fn tables(&self) -> &Tables {
        self.source.tables()
    }
}

fn look(args: &Replay, context: &Context, line: &Line) -> Result<Surveyed, CommandError> {
    let source = formats::open_file(&args.trace, args.from)?;
    let mut source = Heeding { source, control: &context.control, line, read: 0 };
    let survey = survey(&mut source, moment(args))?;
    let (about, tables) = (source.about().clone(), source.tables().clone());
    Ok(Surveyed { about, tables, survey })
}

/// Whether the trace tells what the mode needs.
fn check(args: &Replay, surveyed: &Surveyed) -> Result<(), ReplayError> {
    let Surveyed { about, survey, .. } = surveyed;
    if survey.total() == 0 {
        return Err(ReplayError::Empty { path: args.trace.clone() });
    }
    if args.mode != Mode::Depth {
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
    match (args.mode, args.depth) {
        (Mode::Depth, None) => Err(ReplayError::NoCompletions {
            what: "how many were outstanding",
            instead: "--depth N",
        }),
        (Mode::Dependent, _) => Err(ReplayError::NoCompletions {
            what: "what each of them had waited for",
            instead: "--mode timed or --mode depth --depth N",
        }),
        _ => Ok(()),
    }
}

/// Says beforehand what will not be as recorded.
fn say(args: &Replay, surveyed: &Surveyed, lanes: &[Lane], context: &Context) {
    let Surveyed { about, survey, .. } = surveyed;
    if !about.complete() {
        context.note("the trace is incomplete: what was lost while recording is not played");
    }
    if survey.untimed > 0 && args.mode != Mode::Depth {
        context.note(&format!("{} requests have no time and are left out", survey.untimed));
    }
    for lane in lanes {
        let [_, writes, flushes, discards] = lane.survey.requests;
        if !lane.writes && writes + flushes + discards > 0 {
            context.note(&format!(
                "NOT PLAYED on {}: {writes} writes, {flushes} flushes and {discards} discards; \
                 only reads are, for it was not given to be destroyed (--destroy SERIAL, or a \
                 directory)",
                lane.path.display()
            ));
        }
        if args.depth.is_none() && lane.depth < lanes::DEPTH {
            context.note(&format!(
                "at most {} requests are outstanding on {}, for each may be {} KiB long",
                lane.depth,
                lane.path.display(),
                lane.longest_bytes >> 10
            ));
        }
        if lane.survey.longest_bytes > lane.longest_bytes {
            context.note(&format!(
                "requests longer than {} KiB are split on {}",
                lane.longest_bytes >> 10,
                lane.path.display()
            ));
        }
    }
}
