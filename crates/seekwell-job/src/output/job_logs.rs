//! The logs that a job asks for (`write_bw_log`, `write_iops_log`, `write_lat_log`,
//! `write_hist_log`), named and written as fio does: `time_ms, value[, largest], direction, bs[,
//! offset], priority[, issued_ns]`, and `time_ms, direction, bs, count, count, …` of a histogram.

use crate::job::{Logs, WindowValue};
use crate::play::log::{Lines, Recorded, Sample, Window};
use seekwell_io::histogram::BINS;
use std::io::{Error, Write};
use std::path::PathBuf;

/// What a log's values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// KiB a second.
    Bandwidth,
    /// Requests a second; 1 for each request where windows are not asked for.
    Iops,
    /// Nanoseconds from submission to completion.
    Completion,
    /// The same here, where fio counts from before the submission.
    Total,
    /// How many requests took how long.
    Histogram,
}

/// The logs of one clone, the `number`th of all clones of a run from 1: what each holds and where.
/// Completion and total latency have a log each; none is made of submission latency alone, which
/// is not measured.
pub fn job_log_paths(logs: &Logs, number: usize) -> Vec<(LogKind, PathBuf)> {
    let number = if logs.per_job { format!(".{number}") } else { String::new() };
    let kinds = [
        (&logs.bandwidth, LogKind::Bandwidth, "bw"),
        (&logs.iops, LogKind::Iops, "iops"),
        (&logs.latency, LogKind::Completion, "clat"),
        (&logs.latency, LogKind::Total, "lat"),
        (&logs.histogram, LogKind::Histogram, "clat_hist"),
    ];
    let named = kinds.into_iter().filter_map(|(name, kind, word)| {
        Some((kind, PathBuf::from(format!("{}_{word}{number}.log", name.as_ref()?))))
    });
    named.collect()
}

/// Writes what one clone gave to a log. `epoch_ms` is when its measuring began, where times are
/// not counted from there.
///
/// # Errors
/// Those of `out`.
pub fn write_job_log(
    out: &mut dyn Write,
    logs: &Logs,
    kind: LogKind,
    recorded: &Recorded,
    epoch_ms: u64,
) -> Result<(), Error> {
    if kind == LogKind::Histogram {
        return write_histograms(out, logs, recorded, epoch_ms);
    }
    let priority = if logs.prio { "0x0000" } else { "0" };
    let mut line = |at_ns: u64, value: &str, direction: u8, len: u32, at: u64, issued: u64| {
        let ms = epoch_ms + at_ns / 1_000_000;
        write!(out, "{ms}, {value}, {direction}, {len}, ")?;
        if logs.offset {
            write!(out, "{at}, ")?;
        }
        match logs.issue_time {
            true => writeln!(out, "{priority}, {issued}"),
            false => writeln!(out, "{priority}"),
        }
    };
    match &recorded.lines {
        Lines::None => Ok(()),
        Lines::Requests { samples, .. } => samples.iter().flatten().try_for_each(|s| {
            // As in fio, only the log of completion latency has it.
            let known = kind == LogKind::Completion;
            let issued = if known { s.at.since(s.latency).0 } else { 0 };
            line(s.at.0, &of_request(kind, s).to_string(), s.direction, s.len, s.offset, issued)
        }),
        Lines::Windows(windows) => windows.iter().try_for_each(|w| {
            line(w.end.0, &of_window(kind, w, logs.window), w.direction, 0, 0, 0)
        }),
    }
}

/// A line for each window and direction, with as many counts as there are bins once 2^coarseness
/// of them are made one.
fn write_histograms(
    out: &mut dyn Write,
    logs: &Logs,
    recorded: &Recorded,
    epoch_ms: u64,
) -> Result<(), Error> {
    let coarseness = logs.histogram_coarseness;
    for window in &recorded.histograms {
        let mut counts = vec![0; BINS >> coarseness];
        for (bin, count) in &window.bins {
            counts[(*bin >> coarseness) as usize] += count;
        }
        write!(
            out,
            "{}, {}, {}",
            epoch_ms + window.end.0 / 1_000_000,
            window.direction,
            window.len
        )?;
        counts.iter().try_for_each(|count: &u64| write!(out, ", {count}"))?;
        writeln!(out)?;
    }
    Ok(())
}

fn of_request(kind: LogKind, sample: &Sample) -> u64 {
    match kind {
        LogKind::Bandwidth => kib_per_s(u64::from(sample.len), sample.latency.0),
        LogKind::Iops => 1,
        LogKind::Completion | LogKind::Total | LogKind::Histogram => sample.latency.0,
    }
}

/// A window's rates are over its own length, but of a millisecond at least.
fn of_window(kind: LogKind, window: &Window, wanted: WindowValue) -> String {
    let ns = window.length.0.max(1_000_000);
    let mean = window.latency_ns_sum / window.requests.max(1);
    let value = match (kind, wanted) {
        (LogKind::Bandwidth, _) => kib_per_s(window.bytes, ns),
        (LogKind::Iops, _) => (window.requests as f64 * 1e9 / ns as f64).round() as u64,
        (_, WindowValue::Both) => return format!("{mean}, {}", window.latency_max.0),
        (_, WindowValue::Max) => window.latency_max.0,
        (_, WindowValue::Mean) => mean,
    };
    value.to_string()
}

fn kib_per_s(bytes: u64, ns: u64) -> u64 {
    (bytes as f64 / 1024.0 * 1e9 / ns.max(1) as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::address::Address;
    use crate::play::log::Recorder;
    use crate::{Surroundings, parse_text};
    use proptest::prelude::*;
    use seekwell_io::request::{Op, Request};
    use seekwell_io::units::Nanos;
    use std::path::Path;

    fn logs(options: &str) -> Logs {
        let text = format!("[j]\nwrite_bw_log\nwrite_iops_log=dir/x\nwrite_lat_log=y\n{options}");
        let parsed = parse_text(&text, Path::new("t.fio"), &Surroundings::fixed());
        parsed.unwrap_or_else(|e| panic!("{e}")).jobs.remove(0).logs
    }

    /// Records requests of 4 KiB, each with its time, latency and kind, and writes one log.
    fn written(logs: &Logs, kind: LogKind, requests: &[(u64, u64, Op)]) -> String {
        let address = Address::new(3);
        let mut recorder = Recorder::new(logs, address, 100).expect("logs are wanted");
        for (number, (at, latency, op)) in requests.iter().enumerate() {
            let offset = address.join(2, number as u64 * 4096);
            let (len, wanted, id, durable) = (4096, None, 0, false);
            let request = Request { op: *op, offset, len, wanted, id, durable, queue: 0 };
            recorder.completed(&request, Nanos(*latency), Nanos(*at));
        }
        let mut out = Vec::new();
        write_job_log(&mut out, logs, kind, &recorder.finish(), 0).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn logs_are_named_as_fio_names_them() {
        let named = |options: &str| -> Vec<String> {
            let paths = job_log_paths(&logs(options), 3);
            paths.into_iter().map(|(_, path)| path.display().to_string()).collect()
        };
        assert_eq!(named(""), ["j_bw.3.log", "dir/x_iops.3.log", "y_clat.3.log", "y_lat.3.log"]);
        assert_eq!(named("per_job_logs=0\n")[0], "j_bw.log");
    }

    #[test]
    fn each_request_has_a_line_with_its_size_and_its_place_where_that_is_asked_for() {
        let requests = [(1_999_999, 4_000, Op::Read), (2_000_000, 1_000_000, Op::Write)];
        let plain = logs("");
        let lat = written(&plain, LogKind::Completion, &requests);
        assert_eq!(lat, "1, 4000, 0, 4096, 0\n2, 1000000, 1, 4096, 0\n");
        assert_eq!(
            written(&plain, LogKind::Iops, &requests),
            "1, 1, 0, 4096, 0\n2, 1, 1, 4096, 0\n"
        );
        assert_eq!(
            written(&logs("log_offset=1\nlog_prio=1\n"), LogKind::Bandwidth, &requests),
            "1, 1000000, 0, 4096, 0, 0x0000\n2, 4000, 1, 4096, 4096, 0x0000\n"
        );
    }

    #[test]
    fn a_window_has_a_line_for_each_direction_and_the_last_ends_with_the_last_request() {
        let ms = 1_000_000;
        let requests = [
            (10 * ms, 100, Op::Read),
            (20 * ms, 300, Op::Read),
            (30 * ms, 50, Op::Discard),
            (99 * ms, 7, Op::Flush),
            (250 * ms, 900, Op::Write),
        ];
        let mean = logs("log_avg_msec=100\n");
        let lines = written(&mean, LogKind::Completion, &requests);
        assert_eq!(lines, "100, 200, 0, 0, 0\n100, 50, 2, 0, 0\n250, 900, 1, 0, 0\n");
        let lines = written(&mean, LogKind::Iops, &requests);
        assert_eq!(lines, "100, 20, 0, 0, 0\n100, 10, 2, 0, 0\n250, 20, 1, 0, 0\n");
        let lines = written(&mean, LogKind::Bandwidth, &requests);
        assert_eq!(lines, "100, 80, 0, 0, 0\n100, 40, 2, 0, 0\n250, 80, 1, 0, 0\n");
        let largest = logs("log_avg_msec=100\nlog_max_value=1\n");
        assert!(written(&largest, LogKind::Completion, &requests).starts_with("100, 300, 0"));
        let both = logs("log_avg_msec=100\nlog_window_value=both\n");
        assert!(written(&both, LogKind::Total, &requests).starts_with("100, 200, 300, 0, 0, 0\n"));
        assert!(written(&both, LogKind::Iops, &requests).starts_with("100, 20, 0, 0, 0\n"));
    }

    #[test]
    fn the_time_of_issue_is_in_the_log_of_completion_latency() {
        let logs = logs("log_offset=1\nlog_issue_time=1\n");
        let requests = [(2_000_000, 4_000, Op::Write)];
        let line = |kind| written(&logs, kind, &requests);
        assert_eq!(line(LogKind::Completion), "2, 4000, 1, 4096, 0, 0, 1996000\n");
        assert_eq!(line(LogKind::Total), "2, 4000, 1, 4096, 0, 0, 0\n");
    }

    #[test]
    fn a_histogram_log_has_each_request_in_a_bin_of_its_window_and_direction() {
        let ms = 1_000_000;
        let requests = [
            (10 * ms, 100, Op::Read),
            (20 * ms, 100, Op::Read),
            (30 * ms, 1 << 40, Op::Write),
            (250 * ms, 900, Op::Read),
        ];
        for coarseness in [0, 3, 6] {
            let options =
                format!("write_hist_log=h\nlog_hist_msec=100\nlog_hist_coarseness={coarseness}\n");
            let text = written(&logs(&options), LogKind::Histogram, &requests);
            let row = |line: &str| -> Vec<u64> {
                line.split(", ").map(|field| field.parse().unwrap()).collect()
            };
            let rows: Vec<Vec<u64>> = text.lines().map(row).collect();
            let heads: Vec<&[u64]> = rows.iter().map(|row| &row[..3]).collect();
            assert_eq!(heads, [&[100, 0, 4096], &[100, 1, 4096], &[250, 0, 4096]]);
            assert!(rows.iter().all(|row| row.len() == 3 + (1856 >> coarseness)), "{text}");
            assert_eq!(rows[0][3 + (100 >> coarseness)], 2);
            assert_eq!(rows[1].last(), Some(&1), "what takes longest is in the last bin");
            assert_eq!(rows.iter().map(|row| row[3..].iter().sum::<u64>()).sum::<u64>(), 4);
        }
    }

    #[test]
    fn what_has_no_room_is_counted_and_not_kept() {
        let logs = logs("");
        let mut recorder = Recorder::new(&logs, Address::new(1), 2).unwrap();
        let (op, wanted) = (Op::Read, None);
        let request = Request { op, offset: 0, len: 512, wanted, id: 0, durable: false, queue: 0 };
        (0..5).for_each(|at| recorder.completed(&request, Nanos(1), Nanos(at)));
        let Lines::Requests { samples, left_out } = recorder.finish().lines else { unreachable!() };
        assert_eq!((samples.concat().len(), left_out), (2, 3));
    }

    proptest! {
        #[test]
        fn windows_hold_every_request_once_in_the_order_of_time(
            gaps in prop::collection::vec((0u64..400_000_000, 0usize..3), 1..60),
            every in 1u64..500,
        ) {
            let logs = logs(&format!("log_avg_msec={every}\n"));
            let mut at = 0;
            let requests: Vec<_> = gaps.iter().map(|(gap, op)| {
                at += gap;
                (at, 10, [Op::Read, Op::Write, Op::Discard][*op])
            }).collect();
            let mut recorder = Recorder::new(&logs, Address::new(1), 0).unwrap();
            for (at, latency, op) in &requests {
                let (len, wanted, id, durable) = (512, None, 0, false);
                let request = Request { op: *op, offset: 0, len, wanted, id, durable, queue: 0 };
                recorder.completed(&request, Nanos(*latency), Nanos(*at));
            }
            let Lines::Windows(windows) = recorder.finish().lines else { unreachable!() };
            prop_assert_eq!(windows.iter().map(|w| w.requests).sum::<u64>(), gaps.len() as u64);
            let order = |w: &Window| w.end;
            prop_assert!(windows.windows(2).all(|w| order(&w[0]) <= order(&w[1])));
            prop_assert!(windows.iter().all(|w| w.length <= Nanos::from_millis(every)));
        }
    }
}
