//! `tune plan --iocost` and `tune try io.cost.…`.

use super::rig::Rig;
use crate::common::{done, seekwell, skip, tool};
use serde_json::Value;
use std::process::Command;

const NAMES: [&str; 8] =
    ["rbps", "rseqiops", "rrandiops", "rlat", "wbps", "wseqiops", "wrandiops", "wlat"];

fn names(document: &Value) -> Vec<&str> {
    document["runs"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect()
}

#[test]
fn without_permission_to_write_three_numbers_are_measured_and_the_rest_is_named() {
    let Some(rig) = Rig::new() else { return };
    let args = ["plan", rig.device(), "--iocost", "--runtime", "600ms"];
    let ran = rig.tune(&args).ends(0);
    assert!(ran.out.contains("Writes were not measured"), "{}", ran.out);
    assert!(ran.out.contains("rrandiops") && !ran.out.contains("wrandiops"), "{}", ran.out);
    let document = rig.tune(&[&args[..], &["--json"]].concat()).ends(0).json();
    assert_eq!(names(&document), NAMES[..4]);
    assert!(document["qos"].as_str().unwrap().contains("wpct=0.00"), "{document}");
    rig.assert_as_before("after the measurement");
}

#[test]
fn all_six_numbers_of_a_disk_given_to_be_destroyed_are_the_arguments_of_a_trial() {
    let Some(rig) = Rig::new() else { return };
    let backing = rig.backing.display().to_string();
    let args = ["plan", rig.device(), "--iocost", "--runtime=600ms", "--destroy", &backing];
    let document = rig.tune(&[&args[..], &["--json"]].concat()).ends(0).json();
    assert_eq!(names(&document), NAMES);
    // The measurement itself set this, under a word that promises to change nothing.
    assert_eq!(document["influences"][0]["key"], "nomerges", "{document}");
    let prepare = document["prepare_command"].to_string();
    assert!(prepare.contains(r#""nomerges=1","--for""#), "{prepare}");
    let command: Vec<&str> =
        document["try_command"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    assert_eq!(command[..4], ["seekwell", "tune", "try", rig.device()]);
    assert!(command[4].starts_with("io.cost.model=rbps=") && !command[4].contains(' '));
    assert!(command[5].starts_with("io.cost.qos=enable=1,rpct=95.00,rlat="), "{command:?}");
    rig.assert_as_before("after the measurement");
    let ran = rig.tune(&[&command[2..], &["--for", "60s"]].concat());
    if ran.status == 0 {
        rig.tune(&["undo", rig.device()]).ends(0);
        rig.assert_as_before("after undo");
    } else {
        assert_eq!(ran.status, 3, "{}", ran.err);
        let wanted = ["cgroup v2 hierarchy without the io controller", "no control groups of"];
        assert!(wanted.iter().any(|w| ran.err.contains(w)), "{}", ran.err);
        skip("there is no io controller in control groups of version 2");
    }
}

#[test]
fn a_modelled_machine_is_measured_and_nothing_is_to_be_tried_on_it() {
    let home = tempfile::tempdir().unwrap();
    let args = ["tune", "plan", "nvme-ssd.toml", "--iocost", "--runtime=500ms", "--json"];
    let ran = done(seekwell(home.path()).args(args).output().unwrap());
    let document = ran.ends(0).json();
    assert_eq!(names(&document), NAMES);
    assert!(document["disk"].is_null() && document["try_command"].is_null(), "{document}");
    assert!(document["runs"].as_array().unwrap().iter().all(|r| r["value"].as_u64() > Some(0)));
}

#[test]
fn what_is_for_the_measurement_alone_is_refused_without_it() {
    let home = tempfile::tempdir().unwrap();
    for args in [&["--runtime", "1s"][..], &["--destroy", "X"], &["--size", "1m"]] {
        let ran = seekwell(home.path()).args(["tune", "plan", "."]).args(args).output().unwrap();
        let ran = done(ran).ends(2);
        assert!(ran.err.contains("--iocost"), "{}", ran.err);
    }
}

/// The number as the kernel's script takes it from fio's output: the bandwidth, by 4 KiB for a rate
/// of requests.
fn by_fio(device: &str, name: &str) -> f64 {
    let order = if name.ends_with("randiops") { "rand" } else { "" };
    let way = if name.starts_with('r') { "read" } else { "write" };
    let large = name.ends_with("bps");
    let (size, depth) = if large { ("16m", 1) } else { ("4096", 64) };
    let ran = Command::new("fio")
        .args(["--direct=1", "--ioengine=libaio", "--name=coef", "--runtime=1", "--time_based"])
        .arg(format!("--filename={device}"))
        .arg(format!("--readwrite={order}{way}"))
        .arg(format!("--iodepth={depth}"))
        .arg(format!("--blocksize={size}"))
        // Data that is not zero would not be overwritten in the next round.
        .args(["--output-format=json", "--eta=never", "--numjobs=1", "--zero_buffers"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    let from = text.find('{').expect("fio prints JSON");
    let document: Value = serde_json::from_str(&text[from..]).unwrap();
    let job = &document["jobs"][0];
    let bandwidth = |way: &str| job[way]["bw_bytes"].as_f64().unwrap();
    (bandwidth("read") + bandwidth("write")) / if large { 1.0 } else { 4096.0 }
}

#[test]
fn each_number_is_what_the_kernels_definition_gives_with_fio() {
    let Some(rig) = Rig::new() else { return };
    if tool("fio", &["--version"]).is_none() {
        return skip("fio is not installed");
    }
    let backing = rig.backing.display().to_string();
    // Both take turns, and the best of each counts: somebody else may be at work on this machine.
    let mut best = [[0.0_f64; 2]; NAMES.len()];
    for _ in 0..3 {
        let args = ["plan", rig.device(), "--iocost", "--runtime=600ms", "--destroy", &backing];
        let document = rig.tune(&[&args[..], &["--json"]].concat()).ends(0).json();
        for (n, name) in NAMES.iter().enumerate().filter(|(_, name)| !name.ends_with("lat")) {
            let ours = document["runs"][n]["value"].as_f64().unwrap();
            let [us, fio] = &mut best[n];
            (*us, *fio) = (us.max(ours), fio.max(by_fio(rig.device(), name)));
        }
    }
    for (name, [us, fio]) in NAMES.iter().zip(best).filter(|(_, [us, _])| *us > 0.0) {
        let ratio = us / fio;
        eprintln!("{name}: {ratio:.2} of fio's");
        assert!((0.2..5.0).contains(&ratio), "{name}: {us} beside {fio}");
    }
}
