//! What of a replay goes into the run document.

use super::lanes::Lane;
use super::play::{PlayError, Played};
use super::{Surveyed, tags};
use crate::cli::replay::{Fit, Mode, Replay, Times};
use crate::session::Session;
use seekwell_checkup::{detail, metrics, summarize};
use seekwell_io::measurement::Stopped;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_run::replay_bounds::{fidelity, judged};
use seekwell_runs::{Invalid, Phase, Repeat, Replay as Replayed, ReplayMode, Work};
use seekwell_sys::path_text;
use seekwell_trace::replay::Skipped;
use std::collections::BTreeMap;

/// A phase that has not been run.
pub fn phase(lane: &Lane, args: &Replay, surveyed: &Surveyed) -> Phase {
    let file = args.trace.file_name().unwrap_or(args.trace.as_os_str()).to_string_lossy();
    let (mode, how) = match args.mode {
        Mode::Timed => (ReplayMode::Timed, "at its recorded times".to_owned()),
        Mode::Depth => match args.depth {
            Some(depth) => (ReplayMode::Depth, format!("at depth {depth}")),
            None => (ReplayMode::Depth, "at its recorded depth".to_owned()),
        },
        Mode::Dependent => (ReplayMode::Dependent, "as its programs waited".to_owned()),
    };
    let named = |n: &String| (format!("-{}", slug(n)), format!(" of {n} in"));
    let (tail, of) = lane.recorded.as_ref().map(named).unwrap_or_default();
    let how = match args.on {
        Some(_) => how,
        None => format!("on {} {how}", lane.path.display()),
    };
    let (tail, mut how) = match tags(args) {
        None => (tail, how),
        Some((policy, tags)) => (
            format!("{tail}-{}-{tags}", policy.name()),
            format!("{how}, {tags} tags {}", policy.name()),
        ),
    };
    if args.speed.to_bits() != 1.0f64.to_bits() && args.mode != Mode::Depth {
        how += &format!(", {} times as fast", args.speed);
    }
    let requests = Op::ALL.into_iter().zip(lane.survey.requests).filter(|(_, n)| *n > 0);
    Phase {
        name: format!("replay-{}-{}{tail}", slug(&file), mode_name(args.mode)),
        title: format!("replay{of} {file} {how}"),
        workload: Work::Replayed(Replayed {
            trace: file.into_owned(),
            format: surveyed.about.format.clone(),
            complete: surveyed.about.complete(),
            recorded_device: lane.recorded.clone(),
            requests: requests.map(|(op, n)| (op.name().to_owned(), n)).collect(),
            span_ns: surveyed.survey.span(),
            mode,
            times: if args.times == Times::Queue { "queue" } else { "issue" }.into(),
            speed: args.speed,
            depth: lane.depth,
            recorded_depth: args.mode == Mode::Depth && args.depth.is_none(),
            tags: tags(args).map(|(_, tags)| tags),
            tag_policy: tags(args).map(|(policy, _)| policy.name().to_owned()),
            fit: match args.fit {
                Fit::Fail => "fail",
                Fit::Modulo => "modulo",
                Fit::Scale => "scale",
            }
            .into(),
            writes: lane.writes,
        }),
        skipped: Some(seekwell_runs::Skipped::NotReached),
        repeats: Vec::new(),
        metrics: BTreeMap::new(),
    }
}

const fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Timed => "timed",
        Mode::Depth => "depth",
        Mode::Dependent => "dependent",
    }
}

/// Letters, digits and dashes of a name, so that a phase can be typed.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    name.chars().map(plain).take(60).collect()
}

/// Adds what a round gave to the document.
pub fn keep(
    session: &mut Session<'_>,
    lanes: &[Lane],
    played: &[Result<Played, PlayError>],
    seed: u64,
) {
    // The kernel counts the CPU time of the whole process: lanes share it by their requests.
    let all: u64 = played.iter().flatten().map(|p| p.measurement.requests()).sum();
    for (i, (lane, played)) in lanes.iter().zip(played).enumerate() {
        let repeat = match played {
            Ok(played) => {
                let share = played.measurement.requests() as f64 / all.max(1) as f64;
                let number = session.document.phases[i].repeats.len() as u32;
                if played.measurement.requests() > 0 {
                    let name = &session.document.phases[i].name;
                    session.detail.repeats.push(detail(name, number, &played.measurement));
                }
                repeat_of(lane, played, seed, if lanes.len() > 1 { share } else { 1.0 })
            }
            Err(error) => Repeat {
                invalid: Some(error.to_string().into()),
                ..Repeat::new(seed, Stopped::Failed)
            },
        };
        let phase = &mut session.document.phases[i];
        phase.skipped = None;
        phase.repeats.push(repeat);
        phase.metrics = metrics(&phase.repeats);
    }
}

fn repeat_of(lane: &Lane, played: &Played, seed: u64, cpu_share: f64) -> Repeat {
    let mut repeat = summarize(&played.measurement, played.device, seed);
    let part = |time: Nanos| Nanos((time.0 as f64 * cpu_share) as u64);
    (repeat.cpu_user_ns, repeat.cpu_system_ns) =
        (part(repeat.cpu_user_ns), part(repeat.cpu_system_ns));
    if played.gone {
        repeat.invalid = Some(Invalid::device_gone(None));
    }
    let skipped = match &played.skipped {
        Ok(skipped) => *skipped,
        Err(error) => {
            repeat.invalid = Some(error.to_string().into());
            Skipped::default()
        }
    };
    if repeat.invalid.is_none() {
        repeat.invalid = judged(&played.fidelity, &path_text(&lane.path));
    }
    repeat.fidelity = Some(fidelity(&played.fidelity, &skipped));
    repeat
}

/// Whether another round would give nothing either.
pub fn is_hopeless(phase: &Phase) -> bool {
    let last = phase.repeats.last();
    last.is_some_and(|r| r.stopped != Stopped::Finished || r.ops.is_empty())
}

/// Says of phases that gave nothing why not.
pub fn close(session: &mut Session<'_>, interrupted: bool) {
    if interrupted {
        for phase in session.document.phases.iter_mut().filter(|p| p.repeats.is_empty()) {
            phase.skipped = Some(seekwell_runs::Skipped::Interrupted);
        }
    }
}
