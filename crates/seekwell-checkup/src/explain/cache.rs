//! Numbers that are a cache's and not the disk's.

use super::look::{
    CACHED_READ, HONEST_SHARE, bytes, evidence, fact, finding, measure_device, medium_size,
    percent, set,
};
use super::{ExplainInput, Rule};
use seekwell_inspect::{DeviceKind, Finding, Severity};
use seekwell_runs::Work;

pub(super) const RULES: &[Rule] = &[
    Rule { id: FROM_CACHE, about: "the number came from a cache", apply: from_cache },
    Rule { id: BUFFERED, about: "O_DIRECT refused", apply: buffered },
    Rule { id: BLIND, about: "the device does not count its I/O", apply: blind },
];
const FROM_CACHE: &str = "SW-CACHE-001";
const BUFFERED: &str = "SW-CACHE-002";
const BLIND: &str = "SW-STATS-001";

/// SW-CACHE-001: the device moved less than was asked for, so something nearer answered.
///
/// Condition: in any phase but the one that reads the page cache on purpose, the device counted
/// under 90 % of the bytes the program moved (a cold run gives 95 % and more, a warm one 50 % and
/// less); or the target is a file system in memory. Steps of a suite are left out: many of them are
/// of the cache by their definition, and each says in its own notes what served it.
fn from_cache(input: &ExplainInput<'_>) -> Option<Finding> {
    let fs = input.inspection.filesystem.as_ref();
    let in_memory = fs.filter(|f| matches!(f.fstype.value.as_str(), "tmpfs" | "ramfs"));
    if let Some(fs) = in_memory {
        return Some(finding(
            FROM_CACHE,
            Severity::Warning,
            format!("{} is memory and not a disk", fs.mount_point.value),
            vec![fact("file system", &fs.fstype)],
            "every number here is the memory's and the processor's; it says nothing about any \
             disk, and what is written is lost at the next start",
            "name a directory on the disk that is meant; findmnt --real lists them",
        ));
    }
    let low = |p: &&seekwell_runs::Phase| {
        let on_purpose = p.name == CACHED_READ || matches!(p.workload, Work::Suite(_));
        !on_purpose && p.median("device_share").is_some_and(|s| s < HONEST_SHARE)
    };
    let proof: Vec<_> = input
        .phases
        .iter()
        .filter(low)
        .map(|p| {
            let share = p.median("device_share").unwrap_or(0.0);
            let seen = format!("{} of the bytes asked for reached the device", percent(share));
            evidence(seen, &p.name)
        })
        .collect();
    if proof.is_empty() {
        return None;
    }
    Some(finding(
        FROM_CACHE,
        Severity::Warning,
        "Some numbers came from a cache and not from the disk".into(),
        proof,
        "requests that a cache answers (or that a file system compressed away) are faster than the \
         disk; those numbers describe memory and must not be compared with a disk's",
        format!("measure the device itself, read only: {}", measure_device(input)),
    ))
}

/// SW-CACHE-002: the file system did not let the program past the page cache.
///
/// Condition: the medium was opened without `O_DIRECT`, and is not a file system in memory, of
/// which SW-CACHE-001 speaks. Suites go through the page cache because they are meant to.
fn buffered(input: &ExplainInput<'_>) -> Option<Finding> {
    if input.phases.iter().any(|p| matches!(p.workload, Work::Suite(_))) {
        return None;
    }
    let (size, direct) = medium_size(input.medium?)?;
    let fs = input.inspection.filesystem.as_ref();
    if direct || fs.is_some_and(|f| matches!(f.fstype.value.as_str(), "tmpfs" | "ramfs")) {
        return None;
    }
    let opened = evidence("O_DIRECT was refused; requests went through the page cache", "open(2)");
    let mut proof = vec![opened];
    proof.extend(fs.map(|f| fact("file system", &f.fstype)));
    let memory = input.inspection.host.memory_bytes.as_ref();
    if let Some(memory) = memory.filter(|m| m.value > size) {
        let seen =
            format!("the measured {} fit into the memory's {}", bytes(size), bytes(memory.value));
        proof.push(evidence(seen, &memory.from));
    }
    let remedy = match fs.map(|f| f.fstype.value.as_str()) {
        Some("overlay") => "measure a directory that is mounted from the host into the container: \
                            docker run -v /srv:/srv …, then seekwell checkup /srv"
            .into(),
        Some("zfs") => "direct I/O needs OpenZFS 2.3 with the property direct=standard: \
                        zfs get direct; or measure the pool's disks, read only"
            .into(),
        Some(fs) if fs.starts_with("fuse") => {
            "measure the directory the FUSE file system keeps its data in, or mount it with \
             -o direct_io"
                .into()
        }
        _ => format!("measure the device itself, read only: {}", measure_device(input)),
    };
    Some(finding(
        BUFFERED,
        Severity::Warning,
        "All numbers include the page cache: O_DIRECT was refused".into(),
        proof,
        "reads may be answered from memory and writes return before the disk has them, so rates \
         are too high and latencies too low by an amount that depends on free memory",
        remedy,
    ))
}

/// SW-STATS-001: a device under the target does not count its I/O, so that numbers from a cache
/// cannot be told from the disk's.
///
/// Condition: `queue/iostats` of a device under the target is 0. It costs a few nanoseconds a
/// request to have it on.
fn blind(input: &ExplainInput<'_>) -> Option<Finding> {
    let devices = input.devices().into_iter().filter(|d| d.kind != DeviceKind::Partition);
    let off = |d: &&seekwell_inspect::Device| d.queue.iostats.as_ref().is_some_and(|s| !s.value);
    let off: Vec<_> = devices.filter(off).collect();
    let first = off.first()?;
    let proof = off
        .iter()
        .filter_map(|d| d.queue.iostats.as_ref().map(|s| (d, s)))
        .map(|(d, s)| evidence(format!("{} does not count its I/O (iostats 0)", d.name), &s.from));
    Some(finding(
        BLIND,
        Severity::Info,
        "It cannot be checked whether the numbers came from a cache".into(),
        proof.collect(),
        "seekwell compares what it asked for with what the device counted; iostat, sar and every \
         monitoring agent are blind here too",
        set("1", &format!("/sys/block/{}/queue/iostats", first.name)),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Case, fact};
    use super::*;
    use seekwell_runs::{Medium, SuiteStep};
    use std::collections::BTreeMap;

    fn fstype(case: Case, name: &str) -> Case {
        case.with(|c| {
            c.inspection.filesystem.as_mut().expect("a file system").fstype.value = name.into();
        })
    }

    fn refused(case: Case) -> Case {
        case.with(|c| {
            c.medium = Some(Medium::TemporaryFile {
                directory: "/srv".into(),
                size_bytes: 1 << 30,
                direct: false,
            });
        })
    }

    #[test]
    fn a_phase_of_which_the_device_saw_half_came_from_a_cache() {
        let f = Case::nvme().with(|c| c.set("rand-read-4k-d8", "device_share", 0.46));
        let f = f.finding(FROM_CACHE);
        assert_eq!(f.evidence.len(), 1, "only the phase it is true of");
        assert_eq!(f.evidence[0].from, "rand-read-4k-d8");
        assert!(f.remedy.ends_with("sudo seekwell checkup /dev/nvme0n1p1"), "{f:?}");
        assert!(f.evidence[0].seen.starts_with("46 % "), "{f:?}");
    }

    #[test]
    fn nine_tenths_and_the_page_cache_test_itself_are_in_order() {
        let case = Case::nvme().with(|c| c.set("rand-read-4k-d8", "device_share", 0.91));
        case.quiet(FROM_CACHE);
        assert_eq!(Case::nvme().phase_mut(CACHED_READ).median("device_share"), Some(0.0));
    }

    #[test]
    fn a_step_of_a_suite_that_the_cache_serves_is_no_finding() {
        let case = Case::nvme().with(|c| {
            c.set("rand-read-4k-d8", "device_share", 0.0);
            c.phase_mut("rand-read-4k-d8").workload = Work::Suite(SuiteStep {
                suite: "web".into(),
                step: "warm-c2".into(),
                tunables: BTreeMap::new(),
                primary: "pages_per_s".into(),
            });
        });
        let case = refused(case);
        case.quiet(FROM_CACHE);
        case.quiet(BUFFERED);
    }

    #[test]
    fn a_file_system_in_memory_is_named_for_what_it_is() {
        let case = refused(fstype(Case::nvme(), "tmpfs")).with(|c| c.inspection.device = None);
        let f = case.finding(FROM_CACHE);
        assert!(f.title.contains("/srv is memory"), "{f:?}");
        case.quiet(BUFFERED);
    }

    #[test]
    fn refused_o_direct_is_a_finding_with_a_remedy_for_the_file_system() {
        let f = refused(Case::nvme()).finding(BUFFERED);
        assert!(f.evidence.iter().any(|e| e.seen.contains("1 GiB fit into the memory's 16 GiB")));
        let f = refused(fstype(Case::nvme(), "overlay")).finding(BUFFERED);
        assert!(f.remedy.contains("docker run -v"), "{f:?}");
        Case::nvme().quiet(BUFFERED);
    }

    #[test]
    fn a_device_that_does_not_count_blinds_the_check() {
        let off = |c: Case| c.with_disk(|d| d.queue.iostats = fact(false, "/sys/q/iostats"));
        let f = off(Case::sata_ssd()).finding(BLIND);
        assert_eq!(f.remedy, "echo 1 | sudo tee /sys/block/sda/queue/iostats");
        assert_eq!(f.evidence[0].from, "/sys/q/iostats");
        Case::sata_ssd().quiet(BLIND);
    }
}
