//! Reads beside writes.

use crate::look::is_honest;
use crate::words::{evidence, fact, ns, per_s, set_queue};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Device;
use seekwell_io::workload::Pace;
use seekwell_runs::{Phase, PhaseId, Work};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: STARVED,
        about: "reads starve beside writes",
        means: "Reads take far longer once 30 % of the requests are writes.",
        known: "At depth 32, past the page cache: mean read latency at least 3 times that of reads \
                alone and at least 0.5 ms, or the 99th percentile at least 10 times and at least \
                5 ms. A normal mix costs 1.2 to 2.5 times the mean and 3 to 6 times the tail.",
        why: "a program waits for its reads but rarely for its writes; when writes go first, a \
              backup or a database checkpoint stalls everything else",
        fix: "use an I/O scheduler that prioritises reads: mq-deadline, kyber or bfq",
        tune: Some("Set the scheduler."),
        check: Check::Run(starved),
    },
    Rule {
        id: ONE_SIDE,
        about: "reads or writes get next to nothing beside the other",
        means: "Of reads and writes that run side by side, one side is served almost never.",
        known: "Reads and writes at once, neither held to a rate: one side gets under 20 requests \
                a second of at most 64 KiB, which any disk serves alone, and the other is served \
                at least ten times as often or, in one workload that does both, where the shares \
                are fixed, ten times as fast. In the checkup's mix, writes take at least four \
                times as long as writes alone, and 5 ms at least.",
        why: "a scheduler or tag policy that keeps one side going without a bound stops the \
              programs of the other: a backup that never ends, or logins that hang",
        fix: "use an I/O scheduler with a deadline for both sides (mq-deadline), or give both a \
              share of the tags; hold the greedy side to a rate",
        tune: Some("Set the scheduler."),
        check: Check::Run(one_side),
    },
];
const ONE_SIDE: &str = "SW-MIX-002";
const STARVED: &str = "SW-MIX-001";
const MIX: PhaseId = PhaseId::Mix;
const ALONE: PhaseId = PhaseId::RandomRead(32);

/// At the same total depth a fair mix costs reads what the writes take of the device: 1.2 to 2
/// times on flash, up to 2.5 on a rotating disk.
const MEAN_TIMES: f64 = 3.0;
/// Tails suffer more, from programming and erasing: three to six times is usual.
const P99_TIMES: f64 = 10.0;
/// Too small to notice below these.
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
    Some(Found::warning("Reads starve beside writes").evidence(proof).remedy(remedy(disk)))
}

/// Any disk serves twice as many small requests of one kind alone.
const STARVED_PER_S: f64 = 20.0;
/// The other side gets at least this many times as many.
const GREEDY_TIMES: f64 = 10.0;
/// A larger request may rightly take long.
const SMALL_BYTES: f64 = 64.0 * 1024.0;
/// Writes of a fair mix at twice and a half the time of writes alone are usual on a rotating disk.
const WRITES_TIMES: f64 = 4.0;

fn one_side(input: &Observed<'_>) -> Option<Found> {
    beside_each_other(input).or_else(|| writes_in_the_mix(input))
}

/// The two sides of one workload, or of jobs of one group.
fn beside_each_other(input: &Observed<'_>) -> Option<Found> {
    let sides: Vec<_> = input.phases().iter().flat_map(sides).collect();
    let pairs = sides.iter().flat_map(|low| sides.iter().map(move |high| (low, high)));
    let favoured = |low: &Side<'_>, high: &Side<'_>| match (low.mixed, high.mixed) {
        // The shares are fixed: who is put off waits.
        (true, true) => {
            std::ptr::eq(low.phase, high.phase) && low.mean_ns >= GREEDY_TIMES * high.mean_ns
        }
        (false, false) => low.group == high.group && high.per_s >= GREEDY_TIMES * low.per_s,
        _ => false,
    };
    let apart = |(low, high): &(&Side<'_>, &Side<'_>)| {
        low.op != high.op
            && low.bytes <= SMALL_BYTES
            && low.per_s < STARVED_PER_S
            && favoured(low, high)
    };
    let (low, high) = pairs.filter(apart).min_by(|a, b| a.0.per_s.total_cmp(&b.0.per_s))?;
    let title = format!("{}s starve beside {}s", low.op, high.op);
    let told = |side: &Side<'_>| {
        let seen = format!("{}s: {}, mean {}", side.op, per_s(side.per_s), ns(side.mean_ns));
        evidence(seen, &side.phase.name)
    };
    Some(Found::warning(title).evidence([told(low), told(high)]))
}

/// The reads or the writes of a phase, as fast as they may be.
struct Side<'a> {
    phase: &'a Phase,
    /// The reporting group, of a job.
    group: Option<u32>,
    /// The phase has the other side, too.
    mixed: bool,
    op: &'static str,
    per_s: f64,
    bytes: f64,
    mean_ns: f64,
}

fn sides(phase: &Phase) -> Vec<Side<'_>> {
    let paced =
        |key: &String| ["rate", "thinktime", "flow"].iter().any(|word| key.starts_with(word));
    let group = match &phase.workload {
        Work::Job(job) if !job.options.keys().any(paced) => Some(job.group),
        // The checkup has writes alone to hold its own mix against; what writes or reads alone
        // is beside nothing.
        Work::Drawn(w) if is_honest(phase) && phase.name != MIX.to_string() => match w.pace {
            Pace::Closed { .. } if (1..100).contains(&w.read_percent) => None,
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let side = |op| {
        let per_s = phase.median(&format!("{op}.requests_per_s"))?;
        let bytes = phase.median(&format!("{op}.rate_bytes_per_s"))? / per_s;
        let mean_ns = phase.median(&format!("{op}.latency_ns_mean"))?;
        Some(Side { phase, group, mixed: false, op, per_s, bytes, mean_ns })
    };
    let mut sides: Vec<_> = ["read", "write"].into_iter().filter_map(side).collect();
    let mixed = sides.len() == 2;
    sides.iter_mut().for_each(|side| side.mixed = mixed);
    sides
}

fn writes_in_the_mix(input: &Observed<'_>) -> Option<Found> {
    const METRIC: &str = "write.latency_ns_mean";
    let alone = PhaseId::RandomWrite(32);
    let (with, without) = (input.honest(MIX, METRIC)?, input.honest(alone, METRIC)?);
    let slow = with >= WRITES_TIMES * without && with >= P99_FLOOR_NS;
    slow.then(|| {
        Found::warning("Writes starve beside reads")
            .seen(format!("mean write latency beside reads: {}", ns(with)), MIX)
            .seen(format!("writes alone, mean: {}", ns(without)), alone)
    })
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
    fn writes_that_take_far_longer_beside_reads_are_a_finding() {
        let slow = |c: &mut Case| c.set(MIX, "write.latency_ns_mean", 9e6);
        assert_eq!(
            Case::sata_ssd().with(slow).finding(ONE_SIDE).title,
            "Writes starve beside reads"
        );
        let fair = |c: &mut Case| c.set(MIX, "write.latency_ns_mean", 20e6);
        Case::hdd().with(fair).quiet(ONE_SIDE);
    }

    #[test]
    fn one_mixed_workload_starves_a_side_that_waits_ten_times_as_long_as_the_other() {
        let mixed = |reads: (f64, f64), writes: (f64, f64), percent| {
            let mut case = Case::sata_ssd();
            let phase = case.phase_mut(ALONE);
            phase.name = "randrw-4096-d8".into();
            if let Work::Drawn(w) = &mut phase.workload {
                w.read_percent = percent;
            }
            phase.metrics.clear();
            for (op, (per_s, ms)) in [("read", reads), ("write", writes)] {
                case.set("randrw-4096-d8", &format!("{op}.requests_per_s"), per_s);
                case.set("randrw-4096-d8", &format!("{op}.rate_bytes_per_s"), 4096.0 * per_s);
                case.set("randrw-4096-d8", &format!("{op}.latency_ns_mean"), 1e6 * ms);
            }
            case
        };
        let starved = mixed((10.0, 1.0), (10.0, 700.0), 50).finding(ONE_SIDE);
        assert_eq!(starved.title, "writes starve beside reads");
        assert!(starved.evidence[0].seen.contains("mean 700 ms"), "{starved:?}");
        let reads = mixed((10.0, 700.0), (10.0, 1.0), 50).finding(ONE_SIDE);
        assert_eq!(reads.title, "reads starve beside writes");
        // A slow disk that is fair, and a side that is rare because that was asked for.
        mixed((10.0, 400.0), (10.0, 350.0), 50).quiet(ONE_SIDE);
        mixed((95.0, 8.0), (5.0, 9.0), 95).quiet(ONE_SIDE);
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
