//! Reads beside writes.

use crate::look::is_honest;
use crate::words::{evidence, fact, ns, set_queue};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, Severity};
use seekwell_runs::PhaseId;

pub(super) const RULES: &[Rule] = &[Rule {
    id: STARVED,
    about: "reads starve beside writes",
    means: "Reads take far longer once 30 % of the requests are writes.",
    known: "At depth 32, past the page cache: mean read latency at least 3 times that of reads \
            alone and at least 0.5 ms, or the 99th percentile at least 10 times and at least 5 ms. \
            A normal mix costs 1.2 to 2.5 times the mean and 3 to 6 times the tail.",
    why: "a program waits for its reads but rarely for its writes; when writes go first, a backup \
          or a database checkpoint stalls everything else",
    fix: "use an I/O scheduler that prioritises reads: mq-deadline, kyber or bfq",
    tune: Some("Set the scheduler."),
    check: Check::Run(starved),
}];
const STARVED: &str = "SW-MIX-001";
const MIX: PhaseId = PhaseId::Mix;
const ALONE: PhaseId = PhaseId::RandomRead(32);

/// At the same total depth a fair mix costs reads what the writes take of the device: 1.2 to 2
/// times on flash, up to 2.5 on a rotating disk.
const MEAN_TIMES: f64 = 3.0;
/// Tails suffer more, from programming and erasing: three to six times is usual.
const P99_TIMES: f64 = 10.0;
/// Below these nobody notices.
const MEAN_FLOOR_NS: f64 = 0.5e6;
const P99_FLOOR_NS: f64 = 5e6;

fn starved(input: &Observed<'_>) -> Option<Found> {
    let mix = input.phase(MIX).filter(|p| is_honest(p))?;
    let alone = input.phase(ALONE).filter(|p| is_honest(p))?;
    let worse = |metric: &str, times: f64, floor: f64| {
        let (with, without) = (mix.median(metric)?, alone.median(metric)?);
        (without > 0.0 && with >= times * without && with >= floor).then_some((with, without))
    };
    let rows = [
        ("mean", worse("read.latency_ns_mean", MEAN_TIMES, MEAN_FLOOR_NS)),
        ("99th percentile", worse("read.latency_ns_p99", P99_TIMES, P99_FLOOR_NS)),
    ];
    let mut proof = Vec::new();
    for (what, found) in rows {
        let Some((with, without)) = found else { continue };
        let seen = format!("read latency beside writes, {what}: {}", ns(with));
        proof.push(evidence(seen, MIX));
        let times = with / without;
        let seen = format!("reads alone, {what}: {}; {times:.1} times lower", ns(without));
        proof.push(evidence(seen, ALONE));
    }
    if proof.is_empty() {
        return None;
    }
    let disk = input.disk();
    proof.extend(disk.and_then(|d| d.queue.scheduler.as_ref()).map(|s| fact("scheduler", s)));
    Some(
        Found::new(Severity::Warning, "Reads starve beside writes")
            .evidence(proof)
            .remedy(remedy(disk)),
    )
}

fn remedy(disk: Option<&Device>) -> String {
    let Some(disk) = disk else {
        return "give reads a deadline on the disks below: the scheduler mq-deadline on each"
            .into();
    };
    let now = disk.queue.scheduler.as_ref().map_or("", |s| s.value.as_str());
    let offered = |name: &str| {
        disk.queue.schedulers.as_ref().is_none_or(|s| s.value.iter().any(|x| x == name))
    };
    let better = ["mq-deadline", "kyber", "bfq"].into_iter().find(|s| *s != now && offered(s));
    match better {
        Some(s) => format!(
            "try a scheduler that prioritises reads, and measure again: {}",
            set_queue(disk, "scheduler", s)
        ),
        None => format!(
            "no other scheduler is offered for {}; load one and measure again: \
             sudo modprobe kyber-iosched",
            disk.name
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;

    #[test]
    fn reads_three_times_slower_beside_writes_are_a_finding() {
        let f = Case::sata_ssd().with(|c| c.scale(MIX, "read.latency_ns_mean", 2.7));
        let f = f.finding(STARVED);
        assert!(f.evidence[1].seen.contains("4.0 times lower"), "{f:?}");
        assert!(f.remedy.contains("echo kyber | sudo tee /sys/block/sda/queue/scheduler"), "{f:?}");
    }

    #[test]
    fn a_tail_ten_times_longer_is_a_finding_of_its_own() {
        let f = Case::sata_ssd().with(|c| c.scale(MIX, "read.latency_ns_p99", 9.0));
        let f = f.finding(STARVED);
        assert!(f.evidence[0].seen.contains("99th percentile"), "{f:?}");
    }

    #[test]
    fn reads_a_little_slower_or_still_fast_or_from_a_cache_are_none() {
        Case::sata_ssd().with(|c| c.scale(MIX, "read.latency_ns_mean", 1.8)).quiet(STARVED);
        Case::nvme().with(|c| c.scale(MIX, "read.latency_ns_mean", 3.0)).quiet(STARVED);
        let cached = |c: &mut Case| {
            c.scale(MIX, "read.latency_ns_mean", 4.0);
            c.scale(ALONE, "device_share", 0.1);
        };
        Case::sata_ssd().with(cached).quiet(STARVED);
    }
}
