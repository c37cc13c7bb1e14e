//! Whether the kernel reads far enough ahead to keep the disk streaming.

use crate::words::{bytes, bytes_per_s, evidence, fact_bytes, ns, set};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{DeviceKind, Severity};
use seekwell_runs::PhaseId;

pub(super) const RULES: &[Rule] = &[Rule {
    id: SMALL,
    about: "read-ahead is too small for the disk's rate",
    means: "Buffered sequential reads run far below the disk's rate, because too little is read \
            ahead.",
    known: "The data that must be in flight to keep the disk busy, sequential rate times the \
            latency of one random read, is more than four times the read-ahead, on a disk that \
            does not rotate; or read-ahead is off, on any disk. Both numbers were measured \
            past the page cache.",
    why: "programs that read files through the page cache have only the read-ahead outstanding; \
          between read-aheads the disk idles, and copies, backups and scans get a fraction of the \
          rate",
    fix: "write the size in KiB into queue/read_ahead_kb of the device",
    tune: Some("Set read_ahead_kb."),
    check: Check::Run(too_small),
}];
const SMALL: &str = "SW-RA-001";
const SEQUENTIAL: PhaseId = PhaseId::SequentialRead;

/// By how much the gap must exceed the read-ahead. The kernel starts the next window while the last
/// is being used, so up to twice is bridged, and latency under a stream is below that of a random
/// read; at four times a buffered stream gets half the rate at best.
const TIMES: f64 = 4.0;
/// Larger windows waste memory on every file that is read once.
const LARGEST: u64 = 16 << 20;

fn too_small(input: &Observed<'_>) -> Option<Found> {
    let disk = input.disk()?;
    let top = input.devices().into_iter().find(|d| d.kind != DeviceKind::Partition)?;
    let ahead = top.queue.read_ahead_bytes.as_ref()?;
    let rate = input.honest(SEQUENTIAL, "read.rate_bytes_per_s")?;
    let latency = input.one_read_ns()?;
    let streams = input.rotates(disk) == Some(false)
        || (input.virtual_evidence(disk).is_some() && latency <= crate::look::SLOWEST_FLASH_NS);
    let gap = rate * latency / 1e9;
    if ahead.value != 0 && !(streams && TIMES * (ahead.value as f64) < gap) {
        return None;
    }
    let right = if streams { gap as u64 } else { 128 << 10 };
    let right = right.next_power_of_two().clamp(128 << 10, LARGEST);
    let path = format!("/sys/block/{}/queue/read_ahead_kb", top.name);
    let mut proof = vec![
        fact_bytes("read-ahead", ahead),
        evidence(format!("sequential rate past the page cache: {}", bytes_per_s(rate)), SEQUENTIAL),
        evidence(format!("one random read: {}", ns(latency)), crate::look::ONE_READ),
    ];
    if streams {
        let seen = format!("rate × latency: {} must be in flight", bytes(gap as u64));
        proof.push(evidence(seen, format!("{SEQUENTIAL}, {}", crate::look::ONE_READ)));
    }
    Some(
        Found::new(
            if ahead.value == 0 { Severity::Warning } else { Severity::Info },
            format!("{}: read-ahead is too small for its rate", top.name),
        )
        .evidence(proof)
        .remedy(set(&(right >> 10).to_string(), &path)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;

    fn ahead(case: Case, n: u64) -> Case {
        case.with_disk(|d| d.queue.read_ahead_bytes = fact(n, "/sys/q/read_ahead_kb"))
    }

    #[test]
    fn a_fast_disk_far_away_with_the_usual_read_ahead_is_a_finding() {
        let far = |c: &mut Case| c.scale(SEQUENTIAL, "read.rate_bytes_per_s", 2.0);
        let f = ahead(Case::virtio(), 128 << 10).with(far).finding(SMALL);
        assert_eq!(f.severity, Severity::Info);
        // 2.2 GB/s × 456 µs = 1.003 MB.
        assert!(f.evidence.iter().any(|e| e.seen.contains("980 KiB must be in flight")), "{f:?}");
        assert_eq!(f.remedy, "echo 1024 | sudo tee /sys/block/vda/queue/read_ahead_kb");
        ahead(Case::virtio(), 1 << 20).with(far).quiet(SMALL);
    }

    #[test]
    fn no_read_ahead_at_all_is_a_warning_on_any_disk() {
        let f = ahead(Case::hdd(), 0).finding(SMALL);
        assert_eq!(f.severity, Severity::Warning);
        assert_eq!(f.remedy, "echo 128 | sudo tee /sys/block/sdb/queue/read_ahead_kb");
    }

    #[test]
    fn seeks_of_a_rotating_disk_and_numbers_from_a_cache_are_no_evidence() {
        ahead(Case::hdd(), 16 << 10).quiet(SMALL);
        let case = ahead(Case::virtio(), 16 << 10);
        case.finding(SMALL);
        case.with(|c| c.set(SEQUENTIAL, "device_share", 0.2)).quiet(SMALL);
    }
}
