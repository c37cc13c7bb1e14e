//! What the SCSI layer shows of a disk.

use crate::model::Fact;
use crate::reader::{Reader, show};
use crate::sysfs::name;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A SCSI disk, which every ATA and USB disk is too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScsiFacts {
    /// `host:channel:id:lun`.
    pub address: String,
    /// The vendor of the INQUIRY data; `ATA` behind a translator.
    pub vendor: Option<Fact<String>>,
    /// `running`, `offline`, `blocked` …
    pub state: Option<Fact<String>>,
    /// `simple`, `ordered` or `none`.
    pub queue_type: Option<Fact<String>>,
    /// How long a command may take, in seconds.
    pub timeout_s: Option<Fact<u64>>,
    /// How long an error handler's command may take, in seconds.
    pub eh_timeout_s: Option<Fact<u64>>,
    /// Commands since the disk was found.
    pub counters: Option<IoCounters>,
    /// The disk driver's belief about the cache: `write back`, `write through`, `none`.
    pub cache_type: Option<Fact<String>>,
    /// How space is given back: `unmap`, `writesame_16`, `full` (not at all), `disabled`.
    pub provisioning_mode: Option<Fact<String>>,
    /// Rotations per minute from VPD page B1h; `Some(1)` is solid state.
    pub rotation_rpm: Option<Fact<u64>>,
    /// Zone model from VPD page B1h: 0 none, 1 host-aware, 2 managed by the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoned: Option<Fact<u64>>,
    /// Logical blocks one UNMAP may give back, from VPD page B0h; 0 means none.
    pub max_unmap_blocks: Option<Fact<u64>>,
}

/// Counters of a SCSI device. A few errors are left by probing: only growth means something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IoCounters {
    pub requests: Fact<u64>,
    pub done: Fact<u64>,
    pub errors: Fact<u64>,
    /// Commands that timed out; kernels before 6.2 do not count them.
    pub timeouts: Option<Fact<u64>>,
}

pub(super) fn read(r: &mut Reader<'_>, dir: &Path) -> Option<ScsiFacts> {
    let device = dir.join("device");
    if !r.view.exists(&device.join("scsi_level")) {
        return None;
    }
    // The folder above `block/sda` is named by the address.
    let address = dir.parent().and_then(Path::parent).map(name).unwrap_or_default().to_owned();
    let mut facts = ScsiFacts {
        vendor: r.optional(&device.join("vendor"), "vendor"),
        state: r.optional(&device.join("state"), "state of the SCSI device"),
        queue_type: r.optional(&device.join("queue_type"), "queue type"),
        timeout_s: r.count(&device.join("timeout"), "command timeout"),
        eh_timeout_s: r.count(&device.join("eh_timeout"), "timeout of error handling"),
        counters: counters(r, &device),
        rotation_rpm: page_number(r, &device.join("vpd_pgb1"), 0xb1, 4, 2)
            .filter(|n| n.value == 1 || (0x401..=0xfffe).contains(&n.value)),
        zoned: page_number(r, &device.join("vpd_pgb1"), 0xb1, 8, 1)
            .map(|flags| Fact::new(flags.value >> 4 & 3, flags.from)),
        max_unmap_blocks: page_number(r, &device.join("vpd_pgb0"), 0xb0, 20, 4),
        address,
        ..ScsiFacts::default()
    };
    let folder = device.join("scsi_disk");
    if let Some(disk) = r.names(&folder).first() {
        let disk = folder.join(disk);
        facts.cache_type = r.optional(&disk.join("cache_type"), "cache type");
        let mode = disk.join("provisioning_mode");
        facts.provisioning_mode = r.optional(&mode, "how space is given back");
    }
    Some(facts)
}

fn counters(r: &Reader<'_>, device: &Path) -> Option<IoCounters> {
    let at = |name: &str| r.hex(&device.join(name));
    Some(IoCounters {
        requests: at("iorequest_cnt")?,
        done: at("iodone_cnt")?,
        errors: at("ioerr_cnt")?,
        timeouts: at("iotmo_cnt"),
    })
}

/// A big-endian number of a vital product data page.
fn page_number(
    r: &Reader<'_>,
    path: &Path,
    code: u8,
    offset: usize,
    bytes: usize,
) -> Option<Fact<u64>> {
    let page = r.view.read(path).ok()?;
    if page.get(1) != Some(&code) {
        return None;
    }
    let field = page.get(offset..offset + bytes)?;
    let value = field.iter().fold(0u64, |sum, b| sum << 8 | u64::from(*b));
    Some(Fact::new(value, show(path)))
}
