//! What is said first: what stops large transfers, what stops small ones.

use crate::Run;
use crate::point::{Op, Point};
use seekwell_io::units::{bytes_per_s, requests_per_s, whole_percent};
use seekwell_runs::PhaseId;
use seekwell_runs::limits::{Confidence, Next, PhaseLimit, Station};

pub fn sentences(run: &Run<'_>, limits: &[PhaseLimit]) -> Vec<String> {
    if run.is_null() {
        return Vec::new();
    }
    let of = |point: &Point<'_>| limits.iter().find(|l| l.phase == point.phase.name);
    let fastest = |large: bool, op: Op| {
        let those = run.points.iter().filter(|p| p.is_large() == large && p.op == op);
        let best = those.max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))?;
        Some((best, of(best)?))
    };
    let mut out = Vec::new();
    for large in [true, false] {
        match (fastest(large, Op::Read), fastest(large, Op::Write)) {
            (Some(read), Some(write)) if read.1.by == write.1.by => {
                out.push(sentence("reads and writes", read));
            }
            (Some(read), _) => out.push(sentence("reads", read)),
            (None, Some(write)) => out.push(sentence("writes", write)),
            (None, None) => {}
        }
    }
    if out.is_empty() {
        let measured = || limits.iter().filter(|l| l.measured.is_some());
        // The cached reads are of memory, not of the device.
        let of_device = measured().find(|l| l.phase != PhaseId::CachedRead.to_string());
        out.extend(of_device.or_else(|| measured().next()).map(alone));
    }
    out
}

fn sentence(what: &str, (point, limit): (&Point<'_>, &PhaseLimit)) -> String {
    let size = if point.is_large() { "Large" } else { "Small" };
    let rate = match point.is_large() {
        true => bytes_per_s(point.bytes_per_s),
        false => requests_per_s(point.requests_per_s),
    };
    let mut text = match limit.by {
        Station::Unknown => {
            format!("What stops {} {what} at {rate} is not known", size.to_lowercase())
        }
        Station::Latency => format!(
            "{size} {what} reach {rate} at depth {}, and nothing is full: each waits for the one \
             before it",
            point.depth
        ),
        _ => format!("{size} {what} stop at {rate}: {} {}", verb(limit), limit.name),
    };
    if let (Some(share), Some(ceiling)) = (limit.share, limit.ceiling) {
        let of = match limit.unit {
            Some(seekwell_runs::limits::Unit::BytesPerS) => bytes_per_s(ceiling),
            _ => requests_per_s(ceiling),
        };
        text += &format!(", {} of {of}", whole_percent(share));
    }
    for other in &limit.or {
        text += &format!(", or it is {}", other.words());
    }
    text.push('.');
    if let Some(Next { by, gain: Some(gain) }) = limit.next.filter(|n| n.gain > Some(1.1)) {
        text += &match by == limit.by {
            true => format!(" It could run up to {gain:.1} times as fast."),
            false => format!(" Without it they could be up to {gain:.1} times as fast."),
        };
    }
    if let (Station::Unknown, Some(tell)) = (limit.by, &limit.tell) {
        text += &format!(" To find out: {tell}");
    }
    text
}

const fn verb(limit: &PhaseLimit) -> &'static str {
    match limit.confidence {
        Confidence::Shown => "the limit is",
        Confidence::Likely => "most likely the limit is",
        Confidence::Possible => "the limit may be",
    }
}

/// Of a run without phases to compare.
fn alone(limit: &PhaseLimit) -> String {
    match limit.by {
        Station::Unknown => {
            let why = limit.evidence.first().map_or("there is no evidence", |e| e.seen.as_str());
            format!("What limits {} is not known: {why}.", limit.phase)
        }
        Station::Memory => {
            "The page cache answered: what limits the device is not known.".to_owned()
        }
        Station::Pace => "The device kept up with the load.".to_owned(),
        _ => format!("{}: {} {}.", limit.phase, verb(limit), limit.name),
    }
}
