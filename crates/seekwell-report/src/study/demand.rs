//! What a program demands of its disk: the verdict, and each bound with what was measured.

use super::text::StudyText;
use crate::rows::NONE;
use crate::units::{amount, three_digits};
use seekwell_runs::limits::{PhaseLimit, Station};
use seekwell_runs::{Bound, Demand, DemandVerdict, RunDocument, Side};

pub(super) fn text(document: &RunDocument, demand: &Demand) -> StudyText {
    let row = |bound: &Bound| {
        let word = match bound.holds {
            Some(true) => "kept",
            Some(false) => "not kept",
            None => "undecided",
        };
        let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
        let kept = bound.values.iter().filter(|value| bound.keeps(**value)).count();
        vec![
            bounded(bound),
            word.to_owned(),
            wanted(bound),
            or_none(bound.median().map(|median| amount(&bound.metric, median))),
            or_none(bound.room().map(|room| format!("×{}", three_digits(room)))),
            format!("{kept} of {}", bound.values.len()),
        ]
    };
    let columns = ["job: metric", "bound", "wanted", "median run", "room", "keep it"];
    StudyText {
        title: demand.title.clone(),
        sentences: sentences(document, demand),
        columns: columns.map(String::from).into(),
        words: 2,
        spare: 1,
        rows: demand.bounds.iter().map(row).collect(),
        panels: Vec::new(),
    }
}

/// What a metric of a job is: `wal: flush latency p99`.
pub fn of_job(job: &str, metric: &str) -> String {
    let words = match metric.split_once('.') {
        Some((op, "requests_per_s")) => format!("{op} rate"),
        Some((op, "rate_bytes_per_s")) => format!("{op} throughput"),
        Some((op, rest)) => match rest.split_once("_ns_") {
            Some((kind, of)) => format!("{op} {kind} {}", of.replace('_', ".")),
            None => metric.to_owned(),
        },
        None => metric.to_owned(),
    };
    format!("{job}: {words}")
}

fn bounded(bound: &Bound) -> String {
    of_job(&bound.job, &bound.metric)
}

fn wanted(bound: &Bound) -> String {
    let side = match bound.side {
        Side::AtMost => "≤",
        Side::AtLeast => "≥",
    };
    format!("{side} {}", amount(&bound.metric, bound.bound))
}

fn sentences(document: &RunDocument, demand: &Demand) -> Vec<String> {
    let name = &demand.name;
    match demand.verdict {
        DemandVerdict::Fits => {
            let room = demand.tightest().map_or_else(String::new, |(bound, room)| {
                format!(", with the least room in {}: ×{}", bounded(bound), three_digits(room))
            });
            vec![format!("FITS {name}: all bounds are kept{room}.")]
        }
        DemandVerdict::DoesNotFit => {
            let broken = demand.bounds.iter().filter(|bound| bound.holds == Some(false));
            let all = [format!("DOES NOT FIT {name}.")].into_iter();
            all.chain(broken.map(|bound| not_kept(document, bound))).collect()
        }
        DemandVerdict::Undecided => {
            let open = demand.bounds.iter().filter(|bound| bound.holds.is_none());
            let why = open.map(|bound| match bound.values.len() {
                0 => format!(
                    "{}: not every run has it: the jobs have no such metric, or too few requests \
                     for it.",
                    bounded(bound)
                ),
                runs => format!(
                    "{}: {} of {runs} runs kept it, which shows neither; five that agree do.",
                    bounded(bound),
                    bound.values.iter().filter(|value| bound.keeps(**value)).count()
                ),
            });
            [format!("UNDECIDED for {name}.")].into_iter().chain(why).collect()
        }
    }
}

fn not_kept(document: &RunDocument, bound: &Bound) -> String {
    let median = bound.median().map_or_else(String::new, |median| {
        format!(" is {} in the median run,", amount(&bound.metric, median))
    });
    let limit = limit(document, bound);
    let limit = limit.map_or_else(String::new, |limit| format!(" What limits it: {}.", limit.name));
    let (what, wanted, why) = (bounded(bound), wanted(bound), &bound.why);
    format!("{what}{median} {wanted} is wanted; otherwise {why}.{limit}")
}

/// What limits the job of a bound, if known.
fn limit<'a>(document: &'a RunDocument, bound: &Bound) -> Option<&'a PhaseLimit> {
    let phase = document.phases.iter().find(|phase| phase.is_of_job(&bound.job))?;
    let limit = document.limits.iter().find(|limit| limit.phase == phase.name)?;
    (limit.by != Station::Unknown).then_some(limit)
}
