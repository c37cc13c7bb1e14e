//! Numbers that are a cache's and not the disk's.

use crate::look::{HONEST_SHARE, flag, medium_size};
use crate::words::{bytes, evidence, fact, measure_device, percent, set};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::DeviceKind;
use seekwell_runs::{Medium, PhaseId, Work};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: FROM_CACHE,
        about: "some numbers came from a cache",
        means: "The device moved fewer bytes than were requested, so something above it answered: \
                the page cache, a compressing file system, or a file system in memory.",
        known: "In a phase that should reach the device, its own I/O counters grew by under 90 % \
                of the bytes requested (a cold run gives 95 % and more, a warm one 50 % and less); \
                or the target is on tmpfs or ramfs. The cached-read phase and suites are not \
                judged.",
        why: "requests that a cache serves are faster than the disk; those numbers describe memory \
              and must not be compared with a disk's",
        fix: "measure the device itself, read-only: sudo seekwell checkup /dev/DISK",
        tune: None,
        check: Check::Run(from_cache),
    },
    Rule {
        id: BUFFERED,
        about: "O_DIRECT was refused",
        means: "The file system does not allow direct I/O here, so every number includes the page \
                cache.",
        known: "Opening the test file with O_DIRECT failed. Suites, which are meant to use the \
                page cache, and file systems in memory (SW-CACHE-001) are not judged.",
        why: "reads may be answered from memory and writes return before the disk has them, so \
              rates are too high and latencies too low by an amount that depends on free memory",
        fix: "measure a directory on a file system that supports O_DIRECT, or the device itself, \
              read-only",
        tune: None,
        check: Check::Run(buffered),
    },
    Rule {
        id: BLIND,
        about: "the device does not count its I/O",
        means: "I/O accounting is switched off, so cached numbers cannot be told from the disk's.",
        known: "queue/iostats of a device below the target is 0. zram is left out: it counts \
                anyway.",
        why: "seekwell compares what it asked for with what the device counted; iostat, sar and \
              every monitoring agent are blind to this device too",
        fix: "echo 1 into queue/iostats of the device; accounting costs a few nanoseconds a \
              request",
        tune: Some("Set iostats."),
        check: Check::Run(blind),
    },
    Rule {
        id: UNWRITTEN,
        about: "part of the target was never written, or was discarded",
        means: "Reads of those parts give zeros without asking a disk.",
        known: "The file behind a loop device has fewer blocks than its size, or a zram device \
                holds fewer bytes. Other devices do not tell: a drive that was trimmed answers \
                the same way, and seekwell's own temporary files are always written.",
        why: "reading what was never written is faster than any disk; those numbers describe \
              memory",
        fix: "measure where data lies, or a directory of a file system on it",
        tune: None,
        check: Check::Run(unwritten),
    },
    Rule {
        id: ARC,
        about: "ZFS ignored O_DIRECT",
        means: "Reads may come from ZFS's own cache in memory, the ARC, and no counter shows how \
                many did.",
        known: "The target is on ZFS, which took O_DIRECT, and the module has no parameter \
                zfs_dio_enabled (before OpenZFS 2.3), or it is 0. Suites are not judged.",
        why: "reads that the ARC serves are faster than any disk, and a test file that was just \
              written is in it; those numbers describe memory",
        fix: "measure in a dataset with primarycache=metadata, with more data than the ARC may \
              hold (--size), or the pool's disks, read only",
        tune: None,
        check: Check::Run(from_arc),
    },
];
const FROM_CACHE: &str = "SW-CACHE-001";
const BUFFERED: &str = "SW-CACHE-002";
const BLIND: &str = "SW-STATS-001";
const UNWRITTEN: &str = "SW-CACHE-003";
const ARC: &str = "SW-CACHE-004";

fn from_cache(input: &Observed<'_>) -> Option<Found> {
    let fs = input.inspection.filesystem.as_ref();
    let in_memory = fs.filter(|f| matches!(f.fstype.value.as_str(), "tmpfs" | "ramfs"));
    if let Some(fs) = in_memory {
        return Some(
            Found::warning(format!("{} is memory and not a disk", fs.mount_point.value),
            )
            .evidence([fact("file system", &fs.fstype)])
            .why(
                "every number here is the memory's and the processor's; they say nothing about any \
                 disk, and what is written is lost at the next boot",
            )
            .remedy("name a directory on the intended disk; findmnt --real lists them"),
        );
    }
    let low = |p: &&seekwell_runs::Phase| {
        let on_purpose = p.is(PhaseId::CachedRead) || matches!(p.workload, Work::Suite(_));
        !on_purpose && p.median("device_share").is_some_and(|s| s < HONEST_SHARE)
    };
    let proof: Vec<_> = input
        .phases()
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
    Some(
        Found::warning("Some numbers came from a cache and not from the disk")
            .evidence(proof)
            .why(
                "requests that a cache serves (or that a file system compresses away) are faster \
                 than the disk; those numbers describe memory and must not be compared with a \
                 disk's",
            )
            .remedy(match input.inspection.device.as_ref() {
                Some(d) if d.kind == DeviceKind::Loop => format!(
                    "let the loop device go past the page cache: \
                     sudo losetup --direct-io=on /dev/{}",
                    d.name
                ),
                _ => {
                    let device = measure_device(input.inspection);
                    format!("measure the device itself, read only: {device}")
                }
            }),
    )
}

fn unwritten(input: &Observed<'_>) -> Option<Found> {
    if !matches!(input.medium?, Medium::ReadOnly { .. }) {
        return None;
    }
    let device = input.inspection.device.as_ref()?;
    let (size, missing) = (device.size_bytes.as_ref()?, device.detail.unwritten_bytes.as_ref()?);
    let (missing_text, size_text) = (bytes(missing.value), bytes(size.value));
    let title = format!("{}: {missing_text} of {size_text} were never written", device.name);
    Some(Found::warning(title).seen(missing_text, &missing.from))
}

fn is_suite(input: &Observed<'_>) -> bool {
    input.phases().iter().any(|p| matches!(p.workload, Work::Suite(_)))
}

fn from_arc(input: &Observed<'_>) -> Option<Found> {
    let zfs = input.inspection.device.as_ref()?.detail.zfs.as_ref()?;
    let (size, direct) = medium_size(input.medium?)?;
    if is_suite(input) || !direct || flag(&zfs.direct_io, true) {
        return None;
    }
    let pool = measure_device(input.inspection);
    let proof = zfs.version.iter().map(|version| fact("OpenZFS", version));
    let arc = zfs.arc.iter().map(|arc| {
        let most = bytes(arc.value.max_bytes);
        evidence(format!("the ARC holds up to {most}; {} were measured", bytes(size)), &arc.from)
    });
    Some(
        Found::warning("Reads may come from the ARC: ZFS ignored O_DIRECT")
            .seen("O_DIRECT was taken", "open(2)")
            .evidence(proof.chain(arc))
            .remedy(format!(
                "measure in a dataset with primarycache=metadata, with more data than the ARC \
                 may hold (--size), or a disk of the pool, read only: {pool}"
            )),
    )
}

fn buffered(input: &Observed<'_>) -> Option<Found> {
    if is_suite(input) {
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
            format!("the measured {} fit into {} of memory", bytes(size), bytes(memory.value));
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
        _ => format!("measure the device itself, read only: {}", measure_device(input.inspection)),
    };
    Some(
        Found::warning("All numbers include the page cache: O_DIRECT was refused")
            .evidence(proof)
            .remedy(remedy),
    )
}

fn blind(input: &Observed<'_>) -> Option<Found> {
    let devices = input.devices().into_iter().filter(|d| d.kind != DeviceKind::Partition);
    // zram counts whatever the flag says.
    let heeds = |d: &&seekwell_inspect::Device| d.kind != DeviceKind::Zram;
    let off = |d: &&seekwell_inspect::Device| d.queue.iostats.as_ref().is_some_and(|s| !s.value);
    let off: Vec<_> = devices.filter(heeds).filter(off).collect();
    let first = off.first()?;
    let proof = off
        .iter()
        .filter_map(|d| d.queue.iostats.as_ref().map(|s| (d, s)))
        .map(|(d, s)| evidence(format!("{} does not count its I/O (iostats 0)", d.name), &s.from));
    Some(
        Found::info("It cannot be checked whether some numbers came from a cache")
            .evidence(proof)
            .remedy(set("1", &format!("/sys/block/{}/queue/iostats", first.name))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;
    use seekwell_inspect::Device;
    use seekwell_inspect::facts::{ArcStats, ZfsFacts};
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
    fn a_target_that_was_never_written_is_a_finding_where_it_is_only_read() {
        let hole = |c: &mut Case| {
            c.medium = Some(Medium::ReadOnly { size_bytes: 1 << 30, direct: true, device: None });
            let device = c.inspection.device.as_mut().expect("a device");
            device.size_bytes = fact(1 << 30, "size");
            device.detail.unwritten_bytes = fact(1 << 29, "stat(2)");
        };
        let f = Case::zram().with(hole).finding(UNWRITTEN);
        assert!(f.title.contains("512 MiB of 1 GiB"), "{f:?}");
        Case::zram().quiet(UNWRITTEN);
    }

    #[test]
    fn a_phase_of_which_the_device_saw_half_came_from_a_cache() {
        let f = Case::nvme().with(|c| c.set("rand-read-4k-d8", "device_share", 0.46));
        let f = f.finding(FROM_CACHE);
        assert_eq!(f.evidence.len(), 1, "only the phase it is true of");
        assert_eq!(f.evidence[0].from, "rand-read-4k-d8");
        assert!(f.remedy.ends_with("sudo seekwell checkup /dev/nvme0n1p1"), "{f:?}");
        assert!(f.evidence[0].seen.starts_with("46 % "), "{f:?}");
        let attached = Case::nvme().with(|c| {
            c.set("rand-read-4k-d8", "device_share", 0.46);
            c.inspection.device.as_mut().expect("a device").kind = DeviceKind::Loop;
        });
        let f = attached.finding(FROM_CACHE);
        assert!(f.remedy.contains("losetup --direct-io=on"), "{f:?}");
    }

    #[test]
    fn nine_tenths_and_the_page_cache_test_itself_are_in_order() {
        let case = Case::nvme().with(|c| c.set("rand-read-4k-d8", "device_share", 0.91));
        case.quiet(FROM_CACHE);
        assert_eq!(Case::nvme().phase_mut(PhaseId::CachedRead).median("device_share"), Some(0.0));
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
        assert!(f.evidence.iter().any(|e| e.seen.contains("1 GiB fit into 16 GiB of memory")));
        let f = refused(fstype(Case::nvme(), "overlay")).finding(BUFFERED);
        assert!(f.remedy.contains("docker run -v"), "{f:?}");
        Case::nvme().quiet(BUFFERED);
    }

    #[test]
    fn reads_on_zfs_may_come_from_the_arc_unless_it_does_direct_io() {
        let on = |direct_io: Option<bool>| {
            Case::nvme().with(|c| {
                let arc = ArcStats { max_bytes: 8 << 30, ..ArcStats::default() };
                let mut pool = Device::new("tank", "", DeviceKind::Pool);
                pool.below.extend(c.inspection.device.take());
                pool.detail.zfs = Some(ZfsFacts {
                    direct_io: direct_io.and_then(|set| fact(set, "zfs_dio_enabled")),
                    arc: fact(arc, "arcstats"),
                    ..ZfsFacts::default()
                });
                c.inspection.device = Some(pool);
            })
        };
        let f = on(None).finding(ARC);
        assert!(f.evidence[1].seen.contains("up to 8 GiB"), "{f:?}");
        assert!(f.remedy.ends_with("sudo seekwell checkup /dev/nvme0n1p1"), "{f:?}");
        on(Some(false)).finding(ARC);
        on(Some(true)).quiet(ARC);
        refused(on(None)).quiet(ARC);
        Case::nvme().quiet(ARC);
    }

    #[test]
    fn a_device_that_does_not_count_blinds_the_check() {
        let off = |c: Case| c.with_disk(|d| d.queue.iostats = fact(false, "/sys/q/iostats"));
        let f = off(Case::sata_ssd()).finding(BLIND);
        assert_eq!(f.remedy, "echo 1 | sudo tee /sys/block/sda/queue/iostats");
        assert_eq!(f.evidence[0].from, "/sys/q/iostats");
        Case::sata_ssd().quiet(BLIND);
        // zram shows iostats 0 and counts all the same.
        off(Case::zram()).quiet(BLIND);
    }
}
