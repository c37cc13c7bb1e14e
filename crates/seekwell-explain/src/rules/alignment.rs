//! Where requests meet the disk's physical blocks.

use crate::look::is_honest;
use crate::words::{bytes, evidence, fact_bytes, ns, per_s};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, DeviceKind};
use seekwell_runs::PhaseId;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: UNALIGNED,
        about: "a device is not aligned to physical blocks",
        means: "A partition or mapped device begins in the middle of one of the disk's physical \
                blocks.",
        known: "alignment_offset, which the kernel computes from the start of the partition and \
                the disk's physical block size, is not 0. A whole disk below a partition is not \
                judged: some are offset on purpose, and an aligned partition compensates for it.",
        why: "every 4 KiB write then touches two physical blocks, and the disk reads both before \
              it can write them: small writes cost twice as much or more",
        fix: "back up the data, then recreate the partition at a multiple of 1 MiB",
        tune: None,
        check: Check::Run(unaligned),
    },
    Rule {
        id: SMALL,
        about: "requests below 4 KiB are slower than 4 KiB",
        means: "The disk works in blocks of 4096 bytes and emulates smaller ones at a measurable \
                cost.",
        known: "Reading one logical block at depth 1 takes at least 1.2 times as long as reading 4 \
                KiB, or the rate at depth 32 is at most 1/1.2 of it, with no overlap between \
                repeats. Offering 512-byte blocks is harmless by itself; here it has a measured \
                cost.",
        why: "the disk works in units of 4096 bytes and only emulates smaller blocks; a small read \
              is cut out of a large one, and a small write needs a read first",
        fix: "use block sizes of 4096 bytes or more in file systems, databases and virtual disks",
        tune: None,
        check: Check::Run(small_blocks),
    },
];
const UNALIGNED: &str = "SW-ALIGN-001";
const SMALL: &str = "SW-ALIGN-002";

/// A fifth slower is far outside what repeats on a quiet disk differ by.
const SLOWER: f64 = 1.2;

fn unaligned(input: &Observed<'_>) -> Option<Found> {
    let off = |d: &Device| d.queue.alignment_offset_bytes.clone().filter(|a| a.value != 0);
    let below_top = input.devices().into_iter().skip(1).filter(|d| d.kind != DeviceKind::Disk);
    let devices = input.inspection.device.iter().chain(below_top);
    let found: Vec<_> = devices.filter_map(|d| Some((d, off(d)?))).collect();
    let (first, _) = found.first()?;
    let mut proof = Vec::new();
    for (d, offset) in &found {
        let seen =
            format!("{} starts {} off a physical block boundary", d.name, bytes(offset.value));
        proof.push(evidence(seen, &offset.from));
        let physical = d.queue.physical_block_bytes.as_ref();
        proof.extend(physical.map(|p| fact_bytes("physical block", p)));
    }
    let parent = first.below.first().map_or(first.name.as_str(), |d| d.name.as_str());
    let remedy = match (&first.role, first.kind) {
        (Some(number), DeviceKind::Partition) => format!(
            "back up the data, then recreate the partition at a multiple of 1 MiB; to check: sudo \
             parted /dev/{parent} align-check optimal {}",
            number.value
        ),
        _ => format!("back up the data, then recreate {} at a multiple of 1 MiB", first.name),
    };
    Some(
        Found::warning(format!("{} is not aligned to its disk's physical blocks", first.name))
            .evidence(proof)
            .remedy(remedy),
    )
}

fn small_blocks(input: &Observed<'_>) -> Option<Found> {
    let both = |depth: u32, metric: &str| {
        let of = |id| {
            let phase = input.phase(id)?;
            is_honest(phase).then(|| phase.metrics.get(metric).copied())?
        };
        Some((of(PhaseId::BlockRead(depth))?, of(PhaseId::RandomRead(depth))?))
    };
    let mut proof = Vec::new();
    if let Some((block, four)) = both(1, "read.latency_ns_mean")
        && block.median >= SLOWER * four.median
        && block.low > four.high
    {
        let seen = format!("one block, depth 1, mean: {}", ns(block.median));
        proof.push(evidence(seen, PhaseId::BlockRead(1)));
        let seen = format!("4 KiB, depth 1, mean: {}", ns(four.median));
        proof.push(evidence(seen, PhaseId::RandomRead(1)));
    }
    if let Some((block, four)) = both(32, "read.requests_per_s")
        && block.median * SLOWER <= four.median
        && block.high < four.low
    {
        let seen = format!("one block, depth 32: {}", per_s(block.median));
        proof.push(evidence(seen, PhaseId::BlockRead(32)));
        let seen = format!("4 KiB, depth 32: {}", per_s(four.median));
        proof.push(evidence(seen, PhaseId::RandomRead(32)));
    }
    if proof.is_empty() {
        return None;
    }
    let queue = &input.inspection.device.as_ref()?.queue;
    proof.extend(queue.logical_block_bytes.as_ref().map(|b| fact_bytes("logical block", b)));
    proof.extend(queue.physical_block_bytes.as_ref().map(|b| fact_bytes("physical block", b)));
    let nvme = input.disk().filter(|d| d.transport.as_ref().is_some_and(|t| t.value == "nvme"));
    let remedy = match nvme {
        Some(d) => format!(
            "use block sizes of 4096 bytes in file systems and databases; sudo nvme id-ns -H \
             /dev/{} shows whether the drive can be formatted with 4096-byte blocks (that erases \
             it)",
            d.name
        ),
        None => {
            "use block sizes of 4096 bytes or more in file systems, databases and virtual disks"
                .into()
        }
    };
    Some(
        Found::warning("Requests smaller than 4 KiB are slower than 4 KiB")
            .evidence(proof)
            .remedy(remedy),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;

    #[test]
    fn an_unaligned_partition_is_found_with_its_offset_and_number() {
        let case = Case::hdd().with(|c| {
            let top = c.inspection.device.as_mut().expect("a partition");
            top.queue.alignment_offset_bytes = fact(3584, "/sys/class/block/sdb1/alignment_offset");
        });
        let f = case.finding(UNALIGNED);
        assert_eq!(f.evidence.len(), 2, "the offset and the block, once each: {f:?}");
        assert!(f.evidence[0].seen.contains("sdb1 starts 3.50 KiB off"), "{f:?}");
        assert!(f.remedy.ends_with("parted /dev/sdb align-check optimal 1"), "{f:?}");
        Case::hdd().quiet(UNALIGNED);
    }

    #[test]
    fn a_disk_that_begins_off_its_blocks_is_in_order_under_a_partition_that_makes_up_for_it() {
        let jumper = |d: &mut Device| d.queue.alignment_offset_bytes = fact(3584, "/sys/block/sdb");
        let case = Case::hdd().with_disk(jumper);
        case.quiet(UNALIGNED);
        let whole = |c: &mut Case| {
            let top = c.inspection.device.take().expect("a partition");
            c.inspection.device = top.below.into_iter().next();
        };
        case.with(whole).finding(UNALIGNED);
    }

    #[test]
    fn a_block_that_takes_longer_than_4_kib_is_a_finding() {
        let slow = |c: &mut Case| c.scale("rand-read-block-d1", "read.latency_ns_mean", 1.4);
        let f = Case::nvme().with(slow).finding(SMALL);
        assert!(f.remedy.contains("nvme id-ns -H /dev/nvme0n1"), "{f:?}");
        let few = |c: &mut Case| c.scale("rand-read-block-d32", "read.requests_per_s", 0.7);
        let f = Case::sata_ssd().with(few).finding(SMALL);
        assert_eq!(f.evidence[0].from, "rand-read-block-d32");
    }

    #[test]
    fn emulated_blocks_that_cost_nothing_or_are_lost_in_noise_are_none() {
        let queue = &Case::sata_ssd().inspection.device.expect("a disk").queue;
        assert_eq!(queue.logical_block_bytes.as_ref().map(|b| b.value), Some(512));
        assert_eq!(queue.physical_block_bytes.as_ref().map(|b| b.value), Some(4096));
        let slow = |c: &mut Case| c.scale("rand-read-block-d1", "read.latency_ns_mean", 1.1);
        Case::sata_ssd().with(slow).quiet(SMALL);
        let noisy = |c: &mut Case| {
            c.spread("rand-read-block-d1", "read.latency_ns_mean", 22e6, 16e6, 25e6);
        };
        Case::hdd().with(noisy).quiet(SMALL);
    }
}
