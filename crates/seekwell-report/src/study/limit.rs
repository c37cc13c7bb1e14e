//! The highest rate under a bound: the verdict, and the rates that were tried.

use super::plot::{Panel, Unit};
use super::text::StudyText;
use crate::rows::NONE;
use crate::units::{iops, percent, time};
use seekwell_runs::{Limit, LimitOutcome, Trial};

pub(super) fn text(limit: &Limit) -> StudyText {
    let metric = limit.metric.replace('_', ".");
    let mut trials: Vec<&Trial> = limit.trials.iter().collect();
    trials.sort_by(|a, b| a.requests_per_s.total_cmp(&b.requests_per_s));
    let row = |t: &&Trial| {
        let kept = match (t.holds, t.confirms) {
            (true, true) => "kept, confirmed",
            (true, false) => "kept",
            (false, true) => "not kept again",
            (false, false) => "not kept",
        };
        let response = t.response_ns.map_or_else(|| NONE.to_owned(), time);
        vec![kept.to_owned(), iops(t.requests_per_s), iops(t.completed_per_s), response]
    };
    // Each rate once, with the last word on it.
    let again = trials.iter().skip(1).map(|t| Some(t.requests_per_s)).chain([None]);
    let last = trials.iter().zip(again).filter(|(t, next)| Some(t.requests_per_s) != *next);
    let drawn: Vec<&Trial> = last.map(|(t, _)| *t).collect();
    let places = drawn.iter().map(|t| iops(t.requests_per_s)).collect();
    let values = drawn.iter().map(|t| t.response_ns).collect();
    let panel = Panel {
        title: format!("{metric} of the response time over requests/s"),
        along: "requests/s".into(),
        places,
        lines: vec![(metric.clone(), values)],
        unit: Unit::Time,
    };
    StudyText {
        title: format!("The highest rate with {metric} ≤ {}", time(limit.bound_ns as f64)),
        sentences: sentences(limit, &metric),
        columns: ["bound", "wanted/s", "completed/s", &metric].map(String::from).into(),
        words: 1,
        spare: 0,
        rows: trials.iter().map(row).collect(),
        panels: vec![panel],
    }
}

fn sentences(limit: &Limit, metric: &str) -> Vec<String> {
    let bound = time(limit.bound_ns as f64);
    let at = |rate: f64| {
        let tried = limit.trials.iter().rev().find(|t| t.requests_per_s == rate);
        tried.and_then(|t| t.response_ns).map(time)
    };
    let was = |rate| at(rate).map_or_else(String::new, |ns| format!(" ({metric} {ns})"));
    let of_most = |rate: f64| match limit.closed_requests_per_s {
        Some(most) if most > 0.0 => {
            let share = percent(rate / most);
            format!("That is {share} of what a closed loop gives, {} requests/s.", iops(most))
        }
        _ => String::new(),
    };
    let said = match limit.outcome {
        Some(LimitOutcome::Found { requests_per_s: r }) => vec![
            format!(
                "{} requests/s is the highest rate that keeps {metric} of the response time within \
                 {bound}{}; repeats confirmed it.",
                iops(r),
                was(r)
            ),
            of_most(r),
        ],
        Some(LimitOutcome::NotEvenLowest { requests_per_s: r }) => vec![
            format!(
                "Not even {} requests/s, the lowest rate tried, keeps {metric} of the response \
                 time within {bound}{}: the delay is not caused by queueing.",
                iops(r),
                was(r)
            ),
            of_most(r),
        ],
        Some(LimitOutcome::NeverExceeded { requests_per_s: r }) => vec![format!(
            "{metric} of the response time never exceeds {bound}: at {} requests/s, what a closed \
             loop gives at this depth, it is kept{}; repeats confirmed it.",
            iops(r),
            was(r)
        )],
        Some(LimitOutcome::Unsettled) => vec![format!(
            "No limit was found: {} times, a rate that had kept {metric} within {bound} failed to \
             do so again.",
            limit.trials.iter().filter(|t| t.confirms && !t.holds).count()
        )],
        None => vec!["The search was stopped before it had a result.".to_owned()],
    };
    said.into_iter().filter(|s| !s.is_empty()).collect()
}
