//! The facts shown beside what hdparm, smartctl, sg3-utils, lsblk, lsscsi, lspci and nvme-cli
//! printed on the same machine.
//!
//! Two programs that read the same disk and say different things leave a person with nothing. So
//! every value that both print is compared, and where they differ the reason stands here; a
//! difference without a reason fails, and so does a reason that nothing needs any more. The
//! machines lie beside the repository; without them nothing is tested here and it is said so.
#![allow(clippy::print_stderr)]

#[path = "../src/testing.rs"]
mod testing;

#[path = "agree/printed.rs"]
mod printed;

use printed::Said;
use seekwell_inspect::{Device, Fact, all_disks, inspect};
use seekwell_sys::Snapshot;
use std::collections::BTreeSet;
use std::path::Path;
use testing::corpus;

/// machine|disk, and how many values each tool printed of it. The counts keep a parser that reads
/// nothing from passing.
const MACHINES: &str = "\
ahci|sda|hdparm 4,hdparm -i 8,hdparm -I 14,smartctl 9,sg3-utils 7,lsblk 23,lsscsi 4,\
lspci 6,kernel log 3
piix|sda|hdparm 4,hdparm -i 8,hdparm -I 14,smartctl 9,sg3-utils 7,lsblk 23,lsscsi 4,\
lspci 5,kernel log 1
nvme|nvme0n1|hdparm 3,smartctl 9,sg3-utils 6,lsblk 23,lspci 7,nvme 14
usb-uas|sda|hdparm 4,hdparm -I 3,smartctl 1,sg3-utils 6,lsblk 23,lsscsi 4,lspci 5,kernel log 1
megaraid|sda|hdparm 4,hdparm -I 3,smartctl 5,sg3-utils 6,lsblk 23,lsscsi 4,lspci 5,kernel log 1
";

/// machine|tool|fact|ours|theirs|why they differ.
const EXPLAINED: &str = "\
ahci|lsblk|serial|INSP0001|null|lsblk asks udev, which did not run; the VPD page has it
piix|lsblk|serial|QM00001|null|lsblk asks udev, which did not run; the VPD page has it
piix|lsblk|transport|pata|ata|lsblk's word for libata without SATA; there is no serial link
nvme|lsblk|firmware|7.2.22|null|lsblk reads the revision of SCSI disks only; nvme-cli agrees with us
nvme|lsblk|WWN|nvme.1b36-494e53504e564d4531-51454d55204e564d65204374726c-00000001|null|lsblk \
asks udev, which did not run; it is in sysfs
nvme|nvme|I/O queues|2|64|nvme-cli says what the controller grants; two are in use, one a CPU
usb-uas|hdparm|multiple|null|0|the ioctl answers 0 for a disk that takes no ATA commands
usb-uas|hdparm -I|size MiB|256|0|hdparm decodes a refused IDENTIFY; its own ioctl says 256 MiB
usb-uas|lsblk|serial|27842-0000:00:01.0-1|null|lsblk asks udev, which did not run; the USB \
descriptor has it
megaraid|hdparm|multiple|null|0|the ioctl answers 0 for a disk that takes no ATA commands
megaraid|hdparm -I|size MiB|256|0|hdparm decodes a refused IDENTIFY; its own ioctl says 256 MiB
megaraid|lsblk|transport|scsi|null|lsblk has no name for a virtual drive; for us it is SCSI
";

fn device(folder: &Path, disk: &str) -> Device {
    let snapshot = Snapshot::open(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let path = format!("/dev/{disk}");
    let target = all_disks(&snapshot).into_iter().find(|t| t.given == path).unwrap();
    inspect(&snapshot, &target).device.unwrap()
}

/// What the inspection says of a fact, in the words of the tools; `null` where it says nothing.
fn ours(device: &Device, fact: &str) -> String {
    let value = match fact {
        "name" => Some(device.name.clone()),
        "number" => Some(device.dev.clone()),
        "model" => plain(&device.model),
        "serial" => plain(&device.serial),
        "firmware" => plain(&device.firmware),
        "WWN" => plain(&device.wwn),
        "size" => plain(&device.size_bytes),
        "size MiB" => plain(&device.size_bytes.as_ref().map(|f| Fact::new(f.value >> 20, "x"))),
        "rounded size" => device.size_bytes.as_ref().map(|f| rounded(f.value)),
        "transport" => plain(&device.transport),
        "PCI address" => plain(&device.pci),
        _ => of_queue(device, fact)
            .or_else(|| of_ata(device, fact))
            .or_else(|| of_scsi(device, fact))
            .or_else(|| of_nvme(device, fact))
            .or_else(|| of_pci(device, fact)),
    };
    value.unwrap_or_else(|| "null".to_owned())
}

fn plain<T: ToString>(fact: &Option<Fact<T>>) -> Option<String> {
    fact.as_ref().map(|f| f.value.to_string())
}

fn on(enabled: bool) -> String {
    if enabled { "enabled" } else { "disabled" }.to_owned()
}

/// A size as lsblk rounds it: one decimal, none if it is zero.
fn rounded(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut units = ["B", "K", "M", "G", "T", "P"].into_iter();
    let mut unit = units.next().unwrap();
    while value >= 1023.95 {
        value /= 1024.0;
        unit = units.next().unwrap();
    }
    format!("{value:.1}").trim_end_matches(".0").to_owned() + unit
}

fn of_queue(device: &Device, fact: &str) -> Option<String> {
    let (queue, more) = (&device.queue, &device.detail.queue);
    match fact {
        "logical sector" => plain(&queue.logical_block_bytes),
        "physical sector" => plain(&queue.physical_block_bytes),
        "least request" => plain(&more.minimum_io_bytes),
        "best request" => plain(&more.optimal_io_bytes),
        "alignment" => plain(&queue.alignment_offset_bytes),
        "rotational" => plain(&queue.rotational),
        "read-only" => plain(&device.detail.read_only),
        "scheduler" => plain(&queue.scheduler),
        "requests" => plain(&queue.nr_requests),
        "read-ahead KiB" => queue.read_ahead_bytes.as_ref().map(|f| (f.value >> 10).to_string()),
        "zoned" => plain(&more.zoned),
        "rounded discard" => queue.discard_max_bytes.as_ref().map(|f| rounded(f.value)),
        "write cache" => {
            let kernel = queue.write_cache.as_ref().map(|f| f.value == "write back");
            let drive = device.detail.identify.as_ref().map(|f| f.value.write_cache.1);
            // Both are shown; if they differ neither is taken.
            let agreed = drive.is_none() || drive == kernel;
            kernel.map(|k| if agreed { on(k) } else { "the sources differ".to_owned() })
        }
        _ => None,
    }
}

fn of_ata(device: &Device, fact: &str) -> Option<String> {
    let ata = device.detail.ata.as_ref();
    if fact == "link speed" {
        return plain(&ata?.link_speed);
    }
    let id = &device.detail.identify.as_ref()?.value;
    match fact {
        "multiple" => Some(id.multiple.1.to_string()),
        "most multiple" => Some(id.multiple.0.to_string()),
        "NCQ depth" => Some(id.ncq_depth.to_string()),
        "NCQ" => Some(id.ncq.to_string()),
        "SMART" => Some(on(id.smart.1)),
        "TRIM" => Some(id.trim.to_string()),
        // XFER_UDMA_5 is udma5 and XFER_MW_DMA_2 mdma2 in hdparm's words.
        "transfer mode" => ata?.transfer_mode.as_ref().map(|f| {
            let mode = f.value.trim_start_matches("XFER_").replace("MW_", "M").replace('_', "");
            mode.to_lowercase()
        }),
        // The link's station says it in the kernel's own words.
        "configured for" => {
            let link = device.attachment.iter().find(|h| h.kind == "link")?;
            link.detail.split_once(", ").map(|(_, mode)| mode.to_owned())
        }
        _ => None,
    }
}

fn of_scsi(device: &Device, fact: &str) -> Option<String> {
    if fact == "USB id" {
        return plain(&device.detail.usb.as_ref()?.id);
    }
    let scsi = device.detail.scsi.as_ref()?;
    match fact {
        "vendor" => plain(&scsi.vendor),
        "SCSI address" => Some(scsi.address.clone()),
        "state" => plain(&scsi.state),
        "rotation" => Some(match &scsi.rotation_rpm {
            None => "not reported".to_owned(),
            Some(f) if f.value == 1 => "Solid State Device".to_owned(),
            Some(f) => format!("{} rpm", f.value),
        }),
        _ => None,
    }
}

fn of_nvme(device: &Device, fact: &str) -> Option<String> {
    let nvme = device.detail.nvme.as_ref()?;
    // The controller counts in kelvins, and the tools take 273 of them off.
    let celsius =
        |f: &Option<Fact<i64>>| f.as_ref().map(|f| ((f.value + 273_150) / 1000 - 273).to_string());
    match fact {
        "controller" => Some(nvme.controller.clone()),
        "fabric" => plain(&nvme.transport),
        "state" => plain(&nvme.state),
        "I/O queues" => plain(&nvme.io_queues),
        "temperature" => celsius(&nvme.temperature_mc),
        "warning temperature" => celsius(&nvme.temperature_max_mc),
        "critical temperature" => celsius(&nvme.temperature_critical_mc),
        _ => None,
    }
}

fn of_pci(device: &Device, fact: &str) -> Option<String> {
    let function = device.detail.controller()?;
    match fact {
        "PCI class" => function.class_code().map(|code| format!("{code:06x}")),
        "PCI id" => plain(&function.id),
        "PCI vendor" => Some(function.id.as_ref()?.value.split(':').next()?.to_owned()),
        "PCI subsystem" => plain(&function.subsystem),
        "driver in use" => plain(&function.driver),
        "interrupt" => Some(plain(&function.interrupt).unwrap_or_else(|| "none".to_owned())),
        "MSI vectors" => Some(function.vectors.to_string()),
        "PCIe link" => function.link.as_ref().map(|f| printed_link(f.value)),
        "most PCIe link" => function.link_max.as_ref().map(|f| printed_link(f.value)),
        _ => None,
    }
}

fn printed_link(link: seekwell_inspect::facts::PcieLink) -> String {
    format!("{}GT/s x{}", link.gts, link.width)
}

/// Everything the tools printed of one machine, by tool.
fn theirs(folder: &Path, device: &Device) -> Vec<(&'static str, Said)> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let tools = text("tools.txt");
    let address = device.pci.as_ref().map_or("none", |f| f.value.as_str());
    vec![
        ("hdparm", printed::hdparm(&tools)),
        ("hdparm -i", printed::hdparm_i(&tools)),
        ("hdparm -I", printed::hdparm_identify(&tools)),
        ("smartctl", printed::smartctl(&tools)),
        ("sg3-utils", printed::sg(&tools)),
        ("lsblk", printed::lsblk(&tools)),
        ("lsscsi", printed::lsscsi(&tools)),
        ("lspci", printed::lspci(&text("lspci-vvnnk.txt"), address)),
        ("nvme", printed::nvme(&tools)),
        ("kernel log", printed::dmesg(&text("dmesg.txt"))),
    ]
}

#[test]
fn what_is_shown_agrees_with_the_usual_tools_or_it_is_said_why_not() {
    let Some(corpus) = corpus() else { return };
    let mut needed = BTreeSet::new();
    let mut wrong = Vec::new();
    for line in MACHINES.lines() {
        let cells: Vec<&str> = line.split('|').collect();
        let (machine, disk) = (cells[0], cells[1]);
        let device = device(&corpus.join(machine), disk);
        let all = theirs(&corpus.join(machine), &device);
        let counts: Vec<String> = all
            .iter()
            .filter(|a| !a.1.is_empty())
            .map(|(t, s)| format!("{t} {}", s.len()))
            .collect();
        if counts.join(",") != cells[2] {
            wrong.push(format!("{machine}|{disk}|{}", counts.join(",")));
        }
        for (tool, said) in &all {
            for (fact, theirs) in said {
                let ours = ours(&device, fact);
                if ours == *theirs {
                    continue;
                }
                let key = format!("{machine}|{tool}|{fact}|{ours}|{theirs}|");
                let reason = EXPLAINED.lines().find(|l| l.starts_with(&key));
                if let Some(reason) = reason {
                    needed.insert(reason);
                } else {
                    wrong.push(format!("not explained: {key}"));
                }
            }
        }
    }
    let idle = EXPLAINED.lines().filter(|line| !needed.contains(line));
    wrong.extend(idle.map(|line| format!("nothing needs the explanation: {line}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
