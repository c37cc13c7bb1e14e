//! The device a setting belongs to, and how it is known again.
//!
//! A kernel name is no identity: `sda` is another disk after a replug, and a loop device another
//! file. Saved state is tied to the serial number or WWN, to the kernel's `diskseq`, which grows
//! with every attachment, and to the boot.

use seekwell_inspect::{Device, DeviceKind, InspectError, Target, inspect};
use seekwell_sys::{DevId, View, ViewError, classify, parse_mountinfo};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Why there is no disk to tune, or why it is not known whether it is in use.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    #[error(transparent)]
    Target(#[from] InspectError),
    #[error("{given} cannot be tuned: {why}")]
    NoDisk { given: String, why: String },
    #[error("cannot tell whether {disk} is in use: {source}")]
    Unsure { disk: String, source: ViewError },
}

classify!(DiskError {
    Usage: NoDisk;
    Refused: Unsure;
    | Self::Target(error) => error.class(),
});

/// By what a disk is known again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Kernel name, `sda`.
    pub name: String,
    /// `major:minor`.
    pub dev: String,
    /// The kernel's number of this attachment; absent before Linux 5.15.
    pub diskseq: Option<u64>,
    pub serial: Option<String>,
    pub wwn: Option<String>,
    pub backing: Option<String>,
}

impl Identity {
    /// Of the disk that has this device number now. Files of its queue are not read: on a disk that
    /// hangs they may not answer.
    ///
    /// # Errors
    /// [`DiskError::NoDisk`] without a disk.
    pub fn by_number(view: &dyn View, dev: DevId) -> Result<Self, DiskError> {
        let dir = folder(view, dev).ok_or_else(|| gone(dev))?;
        Ok(Self::read(view, &dir, dev))
    }

    fn read(view: &dyn View, dir: &Path, dev: DevId) -> Self {
        let text = |path: &str| view.text(&dir.join(path)).ok();
        let known = seekwell_inspect::identity(view, dir);
        Self {
            name: dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
            dev: dev.to_string(),
            diskseq: text("diskseq").and_then(|t| t.parse().ok()),
            serial: known.serial.map(|f| f.value),
            wwn: known.wwn.map(|f| f.value),
            backing: text("loop/backing_file"),
        }
    }

    /// What shows that `now` is not the disk this identity was taken from; `None` when it is.
    pub fn difference(&self, now: &Self) -> Option<String> {
        let differs = |what: &str, was: &Option<String>, is: &Option<String>| {
            let show = |v: &Option<String>| v.clone().unwrap_or_else(|| "none".to_owned());
            (was != is).then(|| format!("{what} was {}, is {}", show(was), show(is)))
        };
        let seq = |v: &Option<u64>| v.map(|n| n.to_string());
        differs("serial number", &self.serial, &now.serial)
            .or_else(|| differs("WWN", &self.wwn, &now.wwn))
            .or_else(|| differs("backing file", &self.backing, &now.backing))
            .or_else(|| differs("diskseq", &seq(&self.diskseq), &seq(&now.diskseq)))
    }
}

/// The machine and its boot, by which a journal is known to be of now and here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// `/etc/machine-id`; empty if absent.
    pub machine_id: String,
    pub boot_id: String,
}

impl Machine {
    pub fn read(view: &dyn View) -> Self {
        let text = |path: &str| view.text(Path::new(path)).unwrap_or_default();
        Self {
            machine_id: text("/etc/machine-id"),
            boot_id: text("/proc/sys/kernel/random/boot_id"),
        }
    }
}

/// A whole disk with the places its settings live in.
#[derive(Debug, Clone)]
pub struct Disk {
    /// By what it is known.
    pub identity: Identity,
    /// Its own folder in sysfs, links resolved.
    pub dir: PathBuf,
    /// The PCI function of its controller, as a folder.
    pub pci: Option<PathBuf>,
    /// Its SCSI host's attributes (`…/hostN/scsi_host/hostN`).
    pub host: Option<PathBuf>,
    /// Its SCSI disk's attributes (`…/scsi_disk/0:0:0:0`).
    pub scsi_disk: Option<PathBuf>,
    /// Its libata port's folder (`…/ataN`).
    pub ata_port: Option<PathBuf>,
    /// What inspection knows of it.
    pub device: Device,
}

/// The folder of a device in sysfs. Saved machines may lack the links by number; whole disks are
/// then found by the number they give themselves.
fn folder(view: &dyn View, dev: DevId) -> Option<PathBuf> {
    if let Ok(dir) = view.canonical(&dev.sysfs()) {
        return Some(dir);
    }
    let all = Path::new("/sys/block");
    let disks = view.list(all).ok()?;
    let own = |name: &String| view.text(&all.join(name).join("dev")).ok()?.parse().ok();
    let name = disks.iter().find(|name| own(name) == Some(dev))?;
    view.canonical(&all.join(name)).ok()
}

fn gone(dev: DevId) -> DiskError {
    DiskError::NoDisk {
        given: format!("device {dev}"),
        why: "the kernel shows no device with this number".to_owned(),
    }
}

impl Disk {
    /// The disk a target is on: a block device's own, a partition's disk, the device of the file
    /// system a path is on.
    ///
    /// # Errors
    /// [`DiskError::Target`] for a bad path, [`DiskError::NoDisk`] for one that is on no disk that
    /// could be tuned.
    pub fn of(view: &dyn View, path: &Path) -> Result<Self, DiskError> {
        let target = Target::resolve(view, path)?;
        let given = target.given.clone();
        let mut device = inspect(view, &target).device.ok_or_else(|| DiskError::NoDisk {
            given: given.clone(),
            why: "there is no block device under it".to_owned(),
        })?;
        while device.kind == DeviceKind::Partition && device.below.len() == 1 {
            device = device.below.swap_remove(0);
        }
        Self::from_device(view, device, &given)
    }

    /// The disk with this device number, by the view alone.
    ///
    /// # Errors
    /// [`DiskError::NoDisk`] without a disk.
    pub fn by_number(view: &dyn View, dev: DevId) -> Result<Self, DiskError> {
        let dir = folder(view, dev).ok_or_else(|| gone(dev))?;
        let name = dir.file_name().and_then(|n| n.to_str()).ok_or_else(|| gone(dev))?;
        let target = Target::block_device(name, dev);
        let device = inspect(view, &target).device.ok_or_else(|| gone(dev))?;
        Self::from_device(view, device, &target.given)
    }

    fn from_device(view: &dyn View, device: Device, given: &str) -> Result<Self, DiskError> {
        let no_disk =
            |why: &str| DiskError::NoDisk { given: given.to_owned(), why: why.to_owned() };
        if device.kind == DeviceKind::MultipathHead {
            return Err(no_disk(
                "it is the head of several paths, and settings of the head do not reach the paths",
            ));
        }
        let dev: DevId = device.dev.parse().map_err(|()| no_disk("it has no device number"))?;
        let dir = folder(view, dev).ok_or_else(|| no_disk("sysfs does not show it"))?;
        Ok(Self {
            identity: Identity::read(view, &dir, dev),
            pci: above(view, &dir, is_pci),
            host: above(view, &dir, |_, name| numbered(name, "host")).and_then(|host| {
                let name = host.file_name()?.to_owned();
                Some(host.join("scsi_host").join(name))
            }),
            scsi_disk: only_below(view, &dir.join("device/scsi_disk")),
            ata_port: above(view, &dir, |_, name| numbered(name, "ata")),
            dir,
            device,
        })
    }

    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(self.identity.name.replace('!', "/"))
    }

    /// A file below its folder.
    pub fn at(&self, below: &str) -> PathBuf {
        self.dir.join(below)
    }

    /// libata's folder of the device itself, with `xfer_mode` and `ering`.
    pub fn ata_device(&self, view: &dyn View) -> Option<PathBuf> {
        self.ata_class(view, "/sys/class/ata_device", |dir| {
            view.text(&dir.join("class")).is_ok_and(|c| c == "ata")
        })
    }

    /// libata's folder of the link, with `sata_spd`.
    pub fn ata_link(&self, view: &dyn View) -> Option<PathBuf> {
        self.ata_class(view, "/sys/class/ata_link", |_| true)
    }

    fn ata_class(
        &self,
        view: &dyn View,
        class: &str,
        fits: impl Fn(&Path) -> bool,
    ) -> Option<PathBuf> {
        let port = self.ata_port.as_ref()?;
        let names = view.list(Path::new(class)).ok()?;
        let found = names.iter().filter_map(|n| view.canonical(&Path::new(class).join(n)).ok());
        found.filter(|dir| dir.starts_with(port)).find(|dir| fits(dir))
    }

    /// Whether the driver is one of the IDE kind, where the CPU can move the data.
    pub fn has_pio(&self) -> bool {
        let driver = self.device.driver.as_ref().map(|d| d.value.as_str());
        driver.is_some_and(|d| d.starts_with("pata_") || d == "ata_piix" || d == "ata_generic")
    }

    /// What uses the disk or a partition of it, in words; `None` when nothing does.
    ///
    /// # Errors
    /// When that is unknown: what is unknown counts as in use.
    pub fn in_use(&self, view: &dyn View) -> Result<Option<String>, DiskError> {
        let unsure = |source| DiskError::Unsure { disk: self.identity.name.clone(), source };
        let mut members = vec![(self.identity.name.clone(), self.dir.clone())];
        for name in view.list(&self.dir).map_err(unsure)? {
            let dir = self.dir.join(&name);
            if view.exists(&dir.join("partition")) {
                members.push((name, dir));
            }
        }
        let mut mounts = Vec::new();
        for table in ["/proc/self/mountinfo", "/proc/1/mountinfo"] {
            let path = Path::new(table);
            match view.text(path) {
                Ok(text) => mounts.extend(parse_mountinfo(&text, path).map_err(unsure)?),
                Err(_) if table.contains("/1/") => {}
                Err(error) => return Err(unsure(error)),
            }
        }
        let swaps = view.text(Path::new("/proc/swaps")).unwrap_or_default();
        for (name, dir) in &members {
            let dev: Option<DevId> = view.text(&dir.join("dev")).ok().and_then(|t| t.parse().ok());
            let node = format!("/dev/{name}");
            let here = mounts.iter().find(|m| Some(m.dev) == dev || m.source == node);
            if let Some(mount) = here {
                return Ok(Some(format!("{node} is mounted on {}", mount.mount_point.display())));
            }
            if swaps.lines().any(|l| l.split_whitespace().next() == Some(&node)) {
                return Ok(Some(format!("{node} is used as swap")));
            }
            if let Some(holder) =
                view.list(&dir.join("holders")).ok().and_then(|h| h.into_iter().next())
            {
                return Ok(Some(format!("{node} is held by {holder}")));
            }
        }
        Ok(None)
    }
}

/// The nearest folder above `dir` that `fits`, given its path and name.
fn above(
    view: &dyn View,
    dir: &Path,
    fits: impl Fn(&(&dyn View, &Path), &str) -> bool,
) -> Option<PathBuf> {
    dir.ancestors().skip(1).find_map(|folder| {
        let name = folder.file_name()?.to_str()?;
        fits(&(view, folder), name).then(|| folder.to_path_buf())
    })
}

fn is_pci((view, folder): &(&dyn View, &Path), name: &str) -> bool {
    // 0000:00:1f.2
    name.len() >= 12
        && name.contains(':')
        && name.contains('.')
        && view.exists(&folder.join("class"))
        && view.exists(&folder.join("vendor"))
}

fn numbered(name: &str, stem: &str) -> bool {
    name.strip_prefix(stem).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn only_below(view: &dyn View, dir: &Path) -> Option<PathBuf> {
    let first = view.list(dir).ok()?.into_iter().next()?;
    Some(dir.join(first))
}
