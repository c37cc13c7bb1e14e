//! A device that slows down while it is measured.

use crate::words::{evidence, ns, per_s, percent};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Severity;
use seekwell_io::workload::{Pace, Pattern};
use seekwell_runs::{Phase, Study};

pub(super) const RULES: &[Rule] = &[Rule {
    id: SLOWS,
    about: "the disk slowed down during a run",
    means: "The rate fell within one run and did not recover.",
    known: "Change points in the rate of a valid repeat: a drop of at least 30 %, statistically \
            near certain, that lasts to the end of the run. Sequential I/O on rotating disks, \
            whose inner tracks are slower, and requests at a given rate are not judged. It is a \
            warning where less than half the rate is left.",
    why: "a write cache or fast flash that filled up, throttling from heat, or exhausted burst \
          credits of a cloud disk; the mean over both states is the rate of neither",
    fix: "measure until the rate is steady (bench --steady, with --precondition for writes) \
          and watch the temperature",
    tune: None,
    check: Check::Run(slows_down),
}];
const SLOWS: &str = "SW-SLOW-001";

/// Under this share of its first rate the disk is another disk.
const HALF: f64 = 0.5;

fn slows_down(input: &Observed<'_>) -> Option<Found> {
    // The study itself reports where the rate falls.
    if let Some(Study::Sustained(_) | Study::Calibration(_) | Study::Pts(_)) = input.study {
        return None;
    }
    let rotates = input.disk().and_then(|d| input.rotates(d)) == Some(true);
    let inner_tracks = |phase: &Phase| {
        let drawn = phase.workload.drawn();
        rotates && drawn.is_some_and(|w| w.pattern == Pattern::Sequential)
    };
    let mut proof = Vec::new();
    let mut worst = 1.0_f64;
    let mut writes = false;
    // Under a rate that is more than the disk gives, what waits grows, and the rate is no state of
    // the disk.
    let paced =
        |phase: &Phase| phase.workload.drawn().is_some_and(|w| matches!(w.pace, Pace::Open { .. }));
    for phase in input.phases().iter().filter(|p| !inner_tracks(p) && !paced(p)) {
        let valid = phase.repeats.iter().enumerate().filter(|(_, r)| r.invalid.is_none());
        for (i, fall) in valid.filter_map(|(i, r)| Some((i, r.slowdown?))) {
            let share = fall.after_per_s / fall.before_per_s;
            worst = worst.min(share);
            writes |= phase.workload.drawn().is_some_and(|w| w.destroys());
            let seen = format!(
                "after {}: from {} to {} ({} of it)",
                ns(fall.at_ns as f64),
                per_s(fall.before_per_s),
                per_s(fall.after_per_s),
                percent(share),
            );
            proof.push(evidence(seen, format!("{}, repeat {}", phase.name, i + 1)));
        }
    }
    if proof.is_empty() {
        return None;
    }
    if input.is_model() {
        let title = format!("it slowed down to {} of its rate within a run", percent(worst));
        let found = Found::info(title).evidence(proof);
        return Some(
            found
                .why("a modelled cache or write buffer filled up; the mean is the rate of neither")
                .remedy("measure until the rate is steady: seekwell bench --steady"),
        );
    }
    let slowed = |p: &&Phase| p.repeats.iter().any(|r| r.slowdown.is_some());
    if let Some(share) = input.others(input.phases().iter().filter(slowed)) {
        let share = percent(share);
        proof.push(evidence(
            format!("other programs had up to {share} of all processors"),
            "/proc/stat",
        ));
        let title = format!("it slowed down to {} of its rate within a run", percent(worst));
        let found = Found::info(title).evidence(proof);
        return Some(
            found
                .why("other programs kept the processors from this one, or used the disk as well")
                .remedy("stop them (ps -eo pcpu,comm --sort=-pcpu | head) and measure again"),
        );
    }
    let why = if writes {
        "a write cache or a drive's fast flash absorbs writes until it is full, and heat makes \
         drives and links throttle; a mean over both states is the rate of neither"
    } else {
        "heat makes drives and links throttle, burst credits of a cloud disk run out, and a cache \
         serves only the part of the data it holds; a mean over both states is the rate of neither"
    };
    let remedy = if writes {
        "measure until the rate is steady: seekwell bench --steady --precondition, with the same \
         workload; watch the temperature during it (sudo smartctl -A or nvme smart-log)"
    } else {
        "measure until the rate is steady: seekwell bench --steady, with the same workload; watch \
         the temperature during it (sudo smartctl -A or nvme smart-log)"
    };
    let severity = if worst < HALF { Severity::Warning } else { Severity::Info };
    let title = format!("it slowed down to {} of its rate within a run", percent(worst));
    Some(Found::new(severity, title).evidence(proof).why(why).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use seekwell_runs::Slowdown;

    fn falls(case: Case, phase: &str, after_per_s: f64) -> Case {
        case.with(|c| {
            let fall = Slowdown { at_ns: 3_000_000_000, before_per_s: 1e5, after_per_s };
            c.phase_mut(phase).repeats[0].slowdown = Some(fall);
        })
    }

    #[test]
    fn a_full_cache_is_a_warning_with_when_it_was_full_and_both_rates() {
        let f = falls(Case::nvme(), "rand-write-4k-d32", 2e4).finding(SLOWS);
        assert_eq!(f.severity, Severity::Warning);
        let seen = "after 3.00 s: from 100k requests/s to 20.0k requests/s (20 % of it)";
        assert_eq!(f.evidence[0].seen, seen);
        assert_eq!(f.evidence[0].from, "rand-write-4k-d32, repeat 1");
        assert!(f.remedy.contains("--precondition"), "{f:?}");
        let f = falls(Case::nvme(), "rand-read-4k-d32", 6e4).finding(SLOWS);
        assert_eq!(f.severity, Severity::Info);
        assert!(f.why.contains("heat") && !f.remedy.contains("--precondition"), "{f:?}");
    }

    #[test]
    fn inner_tracks_and_repeats_that_do_not_count_are_no_slowdown() {
        falls(Case::hdd(), "seq-read-1m", 5e4).quiet(SLOWS);
        falls(Case::nvme(), "rand-read-4k-d32", 2e4)
            .with(|c| {
                let repeat = &mut c.phase_mut("rand-read-4k-d32").repeats[0];
                repeat.invalid = Some("interrupted".into());
            })
            .quiet(SLOWS);
        Case::nvme().quiet(SLOWS);
        let paced = |c: &mut Case| {
            let pace = Pace::Open { requests_per_s: 1e5, poisson: false, depth: 32 };
            c.drawn("rand-read-4k-d32").pace = pace;
        };
        falls(Case::nvme(), "rand-read-4k-d32", 2e4).with(paced).quiet(SLOWS);
    }
}
