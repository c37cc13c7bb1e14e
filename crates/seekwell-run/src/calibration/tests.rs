//! Built-in calibrations, refused files, courses of rates, and decisions.

use super::course::{Course, rate};
use super::{CALIBRATIONS, CalibrationFile, QuantityState, are_level, decide};
use crate::RunError;
use seekwell_inspect::{Device, DeviceKind, Fact, Inspection, TargetKind};
use seekwell_io::measurement::Series;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_runs::{Beginning, Quantity, SteadyValue};

const GOOD: &str = r#"
title = "a scheduler"
sources = ["its documentation"]
job = "[read]\nrw=read\nsize=1m\n[write]\nstonewall\nrw=write\nsize=1m\n"
text = "{device} {model}: {reads} {write_ns/1000}\n"
[[quantity]]
name = "reads"
job = "read"
metric = "read.requests_per_s"
first = "12s"
[[quantity]]
name = "write_ns"
job = "write"
metric = "write.latency_ns_p99"
"#;

fn good() -> CalibrationFile {
    CalibrationFile::of("test", GOOD).unwrap()
}

fn refused(text: &str) -> String {
    match CalibrationFile::of("test", text) {
        Ok(file) => panic!("{:?}", file.calibration()),
        Err(error @ (RunError::Calibration(_) | RunError::File(_) | RunError::Jobs(_))) => {
            error.to_string()
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn built_in_calibrations_have_sources_and_are_in_order() {
    assert!(CALIBRATIONS.names().is_sorted() && CALIBRATIONS.names().count() >= 6);
    for (name, text) in CALIBRATIONS.files {
        let file = CalibrationFile::of(name, text).unwrap();
        assert!(!file.calibration().sources.is_empty(), "{name}");
        let is_alone = |job: &seekwell_job::job::Job| job.group.stonewall;
        assert!(file.jobs.jobs.iter().skip(1).all(is_alone), "{name}: jobs run in turn");
    }
}

#[test]
fn the_cost_model_is_measured_by_the_same_jobs_for_the_kernel_and_for_systemd() {
    let of = |name: &str| {
        let file = CALIBRATIONS.read(name.as_ref()).unwrap();
        let jobs = file.jobs.jobs.into_iter().map(|job| (job.name, job.options));
        (jobs.collect::<Vec<_>>(), file.calibration.quantities)
    };
    assert_eq!(of("blk-iocost"), of("systemd-iocost"));
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    for (from, to, says) in [
        ("name = \"reads\"", "name = \"Reads\"", "a quantity cannot be called \"Reads\""),
        ("name = \"reads\"", "name = \"write_ns\"", "a quantity cannot be called \"write_ns\""),
        ("name = \"reads\"", "name = \"model\"", "not be one of class, device"),
        ("first = \"12s\"", "first = \"soon\"", "needed is a time such as \"12s\""),
        ("first = \"12s\"", "first = \"0 requests\"", "needed is a time such as \"12s\""),
        ("read.requests_per_s", "read.latency_ns_p99", "only a rate has a beginning"),
        ("{model}", "{modle}", "unknown placeholder {modle}; known: reads, write_ns, class"),
        ("{reads}", "{reads/0}", "unknown placeholder {reads/0}"),
        ("{reads}", "{", "unknown placeholder {"),
        ("{reads}", "", "reads is measured and not in the text"),
        ("job = \"read\"", "job = \"raed\"", "reads is of job raed, and the jobs are: read, write"),
        ("title = \"a scheduler\"", "", "test is not a calibration: "),
        ("rw=read", "rw=sideways", "test.fio:2"),
    ] {
        let text = GOOD.replacen(from, to, 1);
        assert!(refused(&text).contains(says), "{says}: {}", refused(&text));
    }
    let (head, _) = GOOD.split_once("[[quantity]]").unwrap();
    assert!(refused(head).contains("at least one [[quantity]]"));
}

#[test]
fn the_text_has_numbers_and_facts_and_is_none_while_a_number_is_unknown() {
    let mut file = good();
    let mut target = Inspection::new("/dev/sdx", TargetKind::BlockDevice);
    let filled = |file: &CalibrationFile, target: &Inspection| {
        file.template.filled(&file.calibration.quantities, target)
    };
    let known = |quantity: &mut Quantity, mean: f64| {
        quantity.steady = Some(SteadyValue { mean, low: mean, high: mean });
        quantity.state = QuantityState::Known;
    };
    known(&mut file.calibration.quantities[0], 1234.5);
    assert_eq!(filled(&file, &target), None);
    known(&mut file.calibration.quantities[1], 98_765.0);
    assert_eq!(filled(&file, &target).unwrap(), "DEVICE MODEL: 1234 99\n");
    let mut device = Device::new("sdx", "8:16", DeviceKind::Disk);
    device.model = Some(Fact::new("a disk".to_owned(), "model"));
    target.device = Some(device);
    assert_eq!(filled(&file, &target).unwrap(), "8:16 a disk: 1234 99\n");
}

/// Reads of 4 KiB in steps of 50 ms, `per_step(i)` of them in step `i`.
fn series(per_step: impl Fn(u64) -> u64, steps: u64) -> Series {
    let mut series = Series::new(Nanos::from_millis(50));
    for i in 0..steps {
        let step = series.at(Nanos::from_millis(50 * i));
        (step.requests[0], step.bytes[0]) = (per_step(i), 4096 * per_step(i));
    }
    series
}

#[test]
fn the_beginning_is_the_programs_and_the_second_half_is_ours() {
    // 2,000 a second for 2 of 10.05 s, then 200.
    let series = series(|i| if i < 40 { 100 } else { 10 }, 201);
    let of = |metric: &str| Course {
        series: &series,
        elapsed: Nanos::from_millis(10_050),
        rate: rate(metric).unwrap(),
    };
    let course = of("read.requests_per_s");
    let beginning = |part| course.beginning(part).round();
    assert_eq!(beginning(Beginning::Ns(Nanos::from_millis(1_025))), 2_000.0);
    assert_eq!(beginning(Beginning::Ns(Nanos::from_millis(4_000))), 1_100.0);
    assert_eq!(beginning(Beginning::Requests(30)), 2_000.0);
    assert_eq!(beginning(Beginning::Requests(4_000)), 2_000.0);
    assert_eq!(beginning(Beginning::Requests(4_200)), 1_400.0);
    // Of a shorter run it is all.
    let whole = (4_000.0 + 161.0 * 10.0_f64) / 10.05;
    assert_eq!(beginning(Beginning::Ns(Nanos::from_millis(60_000))), whole.round());
    assert_eq!(beginning(Beginning::Requests(1 << 40)), whole.round());
    assert_eq!(course.settled().map(f64::round), Some(200.0));
    assert_eq!(of("read.rate_bytes_per_s").settled().map(f64::round), Some(200.0 * 4096.0));
    assert_eq!(course.parts().into_iter().map(f64::round).collect::<Vec<_>>(), [200.0; 10]);
    assert_eq!(course.bytes_until(Nanos::from_millis(2_000)), 4_000 * 4096);
    assert_eq!(course.bytes_per_request(), 4096.0);
    assert_eq!(of("write.requests_per_s").settled(), None);
    assert_eq!(of("write.requests_per_s").parts(), [0.0; 0]);
}

#[test]
fn few_large_requests_are_timed_from_one_to_another() {
    // One a second, each just before the second is over; of three seconds too few.
    let settled = |seconds: u64| {
        let series = series(|i| u64::from(i % 20 == 19), 20 * seconds);
        let elapsed = Nanos::from_millis(1_000 * seconds);
        let rate = rate("read.requests_per_s").unwrap();
        Course { series: &series, elapsed, rate }.settled()
    };
    let rounded = |seconds| settled(seconds).map(|rate| (rate * 1e6).round() / 1e6);
    assert_eq!((rounded(10), rounded(11)), (Some(1.0), Some(1.0)));
    assert_eq!(rounded(3), None);
}

#[test]
fn only_rates_of_reads_and_writes_are_taken_from_the_course() {
    assert!(rate("write.rate_bytes_per_s").is_some_and(|rate| rate.is_bytes));
    assert!(rate("read.requests_per_s").is_some_and(|rate| rate.op == Op::Read));
    assert!(rate("read.latency_ns_p99").is_none() && rate("flush.requests_per_s").is_none());
}

fn decided(values: &[f64], is_level: bool) -> Quantity {
    let mut quantity = good().calibration.quantities[0].clone();
    decide(&mut quantity, values.to_vec(), |_| is_level);
    quantity
}

#[test]
fn a_number_is_known_once_five_runs_agree_are_level_and_tell_it_to_a_fortieth() {
    let state = |values: &[f64], is_level| decided(values, is_level).state;
    assert_eq!(state(&[100.0; 4], true), QuantityState::Missing);
    assert_eq!(state(&[100.0; 5], true), QuantityState::Known);
    assert_eq!(state(&[100.0; 5], false), QuantityState::Unsettled);
    assert_eq!(state(&[100.0, 110.0, 100.0, 110.0, 105.0], true), QuantityState::Vague);
    assert_eq!(state(&[100.0, 200.0, 100.0, 200.0, 100.0], true), QuantityState::Unsettled);
    // Burst credits that lasted for one run and a half.
    let spent = decided(&[3000.0, 1200.0, 300.0, 300.0, 300.0, 300.0, 300.0], true);
    assert_eq!((spent.state, spent.skipped_runs), (QuantityState::Known, 2));
    assert_eq!(spent.known().unwrap().mean, 300.0);
    let rates: Vec<f64> = (0..10).map(|i| 100.0 - f64::from(i)).collect();
    assert!(!are_level(&vec![rates; 5], Op::Write));
    assert!(are_level(&[vec![100.0; 10], vec![101.0; 10]], Op::Read));
}

/// A number from 0 to 1 that looks like chance.
fn chance(i: u64) -> f64 {
    let x = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((x ^ (x >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / (1u64 << 24) as f64
}

/// Looking after each run makes intervals that are narrow by chance likelier. Here of 1,000
/// calibrations of a device whose runs have a standard deviation of 3 %, stopped as soon as the
/// number is known.
#[test]
fn two_calibrations_agree_within_5_percent_although_one_stops_as_soon_as_it_can() {
    // The sum of six even numbers has a variance of a half.
    let sum = |run: u64| (0..6).map(|i| chance(6 * run + i) - 0.5).sum::<f64>();
    let normal = |run: u64| sum(run) * 2.0_f64.sqrt();
    let calibrated = |number: u64| {
        let runs: Vec<f64> = (0..25).map(|i| 100.0 + 3.0 * normal(25 * number + i)).collect();
        (5..=25).find_map(|n| Some(decided(&runs[..n], true).known()?.mean))
    };
    let found: Vec<f64> = (0..1000).filter_map(calibrated).collect();
    let off = found.iter().filter(|mean| (*mean - 100.0).abs() > 2.5).count();
    let apart = found.chunks(2).filter(|two| (two[0] - two[two.len() - 1]).abs() > 5.0).count();
    assert!(found.len() >= 950 && off <= 60 && apart <= 10, "{} {off} {apart}", found.len());
}
