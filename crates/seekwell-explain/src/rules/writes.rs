//! Writes and commits far slower than the reads allow, and what may be the cause.

use crate::look::{commit_ns, is_honest};
use crate::words::{evidence, fact, ns, per_s};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Evidence;
use seekwell_runs::{Phase, PhaseId};

pub(super) const RULES: &[Rule] = &[Rule {
    id: SLOW,
    about: "writes are far slower than the reads allow",
    means: "The device serves reads many times as fast as writes of the same size and depth.",
    known: "Random writes of 4 KiB at depth 1 or 32, or sequential writes, give under a tenth of \
            the rate of such reads, past the page cache. What may be the cause is listed by \
            weight: a limit set by a control group, a rate that fell during the run, a synchronous \
            mount, a write cache that is off, the cost of flushes, the journal, copy on write, a \
            virtual machine's host.",
    why: "a disk that reads fast can write at least a tenth as fast, if nothing holds the writes \
          back",
    fix: "remove the cause that is named first, and measure again",
    tune: None,
    check: Check::Run(slow),
}];
const SLOW: &str = "SW-WRITE-001";

/// Flash programs in about ten times the time that it reads in, and hides most of that behind its
/// buffer; a rotating disk writes as fast as it reads.
const TIMES: f64 = 10.0;

/// Phases of writes, and the reads that show what the device can do.
const PAIRS: [(PhaseId, PhaseId); 3] = [
    (PhaseId::RandomWrite(1), PhaseId::RandomRead(1)),
    (PhaseId::RandomWrite(32), PhaseId::RandomRead(32)),
    (PhaseId::SequentialWrite, PhaseId::SequentialRead),
];

fn slow(input: &Observed<'_>) -> Option<Found> {
    let rate = |id, metric| {
        let phase = input.phase(id).filter(|p| is_honest(p))?;
        phase.median(metric).filter(|rate| *rate > 0.0)
    };
    let pairs = PAIRS.into_iter().filter_map(|(writes, reads)| {
        let written = rate(writes, "write.requests_per_s")?;
        let read = rate(reads, "read.requests_per_s")?;
        (read > TIMES * written).then_some((writes, written, reads, read))
    });
    let worst = |pair: &(PhaseId, f64, PhaseId, f64)| pair.3 / pair.1;
    let (writes, written, reads, read) = pairs.max_by(|a, b| worst(a).total_cmp(&worst(b)))?;
    let (causes, remedy) = causes(input);
    Some(
        Found::warning(format!("writes are {:.0} times slower than reads", read / written))
            .seen(format!("writes: {}", per_s(written)), writes)
            .seen(format!("reads of the same kind: {}", per_s(read)), reads)
            .evidence(causes)
            .remedy(remedy.unwrap_or_else(|| {
                "nothing that could be read explains it: look for other writers \
                 (iostat -x 1) and for disk errors (smartctl -a)"
                    .into()
            })),
    )
}

/// What may slow down writes and commits, the best supported first, and the remedy for that.
pub(super) fn causes(input: &Observed<'_>) -> (Vec<Evidence>, Option<String>) {
    let all = [limited, fell, synchronous, cache_off, flushes, journal, copies, host];
    let mut found: Vec<(Evidence, String)> = all.into_iter().filter_map(|f| f(input)).collect();
    let remedy = (!found.is_empty()).then(|| found[0].1.clone());
    if let [(first, _), ..] = found.as_mut_slice() {
        first.seen.insert_str(0, "most likely: ");
    }
    (found.into_iter().map(|(evidence, _)| evidence).collect(), remedy)
}

type Cause = Option<(Evidence, String)>;

fn limited(input: &Observed<'_>) -> Cause {
    let devices = input.devices();
    let host = &input.inspection.host;
    let of_target = |l: &&seekwell_inspect::Fact<seekwell_inspect::IoLimit>| {
        l.value.writes && devices.iter().any(|d| d.dev == l.value.dev)
    };
    let limit = host.io_limits.iter().filter(of_target).min_by_key(|l| l.value.per_s)?;
    let unit = if limit.value.bytes { "bytes" } else { "writes" };
    let seen = format!("a control group allows {} {unit} a second", limit.value.per_s);
    let remedy = format!("raise or remove the limit in {}", limit.from);
    Some((evidence(seen, &limit.from), remedy))
}

fn fell(input: &Observed<'_>) -> Cause {
    let writes = |p: &&Phase| p.workload.drawn().is_some_and(|w| w.only_writes());
    let falls = input
        .phases()
        .iter()
        .filter(writes)
        .flat_map(|p| p.repeats.iter().filter_map(move |r| Some((p, r.slowdown?))));
    let (phase, fall) = falls.min_by(|a, b| {
        let left = |f: &seekwell_runs::Slowdown| f.after_per_s / f.before_per_s;
        left(&a.1).total_cmp(&left(&b.1))
    })?;
    let seen = format!(
        "writes fell from {} to {} after {}, as where a drive's fast flash or write cache is full",
        per_s(fall.before_per_s),
        per_s(fall.after_per_s),
        ns(fall.at_ns as f64)
    );
    let remedy = "let the drive rest, give back free space (fstrim), and measure until the rate \
                  is steady: seekwell bench --steady --precondition";
    Some((evidence(seen, &phase.name), remedy.into()))
}

fn synchronous(input: &Observed<'_>) -> Cause {
    let fs = input.inspection.filesystem.as_ref()?;
    let sync = |o: &&String| matches!(o.as_str(), "sync" | "dirsync" | "data=journal");
    let option = fs.options.value.iter().find(sync)?;
    let remedy = format!("mount {} without {option}", fs.mount_point.value);
    Some((evidence(format!("mounted with {option}"), &fs.options.from), remedy))
}

fn cache_off(input: &Observed<'_>) -> Cause {
    let disk = input.disk()?;
    if let Some(id) = disk.detail.identify.as_ref().filter(|i| i.value.write_cache == (true, false))
    {
        let remedy = format!("switch it on: sudo hdparm -W 1 /dev/{}", disk.name);
        return Some((evidence("the drive's write cache is off", &id.from), remedy));
    }
    disk.detail.raid_controller()?;
    let cache = disk.detail.scsi.as_ref()?.cache_type.as_ref()?;
    let through = cache.value.starts_with("write through");
    let remedy = "look at the controller's battery, and set its write policy to write back";
    through.then(|| (fact("the controller's cache", cache), remedy.into()))
}

/// What helps where the disk is another machine's.
pub(super) const SERVER: &str = "put what commits often (a database's log, a mail queue) on a \
                                 local disk, or ask for the server's settings: sync or async \
                                 export, its own write cache";
/// A flush that costs this many times the write before it is what a commit waits for.
const FLUSH_TIMES: f64 = 5.0;

/// What a commit and the same write without a flush take, where the flush is most of it.
fn commit_and_write(input: &Observed<'_>) -> Option<(f64, f64)> {
    let commit = commit_ns(input)?;
    let write = input.phase(PhaseId::RandomWrite(1))?.median("write.latency_ns_mean")?;
    (commit > FLUSH_TIMES * write).then_some((commit, write))
}

fn flushes(input: &Observed<'_>) -> Cause {
    let (commit, write) = commit_and_write(input)?;
    let seen = format!("a write takes {}, with a flush {}", ns(write), ns(commit));
    let drive = "keep logs that commit often on a drive with power-loss protection, or commit \
                 more at once";
    let remedy = if input.disk().is_some() { drive } else { SERVER };
    Some((evidence(seen, PhaseId::Commit), remedy.into()))
}

fn journal(input: &Observed<'_>) -> Cause {
    let fs = input.inspection.filesystem.as_ref()?;
    commit_and_write(input)?;
    let journals = ["ext3", "ext4", "xfs", "jfs"].contains(&fs.fstype.value.as_str());
    let seen = format!("commits on {} also wait for its journal", fs.fstype.value);
    let remedy = "see what else commits to this file system, and put its journal or the log on a \
                  disk of its own";
    journals.then(|| (evidence(seen, &fs.fstype.from), remedy.into()))
}

fn copies(input: &Observed<'_>) -> Cause {
    let fs = input.inspection.filesystem.as_ref()?;
    let copies = ["btrfs", "zfs", "bcachefs"].contains(&fs.fstype.value.as_str());
    let seen = format!("{} writes every block to a new place", fs.fstype.value);
    let remedy = "keep databases and disk images in a directory without copy on write (chattr +C)";
    copies.then(|| (evidence(seen, &fs.fstype.from), remedy.into()))
}

fn host(input: &Observed<'_>) -> Cause {
    let disk = input.disk()?;
    let seen = input.virtual_evidence(disk)?;
    let remedy = format!("ask for the host's limits and cache mode of {}", disk.name);
    Some((seen, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;
    use seekwell_inspect::IoLimit;

    fn slow(case: Case) -> Case {
        case.with(|c| c.set("rand-write-4k-d32", "write.requests_per_s", 20.0))
    }

    #[test]
    fn writes_far_below_reads_are_told_with_the_causes_that_are_known() {
        let f = slow(Case::sata_ssd()).finding(SLOW);
        assert!(f.title.starts_with("writes are 4750 times slower"), "{f:?}");
        assert!(f.evidence[2].seen.starts_with("most likely: a write takes"), "{f:?}");
        let limited = slow(Case::sata_ssd()).with(|c| {
            c.inspection.device.as_mut().expect("a device").dev = "8:0".into();
            let limit = IoLimit { dev: "8:0".into(), writes: true, bytes: false, per_s: 20 };
            c.inspection.host.io_limits = fact(limit, "io.max").into_iter().collect();
        });
        let f = limited.finding(SLOW);
        let seen = "most likely: a control group allows 20 writes a second";
        assert_eq!(f.evidence[2].seen, seen);
        assert!(f.remedy.contains("io.max"), "{f:?}");
    }

    #[test]
    fn writes_a_little_slower_or_through_a_cache_are_none() {
        let at = |rate| {
            Case::sata_ssd().with(move |c: &mut Case| {
                c.set("rand-write-4k-d32", "write.requests_per_s", rate);
            })
        };
        at(12e3).quiet(SLOW);
        slow(Case::sata_ssd()).with(|c| c.scale("rand", "device_share", 0.5)).quiet(SLOW);
    }
}
