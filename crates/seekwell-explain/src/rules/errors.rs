//! Requests that failed, and devices that stopped answering or went away.

use crate::words::evidence;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Evidence;
use seekwell_io::measurement::{Failure, Stopped};
use seekwell_runs::{Invalid, Phase, Skipped};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: FAILED,
        about: "requests failed",
        means: "The kernel returned an error for a request, or moved fewer bytes than asked.",
        known: "A repeat has a failed or short request. One is enough: a healthy disk fails none. \
                A full file system (SW-ROOM-003) and a device that went away (SW-IO-003) are told \
                apart by errno.",
        why: "a disk that fails requests is losing data now or will soon; numbers of the phases \
              concerned are left out",
        fix: "copy the data off first; then look at the kernel log and at smartctl -a, and check \
              cable and power",
        tune: None,
        check: Check::Run(failed),
    },
    Rule {
        id: STALLED,
        about: "the device stopped answering",
        means: "Requests were outstanding and none completed for longer than the engine waits.",
        known: "A repeat ended because nothing completed within the engine's limit.",
        why: "the kernel waits for a lost command, often 30 s, and resets the link or the device; \
              every program that touches the disk hangs meanwhile",
        fix: "look at the kernel log for timeouts and resets, then at smartctl -a; check cable and \
              power",
        tune: None,
        check: Check::Run(stalled),
    },
    Rule {
        id: GONE,
        about: "the device disappeared during the run",
        means: "The kernel removed the device while it was being measured.",
        known: "A request failed with ENODEV or ENXIO, a repeat could not open the device, or \
                phases were skipped for that reason.",
        why: "a disk that vanishes has lost power or its cable, or its firmware crashed; what was \
              not yet written is lost",
        fix: "look at the kernel log for the reason; check power, cable and, for USB, the hub",
        tune: None,
        check: Check::Run(gone),
    },
];
const FAILED: &str = "SW-IO-001";
const STALLED: &str = "SW-IO-002";
const GONE: &str = "SW-IO-003";
/// More rows say nothing new.
const MOST: usize = 8;

fn failed(input: &Observed<'_>) -> Option<Found> {
    let of_the_disk = |f: &Failure| !f.kind.is_no_space() && !f.kind.is_device_gone();
    let failures = failures(input).filter(|(_, f, _)| of_the_disk(f));
    let all: Vec<_> = failures.collect();
    let total: u64 = all.iter().map(|(_, _, n)| n).sum();
    let proof = all.iter().take(MOST).map(|(p, f, n)| {
        let more = if *n > 1 { format!(" ({n} such requests)") } else { String::new() };
        evidence(format!("{f}{more}"), &p.name)
    });
    let proof: Vec<_> = proof.collect();
    if proof.is_empty() {
        return None;
    }
    Some(
        Found::error(match total {
            1 => "A request failed".into(),
            n => format!("{n} requests failed"),
        })
        .evidence(proof)
        .remedy(format!("copy the data off first; then {}", look_at(input))),
    )
}

fn stalled(input: &Observed<'_>) -> Option<Found> {
    let repeats = input.phases().iter().flat_map(|p| p.repeats.iter().map(move |r| (p, r)));
    let mut proof: Vec<Evidence> = repeats
        .filter(|(_, r)| r.stopped == Stopped::Stalled)
        .map(|(p, r)| {
            let seen = r.invalid.as_deref().unwrap_or(&Skipped::DeviceStalled);
            evidence(seen, &p.name)
        })
        .collect();
    proof.truncate(MOST);
    if proof.is_empty() {
        return None;
    }
    Some(Found::error("The device stopped answering").evidence(proof).remedy(look_at(input)))
}

fn gone(input: &Observed<'_>) -> Option<Found> {
    let mut proof: Vec<Evidence> = failures(input)
        .filter(|(_, f, _)| f.kind.is_device_gone())
        .map(|(p, f, _)| evidence(f.to_string(), &p.name))
        .collect();
    let repeats = input.phases().iter().flat_map(|p| p.repeats.iter().map(move |r| (p, r)));
    proof.extend(repeats.filter_map(|(p, r)| {
        let Some(Invalid::DeviceGone(how)) = &r.invalid else { return None };
        Some(evidence(how, &p.name))
    }));
    let left_out = input.phases().iter().filter(|p| p.skipped == Some(Skipped::DeviceGone));
    let names: Vec<_> = left_out.map(|p| p.name.as_str()).collect();
    if !names.is_empty() {
        let seen = format!("{} phases could not be run: {}", names.len(), Skipped::DeviceGone);
        proof.push(evidence(seen, names.join(", ")));
    }
    if proof.is_empty() {
        return None;
    }
    Some(
        Found::error("The device disappeared during the run")
            .evidence(proof)
            .remedy(look_at(input)),
    )
}

fn failures<'a>(input: &Observed<'a>) -> impl Iterator<Item = (&'a Phase, Failure, u64)> {
    let repeats = input.phases().iter().flat_map(|p| p.repeats.iter().map(move |r| (p, r)));
    repeats.filter_map(|(p, r)| Some((p, r.failure?, r.failed.max(1))))
}

fn look_at(input: &Observed<'_>) -> String {
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
    use super::*;
    use crate::testing::checkup::Case;
    use seekwell_inspect::Severity;

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
                phase.skipped = Some(Skipped::DeviceGone);
            }
        });
        let f = case.finding(GONE);
        assert_eq!(f.evidence[1].from, "seq-write-1m, commit-4k");
        case.quiet(FAILED);
        Case::nvme().quiet(GONE);
    }

    #[test]
    fn a_device_that_went_away_before_the_very_last_execution_is_found_as_well() {
        let f = Case::nvme().with(|c| {
            c.phase_mut("commit-4k").repeats[2].invalid = Some(Invalid::device_gone(None));
        });
        let f = f.finding(GONE);
        assert_eq!(f.evidence.len(), 1);
        assert_eq!(f.evidence[0].from, "commit-4k");
    }
}
