//! A disk on an ATA port, as libata shows it.

use crate::identity::{self, Identify};
use crate::model::{Fact, Hop};
use crate::reader::{Need, Reader, clean, show};
use crate::sysfs::{name, numbered};
use std::path::{Path, PathBuf};

/// The port, link and device folders of one ATA disk.
#[derive(Debug, Clone)]
pub(crate) struct AtaPort {
    pub port: PathBuf,
    pub link: PathBuf,
    pub device: PathBuf,
    /// IDENTIFY data and where it was read.
    pub identify: Option<Fact<Identify>>,
}

impl AtaPort {
    /// Finds them for the disk at `dir`, whose path has an `ataN` and a SCSI address in it.
    pub fn find(r: &mut Reader<'_>, dir: &Path) -> Option<Self> {
        let port = dir.ancestors().find(|p| numbered(name(p), "ata")).map(Path::to_path_buf);
        let Some(port) = port else { return Self::by_class(r, dir) };
        let number = name(&port).strip_prefix("ata")?.to_owned();
        let (channel, id) = dir.ancestors().find_map(|p| scsi_address(name(p)))?;
        let on = |link: String, device: String| {
            let at = port.join(&link);
            let device = at.join(&device).join("ata_device").join(device);
            (at.join("ata_link").join(link), device)
        };
        // Behind a port multiplier the SCSI channel is its port; else the SCSI id is master/slave.
        let multiplied = on(format!("link{number}.{channel}"), format!("dev{number}.{channel}.0"));
        let direct = on(format!("link{number}"), format!("dev{number}.{id}"));
        let (link, device) = if r.view.exists(&multiplied.1) { multiplied } else { direct };
        let identify = identity::identify(r, dir, Some(&device));
        Some(Self { port, link, device, identify })
    }

    /// Of a machine of which only the paths of classes are known, when it has one ATA device and
    /// the disk is one: nothing else would show whose the device is.
    fn by_class(r: &mut Reader<'_>, dir: &Path) -> Option<Self> {
        let class = Path::new("/sys/class");
        let vendor = r.hint(&dir.join("device/vendor"));
        if dir.parent() != Some(Path::new("/sys/block")) || vendor.as_deref() != Some("ATA") {
            return None;
        }
        let all = class.join("ata_device");
        let kind = |n: &String| r.hint(&all.join(n).join("class"));
        let mut drives = r.names(&all).into_iter().filter(|n| kind(n).as_deref() == Some("ata"));
        let name = drives.next().filter(|_| drives.next().is_none())?;
        let number: u32 = name.strip_prefix("dev")?.split('.').next()?.parse().ok()?;
        let device = all.join(name);
        let identify = identity::identify(r, dir, Some(&device));
        let (port, link) = (format!("ata_port/ata{number}"), format!("ata_link/link{number}"));
        Some(Self { port: class.join(port), link: class.join(link), device, identify })
    }

    /// The link's speed; `None` if the controller has no register for it.
    fn speed(&self, r: &Reader<'_>) -> Option<Fact<String>> {
        let path = self.link.join("sata_spd");
        let speed = r.hint(&path).filter(|s| s != "<unknown>")?;
        Some(Fact::new(speed, show(&path)))
    }

    /// `sata`, `pata`, or `ata` if it is unknown which.
    pub fn transport(&self, r: &Reader<'_>) -> Fact<String> {
        if let Some(speed) = self.speed(r) {
            return Fact::new("sata".to_owned(), speed.from);
        }
        let word = match &self.identify {
            Some(id) if id.value.is_sata() => "sata",
            Some(id) if id.value.is_parallel() => "pata",
            _ => "ata",
        };
        let from = self.identify.as_ref().map_or_else(|| show(&self.port), |id| id.from.clone());
        Fact::new(word.to_owned(), from)
    }
}

/// Channel and id of a SCSI address `host:channel:id:lun`.
fn scsi_address(name: &str) -> Option<(u32, u32)> {
    let parts: Option<Vec<u32>> = name.split(':').map(|p| p.parse().ok()).collect();
    match parts?.as_slice() {
        [_, channel, id, _] => Some((*channel, *id)),
        _ => None,
    }
}

pub(super) fn hops(r: &mut Reader<'_>, ata: &AtaPort) -> Vec<Hop> {
    let number = ata.port.join("ata_port").join(name(&ata.port)).join("port_no");
    let mut port = Hop {
        kind: "port".to_owned(),
        name: name(&ata.port).to_owned(),
        detail: "ATA port".to_owned(),
        from: show(&ata.port),
    };
    if let Some(number) = r.hint(&number) {
        port.detail = format!("ATA port {number} of its controller");
    }
    vec![port, link_hop(r, ata)]
}

fn link_hop(r: &mut Reader<'_>, ata: &AtaPort) -> Hop {
    let mut detail = Vec::new();
    let speed = ata.speed(r);
    match &speed {
        Some(speed) => detail.push(format!("SATA at {}", speed.value)),
        None if ata.identify.as_ref().is_some_and(|id| id.value.is_parallel()) => {
            detail.push("parallel ATA".to_owned());
        }
        None => detail.push("the controller does not report a SATA speed".to_owned()),
    }
    // "<unknown>" is libata's word for no limit.
    if let Some(limit) = r.hint(&ata.link.join("sata_spd_limit")).filter(|l| l != "<unknown>") {
        detail.push(format!("limited to {limit}"));
    }
    if let Some(id) = &ata.identify
        && let (Some(most), _) = id.value.link_speeds()
    {
        detail.push(format!("the drive supports {most}"));
    }
    if let Some(mode) = r.text(&ata.device.join("xfer_mode"), "transfer mode", Need::Always) {
        detail.push(mode_in_words(&mode.value));
    }
    let from = speed.map_or_else(|| show(&ata.device.join("xfer_mode")), |s| s.from);
    let name = name(&ata.link).to_owned();
    Hop { kind: "link".to_owned(), name, detail: detail.join(", "), from }
}

/// A transfer mode as people write it: `UDMA/100`, `PIO4, no DMA`.
pub(crate) fn mode_in_words(mode: &str) -> String {
    const UDMA: [&str; 8] = ["16", "25", "33", "44", "66", "100", "133", "167"];
    let mode = mode.strip_prefix("XFER_").unwrap_or(mode);
    if let Some(n) = mode.strip_prefix("UDMA_") {
        let rate = n.parse::<usize>().ok().and_then(|n| UDMA.get(n));
        return rate.map_or_else(|| clean(mode), |r| format!("UDMA/{r}"));
    }
    if let Some(n) = mode.strip_prefix("MW_DMA_") {
        return format!("MWDMA{n}");
    }
    match mode.strip_prefix("PIO_") {
        Some(n) => format!("PIO{n}, no DMA"),
        None => clean(mode),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfer_modes_are_said_as_people_say_them() {
        let said: Vec<_> = ["XFER_UDMA_6", "XFER_MW_DMA_2", "XFER_PIO_4", "XFER_UDMA_9", "odd"]
            .into_iter()
            .map(mode_in_words)
            .collect();
        assert_eq!(said, ["UDMA/133", "MWDMA2", "PIO4, no DMA", "UDMA_9", "odd"]);
    }

    #[test]
    fn a_scsi_address_has_four_numbers() {
        assert_eq!(scsi_address("0:2:1:0"), Some((2, 1)));
        assert_eq!(scsi_address("0000:00:1f.2"), None);
        assert_eq!(scsi_address("0:0:0"), None);
    }
}
