//! What a drive says of its own health and wear.
//!
//! The pages come through the [`View`], as everything else does: [`Pages`](crate::Pages) sends the
//! command that a path such as `/dev/nvme0/page/log-02-512` stands for, a recording keeps the
//! answer, a snapshot gives it back. What a drive does not offer is not asked for, and a drive that
//! sleeps is asked nothing that would wake it. One file for each command set decodes its pages;
//! wherever possible a page is a table of places and what stands there.

mod ata;
mod cell;
mod measure;
pub(crate) mod model;
mod nvme;
mod scsi;
#[cfg(test)]
mod tests;

pub use measure::{Measure, Unit};
pub use model::{Attribute, Health, LbaFormat, LoggedError, Outcome, SelfTest, Warning, Written};

use crate::inspection::Device;
use crate::model::{DeviceKind, Fact};
use crate::pages::page;
use crate::probe::Power;
use crate::reader::{Need, Reader, show};
use cell::Values;
use seekwell_sys::View;
use std::collections::BTreeMap;
use std::path::Path;

/// What the drive behind a device says of itself; `None` if the device has no drive, the drive may
/// not be asked, or `view` asks no drives.
pub fn health(view: &dyn View, device: &Device) -> Option<Health> {
    read(&mut Reader::new(view), device)
}

pub(crate) fn read(r: &mut Reader<'_>, device: &Device) -> Option<Health> {
    let detail = &device.detail;
    if device.kind != DeviceKind::Disk {
        return None;
    }
    let dir = Path::new("/sys/block").join(device.name.replace('/', "!"));
    if let Some(nvme) = &detail.nvme {
        let namespace = r.hint(&dir.join("nsid")).and_then(|n| n.parse().ok());
        return nvme::read(&mut DrivePages::of(r, &nvme.controller), namespace)?.told();
    }
    detail.scsi.as_ref()?;
    if let Some(state) = suspended(r, &dir) {
        r.miss(WHAT, state, "the disk sleeps, and asking would wake it");
        return None;
    }
    let mut pages = DrivePages::of(r, &device.name);
    match &detail.identify {
        Some(identify) => ata::read(&mut pages, &identify.value)?.told(),
        // A bridge may not survive a command it does not know, and a virtual disk has no pages.
        None => speaks_scsi(device).then(|| scsi::read(&mut pages))??.told(),
    }
}

/// How long demand has exceeded each limit of a cloud volume so far, in microseconds; empty for any
/// other device, and if `view` asks no drives.
pub fn exceeded(view: &dyn View, device: &Device) -> BTreeMap<Measure, Fact<i64>> {
    let is_volume = |model: &Fact<String>| model.value.starts_with(nvme::VOLUME_MODEL);
    match &device.detail.nvme {
        Some(nvme) if device.model.as_ref().is_some_and(is_volume) => {
            nvme::exceeded(&mut DrivePages::of(&mut Reader::new(view), &nvme.controller))
        }
        _ => BTreeMap::new(),
    }
}

/// Whether a disk is stopped or suspended, so that a read would wake it; `view` asks drives. Cards
/// and NVMe drives are suspended between any two requests, and wake in no time.
pub fn is_asleep(view: &dyn View, device: &Device) -> bool {
    if device.detail.scsi.is_none() {
        return false;
    }
    let mut r = Reader::new(view);
    let dir = Path::new("/sys/block").join(device.name.replace('/', "!"));
    if suspended(&r, &dir).is_some() {
        return true;
    }
    let mut pages = DrivePages::of(&mut r, &device.name);
    match &device.detail.identify {
        Some(id) => ata::spins(&id.value) && ata::power(&mut pages) == Power::Standby,
        None => speaks_scsi(device) && scsi::is_stopped(&mut pages) == Some(true),
    }
}

/// Where it says that the kernel has suspended a disk.
fn suspended(r: &Reader<'_>, dir: &Path) -> Option<String> {
    let state = dir.join("device/power/runtime_status");
    r.hint(&state).is_some_and(|state| state == "suspended").then(|| show(&state))
}

fn speaks_scsi(device: &Device) -> bool {
    let speaks = device.transport.as_ref().map_or("", |t| t.value.as_str());
    ["sas", "fc", "scsi"].contains(&speaks)
}

const WHAT: &str = "health";

/// The pages of one drive.
struct DrivePages<'r, 'v> {
    r: &'r mut Reader<'v>,
    node: String,
}

/// A page as the drive gave it.
struct Page {
    bytes: Vec<u8>,
    from: String,
}

impl Page {
    fn fact<T>(&self, value: T) -> Fact<T> {
        Fact::new(value, &self.from)
    }
}

impl<'r, 'v> DrivePages<'r, 'v> {
    fn of(r: &'r mut Reader<'v>, node: &str) -> Self {
        Self { r, node: node.to_owned() }
    }

    /// Asks for a page. One that the drive does not have is no loss.
    fn get(&mut self, name: &str) -> Option<Page> {
        let path = page(&self.node, name);
        match self.r.view.read(&path) {
            Ok(bytes) => Some(Page { bytes, from: show(&path) }),
            Err(error) => {
                self.r.miss_error(WHAT, &error, Need::Optional);
                None
            }
        }
    }

    fn miss(&mut self, name: &str, reason: &str) {
        self.r.miss(WHAT, show(&page(&self.node, name)), reason);
    }
}
