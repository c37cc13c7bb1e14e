//! Sweeps, the limit under a bound, steady state, and the view of a run while it goes on.

use crate::common::terminal::Terminal;
use crate::common::{self, Loop, Place, Throttle, run, seekwell, signal, skip, wait_for};
use serde_json::Value;

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

#[test]
fn a_sweep_measures_every_combination_and_draws_rate_and_p99() {
    let home = home();
    let args = [
        "bench",
        "--on",
        "sata-7200.toml",
        "--sweep=depth=1..32",
        "--sweep=bs=512,64k",
        "--runtime=20s",
        "--size=10G",
        "--repeats=2",
    ];
    let ran = run(home.path(), &args).ends(0);
    assert!(ran.err.contains("a sweep of 12 points × 2 repeats: about 8 min"), "{}", ran.err);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    assert!(ran.out.contains("requests/s over iodepth"), "{}", ran.out);
    assert!(ran.out.contains("a bs=512 b bs=64k"), "{}", ran.out);

    let shown = run(home.path(), &["runs", "show", "last", "--json"]).json();
    let study = &shown["study"];
    assert_eq!(study["kind"], "sweep");
    assert_eq!(study["keys"], serde_json::json!(["iodepth", "bs"]));
    let points = list(&study["points"]);
    assert_eq!(points.len(), 12);
    let phases = list(&shown["phases"]);
    let rate = |depth: &str, bs: &str| {
        let at = serde_json::json!([depth, bs]);
        let point = points.iter().find(|p| p["values"] == at).expect("a point");
        let phase = phases.iter().find(|p| p["name"] == point["phase"]).expect("its phase");
        assert_eq!(list(&phase["repeats"]).len(), 2);
        number(&phase["metrics"]["read.requests_per_s"]["median"])
    };
    assert!(rate("32", "512") > 1.15 * rate("1", "512"), "a queue helps a disk of this kind");
    assert!(rate("1", "512") > rate("1", "64k"));
}

#[test]
fn tags_and_engines_are_swept_and_each_phase_is_issued_by_its_own() {
    let home = home();
    let on = ["bench", "--on=sata-7200.toml", "--iodepth=32", "--size=10G", "--runtime=20s"];
    let sweep = |word: &str, on: &[&str]| {
        let ran =
            run(home.path(), &[on, &[word, "--repeats=2", "--json", "--no-keep"]].concat()).ends(0);
        ran.json()
    };
    let rates = |document: &Value| -> Vec<f64> {
        let median = |p: &Value| number(&p["metrics"]["read.requests_per_s"]["median"]);
        list(&document["phases"]).iter().map(median).collect()
    };
    let document = sweep("--sweep=tags=1..32", &on);
    assert_eq!(document["study"]["keys"], serde_json::json!(["tags"]));
    let by_tags = rates(&document);
    assert_eq!(by_tags.len(), 6);
    assert!(by_tags[5] > 1.15 * by_tags[0], "a queue helps: {by_tags:?}");
    assert_eq!(document["phases"][0]["name"], "randread-4096-d32-shared-1");
    let policies = sweep("--sweep=tags=none,split:8..32", &on);
    assert_eq!(policies["phases"][0]["name"], "randread-4096-d32-tags-none");
    assert_eq!(policies["phases"][3]["name"], "randread-4096-d32-split-32");
    let Some(place) = Place::with_room(64 << 20) else { return };
    let dir = format!("--on={}", place.path().display());
    let on = ["bench", &dir, "--size=64M", "--iodepth=4", "--runtime=600ms"];
    let document = sweep("--sweep=engine=auto,threads", &on);
    let calls = |phase: usize| {
        number(&document["phases"][phase]["metrics"]["requests_per_syscall"]["median"])
    };
    assert!((calls(1) - 1.0).abs() < 0.01, "a call for each request: {}", calls(1));
    if document["engine"]["name"] == "io_uring" {
        assert!(calls(0) > 1.05, "a ring takes several at once: {}", calls(0));
    }
}

#[test]
fn a_machine_s_parameters_are_swept_beside_options_of_the_load() {
    let home = home();
    let swept = |words: &[&str]| {
        let args = ["bench", "--on=sata-7200.toml", "--rw=randread", "--runtime=2s", "--json"];
        run(home.path(), &[&args[..], words].concat())
    };
    let document = swept(&["--sweep=drive.rpm=5400,7200,15000", "--sweep=depth=1,4"]).json();
    let study = &document["study"];
    assert_eq!(study["keys"], serde_json::json!(["drive.rpm", "iodepth"]));
    let rate = |phase: &Value| number(&phase["repeats"][0]["ops"]["read"]["requests_per_s"]);
    let rates: Vec<f64> = list(&document["phases"]).iter().map(rate).collect();
    assert_eq!(rates.len(), 6);
    let rises = |rates: &[f64]| rates[0] < rates[1] && rates[1] < rates[2];
    assert!(rises(&rates[..3]) && rises(&rates[3..]), "{rates:?}");
    assert!(rates[3] > rates[0], "deeper: {rates:?}");
    let key = swept(&["--sweep=drive.spin=1,2"]).ends(2);
    assert!(key.err.contains("drive.spin"), "{}", key.err);
    let value = swept(&["--sweep=drive.rpm=7200,fast"]).ends(2);
    assert!(value.err.contains("fast"), "{}", value.err);
    let full = swept(&["--sweep=drive.rpm=5400,7200", "--precondition"]).ends(2);
    assert!(full.err.contains("--precondition"), "{}", full.err);
    let real = run(home.path(), &["bench", "--on=null", "--sweep=drive.rpm=5400,7200"]).ends(2);
    assert!(real.err.contains("modelled machine"), "{}", real.err);
}

#[test]
fn a_sweep_that_makes_no_sense_is_refused_before_anything_is_written() {
    let home = home();
    let dir = tempfile::tempdir().unwrap();
    let on = format!("--on={}", dir.path().display());
    let refused = |words: &[&str], why: &str| {
        let args: Vec<&str> = ["bench", &on].into_iter().chain(words.iter().copied()).collect();
        let ran = run(home.path(), &args);
        assert_eq!(ran.status, 2, "{words:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{words:?}: {}", ran.err);
    };
    refused(&["--sweep=depth=1..999:1"], "999 points, which take 84 min: at most 256");
    refused(&["--sweep=depth=1..100:1", "--sweep=bs=4k,8k,16k"], "300 points, which take 25 min");
    refused(&["--sweep=iodpth=1,2"], "did you mean iodepth?");
    refused(&["--sweep=iodepth=0,2"], "a whole number from 1 to 4096 is needed");
    refused(&["--sweep=iodepth=8..2"], "a range goes up");
    refused(&["--sweep=tags=1,0"], "none, N, shared:N");
    refused(&["--sweep=tags=8,shared:8"], "are the same");
    refused(&["--sweep=bs=4k,8k", "--steady"], "cannot be used with");
    let ran =
        run(home.path(), &["bench", "--on=sata-7200.toml", "--sweep=engine=auto,threads"]).ends(2);
    assert!(ran.err.contains("engine cannot be swept on a modelled machine"), "{}", ran.err);
    assert!(common::names(dir.path()).is_empty());
    assert!(!home.path().join("runs").exists(), "no run was begun");
}

#[test]
fn the_limit_of_a_rotating_disk_is_found_confirmed_and_told() {
    let home = home();
    let ran = run(
        home.path(),
        &["bench", "--on=sata-7200.toml", "--limit=p99=60ms", "--iodepth=32", "--json"],
    )
    .ends(0);
    let study = &ran.json()["study"];
    let outcome = &study["outcome"];
    assert_eq!(outcome["kind"], "found", "{study}");
    let found = number(&outcome["requests_per_s"]);
    let closed = number(&study["closed_requests_per_s"]);
    assert!(found < 0.8 * closed, "queueing takes longer long before the disk is full");
    for trial in list(&study["trials"]) {
        let (rate, response) = (number(&trial["requests_per_s"]), number(&trial["response_ns"]));
        assert_eq!(trial["holds"], response <= 60e6, "{trial}");
        assert!(trial["holds"] == (rate <= found), "{trial} beside {found}");
    }
    let confirming = list(&study["trials"]).last().expect("trials");
    assert_eq!(confirming["confirms"], true);
    let name = confirming["phase"].as_str().expect("a name");
    let phase =
        ran.json()["phases"].as_array().unwrap().iter().find(|p| p["name"] == name).cloned();
    assert_eq!(list(&phase.expect("its phase")["repeats"]).len(), 3);

    let text = run(home.path(), &["runs", "show", "last"]).out;
    assert!(text.contains("is the highest rate that keeps p99 of the response time"), "{text}");
}

#[test]
fn a_bound_nobody_keeps_and_one_everybody_keeps_are_results() {
    let home = home();
    let end = |bound: &str| {
        let bound = format!("--limit={bound}");
        let args = ["bench", "--on=sata-7200.toml", &bound, "--iodepth=4", "--json"];
        let ran = run(home.path(), &args).ends(0);
        ran.json()["study"]["outcome"]["kind"].as_str().expect("an end").to_owned()
    };
    assert_eq!(end("mean=100us"), "not-even-lowest");
    assert_eq!(end("p50=10m"), "never-exceeded");
}

/// Seconds in the words that follow `lead`: `3.1 s`, `5 min`.
fn seconds(text: &str, lead: &str) -> f64 {
    let rest = text.split_once(lead).unwrap_or_else(|| panic!("no {lead:?} in {text}")).1;
    let mut words = rest.split_whitespace();
    let number: f64 = words.next().unwrap().parse().unwrap();
    let unit = words.next().unwrap().trim_matches(|c: char| !c.is_alphabetic());
    number * if unit == "min" { 60.0 } else { 1.0 }
}

/// What the runs of these phases were to take, in seconds.
fn planned(phases: &[Value]) -> f64 {
    let of = |phase: &Value| {
        let w = &phase["workload"];
        let each = (number(&w["runtime_ns"]) + number(&w["ramp_ns"])) / 1e9;
        each * list(&phase["repeats"]).len() as f64
    };
    phases.iter().map(of).sum()
}

#[track_caller]
fn assert_near(said: f64, planned: f64) {
    assert!(said <= 1.25 * planned && planned <= 1.25 * said, "{said} s said, {planned} s planned");
}

#[test]
fn announced_times_are_those_of_the_runs_that_follow() {
    // "About 28 s" took 78 s, "about 3 min" on a model two seconds, and 4 s were said of 3.06 s.
    let home = home();
    let Some(place) = Place::with_room(64 << 20) else { return };
    let on = format!("--on={}", place.path().display());
    let bench = |more: &[&str]| {
        let ran = run(home.path(), &[&["bench", "--json", "--no-keep"], more].concat()).ends(0);
        let phases = list(&ran.json()["phases"]).to_vec();
        (ran, phases)
    };
    let short = [&*on, "--size=64m", "--runtime=600ms", "--precondition"];
    let (sweep, phases) = bench(&[&short[..], &["--rw=randwrite", "--sweep=depth=1,4"]].concat());
    assert_near(seconds(&sweep.err, "a sweep of 2 points: about "), planned(&phases));

    let model = "--on=sata-7200.toml";
    let (limit, phases) = bench(&[model, "--limit=p99=60ms", "--iodepth=32"]);
    let after: usize = phases[2..].iter().map(|phase| list(&phase["repeats"]).len()).sum();
    let said = limit.err.split_once(" more runs to find the limit: ").expect("said").0;
    let (fewest, most) = said.rsplit_once("seekwell: ").unwrap().1.split_once(" to ").unwrap();
    let said = fewest.parse().unwrap()..=most.parse().unwrap();
    assert!(said.contains(&after), "{after} runs, {said:?} said");

    let (steady, phases) = bench(&[model, "--steady", "--runtime=20s"]);
    let (rounds, least) = (list(&phases[0]["repeats"]).len() as f64, planned(&phases));
    let said = seconds(&steady.err, "5 to 25 rounds until the rate is steady: about ");
    assert_near(said, least / rounds * 25.0);
    assert!(steady.err.contains("s in real time at most"), "{}", steady.err);
}

#[test]
fn a_quantile_that_needs_more_requests_than_a_minute_gives_is_refused_with_the_reason() {
    let home = home();
    let ran = run(home.path(), &["bench", "--on=sata-7200.toml", "--limit=p99.9=60ms"]).ends(4);
    assert!(ran.err.contains("p99.9 needs 10000 requests, and at "), "{}", ran.err);
}

#[test]
fn steady_state_on_a_file_is_reached_or_is_a_finding() {
    let Some(dir) = Place::with_room(64 << 20) else { return };
    let home = home();
    let on = format!("--on={}", dir.path().display());
    let args = [
        "bench",
        &on,
        "--rw=randwrite",
        "--iodepth=4",
        "--size=64M",
        "--runtime=600ms",
        "--steady",
        "--precondition",
        "--json",
    ];
    let document = run(home.path(), &args).ends(0).json();
    let written = number(&document["preconditioning"]["sequential_bytes"]);
    assert_eq!(written, f64::from(128 << 20), "the region, twice");
    assert_eq!(document["preconditioning"]["random_bytes"], written);
    let (phase, study) = (&document["phases"][0], &document["study"]);
    let rounds = list(&study["rounds_per_s"]).len();
    let left_out = list(&phase["repeats"]).iter().filter(|r| !r["invalid"].is_null()).count();
    let found = list(&document["findings"]).iter().any(|f| f["id"] == "SW-STEADY-001");
    match study["outcome"]["kind"].as_str() {
        Some("reached") => {
            assert_eq!(number(&study["outcome"]["from"]), left_out as f64);
            assert_eq!(phase["metrics"]["write.requests_per_s"]["n"], 5);
            assert!(rounds >= 5 && !found);
        }
        Some("not-reached") => assert!(rounds == 25 && found),
        other => panic!("{other:?}"),
    }
    assert_eq!(common::names(dir.path()), [""; 0]);
}

#[test]
fn a_model_stays_as_the_round_before_left_it_and_settles() {
    let home = home();
    let args = [
        "bench",
        "--on=sata-ssd.toml",
        "--rw=randwrite",
        "--iodepth=8",
        "--size=256M",
        "--runtime=1s",
        "--steady",
        "--precondition",
        "--json",
    ];
    let document = run(home.path(), &args).json();
    assert_eq!(document["study"]["outcome"]["kind"], "reached", "{}", document["study"]);
    assert_eq!(document["modelled"], true);
}

#[test]
fn nothing_is_preconditioned_that_may_not_be_written() {
    let home = home();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    let on = format!("--on={}", file.display());
    run(home.path(), &["bench", &on, "--precondition", "--runtime=600ms"]).ends(3);
    assert!(std::fs::read(&file).unwrap().iter().all(|byte| *byte == 7));
}

#[test]
fn what_measuring_cost_stands_under_the_result() {
    let Some(dir) = Place::with_room(64 << 20) else { return };
    let home = home();
    let on = format!("--on={}", dir.path().display());
    let ran =
        run(home.path(), &["bench", &on, "--size=64M", "--iodepth=8", "--runtime=600ms"]).ends(0);
    for part in ["ns of CPU for a request", "the engine alone costs"] {
        assert!(ran.out.contains(part), "{}", ran.out);
    }
    let shown = run(home.path(), &["runs", "show", "last", "--json"]).json();
    let metrics = &shown["phases"][0]["metrics"];
    assert!(number(&metrics["cpu_ns_per_request"]["median"]) > 0.0);
    assert!(number(&metrics["requests_per_syscall"]["median"]) > 0.0);
    assert!(number(&shown["engine"]["cost_ns_per_request"]) > 0.0);
}

#[test]
fn a_terminal_shows_how_it_goes_in_place_and_is_clean_afterwards() {
    let home = home();
    let mut command = seekwell(home.path());
    command.args(["bench", "--on=null", "--iodepth=8", "--runtime=2500ms", "--no-keep"]);
    let terminal = Terminal::start(&mut command, 80, 24);
    wait_for("a strip of latencies", || {
        terminal.screen().iter().any(|line| line.contains(" │") && line.contains('█'))
    });
    let screen = terminal.screen();
    assert_eq!(screen[0], "random read 4 KiB, depth 8");
    assert!(screen[1].contains("gone") && screen[1].contains("left"), "{screen:?}");
    assert!(screen[2].contains("requests/s") && screen[2].contains("p99"), "{screen:?}");
    assert!(!terminal.written().contains("\x1b[3"), "NO_COLOR is set");
    let (status, out, screen) = terminal.end();
    assert_eq!(status, 0);
    assert!(out.contains("random read 4 KiB, depth 8"), "{out}");
    assert_eq!(screen, [""; 0], "nothing is left of it");
}

#[test]
fn a_narrow_and_low_terminal_shows_less_and_wraps_nothing() {
    let home = home();
    let mut command = seekwell(home.path());
    let args = ["bench", "--on=null", "--runtime=2500ms", "--no-keep"];
    command.args(args).env_remove("NO_COLOR");
    let terminal = Terminal::start(&mut command, 30, 10);
    // The emulated terminal panics where a line is wider than it.
    wait_for("a rate", || terminal.screen().iter().any(|line| line.contains("requests/s ·")));
    let lines = terminal.screen();
    let drawn = lines.iter().skip_while(|line| !line.starts_with("random read")).count();
    assert_eq!(drawn, 3, "{lines:?}");
    assert!(terminal.written().contains("\x1b[36m"), "colours where they are allowed");
    let (status, _, screen) = terminal.end();
    assert_eq!(status, 0);
    assert!(screen.iter().all(|line| !line.contains("gone")), "{screen:?}");
}

#[test]
fn an_interrupted_run_leaves_a_clean_screen() {
    let home = home();
    let mut command = seekwell(home.path());
    command.args(["bench", "--on=null", "--iodepth=8", "--runtime=60s", "--no-keep"]);
    let terminal = Terminal::start(&mut command, 80, 24);
    wait_for("a rate", || terminal.screen().iter().any(|line| line.contains("requests/s ·")));
    signal(&terminal.child, "INT");
    let (status, out, screen) = terminal.end();
    assert_eq!(status, 130);
    assert!(out.contains("INCOMPLETE"), "{out}");
    assert_eq!(screen, [""; 0]);
}

#[test]
fn without_a_terminal_a_line_a_second_is_printed_only_where_it_is_asked_for() {
    let home = home();
    let with = |when: &str| {
        let when = format!("--progress={when}");
        run(home.path(), &["bench", "--on=null", "--runtime=2500ms", "--no-keep", &when])
    };
    let lines = with("always").err;
    let rates = lines.lines().filter(|line| line.contains("requests/s · ")).count();
    assert!((1..=3).contains(&rates), "{lines}");
    assert!(lines.contains("random read 4 KiB, depth 1") && !lines.contains('\x1b'), "{lines}");
    for when in ["auto", "never"] {
        assert_eq!(with(when).err, "", "{when}");
    }
}

#[test]
fn never_shows_nothing_on_a_terminal() {
    let home = home();
    let mut command = seekwell(home.path());
    let args = ["bench", "--on=null", "--runtime=600ms", "--no-keep", "--progress=never"];
    command.args(args);
    let terminal = Terminal::start(&mut command, 80, 24);
    let (status, _, screen) = terminal.end();
    assert_eq!((status, screen), (0, Vec::new()));
}

#[test]
fn what_others_do_to_a_workload_is_told_from_rounds_with_and_without_them() {
    let Some(disk) = Loop::new(64 << 20) else { return };
    let Some(group) = Throttle::on(&disk.device, "read_iops", 200) else {
        return skip("there is no block controller of cgroup v1");
    };
    let home = tempfile::tempdir().unwrap();
    let all = ["bench", "--on", &disk.device, "--runtime=1s", "--repeats=5", "--no-keep"];
    let bench = |words: &[&str]| group.run(home.path(), &[&all[..], words].concat());
    // Two that read without a pause share what the group may; how evenly, a busy machine decides.
    let shared = bench(&["--beside=randread", "--json"]).ends(0).json();
    let study = &shared["study"];
    assert_eq!(study["others"].as_array().unwrap().len(), 1);
    let rate = &study["effects"][0];
    assert_eq!(rate["metric"], "read.requests_per_s");
    let ratio = rate["ratio"]["ratio"].as_f64().unwrap();
    assert!((0.1..0.9).contains(&ratio), "{rate}");
    let both = [&study["beside"], &study["others"][0]].map(|name| {
        let phases = shared["phases"].as_array().unwrap();
        let phase = phases.iter().find(|phase| phase["name"] == *name).unwrap();
        phase["metrics"]["read.requests_per_s"]["median"].as_f64().unwrap()
    });
    let sum: f64 = both.iter().sum();
    assert!((130.0..230.0).contains(&sum), "{both:?} of 200");
    // Discards are not throttled, and are counted as what they are.
    let serial = disk.backing.to_str().unwrap();
    let words = ["--beside=randtrim,bs=64k,rate_iops=50", "--destroy", serial];
    let said = bench(&words).ends(0);
    assert!(said.out.contains("Beside random discard 64 KiB, depth 1 it has"), "{}", said.out);
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    let refused = run(home.path(), &["bench", "--on", "sata-ssd.toml", "--beside=randwrite"]);
    assert!(refused.ends(2).err.contains("plays one workload at a time"));
    let unknown = run(home.path(), &["bench", "--on", "null", "--beside=randrea"]).ends(2);
    assert!(unknown.err.contains("rw=randrea"), "{}", unknown.err);
}
