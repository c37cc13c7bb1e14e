//! What a device does when it is written for long.

use crate::words::{bytes, bytes_per_s, evidence, ns};
use crate::{Check, Found, Observed, Rule};
use seekwell_runs::{FastCause, FastRegion, Study};

pub(super) const RULES: &[Rule] = &[Rule {
    id: FALLS,
    about: "the write rate falls after a volume of data",
    means: "bench --suite sustained wrote until the rate fell, and it stayed low.",
    known: "Change points of the rate over the bytes written, a drop of at least 30 %, \
            statistically near certain. The model or the hypervisor tells a cloud's volume (burst \
            credits); otherwise an SSD is taken to have an SLC cache, a hard drive or RAID \
            controller a write-back cache. What a virtual disk of another host does is not named.",
    why: "what is written at once up to that volume is fast, and everything larger runs at the \
          rate after it; benchmarks that write less show only the first",
    fix: "plan for the rate after the fall where more is written at once; leave rests between \
          bursts, keep space free and trimmed (fstrim), and for a cloud's volume buy the rate",
    tune: None,
    check: Check::Run(falls),
}];
const FALLS: &str = "SW-CLIFF-001";

fn falls(input: &Observed<'_>) -> Option<Found> {
    let Some(Study::Sustained(study)) = input.study else { return None };
    let fast = study.fast?;
    let what = match study.cause {
        FastCause::Unknown => "the fast region".to_owned(),
        FastCause::BurstCredits => "what looks like burst credits".to_owned(),
        cause => format!("what looks like {}", cause.words()),
    };
    let (before, after) = (fast.before_bytes_per_s, fast.after_bytes_per_s);
    let title = format!(
        "{what} ends after {}: writes fall from {} to {}",
        bytes(fast.bytes),
        bytes_per_s(before),
        bytes_per_s(after)
    );
    let range = format!("between {} and {} written", bytes(fast.low_bytes), bytes(fast.high_bytes));
    let back = study.recoveries.iter().map(|rest| {
        let seen = format!("{} of rest gave {} back", ns(rest.idle_ns as f64), bytes(rest.bytes));
        evidence(seen, &study.phase)
    });
    let proof = std::iter::once(evidence(range, &study.phase)).chain(back);
    Some(Found::info(title).evidence(proof))
}

/// What makes a region fast, as far as the facts show.
pub fn fast_cause(input: &Observed<'_>, fast: Option<FastRegion>) -> FastCause {
    let (Some(disk), Some(fast)) = (input.disk(), fast) else { return FastCause::Unknown };
    if is_cloud(input) {
        return FastCause::BurstCredits;
    }
    if input.virtual_evidence(disk).is_some() {
        return FastCause::Unknown;
    }
    match (disk.detail.raid_controller(), input.rotates(disk)) {
        (Some(_), _) | (None, Some(true)) if fast.bytes <= LARGEST_MEMORY => {
            FastCause::WriteBackCache
        }
        (None, Some(false)) => FastCause::SlcCache,
        _ => FastCause::Unknown,
    }
}

/// Models of cloud volumes, and the hypervisor that is a cloud's own.
const VOLUMES: [&str; 4] =
    ["Elastic Block Store", "PersistentDisk", "nvme_card-pd", "MSFT NVMe Accelerator"];
/// More than any hard drive or RAID controller has of memory: there it is the slower inner tracks.
const LARGEST_MEMORY: u64 = 16 << 30;

/// Whether the known facts say that the disk is a cloud volume.
pub fn is_cloud(input: &Observed<'_>) -> bool {
    let Some(disk) = input.disk() else { return false };
    let model = disk.model.as_ref().map_or("", |model| model.value.as_str());
    let host = input.inspection.host.virtualization.as_ref();
    let own = host.is_some_and(|host| host.value == "google compute engine");
    VOLUMES.iter().any(|volume| model.contains(volume))
        || own && input.virtual_evidence(disk).is_some() && !model.contains("nvme_card")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use seekwell_inspect::{Device, DeviceKind, Fact, Inspection, Severity, TargetKind};
    use seekwell_runs::{Recovery, Sustained, SustainedEnd};

    const FAST: FastRegion = FastRegion {
        bytes: 24 << 30,
        low_bytes: 23 << 30,
        high_bytes: 25 << 30,
        before_bytes_per_s: 2e9,
        after_bytes_per_s: 1e8,
    };

    fn study(fast: Option<FastRegion>, cause: FastCause) -> Case {
        let study = Study::Sustained(Sustained {
            phase: "write-1048576-d8".into(),
            written_bytes: 72 << 30,
            most_bytes: 100 << 30,
            ended: SustainedEnd::Settled,
            stretches: Vec::new(),
            fast,
            cause,
            recoveries: vec![Recovery { idle_ns: 30_000_000_000, bytes: 6 << 30 }],
            part_bytes: 1,
            rates_bytes_per_s: Vec::new(),
        });
        Case::nvme().with(|c| c.study = Some(study))
    }

    #[test]
    fn a_cliff_is_a_note_in_the_words_of_its_cause() {
        for (cause, words) in [
            (FastCause::SlcCache, "what looks like an SLC cache ends after 24 GiB"),
            (FastCause::WriteBackCache, "what looks like a write-back cache ends"),
            (FastCause::BurstCredits, "what looks like burst credits ends"),
            (FastCause::Unknown, "the fast region ends"),
        ] {
            let found = study(Some(FAST), cause).finding(FALLS);
            assert_eq!(found.severity, Severity::Info);
            assert!(found.title.starts_with(words), "{}", found.title);
            assert!(found.evidence[1].seen.contains("gave 6 GiB back"), "{found:?}");
        }
        study(None, FastCause::Unknown).quiet(FALLS);
    }

    /// A disk of this model, on a host under this hypervisor.
    fn disk(model: &str, rotates: bool, hypervisor: Option<&str>) -> Inspection {
        let mut device = Device::new("nvme0n1", "259:0", DeviceKind::Disk);
        device.model = Some(Fact::new(model.to_owned(), "model"));
        device.queue.rotational = Some(Fact::new(rotates, "rotational"));
        let mut inspection = Inspection::new("/dev/nvme0n1", TargetKind::BlockDevice);
        inspection.device = Some(device);
        inspection.host.virtualization = hypervisor.map(|h| Fact::new(h.to_owned(), "dmi"));
        inspection
    }

    #[test]
    fn a_cause_is_named_by_what_host_and_device_say_they_are() {
        let small = FastRegion { bytes: 256 << 20, ..FAST };
        for (model, rotates, hypervisor, fast, cause) in [
            ("Amazon Elastic Block Store", false, Some("kvm"), FAST, FastCause::BurstCredits),
            ("Amazon Elastic Block Store", false, None, FAST, FastCause::BurstCredits),
            ("PersistentDisk", true, Some("google compute engine"), FAST, FastCause::BurstCredits),
            ("nvme_card", false, Some("google compute engine"), FAST, FastCause::Unknown),
            ("QEMU HARDDISK", false, Some("qemu"), FAST, FastCause::Unknown),
            ("INTEL SSDPEKNW512G8", false, None, FAST, FastCause::SlcCache),
            ("ST2000DM006", true, None, small, FastCause::WriteBackCache),
            ("ST2000DM006", true, None, FAST, FastCause::Unknown),
        ] {
            let found = fast_cause(&Observed::new(&disk(model, rotates, hypervisor)), Some(fast));
            assert_eq!(found, cause, "{model}");
        }
    }
}
