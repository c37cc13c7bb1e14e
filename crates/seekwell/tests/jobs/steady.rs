//! `steadystate`: what ends a job, and what is said of it.

use super::common::{done, skip, tool};
use super::{Desk, phase};
use serde_json::Value;
use std::process::Command;

/// A paced job with a rule; it would take ten seconds.
const LEVEL: &str = "[s]\nioengine=null\nsize=1g\nbs=4k\nrw=read\nrate_iops=2000\nruntime=10s\n\
                     time_based\nss_dur=2\n";

fn fio_json(desk: &Desk, text: &str) -> Value {
    let ran = desk.bench(text, &["--format=fio-json", "--no-keep"]).ends(0);
    ran.json()["jobs"][0].take()
}

#[test]
fn a_steady_job_ends_before_its_time_and_says_so_as_fio_does() {
    let Some(desk) = Desk::new() else { return };
    let text = format!("{LEVEL}ss=iops:20%\n");
    let document = desk.measured(&text);
    let repeat = &phase(&document, "s")["repeats"][0];
    let elapsed = repeat["elapsed_ns"].as_u64().unwrap() as f64 / 1e9;
    assert!((1.9..6.0).contains(&elapsed), "{elapsed}");
    assert_eq!(repeat["steady_state"]["attained"], true);
    assert!(repeat["notes"][0].as_str().unwrap().contains("which ended the job"), "{repeat}");
    let ours = fio_json(&desk, &text);
    let state = &ours["steadystate"];
    assert_eq!((state["attained"].as_u64(), state["duration"].as_u64()), (Some(1), Some(2)));
    assert_eq!(state["ss"], "iops:20.000000%");
    let iops = state["data"]["iops"].as_array().unwrap();
    assert!(iops.len() == 2 && iops.iter().all(|n| (1500..2500).contains(&n.as_u64().unwrap())));
    if tool("fio", &["--version"]).is_none() {
        return skip("fio is not installed");
    }
    let mut fio = Command::new("fio");
    fio.arg("--output-format=json").arg(desk.file(&text)).current_dir(desk.dir());
    let theirs = done(fio.output().unwrap()).json()["jobs"][0]["steadystate"].take();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(state), keys(&theirs));
    assert_eq!(keys(&state["data"]), keys(&theirs["data"]));
    assert_eq!((&state["ss"], &state["attained"]), (&theirs["ss"], &theirs["attained"]));
    let mean = |value: &Value| value["data"]["iops_mean"].as_f64().unwrap();
    assert!((mean(state) / mean(&theirs) - 1.0).abs() < 0.1, "{state} {theirs}");
}

#[test]
fn a_job_that_never_settles_runs_its_time_and_is_told_not_to_be_steady() {
    let Some(desk) = Desk::new() else { return };
    let text = LEVEL.replace("runtime=10s", "runtime=3s");
    let document = desk.measured(&format!("{text}ss=iops_slope:0\n"));
    let repeat = &phase(&document, "s")["repeats"][0];
    assert_eq!(repeat["steady_state"]["attained"], false);
    assert!(repeat["notes"][0].as_str().unwrap().starts_with("not steady"), "{repeat}");
    assert!(repeat["elapsed_ns"].as_u64().unwrap() > 2_900_000_000, "{repeat}");
}

#[test]
fn a_window_of_one_rate_and_rules_that_differ_in_a_group_are_refused() {
    let Some(desk) = Desk::new() else { return };
    let one = LEVEL.replace("ss_dur=2", "ss_dur=1");
    let two = format!("[global]\ngroup_reporting\n{LEVEL}ss=iops:1%\n{}ss=iops:2%\n", LEVEL);
    for (text, words) in [(one, "steadystate_duration"), (two, "group_reporting")] {
        let ran = desk.bench(&text, &["--no-keep"]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
}
