//! fio's JSON output (`--output-format=json` and `json+`) and what it prints, fio 3 and later.
//!
//! fio 2 wrote latencies in microseconds under the names that fio 3 gives to nanoseconds, so it is
//! refused rather than guessed at. fio also prints notes before the document; they are passed over.
//! Jobs of one name (`numjobs` without `group_reporting`) did one workload together: their rates
//! add up, their mean latencies are weighed by requests, and their percentiles, which cannot be put
//! together from percentiles, are left out.

use super::fio_output::{Direction, FioJob, Latency, Output};
use crate::error::FormatError;
use crate::model::{Better, Class, Group, Rank, RunValues, Unit, Value};
use seekwell_io::units::parse_size;
use std::collections::BTreeMap;

pub const MAX_JOBS: usize = 4096;
/// A rate of a shorter run is not taken.
const SHORTEST_MS: f64 = 500.0;
/// From this mean size on, bytes a second is what a job is about.
const LARGE_BYTES: f64 = 65536.0;

/// The run in a text; `file` names it.
///
/// # Errors
/// [`FormatError`] with line and column, or with the version that is not read.
pub fn read(text: &str, file: &str) -> Result<RunValues, FormatError> {
    let output = if is_json(text) { json(text)? } else { super::fio_text::output(text)? };
    let major = output.version.strip_prefix("fio-").and_then(|v| v.split(['.', '-']).next());
    if major.and_then(|m| m.parse::<u32>().ok()).is_none_or(|m| m < 3) {
        return Err(FormatError::Version {
            tool: "output of",
            found: output.version.chars().take(40).collect(),
            known: "fio-3.0 and later",
        });
    }
    let all: Vec<&FioJob> = output.jobs.iter().chain(&output.client_stats).collect();
    if all.len() > MAX_JOBS {
        return Err(FormatError::TooMany { what: "jobs", most: MAX_JOBS });
    }
    // Of a client and server run this one is the sum of the others.
    let mut names: Vec<&str> = Vec::new();
    for job in &all {
        if job.jobname != "All clients" && !names.contains(&job.jobname.as_str()) {
            names.push(&job.jobname);
        }
    }
    let mut run = RunValues {
        name: file.to_owned(),
        about: BTreeMap::from([("fio version".to_owned(), output.version.clone())]),
        ..RunValues::default()
    };
    for name in names {
        let jobs: Vec<&FioJob> = all.iter().copied().filter(|j| j.jobname == name).collect();
        let group = group(name, &jobs, &output.global, &mut run);
        run.groups.push(group);
    }
    Ok(run)
}

/// Whether a document follows whatever notes there are.
pub(super) fn is_json(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with('{'))
}

fn json(text: &str) -> Result<Output, FormatError> {
    let begins = |line: &str| line.trim_start().starts_with('{');
    let lines_before = text.lines().take_while(|line| !begins(line)).count();
    let at: usize = text.split_inclusive('\n').take(lines_before).map(str::len).sum();
    // fio ends its output with a blank line, and with others in some versions.
    let mut documents = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Output>();
    match documents.next() {
        None => Err(FormatError::Unknown),
        Some(Err(error)) => Err(FormatError::json(&error, lines_before)),
        Some(Ok(output)) => Ok(output),
    }
}

fn group(
    name: &str,
    jobs: &[&FioJob],
    global: &BTreeMap<String, String>,
    run: &mut RunValues,
) -> Group {
    let mut options = global.clone();
    options.extend(jobs[0].options.clone());
    for key in ["ioengine", "filename", "directory"] {
        if let Some(value) = options.get(key) {
            run.about.insert(key.to_owned(), value.clone());
        }
    }
    let failed = jobs.iter().find(|j| j.error != 0 || j.total_err != 0);
    let mut values = Vec::new();
    for (op, pick) in DIRECTIONS {
        direction(op, &jobs.iter().map(|j| pick(j)).collect::<Vec<_>>(), name, run, &mut values);
    }
    if let Some(first) = values.iter_mut().find(|v: &&mut Value| v.rank == Rank::Main) {
        first.rank = Rank::Headline;
    }
    sync(jobs, &mut values);
    let cpu: f64 = jobs.iter().map(|j| j.usr_cpu + j.sys_cpu).sum();
    let about = (Unit::Percent, Better::Neither, Class::Cpu);
    values.push(Value::new("cpu_percent", "CPU", "CPU", about, cpu));
    values.retain(|v| v.value.is_finite());
    Group {
        name: name.to_owned(),
        title: name.to_owned(),
        identity: identity(&options, jobs.len()),
        invalid: failed.map(|j| match j.error {
            0 => format!("{} requests failed", j.total_err),
            errno => format!("fio stopped with error {errno}"),
        }),
        values,
    }
}

type Pick = fn(&FioJob) -> &Direction;
const DIRECTIONS: [(&str, Pick); 3] =
    [("read", |j| &j.read), ("write", |j| &j.write), ("discard", |j| &j.trim)];

/// Rates and latencies of one direction over the jobs that did it together.
fn direction(op: &str, parts: &[&Direction], job: &str, run: &mut RunValues, out: &mut Vec<Value>) {
    let parts: Vec<&Direction> = parts.iter().copied().filter(|d| d.total_ios > 0).collect();
    let Some(longest) = parts.iter().map(|d| d.runtime).max_by(f64::total_cmp) else { return };
    let iops: f64 = parts.iter().map(|d| d.iops).sum();
    let bytes: f64 = parts.iter().map(|d| d.bw_bytes).sum();
    if longest < SHORTEST_MS {
        run.left_out.push(format!("{job}: {op}: {longest} ms are too short for a rate"));
    } else {
        let large = bytes >= LARGE_BYTES * iops;
        let rank = |chosen| if chosen { Rank::Main } else { Rank::Detail };
        let mut rate = |name: &str, title: &str, unit, chosen, number| {
            let (name, title) = (format!("{op}.{name}"), format!("{op} {title}"));
            let about = (unit, Better::Higher, Class::Throughput);
            out.push(Value::new(name, title, op, about, number).ranked(rank(chosen)));
        };
        rate("requests_per_s", "requests", Unit::PerSecond, !large, iops);
        rate("rate_bytes_per_s", "rate", Unit::BytesPerSecond, large, bytes);
    }
    // Total latency if it was measured, else completion latency; one kind for all jobs.
    let total = parts.iter().all(|d| d.lat_ns.n > 0);
    let kind = if total { "latency" } else { "completion" };
    let latencies: Vec<&Latency> =
        parts.iter().map(|d| if total { &d.lat_ns } else { &d.clat_ns }).collect();
    latency(&format!("{op}.{kind}"), &format!("{op} {kind}"), op, &latencies, out);
    if let [only] = parts.as_slice() {
        percentiles(op, only, out);
    }
}

/// Mean and longest.
fn latency(name: &str, title: &str, family: &str, parts: &[&Latency], out: &mut Vec<Value>) {
    let n: f64 = parts.iter().map(|l| l.n as f64).sum();
    if n == 0.0 {
        return;
    }
    let mean = parts.iter().map(|l| l.mean * l.n as f64).sum::<f64>() / n;
    let max = parts.iter().map(|l| l.max).fold(0.0, f64::max);
    for (suffix, word, class, number) in [
        ("ns_mean", "mean", Class::TypicalLatency, mean),
        ("ns_max", "longest", Class::Maximum, max),
    ] {
        let (metric, title) = (format!("{name}_{suffix}"), format!("{title} {word}"));
        let about = (Unit::Nanoseconds, Better::Lower, class);
        out.push(Value::new(metric, title, family, about, number));
    }
}

/// fio counts percentiles of completion latency unless asked for others.
fn percentiles(op: &str, d: &Direction, out: &mut Vec<Value>) {
    let total = !d.lat_ns.percentile.is_empty();
    let (kind, from) = if total { ("latency", &d.lat_ns) } else { ("completion", &d.clat_ns) };
    for (key, ns) in &from.percentile {
        let Ok(percent) = key.parse::<f64>() else { continue };
        let known = [50.0, 90.0, 99.0, 99.9, 99.99].into_iter().any(|p| p == percent);
        // Rarer than this, a percentile is an accident.
        if !known || (from.n as f64) < 10.0 / (1.0 - percent / 100.0) - 1e-6 {
            continue;
        }
        let class = if percent == 50.0 { Class::TypicalLatency } else { Class::TailLatency };
        let metric = format!("{op}.{kind}_ns_p{}", percent.to_string().replace('.', "_"));
        let title = format!("{op} {kind} p{percent}");
        let about = (Unit::Nanoseconds, Better::Lower, class);
        let rank = if percent == 99.0 { Rank::Main } else { Rank::Detail };
        out.push(Value::new(metric, title, op, about, *ns).ranked(rank));
    }
}

fn sync(jobs: &[&FioJob], out: &mut Vec<Value>) {
    let parts: Vec<&Latency> =
        jobs.iter().filter(|j| j.sync.total_ios > 0).map(|j| &j.sync.lat_ns).collect();
    latency("flush.latency", "flush latency", "flush", &parts, out);
}

/// Options that say where and how to report, not what to ask of the disk. The engine is part of the
/// set-up and is shown there.
const NOT_WORKLOAD: &[&str] = &[
    "name",
    "filename",
    "directory",
    "ioengine",
    "description",
    "group_reporting",
    "thread",
    "percentile_list",
    "clat_percentiles",
    "lat_percentiles",
    "slat_percentiles",
    "disk_util",
    "randseed",
    "per_job_logs",
    "filename_format",
    "unlink",
    "numjobs",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "log_avg_msec",
    "eta",
    "output",
    "output-format",
    "stonewall",
    "new_group",
    "prio",
    "prioclass",
    "nice",
    "cpus_allowed",
    "cpus_allowed_policy",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
];

/// What decides the requests of a job: its options with short names, sizes in bytes and defaults
/// filled in, so that what was said and what was left to the default are one.
fn identity(options: &BTreeMap<String, String>, jobs: usize) -> BTreeMap<String, String> {
    let defaults = [("rw", "read"), ("bs", "4096"), ("iodepth", "1"), ("direct", "0")];
    let mut out: BTreeMap<String, String> =
        defaults.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    for (key, value) in options {
        let key = match key.as_str() {
            "readwrite" => "rw",
            "blocksize" => "bs",
            "io_limit" => "io_size",
            "timeout" => "runtime",
            other => other,
        };
        if !NOT_WORKLOAD.contains(&key) {
            out.insert(key.to_owned(), plain(value));
        }
    }
    let said = options.get("numjobs").cloned();
    out.insert("numjobs".to_owned(), said.unwrap_or_else(|| jobs.to_string()));
    out
}

/// A size with its unit as bytes: `4k` and `4096` are one.
fn plain(value: &str) -> String {
    let lower = value.trim().to_ascii_lowercase();
    let has_unit = lower.ends_with(|c: char| c.is_ascii_alphabetic());
    let bytes = has_unit.then(|| parse_size(&lower)).flatten();
    bytes.map_or(lower, |bytes| bytes.to_string())
}

#[cfg(test)]
#[path = "fio_tests.rs"]
mod tests;
