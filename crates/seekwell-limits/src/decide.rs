//! One statement for one phase: the questions, in the order in which their answers are certain.

mod device;
mod known;
mod other;

use crate::Run;
use crate::curve::{Gain, best, gain};
use crate::point::{Point, rates};
use crate::words::{command, evidence};
use seekwell_inspect::Evidence;
use seekwell_io::units::{bytes_per_s, requests_per_s};
use seekwell_runs::Phase;
use seekwell_runs::limits::{Ceiling, Confidence, Next, PhaseLimit, Station, Unit};

/// An answer, before it is put beside what was measured.
#[derive(Debug)]
struct Said<'r> {
    by: Station,
    confidence: Confidence,
    /// The ceiling that is reached, where its rate is known.
    ceiling: Option<&'r Ceiling>,
    /// What it is here, where the station's own name says less.
    name: Option<String>,
    evidence: Vec<Evidence>,
    or: Vec<Station>,
    tell: Option<String>,
}

impl<'r> Said<'r> {
    fn new(by: Station, confidence: Confidence) -> Self {
        let (ceiling, name, tell) = (None, None, None);
        Self { by, confidence, ceiling, name, evidence: Vec::new(), or: Vec::new(), tell }
    }

    fn shown(by: Station) -> Self {
        Self::new(by, Confidence::Shown)
    }

    fn likely(by: Station) -> Self {
        Self::new(by, Confidence::Likely)
    }

    fn possible(by: Station) -> Self {
        Self::new(by, Confidence::Possible)
    }

    /// Nothing fits, for this reason.
    fn unknown(why: impl Into<String>, from: impl Into<String>) -> Self {
        Self::possible(Station::Unknown).seen(why, from)
    }

    fn seen(mut self, seen: impl Into<String>, from: impl Into<String>) -> Self {
        self.evidence.push(evidence(seen, from));
        self
    }

    fn at(mut self, ceiling: &'r Ceiling) -> Self {
        self.ceiling = Some(ceiling);
        self
    }

    fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    fn or(mut self, other: Station, tell: String) -> Self {
        self.or.push(other);
        self.tell = Some(tell);
        self
    }
}

type Question = for<'r> fn(&'r Run<'r>, &Point<'_>) -> Option<Said<'r>>;

/// The first that has an answer has the last word.
const QUESTIONS: [Question; 16] = [
    known::processor,
    known::group_limit,
    known::volume_limit,
    known::pool_metadata,
    known::compressed_memory,
    known::rate_that_fell,
    known::programmed_io,
    known::full_link,
    device::mechanics,
    device::commit,
    device::mix,
    device::tags_or_latency,
    device::share_of_bytes,
    device::throttle,
    device::medium,
    device::knee,
];

/// What limits a phase.
pub fn limit<'r>(run: &'r Run<'r>, phase: &Phase) -> PhaseLimit {
    let point = run.points.iter().find(|p| p.phase.name == phase.name);
    let said = match point {
        Some(point) => answer(run, point),
        None => other::answer(run, phase),
    };
    statement(phase, point, said)
}

fn answer<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Said<'r> {
    let found = QUESTIONS.iter().find_map(|question| question(run, point));
    found.unwrap_or_else(|| {
        let why = match gain(run, point) {
            None => "no other depth was measured".to_owned(),
            Some(gain) if gain.is_flat() => {
                "more depth brings nothing, so something is full".into()
            }
            Some(Gain { times, .. }) => {
                format!("twice the depth gives {times:.2} times as many: neither waiting nor full")
            }
        };
        let said = Said::unknown(why, &point.phase.name);
        Said { tell: Some(command(run, "--depths")), ..said }
    })
}

fn statement(phase: &Phase, point: Option<&Point<'_>>, said: Said<'_>) -> PhaseLimit {
    let rates = point.map(|p| (p.requests_per_s, p.bytes_per_s)).or_else(|| rates(phase));
    let unit = said.ceiling.map(|c| c.unit).or_else(|| {
        let (requests, bytes) = rates?;
        let large = bytes / requests >= f64::from(64 << 10);
        Some(if large { Unit::BytesPerS } else { Unit::RequestsPerS })
    });
    let measured = rates.zip(unit).map(|((requests, bytes), unit)| match unit {
        Unit::BytesPerS => bytes,
        Unit::RequestsPerS => requests,
        Unit::Commands => point.map_or(requests, |p| f64::from(p.depth)),
    });
    let ceiling = said.ceiling.map(|c| c.rate);
    let name = said.ceiling.map(|c| format!("the {}", c.name)).or(said.name);
    let mut evidence = said.evidence;
    evidence.extend(said.ceiling.map(|c| {
        let most = match c.unit {
            Unit::BytesPerS => bytes_per_s(c.rate),
            Unit::RequestsPerS | Unit::Commands => requests_per_s(c.rate),
        };
        crate::words::evidence(format!("the {} carries at most {most}", c.name), &c.from)
    }));
    PhaseLimit {
        phase: phase.name.clone(),
        by: said.by,
        name: name.unwrap_or_else(|| said.by.words().to_owned()),
        measured,
        ceiling,
        unit: measured.and(unit),
        share: measured.zip(ceiling).map(|(measured, ceiling)| measured / ceiling),
        confidence: said.confidence,
        evidence,
        or: said.or,
        tell: said.tell,
        next: None,
        request_bytes: rates.map(|(requests, bytes)| bytes / requests),
        bytes_per_s: rates.map(|(_, bytes)| bytes),
    }
}

/// Says of each statement what would limit the phase if its station were gone: of latency, what
/// stops the same requests at more depth; of a link that could run faster, that.
pub fn what_comes_next(run: &Run<'_>, limits: &mut [PhaseLimit]) {
    let after: Vec<Option<Next>> = limits.iter().map(|limit| next(run, limits, limit)).collect();
    for (limit, next) in limits.iter_mut().zip(after) {
        limit.next = next;
    }
}

fn next(run: &Run<'_>, limits: &[PhaseLimit], limit: &PhaseLimit) -> Option<Next> {
    let point = run.points.iter().find(|p| p.phase.name == limit.phase)?;
    match limit.by {
        Station::Latency => {
            let most = best(run, point)?;
            let at = limits.iter().find(|other| other.phase == most.phase.name)?;
            let gain = most.requests_per_s / point.requests_per_s;
            // What would stop it there is not known where still more at once would be faster.
            let by = if at.by == Station::Latency { Station::Unknown } else { at.by };
            (gain > 1.05).then_some(Next { by, gain: Some(gain) })
        }
        Station::Link | Station::Bus | Station::TransferMode => {
            let mine = limit.ceiling?;
            let of_link = run.disk.filter(|_| limit.by == Station::Link).and_then(|d| d.link());
            let faster = of_link.and_then(|link| link.highest_bytes_per_s);
            let above = run
                .declared
                .iter()
                .find(|c| c.unit == Unit::BytesPerS && c.by != limit.by && c.rate > mine);
            match (faster.filter(|rate| *rate > mine * 1.01), above) {
                (Some(rate), Some(other)) if other.rate < rate => {
                    Some(Next { by: other.by, gain: Some(other.rate / mine) })
                }
                (Some(rate), _) => Some(Next { by: limit.by, gain: Some(rate / mine) }),
                (None, Some(other)) => Some(Next { by: other.by, gain: Some(other.rate / mine) }),
                (None, None) => None,
            }
        }
        _ => None,
    }
}
