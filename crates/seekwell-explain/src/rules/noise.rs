//! Whether repeats agree well enough to be trusted.

use crate::look::main_rate;
use crate::words::{evidence, percent};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Severity;
use seekwell_runs::{PhaseId, Study};

pub(super) const RULES: &[Rule] = &[Rule {
    id: NOISY,
    about: "repeats differ too much",
    means: "The same phase gave a different rate each time.",
    known: "(largest - smallest) / median of a phase's rate is over 25 % in two or more repeats. \
            It is a warning where one phase exceeds 50 % or every third phase is affected. Three \
            repeats on a rotating disk differ by a tenth by chance alone.",
    why: "when repeats differ this much, a difference of the same size from another disk or \
          setting means nothing; usually something else is using the disk or the CPU",
    fix: "stop what uses the processors, which the finding measures, or the disk (iostat -x 1); \
          then seekwell checkup --thorough",
    tune: None,
    check: Check::Run(noisy),
}];
const NOISY: &str = "SW-NOISE-001";

/// (largest − smallest) / median. Three repeats of a rotating disk's 35 random reads differ by
/// a tenth from chance alone and by a quarter once in a hundred runs.
const SPREAD: f64 = 0.25;
/// Beyond this the median itself could be anything.
const WILD: f64 = 0.5;

fn noisy(input: &Observed<'_>) -> Option<Found> {
    match input.study {
        // Its numbers are of parts of runs, and have intervals of their own.
        Some(Study::Calibration(found)) if found.text.is_some() => return None,
        // Rounds before the steady state differ, and the study reports whether it was reached.
        Some(Study::Pts(_)) => return None,
        _ => {}
    }
    let measured: Vec<_> =
        input.phases().iter().filter_map(|p| Some((p, main_rate(p)?.1))).collect();
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
    let cpu_only = spread.iter().all(|(p, _)| p.is(PhaseId::CachedRead));
    let wild = worst > WILD || spread.len() * 3 > measured.len();
    let others = input.others(spread.iter().map(|(p, _)| *p));
    let blamed = others.map(|share| {
        let seen = format!("other programs had up to {} of all processors", percent(share));
        evidence(seen, "/proc/stat")
    });
    let remedy = match (input.is_model(), others) {
        (true, _) => "measure for longer (--runtime), so that chance evens out".to_owned(),
        (false, Some(_)) => {
            "stop the programs that use the processors (ps -eo pcpu,comm --sort=-pcpu | head), \
             then measure again"
                .to_owned()
        }
        (false, None) => "other programs hardly used the processors; see what else uses the disk \
                          (iostat -x 1), then seekwell checkup --thorough"
            .to_owned(),
    };
    Some(
        Found::new(
            if wild && !cpu_only { Severity::Warning } else { Severity::Info },
            format!(
                "{} of {} phases gave different numbers each time",
                spread.len(),
                measured.len()
            ),
        )
        .evidence(proof)
        .evidence(blamed)
        .remedy(remedy),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;

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
    fn other_programs_are_named_by_what_they_took_and_not_guessed_at() {
        let case = spread(Case::nvme(), "rand-read-4k-d2", 60.0, 120.0);
        assert!(case.finding(NOISY).remedy.starts_with("other programs hardly"), "not measured");
        let busy = |c: &mut Case| {
            let repeat = &mut c.phase_mut("rand-read-4k-d2").repeats[1];
            repeat.values.insert("other_programs_percent".into(), 96.0);
        };
        let f = case.with(busy).finding(NOISY);
        assert!(f.evidence[1].seen.contains("96 % of all processors"), "{f:?}");
        assert!(f.remedy.starts_with("stop the programs"), "{f:?}");
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
