//! Who a disk is: model, serial number, world-wide name, firmware.
//!
//! Asked in the order of who knows best: the drive's own IDENTIFY data, then its bus's pages, then
//! the udev database, which a root process filled at plug-in and anyone may read.

mod ata;
mod scsi;
mod udev;

pub(crate) use ata::Identify;
pub(crate) use udev::Properties;

use crate::model::{Fact, Identity};
use crate::reader::{Need, Reader, show};
use seekwell_sys::{DevId, usb_device};
use std::path::{Path, PathBuf};

/// The identity of the disk whose sysfs folder is `dir`; `identify` is its ATA data, if any, with
/// the place it was read.
pub(crate) fn read(
    r: &mut Reader<'_>,
    dir: &Path,
    dev: Option<DevId>,
    identify: Option<&Fact<Identify>>,
) -> Identity {
    let mut identity = Identity::default();
    if let Some(fact) = identify {
        identity = identity.or(ata::identity(fact));
    }
    identity = identity.or(by_bus(r, dir));
    if let Some(dev) = dev {
        identity = identity.or(udev::identity(r, dev));
    }
    if identity.serial.is_none()
        && let Some(device) = usb_device(r.view, dir)
    {
        // A bulk-only bridge may answer no page of its own; what USB knows it by is printed on it.
        identity.serial = r.text(&device.join("serial"), "serial number", Need::Optional);
    }
    identity
}

fn by_bus(r: &mut Reader<'_>, dir: &Path) -> Identity {
    let device = dir.join("device");
    let parts: Vec<_> = dir.components().filter_map(|c| c.as_os_str().to_str()).collect();
    if parts.contains(&"nvme") || parts.contains(&"nvme-subsystem") {
        nvme(r, dir, &device)
    } else if parts.contains(&"mmc_host") {
        mmc(r, &device)
    } else if r.view.exists(&device.join("scsi_level")) {
        scsi::identity(r, &device)
    } else {
        let mut optional = |path: PathBuf, what: &str| r.text(&path, what, Need::Optional);
        Identity { serial: optional(dir.join("serial"), "serial number"), ..Identity::default() }
    }
}

fn nvme(r: &mut Reader<'_>, dir: &Path, device: &Path) -> Identity {
    Identity {
        model: r.text(&device.join("model"), "model", Need::Always),
        serial: r.text(&device.join("serial"), "serial number", Need::Always),
        wwn: r.text(&dir.join("wwid"), "world-wide name", Need::Optional),
        firmware: r.text(&device.join("firmware_rev"), "firmware revision", Need::Always),
    }
}

fn mmc(r: &mut Reader<'_>, device: &Path) -> Identity {
    Identity {
        model: r.text(&device.join("name"), "model", Need::Always),
        serial: r.text(&device.join("serial"), "serial number", Need::Always),
        wwn: None,
        firmware: r.text(&device.join("fwrev"), "firmware revision", Need::Optional),
    }
}

/// The IDENTIFY data of a disk: from libata's own class, or from the page a SCSI-to-ATA translator
/// keeps it in (SAT-4, VPD page 89h), which covers SATA drives behind SAS controllers.
pub(crate) fn identify(
    r: &mut Reader<'_>,
    dir: &Path,
    ata_device: Option<&Path>,
) -> Option<Fact<Identify>> {
    if let Some(folder) = ata_device {
        let path = folder.join("id");
        match r.view.text(&path) {
            Ok(text) => match Identify::from_text(&text) {
                Some(identify) => return Some(Fact::new(identify, show(&path))),
                None => r.miss("IDENTIFY data", show(&path), "it is not 256 words"),
            },
            Err(error) => r.miss_error("IDENTIFY data", &error, Need::Always),
        }
    }
    // Only a translator calls its drive's vendor ATA; others fill the page with an example.
    r.hint(&dir.join("device/vendor")).filter(|vendor| vendor == "ATA")?;
    let path = dir.join("device/vpd_pg89");
    let page = r.view.read(&path).ok()?;
    Some(Fact::new(Identify::from_vpd_page(&page)?, show(&path)))
}
