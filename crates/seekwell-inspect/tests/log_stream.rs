//! Logs as they come: pieces of text, renumbered ports, wrapped buffers, rubbish, and too much.
#![allow(clippy::print_stderr)]

use proptest::prelude::*;
use seekwell_inspect::Severity;
use seekwell_inspect::log::KernelEvent;
use seekwell_inspect::log::catalogue::{entries, entry};
use seekwell_inspect::log::{
    Collector, DeviceState, Incident, LogReport, LogSource, MAX_LINE, MappedBy, read,
};
use std::io::{self, Read};
use std::time::Instant;

fn log(text: impl AsRef<[u8]>) -> LogReport {
    read(LogSource::Stream("a test", &mut text.as_ref()), None).expect("a report")
}

fn ids(report: &LogReport) -> Vec<&str> {
    report.incidents.iter().map(|i| i.id.as_str()).collect()
}

fn one(report: &LogReport) -> &Incident {
    assert_eq!(report.incidents.len(), 1, "{:#?}", report.incidents);
    &report.incidents[0]
}

#[test]
fn the_lines_of_a_published_diagnosis_are_understood_without_anything_around_them() {
    let before = log("ata2.00: limiting SATA link speed to 1.5 Gbps\n");
    let incident = one(&before);
    assert_eq!((incident.id.as_str(), incident.subject.as_deref()), ("KL-001", Some("ata2.00")));
    assert_eq!(incident.states, [DeviceState::LinkLimited { speed: "1.5 Gbps".into() }]);
    assert_eq!((incident.severity, incident.disk.as_deref()), (Severity::Error, None));
    assert_eq!(before.facts.ports[0].limited_to.as_deref(), Some("1.5 Gbps"));
    let after = log("ata1: SATA max UDMA/133 abar m2048@0xfbed6000 port 0xfbed6100 irq 30\n\
                     ata1: SATA link up 3.0 Gbps (SStatus 123 SControl 300)\n");
    assert!(after.incidents.is_empty());
    assert_eq!(after.incomplete_since, None);
    let port = &after.facts.ports[0];
    assert_eq!((port.name.as_str(), port.irq), ("ata1", Some(30)));
    assert_eq!(port.max_mode.as_deref(), Some("UDMA/133"));
    let resources = "abar m2048@0xfbed6000 port 0xfbed6100 irq 30";
    assert_eq!(port.resources.as_deref(), Some(resources));
    let link = port.link.as_ref().expect("a link");
    assert_eq!(link.speed.as_deref(), Some("3.0 Gbps"));
    assert_eq!((link.sstatus.as_str(), link.scontrol.as_str()), ("123", "300"));
    assert_eq!(link.limit(), None);
}

/// What libata and SCSI print when they find one disk on one of two ports.
fn probe(first_ata: u32, disk_on: u32, seq: &mut u64) -> String {
    let mut out = String::new();
    let mut say = |text: String| {
        *seq += 1;
        out += &format!("6,{seq},{},-;{text}\n", *seq * 1000);
    };
    say("scsi host0: ahci".into());
    say("scsi host1: ahci".into());
    say(format!("ata{first_ata}: SATA max UDMA/133 abar m2048@0xf port 0xf irq 30"));
    say(format!("ata{}: SATA max UDMA/133 abar m2048@0xf port 0xf irq 30", first_ata + 1));
    let device = first_ata + disk_on;
    say(format!("ata{device}.00: ATA-9: A DISK, FW1, max UDMA/133"));
    say(format!("sd {disk_on}:0:0:0: [sda] 524288 512-byte logical blocks"));
    out
}

#[test]
fn a_port_number_means_the_disk_it_meant_before_the_rebind() {
    // ata1 and ata2 become ata3 and ata4 when the driver is bound again, and the disk was moved
    // from the first port to the second meanwhile.
    let mut seq = 0;
    let mut text = format!("5,0,0,-;Linux version 6.1.0 (x)\n{}", probe(1, 0, &mut seq));
    text += "4,50,50000,-;ata1.00: NCQ disabled due to excessive errors\n";
    let before = log(&text);
    assert_eq!(before.incidents[0].states, [DeviceState::NcqOff]);
    assert_eq!(before.incidents[0].recovered, None);
    seq = 60;
    text += &probe(3, 1, &mut seq);
    text += "4,90,90000,-;ata4.00: limiting SATA link speed to 1.5 Gbps\n";
    text += "6,91,91000,-;ata3.00: applying bridge limits\n";
    let report = log(&text);
    let who: Vec<_> =
        report.incidents.iter().map(|i| (i.subject.as_deref(), i.disk.as_deref())).collect();
    let (a1, a4, a3) = (Some("ata1.00"), Some("ata4.00"), Some("ata3.00"));
    assert_eq!(who, [(a1, Some("sda")), (a4, Some("sda")), (a3, None)]);
    assert_eq!(report.incidents[2].mapped_by, MappedBy::Unknown);
    // What was switched off on the old attachment is over with it.
    assert!(report.incidents[0].states.is_empty());
    assert!(report.incidents[0].recovered.is_some());
}

#[test]
fn an_io_error_inside_error_handling_ties_a_port_to_its_disk() {
    let text = "[  100.1] ata3.00: exception Emask 0x0 SAct 0x1 SErr 0x0 action 0x6 frozen\n\
                [  100.2] ata3: hard resetting link\n\
                [  100.9] I/O error, dev sdc, sector 8 op 0x0:(READ)\n\
                [  100.9] ata3: EH complete\n\
                [  200.0] I/O error, dev sdd, sector 8 op 0x0:(READ)\n";
    let report = log(text);
    assert_eq!(ids(&report), ["KL-004", "KL-040"]);
    let (a, b) = (&report.incidents[0], &report.incidents[1]);
    assert_eq!((a.disk.as_deref(), a.mapped_by), (Some("sdc"), MappedBy::Together));
    assert_eq!(a.counts[&KernelEvent::IoError], 1);
    assert_eq!((b.disk.as_deref(), b.mapped_by), (Some("sdd"), MappedBy::Named));
    // Two ports in trouble at once: neither is guessed.
    let two = "[  100.1] ata3.00: exception Emask 0x0 SAct 0x1 SErr 0x0 action 0x6 frozen\n\
               [  100.2] ata4.00: exception Emask 0x0 SAct 0x1 SErr 0x0 action 0x6 frozen\n\
               [  100.9] I/O error, dev sdc, sector 8 op 0x0:(READ)\n";
    assert_eq!(ids(&log(two)), ["KL-004", "KL-004", "KL-040"]);
}

#[test]
fn repeats_within_ten_minutes_are_one_incident_and_later_ones_another() {
    let line = |s: u64| format!("[{s:>5}.000000] ata1: hard resetting link\n");
    let report = log([line(100), line(600), line(1199), line(1800), line(9000)].concat());
    let counts: Vec<u64> = report.incidents.iter().map(|i| i.count).collect();
    assert_eq!(counts, [3, 1, 1]);
    assert_eq!(report.incidents[0].per_hour, Some(3.0));
    assert_eq!(report.incidents[1].per_hour, None);
    // One every nine minutes over 36 hours.
    let long: String = (0..240).map(|n| line(100 + n * 540)).collect();
    let rate = one(&log(long)).per_hour.expect("a rate");
    assert!((rate - 6.69).abs() < 0.01, "{rate}");
}

#[test]
fn a_wrapped_ring_buffer_says_since_when_it_knows() {
    let wrapped = log("6,4711,900000000,-;usb 1-1: x\n6,4712,900000001,-;y\n");
    assert_eq!(wrapped.incomplete_since.and_then(|s| s.boot_us), Some(900_000_000));
    let text = log("[  900.000000] usb 1-1: x\n");
    assert_eq!(text.incomplete_since.and_then(|s| s.boot_us), Some(900_000_000));
    let whole = log("6,0,0,-;Linux version 6.1.0 (x)\n6,1,0,-;y\n");
    assert_eq!((whole.incomplete_since, whole.boots), (None, 1));
    // The console's own noise may come before the kernel's first line.
    let console = log("SeaBIOS\n\x1b[2J[    0.000000] Linux version 6.1.0 (x)\n[  1.000000] y\n");
    assert_eq!(console.incomplete_since, None);
}

#[test]
fn a_second_boot_in_one_file_starts_over() {
    let boot = "[    0.000000] Linux version 6.1.0 (x)\n\
                [    1.000000] scsi host0: ahci\n\
                [    1.000000] ata1: SATA max UDMA/133 abar m irq 1\n\
                [    2.000000] sd 0:0:0:0: [sda] Attached SCSI disk\n\
                [    3.000000] ata1.00: NCQ disabled due to excessive errors\n";
    let second = boot.replace("sda", "sdb");
    let report = log(format!("{boot}{second}"));
    let disks: Vec<_> = report.incidents.iter().map(|i| i.disk.as_deref()).collect();
    assert_eq!(disks, [Some("sda"), Some("sdb")]);
    assert_eq!((report.boots, report.facts.ports.len()), (2, 1));
}

#[test]
fn a_port_that_had_a_disk_and_lost_it_is_told_from_an_empty_one() {
    let empty = "[ 1.0] ata2: SATA link down (SStatus 0 SControl 300)\n";
    assert!(log(empty).incidents.is_empty());
    let found = "[ 1.0] ata2.00: ATA-9: A DISK, FW, max UDMA/133\n";
    let report = log(format!("{found}[ 50.0] ata2: SATA link down (SStatus 0 SControl 300)\n"));
    assert_eq!(
        (one(&report).id.as_str(), &one(&report).states[..]),
        ("KL-028", &[DeviceState::LinkDown,][..])
    );
}

#[test]
fn letting_a_disk_go_on_purpose_is_no_loss_and_giving_it_up_is() {
    let purpose = "[ 12.5] sd 0:0:0:0: [sda] Stopping disk\n[ 12.6] ata1.00: disable device\n";
    assert!(log(purpose).incidents.is_empty());
    let given_up = "[ 12.5] ata1: hard resetting link\n\
                    [ 22.5] ata1: COMRESET failed (errno=-16)\n\
                    [ 52.5] ata1: reset failed, giving up\n\
                    [ 52.6] ata1.00: disable device\n\
                    [ 52.7] ata1: EH complete\n";
    let report = log(given_up);
    let incident = one(&report);
    assert_eq!((incident.id.as_str(), incident.critical), ("KL-015", true));
    assert_eq!((&incident.states[..], incident.recovered), (&[DeviceState::Disabled][..], None));
}

#[test]
fn a_sata_port_run_as_ide_is_named_only_with_the_driver_that_does_so() {
    let line = "[ 1.0] ata1: SATA max UDMA/133 cmd 0x1f0 ctl 0x3f6 bmdma 0xf090 irq 14\n";
    let report = log(format!("[ 1.0] scsi host0: ata_piix\n{line}"));
    assert_eq!(one(&report).id.as_str(), "KL-031");
    assert_eq!(one(&report).severity, Severity::Warning);
    assert!(log(format!("[ 1.0] scsi host0: sata_nv\n{line}")).incidents.is_empty());
    let parallel = line.replace("SATA max", "PATA max");
    assert!(log(format!("[ 1.0] scsi host0: ata_piix\n{parallel}")).incidents.is_empty());
}

#[test]
fn a_drive_for_discs_in_pio_is_no_trouble_and_a_disk_is() {
    let found = "[ 1.0] ata2.00: ATAPI: A DVD-ROM, 2.5+, max PIO4\n";
    let report = log(format!("{found}[ 1.1] ata2.00: configured for PIO4\n"));
    assert_eq!(report.facts.devices[0].standard.as_deref(), Some("ATAPI"));
    assert_eq!(one(&report).severity, Severity::Info);
    let disk = "[ 1.0] ata1.00: ATA-7: A DISK, 2.5+, max UDMA/100\n";
    let report = log(format!("{disk}[ 1.1] ata1.00: configured for PIO4\n"));
    assert_eq!(one(&report).severity, Severity::Error);
}

#[test]
fn a_file_system_that_stopped_leaves_that_as_its_state() {
    let report = log("[ 5.0] Aborting journal on device dm-0-8.\n\
                      [ 5.1] EXT4-fs (dm-0): Remounting filesystem read-only\n\
                      [ 6.0] XFS (sdb1): Log I/O Error Detected. Shutting down filesystem\n");
    let stopped = |device: &str| DeviceState::FilesystemStopped { device: device.to_owned() };
    let states: Vec<_> = report.incidents.iter().map(|i| i.states.clone()).collect();
    assert_eq!(states, [vec![stopped("dm-0")], vec![stopped("sdb1")]]);
    assert_eq!(report.incidents[0].count, 1);
    assert_eq!(report.incidents[1].disk.as_deref(), Some("sdb"));
}

#[test]
fn binary_rubbish_is_passed_over_and_the_lines_in_it_are_found() {
    let mut bytes: Vec<u8> =
        (0..200_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    bytes.extend(b"\n\xff\xfe\x00\n3,1,5000000,-;ata1.00: error: { UNC }\xff\xff\x00\n");
    bytes.extend(b"{\"MESSAGE\":\n[\n]\n<9999999999>[x.y] \n[99999999999999999999.9] z\n;;;,,,\n");
    let report = log(&bytes);
    assert_eq!(one(&report).id.as_str(), "KL-007");
    assert!(one(&report).samples[0].chars().all(|c| !c.is_control()));
}

#[test]
fn a_line_of_a_megabyte_is_read_to_its_bound_and_the_next_one_is_whole() {
    let mut text = vec![b'x'; 1 << 20];
    text.extend(b"ata1.00: NCQ disabled due to excessive errors\n");
    text.extend(b"ata2.00: NCQ disabled due to excessive errors");
    let report = log(&text);
    assert_eq!((report.lines, report.cut), (2, 1));
    assert_eq!(one(&report).subject.as_deref(), Some("ata2.00"));
    let long = format!("ata3.00: failed command: READ DMA{}\n", "y".repeat(MAX_LINE));
    let report = log(&long);
    assert_eq!(report.cut, 1);
    assert!(one(&report).samples[0].chars().count() <= 300);
}

#[test]
fn a_log_cut_into_pieces_anywhere_says_the_same() {
    let text = "5,0,0,-;Linux version 6.1.0 (x)\n4,7,5000,-;ata1.00: NCQ disabled due to \
                excessive errors\n DEVICE=+scsi:0\n3,8,6000,-;I/O error, dev sda, sector 1\n";
    let whole = log(text);
    for size in [1, 2, 3, 7, 64] {
        let mut collector = Collector::new(None);
        text.as_bytes().chunks(size).for_each(|piece| collector.push(piece));
        assert_eq!(collector.report("a test"), whole, "pieces of {size}");
    }
    let json = serde_json::to_string(&whole).expect("it is written");
    assert_eq!(serde_json::from_str::<LogReport>(&json).expect("it is read"), whole);
}

/// A log of any length: harmless lines, and once in a while one that matters, on many devices.
struct Endless {
    left: u64,
    line: u64,
    rest: Vec<u8>,
    most: usize,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        while self.rest.len() < into.len() {
            self.line += 1;
            let (n, us) = (self.line, self.line * 900);
            let line = match n % 1000 {
                0 => format!("3,{n},{us},-;ata{}.00: failed command: READ DMA\n", n % 7000),
                _ => format!(
                    "6,{n},{us},-;audit: type=1400 audit({us}.123:{n}): apparmor=\"ALLOWED\" \
                     operation=\"open\" profile=\"/usr/bin/something\" name=\"/etc/ssl/x.cnf\"\n"
                ),
            };
            self.rest.extend(line.as_bytes());
            self.most = self.most.max(self.rest.len());
        }
        let n = into.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        into[..n].copy_from_slice(&self.rest[..n]);
        self.rest.drain(..n);
        self.left -= n as u64;
        Ok(n)
    }
}

/// Memory this process holds, in KiB.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn two_hundred_megabytes_are_read_in_bounded_memory() {
    const SIZE: u64 = 200 << 20;
    let mut endless = Endless { left: SIZE, line: 0, rest: Vec::new(), most: 0 };
    let before = resident();
    let start = Instant::now();
    let report = read(LogSource::Stream("endless", &mut endless), None).expect("a report");
    let took = start.elapsed();
    eprintln!("{} lines in {took:?}", report.lines);
    assert!(report.lines > 1_000_000, "{}", report.lines);
    let seen: u64 = report.incidents.iter().map(|i| i.count).sum::<u64>() + report.left_out;
    assert!(seen >= report.lines / 1000 - 1, "{seen} of {} thousand", report.lines / 1000);
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after.saturating_sub(before) < 64 << 10, "{before} to {after} KiB");
    }
    assert!(took.as_secs() < 120, "{took:?}");
}

/// Lines of every form of the catalogue with anything in their holes, between any bytes.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let forms: Vec<&'static str> = entries().flat_map(|e| e.forms.iter().map(|f| f.1)).collect();
    let names = ["ata1", "ata1.00", "ata2", "sda", "nvme0", "nvme0n1", "0:0:0:0", "0000:00:1f.2"];
    let hole = prop_oneof![
        prop::sample::select(names.to_vec()).prop_map(str::to_owned),
        any::<u64>().prop_map(|n| n.to_string()),
        "[ -~]{0,8}",
    ];
    let line = (prop::sample::select(forms), any::<u32>(), hole, any::<bool>()).prop_map(
        |(form, time, hole, kmsg)| {
            let mut text = String::new();
            for (i, part) in form.split(['<', '>']).enumerate() {
                text += if i % 2 == 0 { part } else { &hole };
            }
            let stamp = if kmsg { format!("3,{time},{time},-;") } else { format!("[{time}.5] ") };
            format!("{stamp}{text}\n").into_bytes()
        },
    );
    let noise = prop::collection::vec(any::<u8>(), 0..40);
    prop::collection::vec(prop_oneof![4 => line, 1 => noise], 0..40).prop_map(|l| l.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_log_gives_a_report_that_holds_together(bytes in mutated(), size in 1_usize..50) {
        let whole = log(&bytes);
        let mut collector = Collector::new(None);
        bytes.chunks(size).for_each(|piece| collector.push(piece));
        prop_assert_eq!(&collector.report("a test"), &whole);
        for incident in &whole.incidents {
            prop_assert_eq!(entry(incident.id).id, incident.id);
            prop_assert!(incident.counts.contains_key(&incident.id));
            prop_assert!(incident.count > 0 && !incident.samples.is_empty());
            let unknown = incident.mapped_by == MappedBy::Unknown;
            prop_assert_eq!(incident.disk.is_none(), unknown);
        }
        let json = serde_json::to_vec(&whole).expect("it is written");
        prop_assert_eq!(serde_json::from_slice::<LogReport>(&json).expect("it is read"), whole);
    }
}

#[test]
fn a_device_made_anew_does_not_answer_for_the_one_of_its_name_before() {
    let error = |device: &str| {
        format!(
            "I/O error, dev {device}, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2\n"
        )
    };
    let resized = |device: &str| format!("{device}: detected capacity change from 0 to 2048\n");
    assert_eq!(ids(&log(error("loop0"))), ["KL-040"]);
    assert!(log(error("loop0") + &resized("loop0")).incidents.is_empty());
    let of_others = log(error("loop0") + &error("sda") + &resized("loop1") + &resized("sda"));
    assert_eq!(of_others.incidents.len(), 2, "{of_others:?}");
    let since = log(error("zram0") + &resized("zram0") + &error("zram0"));
    assert_eq!(one(&since).count, 1);
    let grown = log(error("loop0") + "loop0: detected capacity change from 2048 to 4096\n");
    assert_eq!(ids(&grown), ["KL-040"]);
}
