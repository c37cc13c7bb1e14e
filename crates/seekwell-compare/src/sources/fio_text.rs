//! What fio prints for people, fio 3 and later: the same figures as in its JSON, with the digits
//! that are printed. What is not printed (the size, most options) is not known of the workload.

use super::fio_output::{Direction, FioJob, Output};
use crate::error::FormatError;
use seekwell_io::units::{Decimal, byte_prefix};
use std::collections::BTreeMap;

/// Whether this line begins what fio says of a job that has ended.
pub(super) fn is_job(line: &str) -> bool {
    line.contains(": (groupid=") && line.contains("): err=")
}

/// The jobs of a text; the version is that of the line `fio-3.33`.
///
/// # Errors
/// [`FormatError`] names the line and what is wrong with it.
pub(super) fn output(text: &str) -> Result<Output, FormatError> {
    let version = text.lines().map(str::trim).find(|l| l.starts_with("fio-"));
    let mut output =
        Output { version: version.unwrap_or("no version").to_owned(), ..<_>::default() };
    let mut options: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    let (mut now, mut percentiles) = (None, Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let place = || format!("line {number}");
        if is_job(line) {
            let job = job(line).ok_or_else(|| {
                FormatError::value(place(), "job", line.trim(), "NAME: (groupid=0, jobs=1): err= 0")
            })?;
            output.jobs.push(job);
            now = None;
            continue;
        }
        if let Some((name, said)) = line.split_once(": (g=") {
            options.entry(name.trim()).or_insert_with(|| described(said));
            continue;
        }
        let Some(job) = output.jobs.last_mut() else { continue };
        let line = line.trim();
        if let Some((op, said)) = ["read", "write", "trim"]
            .iter()
            .find_map(|op| Some((*op, line.strip_prefix(op)?.strip_prefix(": IOPS=")?)))
        {
            *side(job, op) = direction(said).ok_or_else(|| {
                FormatError::value(place(), op, line, "IOPS=N, BW=N (N)(N/Nmsec)")
            })?;
            (now, percentiles) = (Some(op), Vec::new());
        } else if let Some(said) = line.strip_prefix("issued rwts: total=") {
            let counts: Vec<u64> = said.split([',', ' ']).map_while(|n| n.parse().ok()).collect();
            for (op, count) in ["read", "write", "trim"].iter().zip(counts) {
                side(job, op).count(count);
            }
        } else if let Some(said) = line.strip_prefix("cpu") {
            let percent = |name: &str| {
                let found = said.split([',', ':']).find_map(|part| part.trim().strip_prefix(name));
                found.and_then(|n| n.trim_end_matches('%').parse().ok()).unwrap_or(0.0)
            };
            (job.usr_cpu, job.sys_cpu) = (percent("usr="), percent("sys="));
        } else if let Some(op) = now {
            detail(line, side(job, op), &mut percentiles);
        }
    }
    for job in &mut output.jobs {
        let said = options.get(job.jobname.as_str()).cloned().unwrap_or_default();
        job.options.extend(said);
    }
    Ok(output)
}

fn side<'a>(job: &'a mut FioJob, op: &str) -> &'a mut Direction {
    match op {
        "read" => &mut job.read,
        "write" => &mut job.write,
        _ => &mut job.trim,
    }
}

/// `rr: (groupid=0, jobs=4): err= 0: pid=1: Sat …`
fn job(line: &str) -> Option<FioJob> {
    let (name, rest) = line.split_once(": (groupid=")?;
    let (jobs, rest) = rest.split_once("jobs=")?.1.split_once("): err=")?;
    let error = rest.trim_start().split([':', ' ', '(']).next()?.parse().ok()?;
    let options = BTreeMap::from([("numjobs".to_owned(), jobs.trim().to_owned())]);
    Some(FioJob { jobname: name.trim().to_owned(), error, options, ..FioJob::default() })
}

/// `0): rw=randread, bs=(R) 4096B-4096B, (W) …, (T) …, ioengine=psync, iodepth=1`
fn described(said: &str) -> BTreeMap<String, String> {
    let pairs = said
        .split(", ")
        .filter_map(|part| part.rsplit_once(": ").map_or(Some(part), |p| Some(p.1)));
    let mut out: BTreeMap<String, String> = pairs
        .filter_map(|part| part.split_once('='))
        .filter(|(key, _)| matches!(*key, "rw" | "ioengine" | "iodepth"))
        .map(|(key, value)| (key.to_owned(), value.trim().to_owned()))
        .collect();
    let sizes = said.split_once("bs=").map(|(_, rest)| rest.split(", ioengine").next());
    if let Some(sizes) = sizes.flatten() {
        let mut each: Vec<&str> = sizes.split(", ").filter_map(|s| s.get(4..)).collect();
        each.dedup();
        let one = |s: &str| s.split_once('-').filter(|(a, b)| a == b).map(|(a, _)| a.to_owned());
        let bs = match each.as_slice() {
            [only] => one(only).unwrap_or_else(|| (*only).to_owned()),
            _ => sizes.to_owned(),
        };
        // Bytes alone have the unit B, which the options in JSON lack.
        let bytes = bs.strip_suffix('B').filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
        out.insert("bs".into(), bytes.unwrap_or(&bs).to_owned());
    }
    out
}

/// `12.3k, BW=48.1MiB/s (50.4MB/s)(241MiB/5001msec); 0 zone resets`
fn direction(said: &str) -> Option<Direction> {
    let (iops, rest) = said.split_once(", BW=")?;
    let (rate, rest) = rest.split_once("(")?.1.split_once(")(")?;
    let runtime = rest.split_once('/')?.1.split_once("msec)")?.0.parse().ok()?;
    let bw_bytes = scaled(rate.strip_suffix("B/s")?)?;
    Some(Direction { bw_bytes, iops: scaled(iops)?, runtime, ..Direction::default() })
}

/// A number with a decimal prefix: `12.3k`.
fn scaled(text: &str) -> Option<f64> {
    let (number, prefix) = Decimal::split(text.trim())?;
    let (power, _) = byte_prefix(prefix)?;
    Some(number.as_f64() * 1000_f64.powi(power as i32))
}

/// A line below a direction: mean and longest latency, or percentiles. Others are passed over.
fn detail(line: &str, of: &mut Direction, percentiles: &mut Vec<(bool, f64)>) {
    let unit = |text: &str| match text {
        "nsec" => Some(1.0),
        "usec" => Some(1e3),
        "msec" => Some(1e6),
        _ => None,
    };
    let kinds = [("clat", false), ("lat", true)];
    for (kind, total) in kinds {
        let Some(rest) = line.strip_prefix(kind) else { continue };
        if let Some((scale, said)) = rest.strip_prefix(" (").and_then(|r| r.split_once("): ")) {
            let Some(scale) = unit(scale) else { return };
            let field = |name: &str| {
                let found = said.split(", ").find_map(|part| part.trim().strip_prefix(name));
                found.and_then(scaled).map(|n| n * scale)
            };
            let latency = if total { &mut of.lat_ns } else { &mut of.clat_ns };
            if let Some((mean, max)) = field("avg=").zip(field("max=")) {
                (latency.mean, latency.max) = (mean, max);
            }
            return;
        }
        if let Some(rest) = rest.strip_prefix(" percentiles (") {
            *percentiles =
                unit(rest.trim_end_matches("):")).map(|s| (total, s)).into_iter().collect();
            return;
        }
    }
    let (Some(&(total, scale)), Some(row)) = (percentiles.first(), line.strip_prefix('|')) else {
        return;
    };
    let latency = if total { &mut of.lat_ns } else { &mut of.clat_ns };
    for part in row.split("],") {
        let pair = part.trim().trim_end_matches(']').split_once("th=[");
        if let Some((percent, value)) = pair
            && let Some(ns) = scaled(value)
        {
            latency.percentile.insert(percent.trim().to_owned(), ns * scale);
        }
    }
}

impl Direction {
    fn count(&mut self, requests: u64) {
        self.total_ios = requests;
        for latency in [&mut self.lat_ns, &mut self.clat_ns] {
            latency.n = if latency.max > 0.0 { requests } else { 0 };
        }
    }
}

#[cfg(test)]
#[path = "fio_text_tests.rs"]
mod tests;
