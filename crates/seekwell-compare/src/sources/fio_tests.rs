use super::*;
use proptest::prelude::*;

/// As fio 3.33 writes it, with what is not read taken out.
const OUTPUT: &str = r#"note: both iodepth >= 1 and synchronous I/O engine are selected
{
  "fio version" : "fio-3.33",
  "timestamp" : 1795218814,
  "global options" : { "bs" : "4k", "ioengine" : "psync" },
  "jobs" : [ {
      "jobname" : "rr", "groupid" : 0, "error" : 0, "eta" : 2147483647,
      "job options" : { "name" : "rr", "rw" : "randread", "iodepth" : "4" },
      "read" : {
        "io_bytes" : 82305024, "bw_bytes" : 82222801, "bw" : 80295, "iops" : 20073.926074,
        "runtime" : 1001, "total_ios" : 20094,
        "lat_ns" : { "min" : 34151, "max" : 7879758, "mean" : 49000.5, "N" : 20094 },
        "clat_ns" : { "min" : 34151, "max" : 7879758, "mean" : 48934.6, "N" : 20094,
          "percentile" : { "50.000000" : 37632, "99.000000" : 70144, "99.900000" : 90000,
                           "99.990000" : 7000000 },
          "bins" : { "34048" : 3 } }
      },
      "write" : { "total_ios" : 0, "lat_ns" : { "N" : 0 } },
      "usr_cpu" : 5.5, "sys_cpu" : 20.5
  } ],
  "disk_util" : []
}

"#;

fn get(run: &RunValues, metric: &str) -> Option<f64> {
    run.groups[0].value(metric).map(|v| v.value)
}

#[test]
fn notes_before_the_document_are_passed_over_and_its_figures_are_read() {
    let run = read(OUTPUT, "a.json").unwrap();
    assert_eq!(get(&run, "read.requests_per_s"), Some(20073.926074));
    assert_eq!(get(&run, "read.rate_bytes_per_s"), Some(82222801.0), "bytes, not fio's KiB");
    assert_eq!(get(&run, "read.completion_ns_p99"), Some(70144.0));
    assert_eq!(get(&run, "read.latency_ns_mean"), Some(49000.5));
    assert_eq!(get(&run, "cpu_percent"), Some(26.0));
    assert_eq!(get(&run, "write.requests_per_s"), None, "nothing was written");
    assert_eq!(run.groups[0].value("read.requests_per_s").unwrap().rank, Rank::Headline);
    assert_eq!(run.about["ioengine"], "psync");
}

#[test]
fn a_percentile_of_too_few_requests_is_left_out() {
    let run = read(OUTPUT, "a.json").unwrap();
    assert!(get(&run, "read.completion_ns_p99_9").is_some());
    assert_eq!(get(&run, "read.completion_ns_p99_99"), None, "20094 of 100000 needed");
}

#[test]
fn options_said_and_options_left_to_the_default_are_one_workload() {
    let a = read(OUTPUT, "a").unwrap();
    let b = read(&OUTPUT.replace(r#""bs" : "4k", "#, ""), "b").unwrap();
    assert_eq!(a.groups[0].identity, b.groups[0].identity);
    let c = read(&OUTPUT.replace(r#""iodepth" : "4""#, r#""iodepth" : "8""#), "c").unwrap();
    assert_ne!(a.groups[0].identity, c.groups[0].identity);
}

#[test]
fn jobs_of_one_name_add_up_and_lose_their_percentiles() {
    let begin = OUTPUT.find("{\n      \"jobname\"").unwrap();
    let end = OUTPUT.find(" ],\n  \"disk_util\"").unwrap();
    let job = &OUTPUT[begin..end];
    let two = format!("{}{job}, {}", &OUTPUT[..begin], &OUTPUT[begin..]);
    let run = read(&two, "a").unwrap();
    assert_eq!(run.groups.len(), 1);
    assert_eq!(get(&run, "read.requests_per_s"), Some(2.0 * 20073.926074));
    assert_eq!(get(&run, "read.latency_ns_mean"), Some(49000.5));
    assert_eq!(get(&run, "read.completion_ns_p99"), None);
    assert_eq!(run.groups[0].identity["numjobs"], "2");
}

#[test]
fn fio_2_is_refused_because_its_latencies_are_microseconds() {
    for version in ["fio-2.21", "fio-", "3.33", ""] {
        let error = read(&OUTPUT.replace("fio-3.33", version), "a").unwrap_err();
        assert!(matches!(error, FormatError::Version { .. }), "{version:?}: {error}");
    }
}

#[test]
fn a_failed_job_and_one_that_was_too_short_say_so() {
    let run = read(&OUTPUT.replace(r#""error" : 0"#, r#""error" : 5"#), "a").unwrap();
    assert_eq!(run.groups[0].invalid.as_deref(), Some("fio stopped with error 5"));
    let run = read(&OUTPUT.replace(r#""runtime" : 1001"#, r#""runtime" : 400"#), "a").unwrap();
    assert_eq!(get(&run, "read.requests_per_s"), None);
    assert_eq!(run.left_out, ["rr: read: 400 ms are too short for a rate"]);
}

#[test]
fn a_document_cut_short_names_the_line_of_the_file() {
    let cut = &OUTPUT[..OUTPUT.len() / 2];
    match read(cut, "a").unwrap_err() {
        FormatError::Json { line, .. } => assert_eq!(line, cut.lines().count()),
        other => panic!("{other}"),
    }
    let deep = format!("{{\"fio version\": {}", "[".repeat(100_000));
    assert!(read(&deep, "a").is_err());
    let many = r#"{"jobname":"x"},"#.repeat(MAX_JOBS + 1);
    let many = format!("{{\"fio version\":\"fio-3.1\",\"jobs\":[{}]}}", many.trim_end_matches(','));
    assert!(matches!(read(&many, "a"), Err(FormatError::TooMany { .. })));
}

proptest! {
    #[test]
    fn no_damage_makes_the_reader_panic(at in 0..OUTPUT.len(), text in ".{0,6}", cut in 0..9usize) {
        let end = (at + cut).min(OUTPUT.len());
        let damaged = format!("{}{text}{}", &OUTPUT[..at], &OUTPUT[end..]);
        if let Ok(run) = read(&damaged, "a") {
            for value in run.groups.iter().flat_map(|g| &g.values) {
                prop_assert!(value.value.is_finite());
            }
        }
    }
}
