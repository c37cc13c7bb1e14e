//! What is known of a device beyond its queue and its chain: typed, each value with its path.
//!
//! One file per part of the kernel that shows something. A part that a device does not have is
//! `None` or empty, so that a rule asks for what it needs and says nothing if it is not there.

mod ata;
mod bcache;
mod btrfs;
mod drbd;
mod ering;
mod ext4;
mod fuse;
mod identify;
mod mapper;
mod md;
mod mmc;
mod mounted;
mod network;
mod nvme;
mod pci;
mod power;
mod queue;
mod sas;
mod scsi;
mod usb;
mod vm;
mod zfs;

pub use crate::pages::BlockGroups;
pub use ata::{AhciFacts, AtaFacts};
pub use bcache::BcacheFacts;
pub use btrfs::BtrfsFacts;
pub use drbd::DrbdState;
pub use ering::{AtaError, AtaErrorClass};
pub use ext4::Ext4Facts;
pub use identify::{IdentifyData, Security};
pub use mapper::{
    CacheTarget, CryptTarget, MapperFacts, MapperTarget, RaidTarget, SnapshotTarget, ThinPool,
    Usage, VdoTarget,
};
pub use md::MdFacts;
pub use mmc::MmcFacts;
pub use network::NetworkPath;
pub use nvme::NvmeFacts;
pub use pci::{AerCounts, PciFunction, PcieLink, ide_words};
pub use power::PowerFacts;
pub use queue::{QueueFacts, ZoneFacts};
pub use sas::SasPhy;
pub use scsi::{IoCounters, ScsiFacts};
pub use usb::UsbFacts;
pub use vm::VmFacts;
pub use zfs::{ArcStats, ZfsFacts};

pub(crate) use btrfs::btrfs;
pub(crate) use ext4::ext4;
pub(crate) use fuse::fuse;
pub(crate) use mounted::{mounted, stands_above, swaps};
pub(crate) use network::path as network_path;
pub(crate) use power::read as read_power;
pub(crate) use vm::read as read_vm;
pub(crate) use zfs::{pool_members, zfs};

use crate::attach::AtaPort;
use crate::health::model::Health;
use crate::identity::Identify;
use crate::model::{Channel, DeviceKind, Fact, Filesystem};
use crate::probe::Probe;
use crate::reader::{Need, Reader};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Facts of one device by the part of the kernel that shows them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Detail {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<Fact<bool>>,
    pub queue: QueueFacts,
    /// What libata knows of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ata: Option<AtaFacts>,
    /// What an ATA drive says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identify: Option<Fact<IdentifyData>>,
    /// What the SCSI layer knows of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scsi: Option<ScsiFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvme: Option<NvmeFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usb: Option<UsbFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mmc: Option<MmcFacts>,
    /// The PCI functions on the way, outermost first; the last is the controller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pci: Vec<PciFunction>,
    /// Buses and links that all transfers share; of a modelled machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Fact<Channel>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sas: Vec<SasPhy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub md: Option<MdFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapper: Option<MapperFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bcache: Option<BcacheFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drbd: Option<Fact<DrbdState>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zfs: Option<ZfsFacts>,
    /// Bytes of a loop device's file or of a zram device that were never written or were discarded;
    /// absent if all were, or if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwritten_bytes: Option<Fact<u64>>,
    /// A loop device reads its file past the page cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_direct_io: Option<Fact<bool>>,
    /// What the drive says of its health and wear, where it may be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// What it answered to the pass-through probe, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Fact<Probe>>,
    /// The file systems mounted from it, its partitions and what is built on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<Filesystem>,
    /// The active swap areas on it, its partitions and what is built on it, by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub swaps: Vec<Fact<String>>,
    /// What the ext4 file systems mounted from it remember of their errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ext4: Vec<Ext4Facts>,
    /// The btrfs file systems mounted from it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub btrfs: Vec<BtrfsFacts>,
}

impl Detail {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn controller(&self) -> Option<&PciFunction> {
        self.pci.last()
    }

    /// The class of the hardware RAID controller that makes this disk up; `None` of a disk that is
    /// one, also where such a controller passes it through.
    pub fn raid_controller(&self) -> Option<&Fact<u64>> {
        let controller = self.controller()?;
        let driver = controller.driver.as_ref().map_or("", |d| d.value.as_str());
        let class = controller.class.as_ref().filter(|c| c.value >> 8 == 0x0104)?;
        let channel = || self.scsi.as_ref()?.address.split(':').nth(1)?.parse::<u32>().ok();
        // MEGASAS_MAX_PD_CHANNELS of the driver: below are physical disks.
        let passed = driver == "megaraid_sas" && channel().is_some_and(|c| c < 2);
        (driver != "ahci" && !passed).then_some(class)
    }
}

/// Reads the facts of the device whose sysfs folder is `dir`. `disk` is its whole disk's.
pub(crate) fn read(r: &mut Reader<'_>, dir: &Path, disk: &Path, kind: DeviceKind) -> Detail {
    let mut detail = Detail {
        read_only: r.flag(&dir.join("ro"), "whether it is read-only", Need::Optional),
        queue: queue::read(r, disk),
        ..Detail::default()
    };
    match kind {
        DeviceKind::Md => detail.md = md::read(r, dir),
        DeviceKind::DeviceMapper => detail.mapper = Some(mapper::read(r, dir)),
        DeviceKind::Other => detail.bcache = bcache::read(r, dir),
        DeviceKind::Network => detail.drbd = drbd::read(r, crate::sysfs::name(dir)),
        DeviceKind::Loop => {
            let path = dir.join("loop/dio");
            detail.loop_direct_io = r.flag(&path, "direct I/O to the file", Need::Optional);
        }
        _ => {}
    }
    detail
}

/// Adds what only a disk has.
pub(crate) fn of_disk(
    r: &mut Reader<'_>,
    dir: &Path,
    ata: Option<&AtaPort>,
    identify: Option<&Fact<Identify>>,
    detail: &mut Detail,
) {
    detail.ata = ata.map(|port| ata::read(r, port));
    detail.identify = identify.map(|f| Fact::new(identify::decode(&f.value), f.from.clone()));
    detail.scsi = scsi::read(r, dir);
    let stations: Vec<PathBuf> = dir.ancestors().skip(1).map(Path::to_path_buf).collect();
    detail.nvme = nvme::read(r, dir, &stations);
    detail.usb = usb::read(r, &stations);
    detail.mmc = mmc::read(r, dir, &stations);
    detail.pci = pci::read(r, &stations);
    detail.sas = sas::read(r, &stations);
}
