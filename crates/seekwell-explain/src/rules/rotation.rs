//! Whether the kernel's belief about rotation can be true.

use crate::look::{FASTEST_ROTATING_NS, ONE_READ, SLOWEST_FLASH_NS};
use crate::words::{evidence, fact, ns, set_queue};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Severity;

pub(super) const RULES: &[Rule] = &[Rule {
    id: FLAG,
    about: "the rotational flag contradicts the latencies",
    means: "The kernel takes a flash drive for a rotating disk, or the reverse.",
    known: "Median of a random 4 KiB read at depth 1 that reached the device: under 1 ms on a \
            disk marked as rotating (half a turn takes at least 2 ms), over a region too large \
            for a drive's cache; or over 3 ms on one marked as flash. On virtual disks, often \
            marked wrongly, it is informational.",
    why: "file systems, schedulers and databases rely on this flag; a disk that is slower than it \
          implies may also be failing or underpowered",
    fix: "write the true value into queue/rotational",
    tune: Some("Set rotational."),
    check: Check::Run(flag),
}];
const FLAG: &str = "SW-ROT-001";

/// No rotating disk has a cache as large as this, so reads from such a region show its mechanics.
const BEYOND_CACHE_BYTES: u64 = 512 << 20;

fn flag(input: &Observed<'_>) -> Option<Found> {
    let disk = input.disk()?;
    let rotational = disk.queue.rotational.as_ref()?;
    let read = input.one_read_ns()?;
    let host = input.virtual_evidence(disk);
    let region = input.phase(ONE_READ)?.workload.drawn()?.region_bytes;
    let too_fast = rotational.value
        && read < FASTEST_ROTATING_NS
        && (host.is_some() || region >= BEYOND_CACHE_BYTES);
    let too_slow = !rotational.value && read > SLOWEST_FLASH_NS;
    let (title, why, right) = if too_fast {
        (
            format!("{} is marked as rotating but answers like flash", disk.name),
            "file systems, schedulers and databases avoid seeks that do not exist: they merge, \
             delay and reorder requests for a mechanism the disk does not have",
            "0",
        )
    } else if too_slow {
        (
            format!("{} is marked as flash but answers like a rotating disk", disk.name),
            "either there is a rotating disk behind it, and file systems and schedulers scatter \
             requests as if seeks were free, or a flash drive that is failing or underpowered",
            "1",
        )
    } else {
        return None;
    };
    let severity = if host.is_some() { Severity::Info } else { Severity::Warning };
    let mut proof = vec![
        fact("rotational", rotational),
        evidence(format!("one random read of 4 KiB, median: {}", ns(read)), ONE_READ),
    ];
    proof.extend(host);
    proof.extend(disk.model.as_ref().map(|m| fact("model", m)));
    let remedy = set_queue(disk, "rotational", right);
    Some(Found::new(severity, title).evidence(proof).why(why).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;

    fn marked(case: Case, rotating: bool) -> Case {
        case.with_disk(|d| d.queue.rotational = fact(rotating, "/sys/q/rotational"))
    }

    fn reads_in(case: Case, ns: f64) -> Case {
        case.with(|c| c.set(ONE_READ, "read.latency_ns_p50", ns))
    }

    #[test]
    fn flash_marked_as_rotating_and_a_rotating_disk_marked_as_flash_are_found() {
        let f = marked(Case::sata_ssd(), true).finding(FLAG);
        assert_eq!(f.severity, Severity::Warning);
        assert_eq!(f.remedy, "echo 0 | sudo tee /sys/block/sda/queue/rotational");
        let f = marked(Case::hdd(), false).finding(FLAG);
        assert_eq!(f.remedy, "echo 1 | sudo tee /sys/block/sdb/queue/rotational");
        assert!(f.evidence[1].seen.contains("16.1 ms"), "{f:?}");
    }

    #[test]
    fn a_virtual_disk_with_a_wrong_mark_is_information() {
        assert_eq!(marked(Case::virtio(), true).finding(FLAG).severity, Severity::Info);
        let slow = reads_in(Case::virtio(), 6e6).finding(FLAG);
        assert_eq!(slow.severity, Severity::Info);
    }

    #[test]
    fn a_short_read_out_of_the_drives_own_cache_proves_nothing() {
        let small = |c: &mut Case| c.drawn(ONE_READ).region_bytes = 256 << 20;
        reads_in(Case::hdd(), 0.2e6).with(small).quiet(FLAG);
        reads_in(Case::hdd(), 0.2e6).finding(FLAG);
    }

    #[test]
    fn latencies_between_flash_and_mechanics_prove_nothing_either() {
        reads_in(Case::hdd(), 2e6).quiet(FLAG);
        reads_in(Case::sata_ssd(), 2e6).quiet(FLAG);
        marked(Case::zram(), true).quiet(FLAG);
        let buffered = |c: &mut Case| c.drawn(ONE_READ).direct = false;
        reads_in(Case::hdd(), 0.2e6).with(buffered).quiet(FLAG);
    }
}
