//! The pieces of what inspection found, as plain data. Every value knows where it was read.

use serde::{Deserialize, Serialize};

/// A value and the place it was read from (a path, or the name of a system call).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact<T> {
    pub value: T,
    pub from: String,
}

impl<T> Fact<T> {
    pub fn new(value: T, from: impl Into<String>) -> Self {
        Self { value, from: from.into() }
    }
}

/// Something that was looked for and could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What it would have shown, in words.
    pub what: String,
    pub from: String,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A directory: a temporary file in it is measured.
    Directory,
    /// A file: its file system is what is measured.
    File,
    BlockDevice,
    /// The null target: the engine's own cost.
    Null,
    /// A modelled machine: a description, and no hardware of this computer.
    Machine,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Filesystem {
    pub mount_point: Fact<String>,
    /// Its type: `ext4`, `xfs`, `overlay`, `tmpfs`, `nfs4`, `fuse.sshfs` …
    pub fstype: Fact<String>,
    /// What is mounted: a device node, `server:/export`, `overlay`.
    pub source: Fact<String>,
    pub options: Fact<Vec<String>>,
    pub read_only: bool,
    pub size_bytes: Option<Fact<u64>>,
    /// Bytes a user without privileges can still write.
    pub available_bytes: Option<Fact<u64>>,
    pub inodes_available: Option<Fact<u64>>,
    /// For an overlay: the file system of its upper layer, where all writes go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<Box<Filesystem>>,
    /// For a FUSE file system: its limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuse: Option<FuseFacts>,
}

/// How many requests the kernel hands to the process at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FuseFacts {
    /// The limit of background requests: read-ahead, write-back, asynchronous I/O.
    pub max_background: Option<Fact<u64>>,
    /// The number of background requests from which the connection counts as congested.
    pub congestion_threshold: Option<Fact<u64>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// A disk, real or virtual.
    Disk,
    /// A partition of the device below it.
    Partition,
    /// A device-mapper device (LVM, crypt, multipath …; `role` says which).
    DeviceMapper,
    Md,
    Loop,
    Zram,
    /// A disk over the network (nbd, rbd).
    Network,
    /// An NVMe multipath head; `below` holds its paths.
    MultipathHead,
    /// A ZFS pool, which has no device number; `below` holds its members.
    Pool,
    #[default]
    Other,
}

/// Settings of a device's request queue. A partition has its disk's, with an alignment of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    pub scheduler: Option<Fact<String>>,
    /// The schedulers that could be used.
    pub schedulers: Option<Fact<Vec<String>>>,
    /// Requests the block layer may queue.
    pub nr_requests: Option<Fact<u64>>,
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
    pub hardware_queues: Option<Fact<u64>>,
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
    pub from: String,
}

/// What a control group allows of one device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimit {
    /// `major:minor` of the device.
    pub dev: String,
    /// It bounds writes; otherwise reads.
    pub writes: bool,
    /// It counts bytes; otherwise requests.
    pub bytes: bool,
    /// The most a second.
    pub per_s: u64,
}

/// A bus or link that all transfers to a device share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// What it is: `pci-32/33`.
    pub name: String,
    /// The most it carries, in bytes a second.
    pub bytes_per_s: f64,
}

/// What is known of a disk's identity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identity {
    /// Its maker's name for its kind.
    pub model: Option<Fact<String>>,
    pub serial: Option<Fact<String>>,
    pub wwn: Option<Fact<String>>,
    pub firmware: Option<Fact<String>>,
}

impl Identity {
    /// Takes what is still unknown from `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            model: self.model.or(other.model),
            serial: self.serial.or(other.serial),
            wwn: self.wwn.or(other.wwn),
            firmware: self.firmware.or(other.firmware),
        }
    }
}
