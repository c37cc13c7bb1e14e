use super::hdparm::Why;
use super::*;
use crate::commands::Commanded;
use seekwell_sys::fake::Fake;
use seekwell_sys::{DevId, Snapshot};
use std::path::Path;

/// An AHCI disk as the kernel shows it.
pub(crate) fn ahci() -> Fake {
    let dev = "/sys/devices/pci0000:00/0000:00:1f.2";
    let host = format!("{dev}/ata1/host0");
    let sdev = format!("{host}/target0:0:0/0:0:0:0");
    let disk = format!("{sdev}/block/sda");
    let queue = |name: &str| format!("{disk}/queue/{name}");
    Fake::new()
        .symlink("/sys/dev/block/8:0", &disk)
        .symlink("/sys/class/block/sda", &disk)
        .symlink("/sys/block/sda", &disk)
        .file(format!("{dev}/class"), "0x010601\n")
        .file(format!("{dev}/vendor"), "0x8086\n")
        .file(format!("{dev}/power/control"), "on\n")
        .file(format!("{dev}/link/l1_aspm"), "1\n")
        .file(format!("{dev}/msi_irqs/24"), "msi\n")
        .file("/proc/irq/24/smp_affinity_list", "0-1\n")
        .file("/sys/devices/system/cpu/present", "0-1\n")
        .file("/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", "0\n")
        .file("/sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us", "0\n")
        .file(format!("{host}/scsi_host/host0/can_queue"), "32\n")
        .file(
            format!("{host}/scsi_host/host0/link_power_management_policy"),
            "med_power_with_dipm\n",
        )
        .symlink(format!("{disk}/device"), "../..")
        .file(format!("{sdev}/queue_depth"), "32\n")
        .file(format!("{sdev}/timeout"), "30\n")
        .file(format!("{sdev}/state"), "running\n")
        .file(format!("{sdev}/scsi_disk/0:0:0:0/cache_type"), "write back\n")
        .file(format!("{disk}/dev"), "8:0\n")
        .file(format!("{disk}/size"), "2048\n")
        .file(format!("{disk}/diskseq"), "7\n")
        .file(format!("{disk}/mq/0/nr_tags"), "32\n")
        .file(queue("scheduler"), "[mq-deadline] bfq none\n")
        .file(queue("iosched/fifo_batch"), "16\n")
        .file(queue("nr_requests"), "64\n")
        .file(queue("read_ahead_kb"), "128\n")
        .file(queue("rotational"), "1\n")
        .file(queue("rq_affinity"), "1\n")
        .file(queue("max_hw_sectors_kb"), "128\n")
        .file(queue("max_sectors_kb"), "128\n")
        .file(queue("write_cache"), "write back\n")
        .file("/proc/self/mountinfo", "")
        .file("/proc/swaps", "")
}

pub(crate) fn disk(view: &dyn View) -> Disk {
    Disk::by_number(view, DevId { major: 8, minor: 0 }).expect("the fake shows a disk")
}

fn value_error(view: &Fake, key: &str, value: &str) -> String {
    let disk = disk(view);
    let attribute = find(view, &disk, key, None).unwrap();
    let values = (attribute.setting.values)(view, &disk, &attribute.path);
    values.check(value).unwrap_err().to_string()
}

#[test]
fn every_setting_is_found_where_the_kernel_keeps_it() {
    let view = ahci();
    let disk = disk(&view);
    let at = |key: &str| {
        let path = find(&view, &disk, key, None).unwrap().path.display().to_string();
        path.rsplit('/').take(3).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("/")
    };
    assert_eq!(at("scheduler"), "sda/queue/scheduler");
    assert_eq!(at("iosched.fifo_batch"), "queue/iosched/fifo_batch");
    assert_eq!(at("queue_depth"), "sda/device/queue_depth");
    assert_eq!(at("link_power"), "scsi_host/host0/link_power_management_policy");
    assert_eq!(at("cache_type"), "scsi_disk/0:0:0:0/cache_type");
    assert_eq!(at("pm"), "0000:00:1f.2/power/control");
    assert_eq!(at("aspm.l1_aspm"), "0000:00:1f.2/link/l1_aspm");
    assert_eq!(at("irq_affinity.24"), "irq/24/smp_affinity_list");
    assert_eq!(at("irq_affinity"), "irq/24/smp_affinity_list", "the only one needs no number");
}

#[test]
fn a_mistyped_key_is_answered_with_the_nearest() {
    let view = ahci();
    let disk = disk(&view);
    let said = |key: &str| find(&view, &disk, key, None).unwrap_err().to_string();
    assert_eq!(said("schedular"), "there is no setting schedular; did you mean scheduler?");
    assert_eq!(
        said("readahead_kb"),
        "there is no setting readahead_kb; did you mean read_ahead_kb?"
    );
    assert_eq!(
        said("iosched.fifobatch"),
        "there is no setting iosched.fifobatch; did you mean iosched.fifo_batch?"
    );
    assert_eq!(said("xyzzy"), "there is no setting xyzzy");
    assert_eq!(
        said("provisioning_mode"),
        "sda has no provisioning_mode: it is no SCSI or ATA disk"
    );
}

#[test]
fn a_value_out_of_range_is_answered_with_the_range() {
    let view = ahci();
    assert_eq!(value_error(&view, "queue_depth", "33"), "out of range: 1 to 32");
    assert_eq!(value_error(&view, "queue_depth", "many"), "not a whole number (1 to 32)");
    assert_eq!(value_error(&view, "max_sectors_kb", "512"), "out of range: 4 to 128");
    assert_eq!(
        value_error(&view, "read_ahead_kb", "5"),
        "the kernel would round it to 4: 0 to 4294967292, in steps of 4"
    );
    assert_eq!(
        value_error(&view, "scheduler", "deadline"),
        "not one of mq-deadline, bfq, none; did you mean mq-deadline?"
    );
    assert_eq!(
        value_error(&view, "irq_affinity.24", "0-7"),
        "not a list of CPUs such as 0-1 or 0,1"
    );
    let none = view.file(disk(&ahci()).at("queue/scheduler"), "[none] mq-deadline\n");
    assert_eq!(value_error(&none, "nr_requests", "33"), "out of range: 4 to 32");
}

#[test]
fn a_parameter_of_a_scheduler_to_come_is_known_before_it_is_there() {
    let view = ahci();
    let disk = disk(&view);
    assert!(find(&view, &disk, "iosched.slice_idle", None).is_err());
    let found = find(&view, &disk, "iosched.slice_idle", Some("bfq")).unwrap();
    assert!(found.path.ends_with("queue/iosched/slice_idle"));
    let error = find(&view, &disk, "iosched.fifo_batch", Some("bfq")).unwrap_err();
    assert!(matches!(error, SettingError::Unknown { .. }), "{error}");
    assert!(find(&view, &disk, "iosched.../../delete", Some("own")).is_err());
}

#[test]
fn risk_goes_with_the_value() {
    let view = ahci();
    let disk = disk(&view);
    let risk = |key: &str, value: &str| {
        (find(&view, &disk, key, None).unwrap().setting.risk)(value).letter()
    };
    assert_eq!(risk("rq_affinity", "2"), 'A');
    assert_eq!(risk("scheduler", "none"), 'B');
    assert_eq!(risk("timeout", "5"), 'C');
    assert_eq!(risk("write_cache", "write through"), 'D');
    assert_eq!((risk("cache_type", "write through"), risk("cache_type", "write back")), ('B', 'D'));
    assert_eq!(risk("cache_type", "temporary write through"), 'D');
    assert_eq!(
        (risk("link_power", "max_performance"), risk("link_power", "min_power")),
        ('A', 'C')
    );
    assert_eq!((risk("pm", "on"), risk("pm", "auto")), ('A', 'C'));
}

#[test]
fn classic_switches_are_mapped_or_refused_with_the_true_reason() {
    let view = ahci();
    let disk = disk(&view);
    let set = |key: &str, value: &str| Request::Set { key: key.into(), value: value.into() };
    let translated = |word: &str| {
        let Ok(Request::Classic(switch)) = parse(word) else { panic!("{word}") };
        hdparm::translate(&switch, &disk).map_err(|r| r.why)
    };
    assert_eq!(translated("-a256"), Ok(set("read_ahead_kb", "128")));
    assert_eq!(translated("hdparm-W=0"), Ok(set("cache_type", "write through")));
    assert_eq!(translated("-W1"), Ok(set("cache_type", "write back")));
    assert_eq!(translated("-Q=1"), Ok(set("queue_depth", "1")));
    assert_eq!(translated("-A0"), Ok(set("look_ahead", "0")));
    assert_eq!(translated("-B254"), Ok(set("apm", "254")));
    assert_eq!(translated("-M128"), Ok(set("acoustic", "128")));
    assert_eq!(translated("-r1"), Ok(set("read_only", "1")));
    for (word, why) in [
        ("-d1", Why::Dma),
        ("-u1", Why::Unmask),
        ("-k1", Why::KeepSettings),
        ("-m16", Why::Multcount),
        ("-X66", Why::TransferMode),
        ("-c1", Why::NoPio),
        ("-S12", Why::StandbyTimer),
    ] {
        assert_eq!(translated(word), Err(why), "{word}");
    }
    let piix = ahci().symlink("/sys/devices/pci0000:00/0000:00:1f.2/driver", "/x/ata_piix");
    let disk = self::disk(&piix);
    let Ok(Request::Classic(wide)) = parse("-c1") else { panic!("-c1") };
    assert_eq!(hdparm::translate(&wide, &disk), Ok(set("io_32bit", "1")));
    assert!(parse("-Z").is_err() && parse("scheduler").is_err() && parse("=x").is_err());
}

#[test]
fn settings_that_are_commands_are_found_below_the_node_where_the_drive_offers_them() {
    let view = ahci().file("/dev/sda/ata/apm", "128").file("/dev/sda/block/read_only", "0");
    let disk = disk(&view);
    let path = |key: &str| find(&view, &disk, key, None).map(|a| a.path);
    assert_eq!(path("apm").unwrap(), Path::new("/dev/sda/ata/apm"));
    assert_eq!(path("read_only").unwrap(), Path::new("/dev/sda/block/read_only"));
    let absent = |key: &str| path(key).unwrap_err().to_string();
    assert!(absent("look_ahead").contains("the drive does not offer it"));
    assert!(absent("nvme.apst").contains("it is no NVMe disk"));
    assert!(absent("io_32bit").contains("moves the data itself"));
    let risk = |key: &str, value: &str| {
        (find(&view, &disk, key, None).unwrap().setting.risk)(value).letter()
    };
    assert_eq!(
        (risk("apm", "128"), risk("read_only", "0"), risk("read_only", "1")),
        ('B', 'B', 'D')
    );
    assert_eq!(value_error(&view, "apm", "256"), "out of range: 1 to 255");
    let quiet = ahci().file("/dev/sda/ata/acoustic", "128");
    let said = value_error(&quiet, "acoustic", "100");
    assert_eq!(said, "out of range: 128 to 254, or 0 for off");
}

/// What the kernel did with every value that was written on the rig: `(attribute, value, taken as
/// it was)`.
fn written(knobs: &str) -> Vec<(String, String, bool)> {
    let mut path = String::new();
    let mut all = Vec::new();
    for line in knobs.lines() {
        if let Some(at) = line.strip_prefix("/sys/block/sda/") {
            path = at.split_whitespace().next().unwrap_or_default().to_owned();
        } else if let Some(rest) = line.trim_start().strip_prefix("<- '")
            && let Some((value, result)) = rest.split_once('\'')
            && let Some((_, back)) = result.split_once("readback=[")
        {
            let back = crate::apply::current(back.trim_end_matches(']'));
            let ok = result.trim_start().starts_with("ok");
            all.push((path.clone(), value.to_owned(), ok && back == value));
        }
    }
    all
}

#[test]
fn the_ranges_agree_with_what_a_real_kernel_took() {
    let rig = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures/knobs/ahci/knobs.txt");
    let Ok(knobs) = std::fs::read_to_string(rig) else {
        return eprintln!("skipped: {rig} is not here");
    };
    let mut compared = 0;
    let none = ahci().file(disk(&ahci()).at("queue/scheduler"), "[none] mq-deadline bfq kyber\n");
    let none_disk = disk(&none);
    let mut nr_requests_seen = 0;
    for (path, value, taken) in written(&knobs) {
        let key = path.rsplit('/').next().unwrap().to_owned();
        // Zero, which the kernel takes as a time-out, loses every command.
        let known = [
            "queue_depth",
            "read_ahead_kb",
            "rq_affinity",
            "nomerges",
            "max_sectors_kb",
            "rotational",
            "add_random",
            "iostats",
            "nr_requests",
            "write_cache",
        ];
        if !known.contains(&key.as_str()) {
            continue;
        }
        if key == "nr_requests" {
            nr_requests_seen += 1;
            // The second half was written under mq-deadline, whose limit the kernel alone knows.
            if nr_requests_seen > 14 {
                continue;
            }
        }
        let Some(setting) = registry().find(|s| s.key == key) else { continue };
        let at = none_disk.dir.join(&path);
        let accepted = (setting.values)(&none, &none_disk, &at).check(&value).is_ok();
        assert_eq!(accepted, taken, "{key}={value}");
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn every_saved_machine_s_disks_have_settings_that_take_what_they_have() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures");
    let Ok(folders) = std::fs::read_dir(fixtures) else {
        return eprintln!("skipped: {fixtures} is not here");
    };
    let mut settings = 0;
    for folder in folders.flatten() {
        let Ok(view) = Snapshot::open(&folder.path()) else { continue };
        for target in seekwell_inspect::all_disks(&view) {
            let Some(dev) = target.dev else { continue };
            let Ok(disk) = Disk::by_number(&view, dev) else { continue };
            let known = [&disk.device.serial, &disk.device.wwn];
            let known = known.map(|fact| fact.as_ref().map(|f| f.value.clone()));
            assert_eq!([disk.identity.serial.clone(), disk.identity.wwn.clone()], known);
            for attribute in attributes(&view, &disk) {
                let Ok(text) = view.text(&attribute.path) else { continue };
                let now = crate::apply::current(&text);
                let values = (attribute.setting.values)(&view, &disk, &attribute.path);
                settings += 1;
                if attribute.key == "nr_requests" || attribute.key.starts_with("irq_affinity") {
                    // Below 4 on disks with few tags: exactly what cannot be put back; and the
                    // CPUs of the machine are in another file.
                    continue;
                }
                let name = folder.file_name();
                assert!(values.check(&now).is_ok(), "{name:?} {}={now}: {values}", attribute.key);
            }
        }
    }
    assert!(settings > 200, "only {settings} settings of all saved machines were looked at");
}

#[test]
fn what_every_cpu_has_is_one_setting() {
    let governor =
        |cpu: u32, file: &str| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/{file}");
    let view = [0, 1].into_iter().fold(ahci(), |view, cpu| {
        view.file(governor(cpu, "scaling_governor"), "powersave\n")
            .file(governor(cpu, "scaling_available_governors"), "performance powersave\n")
    });
    let view = Commanded::new(view);
    let disk = disk(&view);
    let values = |key: &str| {
        let attribute = find(&view, &disk, key, None).unwrap();
        (attribute.setting.values)(&view, &disk, &attribute.path)
    };
    let idle = values("cpu.idle_latency");
    assert_eq!(idle.check("n/a"), Ok("n/a".to_owned()));
    assert_eq!(idle.check("20"), Ok("20".to_owned()));
    assert_eq!(
        idle.check("none").unwrap_err().to_string(),
        "not a whole number (0 or more, or n/a)"
    );
    assert_eq!(idle.check("-1").unwrap_err().to_string(), "out of range: 0 or more");
    assert_eq!(values("cpu.governor").to_string(), "performance, powersave");
    let absent = find(&view, &disk, "cpu.energy_preference", None).unwrap_err().to_string();
    assert!(absent.starts_with("sda has no cpu.energy_preference: this kernel or machine"));
}
