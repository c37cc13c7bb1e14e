//! What inspection found, as metrics in the text of [`super::openmetrics`]: a disk whose link is
//! slower than it was, or that begins to fail, becomes an alert.

use super::prometheus::{Metrics, identity, text};
use seekwell_inspect::facts::{AtaErrorClass, PciFunction};
use seekwell_inspect::health::{Measure, Unit};
use seekwell_inspect::{Device, Fact, Finding, Inspection, Severity};

/// Metrics of inspected targets with their findings, each disk once. `version` is the program's.
pub fn inspected<'a>(
    targets: impl IntoIterator<Item = (&'a Inspection, &'a [Finding])>,
    version: &str,
) -> String {
    let mut metrics = Metrics::default();
    metrics.add("inspect_info", &[("version", version)], 1.0);
    for (inspection, found) in targets {
        let host = [("host", inspection.host.label())];
        let disks = inspection.disks();
        for disk in &disks {
            let device = [("device", disk.name.as_str())];
            of_disk(&mut metrics, disk, &[&host[..], &device, &identity(Some(disk))].concat());
        }
        // Of several disks none can be named in one label.
        let disk = if let [disk] = disks[..] { Some(disk) } else { None };
        let device = inspection.device.as_ref().map_or("", |device| device.name.as_str());
        let target = [("target", inspection.target.as_str()), ("device", device)];
        findings(&mut metrics, found, &[&host[..], &target, &identity(disk)].concat());
    }
    metrics.text() + "# EOF\n"
}

fn findings(metrics: &mut Metrics, found: &[Finding], of: &[(&str, &str)]) {
    for severity in Severity::ALL {
        let label = [("severity", severity.name())];
        let those = found.iter().filter(|finding| finding.severity == severity);
        metrics.add("findings", &[of, &label].concat(), those.clone().count() as f64);
        for finding in those {
            let id = [("id", finding.id.as_str())];
            metrics.add("finding_info", &[of, &label, &id].concat(), 1.0);
        }
    }
}

fn of_disk(metrics: &mut Metrics, disk: &Device, of: &[(&str, &str)]) {
    let (queue, detail, link) = (&disk.queue, &disk.detail, disk.link());
    let mode = detail.controller().map(PciFunction::words).unwrap_or_default();
    let transfer_mode = detail.ata.as_ref().map_or("", |ata| text(&ata.transfer_mode));
    let info = [
        ("transport", text(&disk.transport)),
        ("driver", text(&disk.driver)),
        ("pci", text(&disk.pci)),
        ("mode", &mode),
        ("transfer_mode", transfer_mode),
        ("link", link.as_ref().map_or("", |link| &link.words)),
        ("scheduler", text(&queue.scheduler)),
        ("write_cache", text(&queue.write_cache)),
    ];
    metrics.add("disk_info", &[of, &info].concat(), 1.0);
    let mut add = |name: &str, value: Option<f64>| {
        value.into_iter().for_each(|value| metrics.add(name, of, value));
    };
    add("disk_size_bytes", number(&disk.size_bytes));
    add("disk_queue_depth", number(&queue.queue_depth));
    add("disk_queue_requests", number(&queue.nr_requests));
    add("disk_hardware_queues", number(&queue.hardware_queues));
    add("disk_link_bytes_per_second", link.as_ref().map(|link| link.bytes_per_s));
    let highest = link.and_then(|link| link.highest_bytes_per_s);
    add("disk_link_highest_bytes_per_second", highest);
    if let Some(ata) = &detail.ata {
        add("disk_speed_downs", number(&ata.speed_downs));
        let is_error = |class| class != AtaErrorClass::Unknown;
        let errors = ata.errors.as_ref().map(|errors| errors.value.iter());
        let errors = errors.map(|errors| errors.filter(|error| is_error(error.class)).count());
        add("disk_recent_errors", errors.map(|errors| errors as f64));
    }
    if let Some(nvme) = &detail.nvme {
        let celsius = |fact: &Option<Fact<i64>>| Some(fact.as_ref()?.value as f64 / 1e3);
        add("disk_temperature_celsius", celsius(&nvme.temperature_mc));
        add("disk_temperature_limit_celsius", celsius(&nvme.temperature_max_mc));
    }
    if let Some(health) = &detail.health {
        for (name, measure) in HEALTH {
            let of_base = |value: f64| match measure.unit() {
                Unit::Percent => value / 100.0,
                Unit::Hours => value * 3600.0,
                _ => value,
            };
            add(name, health.get(measure).map(|fact| of_base(fact.value as f64)));
        }
    }
    errors(metrics, disk, of);
}

/// What a drive says of itself, in base units.
const HEALTH: [(&str, Measure); 8] = [
    ("disk_temperature_celsius", Measure::Temperature),
    ("disk_wear_ratio", Measure::PercentUsed),
    ("disk_spare_ratio", Measure::Spare),
    ("disk_written_bytes_total", Measure::Written),
    ("disk_read_bytes_total", Measure::Read),
    ("disk_media_written_bytes_total", Measure::MediaWritten),
    ("disk_power_on_seconds_total", Measure::PowerOnHours),
    ("disk_throttle_level", Measure::ThrottleLevel),
];

/// What it counts of errors, by kind.
const OWN_ERRORS: [(&str, Measure); 5] = [
    ("media", Measure::MediaErrors),
    ("reallocated", Measure::ReallocatedSectors),
    ("pending", Measure::PendingSectors),
    ("uncorrectable", Measure::UncorrectableSectors),
    ("crc", Measure::CrcErrors),
];

/// Counters, by who counts and what.
fn errors(metrics: &mut Metrics, disk: &Device, of: &[(&str, &str)]) {
    let mut add = |source: &str, kind: &str, value: Option<f64>| {
        let labels = [("source", source), ("kind", kind)];
        let labels = [of, &labels].concat();
        value.into_iter().for_each(|value| metrics.add("disk_errors_total", &labels, value));
    };
    let detail = &disk.detail;
    if let Some(health) = &detail.health {
        for (kind, measure) in OWN_ERRORS {
            add("drive", kind, health.get(measure).map(|fact| fact.value as f64));
        }
    }
    if let Some(counters) = detail.scsi.as_ref().and_then(|scsi| scsi.counters.as_ref()) {
        // Looking every quarter of an hour would make it grow for ever; the drive's own stay.
        let provoked = detail.health.as_ref().is_some_and(|health| health.provoked > 0);
        add("scsi", "error", (!provoked).then_some(counters.errors.value as f64));
        add("scsi", "timeout", number(&counters.timeouts));
    }
    if let Some(aer) = detail.controller().and_then(|function| function.aer.as_ref()) {
        add("pcie", "correctable", Some(aer.correctable.value as f64));
        add("pcie", "nonfatal", Some(aer.nonfatal.value as f64));
        add("pcie", "fatal", Some(aer.fatal.value as f64));
    }
    if !detail.sas.is_empty() {
        let errors: u64 = detail.sas.iter().map(|phy| phy.errors()).sum();
        add("sas", "phy", Some(errors as f64));
    }
    let of_files: Vec<_> = detail.ext4.iter().filter_map(|fs| number(&fs.error_count)).collect();
    add("ext4", "error", (!of_files.is_empty()).then(|| of_files.iter().sum()));
}

fn number(fact: &Option<Fact<u64>>) -> Option<f64> {
    fact.as_ref().map(|fact| fact.value as f64)
}
