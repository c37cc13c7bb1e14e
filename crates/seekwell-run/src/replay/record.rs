//! What of a replay goes into the run document.

use super::lanes::{Lane, Taken};
use super::play::{PlayError, Played};
use super::{ReplayOptions, Surveyed, Targets};
use crate::{Session, Watcher};
use seekwell_checkup::{detail, latency, metrics, summarize};
use seekwell_io::measurement::Stopped;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_runs::{Fidelity, Invalid, Phase, Repeat, Replay as Replayed, ReplayMode, Work};
use seekwell_sys::path_text;
use seekwell_trace::replay::{Skipped, Verdict};
use std::collections::BTreeMap;

/// A phase that has not been run.
pub fn phase(lane: &Lane, options: &ReplayOptions, surveyed: &Surveyed) -> Phase {
    let file = options.trace.file_name().unwrap_or(options.trace.as_os_str()).to_string_lossy();
    let by_depth = options.mode == ReplayMode::Depth;
    let how = match (options.mode, options.depth) {
        (ReplayMode::Timed, _) => "at its recorded times".to_owned(),
        (ReplayMode::Depth, Some(depth)) => format!("at depth {depth}"),
        (ReplayMode::Depth, None) => "at its recorded depth".to_owned(),
        (ReplayMode::Dependent, _) => "as its programs waited".to_owned(),
    };
    let named = |n: &String| (format!("-{}", slug(n)), format!(" of {n} in"));
    let (tail, of) = lane.recorded.as_ref().map(named).unwrap_or_default();
    let how = match options.targets {
        Targets::One { .. } => how,
        Targets::Mapped(_) => format!("on {} {how}", lane.path.display()),
    };
    let (tail, mut how) = match options.tags {
        None => (tail, how),
        Some((policy, tags)) => (
            format!("{tail}-{}-{tags}", policy.name()),
            format!("{how}, {tags} tags {}", policy.name()),
        ),
    };
    if options.speed.to_bits() != 1.0f64.to_bits() && !by_depth {
        how += &format!(", {} times as fast", options.speed);
    }
    let requests = Op::ALL.into_iter().zip(lane.survey.requests).filter(|(_, n)| *n > 0);
    Phase {
        name: format!("replay-{}-{}{tail}", slug(&file), options.mode.name()),
        title: format!("replay{of} {file} {how}"),
        workload: Work::Replayed(Replayed {
            trace: file.into_owned(),
            format: surveyed.about.format.clone(),
            complete: surveyed.about.complete(),
            recorded_device: lane.recorded.clone(),
            requests: requests.map(|(op, n)| (op.name().to_owned(), n)).collect(),
            span_ns: surveyed.survey.span(),
            mode: options.mode,
            times: options.moment.name().into(),
            speed: options.speed,
            depth: lane.depth,
            recorded_depth: by_depth && options.depth.is_none(),
            tags: options.tags.map(|(_, tags)| tags),
            tag_policy: options.tags.map(|(policy, _)| policy.name().to_owned()),
            fit: options.fit.name().into(),
            writes: lane.writes,
        }),
        skipped: Some(seekwell_runs::Skipped::NotReached),
        cut_short: None,
        repeats: Vec::new(),
        metrics: BTreeMap::new(),
    }
}

/// Letters, digits and dashes of a name, so that a phase can be typed.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    name.chars().map(plain).take(60).collect()
}

/// Adds what a round gave to the document.
pub fn keep<W: Watcher>(
    session: &mut Session<'_, W>,
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
        let mut repeat = repeat;
        if let (Work::Replayed(replayed), Some(fidelity)) = (&phase.workload, &mut repeat.fidelity)
        {
            compare(fidelity, replayed, repeat.elapsed_ns);
        }
        phase.skipped = None;
        phase.repeats.push(repeat);
        phase.metrics = metrics(&phase.repeats);
    }
}

/// Where requests waited for others, the times they were due at are the replay's own: what counts
/// is how long all of it took.
fn compare(fidelity: &mut Fidelity, replayed: &Replayed, elapsed: Nanos) {
    if replayed.mode == ReplayMode::Timed {
        return;
    }
    (fidelity.drift_percent, fidelity.gap_distance) = (None, None);
    let recorded = replayed.span_ns.as_secs_f64() / replayed.speed;
    fidelity.time_ratio = (recorded > 0.0).then(|| elapsed.as_secs_f64() / recorded);
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
    let handed_over = lane.taken == Taken::ByOthers;
    repeat.fidelity = Some(Fidelity { handed_over, ..fidelity(&played.fidelity, &skipped) });
    repeat
}

/// Why latencies say nothing about a target, where the program was late.
pub fn judged(fidelity: &seekwell_trace::replay::Fidelity, target: &str) -> Option<Invalid> {
    (fidelity.verdict() == Verdict::ProgramLate).then(|| {
        format!(
            "the program was late: {} of {} requests were handed over more than {} after their \
             time while {target} had room for them, so their latencies say nothing about it",
            fidelity.late_program,
            fidelity.lateness.count(),
            fidelity.bound,
        )
        .into()
    })
}

/// How far a replay was from its recording, for the document.
pub fn fidelity(from: &seekwell_trace::replay::Fidelity, skipped: &Skipped) -> Fidelity {
    let by_op = Op::ALL.into_iter().zip(skipped.by_op).filter(|(_, n)| *n > 0);
    let means = from.in_flight_means();
    Fidelity {
        verdict: from.verdict().name().into(),
        late_bound_ns: from.bound,
        issued: from.issued,
        lateness: latency(&from.lateness),
        late_device: from.late_device,
        late_program: from.late_program,
        drift_percent: from.drift().map(|d| 100.0 * d),
        gap_distance: from.gap_distance(),
        in_flight_recorded: means.map(|m| m.0),
        in_flight: means.map(|m| m.1),
        in_flight_error: from.in_flight_error(),
        reordered: from.reordered,
        skipped: by_op.map(|(op, n)| (op.name().to_owned(), n)).collect(),
        skipped_other: skipped.other,
        altered: skipped.altered,
        parts: skipped.parts,
        backwards: skipped.backwards,
        tasks: (skipped.tasks > 0).then_some(skipped.tasks),
        time_ratio: None,
        handed_over: false,
    }
}

/// Whether another round would give nothing either.
pub fn is_hopeless(phase: &Phase) -> bool {
    let last = phase.repeats.last();
    last.is_some_and(|r| r.stopped != Stopped::Finished || r.ops.is_empty())
}

/// Says of phases that gave nothing why not.
pub fn close<W: Watcher>(session: &mut Session<'_, W>, interrupted: bool) {
    if interrupted {
        for phase in session.document.phases.iter_mut().filter(|p| p.repeats.is_empty()) {
            phase.skipped = Some(seekwell_runs::Skipped::Interrupted);
        }
    }
}
