//! Shared parts of machines that are saved, and of some that are made up.

use super::*;
use crate::facts::UsbFacts;
use crate::testing::corpus;
use crate::{all_disks, inspect};
use seekwell_sys::Snapshot;

fn machine(name: &str) -> Option<Vec<(String, Inspection)>> {
    let snapshot = Snapshot::open(&corpus()?.join(name)).unwrap();
    let disks = all_disks(&snapshot);
    let named = |t: &crate::Target| t.given.trim_start_matches("/dev/").to_owned();
    Some(disks.iter().map(|t| (named(t), inspect(&snapshot, t))).collect())
}

/// Kind, name and rate of what all of these share.
fn parts(
    machine: &[(String, Inspection)],
    disks: &[&str],
) -> Vec<(SharedKind, String, Option<u32>)> {
    let of = |disk: &&str| {
        let (name, found) = machine.iter().find(|(name, _)| name == disk).expect(disk);
        (name.as_str(), found)
    };
    let targets: Vec<_> = disks.iter().map(of).collect();
    let rate = |s: &Shared| s.bytes_per_s.map(|rate| (rate / 1e6) as u32);
    shared(&targets).into_iter().map(|s| (s.kind, s.name.clone(), rate(&s))).collect()
}

#[test]
fn two_disks_on_one_ahci_controller_share_that_controller() {
    let Some(machine) = machine("ahci-2disks-hdd+ssd") else { return };
    let controller = (SharedKind::Controller, "0000:00:1f.2".into(), None);
    assert_eq!(parts(&machine, &["sda", "sdb"]), [controller]);
}

#[test]
fn two_disks_at_controllers_of_their_own_share_nothing_that_is_known() {
    for (name, disks) in [("nvme-2ctrl", ["nvme0n1", "nvme1n1"]), ("pc-piix+ahci", ["sda", "sdb"])]
    {
        let Some(machine) = machine(name) else { return };
        assert_eq!(parts(&machine, &disks), []);
    }
}

#[test]
fn an_array_and_its_members_are_parts_of_each_other() {
    let Some(machine) = machine("stack-md-dm-loop") else { return };
    let of = |disk: &str| &machine.iter().find(|(name, _)| name == disk).expect(disk).1;
    assert_eq!(overlap(of("sda"), of("md0")), Some(Overlap::FirstBelow));
    assert_eq!(overlap(of("dm-0"), of("sdb")), Some(Overlap::SecondBelow));
    assert_eq!(overlap(of("md0"), of("md0")), Some(Overlap::Same));
    assert_eq!(overlap(of("sda"), of("sdb")), None);
}

fn function(address: &str, link: Option<(f64, u32)>) -> PciFunction {
    let link = link.map(|(gts, width)| Fact::new(PcieLink { gts, width }, address));
    PciFunction { address: address.into(), link, ..PciFunction::default() }
}

fn hop(kind: &str, name: &str) -> Hop {
    let (kind, name) = (kind.to_owned(), name.to_owned());
    Hop { detail: "as it is".into(), from: name.clone(), kind, name }
}

/// A disk behind these functions, outermost first, the last of which is its controller.
fn disk(name: &str, functions: Vec<PciFunction>) -> Device {
    let mut disk = Device::new(name, &format!("8:{}", name.len()), DeviceKind::Disk);
    let last = functions.len() - 1;
    let kind = |i| if i == last { "controller" } else { "pci-bridge" };
    let hops = functions.iter().enumerate().map(|(i, f)| hop(kind(i), &f.address));
    disk.attachment = [hop("cpu", "CPU")].into_iter().chain(hops).collect();
    disk.detail.pci = functions;
    disk
}

fn on(name: &str, device: Device) -> (String, Inspection) {
    let mut found = Inspection::new(&format!("/dev/{name}"), TargetKind::BlockDevice);
    found.device = Some(device);
    (name.to_owned(), found)
}

#[test]
fn two_nvme_drives_behind_one_switch_share_its_link_and_no_port_of_it() {
    let drive = |name: &str, port: &str, end: &str| {
        let root = function("0000:00:1c.0", Some((8.0, 1)));
        let up = function("0000:01:00.0", Some((8.0, 1)));
        let down = function(port, Some((8.0, 4)));
        on(name, disk(name, vec![root, up, down, function(end, Some((8.0, 4)))]))
    };
    let machine = [
        drive("nvme0n1", "0000:02:00.0", "0000:03:00.0"),
        drive("nvme1n1", "0000:02:01.0", "0000:04:00.0"),
    ];
    let link = (SharedKind::PcieLink, "0000:00:1c.0".into(), Some(984));
    assert_eq!(parts(&machine, &["nvme0n1", "nvme1n1"]), [link]);
}

#[test]
fn two_controllers_behind_one_bridge_without_links_share_a_pci_bus() {
    let at = |name: &str, end: &str| {
        on(name, disk(name, vec![function("0000:00:1e.0", None), function(end, None)]))
    };
    let machine = [at("sda", "0000:05:01.0"), at("sdb", "0000:05:02.0")];
    let bus = (SharedKind::PciBus, "0000:00:1e.0".into(), Some(133));
    assert_eq!(parts(&machine, &["sda", "sdb"]), [bus]);
}

#[test]
fn two_disks_on_one_usb_hub_share_its_link_to_the_machine() {
    let at = |name: &str, port: &str| {
        let mut device = disk(name, vec![function("0000:00:14.0", None)]);
        let device_name = format!("2-1.{port}");
        let hops = [("hub", "usb2"), ("hub", "usb 2-1"), ("port", &format!("usb {device_name}"))];
        device.attachment.extend(hops.map(|(kind, name)| hop(kind, name)));
        device.detail.usb = Some(UsbFacts {
            device: device_name.clone(),
            speed_mbps: Some(Fact::new(5_000, "speed")),
            hubs: vec![("usb2".into(), 10_000), ("2-1".into(), 5_000)],
            ..UsbFacts::default()
        });
        on(name, device)
    };
    let machine = [at("sda", "1"), at("sdb", "2")];
    let root = (SharedKind::Usb, "usb2".to_owned(), None);
    let hub = (SharedKind::Usb, "usb 2-1".into(), Some(500));
    assert_eq!(parts(&machine, &["sda", "sdb"]), [root, hub]);
}

#[test]
fn two_loop_devices_on_one_disk_share_the_disk_and_not_what_it_hangs_on() {
    let upper = |name: &str| {
        let mut device = Device::new(name, &format!("7:{}", &name[4..]), DeviceKind::Loop);
        let mut part = Device::new("sda1", "8:1", DeviceKind::Partition);
        part.below.push(disk("sda", vec![function("0000:00:1f.2", None)]));
        device.below.push(part);
        on(name, device)
    };
    let machine = [upper("loop0"), upper("loop1")];
    let part = (SharedKind::Device, "sda1".into(), None);
    assert_eq!(parts(&machine, &["loop0", "loop1"]), [part]);
    assert_eq!(overlap(&machine[0].1, &machine[1].1), None);
}
