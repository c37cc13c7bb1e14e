//! The names of facts, their order of importance, and which of them are not settings.

use super::change::Change;

/// End of the key, name for people, whether it matters. The order is that of importance.
const NAMES: &[(&str, &str, bool)] = &[
    ("device", "the device itself", true),
    ("device.driver", "driver", true),
    ("device.controller", "controller mode", true),
    ("device.transport", "transport", true),
    ("pci.class", "controller class", true),
    ("pci.driver", "driver", true),
    ("pci.interrupt", "interrupts", true),
    ("pci.vectors", "interrupt vectors", true),
    ("queue.queue_depth", "queue depth", true),
    ("scsi.queue_type", "command queueing", true),
    ("identify.ncq", "NCQ offered by the drive", true),
    ("identify.ncq_depth", "NCQ depth of the drive", true),
    ("ata.can_queue", "commands the port takes", true),
    ("ata.transfer_mode", "transfer mode", true),
    ("ata.dma_mode", "DMA mode", true),
    ("ata.pio_mode", "PIO mode", true),
    ("ata.link_speed", "SATA link speed", true),
    ("ata.link_limit", "SATA link limit", true),
    ("ata.link_limit_at_probe", "SATA link limit at start", true),
    ("identify.link_now", "SATA link speed, by the drive", true),
    ("identify.link_max", "SATA link speed the drive can do", true),
    ("link.gts", "PCIe speed (GT/s)", true),
    ("link.width", "PCIe lanes", true),
    ("link_max.gts", "PCIe speed possible (GT/s)", true),
    ("link_max.width", "PCIe lanes possible", true),
    ("usb.driver", "USB storage driver", true),
    ("usb.speed_mbps", "USB speed (Mb/s)", true),
    ("sas.negotiated", "SAS link rate", true),
    ("queue.write_cache", "write cache, by the kernel", true),
    ("scsi.cache_type", "write cache, by the SCSI layer", true),
    ("identify.write_cache", "write cache of the drive", true),
    ("identify.look_ahead", "read look-ahead of the drive", true),
    ("queue.fua", "forced unit access", true),
    ("queue.scheduler", "scheduler", true),
    ("filesystem.fstype", "file system", true),
    ("filesystem.options", "mount options", true),
    ("filesystem.read_only", "mounted read-only", true),
    ("mounts.options", "mount options", true),
    ("md.level", "RAID level", true),
    ("md.degraded", "missing RAID members", true),
    ("host.kernel", "kernel", true),
    ("vm.command_line", "kernel command line", true),
    ("device.firmware", "firmware", true),
    ("device.model", "model", true),
    ("queue.rotational", "said to rotate", true),
    ("queue.nr_requests", "queued requests", true),
    ("queue.read_ahead_bytes", "read-ahead", true),
    ("queue.max_request_bytes", "largest request", true),
    ("queue.max_hardware_request_bytes", "largest request of the hardware", true),
    ("queue.hardware_queues", "hardware queues", true),
    ("queue.discard_max_bytes", "largest discard", true),
    ("queue.logical_block_bytes", "logical block size", true),
    ("queue.physical_block_bytes", "physical block size", true),
    ("queue.alignment_offset_bytes", "misalignment", true),
    ("queue.wbt_lat_us", "write-back throttling (us)", true),
    ("queue.schedulers", "schedulers offered", false),
    ("ata.lpm_policy", "link power policy", true),
    ("ahci.version", "AHCI version", true),
    ("ahci.capabilities", "AHCI capabilities", true),
    ("host.virtualization", "hypervisor", true),
    ("host.container", "container", true),
    ("host.cpu_model", "CPU", true),
    ("host.cpus", "CPUs", true),
    ("host.memory_bytes", "memory", true),
    ("device.size_bytes", "size", true),
    ("device.name", "name", false),
    ("device.dev", "device number", false),
    ("device.pci", "PCI address", false),
    ("device.serial", "serial number", false),
    ("device.wwn", "world-wide name", false),
    ("pci.address", "PCI address", false),
    ("pci.id", "PCI identifier", false),
    ("pci.subsystem", "PCI subsystem", false),
    ("ata.port", "ATA port", false),
    ("ata.port_number", "port of the controller", false),
    ("scsi.address", "SCSI address", false),
    ("nvme.controller", "NVMe controller", false),
    ("usb.device", "USB port", false),
    ("filesystem.mount_point", "mount point", false),
    ("filesystem.source", "what is mounted", false),
    ("filesystem.size_bytes", "size of the file system", false),
];

/// Parts of a document that count, measure or are times, or that are said elsewhere.
const IGNORED: &[&str] = &[
    "schema",
    "target",
    "path",
    "missing",
    "notes",
    "findings",
    "log",
    "incidents",
    "below",
    "attachment",
    "memory_available_bytes",
    "available_bytes",
    "inodes_available",
    "errors",
    "counters",
    "health",
    "aer",
    "speed_downs",
    "life_time",
    "mismatches",
    "sync_completed",
    "sync_action",
    "checksum",
];

/// Endings and beginnings of the same.
const IGNORED_PARTS: &[&str] =
    &["temperature", "_errors", "_count", "_losses", "_problems", "invalid_", "uptime", "_hours"];

/// Whether a part of a document is no setting.
pub(super) fn ignored(key: &str) -> bool {
    IGNORED.contains(&key) || IGNORED_PARTS.iter().any(|part| key.contains(part))
}

fn known(key: &str) -> Option<(usize, &'static (&'static str, &'static str, bool))> {
    let ends = |end: &str| {
        key.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    NAMES.iter().enumerate().find(|(_, (end, _, _))| ends(end))
}

/// The place of a fact in the order of importance.
pub(super) fn rank(key: &str) -> usize {
    known(key).map_or(NAMES.len(), |(at, _)| at)
}

/// What a fact is called, and whether it matters. One that is not in the table is called by its
/// key and matters.
pub(super) fn name(key: &str) -> (String, bool) {
    if let Some((_, (_, name, matters))) = known(key) {
        return ((*name).to_owned(), *matters);
    }
    let parts: Vec<&str> = key.split('.').collect();
    let shown = parts[parts.len().saturating_sub(2)..].join(" ").replace('_', " ");
    (shown.trim_start_matches("detail ").trim_start_matches("device ").to_owned(), true)
}

/// Whether a change only says that one side shows nothing of something and the other does.
pub(super) fn nothing(change: &Change) -> bool {
    let none = |side: &Option<String>| side.as_deref().is_none_or(|s| ["", "0", "no"].contains(&s));
    known(&change.key).is_none() && none(&change.before) && none(&change.after)
}

/// A word of the kernel, as people write it.
pub(super) fn text(text: &str) -> String {
    match text.strip_prefix("XFER_") {
        Some(_) => crate::attach::mode_in_words(text),
        None => text.to_owned(),
    }
}

/// A number under its key, as people write it.
pub(super) fn number(key: &str, number: &serde_json::Number) -> String {
    let last = key.rsplit('.').next().unwrap_or(key);
    match number.as_u64() {
        Some(class) if last == "class" || last == "capabilities" => format!("0x{class:06x}"),
        Some(bytes) if last.ends_with("_bytes") => seekwell_sys::units::exact(bytes),
        _ => number.to_string(),
    }
}
