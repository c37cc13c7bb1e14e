//! How the kernel writes dirty memory back and swaps, which every disk of the machine feels.

use crate::words::{bytes, evidence, fact};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::VmFacts;
use seekwell_inspect::{Device, Fact};
use seekwell_runs::Repeat;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-VM-001",
        about: "far more data may be dirty than the disk writes in a minute",
        means: "Programs can fill memory with unwritten data long before they are throttled.",
        known: "dirty_ratio of memory (or dirty_bytes) is above 8 GiB, for a disk that rotates, is \
                on USB or is a memory card.",
        why: "At 100 MB/s 8 GiB take over a minute to write: sync and unmounting wait that long, \
              and pulling the disk meanwhile loses it.",
        fix: "sudo sysctl vm.dirty_bytes=1073741824 vm.dirty_background_bytes=268435456, and a \
              file in /etc/sysctl.d to keep it; for one slow disk set max_bytes of its bdi",
        tune: Some("Set vm.dirty_bytes and vm.dirty_background_bytes, for the whole machine."),
        check: Check::Host(much_dirty),
    },
    Rule {
        id: "SW-VM-002",
        about: "dirty data is never written back by age",
        means: "The writeback threads do not wake up by themselves.",
        known: "dirty_writeback_centisecs is 0.",
        why: "Data stays in memory until memory runs short; a crash loses hours of work.",
        fix: "sudo sysctl vm.dirty_writeback_centisecs=500",
        tune: Some("Set vm.dirty_writeback_centisecs."),
        check: Check::Host(never_written),
    },
    Rule {
        id: "SW-VM-003",
        about: "dirty data may stay in memory for minutes",
        means: "Data is written back only when it is minutes old.",
        known: "dirty_expire_centisecs is above 12000, two minutes.",
        why: "That much work is lost at a power loss, where programs do not call fsync, and it is \
              written in bursts.",
        fix: "sudo sysctl vm.dirty_expire_centisecs=3000",
        tune: Some("Set vm.dirty_expire_centisecs."),
        check: Check::Host(long_kept),
    },
    Rule {
        id: "SW-VM-004",
        about: "laptop mode batches writes",
        means: "The kernel delays writes until the disk has to work anyway.",
        known: "laptop_mode is above 0.",
        why: "Writes come in bursts, and after a read all dirty data is written at once. It gains \
              nothing on a solid-state drive.",
        fix: "sudo sysctl vm.laptop_mode=0",
        tune: Some("Set vm.laptop_mode."),
        check: Check::Host(laptop_mode),
    },
    Rule {
        id: SWAPPED,
        about: "the system swapped during the measurement",
        means: "Memory was short: pages went to a swap area or came back from one.",
        known: "pswpin and pswpout of /proc/vmstat moved by 1 MiB or more during a repeat. It is a \
                warning where an active swap area (/proc/swaps) is on the measured disk.",
        why: "On the measured disk it is I/O beside the run's own. Elsewhere, in compressed memory \
              (zram) as well, it takes processor time, and the page cache is at its smallest.",
        fix: "free memory before you measure (ps -eo rss,comm --sort=-rss | head); if all that is \
              swapped out fits into memory, sudo swapoff -a until the run is over",
        tune: None,
        check: Check::Run(swapped),
    },
];
const SWAPPED: &str = "SW-VM-005";

/// More than a minute of work for a slow disk.
const MUCH: u64 = 8 << 30;

fn slow(device: &Device) -> bool {
    let by_kind = device.detail.usb.is_some() || device.detail.mmc.is_some();
    by_kind || device.queue.rotational.as_ref().is_some_and(|r| r.value)
}

fn much_dirty(input: &Observed<'_>) -> Option<Found> {
    let vm = &input.inspection.host.vm;
    let disk = input.inspection.disks().into_iter().find(|d| slow(d) && !input.is_virtual(d))?;
    let (limit, from) = match vm.dirty_bytes.as_ref().filter(|b| b.value > 0) {
        Some(set) => (set.value, &set.from),
        None => {
            let ratio = vm.dirty_ratio.as_ref()?;
            let memory = input.inspection.host.memory_bytes.as_ref()?;
            (memory.value / 100 * ratio.value.min(100), &ratio.from)
        }
    };
    (limit > MUCH).then(|| {
        Found::info(format!("{} of unwritten data may wait for {}", bytes(limit), disk.name))
            .seen(format!("{} may be dirty", bytes(limit)), from)
            .facts("rotational", disk.queue.rotational.as_ref())
    })
}

/// A setting of the kernel's memory management, if there is a disk that it is about.
fn setting<'a>(
    input: &Observed<'a>,
    of: fn(&VmFacts) -> &Option<Fact<u64>>,
    matters: fn(u64) -> bool,
) -> Option<&'a Fact<u64>> {
    input.inspection.device.as_ref()?;
    of(&input.inspection.host.vm).as_ref().filter(|fact| matters(fact.value))
}

fn never_written(input: &Observed<'_>) -> Option<Found> {
    let interval = setting(input, |vm| &vm.dirty_writeback_centisecs, |i| i == 0)?;
    let title = "Dirty data is never written back by age";
    Some(Found::warning(title).fact("write-back interval", interval))
}

fn long_kept(input: &Observed<'_>) -> Option<Found> {
    let age = setting(input, |vm| &vm.dirty_expire_centisecs, |a| a > 12_000)?;
    let title = format!("Dirty data may stay in memory for {} s", age.value / 100);
    Some(Found::info(title).fact("age in hundredths of a second", age))
}

fn laptop_mode(input: &Observed<'_>) -> Option<Found> {
    let mode = setting(input, |vm| &vm.laptop_mode, |m| m > 0)?;
    Some(Found::info("Laptop mode batches writes").fact("laptop mode", mode))
}

fn swapped(input: &Observed<'_>) -> Option<Found> {
    /// 256 requests of a page: less is no load for any disk.
    const MUCH: f64 = (1 << 20) as f64;
    let most = |name| input.most(name).filter(|(_, moved)| *moved >= MUCH);
    let moved = Repeat::SWAPPED.map(most).into_iter().zip(["in", "out"]);
    let seen = moved.filter_map(|(most, direction)| {
        let (phase, moved) = most?;
        let seen = format!(
            "up to {} swapped {direction} during a repeat of {}",
            bytes(moved as u64),
            phase.name
        );
        Some(evidence(seen, "/proc/vmstat"))
    });
    let seen: Vec<_> = seen.collect();
    if seen.is_empty() {
        return None;
    }
    // A partition and its disk both have those on the partition.
    let mut areas: Vec<&Fact<String>> = Vec::new();
    for area in input.devices().into_iter().flat_map(|d| &d.detail.swaps) {
        if !areas.contains(&area) {
            areas.push(area);
        }
    }
    let found = match areas[..] {
        [] => Found::info("The system swapped during the measurement"),
        _ => Found::warning("The system swapped during the measurement, with swap on this disk"),
    };
    let areas = areas.into_iter().map(|area| fact("swap area on the measured disk", area));
    Some(found.evidence(seen).evidence(areas))
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, nvme, quiet, sata_hdd};

    pub(crate) fn all() -> Vec<Case> {
        let memory = |m: &mut Machine| m.inspection.host.memory_bytes = fact(256 << 30, "meminfo");
        vec![
            fires("SW-VM-001", sata_hdd, memory).info(),
            quiet("SW-VM-001", nvme, memory),
            quiet("SW-VM-001", sata_hdd, memory)
                .and(|m| m.inspection.host.vm.dirty_bytes = fact(1 << 30, "dirty_bytes")),
            fires("SW-VM-002", sata_hdd, |m| {
                m.inspection.host.vm.dirty_writeback_centisecs = fact(0, "w");
            })
            .warning(),
            quiet("SW-VM-002", sata_hdd, |m| {
                m.inspection.host.vm.dirty_writeback_centisecs = fact(1500, "w");
            }),
            fires("SW-VM-003", sata_hdd, |m| {
                m.inspection.host.vm.dirty_expire_centisecs = fact(60_000, "e");
            })
            .info(),
            quiet("SW-VM-003", sata_hdd, |m| {
                m.inspection.host.vm.dirty_expire_centisecs = fact(6000, "e");
            }),
            fires("SW-VM-004", sata_hdd, |m| m.inspection.host.vm.laptop_mode = fact(5, "l"))
                .info(),
            quiet("SW-VM-004", sata_hdd, |m| m.inspection.host.vm.laptop_mode = None),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;
    use seekwell_inspect::Severity;

    fn swapped(out_bytes: f64) -> Case {
        Case::sata_ssd().with(|c| {
            let repeat = &mut c.phase_mut("seq-write-1m").repeats[1];
            repeat.values.insert("swapped_out_bytes".into(), out_bytes);
        })
    }

    #[test]
    fn swapping_during_a_run_is_told_and_a_warning_if_the_measured_disk_is_swapped_to() {
        let f = swapped(12_582_912.0).finding(SWAPPED);
        assert_eq!(f.severity, Severity::Info);
        let seen = "up to 12 MiB swapped out during a repeat of seq-write-1m";
        assert_eq!((f.evidence.len(), f.evidence[0].seen.as_str()), (1, seen));
        let here = |d: &mut Device| d.detail.swaps.extend(fact("/dev/sda2".into(), "/proc/swaps"));
        let top = |c: &mut Case| here(c.inspection.device.as_mut().expect("a partition"));
        let f = swapped(12_582_912.0).with(top).with_disk(here).finding(SWAPPED);
        assert_eq!((f.severity, f.evidence.len()), (Severity::Warning, 2));
        assert!(f.evidence[1].seen.ends_with("/dev/sda2"), "{f:?}");
        swapped(8192.0).with_disk(here).quiet(SWAPPED);
        Case::sata_ssd().with_disk(here).quiet(SWAPPED);
    }
}
