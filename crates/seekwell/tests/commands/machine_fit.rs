//! `seekwell machine fit`: from a checkup to a model of the disk, and back to what it predicts.

use crate::common::{Ran, run};
use serde_json::Value;
use std::path::Path;

/// A checkup of a modelled machine, kept.
fn checkup(home: &Path, machine: &str, how: &[&str]) {
    run(home, &[&["checkup", machine, "--json"], how].concat()).ends(0);
}

fn fit(home: &Path, more: &[&str]) -> (Ran, String) {
    let file = home.join("mine.toml").display().to_string();
    let ran = run(home, &[&["machine", "fit", "last", "-o", &file, "--force"], more].concat());
    (ran, file)
}

/// A modelled bench of random reads at depth 16.
fn bench(home: &Path, file: &str, more: &[&str]) -> Ran {
    let asked = ["bench", "--on", file, "--rw=randread", "--bs=4k", "--iodepth=16", "--runtime=5s"];
    run(home, &[&asked[..], &["--no-keep"], more].concat())
}

fn reads(document: &Value) -> &Value {
    &document["phases"][0]["metrics"]["read.requests_per_s"]
}

#[test]
fn a_checkup_becomes_a_machine_that_predicts_what_was_hidden_and_says_how_wrong_it_may_be() {
    let home = tempfile::tempdir().expect("a folder");
    checkup(home.path(), "nvme-ssd.toml", &[]);
    let (ran, file) = fit(home.path(), &["--on-depths", "1..8", "--json"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let fitted = ran.json();
    assert_eq!(fitted["kind"], "flow");
    let rows = fitted["rows"].as_array().expect("rows");
    let predicted: Vec<&Value> = rows
        .iter()
        .filter(|row| row["fitted"] == false)
        .filter(|row| row["phase"].as_str().is_some_and(|p| p.starts_with("rand-read-4k")))
        .collect();
    assert!(predicted.len() >= 3, "{rows:?}");
    for row in predicted.iter().filter(|row| row["phase"] != "rand-read-4k-d128") {
        let error = row["error_percent"].as_f64().expect("a number");
        assert!(error.abs() <= 15.0, "{row}");
    }
    assert_eq!(run(home.path(), &["machine", "check", &file]).status, 0);

    let document = bench(home.path(), &file, &["--json"]).json();
    let error = fitted["model_error_percent"].as_f64().expect("a number");
    assert!((document["medium"]["model_error_percent"].as_f64().unwrap() - error).abs() < 0.06);
    let spread = reads(&document);
    let of = |key: &str| spread[key].as_f64().expect("a number");
    let shown = document["medium"]["model_error_percent"].as_f64().unwrap() / 100.0;
    // Twice as deep as the deepest it was fitted to.
    assert!((of("high") / of("median") / 2.0 - 1.0 - shown).abs() < 0.01, "{spread}");
    assert!((of("low") / of("median") * 2.0 - 1.0 + shown).abs() < 0.01, "{spread}");
    let text = bench(home.path(), &file, &[]).out;
    assert!(text.contains("the fit's error") && text.contains(" … "), "{text}");
    assert!(
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains("depths up to 8"),
        "{text}"
    );
}

// The depth and direction were read again from the job's words, so that an engine that keeps one
// request outstanding was believed to be 32 deep, and `randread:8` to write.
#[test]
fn the_range_of_a_job_follows_from_what_it_does_and_not_from_its_words() {
    let home = tempfile::tempdir().expect("a folder");
    checkup(home.path(), "nvme-ssd.toml", &[]);
    let (ran, file) = fit(home.path(), &["--on-depths", "1..8"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let width = |options: &str| {
        let job = home.path().join("job.fio");
        std::fs::write(&job, format!("[job]\nsize=1g\nruntime=2\n{options}\n")).expect("writes");
        let document = run(home.path(), &["bench", "--on", &file, job.to_str().unwrap(), "--json"])
            .ends(0)
            .json();
        let of = |key: &str| reads(&document)[key].as_f64().expect("a number");
        of("high") / of("median")
    };
    let shallow = width("rw=randread\nioengine=libaio\niodepth=1");
    for options in ["rw=randread:8\nioengine=libaio", "rw=randread\nioengine=psync\niodepth=32"] {
        let found = width(options);
        assert!((found / shallow - 1.0).abs() < 1e-6, "{options}: {found} and {shallow}");
    }
    assert!(width("rw=randread\nioengine=libaio\niodepth=32") > 1.5 * shallow);
}

#[test]
fn a_fitted_drive_behind_another_controller_answers_what_if() {
    let home = tempfile::tempdir().expect("a folder");
    checkup(home.path(), "sata-ssd.toml", &[]);
    let (ran, file) = fit(home.path(), &[]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("rand-read-4k-d8") && ran.out.contains("fitted"), "{}", ran.out);
    let ahci = bench(home.path(), &file, &["--json"]).json();
    let ide = bench(home.path(), &file, &["--json", "--set", "controller.part=ide"]).json();
    let rate = |document: &Value| reads(document)["median"].as_f64().expect("a rate");
    // One command at a time in place of sixteen.
    assert!(rate(&ide) < 0.25 * rate(&ahci), "{} {}", rate(&ide), rate(&ahci));
    let split = ["--json", "--set", "host.tags=split", "--set", "host.openings=8"];
    let split = bench(home.path(), &file, &split).json();
    assert!(rate(&split) < 0.8 * rate(&ahci), "{} {}", rate(&split), rate(&ahci));
}

#[test]
fn equal_runs_give_equal_files_and_no_file_is_replaced_unasked() {
    let home = tempfile::tempdir().expect("a folder");
    checkup(home.path(), "sata-7200.toml", &[]);
    let text = |file: &str| std::fs::read_to_string(file).expect("was written");
    let (ran, file) = fit(home.path(), &[]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let first = text(&file);
    assert!(first.contains("part = \"hdd-common\"") && first.contains("from = \"fitted\""));
    fit(home.path(), &[]);
    assert_eq!(text(&file), first);
    let again = run(home.path(), &["machine", "fit", "last", "-o", &file]).ends(3);
    assert!(again.err.contains("--force"), "{}", again.err);
}

#[test]
fn a_run_with_too_few_depths_is_refused_and_nothing_is_written() {
    let home = tempfile::tempdir().expect("a folder");
    let asked = ["bench", "--on", "sata-7200.toml", "--rw=randread", "--iodepth=8"];
    assert_eq!(run(home.path(), &[&asked[..], &["--runtime=20s"]].concat()).status, 0);
    let (ran, file) = fit(home.path(), &[]);
    assert_eq!(ran.status, 4, "{}", ran.err);
    assert!(ran.err.contains("at depth 8 only"), "{}", ran.err);
    assert!(!Path::new(&file).exists());
    let (ran, _) = fit(home.path(), &["--on-depths", "8..1"]);
    assert_eq!(ran.status, 2, "{}", ran.err);
}

#[test]
fn what_a_fit_knows_least_about_is_named_or_measured_and_added_to_the_runs() {
    let home = tempfile::tempdir().expect("a folder");
    let bench = |more: &[&str]| {
        let asked = ["bench", "--on", "nvme-ssd.toml", "--size=1g", "--runtime=600ms", "--json"];
        let document = run(home.path(), &[&asked[..], more].concat()).ends(0).json();
        document["id"].as_str().expect("an ID").to_owned()
    };
    let curve = bench(&["--rw=randread", "--sweep", "depth=1..8"]);
    let large = bench(&["--rw=read", "--bs=1m", "--iodepth=4"]);
    let file = home.path().join("mine.toml").display().to_string();
    let fit = |more: &[&str]| {
        let asked = ["machine", "fit", &curve, &large, "-o", &file, "--force", "--measure"];
        run(home.path(), &[&asked[..], more].concat()).ends(0)
    };
    // What a byte takes is known from the one phase of large reads alone.
    let named = fit(&["--json"]).json();
    let job = named["next"]["job"].as_array().expect("a job");
    assert!(job.contains(&"bs=128k".into()) && job.contains(&"rw=randread".into()), "{job:?}");
    assert!(named["next"]["range_percent"].as_f64().is_some_and(|range| range > 15.0));
    let said = fit(&[]).out;
    assert!(
        said.contains("seekwell bench --on TARGET --size=1g --rw=randread --bs=128k"),
        "{said}"
    );
    let measured = fit(&["nvme-ssd.toml", "--at-most", "1", "--json"]).json();
    assert_eq!(measured["runs"].as_array().map(Vec::len), Some(3), "{measured}");
    let rows = measured["rows"].as_array().expect("rows");
    assert!(rows.iter().any(|row| row["phase"] == "randread-131072-d8"), "{measured}");
}
