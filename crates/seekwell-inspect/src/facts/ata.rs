//! What libata shows of a port, its link and the device on it.

use super::ering::{self, AtaError};
use crate::attach::AtaPort;
use crate::model::Fact;
use crate::reader::{Reader, show};
use crate::sysfs::{name, numbered};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A disk on an ATA port. A speed is in words, `6.0 Gbps`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AtaFacts {
    /// The port's name in the kernel log, `ata1`; it changes when the driver is bound again.
    pub port: String,
    /// The number of the port on its controller, counted from 1.
    pub port_number: Option<Fact<u64>>,
    /// What the link negotiated; `None` on a parallel cable and if no register has it.
    pub link_speed: Option<Fact<String>>,
    /// The limit now in force. `None` is no limit.
    pub link_limit: Option<Fact<String>>,
    /// The limit found when the port was probed: firmware's, or `libata.force`'s. `None` is no
    /// limit.
    pub link_limit_at_probe: Option<Fact<String>>,
    /// `ata`, `atapi`, `pmp` …
    pub class: Option<Fact<String>>,
    /// The transfer mode in use, `XFER_UDMA_6`.
    pub transfer_mode: Option<Fact<String>>,
    pub pio_mode: Option<Fact<String>>,
    /// The DMA mode; `None` when DMA is off.
    pub dma_mode: Option<Fact<String>>,
    /// How often the transfer mode was lowered after errors. 0 is no proof of health: falling back
    /// to PIO resets it, and switching queueing off does not count.
    pub speed_downs: Option<Fact<u64>>,
    /// The last errors, newest first. One of class unknown is left by probing.
    pub errors: Option<Fact<Vec<AtaError>>>,
    /// `unsupported`, `unqueued`, `queued`, `forced_unqueued` …
    pub trim: Option<Fact<String>>,
    /// Commands the port takes at once.
    pub can_queue: Option<Fact<u64>>,
    /// Link power management: `max_performance`, `med_power_with_dipm`, `min_power` …
    pub lpm_policy: Option<Fact<String>>,
    /// The controller's capabilities, of AHCI.
    pub ahci: Option<AhciFacts>,
}

/// The capability register of an AHCI controller (AHCI 1.3.1, 3.1.1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AhciFacts {
    pub capabilities: Option<Fact<u64>>,
    /// The version, `1.3` or `1.3.1`.
    pub version: Option<Fact<String>>,
}

impl AhciFacts {
    fn bits(&self) -> Option<u64> {
        self.capabilities.as_ref().map(|c| c.value)
    }

    pub fn slots(&self) -> Option<u64> {
        Some(((self.bits()? >> 8) & 0x1f) + 1)
    }

    /// The fastest link as SATA generation 1 to 3; `None` if the register does not say.
    pub fn generation(&self) -> Option<u8> {
        let generation = (self.bits()? >> 20) & 0xf;
        (1..=3).contains(&generation).then_some(generation as u8)
    }

    pub fn ncq(&self) -> Option<bool> {
        Some(self.bits()? & (1 << 30) != 0)
    }
}

pub(super) fn read(r: &mut Reader<'_>, port: &AtaPort) -> AtaFacts {
    let (at, link, device) = (&port.port, &port.link, &port.device);
    let port_name = name(at).to_owned();
    let number = at.join("ata_port").join(&port_name).join("port_no");
    let limit = |r: &mut Reader<'_>, file: &str| {
        // The kernel's word for "all speeds allowed".
        r.optional(&link.join(file), "link limit").filter(|l| l.value != "<unknown>")
    };
    let mut facts = AtaFacts {
        port: port_name,
        port_number: r.count(&number, "port number"),
        link_speed: r
            .optional(&link.join("sata_spd"), "link speed")
            .filter(|s| s.value != "<unknown>"),
        link_limit: limit(r, "sata_spd_limit"),
        link_limit_at_probe: limit(r, "hw_sata_spd_limit"),
        class: r.optional(&device.join("class"), "kind of ATA device"),
        transfer_mode: r.optional(&device.join("xfer_mode"), "transfer mode"),
        pio_mode: r.optional(&device.join("pio_mode"), "PIO mode"),
        dma_mode: r.optional(&device.join("dma_mode"), "DMA mode"),
        speed_downs: r.count(&device.join("spdn_cnt"), "how often it was slowed down"),
        trim: r.optional(&device.join("trim"), "how it trims"),
        errors: errors(r, &device.join("ering")),
        ..AtaFacts::default()
    };
    host(r, at, &mut facts);
    facts
}

fn errors(r: &Reader<'_>, path: &Path) -> Option<Fact<Vec<AtaError>>> {
    let text = r.view.text(path).ok()?;
    let uptime = r.hint(Path::new("/proc/uptime"));
    let uptime = uptime.and_then(|u| u.split_whitespace().next()?.parse().ok());
    Some(Fact::new(ering::decode(&text, uptime), show(path)))
}

fn host(r: &mut Reader<'_>, port: &Path, facts: &mut AtaFacts) {
    let Some(host) = r.names(port).into_iter().find(|n| numbered(n, "host")) else {
        return;
    };
    let folder = port.join(&host).join("scsi_host").join(&host);
    facts.can_queue = r.count(&folder.join("can_queue"), "commands of the port");
    let policy = folder.join("link_power_management_policy");
    facts.lpm_policy = r.hint(&policy).map(|p| Fact::new(p, show(&policy)));
    let capabilities = r.hex(&folder.join("ahci_host_caps"));
    if capabilities.is_some() {
        let version = r.hex(&folder.join("ahci_host_version"));
        let version = version.map(|v| Fact::new(ahci_version(v.value), v.from));
        facts.ahci = Some(AhciFacts { capabilities, version });
    }
}

/// Major in the upper half, minor and subminor in the lower bytes: 0x10301 is 1.3.1.
fn ahci_version(register: u64) -> String {
    let (major, minor, sub) = (register >> 16, (register >> 8) & 0xff, register & 0xff);
    // 0.95 and 1.0 write their minor number differently; all later ones as 1.3.
    match (major, minor, sub) {
        (0, 9, 5) => "0.95".to_owned(),
        (major, minor, 0) => format!("{major}.{minor}"),
        (major, minor, sub) => format!("{major}.{minor}.{sub}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ahci_registers_are_decoded() {
        // Read from an emulated ICH9: 32 slots, queueing, no link faster than the first generation.
        let caps =
            |bits: u64| AhciFacts { capabilities: Some(Fact::new(bits, "x")), version: None };
        let qemu = caps(0xc014_1f05);
        assert_eq!((qemu.slots(), qemu.generation(), qemu.ncq()), (Some(32), Some(1), Some(true)));
        let board = caps(0xe734_ff05);
        assert_eq!(board.generation(), Some(3));
        assert_eq!(caps(0).generation(), None);
        assert_eq!(ahci_version(0x10000), "1.0");
        assert_eq!(ahci_version(0x10300), "1.3");
        assert_eq!(ahci_version(0x10301), "1.3.1");
        assert_eq!(ahci_version(0x905), "0.95");
    }
}
