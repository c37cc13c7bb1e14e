//! Whether repeats agree well enough to be trusted.

use super::look::{CACHED_READ, evidence, finding, main_rate, percent};
use super::{ExplainInput, Rule};
use seekwell_inspect::{Finding, Severity};

pub(super) const RULES: &[Rule] =
    &[Rule { id: NOISY, about: "results too noisy to trust", apply: noisy }];
const NOISY: &str = "SW-NOISE-001";

/// (largest − smallest) / median. Three repeats of a rotating disk's 35 random reads differ by
/// a tenth from chance alone and by a quarter once in a hundred runs.
const SPREAD: f64 = 0.25;
/// Beyond this the median itself could be anything.
const WILD: f64 = 0.5;

/// SW-NOISE-001: repeats of the same phase differ too much.
///
/// Condition: the rate of any phase spreads by more than 25 % of its median over two or more
/// repeats. One finding lists all such phases; it is a warning where one spreads by more than 50 %
/// or every third phase spreads, and information otherwise. The page cache test counts as the
/// others do.
fn noisy(input: &ExplainInput<'_>) -> Option<Finding> {
    let measured: Vec<_> = input.phases.iter().filter_map(|p| Some((p, main_rate(p)?.1))).collect();
    let spread: Vec<_> =
        measured.iter().filter(|(_, s)| s.n >= 2 && s.relative() > SPREAD).collect();
    let worst = spread.iter().map(|(_, s)| s.relative()).max_by(f64::total_cmp)?;
    let proof = spread.iter().map(|(p, s)| {
        let wide = percent(s.relative());
        evidence(
            format!("{wide} between repeats: {:.0} … {:.0} requests/s", s.low, s.high),
            &p.name,
        )
    });
    let cpu_only = spread.iter().all(|(p, _)| p.name == CACHED_READ);
    let wild = worst > WILD || spread.len() * 3 > measured.len();
    Some(finding(
        NOISY,
        if wild && !cpu_only { Severity::Warning } else { Severity::Info },
        format!("{} of {} phases gave different numbers each time", spread.len(), measured.len()),
        proof.collect(),
        "when repeats differ this much, a difference to another disk or setting of the same size \
         means nothing; usually something else uses the disk or the processor meanwhile",
        "see what else is running (sudo iotop -oPa, iostat -x 1), then seekwell checkup --thorough",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Case;
    use super::*;

    fn spread(case: Case, phase: &str, low: f64, high: f64) -> Case {
        case.with(|c| c.spread(phase, "read.requests_per_s", 100.0, low, high))
    }

    #[test]
    fn phases_whose_repeats_differ_are_listed_in_one_finding() {
        let case = spread(Case::nvme(), "rand-read-4k-d2", 85.0, 115.0);
        let f = spread(case, "rand-read-block-d1", 80.0, 120.0).finding(NOISY);
        assert_eq!(f.severity, Severity::Info);
        let from: Vec<_> = f.evidence.iter().map(|e| e.from.as_str()).collect();
        assert_eq!(from, ["rand-read-4k-d2", "rand-read-block-d1"]);
        assert!(f.evidence[0].seen.starts_with("30 % between repeats: 85 … 115"), "{f:?}");
    }

    #[test]
    fn one_wild_phase_is_a_warning() {
        let f = spread(Case::nvme(), "rand-read-4k-d2", 60.0, 120.0).finding(NOISY);
        assert_eq!(f.severity, Severity::Warning);
    }

    #[test]
    fn repeats_within_a_fifth_are_in_order_and_a_single_one_says_nothing() {
        spread(Case::nvme(), "rand-read-4k-d2", 90.0, 110.0).quiet(NOISY);
        let single = |c: &mut Case| {
            let phase = c.phase_mut("rand-read-4k-d2");
            phase.metrics.get_mut("read.requests_per_s").expect("a rate").n = 1;
        };
        spread(Case::nvme(), "rand-read-4k-d2", 50.0, 150.0).with(single).quiet(NOISY);
    }
}
