//! `tune try --measure`: one run before, one under the setting, and a guard that waits for it.

use super::rig::{Rig, kill};
use crate::common::{LONG, done, wait_for};
use seekwell_tune::journal::Phase;
use std::process::Stdio;
use std::time::Instant;

fn args<'a>(rig: &'a Rig, time: &'a str, runtime: &'a str) -> Vec<&'a str> {
    let measure = ["--measure", "randread,iodepth=4", "--runtime", runtime];
    [&["try", rig.device(), "nomerges=2", "--for", time][..], &measure[..]].concat()
}

#[test]
fn both_runs_are_shown_without_a_verdict_and_the_trial_outlasts_a_measurement_longer_than_itself() {
    // The guard's three seconds are over long before the run of four is: without a sign of life in
    // between it would put the setting back in the middle of what is measured.
    let Some(rig) = Rig::new() else { return };
    let document = rig.tune(&[&args(&rig, "3s", "4s")[..], &["--json"]].concat()).ends(0).json();
    assert_eq!(document["schema"], "seekwell/tune-try/1");
    let measured = &document["measured"];
    assert_eq!(measured["worth"], "one run each: no verdict");
    assert_eq!(measured["workload"]["iodepth"], "4");
    for side in ["before", "under"] {
        let rate = measured[side]["read.requests_per_s"].as_f64().unwrap();
        assert!(rate > 0.0, "{side}: {rate}");
    }
    let command: Vec<&str> =
        measured["verdict_command"].as_array().unwrap().iter().filter_map(|w| w.as_str()).collect();
    assert_eq!(command[..3], ["seekwell", "experiment", "--on"]);
    assert!(command.contains(&"nomerges=2") && command.contains(&"--iodepth=4"), "{command:?}");
    // The time is whole when the measurement is over, and then it runs.
    assert_eq!(rig.value("nomerges"), "2");
    rig.wait_for_guard_to_end();
    rig.assert_as_before("after the time was up");
}

#[test]
fn interrupted_while_it_measures_it_puts_the_setting_back() {
    let Some(rig) = Rig::new() else { return };
    let child = rig
        .program()
        .arg("tune")
        .args(args(&rig, "60s", "3s"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("the trial", || rig.phase() == Some(Phase::Trying));
    let begun = Instant::now();
    kill(child.id() as i32, "INT");
    let ran = done(child.wait_with_output().unwrap());
    assert_eq!(ran.status, 130, "{} {}", ran.out, ran.err);
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
    rig.wait_for_guard_to_end();
    rig.assert_as_before("after Ctrl-C");
}

#[test]
fn a_trial_put_back_while_it_is_measured_gives_no_numbers() {
    let Some(rig) = Rig::new() else { return };
    let child = rig
        .program()
        .arg("tune")
        .args(args(&rig, "60s", "2s"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("the trial", || rig.phase() == Some(Phase::Trying));
    kill(rig.guard().expect("a guard lives"), "TERM");
    let ran = done(child.wait_with_output().unwrap());
    assert_eq!(ran.status, 3, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("the guard was asked to end"), "{}", ran.err);
    assert!(ran.out.is_empty(), "{}", ran.out);
    rig.assert_as_before("after the guard was asked to end");
}

#[test]
fn an_unreadable_workload_and_one_that_would_write_are_refused_before_anything_is_changed() {
    let Some(rig) = Rig::new() else { return };
    for (workload, status, said) in [
        ("randreed", 2, "randread"),
        ("randread,iodept=4", 2, "did you mean iodepth?"),
        ("randread,iodepth=0", 2, "from 1 to 4096"),
        ("randwrite", 3, "--destroy SERIAL"),
    ] {
        let ran = rig.tune(&["try", rig.device(), "nomerges=2", "--measure", workload]);
        assert_eq!(ran.status, status, "{workload}: {}", ran.err);
        assert!(ran.err.contains(said), "{workload}: {}", ran.err);
        assert!(ran.out.is_empty());
    }
    rig.assert_as_before("after refusals");
}
