//! fio's logs of rates and latency over time (`write_bw_log`, `write_iops_log`, `write_lat_log`),
//! averaged over the steps of our series as fio does under `log_avg_msec`: `time_ms, value, ddir,
//! bs, offset`, where an averaged line has no size and no offset of its own.

use super::job::{Job, jobs};
use super::samples::{Span, spans};
use super::{File, OutputError};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_runs::{Detail, RunDocument};
use std::fmt::Write;

/// The kinds of log, with the value of each in one span: KiB/s, requests a second, nanoseconds.
/// Bytes over time are known of reads and writes only.
type Value = fn(&Span, usize) -> Option<f64>;
const KINDS: [(&str, Value); 3] = [
    ("_bw", |span, op| Some(*span.sum.bytes.get(op)? as f64 / 1024.0 / span.seconds)),
    ("_iops", |span, op| Some(span.sum.requests[op] as f64 / span.seconds)),
    ("_lat", |span, op| Some(span.sum.latency_ns_sum[op] as f64 / span.sum.requests[op] as f64)),
];

/// fio's numbers of directions.
const DIRECTIONS: [(u8, Op); 3] = [(0, Op::Read), (1, Op::Write), (2, Op::Discard)];

/// Three logs for each job, which are numbered from 1: `_bw.1.log`, `_iops.1.log`, `_lat.1.log`,
/// to be put behind a prefix.
///
/// # Errors
/// [`OutputError`] for a suite, and for a measured repeat without its detail.
pub fn logs(document: &RunDocument, detail: &Detail) -> Result<Vec<File>, OutputError> {
    let jobs = jobs(document, detail)?;
    let numbered = (1..).zip(&jobs);
    let files = numbered.flat_map(|(number, job)| of(job, number));
    Ok(files.map(|(suffix, text)| File { path: suffix.into(), text }).collect())
}

/// The logs of one job: what follows the prefix, and the text.
pub(super) fn of(job: &Job<'_>, number: usize) -> Vec<(String, String)> {
    let spans =
        job.detail.map(|d| spans(&d.series, job.repeat.elapsed_ns, Nanos(1))).unwrap_or_default();
    let log = |(kind, value): (&str, Value)| (format!("{kind}.{number}.log"), text(&spans, value));
    KINDS.into_iter().map(log).collect()
}

/// A line for each span and direction in which something was completed, as fio writes them.
fn text(spans: &[Span], value: Value) -> String {
    let mut out = String::new();
    for span in spans {
        for (number, op) in DIRECTIONS {
            let op = op as usize;
            if span.sum.requests[op] == 0 {
                continue;
            }
            if let Some(value) = value(span, op) {
                let at = span.end.0 / 1_000_000;
                writeln!(out, "{at}, {}, {number}, 0, 0", value.round() as u64)
                    .expect("a text takes what is written");
            }
        }
    }
    out
}
