//! `seekwell calibrate`: numbers for other programs, of models and of this machine's disk.

use crate::common::schema::complete;
use crate::common::{Loop, Place, Ran, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn calibrate(home: &Path, words: &[&str]) -> Ran {
    run(home, &[&["calibrate"], words, &["--no-keep"]].concat())
}

fn quantities(document: &Value) -> &Vec<Value> {
    assert_eq!(document["study"]["kind"], "calibration");
    document["study"]["quantities"].as_array().expect("quantities")
}

#[test]
fn every_calibration_measures_what_its_program_asks_for() {
    let home = tempfile::tempdir().expect("a folder");
    let list = run(home.path(), &["calibrate", "--json"]).ends(0).json();
    complete(&["calibrations-1.json"], std::slice::from_ref(&list), &[]);
    for entry in list["calibrations"].as_array().expect("calibrations") {
        let name = entry["name"].as_str().expect("a name");
        // The latency of that volume is above the bound as soon as it is at its limit.
        let model = if name == "fio-latency-target" { "sata-ssd" } else { "volume-gp3" };
        let on = ["--for", name, "--on", model, "--runtime", "10s", "--json"];
        let document = calibrate(home.path(), &on).ends(0).json();
        for quantity in quantities(&document) {
            assert_eq!(quantity["state"], "known", "{name}: {quantity}");
        }
        let text = document["study"]["text"].as_str().expect("a text");
        assert!(!text.contains(['{', '}']), "{text}");
    }
}

#[test]
fn a_volume_with_burst_credits_gives_what_it_sustains_and_the_report_says_so() {
    let home = tempfile::tempdir().expect("a folder");
    // Enough for 20 s at the peak.
    let volume =
        ["--for", "ceph", "--on", "volume-gp2", "--set", "throttle.requests.credits=54000"];
    let document = calibrate(home.path(), &[&volume[..], &["--json"]].concat()).ends(0).json();
    let found = &quantities(&document)[0];
    let number = |value: &Value| value.as_f64().expect("a number").round();
    assert_eq!((number(&found["steady"]["mean"]), &found["state"]), (300.0, &"known".into()));
    assert!((number(&found["own"][0]) - 3_000.0).abs() < 30.0, "{found}");
    assert_eq!(
        (&found["fall"]["run"], &found["fall"]["cause"]),
        (&0.into(), &"burst-credits".into())
    );
    let command = "ceph config set osd.N osd_mclock_max_capacity_iops_CLASS 300\n";
    assert_eq!(document["study"]["text"], command);
    let told = calibrate(home.path(), &volume).ends(0).out;
    assert!(told.ends_with(command), "{told}");
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["CALIBRATED for ceph.", "of the steady 300 requests/s.", "looks like burst credits."]
    {
        assert!(words.contains(part), "{part}: {told}");
    }
    // Runs that end before the credits do cannot know.
    let short = calibrate(home.path(), &[&volume[..], &["--runtime", "2s", "--json"]].concat());
    let short = short.ends(0).json();
    assert_eq!(quantities(&short)[0]["steady"]["mean"].as_f64().map(f64::round), Some(300.0));
}

#[test]
fn calibrations_with_other_seeds_agree() {
    let home = tempfile::tempdir().expect("a folder");
    for model in ["nvme-ssd", "sata-ssd", "qlc-ssd"] {
        let mean = |seed: &str| {
            let on = ["--for", "elevator", "--on", model, "--runtime", "600ms", "--size", "64m"];
            let found = calibrate(home.path(), &[&on[..], &["--seed", seed, "--json"]].concat());
            let document = found.ends(0).json();
            let of = |quantity: &Value| quantity["steady"]["mean"].as_f64().expect("a number");
            quantities(&document).iter().map(of).collect::<Vec<_>>()
        };
        for (a, b) in mean("1").into_iter().zip(mean("2")) {
            assert!((a / b - 1.0).abs() < 0.05, "{model}: {a} and {b}");
        }
    }
}

#[test]
fn what_the_program_reads_is_written_once_it_is_known_and_replaces_nothing_unasked() {
    let home = tempfile::tempdir().expect("a folder");
    let out = home.path().join("ceph.sh");
    let to = out.to_str().expect("text");
    let on = ["--for", "ceph", "--on", "volume-gp3", "--runtime", "2s", "--out", to];
    let once = calibrate(home.path(), &[&on[..], &["--repeats", "1"]].concat()).ends(1);
    assert!(
        once.out.contains("write_iops: 1 valid runs gave it, and five are needed."),
        "{}",
        once.out
    );
    assert!(once.err.contains("is not written"), "{}", once.err);
    assert!(!out.exists());
    calibrate(home.path(), &on).ends(0);
    let written = fs::read_to_string(&out).expect("it is there");
    assert_eq!(written, "ceph config set osd.N osd_mclock_max_capacity_iops_CLASS 3000\n");
    fs::write(&out, "mine").expect("it is written");
    let refused = calibrate(home.path(), &on).ends(3);
    assert!(refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(fs::read_to_string(&out).expect("it is there"), "mine");
    calibrate(home.path(), &[&on[..], &["--force"]].concat()).ends(0);
    assert_eq!(fs::read_to_string(&out).expect("it is there"), written);
}

const OWN: &str = r#"
title = "a program of mine"
sources = ["me"]
job = "[log]\nrw=write\nbs=4k\nsize=1m\ntime_based\nruntime=600ms\n"
text = "{mount} {writes}"
[[quantity]]
name = "writes"
job = "log"
metric = "write.requests_per_s"
"#;

#[test]
fn a_calibration_of_ones_own_is_measured_in_a_folder_and_leaves_nothing_there() {
    let home = tempfile::tempdir().expect("a folder");
    let Some(folder) = Place::with_room(64 << 20) else { return };
    let own = home.path().join("own.toml");
    fs::write(&own, OWN).expect("it is written");
    let paths = [&own, folder.path()].map(|path: &Path| path.to_str().expect("text"));
    let words = ["--for", paths[0], "--on", paths[1], "--repeats", "2", "--json"];
    let document = calibrate(home.path(), &words).ends(1).json();
    let found = &quantities(&document)[0];
    assert_eq!((&found["state"], &found["own_part"]), (&"missing".into(), &Value::Null));
    assert_eq!(found["settled"].as_array().map(Vec::len), Some(2));
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
}

#[test]
fn what_is_unknown_or_would_overwrite_is_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let unknown = calibrate(home.path(), &["--for", "scyla"]).ends(2).err;
    assert!(unknown.contains("did you mean scylla?"), "{unknown}");
    let file = home.path().join("precious");
    let data = vec![7; 1 << 20];
    fs::write(&file, &data).expect("it is written");
    let on = ["--for", "ceph", "--size", "1m", "--on", file.to_str().expect("text")];
    let refused = calibrate(home.path(), &on).ends(3);
    assert!(refused.err.contains("would be overwritten"), "{}", refused.err);
    assert_eq!(fs::read(&file).expect("it is there"), data);
    let Some(disk) = Loop::new(64 << 20) else { return };
    let on = ["--for", "ceph", "--size", "64m", "--on", &disk.device];
    let refused = calibrate(home.path(), &on).ends(3);
    assert!(refused.err.contains("--destroy"), "{}", refused.err);
}

#[test]
fn what_a_program_asks_for_is_shown_with_its_own_method() {
    let home = tempfile::tempdir().expect("a folder");
    let shown = run(home.path(), &["calibrate", "--for", "scylla", "--show"]).ends(0).out;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["the mean of the first 84.0 s", "apps/iotune/iotune.cc", "random writes"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_folder_of_a_programs_name_does_not_hide_its_calibration() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("ceph");
    fs::create_dir(&folder).expect("it is made");
    let shown = run(home.path(), &["calibrate", "--show", "--for", folder.to_str().expect("text")]);
    assert!(shown.ends(0).out.contains("write_iops"));
}
