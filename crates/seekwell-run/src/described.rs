//! What a description says of a modelled disk, as the facts that inspection reads of a real one, so
//! that one rule judges both.

use seekwell_inspect::facts::{AtaFacts, Detail, IdentifyData, PciFunction, PcieLink, ScsiFacts};
use seekwell_inspect::{Channel, Device, DeviceKind, Fact};
use seekwell_io::units::Nanos;
use seekwell_machine::Model;
use seekwell_machine::bus::PciKind;
use std::str::FromStr;

/// The class of a RAID controller.
const RAID: u64 = 0x0001_0400;

/// The disk, or the array, of a model; `None` if a cache in front hides it.
pub fn device(model: &Model) -> Option<Device> {
    let keys = Keys(model);
    if model.parameters().iter().any(|p| p.key.starts_with("front.")) {
        return None;
    }
    let array = keys.word("array.level");
    let name = if array.is_some() { "array" } else { "drive" };
    let mut device = Device::new(name, "", DeviceKind::Disk);
    device.size_bytes = Some(Fact::new(model.capacity(), "the description"));
    let kind = keys.word("drive.kind");
    device.queue.rotational = match kind.as_ref().map(|k| k.value.as_str()) {
        Some("hdd") => kind.map(|k| Fact::new(true, k.from)),
        Some("ssd") => kind.map(|k| Fact::new(false, k.from)),
        _ => None,
    };
    device.driver = keys.word("controller.kind").filter(|kind| kind.value != "none");
    match array {
        Some(level) => of_array(&keys, level, &mut device),
        None => of_drive(&keys, &mut device),
    }
    Some(device)
}

/// How long the burst credits of a modelled volume last at its peak rate, ignoring those earned
/// meanwhile; `None` if it has none.
pub fn credits_last(model: &Model) -> Option<Nanos> {
    let keys = Keys(model);
    let seconds = |of: &str| {
        let number = |key: &str| keys.number::<f64>(&format!("throttle.{of}.{key}"));
        let spent_per_s = number("most_per_s")?.value - number("per_s")?.value;
        Some(number("credits")?.value / spent_per_s)
    };
    let all = ["requests", "bytes"].into_iter().filter_map(seconds);
    let longest =
        all.filter(|seconds| seconds.is_finite() && *seconds > 0.0).max_by(f64::total_cmp);
    longest.map(Nanos::from_secs_f64)
}

fn of_array(keys: &Keys<'_>, level: Fact<String>, device: &mut Device) {
    let class = Some(Fact::new(RAID, level.from.clone()));
    let cache = keys.word("memory.write");
    let scsi = ScsiFacts {
        cache_type: cache.map(|c| Fact::new(format!("write {}", c.value), c.from)),
        ..ScsiFacts::default()
    };
    let bus = keys.word("bus.kind").and_then(|kind| {
        let known = PciKind::ALL.into_iter().find(|known| known.name() == kind.value)?;
        let name = kind.value.replace("pci-x-", "PCI-X ").replace("pci-", "PCI ");
        Some(Fact::new(Channel { name, bytes_per_s: known.bytes_per_s() }, kind.from))
    });
    let wire = keys.number("scsi.bytes_per_s").map(|rate: Fact<f64>| {
        let channel = Channel { name: "the SCSI bus".into(), bytes_per_s: rate.value };
        Fact::new(channel, rate.from)
    });
    *device.detail = Detail {
        pci: vec![PciFunction { class, ..PciFunction::default() }],
        scsi: Some(scsi),
        channels: bus.into_iter().chain(wire).collect(),
        ..Detail::default()
    };
    device.queue.queue_depth = keys.number("array.depth");
    device.role = Some(level);
}

fn of_drive(keys: &Keys<'_>, device: &mut Device) {
    let own = keys.number("drive.queue.depth").or_else(|| keys.number("drive.depth"));
    let driver = device.driver.as_ref().map(|d| d.value.clone());
    let ide = driver.as_deref() == Some("ide");
    if driver.is_some() {
        let queues = own.as_ref().is_some_and(|depth: &Fact<u64>| depth.value > 1);
        let transport = if queues { "sata" } else { "pata" };
        device.transport = own.as_ref().map(|depth| Fact::new(transport.into(), &depth.from));
        device.detail.ata = Some(AtaFacts {
            transfer_mode: keys
                .word("controller.mode")
                .map(|mode| Fact::new(transfer_mode(&mode.value), mode.from)),
            link_speed: keys
                .word("link.speed")
                .map(|speed| Fact::new(speed.value.replace("Gbps", " Gbps"), speed.from)),
            can_queue: keys.number("controller.slots"),
            ..AtaFacts::default()
        });
        device.detail.identify = identify(keys, own.as_ref());
    }
    device.detail.pci.extend(pcie(keys));
    let unqueued = keys.word("controller.ncq").filter(|ncq| ncq.value == "false");
    let one = unqueued.or_else(|| keys.word("controller.kind").filter(|_| ide));
    let bounds = [
        one.map(|f| Fact::new(1, f.from)),
        keys.number("host.openings"),
        keys.number("controller.slots"),
        own,
    ];
    device.queue.queue_depth = bounds.into_iter().flatten().min_by_key(|depth| depth.value);
}

/// The drive as a function on a PCI Express link.
fn pcie(keys: &Keys<'_>) -> Option<PciFunction> {
    let generation: Fact<u32> = keys.number("pcie.generation")?;
    let width: Fact<u32> = keys.number("pcie.lanes")?;
    let gts = match generation.value {
        1 => 2.5,
        2 => 5.0,
        later => f64::from(1_u32 << later.min(6)),
    };
    let from = format!("{}, {}", generation.from, width.from);
    let link = Some(Fact::new(PcieLink { gts, width: width.value }, from));
    Some(PciFunction { link, ..PciFunction::default() })
}

fn identify(keys: &Keys<'_>, own: Option<&Fact<u64>>) -> Option<Fact<IdentifyData>> {
    let own = own?;
    let caches = keys.word("drive.write.write_back").map(|on| on.value == "true");
    let rpm = keys.number("drive.rpm").map(|rpm| rpm.value);
    let flash = keys.word("drive.kind").is_some_and(|kind| kind.value == "ssd");
    let data = IdentifyData {
        sata: own.value > 1,
        ncq: own.value > 1,
        ncq_depth: u16::try_from(own.value).unwrap_or(u16::MAX),
        write_cache: (caches.is_some(), caches == Some(true)),
        rotation_rpm: rpm.or(flash.then_some(1)),
        dma: true,
        lba48: true,
        flush: true,
        ..IdentifyData::default()
    };
    Some(Fact::new(data, &own.from))
}

/// `pio4`, `mwdma2` and `udma6` as libata names them.
fn transfer_mode(mode: &str) -> String {
    let (kind, number) = mode.split_at(mode.len().saturating_sub(1));
    let kind = match kind {
        "pio" => "PIO",
        "mwdma" => "MW_DMA",
        _ => "UDMA",
    };
    format!("XFER_{kind}_{number}")
}

/// A description's values by their keys.
struct Keys<'a>(&'a Model);

impl Keys<'_> {
    fn word(&self, key: &str) -> Option<Fact<String>> {
        let found = self.0.parameters().iter().find(|p| p.key == key)?;
        let value = found.value.trim_matches('"').to_owned();
        Some(Fact::new(value, format!("{key} of the description")))
    }

    fn number<T: FromStr>(&self, key: &str) -> Option<Fact<T>> {
        let word = self.word(key)?;
        Some(Fact::new(word.value.parse().ok()?, word.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;
    use std::path::Path;

    #[test]
    fn burst_credits_of_a_modelled_volume_last_as_long_as_they_are_spent_faster_than_earned() {
        let last = |name: &str| credits_last(&model(Path::new(name), &[]).expect("ships"));
        assert_eq!(last("volume-gp2"), Some(Nanos::from_millis(2_000_000)));
        assert_eq!((last("volume-gp3"), last("nvme-ssd")), (None, None));
    }

    #[test]
    fn a_pci_express_link_of_a_model_is_told_as_that_of_a_disk() {
        let link = |generation: &str| {
            let set = [("pcie.generation".to_owned(), generation.to_owned())];
            let model = model(Path::new("pm9a3-960"), &set).expect("ships");
            let link = device(&model).and_then(|device| device.link()).expect("has a link");
            (link.words, (link.bytes_per_s / 1e8).round())
        };
        assert_eq!(link("3"), ("8.0 GT/s x4".to_owned(), 39.0));
        assert_eq!(link("4"), ("16.0 GT/s x4".to_owned(), 79.0));
        assert_eq!(link("2"), ("5.0 GT/s x4".to_owned(), 20.0));
    }
}
