//! How the kernel writes dirty memory back, which every disk of the machine feels.

use crate::words::bytes;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, Severity};

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
        check: Check::Facts(much_dirty),
    },
    Rule {
        id: "SW-VM-002",
        about: "dirty data is never written back by age",
        means: "The writeback threads do not wake up by themselves.",
        known: "dirty_writeback_centisecs is 0.",
        why: "Data stays in memory until memory runs short; a crash loses hours of work.",
        fix: "sudo sysctl vm.dirty_writeback_centisecs=500",
        tune: Some("Set vm.dirty_writeback_centisecs."),
        check: Check::Facts(never_written),
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
        check: Check::Facts(long_kept),
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
        check: Check::Facts(laptop_mode),
    },
];

/// More than a minute of work for a slow disk.
const MUCH: u64 = 8 << 30;

fn slow(device: &Device) -> bool {
    let by_kind = device.detail.usb.is_some() || device.detail.mmc.is_some();
    by_kind || device.queue.rotational.as_ref().is_some_and(|r| r.value)
}

fn much_dirty(input: &Observed<'_>) -> Vec<Found> {
    let found = || {
        let vm = &input.inspection.host.vm;
        let disk =
            input.inspection.disks().into_iter().find(|d| slow(d) && !input.is_virtual(d))?;
        let (limit, from) = match vm.dirty_bytes.as_ref().filter(|b| b.value > 0) {
            Some(set) => (set.value, &set.from),
            None => {
                let ratio = vm.dirty_ratio.as_ref()?;
                let memory = input.inspection.host.memory_bytes.as_ref()?;
                (memory.value / 100 * ratio.value.min(100), &ratio.from)
            }
        };
        (limit > MUCH).then(|| {
            let title = format!("{} of unwritten data may wait for {}", bytes(limit), disk.name);
            Found::new(Severity::Info, title)
                .seen(format!("{} may be dirty", bytes(limit)), from)
                .facts("rotational", disk.queue.rotational.as_ref())
        })
    };
    found().into_iter().collect()
}

fn never_written(input: &Observed<'_>) -> Vec<Found> {
    let interval = input.inspection.host.vm.dirty_writeback_centisecs.as_ref();
    let found = interval.filter(|i| i.value == 0 && input.inspection.device.is_some());
    let found = found.map(|i| {
        Found::new(Severity::Warning, "Dirty data is never written back by age")
            .fact("write-back interval", i)
    });
    found.into_iter().collect()
}

fn long_kept(input: &Observed<'_>) -> Vec<Found> {
    let age = input.inspection.host.vm.dirty_expire_centisecs.as_ref();
    let found = age.filter(|a| a.value > 12_000 && input.inspection.device.is_some());
    let found = found.map(|a| {
        let title = format!("Dirty data may stay in memory for {} s", a.value / 100);
        Found::new(Severity::Info, title).fact("age in hundredths of a second", a)
    });
    found.into_iter().collect()
}

fn laptop_mode(input: &Observed<'_>) -> Vec<Found> {
    let mode = input.inspection.host.vm.laptop_mode.as_ref();
    let found = mode.filter(|m| m.value > 0 && input.inspection.device.is_some());
    let found = found
        .map(|m| Found::new(Severity::Info, "Laptop mode batches writes").fact("laptop mode", m));
    found.into_iter().collect()
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
