//! Pages of drives come from their firmware, and from snapshots.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_explain::{Observed, findings};
use seekwell_inspect::facts::{IdentifyData, NvmeFacts, ScsiFacts};
use seekwell_inspect::health::health;
use seekwell_inspect::{Device, DeviceKind, Fact, Inspection, TargetKind};
use seekwell_sys::fake::Fake;

/// Pages by the node of their drive. Sizes in a name are those a drive that says nothing of them
/// is asked for.
const PAGES: [(&str, &[&str]); 3] = [
    (
        "nvme0",
        &[
            "identify-01-0", "log-02-512", "log-01-64", "log-06-564", "identify-17-0",
            "log-00-1024", "log-c0-512", "log-c0-512-1", "identify-00-1",
        ],
    ),
    (
        "sda",
        &[
            "ata-power", "log-ext-00-00", "log-ext-04-00", "log-ext-04-01", "log-ext-04-07",
            "log-ext-03-00", "log-ext-07-00", "smart-data", "smart-thresholds", "smart-status",
        ],
    ),
    (
        "sdb",
        &[
            "scsi-sense", "log-sense-00", "log-sense-02", "log-sense-03", "log-sense-0d",
            "log-sense-10", "log-sense-11", "log-sense-15", "log-sense-2f",
        ],
    ),
];

// A drive, by the first byte; then its pages, each with its length in two bytes before it.
fuzz_target!(|data: &[u8]| {
    let Some((first, mut rest)) = data.split_first() else { return };
    let which = usize::from(first % 3);
    let (node, names) = PAGES[which];
    let mut view = Fake::new().file("/sys/block/nvme0n1/nsid", "1");
    for name in names {
        let [low, high, tail @ ..] = rest else { break };
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (page, next) = tail.split_at(length);
        view = view.bytes(format!("/dev/{node}/page/{name}"), page.to_vec());
        rest = next;
    }
    let name = if which == 0 { "nvme0n1" } else { node };
    let mut device = Device::new(name, "8:0", DeviceKind::Disk);
    match which {
        0 => {
            let controller = node.to_owned();
            device.detail.nvme = Some(NvmeFacts { controller, ..NvmeFacts::default() });
        }
        1 => {
            let id = IdentifyData { smart: (true, true), logs: true, ..IdentifyData::default() };
            device.detail.identify = Some(Fact::new(id, "id"));
        }
        _ => {}
    }
    if which > 0 {
        device.transport = Some(Fact::new("sas".to_owned(), "end_device"));
        device.detail.scsi = Some(ScsiFacts::default());
    }
    device.detail.health = health(&view, &device);
    let mut inspection = Inspection::new("/dev/x", TargetKind::BlockDevice);
    inspection.device = Some(device);
    serde_json::to_string(&inspection).expect("an inspection is JSON");
    for finding in findings(&Observed::new(&inspection)) {
        assert!(!finding.evidence.is_empty(), "{} needs evidence", finding.id);
    }
});
