//! What inspection found: the target, the machine, the stack of devices.

use crate::facts::{Detail, NetworkPath, PowerFacts, VmFacts};
use crate::finding::Evidence;
use crate::model::{DeviceKind, Fact, Filesystem, Hop, IoLimit, Missing, Queue, TargetKind};
use serde::{Deserialize, Serialize};

/// Everything known of one target: the document `seekwell/inspect/1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    pub schema: String,
    pub target: String,
    /// The target with symbolic links resolved.
    pub path: String,
    pub kind: TargetKind,
    pub host: Host,
    /// The file system the target is on, unless it is a block device.
    pub filesystem: Option<Filesystem>,
    /// The block device it is on, with everything below it; `None` without one (tmpfs,
    /// NFS).
    pub device: Option<Device>,
    /// The network path to the server of a network file system or disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Fact<NetworkPath>>,
    /// Plain words for a target that is not an ordinary disk: a container's overlay, tmpfs, NFS,
    /// FUSE, a virtual machine's disk.
    pub notes: Vec<String>,
    /// What could not be read, and why.
    pub missing: Vec<Missing>,
}

impl Inspection {
    pub const SCHEMA: &str = "seekwell/inspect/1";

    /// Whether its device is known from printed text alone, which shows controllers and no disks.
    pub fn is_from_text(&self) -> bool {
        let printed = |d: &Device| d.dev.is_empty() && d.kind != DeviceKind::Pool;
        self.device.as_ref().is_some_and(printed)
    }

    /// One of which nothing is known but its path and what it is.
    pub fn new(path: &str, kind: TargetKind) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            target: path.to_owned(),
            path: path.to_owned(),
            kind,
            host: Host::default(),
            filesystem: None,
            device: None,
            network: None,
            notes: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// The physical (or deepest known) disks under the target, left to right.
    pub fn disks(&self) -> Vec<&Device> {
        fn walk<'a>(device: &'a Device, out: &mut Vec<&'a Device>) {
            if device.below.is_empty() {
                out.push(device);
            }
            device.below.iter().for_each(|d| walk(d, out));
        }
        let mut out = Vec::new();
        self.device.iter().for_each(|d| walk(d, &mut out));
        out
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// The name it calls itself by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Fact<String>>,
    /// `uname -r`.
    pub kernel: Option<Fact<String>>,
    pub cpu_model: Option<Fact<String>>,
    pub cpus: Option<Fact<u64>>,
    /// The CPUs this process may run on, as a list such as `0-3,8`; absent if it may use all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_cpus: Option<Fact<String>>,
    /// Defences against processor vulnerabilities that cost time at each entry into the kernel:
    /// `meltdown: PTI`. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mitigations: Vec<Fact<String>>,
    pub memory_bytes: Option<Fact<u64>>,
    /// Memory available for new work, in bytes.
    pub memory_available_bytes: Option<Fact<u64>>,
    /// The hypervisor, where the machine is virtual: `kvm`, `vmware`, `firecracker` …
    pub virtualization: Option<Fact<String>>,
    /// The container runtime, where the program runs in a container: `docker`, `podman`, `lxc` …
    pub container: Option<Fact<String>>,
    /// What the control groups of this process let it do to each device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub io_limits: Vec<Fact<IoLimit>>,
    /// The kernel's command line, and how it writes back dirty memory.
    #[serde(default, skip_serializing_if = "VmFacts::is_empty")]
    pub vm: VmFacts,
    /// Power management of its processors.
    #[serde(default, skip_serializing_if = "PowerFacts::is_empty")]
    pub power: PowerFacts,
}

impl Inspection {
    /// The one disk under the target, reached through partitions and mapped devices only. `None`
    /// if there are several, or if a loop device, memory, a pool or a network lies between.
    pub fn disk(&self) -> Option<&Device> {
        use DeviceKind as K;
        let mut at = self.device.as_ref()?;
        loop {
            match (at.kind, at.below.as_slice()) {
                (K::MultipathHead, _) | (K::Disk, []) => return Some(at),
                (K::Partition | K::DeviceMapper | K::Md | K::Disk, [below]) => at = below,
                _ => return None,
            }
        }
    }

    /// The hypervisor this runs under; what computes a model says nothing of its disk.
    pub fn hypervisor(&self) -> Option<&Fact<String>> {
        Some(&self.host).filter(|_| self.kind != TargetKind::Machine)?.virtualization.as_ref()
    }

    /// How it is known that a disk is a virtual machine's, where it is: its latencies and its cache
    /// are the host's affair.
    pub fn virtual_evidence(&self, disk: &Device) -> Option<Evidence> {
        if let Some(hypervisor) = self.hypervisor() {
            let seen = format!("a virtual machine under {}", hypervisor.value);
            return Some(Evidence { seen, from: hypervisor.from.clone() });
        }
        let is = |fact: &Option<Fact<String>>, names: &[&str]| {
            let f = fact.as_ref()?;
            names.iter().any(|n| f.value.to_lowercase().contains(n)).then(|| f.clone())
        };
        let known = is(&disk.transport, &["virtio"])
            .or_else(|| is(&disk.driver, &["virtio", "xen", "vmw", "hv_storvsc", "storvsc"]))
            .or_else(|| is(&disk.model, &["qemu", "vbox", "vmware", "virtual disk"]))?;
        let seen = format!("a virtual disk ({})", known.value);
        Some(Evidence { seen, from: known.from })
    }
}

impl Host {
    /// Its name, or `unknown`.
    pub fn label(&self) -> &str {
        self.name.as_ref().map_or("unknown", |name| &name.value)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Kernel name: `sda`, `nvme0n1p2`, `dm-3`.
    pub name: String,
    /// `major:minor`; empty for a path behind an NVMe multipath head and for a ZFS pool, which have
    /// no number.
    pub dev: String,
    pub kind: DeviceKind,
    /// What it is for: `lvm`, `crypt`, `raid1`, a partition's number, a loop device's backing file.
    pub role: Option<Fact<String>>,
    pub size_bytes: Option<Fact<u64>>,
    /// Model as the device names itself.
    pub model: Option<Fact<String>>,
    pub serial: Option<Fact<String>>,
    pub wwn: Option<Fact<String>>,
    pub firmware: Option<Fact<String>>,
    /// How it speaks: `sata`, `nvme`, `virtio-blk`, `usb`, `sas`, `scsi`, `mmc`, `memory` …
    pub transport: Option<Fact<String>>,
    /// The driver of its controller: `ahci`, `ata_piix`, `nvme`, `virtio_blk` …
    pub driver: Option<Fact<String>>,
    /// The PCI function of its controller, `0000:00:1f.2`.
    pub pci: Option<Fact<String>>,
    pub queue: Queue,
    /// From the CPU to the device, outermost first.
    pub attachment: Vec<Hop>,
    /// What it stands on: a partition's disk, a RAID's members, the disk under a loop device's
    /// file.
    pub below: Vec<Device>,
    /// What is known beyond that, by the part of the kernel that shows it.
    #[serde(default, skip_serializing_if = "Detail::is_empty")]
    pub detail: Box<Detail>,
}

impl Device {
    /// One of which nothing is known but its name, its number and what it is.
    pub fn new(name: &str, dev: &str, kind: DeviceKind) -> Self {
        Self { name: name.to_owned(), dev: dev.to_owned(), kind, ..Self::default() }
    }
}
