//! Requests that failed, and devices that stopped answering or went away.

use super::look::{evidence, finding};
use super::room::says_full;
use super::{ExplainInput, Rule};
use crate::driver::{DEVICE_GONE, DEVICE_STALLED, says_gone};
use crate::summary::failure_text;
use seekwell_inspect::{Evidence, Finding, Severity};
use seekwell_io::measurement::{Failure, FailureKind, Stopped};
use seekwell_runs::Phase;

pub(super) const RULES: &[Rule] = &[
    Rule { id: FAILED, about: "I/O errors", apply: failed },
    Rule { id: STALLED, about: "the device stopped answering", apply: stalled },
    Rule { id: GONE, about: "the device went away", apply: gone },
];
const FAILED: &str = "SW-IO-001";
const STALLED: &str = "SW-IO-002";
const GONE: &str = "SW-IO-003";
/// More rows say nothing new.
const MOST: usize = 8;

/// SW-IO-001: a request failed.
///
/// Condition: any repeat has a failed or short request, other than for want of room (SW-ROOM-003)
/// or because the device went away (SW-IO-003). A disk does not fail requests: one is enough.
fn failed(input: &ExplainInput<'_>) -> Option<Finding> {
    let of_the_disk = |f: &Failure| match f.kind {
        FailureKind::Errno { errno } => !says_full(errno) && !says_gone(errno),
        FailureKind::Short { .. } => true,
    };
    let failures = failures(input).filter(|(_, f, _)| of_the_disk(f));
    let all: Vec<_> = failures.collect();
    let total: u64 = all.iter().map(|(_, _, n)| n).sum();
    let proof = all.iter().take(MOST).map(|(p, f, n)| {
        let more = if *n > 1 { format!(" ({n} such requests)") } else { String::new() };
        evidence(format!("{}{more}", failure_text(f)), &p.name)
    });
    let proof: Vec<_> = proof.collect();
    if proof.is_empty() {
        return None;
    }
    Some(finding(
        FAILED,
        Severity::Error,
        match total {
            1 => "A request failed".into(),
            n => format!("{n} requests failed"),
        },
        proof,
        "a disk that fails requests is losing data now or will soon; numbers of the phases \
         concerned are left out",
        format!("save the data first; then {}", look_at(input)),
    ))
}

/// SW-IO-002: nothing came back from the device for too long.
///
/// Condition: a repeat ended because nothing completed within the engine's limit.
fn stalled(input: &ExplainInput<'_>) -> Option<Finding> {
    let repeats = input.phases.iter().flat_map(|p| p.repeats.iter().map(move |r| (p, r)));
    let mut proof: Vec<Evidence> = repeats
        .filter(|(_, r)| r.stopped == Stopped::Stalled)
        .map(|(p, r)| {
            let seen = r.invalid.clone().unwrap_or_else(|| DEVICE_STALLED.into());
            evidence(seen, &p.name)
        })
        .collect();
    proof.truncate(MOST);
    if proof.is_empty() {
        return None;
    }
    Some(finding(
        STALLED,
        Severity::Error,
        "The device stopped answering".into(),
        proof,
        "the kernel waits for a lost command, often 30 s, and resets the link or the device; every \
         program that touches the disk hangs meanwhile",
        look_at(input),
    ))
}

/// SW-IO-003: the device went away during the run.
///
/// Condition: a request failed with `ENODEV` or `ENXIO`, a repeat could not begin because the
/// device could not be found, or phases were left out for that reason.
fn gone(input: &ExplainInput<'_>) -> Option<Finding> {
    let mut proof: Vec<Evidence> = failures(input)
        .filter(|(_, f, _)| matches!(f.kind, FailureKind::Errno { errno } if says_gone(errno)))
        .map(|(p, f, _)| evidence(failure_text(&f), &p.name))
        .collect();
    let repeats = input.phases.iter().flat_map(|p| p.repeats.iter().map(move |r| (p, r)));
    proof.extend(repeats.filter_map(|(p, r)| {
        let why = r.invalid.as_deref().filter(|why| why.starts_with(DEVICE_GONE))?;
        Some(evidence(why, &p.name))
    }));
    let left_out = input.phases.iter().filter(|p| p.skipped.as_deref() == Some(DEVICE_GONE));
    let names: Vec<_> = left_out.map(|p| p.name.as_str()).collect();
    if !names.is_empty() {
        let seen = format!("{} phases could not be run: {DEVICE_GONE}", names.len());
        proof.push(evidence(seen, names.join(", ")));
    }
    if proof.is_empty() {
        return None;
    }
    Some(finding(
        GONE,
        Severity::Error,
        "The device went away during the run".into(),
        proof,
        "a disk that vanishes has lost its power, its cable or its firmware's mind; what was not \
         yet written is lost",
        look_at(input),
    ))
}

fn failures<'a>(input: &ExplainInput<'a>) -> impl Iterator<Item = (&'a Phase, Failure, u64)> {
    let repeats = input.phases.iter().flat_map(|p| p.repeats.iter().map(move |r| (p, r)));
    repeats.filter_map(|(p, r)| Some((p, r.failure?, r.failed.max(1))))
}

fn look_at(input: &ExplainInput<'_>) -> String {
    let log = "sudo dmesg --level=err,warn | tail -50";
    match input.disk() {
        Some(d) => {
            format!("{log}; sudo smartctl -a /dev/{}; check its cable and its power", d.name)
        }
        None => format!("{log}, and the same on every disk or server below"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Case;
    use super::*;
    use crate::driver::ExecuteError;

    #[test]
    fn one_failed_request_is_an_error_with_its_place() {
        let f = Case::hdd().with(|c| c.fail("rand-read-4k-d4", 5)).finding(FAILED);
        assert_eq!(f.severity, Severity::Error);
        assert_eq!(f.title, "A request failed");
        assert_eq!(f.evidence[0].from, "rand-read-4k-d4");
        assert!(f.evidence[0].seen.contains("offset 81920: Input/output error"), "{f:?}");
        assert!(f.remedy.contains("smartctl -a /dev/sdb"), "{f:?}");
        Case::hdd().quiet(FAILED);
    }

    #[test]
    fn a_device_that_stalled_is_an_error_even_where_the_run_went_on() {
        let f = Case::hdd().with(|c| {
            let repeat = &mut c.phase_mut("seq-read-1m").repeats[0];
            repeat.stopped = Stopped::Stalled;
            repeat.invalid = Some("nothing completed for 30.0 s".into());
        });
        let f = f.finding(STALLED);
        assert!(f.evidence[0].seen.contains("30.0 s"), "{f:?}");
        Case::hdd().quiet(STALLED);
    }

    #[test]
    fn a_device_that_went_away_is_one_finding_and_not_also_an_io_error() {
        let case = Case::nvme().with(|c| {
            c.fail("rand-read-4k-d4", 19);
            for name in ["seq-write-1m", "commit-4k"] {
                let phase = c.phase_mut(name);
                phase.repeats.clear();
                phase.metrics.clear();
                phase.skipped = Some(DEVICE_GONE.into());
            }
        });
        let f = case.finding(GONE);
        assert_eq!(f.evidence[1].from, "seq-write-1m, commit-4k");
        case.quiet(FAILED);
        Case::nvme().quiet(GONE);
    }

    #[test]
    fn a_device_that_went_away_before_the_very_last_execution_is_found_as_well() {
        let gone = ExecuteError::DeviceGone { errno: 19 };
        let f = Case::nvme().with(|c| {
            c.phase_mut("commit-4k").repeats[2].invalid = Some(gone.to_string());
        });
        let f = f.finding(GONE);
        assert_eq!(f.evidence.len(), 1);
        assert_eq!(f.evidence[0].from, "commit-4k");
    }
}
