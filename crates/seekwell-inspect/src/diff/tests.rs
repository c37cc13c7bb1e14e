#![allow(clippy::print_stderr)]

use super::*;
use crate::saved;
use crate::testing::corpus;
use crate::{Fact, Target, inspect};
use seekwell_sys::fake::Fake;

fn machine(name: &str) -> Option<Vec<Inspection>> {
    let bundle = saved::open(&corpus()?.join(name)).unwrap();
    let targets = saved::of_snapshot(&bundle);
    Some(targets.iter().map(|t| inspect(&bundle.snapshot, t)).collect())
}

fn between(a: &str, b: &str) -> Option<Vec<Change>> {
    Some(diff_all(&machine(a)?, &machine(b)?))
}

fn told(changes: &[Change], what: &str) -> (String, String) {
    let found = changes.iter().find(|c| c.what == what);
    let found = found.unwrap_or_else(|| panic!("nothing of {what:?} in {changes:#?}"));
    let text = |side: &Option<String>| side.clone().unwrap_or_default();
    (text(&found.before), text(&found.after))
}

fn pair(a: &str, b: &str) -> (String, String) {
    (a.to_owned(), b.to_owned())
}

#[test]
fn a_machine_compared_with_itself_has_no_changes() {
    for name in ["ahci", "piix", "nvme-2ctrl", "stack-md-dm-loop", "usb-uas"] {
        let Some(changes) = between(name, name) else { return };
        assert_eq!(changes, [], "{name}");
    }
}

#[test]
fn ide_mode_against_ahci_is_driver_mode_interrupts_and_depth() {
    let Some(changes) = between("piix", "ahci") else { return };
    assert_eq!(told(&changes, "driver"), pair("ata_piix", "ahci"));
    assert_eq!(
        told(&changes, "controller mode"),
        pair("IDE interface, compatible mode", "SATA controller, AHCI")
    );
    assert_eq!(told(&changes, "queue depth"), pair("1", "32"));
    assert_eq!(told(&changes, "queued requests"), pair("2", "64"));
    assert_eq!(told(&changes, "transfer mode").1, "UDMA/100");
    assert!(told(&changes, "interrupts").1.to_lowercase().contains("msi"));
    assert_eq!(changes[0].what, "driver", "the most important first");
    assert!(changes.iter().all(|c| c.what != "the device itself"), "it is the same disk");
    let driver = changes.iter().filter(|c| c.what == "driver").count();
    assert_eq!(driver, 1, "one change is told once");
    assert!(changes[0].from_before.as_ref().is_some_and(|f| f.starts_with("/sys/devices")));
    assert!(changes.iter().skip_while(|c| c.matters).all(|c| !c.matters));
}

#[test]
fn a_limited_link_is_the_only_thing_that_matters() {
    let Some(changes) = between("ahci", "ahci-1.5Gbps") else { return };
    let matter: Vec<&str> = changes.iter().filter(|c| c.matters).map(|c| c.what.as_str()).collect();
    assert!(matter.contains(&"SATA link limit"), "{changes:#?}");
    let allowed = ["SATA link limit", "SATA link limit at start", "kernel command line"];
    assert!(matter.iter().all(|m| allowed.contains(m)), "{changes:#?}");
}

#[test]
fn dma_switched_off_is_the_transfer_mode() {
    let Some(changes) = between("ahci", "ahci-nodma") else { return };
    let (before, after) = told(&changes, "transfer mode");
    assert!(before.contains("UDMA"), "{before}");
    assert!(after.contains("PIO"), "{after}");
    assert!(changes.iter().all(|c| c.what != "driver" && c.what != "queue depth"));
}

fn disk(serial: &str, scheduler: &str) -> Inspection {
    let dir = "/sys/devices/pci0000:00/0000:00:03.0/virtio0/block/vda";
    let fake = Fake::new()
        .symlink("/sys/dev/block/252:0", dir)
        .file(format!("{dir}/dev"), "252:0\n")
        .file(format!("{dir}/size"), "2048\n")
        .file(format!("{dir}/serial"), format!("{serial}\n"))
        .file(format!("{dir}/queue/scheduler"), format!("{scheduler}\n"))
        .dir(format!("{dir}/mq/0"));
    inspect(&fake, &Target::block_device("vda", "252:0".parse().unwrap()))
}

#[test]
fn a_scheduler_is_told_with_both_places_and_free_memory_is_not() {
    let mut before = disk("S1", "[none] mq-deadline");
    let mut after = disk("S1", "none [mq-deadline]");
    before.host.memory_available_bytes = Some(Fact::new(1, "/proc/meminfo"));
    after.host.memory_available_bytes = Some(Fact::new(2, "/proc/meminfo"));
    let changes = diff(&before, &after);
    assert_eq!(changes.len(), 1, "{changes:#?}");
    let change = &changes[0];
    assert_eq!((change.what.as_str(), change.device.as_deref()), ("scheduler", Some("vda")));
    assert_eq!(told(&changes, "scheduler"), pair("none", "mq-deadline"));
    assert!(change.from_after.as_ref().is_some_and(|f| f.ends_with("/queue/scheduler")));
    assert!(change.matters);
}

#[test]
fn another_disk_in_the_same_place_is_said_by_its_serial_number() {
    let changes = diff(&disk("S1", "[none]"), &disk("S2", "[none]"));
    assert_eq!(told(&changes, "serial number"), pair("S1", "S2"));
}

#[test]
fn a_disk_that_is_gone_is_a_change() {
    let changes = diff_all(&[disk("S1", "[none]")], &[]);
    assert_eq!(told(&changes, "the device itself"), pair("disk", ""));
}
