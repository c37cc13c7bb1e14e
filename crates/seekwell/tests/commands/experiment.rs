//! Experiments from the command line: verdicts, interruption, settings put back, bad input.

use crate::common::{self, Loop, Ran, done, names, seekwell, signal, skip, wait_for};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Short runs: what is tested is the program, not a disk.
const SHORT: [&str; 5] = ["--runtime=800ms", "--settle=0", "--pairs", "--blocks=8", "--seed=5"];

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The program with journals of its own.
fn program(home: &Path) -> Command {
    let mut command = seekwell(home);
    command.env("SEEKWELL_RUN_DIR", home.join("run"));
    command
}

fn experiment(home: &Path, args: &[&str]) -> Ran {
    done(program(home).arg("experiment").args(args).output().expect("the program starts"))
}

fn short(home: &Path, args: &[&str]) -> Ran {
    experiment(home, &[args, &SHORT[..], &["--json"]].concat())
}

impl Ran {
    /// Its document. All was measured and judged; other programs may have made the machine drift,
    /// and then it is invalid for that alone.
    fn judged(&self) -> Value {
        let document = self.json();
        assert!([0, 1, 4].contains(&self.status), "{}{}", self.err, self.out);
        assert_eq!(document["status"], "complete", "{}", document["conclusion"]["sentence"]);
        let invalid = document["conclusion"]["decision"] == "invalid";
        assert_eq!(self.status == 4, invalid, "{}", document["conclusion"]);
        document
    }
}

fn ids(home: &Path) -> Vec<String> {
    let dir = home.join("experiments");
    names(&dir).into_iter().filter(|n| n.contains("-experiment-")).collect()
}

fn kept(home: &Path) -> PathBuf {
    let ids = ids(home);
    assert_eq!(ids.len(), 1, "{ids:?}");
    home.join("experiments").join(&ids[0]).join("experiment.json")
}

fn document(path: &Path) -> Value {
    let document = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    common::schema::check(&document);
    document
}

fn runs(document: &Value) -> usize {
    document["runs"].as_array().unwrap().len()
}

fn runs_on_disk(home: &Path) -> usize {
    let dir = home.join("experiments");
    if !dir.exists() || names(&dir).is_empty() {
        return 0;
    }
    let path = kept(home);
    if path.exists() { runs(&document(&path)) } else { 0 }
}

#[test]
fn more_outstanding_requests_are_found_to_be_faster_on_a_machine_with_tags() {
    let home = home();
    let arms = ["--on", "nvme-ssd.toml", "--a", "iodepth=1", "--b", "iodepth=32"];
    let ran = short(home.path(), &arms).ends(0);
    let document = ran.json();
    assert_eq!(document["schema"], "seekwell/experiment/1");
    assert_eq!(document["conclusion"]["verdict"]["kind"], "faster", "{}", document["conclusion"]);
    assert_eq!(runs(&document), 16);
    assert_eq!(document, self::document(&kept(home.path())), "what is printed is what is kept");
    // Asked again, a complete experiment says the same and measures nothing.
    let again = experiment(home.path(), &["resume", "last"]).ends(0);
    assert!(again.out.starts_with("B is faster by "), "{}", again.out);
    let widest = again.out.lines().map(|l| l.chars().count()).max().unwrap();
    assert!(widest <= 80, "{widest} columns");
}

#[test]
fn a_model_is_announced_in_its_own_time_and_in_real_time() {
    // "About 3 min" were two seconds.
    let home = home();
    let arms = ["--on", "sata-7200.toml", "--a", "iodepth=1", "--b", "iodepth=2"];
    let ran = experiment(
        home.path(),
        &[&arms[..], &["--pairs", "--blocks=8", "--seed=5", "--json"]].concat(),
    )
    .ends(0);
    let document = ran.json();
    let own = document["runs"].as_array().unwrap().iter().map(|run| &run["elapsed_ns"]);
    let own: f64 = own.map(|ns| ns.as_f64().unwrap() / 1e9).sum();
    let said = ran.err.split_once("8 blocks, about ").expect("announced").1;
    let (said, real) = said.split_once(" s of the model's time, ").expect("in its own time");
    let said: f64 = said.parse().unwrap();
    assert!(said <= 1.25 * own && own <= 1.25 * said, "{said} s said, {own} s taken");
    assert!(real.split_once(';').unwrap().0.ends_with(" s in real time"), "{real}");
    // Other programs slow no model down, and what is known of its parts was left out.
    assert!(!ran.out.contains("other_programs_percent"), "{}", ran.out);
    assert!(!ran.out.contains("other-programs"), "{}", ran.out);
    let device = &document["sessions"][0]["before"]["device"];
    assert_eq!(device["queue"]["rotational"]["value"], true, "{device}");
    assert_eq!(*device, document["sessions"][0]["after"]["device"]);
}

#[test]
fn a_claim_that_does_not_hold_ends_with_1() {
    let home = home();
    let arms = ["--on", "nvme-ssd.toml", "--a", "iodepth=1", "--b", "iodepth=32"];
    let ran = short(home.path(), &[&arms[..], &["--expect=slower"]].concat()).ends(1);
    assert_eq!(ran.json()["conclusion"]["claim_holds"], false);
}

#[test]
fn a_self_test_never_says_faster_and_teaches_the_machine_its_noise() {
    let home = home();
    let ran = short(home.path(), &["--on", "null", "--aa"]);
    let document = ran.json();
    let said = document["conclusion"]["sentence"].as_str().unwrap();
    assert!(!said.contains("faster") && !said.contains("slower"), "{said}");
    assert!([0, 1, 4].contains(&ran.status), "{}", ran.status);
    for run in document["runs"].as_array().unwrap() {
        let others = run["condition"]["other_programs_percent"].as_f64().unwrap();
        assert!((0.0..=100.0).contains(&others), "{run}");
    }
    let checks = document["conclusion"]["checks"].as_array().unwrap();
    assert!(checks.iter().any(|check| check["name"] == "other-programs"), "{checks:?}");
    let noise: Value = self::document(&home.path().join("experiments/noise.json"));
    let sd = noise["floors"][0]["sd"]["read.requests_per_s"].as_f64().unwrap();
    assert!(sd > 0.0 && sd < 2.0, "{sd}");
    let args = ["--on", "null", "--a", "iodepth=1", "--b", "iodepth=2"];
    let later = short(home.path(), &args);
    assert!(later.err.contains("by this machine's noise ("), "{}", later.err);
    assert_eq!(later.json()["forecast"]["from"], document["id"]);
}

#[test]
fn interrupted_it_keeps_what_is_done_says_how_to_go_on_and_goes_on() {
    let home = home();
    let child = program(home.path())
        .args(["experiment", "--on", "null", "--a", "iodepth=1", "--b", "iodepth=32"])
        .args(SHORT)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("the third run", || runs_on_disk(home.path()) >= 3);
    signal(&child, "INT");
    let ran = done(child.wait_with_output().unwrap()).ends(130);
    let before = document(&kept(home.path()));
    assert_eq!(before["status"], "interrupted");
    let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let resume = format!("seekwell experiment resume {}", before["id"].as_str().unwrap());
    assert!(said.contains(&resume), "{said}");
    let after = experiment(home.path(), &["resume", "--json"]).judged();
    assert_eq!((runs(&after), after["sessions"].as_array().unwrap().len()), (16, 2));
    let whole = runs(&before) / 2 * 2;
    for i in 0..whole {
        assert_eq!(after["runs"][i], before["runs"][i], "what was done is kept");
    }
    assert_eq!(after["discarded"].as_array().unwrap().len(), runs(&before) - whole);
}

fn scheduler(disk: &Loop) -> String {
    let name = disk.device.trim_start_matches("/dev/");
    let text = std::fs::read_to_string(format!("/sys/block/{name}/queue/scheduler")).unwrap();
    let used = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    used.unwrap_or(text.trim()).to_owned()
}

fn loop_with_schedulers() -> Option<Loop> {
    let disk = Loop::new(64 << 20)?;
    let name = disk.device.trim_start_matches("/dev/");
    let path = format!("/sys/block/{name}/queue/scheduler");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    if !(text.contains("none") && text.contains("mq-deadline")) {
        skip("the loop device has no choice of schedulers");
        return None;
    }
    Some(disk)
}

#[test]
fn two_schedulers_of_a_loop_device_are_compared_and_the_old_one_is_put_back() {
    let Some(disk) = loop_with_schedulers() else { return };
    let (home, before) = (home(), scheduler(&disk));
    let args = ["--on", &disk.device, "--a", "scheduler=none", "--b", "scheduler=mq-deadline"];
    let document = short(home.path(), &args).judged();
    assert_eq!(scheduler(&disk), before);
    assert_eq!(runs(&document), 16);
    for run in document["runs"].as_array().unwrap() {
        let wanted = if run["arm"] == "a" { "none" } else { "mq-deadline" };
        assert_eq!(run["applied"][0]["key"], "scheduler");
        assert_eq!(run["applied"][0]["is"], wanted);
        assert_eq!(run["applied"][0]["was"], before.as_str());
    }
    assert_eq!(document["not_restored"].as_array().unwrap().len(), 0);
}

#[test]
fn killed_with_a_setting_applied_it_is_put_back_by_the_resume_that_finishes() {
    let Some(disk) = loop_with_schedulers() else { return };
    let (home, before) = (home(), scheduler(&disk));
    let other = if before == "mq-deadline" { "none" } else { "mq-deadline" };
    let setting = format!("scheduler={other}");
    let mut child = program(home.path())
        .args(["experiment", "--on", &disk.device, "--b", &setting])
        .args(SHORT)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("a run of B", || runs_on_disk(home.path()) >= 1 && scheduler(&disk) == other);
    child.kill().unwrap();
    child.wait().unwrap();
    let document = experiment(home.path(), &["resume", "--json"]).judged();
    assert_eq!(scheduler(&disk), before);
    assert!(document["sessions"][0]["after"].is_null(), "the first session was killed");
}

#[test]
fn a_command_that_fails_ends_it_as_invalid_with_what_it_said() {
    let home = home();
    let trace = home.path().join("arms");
    let note = format!("echo $SEEKWELL_ARM >> {}", trace.display());
    let fail = format!("{note}; echo 'no such service' >&2; exit 3");
    let document =
        short(home.path(), &["--on", "null", "--a-cmd", &note, "--b-cmd", &fail]).ends(4).json();
    let said = document["conclusion"]["sentence"].as_str().unwrap();
    assert!(said.contains("ended with status 3: no such service"), "{said}");
    assert_eq!(document["conclusion"]["verdict"], Value::Null);
    let arms = std::fs::read_to_string(trace).unwrap();
    assert_eq!(arms.lines().filter(|arm| *arm == "b").count(), 1, "{arms}");
    experiment(home.path(), &["resume", "last"]).ends(2);
}

#[test]
fn mount_options_are_compared_by_commands_and_the_baseline_is_what_stays() {
    let Some(mounted) = common::Mounted::ext4(1536 << 20, "rw,relatime") else { return };
    let (home, point) = (home(), mounted.point.to_str().unwrap());
    let remount = |option: &str| format!("mount -o remount,{option} {point}");
    let (a, b) = (remount("atime,relatime"), remount("noatime"));
    let args = ["--on", point, "--a-cmd", &a, "--b-cmd", &b, "--size=64M"];
    // The options differ between the arms, and that is no change of the environment. (`relatime`
    // alone for A would be one: remounting with it does not take `noatime` away again.)
    let document = short(home.path(), &args).judged();
    let mut checks = document["conclusion"]["checks"].as_array().unwrap().iter();
    let environment = checks.find(|check| check["name"] == "environment").expect("looked at");
    assert_eq!(environment["checked"], "passed", "{environment}");
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = table.lines().find(|l| l.contains(point)).unwrap();
    assert!(line.contains("relatime"), "{line}");
}

#[test]
fn modes_wait_for_a_reboot_and_do_not_go_on_without_one() {
    let home = home();
    let args = [
        "--on",
        "null",
        "--reboot-between",
        "--a-mode",
        "AHCI in the BIOS",
        "--b-mode",
        "IDE in the BIOS",
        "--runtime=800ms",
        "--settle=0",
        "--seed=5",
    ];
    let ran = experiment(home.path(), &args).ends(1);
    let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("The next run needs IDE in the BIOS"), "{said}");
    assert_eq!(document(&kept(home.path()))["status"], "waiting");
    let ran = experiment(home.path(), &["resume"]).ends(4);
    assert!(ran.err.contains("reboot into IDE in the BIOS first"), "{}", ran.err);
}

#[test]
fn a_tag_policy_is_compared_with_none_and_every_run_keeps_its_histogram() {
    let home = home();
    let policies = ["--a", "host.tags=shared:2", "--b", "host.tags=none", "--iodepth=16"];
    let document = short(home.path(), &[&["--on", "null"], &policies[..]].concat()).judged();
    assert_eq!(document["a"]["options"]["tags"], 2);
    assert_eq!(document["b"]["options"]["tags"], Value::Null);
    let detail = kept(home.path()).with_file_name("detail.json");
    let detail = self::document(&detail);
    let repeats = detail["repeats"].as_array().unwrap();
    assert_eq!(repeats.len(), document["runs"].as_array().unwrap().len());
    for (repeat, run) in repeats.iter().zip(document["runs"].as_array().unwrap()) {
        assert_eq!((&repeat["repeat"], &run["arm"]), (&run["index"], &repeat["phase"]));
        let bins = repeat["latency_bins"]["read"].as_array().unwrap();
        let counted: u64 = bins.iter().map(|bin| bin[1].as_u64().unwrap()).sum();
        let rate = run["values"]["read.requests_per_s"].as_f64().unwrap();
        let asked = rate * run["elapsed_ns"].as_f64().unwrap() / 1e9;
        assert!((counted as f64 / asked - 1.0).abs() < 1e-6, "{counted} of {asked}");
    }
}

#[test]
fn a_setting_that_may_lose_data_needs_its_risk_named_as_in_tune() {
    let Some(disk) = loop_with_schedulers() else { return };
    let home = home();
    let args = ["--on", &disk.device, "--b", "write_cache=write through"];
    let refused = short(home.path(), &args).ends(3);
    assert!(refused.err.contains("--allow-risk"), "{}", refused.err);
    short(home.path(), &[&args[..], &["--allow-risk=d"]].concat()).judged();
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_kept() {
    let home = home();
    let cases: [(&[&str], &str); 14] = [
        (&["--a", "iodepht=1"], "did you mean iodepth?"),
        (&["--a", "schedler=none"], "did you mean scheduler?"),
        (&["--a", "iodepth=0"], "from 1 to 4096"),
        (&["--a", "iodepth"], "expected KEY=VALUE"),
        (&["--a", "iodepth=1", "iodepth=2"], "given twice"),
        (&["--a", "tags=8", "host.tags=none"], "tags is given twice"),
        (&["--a", "host.tags=halved"], "shared:N"),
        (&["--a", "tags=0"], "from 1 to 4096"),
        (&["--a", "iodepth=1"], "the two arms are the same"),
        (&["--b", "scheduler=none"], "null has none"),
        (&["--b", "iodepth=2", "--metric=read.iops"], "the nearest is read."),
        (&["--b", "iodepth=2", "--blocks=7"], "8..=40"),
        (&["--aa", "--b", "iodepth=2"], "cannot be used with"),
        (&["--aa", "--runtime=500ms"], "at least 600 ms"),
    ];
    for (args, says) in cases {
        let ran = experiment(home.path(), &[&["--on", "null"], args].concat());
        assert_eq!(ran.status, 2, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
    experiment(home.path(), &["resume", "nope"]).ends(2);
    experiment(home.path(), &[]).ends(2);
    assert!(!home.path().join("experiments").exists());
}

#[test]
fn an_experiment_tells_what_limits_its_arms_and_where_the_limit_moved() {
    let home = home();
    let told = |a: &str, b: &str| {
        let load = ["--on", "sata-ssd", "--rw=read", "--bs=1M", "--iodepth=8"];
        let arms = ["--pairs", "--blocks=8", "--json", "--a", a, "--b", b];
        let ran = experiment(home.path(), &[&load[..], &arms].concat());
        let document: Value = serde_json::from_str(&ran.ends(0).out).unwrap();
        assert_eq!(document["target"], "sata-ssd");
        assert!(document["runs"][0]["limit"]["evidence"].is_array());
        document["conclusion"]["limit"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(
        told("link.speed=1.5Gbps", "link.speed=3.0Gbps"),
        "A is limited by the SATA link at 1.5 Gbps, B by the SATA link at 3.0 Gbps."
    );
    let both = "Both arms are limited by the SATA link at 6.0 Gbps.";
    assert_eq!(told("iodepth=16", "iodepth=32"), both);
}
