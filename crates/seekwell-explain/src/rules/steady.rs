//! A device whose rate does not settle.

use crate::words::{evidence, per_s, percent};
use crate::{Check, Found, Observed, Rule};
use seekwell_runs::{SteadyOutcome, Study};

pub(super) const RULES: &[Rule] = &[Rule {
    id: UNSTEADY,
    about: "no steady state was reached",
    means: "--steady was asked for and the rate never settled.",
    known: "In 25 rounds no five in a row were within 20 % of their mean with a trend of at \
            most 10 % (SNIA Solid State Storage Performance Test Specification 2.0.2, 2.1.24).",
    why: "a rate that still drifts depends on when it is measured; the median over these rounds \
          describes this hour and not the disk, and comparisons with it are meaningless",
    fix: "precondition the region (--precondition), use longer rounds (--runtime=60s), and \
          look for other load and for heat",
    tune: None,
    check: Check::Run(unsteady),
}];
const UNSTEADY: &str = "SW-STEADY-001";

const WINDOW: usize = 5;

fn unsteady(input: &Observed<'_>) -> Option<Found> {
    let Some(Study::Steady(steady)) = input.study else { return None };
    if steady.outcome != Some(SteadyOutcome::NotReached) {
        return None;
    }
    let rounds = &steady.rounds_per_s;
    let last = &rounds[rounds.len().saturating_sub(WINDOW)..];
    let (low, high) =
        last.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    let mean = last.iter().sum::<f64>() / last.len().max(1) as f64;
    let seen = format!(
        "the last {} of {} rounds: {} … {}, {} of their mean apart (20 % is allowed)",
        last.len(),
        rounds.len(),
        per_s(low),
        per_s(high),
        percent((high - low) / mean),
    );
    let remedy = if input.preconditioned {
        "use longer rounds (--runtime=60s); see whether something else is using the disk (sudo \
         iotop -oPa), and whether it is hot (sudo smartctl -A or nvme smart-log)"
    } else {
        "write the region twice beforehand (--precondition), and use longer rounds (--runtime=60s)"
    };
    Some(
        Found::warning(format!("the rate did not settle in {} rounds", rounds.len()))
            .evidence([evidence(seen, &steady.phase)])
            .remedy(remedy),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use seekwell_inspect::Severity;
    use seekwell_runs::Steady;

    fn after(outcome: Option<SteadyOutcome>, preconditioned: bool) -> Case {
        let rounds_per_s = (0..25).map(|i| if i % 2 == 0 { 1_000.0 } else { 500.0 }).collect();
        let phase = "randwrite-4096-d32".into();
        let study = Study::Steady(Steady { phase, rounds_per_s, outcome });
        Case::nvme().with(|c| {
            c.study = Some(study);
            c.preconditioned = preconditioned;
        })
    }

    #[test]
    fn rounds_that_never_settle_are_a_finding_with_the_last_of_them() {
        let f = after(Some(SteadyOutcome::NotReached), false).finding(UNSTEADY);
        assert_eq!(f.severity, Severity::Warning);
        assert!(f.evidence[0].seen.contains("5 of 25 rounds: 500 requests/s … 1,000"), "{f:?}");
        assert!(f.remedy.contains("--precondition"), "{f:?}");
        let f = after(Some(SteadyOutcome::NotReached), true).finding(UNSTEADY);
        assert!(!f.remedy.contains("--precondition"), "{f:?}");
    }

    #[test]
    fn a_rate_that_settled_and_rounds_that_were_stopped_say_nothing() {
        let reached = SteadyOutcome::Reached { from: 3, mean_per_s: 900.0 };
        after(Some(reached), true).quiet(UNSTEADY);
        after(None, true).quiet(UNSTEADY);
    }
}
