//! Healthy machines and what is changed in them to see a rule fire, or stay quiet although it is
//! near.

use crate::{Observed, findings};
use seekwell_inspect::facts::{
    AerCounts, AhciFacts, AtaFacts, CryptTarget, Detail, IdentifyData, IoCounters, MapperFacts,
    MapperTarget, MdFacts, MmcFacts, NvmeFacts, PciFunction, PcieLink, QueueFacts, SasPhy,
    ScsiFacts, UsbFacts, VmFacts, ZfsFacts,
};
use seekwell_inspect::health::Health;
use seekwell_inspect::log::LogReport;
use seekwell_inspect::{
    Device, DeviceKind, Fact, Filesystem, Finding, Host, Inspection, Queue, Severity, TargetKind,
};

pub(crate) fn fact<T>(value: T, from: &str) -> Option<Fact<T>> {
    Some(Fact::new(value, from))
}

pub(super) fn word(value: &str, from: &str) -> Option<Fact<String>> {
    fact(value.to_owned(), from)
}

/// A machine with one target, and the same some time before where growth matters.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub inspection: Inspection,
    pub earlier: Option<Inspection>,
    pub log: Option<LogReport>,
}

impl Machine {
    fn of(device: Device) -> Self {
        Self { inspection: inspection(device), earlier: None, log: None }
    }

    pub(crate) fn disk(&mut self) -> &mut Device {
        self.inspection.device.as_mut().unwrap()
    }

    pub(crate) fn detail(&mut self) -> &mut Detail {
        &mut self.disk().detail
    }

    pub(crate) fn ata(&mut self) -> &mut AtaFacts {
        self.detail().ata.get_or_insert_default()
    }

    pub(crate) fn id(&mut self) -> &mut IdentifyData {
        &mut self.detail().identify.as_mut().unwrap().value
    }

    pub(crate) fn scsi(&mut self) -> &mut ScsiFacts {
        self.detail().scsi.get_or_insert_default()
    }

    pub(crate) fn controller(&mut self) -> &mut PciFunction {
        self.detail().pci.last_mut().unwrap()
    }

    pub(crate) fn nvme(&mut self) -> &mut NvmeFacts {
        self.detail().nvme.get_or_insert_default()
    }

    pub(crate) fn usb(&mut self) -> &mut UsbFacts {
        self.detail().usb.get_or_insert_default()
    }

    pub(crate) fn mmc(&mut self) -> &mut MmcFacts {
        self.detail().mmc.get_or_insert_default()
    }

    pub(crate) fn health(&mut self) -> &mut Health {
        self.detail().health.get_or_insert_default()
    }

    pub(crate) fn md(&mut self) -> &mut MdFacts {
        self.detail().md.get_or_insert_default()
    }

    /// Makes the device of this target alone.
    pub(crate) fn target(&mut self, target: MapperTarget) {
        self.detail().mapper.as_mut().unwrap().targets = vec![Fact::new(target, "status")];
    }

    pub(crate) fn crypt(&mut self) -> &mut CryptTarget {
        match &mut self.detail().mapper.as_mut().unwrap().targets[0].value {
            MapperTarget::Crypt(crypt) => crypt,
            other => panic!("{other:?} encrypts nothing"),
        }
    }

    pub(crate) fn phy(&mut self) -> &mut SasPhy {
        self.detail().sas.last_mut().unwrap()
    }

    pub(crate) fn fs(&mut self) -> &mut Filesystem {
        self.inspection.filesystem.as_mut().unwrap()
    }

    pub(crate) fn option(&mut self, option: &str) {
        self.fs().options.value.push(option.to_owned());
    }

    pub(crate) fn virtualise(&mut self) {
        self.inspection.host.virtualization = word("kvm", "dmi");
    }

    pub(crate) fn command_line(&mut self, line: &str) {
        self.inspection.host.vm.command_line = word(line, "/proc/cmdline");
    }

    /// Takes the machine as it is for the earlier one.
    pub(crate) fn remember(&mut self) {
        self.earlier = Some(self.inspection.clone());
    }

    pub(crate) fn parallel(&mut self, udma: Option<u8>, cable_80: bool) {
        self.ata().link_speed = None;
        self.ata().ahci = None;
        self.disk().transport = word("pata", "id");
        let id = self.id();
        (id.sata, id.ncq, id.ncq_depth) = (false, false, 0);
        (id.link_max, id.link_now) = (None, None);
        id.udma.0 = udma;
        (id.cable_80, id.parallel_reset_result) = (Some(cable_80), true);
    }

    fn findings(&self) -> Vec<Finding> {
        findings(&Observed {
            log: self.log.as_ref(),
            earlier: self.earlier.as_ref(),
            ..Observed::new(&self.inspection)
        })
    }
}

type Change = Box<dyn Fn(&mut Machine)>;

/// One row: what is changed, and whether the rule fires then.
pub(crate) struct Case {
    pub id: &'static str,
    base: fn() -> Machine,
    changes: Vec<Change>,
    fires: bool,
    severity: Option<Severity>,
}

pub(crate) fn fires(
    id: &'static str,
    base: fn() -> Machine,
    change: impl Fn(&mut Machine) + 'static,
) -> Case {
    Case { id, base, changes: vec![Box::new(change)], fires: true, severity: None }
}

pub(crate) fn quiet(
    id: &'static str,
    base: fn() -> Machine,
    change: impl Fn(&mut Machine) + 'static,
) -> Case {
    Case { fires: false, ..fires(id, base, change) }
}

impl Case {
    pub(crate) fn and(mut self, change: impl Fn(&mut Machine) + 'static) -> Self {
        self.changes.push(Box::new(change));
        self
    }

    pub(crate) fn error(self) -> Self {
        Self { severity: Some(Severity::Error), ..self }
    }

    pub(crate) fn warning(self) -> Self {
        Self { severity: Some(Severity::Warning), ..self }
    }

    pub(crate) fn info(self) -> Self {
        Self { severity: Some(Severity::Info), ..self }
    }

    /// Whether the row's rule is expected to fire.
    pub(crate) fn expects_finding(&self) -> bool {
        self.fires
    }

    /// Runs all rules before and after the change.
    pub(crate) fn run(&self) {
        let mut machine = (self.base)();
        let before = machine.findings();
        assert!(
            before.iter().all(|f| f.id != self.id),
            "{} fires on a healthy machine: {before:#?}",
            self.id
        );
        self.changes.iter().for_each(|change| change(&mut machine));
        let after = machine.findings();
        let mine: Vec<_> = after.iter().filter(|f| f.id == self.id).collect();
        if !self.fires {
            assert!(mine.is_empty(), "{} should be quiet: {mine:#?}", self.id);
            return;
        }
        assert_eq!(mine.len(), 1, "{} should fire once: {after:#?}", self.id);
        let finding = mine[0];
        assert!(self.severity.is_some(), "{}: a row that fires names its severity", self.id);
        assert_eq!(Some(finding.severity), self.severity, "{finding:#?}");
        assert!(!finding.evidence.is_empty(), "{finding:#?}");
        for text in [&finding.title, &finding.why, &finding.remedy] {
            assert!(!text.is_empty() && !text.contains("  "), "{finding:#?}");
        }
        for evidence in &finding.evidence {
            assert!(!evidence.seen.is_empty() && !evidence.from.is_empty(), "{finding:#?}");
        }
    }
}

pub(super) fn inspection(device: Device) -> Inspection {
    let from = "/proc/self/mountinfo";
    let options = ["rw", "relatime"].map(String::from).to_vec();
    Inspection {
        host: Host {
            cpus: fact(8, "/sys/devices/system/cpu/online"),
            memory_bytes: fact(16 << 30, "/proc/meminfo"),
            vm: VmFacts {
                command_line: word("BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet", "/proc/cmdline"),
                dirty_ratio: fact(20, "dirty_ratio"),
                dirty_bytes: fact(0, "dirty_bytes"),
                dirty_background_ratio: fact(10, "dirty_background_ratio"),
                dirty_background_bytes: fact(0, "dirty_background_bytes"),
                dirty_expire_centisecs: fact(3000, "dirty_expire_centisecs"),
                dirty_writeback_centisecs: fact(500, "dirty_writeback_centisecs"),
                laptop_mode: fact(0, "laptop_mode"),
            },
            ..Host::default()
        },
        filesystem: Some(Filesystem {
            mount_point: Fact::new("/srv".into(), from),
            fstype: Fact::new("ext4".into(), from),
            source: Fact::new("/dev/sda".into(), from),
            options: Fact::new(options, from),
            read_only: false,
            size_bytes: fact(1 << 40, "statvfs"),
            available_bytes: fact(1 << 39, "statvfs"),
            inodes_available: fact(1 << 20, "statvfs"),
            below: None,
            fuse: None,
        }),
        device: Some(device),
        ..Inspection::new("/srv", TargetKind::Directory)
    }
}

pub(super) fn device(name: &str, kind: DeviceKind) -> Device {
    let q = |file: &str| format!("/sys/block/{name}/queue/{file}");
    Device {
        size_bytes: fact(1 << 40, "size"),
        model: word("DISK 1", "model"),
        serial: word("S1", "serial"),
        queue: Queue {
            scheduler: word("mq-deadline", &q("scheduler")),
            nr_requests: fact(64, &q("nr_requests")),
            read_ahead_bytes: fact(128 << 10, &q("read_ahead_kb")),
            rotational: fact(false, &q("rotational")),
            write_cache: word("write back", &q("write_cache")),
            logical_block_bytes: fact(512, &q("logical_block_size")),
            physical_block_bytes: fact(4096, &q("physical_block_size")),
            queue_depth: fact(32, "queue_depth"),
            hardware_queues: fact(1, "mq"),
            max_request_bytes: fact(1 << 20, &q("max_sectors_kb")),
            discard_max_bytes: fact(1 << 31, &q("discard_max_bytes")),
            ..Queue::default()
        },
        detail: Box::new(Detail {
            read_only: fact(false, "ro"),
            queue: QueueFacts {
                max_hardware_request_bytes: fact(32 << 20, &q("max_hw_sectors_kb")),
                minimum_io_bytes: fact(4096, &q("minimum_io_size")),
                optimal_io_bytes: fact(0, &q("optimal_io_size")),
                discard_max_hardware_bytes: fact(1 << 31, &q("discard_max_hw_bytes")),
                nomerges: fact(0, &q("nomerges")),
                rq_affinity: fact(1, &q("rq_affinity")),
                wbt_lat_us: fact(75000, &q("wbt_lat_usec")),
                io_timeout_ms: fact(30000, &q("io_timeout")),
                zoned: word("none", &q("zoned")),
                zones: None,
            },
            ..Detail::default()
        }),
        ..Device::new(name, "8:0", kind)
    }
}

fn function(address: &str, class: u64, driver: &str, interrupt: &str) -> PciFunction {
    PciFunction {
        address: address.into(),
        class: fact(class, "class"),
        id: word("8086:a352", "vendor"),
        subsystem: word("15d9:1c48", "subsystem_vendor"),
        driver: word(driver, "driver"),
        interrupt: word(interrupt, "msi_irqs"),
        vectors: 1,
        power_control: word("on", "power/control"),
        aer: Some(AerCounts {
            correctable: Fact::new(0, "aer_dev_correctable"),
            nonfatal: Fact::new(0, "aer_dev_nonfatal"),
            fatal: Fact::new(0, "aer_dev_fatal"),
        }),
        remapped_nvme: fact(0, "remapped_nvme"),
        ..PciFunction::default()
    }
}

fn scsi(address: &str) -> ScsiFacts {
    ScsiFacts {
        address: address.into(),
        vendor: word("ATA", "vendor"),
        state: word("running", "state"),
        queue_type: word("simple", "queue_type"),
        timeout_s: fact(30, "timeout"),
        eh_timeout_s: fact(10, "eh_timeout"),
        counters: Some(IoCounters {
            requests: Fact::new(1000, "iorequest_cnt"),
            done: Fact::new(1000, "iodone_cnt"),
            errors: Fact::new(1, "ioerr_cnt"),
            timeouts: fact(0, "iotmo_cnt"),
        }),
        cache_type: word("write back", "cache_type"),
        provisioning_mode: word("unmap", "provisioning_mode"),
        ..ScsiFacts::default()
    }
}

fn identify(rpm: u16) -> IdentifyData {
    IdentifyData {
        sata: true,
        link_max: Some("6.0 Gbps".into()),
        link_now: Some("6.0 Gbps".into()),
        ncq: true,
        ncq_depth: 32,
        dma: true,
        mwdma: (Some(2), None),
        udma: (Some(6), Some(6)),
        pio: Some(4),
        write_cache: (true, true),
        look_ahead: (true, true),
        smart: (true, true),
        apm: (true, true),
        apm_level: Some(254),
        lba48: true,
        flush: true,
        fua: true,
        rotation_rpm: Some(rpm),
        trim: rpm == 1,
        logical_bytes: 512,
        physical_bytes: 4096,
        checksum: Some(true),
        ..IdentifyData::default()
    }
}

fn sata(rpm: u16) -> Machine {
    let mut disk = device("sda", DeviceKind::Disk);
    disk.transport = word("sata", "sata_spd");
    disk.driver = word("ahci", "driver");
    disk.queue.rotational = fact(rpm != 1, "/sys/block/sda/queue/rotational");
    let detail = &mut disk.detail;
    detail.pci = vec![function("0000:00:17.0", 0x010601, "ahci", "msi")];
    detail.identify = fact(identify(rpm), "dev1.0/id");
    detail.scsi = Some(scsi("0:0:0:0"));
    detail.ata = Some(AtaFacts {
        port: "ata1".into(),
        link_speed: word("6.0 Gbps", "sata_spd"),
        class: word("ata", "class"),
        transfer_mode: word("XFER_UDMA_6", "xfer_mode"),
        dma_mode: word("XFER_UDMA_6", "dma_mode"),
        speed_downs: fact(0, "spdn_cnt"),
        errors: fact(Vec::new(), "ering"),
        can_queue: fact(32, "can_queue"),
        lpm_policy: word("med_power_with_dipm", "link_power_management_policy"),
        ahci: Some(AhciFacts {
            capabilities: fact(0xe734_ff05, "ahci_host_caps"),
            version: word("1.3.1", "ahci_host_version"),
        }),
        ..AtaFacts::default()
    });
    if rpm != 1 {
        disk.queue.discard_max_bytes = fact(0, "discard_max_bytes");
        disk.detail.queue.discard_max_hardware_bytes = fact(0, "discard_max_hw_bytes");
        disk.detail.scsi.as_mut().unwrap().provisioning_mode = word("full", "provisioning_mode");
    }
    Machine::of(disk)
}

pub(crate) fn sata_hdd() -> Machine {
    sata(7200)
}

pub(crate) fn sata_ssd() -> Machine {
    sata(1)
}

/// An NVMe drive below a root port.
pub(crate) fn nvme() -> Machine {
    let mut disk = device("nvme0n1", DeviceKind::Disk);
    disk.transport = word("nvme", "transport");
    disk.driver = word("nvme", "driver");
    disk.queue.scheduler = word("none", "scheduler");
    disk.queue.queue_depth = fact(1023, "nr_tags");
    disk.queue.hardware_queues = fact(8, "mq");
    let link = |gts| fact(PcieLink { gts, width: 4 }, "link_speed");
    let mut port = function("0000:00:1b.0", 0x060400, "pcieport", "msi");
    (port.link, port.link_max) = (link(8.0), link(16.0));
    let mut controller = function("0000:01:00.0", 0x010802, "nvme", "msix");
    (controller.link, controller.link_max) = (link(8.0), link(8.0));
    controller.vectors = 9;
    disk.detail.pci = vec![port, controller];
    disk.detail.nvme = Some(NvmeFacts {
        controller: "nvme0".into(),
        transport: word("pcie", "transport"),
        state: word("live", "state"),
        io_queues: fact(8, "queue_count"),
        queue_entries: fact(1024, "sqsize"),
        io_policy: word("numa", "iopolicy"),
        controllers: fact(1, "nvme-subsys0"),
        temperature_mc: fact(45000, "temp1_input"),
        temperature_max_mc: fact(80000, "temp1_max"),
        temperature_critical_mc: fact(85000, "temp1_crit"),
        ..NvmeFacts::default()
    });
    Machine::of(disk)
}

/// A solid-state drive in a USB 3 case that speaks UAS.
pub(crate) fn usb() -> Machine {
    let mut disk = device("sda", DeviceKind::Disk);
    disk.transport = word("usb", "usb2");
    disk.driver = word("uas", "driver");
    disk.detail.pci = vec![function("0000:00:14.0", 0x0c0330, "xhci_hcd", "msi")];
    disk.detail.scsi = Some(ScsiFacts { vendor: word("Maker", "vendor"), ..scsi("0:0:0:0") });
    disk.detail.usb = Some(UsbFacts {
        device: "2-1".into(),
        id: word("152d:0578", "idVendor"),
        speed_mbps: fact(5000, "speed"),
        version: word("3.10", "version"),
        max_power_ma: fact(896, "bMaxPower"),
        driver: word("uas", "driver"),
        offers_uas: fact(true, "descriptors"),
        power_control: word("on", "power/control"),
        hubs: vec![("usb2".into(), 5000)],
        ..UsbFacts::default()
    });
    Machine::of(disk)
}

pub(crate) fn emmc() -> Machine {
    let mut disk = device("mmcblk0", DeviceKind::Disk);
    disk.transport = word("mmc", "mmc_host");
    disk.detail.mmc = Some(MmcFacts {
        kind: word("MMC", "type"),
        name: word("DG4016", "name"),
        life_time: fact((1, 2), "life_time"),
        pre_eol_info: fact(1, "pre_eol_info"),
        command_queue: fact(true, "cmdq_en"),
    });
    Machine::of(disk)
}

/// A SAS disk with two phys on the way.
pub(crate) fn sas() -> Machine {
    let mut disk = device("sda", DeviceKind::Disk);
    disk.transport = word("sas", "end_device");
    disk.driver = word("mpt3sas", "driver");
    disk.queue.rotational = fact(true, "rotational");
    disk.detail.pci = vec![function("0000:03:00.0", 0x010700, "mpt3sas", "msix")];
    disk.detail.scsi = Some(ScsiFacts {
        vendor: word("SEAGATE", "vendor"),
        rotation_rpm: fact(10000, "vpd_pgb1"),
        provisioning_mode: word("full", "provisioning_mode"),
        ..scsi("0:0:0:0")
    });
    disk.queue.discard_max_bytes = fact(0, "discard_max_bytes");
    disk.detail.queue.discard_max_hardware_bytes = fact(0, "discard_max_hw_bytes");
    let phy = |name: &str| SasPhy {
        name: name.into(),
        negotiated: word("12.0 Gbit", "negotiated_linkrate"),
        maximum: word("12.0 Gbit", "maximum_linkrate"),
        maximum_hardware: word("12.0 Gbit", "maximum_linkrate_hw"),
        enabled: fact(true, "enable"),
        invalid_dwords: fact(0, "invalid_dword_count"),
        disparity_errors: fact(0, "running_disparity_error_count"),
        sync_losses: fact(0, "loss_of_dword_sync_count"),
        reset_problems: fact(0, "phy_reset_problem_count"),
    };
    disk.detail.sas = vec![phy("phy-0:0"), phy("phy-0:1")];
    Machine::of(disk)
}

pub(crate) fn mirror() -> Machine {
    let mut array = device("md0", DeviceKind::Md);
    array.serial = None;
    array.role = word("raid1", "level");
    let member = |name: &str, serial: &str| {
        let mut disk = sata_hdd().inspection.device.unwrap();
        disk.name = name.into();
        disk.serial = word(serial, "id");
        disk
    };
    array.below = vec![member("sda", "S1"), member("sdb", "S2")];
    array.detail.md = Some(MdFacts {
        level: word("raid1", "md/level"),
        raid_disks: fact(2, "raid_disks"),
        degraded: fact(0, "degraded"),
        array_state: word("active", "array_state"),
        sync_action: word("idle", "sync_action"),
        consistency_policy: word("bitmap", "consistency_policy"),
        mismatches: fact(0, "mismatch_cnt"),
        chunk_bytes: fact(0, "chunk_size"),
        members: vec![
            ("sda".into(), Fact::new("in_sync".into(), "dev-sda/state")),
            ("sdb".into(), Fact::new("in_sync".into(), "dev-sdb/state")),
        ],
        ..MdFacts::default()
    });
    Machine::of(array)
}

pub(crate) fn mapper() -> Machine {
    let mut top = device("dm-0", DeviceKind::DeviceMapper);
    top.role = word("lvm", "uuid");
    top.below = vec![sata_hdd().inspection.device.unwrap()];
    top.detail.mapper = Some(MapperFacts {
        name: word("vg-data", "dm/name"),
        suspended: fact(false, "dm/suspended"),
        targets: Vec::new(),
    });
    Machine::of(top)
}

/// A ZFS pool on one disk.
pub(crate) fn pool() -> Machine {
    let mut top = Device::new("tank", "", DeviceKind::Pool);
    top.role = word("zfs", "mountinfo");
    top.below = vec![sata_hdd().inspection.device.unwrap()];
    top.detail.zfs = Some(ZfsFacts { state: word("ONLINE", "state"), ..ZfsFacts::default() });
    let mut machine = Machine::of(top);
    machine.fs().fstype.value = "zfs".into();
    machine.fs().source.value = "tank/home".into();
    machine
}

/// An encrypted SATA solid-state disk, and what `Machine::target` makes of it.
pub(crate) fn encrypted() -> Machine {
    let mut top = device("dm-0", DeviceKind::DeviceMapper);
    top.role = word("crypt", "uuid");
    top.queue.rotational = fact(false, "rotational");
    top.below = vec![sata_ssd().inspection.device.unwrap()];
    let crypt = CryptTarget {
        cipher: "aes-xts-plain64".to_owned(),
        sector_bytes: 4096,
        no_read_workqueue: true,
        no_write_workqueue: true,
        same_cpu: false,
        discards: true,
    };
    top.detail.mapper = Some(MapperFacts {
        name: word("secret", "dm/name"),
        suspended: fact(false, "dm/suspended"),
        targets: vec![Fact::new(MapperTarget::Crypt(crypt), "table")],
    });
    Machine::of(top)
}

/// All healthy machines, with their names.
pub(crate) fn all_healthy() -> Vec<(&'static str, Machine)> {
    vec![
        ("SATA hard disk", sata_hdd()),
        ("SATA solid state", sata_ssd()),
        ("NVMe", nvme()),
        ("USB", usb()),
        ("eMMC", emmc()),
        ("SAS", sas()),
        ("mirror", mirror()),
        ("device mapper", mapper()),
        ("encrypted disk", encrypted()),
        ("ZFS pool", pool()),
    ]
}
