//! What is found on modelled machines and real devices alike, and what is not found on healthy
//! ones.

use crate::common::{self, Mounted, Throttle, done, run, skip};
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

const HEALTHY: [&str; 6] = [
    "sata-7200.toml",
    "sata-ssd.toml",
    "nvme-ssd.toml",
    "c300-after.toml",
    "p4sbe-ich8-ahci.toml",
    "dragonfly-hdd-after.toml",
];

/// A run's findings above information, as `id: title`.
fn found(args: &[&str]) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    let ran = run(home.path(), args);
    assert!(ran.status < 2, "{args:?}: {}", ran.err);
    let findings = ran.json()["findings"].as_array().cloned().unwrap_or_default();
    let text = |f: &Value, key: &str| f[key].as_str().unwrap_or_default().to_owned();
    let grave = findings.iter().filter(|f| f["severity"] != "info");
    grave.map(|f| format!("{}: {}", text(f, "id"), text(f, "title"))).collect()
}

fn checkup(machine: &str) -> Vec<String> {
    found(&["checkup", machine, "--quick", "--json", "--no-keep"])
}

fn has(found: &[String], id: &str) -> bool {
    found.iter().any(|f| f.starts_with(id))
}

#[test]
fn a_drive_that_could_queue_and_is_given_one_command_at_a_time_is_found_on_a_model() {
    // A checkup of these three said "No problems were found".
    for machine in ["c300-before.toml", "p4sbe-ich8-piix.toml", "x8dtl-ide.toml"] {
        assert!(has(&checkup(machine), "SW-QUEUE-002"), "{machine}: {:?}", checkup(machine));
        let sweep = ["bench", "--on", machine, "--sweep=iodepth=1,8,32", "--rw=randread"];
        let all = [&sweep[..], &["--runtime=5s", "--json", "--no-keep"]].concat();
        assert!(has(&found(&all), "SW-QUEUE-002"), "{machine}: {:?}", found(&all));
    }
}

#[test]
fn the_transfer_mode_is_named_where_it_is_the_limit() {
    let default = checkup("pii350-default.toml");
    assert!(has(&default, "SW-DMA-001") && has(&default, "SW-DMA-007"), "{default:?}");
    assert!(!has(&checkup("pii350-udma2.toml"), "SW-DMA"));
}

#[test]
fn a_bus_that_carries_no_more_is_the_limit_of_its_array() {
    let of = |machine| {
        let all = checkup(machine);
        all.into_iter().find(|f| f.starts_with("SW-ARRAY-001")).unwrap_or_default()
    };
    assert!(of("megaraid1600-pci32-33.toml").contains("the PCI 32/33 bus"));
    // Where PCI is wider, it is the SCSI bus; `machine limits` shows the same of its reads.
    assert!(of("megaraid1600-pci64-66.toml").contains("the SCSI bus"));
    assert_eq!(of("sata-ssd.toml"), "");
}

#[test]
fn a_controller_whose_cache_is_off_is_found() {
    let bench = ["bench", "--on", "megaraid1600-pci64-66.toml", "--rw=randwrite", "--runtime=5s"];
    let off = [&bench[..], &["--set=memory.write=through", "--json", "--no-keep"]].concat();
    assert!(has(&found(&off), "SW-WC-006"), "{:?}", found(&off));
    let on = [&bench[..], &["--json", "--no-keep"]].concat();
    assert!(!has(&found(&on), "SW-WC-006"));
}

#[test]
fn a_side_that_starves_beside_the_other_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("two.fio");
    let file = file.to_str().unwrap();
    let beside = |machine, more: &str| {
        let text = "[global]\nruntime=20\ntime_based\nsize=10g\ndirect=1\nioengine=libaio\n\
                    bs=4k\n[reader]\nrw=randread\n";
        std::fs::write(file, text.to_owned() + more).unwrap();
        found(&["bench", file, "--on", machine, "--json", "--no-keep"])
    };
    let starved = beside("dragonfly-hdd-before.toml", "[writer]\nrw=write\nbs=1m\niodepth=32\n");
    assert!(starved.iter().any(|f| f.contains("reads starve beside writes")), "{starved:?}");
    for machine in ["dragonfly-hdd-after.toml", "sata-ssd.toml"] {
        let fair = beside(machine, "iodepth=32\n[writer]\nrw=randwrite\niodepth=32\n");
        assert!(!has(&fair, "SW-MIX"), "{machine}: {fair:?}");
    }
}

#[test]
fn healthy_machines_have_no_findings() {
    for machine in HEALTHY {
        let found = checkup(machine);
        assert!(found.is_empty(), "{machine}: {found:?}");
    }
}

#[test]
fn one_workload_that_reads_and_writes_is_judged_like_two_jobs() {
    // Only jobs side by side were judged.
    let mixed = |machine: &str, more: &[&str]| {
        let bench = ["bench", "--on", machine, "--rw=randrw", "--iodepth=8"];
        found(&[&bench[..], &["--json", "--no-keep"], more].concat())
    };
    for side in ["read", "write"] {
        let slow = format!("--set=drive.{side}_latency_ns=1_000_000_000");
        let starved = mixed("nvme-ssd.toml", &["--runtime=30s", &slow]);
        assert!(starved.iter().any(|f| f.contains(&format!("{side}s starve"))), "{starved:?}");
    }
    for machine in HEALTHY {
        // A solid-state drive does in 3 s many times what a hard drive does in 30.
        let runtime = if machine.contains("-ssd") { "--runtime=3s" } else { "--runtime=30s" };
        let found = mixed(machine, &[runtime]);
        assert!(!has(&found, "SW-MIX"), "{machine}: {found:?}");
    }
}

#[test]
fn writes_that_a_control_group_throttles_are_told_with_their_limit() {
    let Some(disk) = Mounted::ext4(2400 << 20, "defaults") else { return };
    // The reads are to be the disk's and not the page cache's.
    common::tool("losetup", &["--direct-io=on", &disk.disk.device]);
    let Some(group) = Throttle::on(&disk.disk.device, "write_iops", 100) else {
        return skip("no control group of the block controller can be made");
    };
    let home = tempfile::tempdir().unwrap();
    let point = disk.point.to_str().unwrap();
    let ran = group.run(home.path(), &["checkup", point, "--quick", "--no-keep"]).ends(0);
    assert!(ran.out.contains("SW-WRITE-001"), "{}", ran.out);
    assert!(ran.out.contains("most likely: a control group allows 100 writes"), "{}", ran.out);
    assert!(ran.out.contains("commits (write and flush)"), "{}", ran.out);
    drop(group);
    let group = Throttle::on(&disk.disk.device, "write_iops", 8).expect("as before");
    let mixed = ["--rw=randrw", "--iodepth=4", "--size=64m", "--runtime=6s", "--no-keep"];
    let ran = group.run(home.path(), &[&["bench", "--on", point], &mixed[..]].concat()).ends(0);
    assert!(ran.out.contains("writes starve beside reads"), "{}", ran.out);
}

#[test]
fn two_runs_of_a_model_differ_in_what_was_set() {
    // "Nothing that could be read" differed.
    let home = tempfile::tempdir().unwrap();
    let bench = ["bench", "--on=sata-7200.toml", "--runtime=5s", "--json", "--rw=randread"];
    let id = |more: &[&str]| {
        let ran = run(home.path(), &[&bench, more].concat());
        ran.json()["id"].as_str().unwrap_or_else(|| panic!("{}", ran.err)).to_owned()
    };
    let (plain, slow) = (id(&[]), id(&["--set=drive.rpm=5400"]));
    let compared = run(home.path(), &["compare", &plain, &slow]);
    assert!(compared.out.contains("drive.rpm: — → 5400"), "{}", compared.out);
    assert!(compared.out.contains("read latency mean"), "{}", compared.out);
}

#[test]
fn a_file_system_without_a_place_to_measure_is_inspected_and_its_device_read() {
    // Both were refused with a sentence and nothing else, then inspected and nothing was measured.
    let Some(disk) = Mounted::ext4(256 << 20, "defaults") else { return };
    let home = tempfile::tempdir().unwrap();
    let checkup = ["checkup", disk.point.to_str().unwrap(), "--quick", "--no-keep"];
    std::fs::write(disk.point.join("large"), vec![1; 215 << 20]).unwrap();
    let full = run(home.path(), &checkup).ends(3);
    assert!(full.out.contains("% full") && full.err.contains("too little room"), "{}", full.out);
    assert!(full.out.contains(&format!("read from {}", disk.disk.device)), "{}", full.out);
    disk.make_read_only();
    let read_only = run(home.path(), &[&checkup[..], &["--json"]].concat()).ends(3);
    assert!(read_only.out.contains("is mounted read-only"), "{}", read_only.out);
    let document = read_only.json();
    let device = disk.disk.device.as_str();
    assert_eq!(document["medium"]["device"], device);
    for phase in document["phases"].as_array().unwrap() {
        let (name, why) = (phase["name"].as_str().unwrap(), phase["skipped"].as_str());
        let measured = !phase["repeats"].as_array().unwrap().is_empty();
        if name.contains("write") || name.starts_with("commit") || name.starts_with("mix") {
            assert!(why.is_some_and(|why| why.contains("mounted read-only")), "{phase}");
        } else {
            assert!(measured || why.is_some_and(|why| why.starts_with("left out")), "{phase}");
        }
    }
    // Nobody may read the device: the report says so, and the inspection is in it all the same.
    let above = disk.point.parent().unwrap();
    std::fs::set_permissions(above, Permissions::from_mode(0o755)).unwrap();
    let program = env!("CARGO_BIN_EXE_seekwell");
    let mut other = std::process::Command::new("setpriv");
    other.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]).args(checkup);
    let other = done(other.output().unwrap());
    if !other.err.contains("read-only") {
        return skip("another user cannot run the program here");
    }
    assert_eq!(other.status, 3, "{}", other.err);
    assert!(other.out.contains(&format!("{device} may not be read")), "{}", other.out);
    assert!(other.out.contains("is mounted read-only"), "{}", other.out);
}

#[test]
fn figures_of_the_page_cache_below_a_loop_device_are_headed_as_such() {
    // 100 % "reached the device", 3,388 MB/s.
    let Some(disk) = common::Loop::new(256 << 20) else { return };
    let home = tempfile::tempdir().unwrap();
    let checkup = ["checkup", &disk.device, "--quick", "--no-keep"];
    let ran = run(home.path(), &checkup);
    assert!(ran.out.contains("▲ CACHED:") || ran.out.contains("▲ MEMORY:"), "{}", ran.out);
    assert!(ran.out.contains("were never written"), "{}", ran.out);
}

#[test]
fn inode_tables_that_the_kernel_still_initialises_are_named() {
    let unfinished = |mounted: &Mounted| {
        let all = found(&["inspect", mounted.point.to_str().unwrap(), "--json"]);
        has(&all, "SW-FS-013")
    };
    let Some(lazy) = Mounted::unfinished(1 << 30) else { return };
    assert!(unfinished(&lazy));
    let Some(done) = Mounted::ext4(64 << 20, "rw") else { return };
    assert!(!unfinished(&done));
}

#[test]
fn what_the_kernel_works_at_beside_a_run_is_named_unless_the_file_system_tells_it_itself() {
    let bench = |on: &Mounted| {
        let home = tempfile::tempdir().unwrap();
        let load = ["--rw=randread", "--size=16m", "--runtime=3s", "--json", "--no-keep"];
        let ran =
            run(home.path(), &[&["bench", "--on", on.point.to_str().unwrap()], &load[..]].concat());
        let document = ran.json();
        let values = document["phases"][0]["repeats"][0]["values"].clone();
        let findings = document["findings"].as_array().cloned().unwrap_or_default();
        let ids: Vec<String> = findings.iter().map(|f| f["id"].as_str().unwrap().into()).collect();
        (values["background_ext4lazyinit_percent"].as_f64(), ids)
    };
    let Some(quiet) = Mounted::ext4(2 << 30, "rw") else { return };
    let Some(busy) = Mounted::initialising() else { return };
    let (percent, ids) = bench(&quiet);
    assert!(percent.is_some_and(|percent| percent >= 0.01), "{percent:?} {ids:?}");
    assert!(has(&ids, "SW-BACK-001") && !has(&ids, "SW-FS-013"), "{ids:?}");
    let (percent, ids) = bench(&busy);
    assert!(percent.is_some_and(|percent| percent >= 0.01), "{percent:?} {ids:?}");
    assert!(has(&ids, "SW-FS-013") && !has(&ids, "SW-BACK-001"), "{ids:?}");
}
