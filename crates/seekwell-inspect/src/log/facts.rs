//! What the kernel said about the hardware when it found it.

use super::matcher::{Holes, PatternSet};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// What the log says of the machine in its latest boot, besides what went wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFacts {
    /// The kernel's version, from its first line.
    pub kernel: Option<String>,
    /// The hypervisor, when there is one: `KVM`, `QEMU`.
    pub virtual_machine: Option<String>,
    pub cpus: Option<u32>,
    /// AHCI controllers as they announced themselves.
    pub ahci: Vec<AhciBanner>,
    pub ports: Vec<AtaPort>,
    pub devices: Vec<AtaDevice>,
    /// Hardware queues of NVMe controllers and virtio disks.
    pub queues: Vec<Queues>,
    /// Settings forced with `libata.force=`, each as printed with its port.
    pub forced: Vec<String>,
}

/// `AHCI 0001.0301 32 slots 6 ports 6 Gbps 0x3f impl SATA mode`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AhciBanner {
    pub address: String,
    /// Version of the standard as printed: `0001.0301`.
    pub version: String,
    pub slots: u32,
    pub ports: u32,
    /// Fastest link it can do: `6 Gbps`.
    pub speed: String,
    /// Mode as printed: `SATA`, `RAID`.
    pub mode: String,
    /// The capabilities it listed: `64bit`, `ncq`, `sntf`, ….
    pub flags: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtaPort {
    /// The kernel's name: `ata1`.
    pub name: String,
    /// The SCSI host made for it, when the log shows it: `0`.
    pub host: Option<u32>,
    /// The driver: `ahci`, `ata_piix`.
    pub driver: Option<String>,
    /// `SATA` or `PATA`.
    pub kind: Option<String>,
    /// Fastest transfer mode it can do: `UDMA/133`. On SATA it says nothing about the link.
    pub max_mode: Option<String>,
    /// Where its registers are and which interrupt it has, as printed.
    pub resources: Option<String>,
    pub irq: Option<u32>,
    /// The latest word on the link.
    pub link: Option<Link>,
    /// The speed the kernel limited the link to after errors: `1.5 Gbps`.
    pub limited_to: Option<String>,
}

/// `SATA link up 3.0 Gbps (SStatus 123 SControl 300)`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Up with this speed, as printed (`3.0 Gbps`); `None` when it is down.
    pub speed: Option<String>,
    /// The status register, hexadecimal as printed.
    pub sstatus: String,
    /// The control register, hexadecimal as printed; a middle digit of 1 or 2 is a speed limit.
    pub scontrol: String,
}

impl Link {
    /// The generation the control register allows at most, when it sets a limit.
    pub fn limit(&self) -> Option<u8> {
        let value = u32::from_str_radix(&self.scontrol, 16).ok()?;
        match (value >> 4) & 0xf {
            0 => None,
            generation => Some(generation as u8),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtaDevice {
    /// The kernel's name: `ata1.00`.
    pub name: String,
    /// The disk it is, when the log shows it: `sda`.
    pub disk: Option<String>,
    /// Its standard as printed: `ATA-7`, `ATAPI`, `CFA`.
    pub standard: Option<String>,
    pub model: Option<String>,
    /// Fastest transfer mode it can do.
    pub max_mode: Option<String>,
    pub sectors: Option<u64>,
    pub ncq: Option<Ncq>,
    /// The latest transfer mode it was configured for: `UDMA/100`.
    pub configured: Option<String>,
}

/// Native command queueing, as the probe line has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ncq {
    /// The device has it; the kernel was configured, or knows, not to use it.
    NotUsed,
    /// In use. `host` is given where it is below what the device could do.
    Depth {
        /// Commands the controller takes at once.
        host: Option<u32>,
        /// Commands the device takes at once.
        device: u32,
    },
    /// The line names none.
    None,
}

/// `2/0/0 default/read/poll queues`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queues {
    /// `nvme0`, `virtio0`.
    pub device: String,
    /// For everything that has no queue of its own.
    pub default: u32,
    pub read: u32,
    /// Without interrupts.
    pub poll: u32,
}

/// What a line of the probing of hardware says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    Banner,
    Hypervisor,
    Board,
    Cpus,
    AhciBanner,
    AhciVersion,
    AhciPorts,
    AhciFlags,
    ScsiHost,
    Port,
    DummyPort,
    LinkUp,
    LinkDown,
    Identified,
    Sectors,
    Configured,
    Forced,
    Limited,
    EhComplete,
    Disk,
    NvmeFunction,
    NvmeQueues,
    VirtioQueues,
    UsbFound,
    Card,
    LinkRecovered,
}

/// The lines, in the order they are tried.
const PROBES: &[(Probe, &str)] = &[
    (Probe::Banner, "Linux version <name> ("),
    (Probe::Hypervisor, "Hypervisor detected: <word>"),
    (Probe::Board, "DMI: <*>, BIOS"),
    (Probe::Cpus, "smp: Brought up <num> node<*>, <num> CPU"),
    (
        Probe::AhciBanner,
        "<word> <pci>: AHCI <num> <num> slots <num> ports <*> Gbps <hex> impl <word> mode",
    ),
    (
        Probe::AhciVersion,
        "<word> <pci>: AHCI vers <num>, <num> command slots, <*> Gbps, <word> mode",
    ),
    (Probe::AhciPorts, "<word> <pci>: <num>/<num> ports implemented"),
    (Probe::AhciFlags, "<word> <pci>: flags: <*>"),
    (Probe::ScsiHost, "scsi <host>: <*>"),
    (Probe::Port, "<ata>: SATA max <word> <*>"),
    (Probe::Port, "<ata>: PATA max <word> <*>"),
    (Probe::DummyPort, "<ata>: DUMMY"),
    (Probe::LinkUp, "<ata>: SATA link up <num> Gbps (SStatus <hex> SControl <hex>)"),
    (Probe::LinkDown, "<ata>: SATA link down (SStatus <hex> SControl <hex>)"),
    (Probe::Identified, "<ata>: ATA-<word>: <*>, max <word>"),
    (Probe::Identified, "<ata>: CFA: <*>, max <word>"),
    (Probe::Identified, "<ata>: ATAPI: <*>, max <word>"),
    (Probe::Sectors, "<ata>: <num> sectors, multi <*>: <*>"),
    (Probe::Configured, "<ata>: configured for <word>"),
    (Probe::Forced, "<ata>: FORCE: <*>"),
    (Probe::Limited, "<ata>: limiting SATA link speed to <num> Gbps"),
    (Probe::EhComplete, "<ata>: EH complete"),
    (Probe::Disk, "sd <hctl>: [<dev>] Attached SCSI"),
    (Probe::Disk, "sd <hctl>: [<dev>] <num> <num>-byte logical blocks"),
    (Probe::NvmeFunction, "nvme <nvme>: pci function <pci>"),
    (Probe::NvmeQueues, "nvme <nvme>: <num>/<num>/<num> default/read/poll queues"),
    (Probe::VirtioQueues, "virtio_blk <word>: <num>/<num>/<num> default/read/poll queues"),
    (Probe::UsbFound, "usb <usb>: New USB device found"),
    (Probe::Card, "<dev>: <mmc>:<word> "),
    (Probe::LinkRecovered, "<word> <pci>: AER: device recovery successful"),
    (Probe::LinkRecovered, "<word> <pci>: AER: Device recovery successful"),
];

pub(crate) fn set() -> &'static PatternSet {
    static SET: OnceLock<PatternSet> = OnceLock::new();
    SET.get_or_init(|| PatternSet::new(PROBES.iter().map(|(_, form)| *form)))
}

/// What a message says about hardware being found.
pub(crate) fn look_up(message: &str) -> Option<(Probe, Holes<'_>)> {
    let (i, holes) = set().first(message)?;
    Some((PROBES[i].0, holes))
}
