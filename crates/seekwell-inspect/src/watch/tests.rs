#![allow(clippy::print_stderr)]

use super::*;
use crate::saved;
use crate::testing::corpus;
use seekwell_sys::fake::Fake;
use std::process::Command;

fn message(head: &str, properties: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in [head].iter().chain(properties) {
        bytes.extend_from_slice(part.as_bytes());
        bytes.push(0);
    }
    bytes
}

const DISK: &str = "/devices/pci0000:00/0000:00:1f.2/ata2/host1/target1:0:0/1:0:0:0/block/sdb";

fn announced(action: &str, more: &[&str]) -> Uevent {
    let mut properties = vec!["SUBSYSTEM=block", "DEVTYPE=disk", "DEVNAME=sdb"];
    properties.extend(more);
    parse(&message(&format!("{action}@{DISK}"), &properties)).unwrap()
}

#[test]
fn an_announcement_gives_action_path_and_properties() {
    let uevent = announced("add", &["SEQNUM=7", "EMPTY=", "ODD"]);
    assert_eq!((uevent.action.clone(), uevent.name()), (Action::Add, "sdb"));
    assert_eq!((uevent.get("SEQNUM"), uevent.get("EMPTY")), (Some("7"), Some("")));
    assert_eq!(uevent.get("ODD"), None);
    let bind = parse(&message("bind@/devices/x", &[])).unwrap();
    assert_eq!(bind.action, Action::Other("bind".to_owned()));
}

#[test]
fn what_the_kernel_never_sends_is_refused() {
    let head = |text: &str| parse(&message(text, &[])).unwrap_err();
    for bad in ["", "add", "add@", "add@relative", "@/devices/x", "ADD@/x", "add@/a/../b", "a b@/x"]
    {
        assert!(matches!(head(bad), UeventError::Head { .. }), "{bad:?}");
    }
    assert!(matches!(head("add@/a\x1b[31m"), UeventError::Head { .. }));
    assert_eq!(parse(b"libudev\0\xfe\xed\xca\xfe"), Err(UeventError::Udev));
    assert_eq!(parse(b""), Err(UeventError::Short));
    assert_eq!(parse(b"add@/devices/x\0SUBSYS"), Err(UeventError::Short));
    let contradiction = message("add@/devices/x", &["DEVPATH=/devices/y"]);
    assert!(matches!(parse(&contradiction), Err(UeventError::Contradiction { .. })));
    let whole = message(&format!("add@{DISK}"), &["SUBSYSTEM=block", "MAJOR=8"]);
    for cut in 0..whole.len() {
        // Whatever is cut off, the rest is refused or read, and nothing is made up.
        if let Ok(uevent) = parse(&whole[..cut]) {
            assert!(whole.starts_with(format!("add@{}", uevent.devpath).as_bytes()));
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_parser_fail(bytes in proptest::collection::vec(0u8..=255, 0..200)) {
        if let Ok(uevent) = parse(&bytes) {
            assert!(uevent.devpath.starts_with('/') && !uevent.devpath.contains("/../"));
        }
    }
}

fn with_disk(size: &str) -> Fake {
    let dir = format!("/sys{DISK}");
    Fake::new()
        .symlink("/sys/block/sdb", &dir)
        .symlink("/sys/dev/block/8:16", &dir)
        .file(format!("{dir}/dev"), "8:16\n")
        .file(format!("{dir}/size"), size)
        .symlink(format!("{dir}/device"), "../..")
        .file(format!("/sys{DISK}/../../model"), "Disk\n")
        .file(
            "/sys/devices/pci0000:00/0000:00:1f.2/ata2/host1/target1:0:0/1:0:0:0/scsi_level",
            "6\n",
        )
}

#[test]
fn a_disk_is_announced_with_model_and_size_and_is_still_known_when_it_is_gone() {
    let there = with_disk("2048\n");
    let mut known = Known::new(&Fake::new());
    let added = known.event(&there, &announced("add", &[])).unwrap();
    assert_eq!((added.event, added.what.as_str()), (EventKind::Added, "disk appeared"));
    assert_eq!((added.device.as_deref(), added.size_bytes), (Some("sdb"), Some(1 << 20)));
    assert_eq!(added.model.as_deref(), Some("Disk"));
    let removed = known.event(&Fake::new(), &announced("remove", &[])).unwrap();
    assert_eq!((removed.event, removed.model.as_deref()), (EventKind::Removed, Some("Disk")));
    assert_eq!(removed.size_bytes, Some(1 << 20));
    let mut known = Known::new(&there);
    let changed = known.event(&with_disk("0\n"), &announced("change", &["RESIZE=1"])).unwrap();
    assert_eq!(changed.what, "disk holds nothing now");
    assert_eq!(known.event(&there, &announced("change", &["SYNTH_UUID=0"])), None);
}

#[test]
fn announcements_that_are_no_disk_s_are_silent() {
    let mut known = Known::default();
    let fake = Fake::new();
    for properties in [&["SUBSYSTEM=net"][..], &[], &["SUBSYSTEM=pci", "PCI_CLASS=20000"]] {
        let uevent = parse(&message("add@/devices/x", properties)).unwrap();
        assert_eq!(known.event(&fake, &uevent), None);
    }
    let nvme = parse(&message("add@/devices/x/nvme/nvme1", &["SUBSYSTEM=nvme"])).unwrap();
    assert_eq!(known.event(&fake, &nvme).unwrap().what, "NVMe controller appeared");
    let pci = message("remove@/devices/x/0000:01:00.0", &["SUBSYSTEM=pci", "PCI_CLASS=10802"]);
    let pci = known.event(&fake, &parse(&pci).unwrap()).unwrap();
    assert_eq!(pci.what, "storage controller is gone");
}

#[test]
fn a_fault_is_one_event_and_its_repeats_are_counted() {
    let mut repeats = Repeats::default();
    let begun = Instant::now();
    let line = b"3,9,1000,-;ata2.00: NCQ disabled due to excessive errors\n DEVICE=+scsi:1:0:0:0\n";
    let first = repeats.record(line, begun).unwrap();
    assert_eq!(
        (first.id.map(|id| id.as_str()), first.device.as_deref()),
        (Some("KL-003"), Some("ata2.00"))
    );
    assert!(first.severity.is_some());
    assert_eq!(repeats.record(line, begun), None);
    assert_eq!(repeats.record(line, begun), None);
    assert_eq!(repeats.record(b"6,10,1001,-;eth0: link is up\n", begun), None);
    assert_eq!(repeats.over(begun), []);
    let later = repeats.over(begun + Duration::from_secs(6));
    assert_eq!(later.len(), 1);
    assert_eq!(later[0].count, Some(2));
    assert!(repeats.record(line, begun + Duration::from_secs(7)).is_some());
}

#[test]
fn whether_hot_plug_works_follows_from_the_controller() {
    let Some(corpus) = corpus() else { return };
    for (machine, part, able) in [
        ("ahci", "AHCI", Able::Yes),
        ("piix", "IDE", Able::No),
        ("megaraid", "RAID", Able::Yes),
        ("usb-uas", "USB", Able::Yes),
        ("virtio-scsi", "SCSI", Able::Yes),
        ("sdcard", "card slot", Able::Yes),
    ] {
        let bundle = saved::open(&corpus.join(machine)).unwrap();
        let all = hot_plug(&bundle.snapshot);
        let found = all.iter().find(|h| h.what.contains(part));
        let found = found.unwrap_or_else(|| panic!("{machine}: {all:#?}"));
        assert_eq!(found.able, able, "{machine}: {found:#?}");
        let ports = match machine {
            "ahci" => 6,
            "piix" => 2,
            "usb-uas" => 8,
            _ => 0,
        };
        assert_eq!(found.ports.len(), ports, "{machine}: {found:#?}");
        let disks: Vec<_> = found.ports.iter().flat_map(|p| &p.disks).collect();
        assert_eq!(disks.len(), usize::from(ports > 0), "{machine}: {found:#?}");
    }
}

#[test]
fn an_nvme_slot_is_asked_for_its_hot_plug_driver() {
    let port = "/sys/devices/pci0000:00/0000:00:1c.0";
    let function = format!("{port}/0000:01:00.0");
    let plain = Fake::new()
        .symlink("/sys/bus/pci/devices/0000:01:00.0", &function)
        .file(format!("{function}/class"), "0x010802\n");
    assert_eq!(hot_plug(&plain)[0].able, Able::No);
    let service = format!("{port}/0000:00:1c.0:pcie004/driver");
    let watched = plain.clone().symlink(service, "../../../../bus/pci_express/drivers/pciehp");
    assert_eq!(hot_plug(&watched)[0].able, Able::Yes);
    let named = plain.file("/sys/bus/pci/slots/3/address", "0000:01:00\n");
    assert_eq!(hot_plug(&named)[0].able, Able::No, "firmware names slots that nobody watches");
    let slotted = named.file("/sys/bus/pci/slots/3/power", "1\n");
    assert_eq!(hot_plug(&slotted)[0].why, "it is in hot-plug slot 3");
    let empty = slotted
        .file("/sys/bus/pci/slots/4/address", "0000:02:00\n")
        .file("/sys/bus/pci/slots/4/adapter", "0\n");
    let all = hot_plug(&empty);
    let free: Vec<_> = all.iter().filter(|h| h.what == "empty PCI slot").collect();
    assert_eq!((free.len(), free[0].controller.as_str()), (1, "slot 4"));
}

/// A controller of three ports, of which the first has a disk.
fn ahci() -> Fake {
    let at = "/sys/devices/pci0000:00/0000:00:1f.2";
    let disk = format!("{at}/ata1/host0/target0:0:0/0:0:0:0/block/sda");
    let mut fake = Fake::new()
        .symlink("/sys/bus/pci/devices/0000:00:1f.2", at)
        .symlink("/sys/block/sda", &disk)
        .file(format!("{disk}/size"), "2048\n")
        .file(format!("{at}/class"), "0x010601\n")
        .symlink(format!("{at}/driver"), "../../../bus/pci/drivers/ahci");
    for (port, command) in [("ata1", "c017"), ("ata2", "44016"), ("ata3", "204016")] {
        let n: u32 = port[3..].parse().unwrap();
        let host = format!("{at}/{port}/host{0}/scsi_host/host{0}", n - 1);
        fake = fake
            .file(format!("{host}/link_power_management_policy"), "max_performance\n")
            .file(format!("{host}/ahci_host_caps"), "c0141f25\n")
            .file(format!("{host}/ahci_port_cmd"), format!("{command}\n"))
            .file(format!("{at}/{port}/ata_port/{port}/nr_pmp_links"), "0\n");
    }
    fake
}

fn policy(fake: Fake, port: u32, word: &str) -> Fake {
    let host = format!("host{}", port - 1);
    let at = format!("/sys/devices/pci0000:00/0000:00:1f.2/ata{port}/{host}/scsi_host/{host}");
    fake.file(format!("{at}/link_power_management_policy"), format!("{word}\n"))
}

#[test]
fn each_port_of_an_ahci_controller_answers_for_itself() {
    let one = |fake: &Fake, port: usize| hot_plug(fake)[0].ports[port - 1].clone();
    let awake = ahci();
    let controller = &hot_plug(&awake)[0];
    assert_eq!((controller.able, controller.ports.len()), (Able::Yes, 3));
    assert_eq!((one(&awake, 1).disks, one(&awake, 2).disks), (vec!["sda".to_owned()], vec![]));
    assert!(one(&awake, 1).why.contains("does not mark it"), "{:#?}", one(&awake, 1));
    assert!(one(&awake, 2).why.contains("a bay for hot plug"), "bit 18: {:#?}", one(&awake, 2));
    assert!(one(&awake, 3).why.contains("eSATA"), "bit 21 with SXS: {:#?}", one(&awake, 3));
    assert!(one(&awake, 1).from.ends_with("/ahci_port_cmd"));

    // The driver switches an empty port off with slumber, and only ignores an occupied one.
    let asleep = policy(policy(ahci(), 1, "med_power_with_dipm"), 2, "med_power_with_dipm");
    assert_eq!((one(&asleep, 1).able, one(&asleep, 2).able), (Able::Maybe, Able::No));
    assert!(one(&asleep, 2).why.contains("> /sys/class/scsi_host/host1/link_power"));
    assert_eq!(hot_plug(&asleep)[0].able, Able::Maybe);
    assert_eq!(one(&policy(ahci(), 2, "medium_power"), 2).able, Able::Maybe);
    assert_eq!(one(&policy(ahci(), 2, "keep_firmware_settings"), 2).able, Able::Yes);

    let command = |value: &str| {
        let host = "/sys/devices/pci0000:00/0000:00:1f.2/ata3/host2/scsi_host/host2";
        one(&ahci().file(format!("{host}/ahci_port_cmd"), value), 3).able
    };
    assert_eq!(command("0\n"), Able::No, "a port the controller does not have");
    assert_eq!(command("ffffffff\n"), Able::Unknown, "a controller that is switched off");
    let hidden = ahci().without("/sys/devices/pci0000:00/0000:00:1f.2/ata3/host2");
    assert_eq!(one(&hidden, 3).able, Able::Unknown);
}

#[test]
fn a_usb_port_that_firmware_calls_built_in_is_no_socket() {
    let at = "/sys/devices/pci0000:00/0000:00:14.0";
    let hub = format!("{at}/usb2/2-0:1.0");
    let disk = format!("{at}/usb2/2-1/2-1:1.0/host0/target0:0:0/0:0:0:0/block/sda");
    let mut fake = Fake::new()
        .symlink("/sys/bus/pci/devices/0000:00:14.0", at)
        .file(format!("{at}/class"), "0x0c0330\n")
        .symlink("/sys/block/sda", &disk)
        .file(format!("{disk}/size"), "2048\n")
        .symlink(format!("{hub}/usb2-port1/device"), "../../2-1");
    for (n, kind) in [(1, "hotplug"), (2, "hardwired"), (3, "not used"), (10, "unknown")] {
        fake = fake.file(format!("{hub}/usb2-port{n}/connect_type"), format!("{kind}\n"));
    }
    let ports = hot_plug(&fake)[0].ports.clone();
    let able: Vec<_> = ports.iter().map(|p| p.able).collect();
    assert_eq!(able, [Able::Yes, Able::No, Able::No, Able::Yes]);
    assert_eq!(
        (ports[0].disks.clone(), ports[3].port.as_str()),
        (vec!["sda".into()], "usb2-port10")
    );
}

#[test]
fn controllers_on_no_pci_bus_and_card_slots_answer_by_what_the_board_says() {
    let soc = "/sys/devices/platform/soc/f7e90000.sata";
    let host = format!("{soc}/ata1/host0/scsi_host/host0");
    let slot = "/sys/devices/platform/soc/fe300000.mmc";
    let fake = Fake::new()
        .symlink("/sys/class/ata_port/ata1", format!("{soc}/ata1/ata_port/ata1"))
        .file(format!("{soc}/ata1/ata_port/ata1/port_no"), "1\n")
        .symlink(format!("{soc}/driver"), "../../../../bus/platform/drivers/ahci-platform")
        .file(format!("{host}/ahci_port_cmd"), "4016\n")
        .symlink("/sys/class/mmc_host/mmc0", format!("{slot}/mmc_host/mmc0"))
        .dir(format!("{slot}/mmc_host/mmc0"))
        .file(format!("{slot}/of_node/broken-cd"), "");
    let all = hot_plug(&fake);
    assert_eq!((all[0].controller.as_str(), all[0].able), ("f7e90000.sata", Able::Yes));
    assert_eq!((all[1].controller.as_str(), all[1].able), ("mmc0", Able::Yes));
    let soldered = fake.file(format!("{slot}/of_node/non-removable"), "");
    assert_eq!(hot_plug(&soldered)[1].able, Able::No);
    let silent = soldered.without(format!("{slot}/of_node"));
    assert_eq!(hot_plug(&silent)[1].able, Able::Unknown);
}

/// A loop device that is detached whatever happens.
struct Loop(String);

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

#[test]
fn a_loop_device_that_comes_and_goes_is_seen() {
    let live = seekwell_sys::Live::system();
    let mut watch = match Watch::new(&live) {
        Ok(watch) => watch,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(8 << 20).unwrap();
    let made = Command::new("losetup").args(["--find", "--show"]).arg(file.path()).output();
    let made = match made {
        Ok(output) if output.status.success() => output,
        _ => return eprintln!("skipped: loop devices cannot be set up here"),
    };
    let device = Loop(String::from_utf8_lossy(&made.stdout).trim().to_owned());
    let name = device.0.trim_start_matches("/dev/").to_owned();
    let mut wait_for = |size: u64| {
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            let events = watch.wait(Duration::from_millis(100)).unwrap();
            let ours = |e: &Event| e.device.as_deref() == Some(&name) && e.size_bytes == Some(size);
            if events.iter().any(ours) {
                return;
            }
        }
        panic!("{name} with {size} bytes was not announced");
    };
    wait_for(8 << 20);
    drop(device);
    wait_for(0);
}
