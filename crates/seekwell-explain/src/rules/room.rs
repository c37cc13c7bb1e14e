//! Too little memory or space for the test.

use crate::look::medium_size;
use crate::words::{bytes, evidence, fact_bytes, quote};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Severity;
use seekwell_runs::Medium;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: SPACE,
        about: "the test region is too small",
        means: "Less data was measured than planned, or so little that it fits into the drive's \
                own cache.",
        known: "The temporary file is smaller than the level of the checkup asks for, because 10 % \
                and 1 GiB of the file system stay free; or the region is under 64 MiB.",
        why: "a small region fits into the drive's own cache and needs only short seeks, so that \
              the disk looks faster than it is",
        fix: "free some space, or name a directory on a file system with more",
        tune: None,
        check: Check::Run(space),
    },
    Rule {
        id: MEMORY,
        about: "too little memory for the test",
        means: "The machine had almost no free memory during the measurement.",
        known: "Under 256 MiB of memory available when the run began.",
        why: "with so little memory the kernel itself reads and writes the disk while it is \
              measured (dropping pages, swapping), and the page cache test measures the disk",
        fix: "stop what is not needed (ps -eo rss,comm --sort=-rss | head) and measure again",
        tune: None,
        check: Check::Run(memory),
    },
    Rule {
        id: FILLED,
        about: "the file system filled up during the run",
        means: "A write failed for lack of space. This is not a fault of the disk.",
        known: "A request failed with ENOSPC or EDQUOT.",
        why: "phases that write have no numbers; something else took the space, or a quota or thin \
              volume ran out",
        fix: "look at df -h, at quotas (quota -s) and, on a thin volume, at lvs -o+data_percent",
        tune: None,
        check: Check::Run(filled),
    },
];
const SPACE: &str = "SW-ROOM-001";
const MEMORY: &str = "SW-ROOM-002";
const FILLED: &str = "SW-ROOM-003";

/// Disks carry 64 to 512 MiB of memory, controllers more; what fits into that is not the disk's
/// speed but its cache's.
const DRIVE_CACHE_BYTES: u64 = 64 << 20;
/// Buffers, rings and the working set of a small system; below it the kernel writes out and drops
/// pages while the disk is being measured.
const MEMORY_NEEDED_BYTES: u64 = 256 << 20;

fn space(input: &Observed<'_>) -> Option<Found> {
    let medium = input.medium?;
    let (size, _) = medium_size(medium)?;
    let is_file = matches!(medium, Medium::TemporaryFile { .. });
    let wanted = input.wanted_bytes.filter(|w| is_file && size < *w);
    let cached = size < DRIVE_CACHE_BYTES && input.disk().is_some();
    if wanted.is_none() && !cached {
        return None;
    }
    let severe = cached || wanted.is_some_and(|w| size < w / 4);
    let from = if is_file { "the temporary file" } else { "the usable size of the target" };
    let mut proof = vec![evidence(format!("measured region: {}", bytes(size)), from)];
    if let Some(wanted) = wanted {
        proof.push(evidence(format!("wanted: {}", bytes(wanted)), "the level of the checkup"));
    }
    let fs = input.inspection.filesystem.as_ref().filter(|_| is_file);
    let available = fs.and_then(|f| f.available_bytes.as_ref());
    proof.extend(available.map(|a| fact_bytes("free on the file system", a)));
    let mount = fs.map_or(".", |f| f.mount_point.value.as_str());
    let remedy = if is_file && wanted.is_none() {
        // As small as it was asked to be, whatever is free.
        "use a larger part of the disk: --size=1g, or size=1g in a job file".into()
    } else if is_file {
        format!(
            "free some space (du -xh {} | sort -h | tail shows where it is) or name a directory on \
             a file system with more",
            quote(mount)
        )
    } else {
        "measure the whole disk, or compare these numbers only with others of the same region"
            .into()
    };
    Some(
        Found::new(
            if severe { Severity::Warning } else { Severity::Info },
            format!("Only {} could be measured", bytes(size)),
        )
        .evidence(proof)
        .remedy(remedy),
    )
}

fn memory(input: &Observed<'_>) -> Option<Found> {
    let host = &input.inspection.host;
    let low = |m: &&seekwell_inspect::Fact<u64>| m.value < MEMORY_NEEDED_BYTES;
    let available = host.memory_available_bytes.as_ref().filter(low)?;
    let mut proof = vec![fact_bytes("memory available", available)];
    proof.extend(host.memory_bytes.as_ref().map(|m| fact_bytes("memory", m)));
    Some(
        Found::warning(format!("Only {} of memory are available", bytes(available.value)))
            .evidence(proof),
    )
}

fn filled(input: &Observed<'_>) -> Option<Found> {
    let failures = input.phases().iter().flat_map(|p| p.repeats.iter().map(move |r| (p, r)));
    let mut proof: Vec<_> = failures
        .filter_map(|(p, r)| {
            let kind = r.failure?.kind;
            kind.is_no_space().then(|| evidence(kind.to_string(), &p.name))
        })
        .collect();
    proof.dedup();
    if proof.is_empty() {
        return None;
    }
    let fs = input.inspection.filesystem.as_ref();
    let mount = fs.map_or(".", |f| f.mount_point.value.as_str());
    let available = fs.and_then(|f| f.available_bytes.as_ref());
    proof.extend(available.map(|a| fact_bytes("free at the start", a)));
    Some(Found::warning("The file system filled up during the run").evidence(proof).remedy(
        format!("df -h {}; quota -s; and on a thin volume lvs -o+data_percent", quote(mount)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;

    fn file(size_bytes: u64) -> impl FnOnce(&mut Case) {
        move |c| {
            let directory = "/srv".into();
            c.medium = Some(Medium::TemporaryFile { directory, size_bytes, direct: true });
        }
    }

    #[test]
    fn a_smaller_file_than_wanted_is_told_and_a_tiny_one_is_a_warning() {
        let f = Case::nvme().with(file(600 << 20)).finding(SPACE);
        assert_eq!(f.severity, Severity::Info);
        assert!(f.title.contains("600 MiB"), "{f:?}");
        assert!(f.evidence.iter().any(|e| e.seen == "wanted: 1 GiB"), "{f:?}");
        assert_eq!(Case::nvme().with(file(200 << 20)).finding(SPACE).severity, Severity::Warning);
    }

    #[test]
    fn a_region_that_fits_into_the_drives_cache_is_a_warning_but_not_on_memory() {
        let small = |c: &mut Case| {
            c.wanted_bytes = None;
            c.medium = Some(Medium::ReadOnly { size_bytes: 32 << 20, direct: true, device: None });
        };
        assert_eq!(Case::hdd().with(small).finding(SPACE).severity, Severity::Warning);
        Case::zram().with(small).quiet(SPACE);
    }

    #[test]
    fn a_file_that_is_as_small_as_it_was_asked_to_be_is_not_for_want_of_space() {
        // `--size=32m` advised users with 64 GiB free to free some space.
        let asked = |c: &mut Case| c.wanted_bytes = Some(32 << 20);
        let f = Case::nvme().with(file(32 << 20)).with(asked).finding(SPACE);
        assert!(f.remedy.starts_with("use a larger part"), "{f:?}");
    }

    #[test]
    fn a_file_of_the_wanted_size_is_in_order() {
        Case::nvme().with(file(1 << 30)).quiet(SPACE);
    }

    #[test]
    fn little_memory_is_a_finding() {
        let left = |n| {
            Case::nvme().with(move |c| {
                c.inspection.host.memory_available_bytes = fact(n, "/proc/meminfo");
            })
        };
        let f = left(100 << 20).finding(MEMORY);
        assert!(f.title.contains("100 MiB"), "{f:?}");
        left(300 << 20).quiet(MEMORY);
    }

    #[test]
    fn a_full_file_system_is_no_fault_of_the_disk() {
        let full = Case::nvme().with(|c| c.fail("seq-write-1m", 28));
        let f = full.finding(FILLED);
        assert!(f.evidence[0].seen.contains("No space left"), "{f:?}");
        full.quiet("SW-IO-001");
        Case::nvme().with(|c| c.fail("seq-write-1m", 5)).quiet(FILLED);
    }
}
