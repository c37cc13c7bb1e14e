//! What the kernel has stacked on a device: device-mapper, MD, bcache.

use crate::member::Member;
use seekwell_sys::{View, ViewError};
use std::fmt;

/// What kind of thing holds a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HolderKind {
    Lvm,
    Crypt,
    Multipath,
    /// Another device-mapper target.
    DeviceMapper,
    Md,
    Bcache,
    /// Something with an unfamiliar name.
    Unknown,
}

/// One entry of a device's `holders` folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The kernel's name, `dm-0`.
    pub name: String,
    /// The device-mapper name, `vg0-root`; the kernel's name if it has no such name.
    pub label: String,
    pub kind: HolderKind,
}

impl Holder {
    pub fn release_command(&self) -> String {
        match self.kind {
            HolderKind::Lvm => format!("lvchange --activate n /dev/mapper/{}", self.label),
            HolderKind::Crypt => format!("cryptsetup close {}", self.label),
            HolderKind::Multipath => format!("multipath -f {}", self.label),
            HolderKind::DeviceMapper => format!("dmsetup remove {}", self.label),
            HolderKind::Md => format!("mdadm --stop /dev/{}", self.name),
            HolderKind::Bcache => format!("echo 1 > /sys/block/{}/bcache/stop", self.name),
            HolderKind::Unknown => format!("lsblk --inverse /dev/{}", self.name),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            HolderKind::Lvm => "the LVM volume",
            HolderKind::Crypt => "the encrypted mapping",
            HolderKind::Multipath => "the multipath map",
            HolderKind::DeviceMapper => "the device-mapper device",
            HolderKind::Md => "the software RAID array",
            HolderKind::Bcache => "the bcache device",
            HolderKind::Unknown => "the device",
        };
        write!(f, "{kind} {}", self.label)?;
        if self.label != self.name { write!(f, " ({})", self.name) } else { Ok(()) }
    }
}

/// Lists who holds one device. An absent folder means no holder; one that cannot be read is an
/// error, because then it is unknown.
pub(crate) fn holders_of(view: &dyn View, member: &Member) -> Result<Vec<Holder>, ViewError> {
    let names = match view.list(&member.sysfs.join("holders")) {
        Ok(names) => names,
        Err(ViewError::Absent { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(names.into_iter().map(|name| describe(view, name)).collect())
}

fn describe(view: &dyn View, name: String) -> Holder {
    let dm = |what: &str| view.text(format!("/sys/class/block/{name}/dm/{what}").as_ref()).ok();
    let kind = if name.starts_with("dm-") {
        match dm("uuid").unwrap_or_default() {
            uuid if uuid.starts_with("LVM-") => HolderKind::Lvm,
            uuid if uuid.starts_with("CRYPT-") => HolderKind::Crypt,
            uuid if uuid.starts_with("mpath-") => HolderKind::Multipath,
            _ => HolderKind::DeviceMapper,
        }
    } else if name.starts_with("md") {
        HolderKind::Md
    } else if name.starts_with("bcache") {
        HolderKind::Bcache
    } else {
        HolderKind::Unknown
    };
    let label = dm("name").filter(|label| !label.is_empty()).unwrap_or_else(|| name.clone());
    Holder { name, label, kind }
}
