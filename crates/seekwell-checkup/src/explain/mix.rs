//! Reads beside writes.

use super::look::{evidence, fact, finding, is_honest, ns, set_queue};
use super::{ExplainInput, Rule};
use seekwell_inspect::{Device, Finding, Severity};

pub(super) const RULES: &[Rule] =
    &[Rule { id: STARVED, about: "reads starve beside writes", apply: starved }];
const STARVED: &str = "SW-MIX-001";
const MIX: &str = "mix-70-30-4k-d32";
const ALONE: &str = "rand-read-4k-d32";

/// At the same total depth a fair mix costs reads what the writes take of the device: 1.2 to 2
/// times on flash, up to 2.5 on a rotating disk.
const MEAN_TIMES: f64 = 3.0;
/// Tails suffer more, from programming and erasing: three to six times is usual.
const P99_TIMES: f64 = 10.0;
/// Below these nobody notices.
const MEAN_FLOOR_NS: f64 = 0.5e6;
const P99_FLOOR_NS: f64 = 5e6;

/// SW-MIX-001: reads take far longer once 30 % of the requests are writes.
///
/// Condition, at the same depth of 32 and both past the page cache: mean read latency at least 3
/// times that of reads alone and at least 0.5 ms, or the 99th percentile at least 10 times and at
/// least 5 ms.
fn starved(input: &ExplainInput<'_>) -> Option<Finding> {
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
        let seen = format!("reads alone, {what}: {}; {times:.1} times less", ns(without));
        proof.push(evidence(seen, ALONE));
    }
    if proof.is_empty() {
        return None;
    }
    let disk = input.disk();
    proof.extend(disk.and_then(|d| d.queue.scheduler.as_ref()).map(|s| fact("scheduler", s)));
    Some(finding(
        STARVED,
        Severity::Warning,
        "Reads starve beside writes".into(),
        proof,
        "a program waits for its reads but rarely for its writes; when writes go first, a backup \
         or a database checkpoint makes everything else feel stuck",
        remedy(disk),
    ))
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
            "try a scheduler that gives reads precedence, and measure again: {}",
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
    use super::super::testing::Case;
    use super::*;

    #[test]
    fn reads_three_times_slower_beside_writes_are_a_finding() {
        let f = Case::sata_ssd().with(|c| c.scale(MIX, "read.latency_ns_mean", 2.7));
        let f = f.finding(STARVED);
        assert!(f.evidence[1].seen.contains("4.0 times less"), "{f:?}");
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
