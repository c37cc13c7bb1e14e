//! Text exposition format 0.0.4, for the textfile collector of Prometheus' node exporter
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
//!
//! Every metric of a phase is a gauge: its median over the valid repeats, in base units (seconds,
//! bytes, ratios), so `read.latency_ns_p99` becomes `seekwell_latency_seconds{op="read",
//! statistic="p99"}`. There are no time stamps, which the collector refuses; when it was measured
//! is a metric of its own.

use jiff::Timestamp;
use seekwell_runs::RunDocument;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Samples of one metric: its labels and their value, so that none can be there twice.
type Family = BTreeMap<String, f64>;

/// Metrics of some runs. Of runs that no label tells apart the last counts.
pub fn prometheus(runs: &[&RunDocument]) -> String {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut add = |name: &str, labels: &[(&str, &str)], value: f64| {
        families.entry(format!("seekwell_{name}")).or_default().insert(braces(labels), value);
    };
    for run in runs {
        let modelled = run.modelled.to_string();
        let of_run = [
            ("target", run.inspection.path.as_str()),
            ("label", run.label.as_deref().unwrap_or_default()),
            ("modelled", &modelled),
        ];
        let about = [("run", run.id.as_str()), ("version", &run.tool.version)];
        add("run_info", &[&of_run[..], &about].concat(), 1.0);
        add("run_valid", &of_run, f64::from(u8::from(run.invalid.is_empty())));
        if let Ok(started) = run.started_at.parse::<Timestamp>() {
            add("run_start_timestamp_seconds", &of_run, started.as_millisecond() as f64 / 1e3);
        }
        for phase in &run.phases {
            let of_phase = [&of_run[..], &[("phase", phase.name.as_str())]].concat();
            for (metric, spread) in &phase.metrics {
                let Named { name, op, statistic, per_base } = named(metric);
                let op = op.map(|op| ("op", op));
                let statistic = statistic.as_deref().map(|s| ("statistic", s));
                let more: Vec<_> = op.into_iter().chain(statistic).collect();
                add(&name, &[&of_phase[..], &more].concat(), spread.median / per_base);
            }
        }
    }
    let mut out = String::new();
    for (name, samples) in &families {
        let written = write!(out, "# HELP {name} {}\n# TYPE {name} gauge\n", help(name));
        let written = samples
            .iter()
            .fold(written, |so_far, (labels, v)| so_far.and(writeln!(out, "{name}{labels} {v}")));
        written.expect("a text takes what is written");
    }
    out
}

/// A metric of ours in Prometheus' words.
struct Named<'a> {
    /// Without the prefix.
    name: String,
    op: Option<&'a str>,
    /// Which number of a distribution.
    statistic: Option<String>,
    /// How many of our unit make the base unit.
    per_base: f64,
}

/// Moves the operation and the number of a distribution into labels, and the unit to the base one.
fn named(metric: &str) -> Named<'_> {
    let (op, rest) = match metric.split_once('.') {
        Some((op, rest)) => (Some(op), rest),
        None => (None, metric),
    };
    // A number of a distribution, or a time for each of something.
    if let Some((what, rest)) = rest.split_once("_ns_") {
        let what = letters(what);
        let (name, statistic) = match rest.strip_prefix("per_") {
            Some(each) => (format!("{what}_seconds_per_{}", letters(each)), None),
            None => (format!("{what}_seconds"), Some(rest.replace('_', "."))),
        };
        return Named { name, op, statistic, per_base: 1e9 };
    }
    let ends = [
        ("_ns", "_seconds", 1e9),
        ("_percent", "_ratio", 100.0),
        ("_share", "_share_ratio", 1.0),
        ("_per_s", "_per_second", 1.0),
        // Prometheus keeps this ending for histograms.
        ("_count", "", 1.0),
    ];
    let found = ends.into_iter().find_map(|(ours, theirs, per_base)| {
        Some((format!("{}{theirs}", rest.strip_suffix(ours)?), per_base))
    });
    let (name, per_base) = found.unwrap_or_else(|| (rest.to_owned(), 1.0));
    Named { name: letters(&name), op, statistic: None, per_base }
}

/// A text of the characters that a name may have.
fn letters(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn help(name: &str) -> &'static str {
    match name.trim_start_matches("seekwell_") {
        "run_info" => "Which run the other metrics are of.",
        "run_valid" => "1 where the measurement as a whole is valid.",
        "run_start_timestamp_seconds" => "When the run began, in seconds since 1970.",
        "requests_per_second" => "Requests completed.",
        "rate_bytes_per_second" => "Bytes moved.",
        "latency_seconds" => "Service time: from submission to completion.",
        "response_seconds" => "Response time: from when a request was wanted to its completion.",
        "lateness_seconds" => "Of a replay: handed over minus due.",
        "cpu_ratio" => "CPU time of the issuing threads over elapsed time; 1 is one CPU.",
        "cpu_seconds_per_request" => "CPU time of the issuing threads.",
        "requests_per_syscall" => "Requests for each system call to submit and to reap.",
        "device_share_ratio" => "Bytes the device counted over bytes asked for.",
        "drift_ratio" => "Of a replay: how much longer issuing took than it should have.",
        _ => "Of a step of a suite or of a job; the name says what.",
    }
}

/// Labels in braces.
fn braces(labels: &[(&str, &str)]) -> String {
    let one = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escape(value));
    format!("{{{}}}", labels.iter().map(one).collect::<Vec<_>>().join(","))
}

/// A label's value as it stands between quotes.
pub(super) fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => out += "\\\\",
            '"' => out += "\\\"",
            '\n' => out += "\\n",
            c => out.push(c),
        }
    }
    out
}
