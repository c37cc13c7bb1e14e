//! Several targets: each alone, then all together.

use crate::common::{Loop, Mounted, Place, Throttle, names, run, skip, tool};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The name of a device without its folder.
fn name(device: &str) -> &str {
    device.strip_prefix("/dev/").unwrap()
}

/// A loop device in this folder whose file has data in all its blocks.
fn written(folder: &Path, bytes: u64) -> Option<Loop> {
    let made = Loop::new_in(folder, bytes)?;
    std::fs::write(&made.backing, vec![0x5a; bytes as usize]).unwrap();
    // Reads are to reach what is below and not end in the page cache.
    tool("losetup", &["--direct-io=on", &made.device]);
    Some(made)
}

fn finding<'v>(document: &'v Value, id: &str) -> Option<&'v Value> {
    document["findings"].as_array().unwrap().iter().find(|f| f["id"] == id)
}

#[test]
fn two_loop_devices_on_one_throttled_device_share_it_and_lose_half() {
    let Some(lower) = Mounted::ext4(224 * MIB, "defaults") else { return };
    let Some(a) = written(&lower.point, 64 * MIB) else { return };
    let Some(b) = written(&lower.point, 64 * MIB) else { return };
    tool("sync", &[]);
    let Some(group) = Throttle::on(&lower.disk.device, "read_iops", 100) else {
        return skip("no control group of the block controller can be made");
    };
    let home = home();
    let args = ["checkup", &a.device, &b.device, "--quick", "--json"];
    let document = group.run(home.path(), &args).ends(0).json();
    let study = &document["study"];
    assert_eq!(study["kind"], "together");
    let shared = &study["shared"][0];
    let below = name(&lower.disk.device);
    assert_eq!((&shared["kind"], &shared["name"]), (&"device".into(), &below.into()), "{study}");
    assert_eq!(shared["targets"], serde_json::json!([name(&a.device), name(&b.device)]));
    for workload in study["workloads"].as_array().unwrap() {
        assert_eq!(workload["rounds"].as_array().unwrap().len(), 3, "{workload}");
        let ratio = number(&workload["efficiency"]["ratio"]);
        assert!((0.4..0.7).contains(&ratio), "{workload}");
        assert!(number(&workload["reached"]) > 0.9, "the device below read it all: {workload}");
        for part in workload["parts"].as_array().unwrap() {
            let (alone, all) = (&part["alone"], &workload["together"]);
            let [alone, all] = [alone, all].map(|rate| number(&rate["bytes_per_s"]));
            assert!((all / alone - 1.0).abs() < 0.3, "together as much as each alone: {workload}");
        }
    }
    let found = finding(&document, "SW-SHARE-001").expect("a finding");
    let title = found["title"].as_str().unwrap();
    assert!(title.contains(&format!("they stand on the same device {below}")), "{title}");
    read_by_every_command(home.path(), &document, [name(&a.device), name(&b.device)]);
}

/// What reads kept runs reads one of several targets.
fn read_by_every_command(home: &Path, document: &Value, targets: [&str; 2]) {
    let id = document["id"].as_str().unwrap();
    let text = run(home, &["runs", "show", id]).ends(0).out;
    assert!(text.contains("Alone and together"), "{text}");
    let [a, b] = targets;
    assert!(text.contains(&format!("{a} and {b} share the device")), "{text}");
    let again = run(home, &["runs", "show", id, "--json"]).ends(0).json();
    assert_eq!(&again, document);
    let markdown = run(home, &["report", id, "--markdown"]).ends(0).out;
    assert!(markdown.contains("## Alone and together"), "{markdown}");
    let page = home.join("page.html");
    run(home, &["report", id, "-o", page.to_str().unwrap()]).ends(0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Alone and together"), "the table is in the page without its script");
    assert!(run(home, &["runs", "list"]).ends(0).out.contains(id));
    let compared = run(home, &["compare", id, id]).ends(0);
    assert!(compared.out.contains("together: random read 4 KiB"), "{}", compared.out);
    let tables = home.join("tables");
    run(home, &["runs", "export", tables.to_str().unwrap()]).ends(0);
    assert!(names(&tables).iter().any(|file| file.starts_with("metrics")), "{:?}", names(&tables));
}

#[test]
fn two_loop_devices_in_memory_share_nothing() {
    let memory = Path::new("/dev/shm");
    if tool("stat", &["-f", "-c", "%T", "/dev/shm"]).is_none_or(|t| t.trim() != "tmpfs") {
        return skip("/dev/shm is not in memory");
    }
    let Some(a) = written(memory, 64 * MIB) else { return };
    let Some(b) = written(memory, 64 * MIB) else { return };
    let home = home();
    let args = ["checkup", &a.device, &b.device, "--quick", "--json", "--no-keep"];
    let document = run(home.path(), &args).ends(0).json();
    assert_eq!(document["study"]["shared"], serde_json::json!([]));
    let title = finding(&document, "SW-SHARE-001").map(|f| f["title"].to_string());
    let title = title.unwrap_or_default();
    assert!(!title.contains("stand on") && !title.contains("share the"), "{title}");
}

#[test]
fn a_disk_that_fails_loses_its_own_numbers_only() {
    let Some(good) = written(&std::env::temp_dir(), 64 * MIB) else { return };
    let Some(bad) = written(&std::env::temp_dir(), 64 * MIB) else { return };
    // Reads beyond the end of the file fail, and the device keeps its size.
    std::fs::File::create(&bad.backing).unwrap();
    let home = home();
    let args = ["checkup", &good.device, &bad.device, "--quick", "--json", "--no-keep"];
    let document = run(home.path(), &args).ends(4).json();
    let phase = |target: &str, which: &str| {
        let wanted = format!("{}/seq-read-1m/{which}", name(target));
        let phases = document["phases"].as_array().unwrap();
        phases.iter().find(|p| p["name"] == wanted.as_str()).unwrap_or_else(|| panic!("{wanted}"))
    };
    assert_eq!(phase(&good.device, "alone")["repeats"].as_array().unwrap().len(), 3);
    assert!(
        number(&phase(&good.device, "alone")["metrics"]["read.rate_bytes_per_s"]["median"]) > 0.0
    );
    let why = phase(&good.device, "together")["skipped"].as_str().unwrap();
    assert_eq!(why, "nothing is left to run beside it");
    let why = phase(&bad.device, "together")["skipped"].as_str().unwrap();
    assert!(why.starts_with("read of 1048576 bytes"), "{why}");
    assert!(document["study"]["workloads"][0]["efficiency"].is_null());
}

#[test]
fn directories_are_measured_through_their_files_and_one_without_room_is_left_out() {
    let Some(place) = Place::with_room(2 * 64 * MIB) else { return };
    let [a, b] = ["a", "b"].map(|n| place.path().join(n));
    [&a, &b].iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
    let home = home();
    let mut args: Vec<&str> = [&a, &b].iter().map(|dir| dir.to_str().unwrap()).collect();
    args.extend(["--size=64M", "--quick", "--json", "--no-keep"]);
    let full = Mounted::ext4(32 * MIB, "defaults");
    args.extend(full.iter().map(|full| full.point.to_str().unwrap()));
    let ran = run(home.path(), &[&["checkup"], &args[..]].concat());
    let document = ran.ends(if full.is_some() { 3 } else { 0 }).json();
    let targets = document["study"]["targets"].as_array().unwrap();
    assert_eq!(targets[0]["medium"]["kind"], "temporary-file");
    if full.is_some() {
        assert!(targets[2]["left_out"].as_str().is_some_and(|why| !why.is_empty()), "{targets:?}");
    }
    let workload = &document["study"]["workloads"][0];
    assert_eq!(workload["parts"].as_array().unwrap().len(), 2, "{workload}");
    assert_eq!(workload["rounds"].as_array().unwrap().len(), 3, "{workload}");
    assert_eq!(names(&a), [""; 0]);
}

#[test]
fn targets_that_say_nothing_together_are_refused_before_anything_is_measured() {
    let Some(lower) = Loop::new(16 * MIB) else { return };
    let folder = home();
    let link = folder.path().join("link");
    symlink(&lower.device, &link).unwrap();
    let Some(upper) = tool("losetup", &["--find", "--show", &lower.device]) else {
        return skip("no second loop device");
    };
    let upper = upper.trim().to_owned();
    struct Detach<'d>(&'d str);
    impl Drop for Detach<'_> {
        fn drop(&mut self) {
            tool("losetup", &["--detach", self.0]);
        }
    }
    let _detach = Detach(&upper);
    let link = link.to_str().unwrap();
    let many: Vec<&str> = std::iter::repeat_n("/dev/null", 65).collect();
    let cases: [(&[&str], &str); 7] = [
        (&[&lower.device, link], "are the same disk"),
        (&[&lower.device, &upper], "stands on"),
        (&[&upper, &lower.device], "stands on"),
        (&[&lower.device, "sata-7200.toml"], "is not a real disk"),
        (&["sata-7200.toml", "nvme-ssd.toml"], "is not a real disk"),
        (&[&lower.device, "/tmp", "--destroy", "x"], "--destroy is for one target"),
        (&many, "at most 64"),
    ];
    for (targets, why) in cases {
        let ran = run(folder.path(), &[&["checkup", "--no-keep"], targets].concat());
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{targets:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{targets:?}: {}", ran.err);
    }
    let ran = run(folder.path(), &["checkup", "--all", &lower.device]).ends(2);
    assert!(ran.err.contains("--all"), "{}", ran.err);
}
