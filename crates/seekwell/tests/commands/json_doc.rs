//! The schemas describe every key of the documents that the program prints, and no other.

use crate::common::bonnie::{AHCI, PIIX};
use crate::common::schema::complete;
use crate::common::{Loop, copies, done, run, seekwell};
use seekwell_experiment::Temperature;
use seekwell_stats::{Gate, Interval, Margin, Sample, Skew, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

fn bench(home: &Path, label: &str, depth: &str) {
    let args = ["bench", "--on", "null", "--runtime=600ms", "--label", label, "--iodepth", depth];
    run(home, &args).ends(0);
}

#[test]
fn every_key_of_comparisons_and_of_the_history_of_a_metric_is_described() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    bench(home, "deep", "8");
    bench(home, "flat", "1");
    let noise = |i: usize| [0.0, 3.0, -2.0, 1.0, -3.0, 2.0][i % 6];
    let fall: Vec<f64> = (0..24).map(|i| if i < 12 { 1000.0 } else { 800.0 } + noise(i)).collect();
    let kernel = |i: usize, run: &mut Value| {
        run["inspection"]["host"]["kernel"]["value"] = json!(format!("1.{}", i / 12));
    };
    copies(home, "fall", "20200101", &fall, kernel);
    copies(home, "high", "20200102", &fall[..12], kernel);
    let json = |args: &[&str]| run(home, &[args, &["--json"]].concat()).json();
    let xml = home.join("result.xml");
    let entry = |system: &str, value: &str| {
        format!("<Entry><Identifier>{system}</Identifier><Value>{value}</Value></Entry>")
    };
    let text = format!(
        "<?xml version=\"1.0\"?><PhoronixTestSuite><Result><Identifier>pts/x-1.0.0</Identifier>\
         <Title>X</Title><Scale>Frobs</Scale><Proportion>HIB</Proportion><Data>{}{}</Data>\
         </Result></PhoronixTestSuite>",
        entry("A", "1"),
        entry("B", "2")
    );
    std::fs::write(&xml, text).unwrap();
    let lines = [PIIX, AHCI].map(|line| {
        let path = home.join(if line == PIIX { "piix" } else { "ahci" });
        std::fs::write(&path, line).unwrap();
        path.display().to_string()
    });
    let comparisons = [
        json(&["compare", &lines[0], &lines[1]]),
        json(&["compare", "high", "fall", "--expect", "slower"]),
        json(&["compare", "deep", "flat", "--different-workloads"]),
        json(&["compare", xml.to_str().unwrap()]),
    ];
    assert!(comparisons.iter().all(|c| c["schema"] == "seekwell/compare/1"));
    complete(&["compare-1.json", "common.json#/$defs/unit"], &comparisons, &[]);
    let trend = json(&["runs", "trend", "read.requests_per_s", "--label", "fall"]);
    assert_eq!(trend["changes"].as_array().map(Vec::len), Some(1), "{trend}");
    complete(&["trend-1.json"], &[trend], &[]);
}

#[test]
fn every_key_of_an_experiment_is_described() {
    let home = tempfile::tempdir().unwrap();
    let short = ["--on", "null", "--pairs", "--blocks=8", "--runtime=600ms", "--settle=0"];
    let args = [&["experiment"], &short[..], &["--aa", "--json"]].concat();
    let document = run(home.path(), &args).json();
    // What needs a disk, or goes wrong, is put in by hand, as its types have it.
    let mut rich: seekwell_experiment::Document = serde_json::from_value(document.clone()).unwrap();
    let text = |text: &str| text.to_owned();
    let setting = seekwell_experiment::Setting { key: text("scheduler"), value: text("none") };
    rich.a.settings.push(setting);
    let (key, was, is) = (text("scheduler"), text("none"), text("bfq"));
    rich.runs[0].applied.push(seekwell_experiment::Applied { key, was, is });
    let (key, wanted, why) = (text("scheduler"), text("none"), text("gone"));
    rich.not_restored.push(seekwell_experiment::NotRestored { key, wanted, why });
    rich.forecast = Some(seekwell_experiment::Forecast {
        sd: 0.1,
        blocks: 8,
        seconds: 1.0,
        beyond_cap: false,
        same_workload: true,
        from: document["id"].to_string(),
    });
    let interval95 = Some(Interval { low: 0.0, high: 1.0 });
    let (metric, percent, adjusted_p) = (text("cpu_percent"), 1.0, 0.5);
    let other = seekwell_experiment::Exploratory { metric, percent, interval95, adjusted_p };
    rich.a.job.flags.uncached = true;
    let (what, celsius) = (text("drivetemp"), 40.0);
    let hot = Temperature { what, celsius, limit_celsius: None, alarm: false };
    rich.runs[0].condition.temperatures.push(hot);
    let conclusion = rich.conclusion.as_mut().expect("a conclusion");
    conclusion.exploratory.push(other);
    conclusion.limit = Some(text("Both arms are limited by latency."));
    let estimate = conclusion.estimate.as_mut().expect("an estimate");
    estimate.skew = Some(Skew { typical: 1.0, mean: 2.0 });
    let documents = [document.clone(), serde_json::to_value(&rich).unwrap()];
    complete(&["experiment-1.json"], &documents, &[]);
    if let Ok(noise) = std::fs::read_to_string(home.path().join("experiments/noise.json")) {
        complete(&["noise-1.json"], &[serde_json::from_str(&noise).unwrap()], &[]);
    }
    let parts = ["verdict", "sample"].map(|part| format!("common.json#/$defs/{part}"));
    complete(&parts.each_ref().map(String::as_str), &verdicts(), &[]);
    complete(&["common.json#/$defs/gate"], &gates(), &[]);
}

fn verdicts() -> Vec<Value> {
    let margin = Margin::new(0.02).unwrap();
    let (blocks, runs) = (Sample::Blocks(8), Sample::Runs { a: 5, b: 5 });
    let (low, high) = (0.0, 1.0);
    let below_margin = false;
    let sample = blocks;
    let all = [
        Verdict::Faster { percent: 1.0, low, high, below_margin, margin, sample },
        Verdict::Equivalent { margin, low90: low, high90: high, sample },
        Verdict::Undecided { low, high, more_blocks: 8, margin, sample },
        Verdict::TooFew { have: runs, need: runs },
        Verdict::Invalid { gate: Gate::Errors { count: 1 } },
    ];
    all.iter().map(|verdict| serde_json::to_value(verdict).unwrap()).collect()
}

fn gates() -> Vec<Value> {
    let what = "the kernel".to_owned();
    let trend = seekwell_stats::Trend { tau: 1.0, p: 0.1, percent_per_block: 1.0 };
    let arm = seekwell_stats::Arm::A;
    let all = [
        Gate::Errors { count: 1 },
        Gate::EnvironmentChanged { what },
        Gate::NotSteady { run: 1 },
        Gate::TooFewBlocks { have: 1 },
        Gate::NotANumber { index: 1 },
        Gate::Trend(trend),
        Gate::Autocorrelated { lag_one: 0.5 },
        Gate::CarryOver(seekwell_stats::CarryOver { arm, percent: 1.0, p: 0.1 }),
    ];
    all.iter().map(|gate| serde_json::to_value(gate).unwrap()).collect()
}

#[test]
fn every_key_of_a_trial_is_described() {
    let Some(disk) = Loop::new(16 << 20) else { return };
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("rules")).unwrap();
    let tune = |args: &[&str]| {
        let mut program = seekwell(home.path());
        program.env("SEEKWELL_RUN_DIR", home.path().join("run"));
        program.env("SEEKWELL_RULES_DIR", home.path().join("rules"));
        let ran = done(program.arg("tune").args(args).arg("--json").output().unwrap());
        assert_eq!(ran.status, 0, "{args:?}: {}", ran.err);
        ran.json()
    };
    let device = disk.device.as_str();
    let documents = [
        tune(&["plan", device]),
        tune(&["plan", device, "--iocost", "--runtime", "600ms"]),
        tune(&["try", device, "nomerges=2", "--for", "60s"]),
        tune(&["status"]),
        tune(&["keep", device]),
        tune(&["status"]),
        tune(&["undo", device]),
    ];
    let schemas: BTreeSet<_> = documents.iter().map(|d| d["schema"].as_str().unwrap()).collect();
    assert_eq!(schemas.len(), 6, "{schemas:?}");
}

#[test]
fn every_key_of_a_server_is_described() {
    let home = tempfile::tempdir().unwrap();
    let mut child = seekwell(home.path())
        .args(["serve", "--port=0", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut text = String::new();
    for line in lines {
        text += &line;
        if line == "}" {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    complete(&["serve-1.json"], &[serde_json::from_str(&text).unwrap()], &[]);
}

#[test]
fn every_key_of_a_small_document_is_described() {
    let home = tempfile::tempdir().unwrap();
    bench(home.path(), "a", "1");
    let page = home.path().join("page.html").display().to_string();
    for (file, args) in [
        ("runs-1.json", &["runs", "list"][..]),
        ("report-1.json", &["report", "last", "-o", &page]),
        ("suites-1.json", &["bench", "--suite", "list"]),
        ("reindex-1.json", &["runs", "reindex"]),
        ("rules-1.json", &["inspect", "--explain"]),
        ("rule-1.json", &["inspect", "--explain", "SW-AHCI-001"]),
        ("inspect-list-1.json", &["inspect", "/tmp", "/"]),
        ("runs-removed-1.json", &["runs", "remove", "last"]),
    ] {
        complete(&[file], &[run(home.path(), &[args, &["--json"]].concat()).json()], &[]);
    }
}
