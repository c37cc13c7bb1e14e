//! `bench --suite sustained`: where the write rate falls, on a device that is slowed down after a
//! volume of data, on modelled drives, and what is refused.

use crate::common::{Loop, Throttle, counters, is_root, run, skip};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const MB: f64 = 1e6;
const MIB: f64 = 1_048_576.0;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn close(found: &Value, wanted: f64, within: f64) {
    let error = number(found) / wanted - 1.0;
    assert!(error.abs() <= within, "{found} is {error:+.3} from {wanted}");
}

/// Bytes that were written to a device so far.
fn written(device: &str) -> u64 {
    counters(device)[6] * 512
}

#[test]
fn a_device_that_is_slowed_down_after_a_volume_is_found_to_be_with_both_rates() {
    // Rates that are kept up beside other programs.
    const FAST: u64 = 24_000_000;
    const SLOW: u64 = 4_000_000;
    const REGION: u64 = 32 << 20;
    if !is_root() {
        return skip("loop devices need root");
    }
    let Some(disk) = Loop::new(112 << 20) else { return };
    let Some(group) = Throttle::on(&disk.device, "write_bps", FAST) else {
        return skip("no control group of the block controller can be made");
    };
    let home = tempfile::tempdir().unwrap();
    let serial = disk.backing.to_str().unwrap();
    let over = AtomicBool::new(false);
    let (ran, (region, took)) = std::thread::scope(|scope| {
        // What was written when it was slowed down, and in which time: a busy machine is late.
        let slowed = scope.spawn(|| {
            let before = written(&disk.device);
            let so_far = || written(&disk.device) - before;
            let wait = |bytes| {
                while !over.load(Relaxed) && so_far() < bytes {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Instant::now()
            };
            let (begun, end) = (wait(1), wait(REGION));
            group.set("write_bps", SLOW).unwrap();
            (so_far() as f64, end.duration_since(begun).as_secs_f64())
        });
        let args = ["bench", "--suite=sustained", "--on", &disk.device, "--destroy", serial];
        let more = ["--set=bs=128k", "--set=idle1=1", "--set=idle2=0", "--json"];
        let ran = group.run(home.path(), &[&args[..], &more].concat());
        over.store(true, Relaxed);
        (ran, slowed.join().unwrap())
    });
    let ran = ran.ends(0);
    assert!(ran.err.contains("writes 117 MB at most"), "{}", ran.err);
    let study = &ran.json()["study"];
    let fast = &study["fast"];
    assert!(fast.is_object(), "{study}");
    close(&fast["bytes"], region, 0.2);
    close(&fast["before_bytes_per_s"], region / took, 0.25);
    // The limit, or less where others take the disk.
    close(&fast["after_bytes_per_s"], 0.85 * SLOW as f64, 0.3);
    // A rest gives nothing back: the group stays as slow.
    assert!(number(&study["recoveries"][0]["bytes"]) < 0.1 * REGION as f64, "{study}");
    let shown = run(home.path(), &["runs", "show", "last"]).ends(0);
    assert!(shown.out.contains("The fast region"), "{}", shown.out);
    assert!(shown.out.contains("write rate over bytes written"), "{}", shown.out);
    assert!(shown.out.contains("SW-CLIFF-001"), "{}", shown.out);
    assert!(!shown.out.contains("SW-SLOW-001"), "{}", shown.out);
}

const QLC: [&str; 5] = ["bench", "--suite=sustained", "--on=qlc-ssd.toml", "--size=24g", "--json"];

fn modelled(home: &Path, more: &[&str]) -> Value {
    run(home, &[&QLC, more].concat()).ends(0).json()
}

#[test]
fn the_slc_cache_of_a_modelled_drive_is_found_and_rests_give_it_back() {
    let home = tempfile::tempdir().unwrap();
    let slc = 4096.0 * MIB;
    let set = format!("--set=drive.slc.bytes={slc}");
    let document = modelled(home.path(), &[&set, "--set=idle1=5"]);
    let study = &document["study"];
    close(&study["fast"]["bytes"], slc, 0.05);
    // 32 dies program 32 KiB each in 340 µs or 8 ms, and 41 µs of transfer.
    close(&study["fast"]["before_bytes_per_s"], 2754.0 * MB, 0.05);
    close(&study["fast"]["after_bytes_per_s"], 130.4 * MB, 0.03);
    assert_eq!((&study["cause"], &study["ended"]), (&"slc-cache".into(), &"settled".into()));
    // Folding begins after a second and moves what dies program: all of it is 34 s of work.
    let back = |i: usize| number(&study["recoveries"][i]["bytes"]) / slc;
    assert!((0.05..0.5).contains(&back(0)), "{study}");
    assert!(back(1) > 0.95, "{study}");
    let findings = document["findings"].as_array().unwrap();
    let found = findings.iter().find(|f| f["id"] == "SW-CLIFF-001").expect("a finding");
    assert!(found["title"].as_str().unwrap().contains("an SLC cache"), "{found}");
    let page = run(home.path(), &["report", "last", "--markdown"]).ends(0);
    assert!(page.out.contains("The fast region (it looks like an SLC cache)"), "{}", page.out);
}

#[test]
fn a_drive_without_a_cliff_is_said_to_have_none_in_what_was_written() {
    let home = tempfile::tempdir().unwrap();
    let args = ["bench", "--suite=sustained", "--on=nvme-ssd.toml", "--size=2g"];
    let ran = run(home.path(), &args).ends(0);
    let flat = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("No cliff within 2 GiB"), "{}", ran.out);
    assert!(!ran.out.contains("SW-CLIFF-001"), "{}", ran.out);
    // Time bounds it, too: 2.7 GB/s for a fifth of a second.
    let short = run(home.path(), &[&args[..], &["--runtime=600ms", "--json"]].concat()).ends(0);
    assert_eq!(short.json()["study"]["ended"], "runtime");
}

#[test]
fn what_the_suite_does_not_take_and_what_it_may_not_write_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let image = home.path().join("image");
    std::fs::write(&image, [0; 4096]).unwrap();
    let image = image.to_str().unwrap();
    for (args, status, said) in [
        (&["--suite=sustained", "--on=qlc-ssd.toml", "--repeats=2"][..], 2, "takes no --repeats"),
        (&["--suite=sustained", "--on=qlc-ssd.toml", "--show"], 2, "takes no --show"),
        (&["--suite=fs", "--on=.", "--size=1g"], 2, "the suite fs takes no --size"),
        (&["--suite=hdparm", "--on=.", "--runtime=1s"], 2, "takes no --runtime"),
        (&["--suite=sustained", "--on=null"], 2, "a target without data"),
        (&["--suite=sustained", "--on=qlc-ssd.toml", "--size=4k"], 2, "region"),
        (&["--suite=sustained", "--on", image], 3, "is a file of yours"),
        (&["--suite=sustained", "--on=qlc-ssd.toml", "--set=idle3=1"], 2, "no tunable \"idle3\""),
    ] {
        let ran = run(home.path(), &[&["bench", "--no-keep"], args].concat()).ends(status);
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
    }
}
