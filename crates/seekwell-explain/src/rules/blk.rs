//! The block layer's settings of a device.

use crate::look::{is, solid_state};
use crate::words::{bytes, set_queue};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, DeviceKind, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-BLK-001",
        about: "the device is read-only",
        means: "The kernel refuses writes because the device says that it is write-protected.",
        known: "ro of the block device is 1. Boot areas of an eMMC are read-only by design and not \
                mentioned; for loop and mapped devices it is information.",
        why: "Nothing can be written. Solid-state drives and eMMC turn read-only at the end of \
              their life; cards and cases have a switch.",
        fix: "look for a switch or jumper; sudo smartctl -a for the drive's state; if only the \
              kernel has it marked read-only: sudo blockdev --setrw on the device",
        tune: None,
        check: Check::Device(read_only),
    },
    Rule {
        id: "SW-BLK-002",
        about: "requests are limited to far less than the hardware accepts",
        means: "Large transfers are split into small requests.",
        known: "max_sectors_kb is below 512 KiB and below a quarter of max_hw_sectors_kb.",
        why: "Each piece costs a command, which shows at high sequential rates.",
        fix: "echo a larger value into queue/max_sectors_kb",
        tune: Some("Raise max_sectors_kb on trial."),
        check: Check::Device(small_requests),
    },
    Rule {
        id: "SW-BLK-003",
        about: "merging of requests is off",
        means: "Adjacent requests go to the device one by one.",
        known: "nomerges is 2 on a disk that rotates.",
        why: "A hard disk gets many small commands where one would do, each with its overhead.",
        fix: "echo 0 into queue/nomerges",
        tune: Some("Set nomerges."),
        check: Check::Device(no_merges),
    },
    Rule {
        id: "SW-BLK-004",
        about: "the kernel takes a solid-state drive for a rotating one",
        means: "The drive says that it does not rotate and the kernel believes that it does.",
        known: "queue/rotational is 1, and IDENTIFY word 217 or VPD page B1h says solid state. \
                In a virtual machine the flag means nothing and is not looked at.",
        why: "File systems, bfq and swap order their requests for a disk with seeks, and some \
              leave TRIM off.",
        fix: "echo 0 into queue/rotational, and a udev rule to keep it",
        tune: Some("Set rotational."),
        check: Check::Device(taken_for_rotating),
    },
    Rule {
        id: "SW-BLK-005",
        about: "discards were switched off",
        means: "The device supports discards, but they are disabled.",
        known: "discard_max_bytes is 0 and discard_max_hw_bytes is not.",
        why: "fstrim and discard do nothing; a solid-state drive slows down as it fills.",
        fix: "echo the value of discard_max_hw_bytes into queue/discard_max_bytes",
        tune: Some("Set discard_max_bytes."),
        check: Check::Device(discards_off),
    },
    Rule {
        id: "SW-BLK-006",
        about: "a host-managed zoned disk has a scheduler that reorders writes",
        means: "The zones must be written in order, which mq-deadline alone guarantees on older \
                kernels.",
        known: "zoned is host-managed and the scheduler is neither mq-deadline nor, on kernels \
                from 6.10 on, any other.",
        why: "A reordered write is refused by the disk with an error.",
        fix: "echo mq-deadline into queue/scheduler",
        tune: Some("Set the scheduler."),
        check: Check::Device(zoned_reordered),
    },
    Rule {
        id: "SW-BLK-007",
        about: "the device reports an implausible optimal I/O size",
        means: "optimal_io_size is not a multiple of the physical block.",
        known: "optimal_io_size modulo physical_block_size is not 0.",
        why: "Partition tools and file systems align to it and end up misaligned. USB bridges \
              often report 33553920 bytes or 65535 blocks.",
        fix: "ignore it: align partitions to 1 MiB, and give mkfs its stride and stripe by hand",
        tune: None,
        check: Check::Device(odd_optimum),
    },
    Rule {
        id: "SW-BLK-008",
        about: "a loop device goes through the page cache twice",
        means: "The loop device reads and writes its file with the page cache, and its users have \
                one of their own.",
        known: "loop/dio is 0.",
        why: "Data is kept twice in memory and copied twice.",
        fix: "sudo losetup --direct-io=on on the device, where the file system below allows it",
        tune: None,
        check: Check::Device(loop_cached),
    },
    Rule {
        id: "SW-BLK-009",
        about: "the request timeout is very short",
        means: "A request that takes longer counts as lost and starts error handling.",
        known: "io_timeout is below 5 seconds on a disk that is not NVMe.",
        why: "Error handling resets the disk and lowers its speed although nothing is broken.",
        fix: "echo 30000 into queue/io_timeout",
        tune: Some("Set io_timeout."),
        check: Check::Device(short_timeout),
    },
];

fn read_only(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let flag = d.detail.read_only.as_ref().filter(|ro| ro.value)?;
    let by_design = d.name.contains("boot") || d.name.contains("rpmb");
    let severity = match d.kind {
        DeviceKind::Disk if !by_design => Severity::Error,
        DeviceKind::Disk => return None,
        // Its disk is read-only then, and has the finding.
        DeviceKind::Partition => return None,
        _ => Severity::Info,
    };
    Some(Found::new(severity, "the device is read-only").fact("read-only", flag))
}

const SMALL: u64 = 512 << 10;

fn small_requests(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let most = d.queue.max_request_bytes.as_ref()?;
    let hardware = d.detail.queue.max_hardware_request_bytes.as_ref()?;
    let disk = d.kind == DeviceKind::Disk && most.value < SMALL;
    (disk && most.value * 4 < hardware.value && most.value > 0).then(|| {
        let wanted = (hardware.value / 1024).min(1280);
        Found::info("requests are limited to a small size")
            .seen(format!("requests of {} at most", bytes(most.value)), &most.from)
            .seen(format!("the hardware takes {}", bytes(hardware.value)), &hardware.from)
            .remedy(set_queue(d, "max_sectors_kb", &wanted.to_string()))
    })
}

fn no_merges(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let merges = d.detail.queue.nomerges.as_ref().filter(|n| n.value == 2)?;
    let rotates = d.queue.rotational.as_ref().filter(|r| r.value)?;
    (d.kind == DeviceKind::Disk && !input.is_virtual(d)).then(|| {
        Found::warning("requests are never merged")
            .fact("nomerges", merges)
            .fact("rotational", rotates)
            .remedy(set_queue(d, "nomerges", "0"))
    })
}

fn taken_for_rotating(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let belief = d.queue.rotational.as_ref().filter(|r| r.value)?;
    if solid_state(&d.detail) != Some(true) || input.is_virtual(d) {
        return None;
    }
    let by_drive = d.detail.identify.as_ref().map(|i| &i.from);
    let from = by_drive.or_else(|| Some(&d.detail.scsi.as_ref()?.rotation_rpm.as_ref()?.from))?;
    Some(
        Found::warning("a solid-state drive is taken for a rotating one")
            .fact("rotational", belief)
            .seen("the drive says: solid state", from)
            .remedy(set_queue(d, "rotational", "0")),
    )
}

fn discards_off(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let now = d.queue.discard_max_bytes.as_ref().filter(|n| n.value == 0)?;
    let most = d.detail.queue.discard_max_hardware_bytes.as_ref().filter(|n| n.value > 0)?;
    (d.kind == DeviceKind::Disk).then(|| {
        Found::warning("discards were switched off")
            .fact("largest discard", now)
            .seen(format!("the hardware takes {}", bytes(most.value)), &most.from)
            .remedy(set_queue(d, "discard_max_bytes", &most.value.to_string()))
    })
}

/// Whether the kernel keeps zone writes in order by itself (6.10 and later).
fn plugs_zones(input: &Observed<'_>) -> bool {
    let release = input.inspection.host.kernel.as_ref().map_or("", |k| k.value.as_str());
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (6, 10),
        _ => false,
    }
}

fn zoned_reordered(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let zoned = d.detail.queue.zoned.as_ref().filter(|z| z.value == "host-managed")?;
    let scheduler = d.queue.scheduler.as_ref().filter(|s| s.value != "mq-deadline")?;
    (d.kind == DeviceKind::Disk && !plugs_zones(input)).then(|| {
        Found::error("writes to its zones may be reordered")
            .fact("zoned", zoned)
            .fact("scheduler", scheduler)
            .remedy(set_queue(d, "scheduler", "mq-deadline"))
    })
}

fn odd_optimum(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let best = d.detail.queue.optimal_io_bytes.as_ref().filter(|n| n.value > 0)?;
    let block = d.queue.physical_block_bytes.as_ref().filter(|n| n.value > 0)?;
    (d.kind == DeviceKind::Disk && best.value % block.value != 0).then(|| {
        Found::info("its optimal I/O size is implausible")
            .fact("optimal size in bytes", best)
            .fact("physical block in bytes", block)
    })
}

fn loop_cached(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let direct = d.detail.loop_direct_io.as_ref().filter(|dio| !dio.value)?;
    // Only one that has a file.
    let file = d.role.as_ref()?;
    Some(
        Found::info("goes through the page cache twice")
            .fact("direct I/O", direct)
            .fact("file", file)
            .remedy(format!("sudo losetup --direct-io=on /dev/{}", d.name)),
    )
}

fn short_timeout(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let timeout = d.detail.queue.io_timeout_ms.as_ref().filter(|t| t.value < 5000)?;
    // The SCSI layer has a setting of its own, with a finding of its own.
    let other = d.detail.scsi.is_some() || is(&d.transport, "nvme");
    (d.kind == DeviceKind::Disk && !other).then(|| {
        Found::warning(format!("requests time out after only {} ms", timeout.value))
            .fact("timeout in milliseconds", timeout)
            .remedy(set_queue(d, "io_timeout", "30000"))
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, emmc, fact, fires, quiet, sata_hdd, sata_ssd};
    use seekwell_inspect::DeviceKind;

    pub(crate) fn all() -> Vec<Case> {
        let read_only = |m: &mut Machine| m.detail().read_only = fact(true, "ro");
        let loops = |dio: bool| {
            move |m: &mut Machine| {
                m.disk().kind = DeviceKind::Loop;
                m.disk().role = fact("/srv/image".into(), "loop/backing_file");
                m.detail().loop_direct_io = fact(dio, "loop/dio");
            }
        };
        let managed = |m: &mut Machine| {
            m.detail().queue.zoned = fact("host-managed".into(), "zoned");
            m.disk().queue.scheduler = fact("none".into(), "scheduler");
        };
        vec![
            fires("SW-BLK-001", sata_ssd, read_only).error(),
            fires("SW-BLK-001", sata_ssd, read_only).and(loops(true)).info(),
            quiet("SW-BLK-001", emmc, read_only).and(|m| m.disk().name = "mmcblk0boot0".into()),
            fires("SW-BLK-002", sata_hdd, |m| {
                m.disk().queue.max_request_bytes = fact(128 << 10, "max_sectors_kb");
            })
            .info(),
            quiet("SW-BLK-002", sata_hdd, |m| {
                m.disk().queue.max_request_bytes = fact(128 << 10, "max_sectors_kb");
                m.detail().queue.max_hardware_request_bytes = fact(128 << 10, "max_hw_sectors_kb");
            }),
            fires("SW-BLK-003", sata_hdd, |m| m.detail().queue.nomerges = fact(2, "n")).warning(),
            quiet("SW-BLK-003", sata_ssd, |m| m.detail().queue.nomerges = fact(2, "n")),
            fires("SW-BLK-004", sata_ssd, |m| m.disk().queue.rotational = fact(true, "r"))
                .warning(),
            quiet("SW-BLK-004", sata_ssd, |m| m.disk().queue.rotational = fact(true, "r"))
                .and(Machine::virtualise),
            fires("SW-BLK-005", sata_ssd, |m| m.disk().queue.discard_max_bytes = fact(0, "d"))
                .warning(),
            quiet("SW-BLK-005", sata_ssd, |m| {
                m.disk().queue.discard_max_bytes = fact(0, "d");
                m.detail().queue.discard_max_hardware_bytes = fact(0, "h");
            }),
            fires("SW-BLK-006", sata_hdd, managed).error(),
            quiet("SW-BLK-006", sata_hdd, managed)
                .and(|m| m.inspection.host.kernel = fact("6.12.1-amd64".into(), "k")),
            quiet("SW-BLK-006", sata_hdd, |m| {
                m.detail().queue.zoned = fact("host-managed".into(), "zoned");
            }),
            fires("SW-BLK-007", sata_hdd, |m| {
                m.detail().queue.optimal_io_bytes = fact(33_553_920, "optimal_io_size");
            })
            .info(),
            quiet("SW-BLK-007", sata_hdd, |m| {
                m.detail().queue.optimal_io_bytes = fact(1 << 20, "optimal_io_size");
            }),
            fires("SW-BLK-008", sata_hdd, loops(false)).info(),
            quiet("SW-BLK-008", sata_hdd, loops(true)),
            fires("SW-BLK-009", emmc, |m| m.detail().queue.io_timeout_ms = fact(1000, "t"))
                .warning(),
            quiet("SW-BLK-009", sata_hdd, |m| m.detail().queue.io_timeout_ms = fact(1000, "t")),
        ]
    }
}
