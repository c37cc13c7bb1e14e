use super::super::fio::read;
use crate::error::FormatError;
use crate::model::RunValues;
use proptest::prelude::*;

/// What fio 3.33 printed of two jobs: random reads by two processes, and sequential writes with
/// fsync.
const PRINTED: &str = include_str!("../../tests/data/fio.txt");

fn get(run: &RunValues, job: &str, metric: &str) -> Option<f64> {
    let group = run.groups.iter().find(|g| g.name == job).unwrap_or_else(|| panic!("no {job}"));
    group.value(metric).map(|v| v.value)
}

#[test]
fn what_fio_printed_has_the_figures_that_its_json_has() {
    let run = read(PRINTED, "f").unwrap();
    assert_eq!(run.about["fio version"], "fio-3.33");
    assert_eq!(get(&run, "rr", "read.requests_per_s"), Some(19_300.0));
    assert_eq!(get(&run, "rr", "read.rate_bytes_per_s"), Some(78.9e6));
    assert_eq!(get(&run, "rr", "read.latency_ns_mean"), Some(90_070.0));
    assert_eq!(get(&run, "rr", "read.latency_ns_max"), Some(11_549_000.0));
    assert_eq!(get(&run, "rr", "read.completion_ns_p99"), Some(1_582_000.0));
    assert_eq!(get(&run, "rr", "write.requests_per_s"), None);
    assert_eq!(get(&run, "sw", "write.rate_bytes_per_s"), Some(318e6));
    assert_eq!(get(&run, "sw", "write.latency_ns_mean"), Some(102_120.0));
    assert_eq!(get(&run, "sw", "write.completion_ns_p99_9"), None, "of too few requests");
    let identity = &run.groups[0].identity;
    let of = |key: &str| identity[key].as_str();
    assert_eq!([of("rw"), of("bs"), of("iodepth"), of("numjobs")], ["randread", "4096", "1", "2"]);
    assert_eq!(run.groups[1].identity["bs"], "131072");
    assert_eq!(run.about["ioengine"], "psync");
}

#[test]
fn another_version_or_none_is_refused_and_a_line_cut_short_is_named() {
    for version in ["fio-2.21", "no"] {
        let error = read(&PRINTED.replace("fio-3.33", version), "f").unwrap_err();
        assert!(matches!(error, FormatError::Version { .. }), "{error}");
    }
    let cut = PRINTED.replace("(78.9MB/s)(75.4MiB/1002msec)", "(78.9");
    let error = read(&cut, "f").unwrap_err().to_string();
    assert!(error.contains("read is") && error.starts_with("line 10: "), "{error}");
}

#[test]
fn a_job_that_failed_says_so_and_a_short_one_has_no_rate() {
    let failed = PRINTED.replacen("err= 0", "err=28 (file:io.c, No space left)", 1);
    let run = read(&failed, "f").unwrap();
    assert_eq!(run.groups[0].invalid.as_deref(), Some("fio stopped with error 28"));
    let short = read(&PRINTED.replace("1002msec", "402msec"), "f").unwrap();
    assert_eq!(get(&short, "rr", "read.requests_per_s"), None);
    assert!(short.left_out[0].contains("too short"), "{:?}", short.left_out);
}

proptest! {
    #[test]
    fn no_damage_makes_the_reader_panic(
        at in 0..PRINTED.len(), text in "[ -~\n]{0,6}", cut in 0..40usize
    ) {
        let (head, tail) = PRINTED.split_at(at);
        let damaged = format!("{head}{text}{}", &tail[cut.min(tail.len())..]);
        if let Ok(run) = read(&damaged, "f") {
            for value in run.groups.iter().flat_map(|g| &g.values) {
                prop_assert!(value.value.is_finite());
            }
        }
    }
}
