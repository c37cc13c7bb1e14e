//! What became of a job's `steadystate`.

use seekwell_job::play::steady::{Verdict, criterion};
use seekwell_runs::SteadyState;

/// For the document.
pub fn state(verdict: &Verdict) -> SteadyState {
    let rule = &verdict.rule;
    SteadyState {
        criterion: criterion(rule),
        limit: rule.limit,
        percent: rule.percent,
        window_ns: rule.duration,
        attained: verdict.attained,
        found: verdict.found,
        mean: verdict.mean,
        window_requests_per_s: verdict.window.iter().map(|r| r.requests_per_s).collect(),
        window_bytes_per_s: verdict.window.iter().map(|r| r.bytes_per_s).collect(),
    }
}

/// Whether it was steady, in words.
pub fn told(steady: &SteadyState) -> String {
    let percent = if steady.percent { " %" } else { "" };
    let (criterion, limit) = (&steady.criterion, format!("{}{percent}", steady.limit));
    match (steady.found, steady.attained) {
        (Some(found), true) => format!(
            "steady: {criterion} over the last {} is {found:.3}{percent}, below {limit}, which \
             ended the job",
            steady.window_ns
        ),
        (Some(found), false) => format!(
            "not steady: {criterion} over the last {} is {found:.3}{percent}, and below {limit} \
             was asked for",
            steady.window_ns
        ),
        (None, _) => format!(
            "not steady: the job ended before {criterion} was known over {}",
            steady.window_ns
        ),
    }
}
