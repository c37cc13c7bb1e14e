//! Documents of inspection in which every key is present.

use seekwell_inspect::diff::Change;
use seekwell_inspect::facts::{
    AerCounts, AhciFacts, ArcStats, AtaError, AtaErrorClass, AtaFacts, BcacheFacts, BlockGroups,
    BtrfsFacts, CacheTarget, CryptTarget, Detail, DrbdState, Ext4Facts, IdentifyData, IoCounters,
    MapperFacts, MapperTarget, MdFacts, MmcFacts, NvmeFacts, PciFunction, PcieLink, QueueFacts,
    RaidTarget, SasPhy, ScsiFacts, SnapshotTarget, ThinPool, Usage, UsbFacts, VdoTarget, VmFacts,
    ZfsFacts, ZoneFacts,
};
use seekwell_inspect::health::{
    Attribute, Health, LbaFormat, LoggedError, Measure, Outcome, SelfTest, Warning,
};
use seekwell_inspect::log::{DeviceState, Incident, KernelEvent, MappedBy, Stamp};
use seekwell_inspect::probe::{Answer, Power, Probe};
use seekwell_inspect::watch::{Able, Event, EventKind, EventSource, HotPlug, HotPlugPort};
use seekwell_inspect::{Channel, Evidence, Fact, Filesystem, Finding, FuseFacts, Severity};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn fact<T>(value: T) -> Fact<T> {
    Fact::new(value, "/sys/x")
}

fn words(value: &str) -> String {
    value.to_owned()
}

/// What is known beyond a queue and a chain, with everything that can be left out.
fn detail() -> Detail {
    let link = fact(PcieLink { gts: 8.0, width: 4 });
    let aer = AerCounts { correctable: fact(0), nonfatal: fact(0), fatal: fact(0) };
    let pci = PciFunction {
        link: Some(link.clone()),
        link_max: Some(link),
        aer: Some(aer),
        vector_cpus: Some(fact(1)),
        local_cpus: Some(fact(words("0-3,8"))),
        iommu: Some(fact(words("DMA"))),
        ..PciFunction::default()
    };
    let counters = IoCounters { requests: fact(1), done: fact(1), errors: fact(0), timeouts: None };
    let failed = Answer::Failed { status: 2, sense: [5, 0x24, 0] };
    let probe = Probe { power: Power::Active, ncq: Some(Answer::Accepted), dma: Some(failed) };
    let error = AtaError { at_s: Some(1.0), class: AtaErrorClass::Timeout };
    let zones = ZoneFacts { zone_bytes: Some(fact(128 << 20)), ..ZoneFacts::default() };
    Detail {
        read_only: Some(fact(false)),
        queue: QueueFacts { zones: Some(zones), ..QueueFacts::default() },
        ata: Some(AtaFacts {
            ahci: Some(AhciFacts::default()),
            errors: Some(fact(vec![error])),
            ..AtaFacts::default()
        }),
        identify: Some(fact(IdentifyData::default())),
        scsi: Some(ScsiFacts {
            counters: Some(counters),
            zoned: Some(fact(2)),
            ..ScsiFacts::default()
        }),
        nvme: Some(NvmeFacts {
            host_memory: Some(fact(true)),
            idle_exit_us: Some(fact(9_000)),
            ..NvmeFacts::default()
        }),
        health: Some(health()),
        usb: Some(UsbFacts::default()),
        mmc: Some(MmcFacts::default()),
        pci: vec![pci],
        channels: vec![fact(Channel { name: "pci-32/33".into(), bytes_per_s: 133e6 })],
        sas: vec![SasPhy::default()],
        md: Some(MdFacts::default()),
        mapper: Some(mapper()),
        unwritten_bytes: Some(fact(4096)),
        loop_direct_io: Some(fact(true)),
        probe: Some(fact(probe)),
        mounts: vec![mounted()],
        swaps: vec![fact(words("/dev/sda2"))],
        bcache: Some(BcacheFacts::default()),
        drbd: Some(fact(DrbdState::default())),
        zfs: Some(ZfsFacts { arc: Some(fact(ArcStats::default())), ..ZfsFacts::default() }),
        btrfs: vec![BtrfsFacts::default()],
        ext4: vec![Ext4Facts {
            journal: Some(fact(words("sdb1"))),
            block_groups: Some(fact(BlockGroups { total: 2, uninitialised: 1 })),
            ..Ext4Facts::default()
        }],
    }
}

fn mapper() -> MapperFacts {
    let copies = Usage::default();
    let targets = [
        MapperTarget::Crypt(CryptTarget::default()),
        MapperTarget::ThinPool(ThinPool { metadata_device: words("253:1"), ..ThinPool::default() }),
        MapperTarget::Thin { mapped_bytes: 0 },
        MapperTarget::Snapshot(SnapshotTarget { copies, chunk_bytes: 4096 }),
        MapperTarget::SnapshotOrigin { snapshots: 1 },
        MapperTarget::Cache(CacheTarget::default()),
        MapperTarget::Writecache { failed: false, block_bytes: 4096 },
        MapperTarget::Integrity { journal: true },
        MapperTarget::Raid(RaidTarget::default()),
        MapperTarget::Striped { disks: 2, chunk_bytes: 65536 },
        MapperTarget::Vdo(VdoTarget::default()),
        MapperTarget::Failed { name: words("cache") },
        MapperTarget::Other { name: words("linear") },
    ];
    MapperFacts { targets: targets.map(fact).to_vec(), ..MapperFacts::default() }
}

fn health() -> Health {
    let attribute =
        Attribute { id: 5, value: 100, worst: 99, threshold: Some(10), raw: 0, pre_fail: true };
    let test = SelfTest { outcome: Outcome::Failed, extended: true, hours: 7, failed_lba: Some(8) };
    let format =
        LbaFormat { index: 0, data_bytes: 4096, metadata_bytes: 0, performance: 0, in_use: true };
    Health {
        warnings: Some(fact(vec![Warning::SpareLow])),
        values: Measure::ALL.iter().map(|measure| (*measure, fact(1))).collect(),
        attributes: Some(fact(vec![attribute])),
        self_tests: Some(fact(vec![test])),
        errors: Some(fact(vec![LoggedError { count: 1, status: 2, lba: Some(8) }])),
        formats: Some(fact(vec![format])),
        provoked: 1,
    }
}

fn mounted() -> Filesystem {
    Filesystem {
        mount_point: fact(words("/")),
        fstype: fact(words("ext4")),
        source: fact(words("/dev/sda1")),
        options: fact(vec![words("rw")]),
        read_only: false,
        size_bytes: None,
        available_bytes: None,
        inodes_available: None,
        below: None,
        fuse: Some(FuseFacts::default()),
    }
}

fn incident() -> Incident {
    let stamp = Stamp { boot_us: Some(1), wall_us: Some(1) };
    let device = words("sda1");
    Incident {
        id: KernelEvent::SataSpeedLimited,
        counts: BTreeMap::from([(KernelEvent::SataSpeedLimited, 1)]),
        meaning: words("the link is held"),
        remedy: words("replace the cable"),
        subject: Some(words("ata2.00")),
        disk: Some(words("sda")),
        mapped_by: MappedBy::Probe,
        count: 1,
        first: stamp,
        last: stamp,
        per_hour: Some(1.0),
        states: vec![
            DeviceState::LinkLimited { speed: words("1.5 Gbps") },
            DeviceState::DmaMode { mode: words("UDMA/33") },
            DeviceState::FlushesOff { device },
            DeviceState::ArrayDegraded { array: words("md0") },
            DeviceState::InterruptOff { irq: 16 },
        ],
        severity: Severity::Error,
        critical: false,
        recovered: Some(stamp),
        samples: vec![words("ata2.00: limiting SATA link speed to 1.5 Gbps")],
    }
}

fn event() -> Event {
    Event {
        event: EventKind::Incident,
        source: EventSource::Log,
        what: words("disk appeared"),
        device: Some(words("sdb")),
        model: Some(words("ST250DM000")),
        size_bytes: Some(1),
        transport: Some(words("sata")),
        id: Some(KernelEvent::SataSpeedLimited),
        severity: Some(Severity::Error),
        count: Some(1),
        from: Some(words("/sys/x")),
    }
}

/// As `seekwell inspect --json` prints it.
pub fn judged() -> Value {
    let mut inspection = super::common::inspection();
    let (host, device) = (&mut inspection.host, inspection.device.as_mut().expect("a device"));
    let vm = VmFacts { command_line: Some(fact(words("quiet"))), ..VmFacts::default() };
    (host.name, host.vm) = (Some(fact(words("db-7"))), vm);
    host.allowed_cpus = Some(fact(words("0-3")));
    host.mitigations = vec![fact(words("meltdown: PTI"))];
    let filesystem = inspection.filesystem.as_mut().expect("a file system");
    filesystem.below = Some(Box::new(mounted()));
    host.power.governor = Some(fact(words("performance")));
    *device.detail = detail();
    let mut judged = serde_json::to_value(inspection).unwrap();
    judged["findings"] = json!([finding()]);
    judged["incidents"] = json!([incident()]);
    judged
}

pub fn finding() -> Value {
    json!(Finding {
        id: words("SW-BLK-001"),
        severity: Severity::Error,
        title: words("writes are refused"),
        evidence: vec![Evidence { seen: words("1"), from: words("/sys/x") }],
        why: words("nothing can be written"),
        remedy: words("blockdev --setrw /dev/sda"),
        tune: Some(words("readahead")),
    })
}

pub fn diff() -> Value {
    let change = Change {
        what: words("driver"),
        key: words("device.driver"),
        device: Some(words("sda")),
        before: None,
        after: None,
        from_before: None,
        from_after: None,
        matters: true,
    };
    let (before, after) = ("a", "b");
    let schema = "seekwell/diff/1";
    json!({"schema": schema, "before": before, "after": after, "changes": [change]})
}

/// The first line and an event.
pub fn watch() -> [Value; 2] {
    let hot_plug = HotPlug {
        controller: words("0000:00:1f.2"),
        what: words("SATA controller"),
        able: Able::Yes,
        why: words("AHCI"),
        from: words("/sys/x"),
        ports: vec![HotPlugPort {
            port: words("ata1"),
            disks: vec![words("sda")],
            able: Able::Yes,
            why: words("AHCI"),
            from: words("/sys/x"),
        }],
    };
    let (schema, time) = ("seekwell/watch/1", "2026-11-20T10:00:00Z");
    let mut event = serde_json::to_value(event()).unwrap();
    (event["schema"], event["time"]) = (json!(schema), json!(time));
    let start = json!({"schema": schema, "time": time, "event": "start", "log": false,
        "log_error": "denied", "hot_plug": [hot_plug]});
    [start, event]
}
