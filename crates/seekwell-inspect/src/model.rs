//! What inspection found, as plain data. Every value knows where it was read.

use crate::facts::{Detail, VmFacts};
use serde::{Deserialize, Serialize};

/// A value and the place it was read from (a path, or the name of a system call).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact<T> {
    /// The value.
    pub value: T,
    /// Where it was read.
    pub from: String,
}

impl<T> Fact<T> {
    /// A value with its origin.
    pub fn new(value: T, from: impl Into<String>) -> Self {
        Self { value, from: from.into() }
    }
}

/// Something that was looked for and could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What it would have told, in words.
    pub what: String,
    /// Where it was looked for.
    pub from: String,
    /// Why it could not be read.
    pub reason: String,
}

/// What kind of thing a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A directory: a temporary file in it is measured.
    Directory,
    /// A file: its file system is what is measured.
    File,
    /// A block device.
    BlockDevice,
    /// The null target: the engine's own cost.
    Null,
    /// A modelled machine: a description, and no hardware of this computer.
    Machine,
}

/// Everything known of one target: the document `seekwell/inspect/1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// `seekwell/inspect/1`.
    pub schema: String,
    /// The target as it was given.
    pub target: String,
    /// The target with symbolic links resolved.
    pub path: String,
    /// What it is.
    pub kind: TargetKind,
    /// The machine.
    pub host: Host,
    /// The file system the target is on, unless it is a block device.
    pub filesystem: Option<Filesystem>,
    /// The block device it is on, with everything below it; `None` where there is none (tmpfs,
    /// NFS).
    pub device: Option<Device>,
    /// Plain words for a target that is not an ordinary disk: a container's overlay, tmpfs, NFS,
    /// FUSE, a virtual machine's disk.
    pub notes: Vec<String>,
    /// What could not be read, and why.
    pub missing: Vec<Missing>,
}

impl Inspection {
    /// The schema's name.
    pub const SCHEMA: &str = "seekwell/inspect/1";

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

/// The machine and its kernel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// `uname -r`.
    pub kernel: Option<Fact<String>>,
    /// CPU model name.
    pub cpu_model: Option<Fact<String>>,
    /// CPUs online.
    pub cpus: Option<Fact<u64>>,
    /// Memory in bytes.
    pub memory_bytes: Option<Fact<u64>>,
    /// Memory available for new work, in bytes.
    pub memory_available_bytes: Option<Fact<u64>>,
    /// The hypervisor, where the machine is virtual: `kvm`, `vmware`, `firecracker` …
    pub virtualization: Option<Fact<String>>,
    /// The container runtime, where the program runs in a container: `docker`, `podman`, `lxc` …
    pub container: Option<Fact<String>>,
    /// What it was told at boot, and how it writes back dirty memory.
    #[serde(default, skip_serializing_if = "VmFacts::is_empty")]
    pub vm: VmFacts,
}

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Filesystem {
    /// Where it is mounted.
    pub mount_point: Fact<String>,
    /// Its type: `ext4`, `xfs`, `overlay`, `tmpfs`, `nfs4`, `fuse.sshfs` …
    pub fstype: Fact<String>,
    /// What is mounted: a device node, `server:/export`, `overlay`.
    pub source: Fact<String>,
    /// Mount and superblock options.
    pub options: Fact<Vec<String>>,
    /// Mounted read-only.
    pub read_only: bool,
    /// Size in bytes.
    pub size_bytes: Option<Fact<u64>>,
    /// Bytes a user without privileges can still write.
    pub available_bytes: Option<Fact<u64>>,
    /// Inodes left.
    pub inodes_available: Option<Fact<u64>>,
}

/// What kind of block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// A disk, real or virtual.
    Disk,
    /// A partition of the device below it.
    Partition,
    /// A device-mapper device (LVM, crypt, multipath …; `role` says which).
    DeviceMapper,
    /// A software RAID.
    Md,
    /// A loop device over a file.
    Loop,
    /// Compressed memory.
    Zram,
    /// A disk over the network (nbd, rbd).
    Network,
    /// An NVMe multipath head; `below` holds its paths.
    MultipathHead,
    /// Anything else.
    Other,
}

/// A block device with all it stands on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Kernel name: `sda`, `nvme0n1p2`, `dm-3`.
    pub name: String,
    /// `major:minor`; empty for a path behind an NVMe multipath head, which has no number.
    pub dev: String,
    /// What it is.
    pub kind: DeviceKind,
    /// What it is for: `lvm`, `crypt`, `raid1`, a partition's number, a loop device's backing file.
    pub role: Option<Fact<String>>,
    /// Size in bytes.
    pub size_bytes: Option<Fact<u64>>,
    /// Model as the device names itself.
    pub model: Option<Fact<String>>,
    /// Serial number.
    pub serial: Option<Fact<String>>,
    /// World-wide name.
    pub wwn: Option<Fact<String>>,
    /// Firmware revision.
    pub firmware: Option<Fact<String>>,
    /// How it speaks: `sata`, `nvme`, `virtio-blk`, `usb`, `sas`, `scsi`, `mmc`, `memory` …
    pub transport: Option<Fact<String>>,
    /// The driver of its controller: `ahci`, `ata_piix`, `nvme`, `virtio_blk` …
    pub driver: Option<Fact<String>>,
    /// The PCI function of its controller, `0000:00:1f.2`.
    pub pci: Option<Fact<String>>,
    /// Request queue settings.
    pub queue: Queue,
    /// From the CPU to the device, outermost first.
    pub attachment: Vec<Hop>,
    /// What it stands on: a partition's disk, a RAID's members, the disk under a loop device's
    /// file.
    pub below: Vec<Device>,
    /// What is known beyond that, by the part of the kernel that tells it.
    #[serde(default, skip_serializing_if = "Detail::is_empty")]
    pub detail: Box<Detail>,
}

impl Device {
    /// One of which nothing is known but its name, its number and what it is.
    pub fn new(name: &str, dev: &str, kind: DeviceKind) -> Self {
        Self {
            name: name.to_owned(),
            dev: dev.to_owned(),
            kind,
            role: None,
            size_bytes: None,
            model: None,
            serial: None,
            wwn: None,
            firmware: None,
            transport: None,
            driver: None,
            pci: None,
            queue: Queue::default(),
            attachment: Vec::new(),
            below: Vec::new(),
            detail: Box::default(),
        }
    }
}

/// Settings of a device's request queue. A partition has its disk's, with an alignment of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// The scheduler in use.
    pub scheduler: Option<Fact<String>>,
    /// The schedulers that could be used.
    pub schedulers: Option<Fact<Vec<String>>>,
    /// Requests the block layer may queue.
    pub nr_requests: Option<Fact<u64>>,
    /// Read-ahead in bytes.
    pub read_ahead_bytes: Option<Fact<u64>>,
    /// Whether the kernel believes it rotates.
    pub rotational: Option<Fact<bool>>,
    /// The kernel's belief about the write cache: `write back` or `write through`.
    pub write_cache: Option<Fact<String>>,
    /// Forced unit access is used.
    pub fua: Option<Fact<bool>>,
    /// Smallest addressable unit in bytes.
    pub logical_block_bytes: Option<Fact<u64>>,
    /// Smallest unit written without a read, in bytes.
    pub physical_block_bytes: Option<Fact<u64>>,
    /// Bytes by which the device's start is off its physical blocks.
    pub alignment_offset_bytes: Option<Fact<u64>>,
    /// Commands the device is said to take at once: of SCSI and ATA the device's own depth, else
    /// the tags of one hardware queue.
    pub queue_depth: Option<Fact<u64>>,
    /// Hardware queues.
    pub hardware_queues: Option<Fact<u64>>,
    /// Largest request in bytes.
    pub max_request_bytes: Option<Fact<u64>>,
    /// Largest discard in bytes; 0 means none.
    pub discard_max_bytes: Option<Fact<u64>>,
    /// Whether the device counts its I/O for `/sys/block/*/stat`.
    pub iostats: Option<Fact<bool>>,
}

/// One station between the CPU and a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// `cpu`, `bus`, `pci-bridge`, `controller`, `port`, `hub`, `link`, `device` …
    pub kind: String,
    /// A short name: `0000:00:1f.2`, `ata1`, `usb 2-1`.
    pub name: String,
    /// What it is, in words: class, driver, speed.
    pub detail: String,
    /// Where it was read.
    pub from: String,
}
