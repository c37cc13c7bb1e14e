//! Each form of the run made by hand.

use super::super::{Bins, File, OutputError, csv, fio_json, logs, plot_files, prometheus};
use super::{run, two_sizes, workload};
use seekwell_io::measurement::{Failure, FailureKind, Stopped};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pace, Pattern};
use seekwell_runs::{Detail, JobWork, Replay, ReplayMode, RunDocument, SuiteStep};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn read(document: &RunDocument, detail: &Detail) -> Value {
    serde_json::from_str(&fio_json(document, detail, Bins::With).unwrap()).unwrap()
}

#[test]
fn a_run_is_written_in_fios_words_order_and_units() {
    let (document, detail) = run(1);
    insta::assert_snapshot!(fio_json(&document, &detail, Bins::With).unwrap());
}

#[test]
fn without_bins_everything_else_is_the_same() {
    let (document, detail) = run(1);
    let mut with = read(&document, &detail);
    let without: Value =
        serde_json::from_str(&fio_json(&document, &detail, Bins::Without).unwrap()).unwrap();
    assert_ne!(with, without);
    let job = &mut with["jobs"][0];
    for path in ["/read/clat_ns", "/read/lat_ns", "/sync/lat_ns"] {
        assert!(job.pointer_mut(path).unwrap().as_object_mut().unwrap().remove("bins").is_some());
    }
    assert_eq!(with, without);
}

#[test]
fn each_repeat_is_a_job_of_its_own_and_none_are_added_up() {
    let (document, detail) = run(2);
    let read = read(&document, &detail);
    let names: Vec<_> = (0..2).map(|i| &read["jobs"][i]["jobname"]).collect();
    assert_eq!(names, ["randread-4096-d8.1", "randread-4096-d8.2"]);
    assert_eq!(read["jobs"][1]["read"]["total_ios"], 2_000);
    assert_eq!(read["jobs"][1]["job options"]["randseed"], "2");
    assert_eq!(read["disk_util"][0]["read_sectors"], 2 * 2_000 * 8);
}

#[test]
fn the_options_of_a_job_say_what_its_workload_was() {
    let (mut document, detail) = run(1);
    let options = |document: &RunDocument| read(document, &detail)["jobs"][0]["job options"].take();
    let w = workload(&mut document);
    (w.pattern, w.read_percent, w.flush_every) = (Pattern::Random, 70, 32);
    w.sizes = two_sizes();
    w.pace = Pace::Open { requests_per_s: 150.5, poisson: true, depth: 64 };
    (w.runtime_ns, w.ramp_ns, w.requests) = (Nanos::ZERO, Nanos::from_millis(1_500), 9);
    let said = options(&document);
    let expected = [
        ("rw", "randrw"),
        ("rwmixread", "70"),
        ("bs", "4k-1m"),
        ("bssplit", "4k/66:1m/34"),
        ("iodepth", "64"),
        ("rate_iops", "105.35,45.15"),
        ("rate_process", "poisson"),
        ("fsync", "32"),
        ("number_ios", "9"),
        ("ramp_time", "1500ms"),
    ];
    for (key, value) in expected {
        assert_eq!(said[key], value, "{key}");
    }
    assert_eq!(said.get("runtime"), None);
    let w = workload(&mut document);
    (w.pattern, w.read_percent) = (Pattern::Sequential, 0);
    assert_eq!(options(&document)["rw"], "write");
}

#[test]
fn the_depth_of_an_open_loop_was_not_measured_and_is_left_out() {
    let (mut document, detail) = run(1);
    assert_eq!(read(&document, &detail)["jobs"][0]["iodepth_level"]["8"], 100.0);
    workload(&mut document).pace = Pace::Open { requests_per_s: 9.0, poisson: false, depth: 8 };
    assert_eq!(read(&document, &detail)["jobs"][0].get("iodepth_level"), None);
}

#[test]
fn a_replay_names_its_trace_and_a_job_keeps_its_own_options() {
    let (mut document, detail) = run(1);
    document.phases[0].workload = seekwell_runs::Work::Replayed(Replay {
        trace: "web.parquet".into(),
        format: "seekwell".into(),
        complete: true,
        recorded_device: None,
        requests: BTreeMap::new(),
        span_ns: Nanos::ZERO,
        mode: ReplayMode::Depth,
        times: "queue".into(),
        speed: 1.0,
        depth: 32,
        recorded_depth: false,
        tags: None,
        tag_policy: None,
        fit: "fail".into(),
        writes: false,
    });
    let said = read(&document, &detail)["jobs"][0]["job options"].take();
    let expected = json!({
        "name": "randread-4096-d8", "ioengine": "io_uring", "filename": "/dev/sda",
        "rw": "randread", "iodepth": "32", "numjobs": "1", "read_iolog": "web.parquet",
        "replay_no_stall": "1",
    });
    assert_eq!(said, expected);
    let given = [("rw", "randread"), ("bs", "8k"), ("iodepth", "4"), ("numjobs", "3")];
    let given = given.into_iter().chain([("ioengine", "libaio"), ("name", "x")]);
    document.phases[0].workload = seekwell_runs::Work::Job(Box::new(JobWork {
        jobs: vec!["x".into()],
        job_file: "a.fio".into(),
        group: 0,
        clones: 3,
        engine: "threads".into(),
        reads_back: false,
        plain: None,
        options: given.map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
        files: Vec::new(),
        warnings: Vec::new(),
    }));
    let whole = read(&document, &detail);
    let expected = json!({
        "name": "randread-4096-d8", "ioengine": "threads", "rw": "randread", "bs": "8k",
        "iodepth": "4", "numjobs": "3",
    });
    assert_eq!(whole["jobs"][0]["job options"], expected);
    assert_eq!(whole["jobs"][0]["job_runtime"], 3_000);
}

#[test]
fn what_ended_a_job_is_its_error_and_why_it_does_not_count_is_in_its_description() {
    let (mut document, detail) = run(1);
    let failure = |kind| Failure { op: Op::Read, offset: 0, len: 4096, kind };
    for (failed, stopped, errno) in [
        (Some(failure(FailureKind::Errno { errno: 28 })), Stopped::Failed, 28),
        (Some(failure(FailureKind::Short { moved: 1 })), Stopped::Failed, 5),
        (None, Stopped::Stalled, 110),
        (None, Stopped::Interrupted, 0),
    ] {
        let repeat = &mut document.phases[0].repeats[0];
        (repeat.failure, repeat.stopped) = (failed, stopped);
        repeat.invalid = Some("it broke".into());
        let job = read(&document, &detail)["jobs"][0].take();
        assert_eq!(job["error"], errno);
        assert_eq!(job["desc"], "random read 4 KiB, depth 8, 2 threads (invalid: it broke)");
    }
}

#[test]
fn what_cannot_be_a_job_is_refused_with_the_reason() {
    let (mut document, mut detail) = run(2);
    document.ended_at = Some("soon".into());
    let error = fio_json(&document, &detail, Bins::With).unwrap_err();
    assert_eq!(error, OutputError::Time { found: "soon".into() });
    detail.repeats.pop();
    let error = logs(&document, &detail).unwrap_err();
    let phase = document.phases[0].name.clone();
    assert_eq!(error, OutputError::NoDetail { phase: phase.clone(), repeat: 2 });
    document.phases[0].workload = seekwell_runs::Work::Suite(SuiteStep {
        suite: "fs".into(),
        step: "create".into(),
        tunables: BTreeMap::new(),
        primary: "files_per_s".into(),
    });
    assert_eq!(plot_files(&document, &detail), Err(OutputError::Suite { phase }));
}

#[test]
fn a_job_that_completed_nothing_has_fios_zeros() {
    let (mut document, _) = run(1);
    document.phases[0].repeats[0].ops.clear();
    document.phases[0].repeats[0].elapsed_ns = Nanos::ZERO;
    let job = read(&document, &Detail::default())["jobs"][0].take();
    assert_eq!(job["read"], job["trim"]);
    assert_eq!(
        job["read"]["lat_ns"],
        json!({"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0})
    );
    assert_eq!(job["latency_ms"][">=2000"], 0.0);
    assert_eq!(job.get("iodepth_level"), None);
}

#[test]
fn a_log_has_a_line_for_each_step_with_the_mean_of_the_step() {
    let (document, mut detail) = run(1);
    let [bw, iops, lat] = <[File; 3]>::try_from(logs(&document, &detail).unwrap()).unwrap();
    assert_eq!(bw.path.to_str(), Some("_bw.1.log"));
    assert_eq!([bw.text.lines().count(), iops.text.lines().count()], [10, 10]);
    assert_eq!(bw.text.lines().next(), Some("100, 8000, 0, 0, 0"), "KiB/s: 200 × 4 KiB in 0.1 s");
    assert_eq!(iops.text.lines().last(), Some("1000, 2000, 0, 0, 0"));
    assert_eq!(lat.text.lines().next(), Some("100, 775515, 0, 0, 0"));
    // Discards have a number of their own, and no bytes over time.
    detail.repeats[0].series.steps.truncate(1);
    detail.repeats[0].series.steps[0].requests = [0, 7, 5, 9];
    let [bw, iops, _] = <[File; 3]>::try_from(logs(&document, &detail).unwrap()).unwrap();
    assert_eq!(iops.text, "100, 70, 1, 0, 0\n100, 90, 2, 0, 0\n");
    assert_eq!(bw.text, "100, 0, 1, 0, 0\n");
}

#[test]
fn a_last_step_that_the_end_cut_short_counts_by_its_length_or_not_at_all() {
    let (mut document, detail) = run(1);
    document.phases[0].repeats[0].elapsed_ns = Nanos::from_millis(980);
    let iops = &logs(&document, &detail).unwrap()[1].text;
    assert_eq!(iops.lines().last(), Some("980, 2500, 0, 0, 0"));
    document.phases[0].repeats[0].elapsed_ns = Nanos::from_millis(940);
    let iops = &logs(&document, &detail).unwrap()[1].text;
    assert_eq!(iops.lines().last(), Some("900, 2000, 0, 0, 0"));
}

#[test]
fn files_are_named_as_fio_plot_looks_for_them_and_none_overwrites_another() {
    let (mut document, mut detail) = run(2);
    let mut second = document.phases[0].clone();
    second.name = "../../etc/x".into();
    let more = detail.repeats.clone();
    detail.repeats.extend(more.into_iter().map(|mut d| {
        d.phase.clone_from(&second.name);
        d
    }));
    document.phases.push(second);
    let files = plot_files(&document, &detail).unwrap();
    let paths: Vec<_> = files.iter().map(|f| f.path.to_str().unwrap()).collect();
    let expected = [
        "randread-iodepth-8-numjobs-2_bw.1.log",
        "randread-iodepth-8-numjobs-2_iops.1.log",
        "randread-iodepth-8-numjobs-2_lat.1.log",
        "randread-8-2.json",
        "repeat-2/randread-iodepth-8-numjobs-2_bw.1.log",
        "repeat-2/randread-iodepth-8-numjobs-2_iops.1.log",
        "repeat-2/randread-iodepth-8-numjobs-2_lat.1.log",
        "repeat-2/randread-8-2.json",
        "______etc_x/randread-iodepth-8-numjobs-2_bw.1.log",
        "______etc_x/randread-iodepth-8-numjobs-2_iops.1.log",
        "______etc_x/randread-iodepth-8-numjobs-2_lat.1.log",
        "______etc_x/randread-8-2.json",
        "repeat-2/______etc_x/randread-iodepth-8-numjobs-2_bw.1.log",
        "repeat-2/______etc_x/randread-iodepth-8-numjobs-2_iops.1.log",
        "repeat-2/______etc_x/randread-iodepth-8-numjobs-2_lat.1.log",
        "repeat-2/______etc_x/randread-8-2.json",
    ];
    assert_eq!(paths, expected);
    let one: Value = serde_json::from_str(&files[3].text).unwrap();
    assert_eq!(one["jobs"].as_array().unwrap().len(), 1, "fio-plot adds up the jobs of a file");
}

#[test]
fn csv_has_a_row_for_each_phase_and_metric() {
    let (document, _) = run(1);
    insta::assert_snapshot!(csv(&[&document]));
}

#[test]
fn prometheus_gets_base_units_and_labels() {
    let (document, _) = run(1);
    insta::assert_snapshot!(prometheus(&[&document]));
}

#[test]
fn of_two_runs_that_no_label_tells_apart_the_last_counts() {
    let (document, _) = run(1);
    let mut later = document.clone();
    later.phases[0].metrics.get_mut("cpu_percent").unwrap().median = 50.0;
    let text = prometheus(&[&document, &later]);
    let lines: Vec<_> = text.lines().filter(|l| l.starts_with("seekwell_cpu_ratio{")).collect();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].ends_with(" 0.5"), "{}", lines[0]);
}
