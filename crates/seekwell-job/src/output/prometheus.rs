//! Text exposition format 0.0.4, for the textfile collector of Prometheus' node exporter
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>), and OpenMetrics 1.0
//! (<https://prometheus.io/docs/specs/om/open_metrics_spec/>).
//!
//! Every metric of a phase is a gauge: its median over the valid repeats, in base units (seconds,
//! bytes, ratios), so `read.latency_ns_p99` becomes `seekwell_latency_seconds{op="read",
//! statistic="p99"}`. Quantiles of several hosts cannot be merged, so OpenMetrics has histograms
//! in their place, and labels for the host and its disk. There are no time stamps, which the
//! collector refuses; when it was measured is a metric of its own. What is written as OpenMetrics
//! is the older format, too: counters, which the two declare differently, have no type.

use super::distribution::Bins;
use jiff::Timestamp;
use seekwell_inspect::{Device, Fact};
use seekwell_io::histogram::Histogram;
use seekwell_runs::{Detail, Phase, RunDocument};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Upper ends of the buckets as powers of two of nanoseconds: 1 µs to 69 s. Bins of a histogram end
/// there, so none is split.
const BUCKETS: std::ops::RangeInclusive<u32> = 10..=36;

/// Samples of one metric.
enum Family {
    /// Labels and their value, so that none can be there twice.
    Gauges(BTreeMap<String, f64>),
    /// Labels and the requests in each bucket, the last one beyond all, with the sum of seconds.
    Histograms(BTreeMap<String, (Vec<u64>, f64)>),
}

/// Metrics of some runs. Of runs with the same labels the last counts.
pub fn prometheus(runs: &[&RunDocument]) -> String {
    let mut metrics = Metrics::default();
    for run in runs {
        let modelled = run.modelled.to_string();
        metrics.run(run, &about(run, &modelled), None);
    }
    metrics.text()
}

/// The same as OpenMetrics, with histograms.
pub fn openmetrics(runs: &[(&RunDocument, &Detail)]) -> String {
    let mut metrics = Metrics::default();
    for (run, detail) in runs {
        let modelled = run.modelled.to_string();
        let disks = run.inspection.disks();
        // Of several disks none can be named in one label.
        let disk = if let [disk] = disks[..] { Some(disk) } else { None };
        let host = [("host", run.inspection.host.label())];
        let labels = [&host[..], &identity(disk), &about(run, &modelled)].concat();
        metrics.run(run, &labels, Some(detail));
    }
    metrics.openmetrics()
}

/// Labels that say which disk it is; empty if none is known.
pub(super) fn identity(disk: Option<&Device>) -> [(&'static str, &str); 3] {
    [
        ("model", disk.map_or("", |disk| text(&disk.model))),
        ("firmware", disk.map_or("", |disk| text(&disk.firmware))),
        ("serial", disk.map_or("", |disk| text(&disk.serial))),
    ]
}

/// The text of a fact; empty if it is unknown.
pub(super) fn text(fact: &Option<Fact<String>>) -> &str {
    fact.as_ref().map_or("", |fact| fact.value.as_str())
}

fn about<'a>(run: &'a RunDocument, modelled: &'a str) -> [(&'a str, &'a str); 3] {
    [
        ("target", run.inspection.path.as_str()),
        ("label", run.label.as_deref().unwrap_or_default()),
        ("modelled", modelled),
    ]
}

/// Metrics by their names, without the prefix `seekwell_`.
#[derive(Default)]
pub struct Metrics(BTreeMap<String, Family>);

impl Metrics {
    /// Sets a sample. What ends in `_total` is a counter.
    pub fn add(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let family = self.0.entry(format!("seekwell_{name}"));
        if let Family::Gauges(samples) = family.or_insert_with(|| Family::Gauges(BTreeMap::new())) {
            samples.insert(braces(labels), value);
        }
    }

    /// With `detail` distributions are histograms.
    fn run(&mut self, run: &RunDocument, of_run: &[(&str, &str)], detail: Option<&Detail>) {
        let about = [("run", run.id.as_str()), ("version", &run.tool.version)];
        self.add("run_info", &[of_run, &about].concat(), 1.0);
        self.add("run_valid", of_run, f64::from(u8::from(run.invalid.is_empty())));
        if let Ok(started) = run.started_at.parse::<Timestamp>() {
            self.add("run_start_timestamp_seconds", of_run, started.as_millisecond() as f64 / 1e3);
        }
        for phase in &run.phases {
            let of_phase = [of_run, &[("phase", phase.name.as_str())]].concat();
            for (metric, spread) in &phase.metrics {
                let Named { name, op, statistic, per_base } = named(metric);
                if detail.is_some() && statistic.is_some() {
                    continue;
                }
                let op = op.map(|op| ("op", op));
                let statistic = statistic.as_deref().map(|s| ("statistic", s));
                let more: Vec<_> = op.into_iter().chain(statistic).collect();
                self.add(&name, &[&of_phase[..], &more].concat(), spread.median / per_base);
            }
            if let Some(detail) = detail {
                self.histograms(phase, &of_phase, detail);
            }
        }
    }

    /// Service and response times over all valid repeats of a phase.
    fn histograms(&mut self, phase: &Phase, of_phase: &[(&str, &str)], detail: &Detail) {
        for repeat in detail.repeats.iter().filter(|repeat| repeat.phase == phase.name) {
            let kept = phase.repeats.get(repeat.repeat as usize);
            let Some(kept) = kept.filter(|kept| kept.invalid.is_none()) else { continue };
            for (op, summary) in &kept.ops {
                let labels = [of_phase, &[("op", op.as_str())]].concat();
                let mut add = |name: &str, bins: Option<&Vec<(u32, u64)>>, mean_ns: f64| {
                    let Some(bins) = bins.filter(|bins| !bins.is_empty()) else { return };
                    let seconds = super::distribution::total(bins) as f64 * mean_ns / 1e9;
                    self.observe(name, &labels, bins, seconds);
                };
                add("latency_seconds", repeat.latency_bins.get(op), summary.latency.ns_mean);
                if let Some(response) = &summary.response {
                    add("response_seconds", repeat.response_bins.get(op), response.ns_mean);
                }
            }
        }
    }

    /// Adds requests to a histogram of seconds: bins of [`Histogram`], and the sum of all.
    pub fn observe(&mut self, name: &str, labels: &[(&str, &str)], bins: &Bins, seconds: f64) {
        let empty = || Family::Histograms(BTreeMap::new());
        let family = self.0.entry(format!("seekwell_{name}")).or_insert_with(empty);
        let Family::Histograms(samples) = family else { return };
        let none = || (vec![0; BUCKETS.count() + 1], 0.0);
        let (buckets, sum) = samples.entry(braces(labels)).or_insert_with(none);
        fill(buckets, bins);
        *sum += seconds;
    }

    /// Adds to a counter.
    pub fn count(&mut self, name: &str, labels: &[(&str, &str)], more: u64) {
        let family = self.0.entry(format!("seekwell_{name}"));
        if let Family::Gauges(samples) = family.or_insert_with(|| Family::Gauges(BTreeMap::new())) {
            *samples.entry(braces(labels)).or_default() += more as f64;
        }
    }

    /// The metrics as OpenMetrics.
    pub fn openmetrics(&self) -> String {
        self.text() + "# EOF\n"
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |text: std::fmt::Arguments<'_>| {
            writeln!(out, "{text}").expect("a text takes what is written");
        };
        for (name, family) in &self.0 {
            line(format_args!("# HELP {name} {}", help(name)));
            match family {
                Family::Gauges(samples) => {
                    if !name.ends_with("_total") {
                        line(format_args!("# TYPE {name} gauge"));
                    }
                    samples.iter().for_each(|(labels, v)| line(format_args!("{name}{labels} {v}")));
                }
                Family::Histograms(samples) => {
                    line(format_args!("# TYPE {name} histogram"));
                    for (labels, (buckets, sum)) in samples {
                        let open = labels.strip_suffix('}').expect("labels are in braces");
                        let ends = BUCKETS.map(|power| (1_u64 << power) as f64 / 1e9);
                        let mut up_to = 0;
                        for (n, end) in buckets.iter().zip(ends.map(Some).chain([None])) {
                            up_to += n;
                            let end = end.map_or("+Inf".to_owned(), |end| end.to_string());
                            line(format_args!("{name}_bucket{open},le=\"{end}\"}} {up_to}"));
                        }
                        line(format_args!("{name}_sum{labels} {sum}"));
                        line(format_args!("{name}_count{labels} {up_to}"));
                    }
                }
            }
        }
        out
    }
}

/// Adds bins to buckets.
fn fill(buckets: &mut [u64], bins: &Bins) {
    let last = buckets.len() - 1;
    for (bin, n) in bins {
        // The middle of a bin lies in the bucket of all its values.
        let ns = Histogram::middle_of(*bin as usize);
        let power = ns.checked_ilog2().map_or(0, |power| power + 1);
        let bucket = power.saturating_sub(*BUCKETS.start()) as usize;
        buckets[bucket.min(last)] += n;
    }
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
        "inspect_info" => "What inspected.",
        "disk_info" => "How the disk is attached and set up.",
        "disk_size_bytes" => "Size of the disk.",
        "disk_link_bytes_per_second" => "What the link next to the disk carries as negotiated.",
        "disk_link_highest_bytes_per_second" => "What that link carries at the best of its ends.",
        "disk_queue_depth" => "Commands the disk takes at once.",
        "disk_queue_requests" => "Requests the block layer may queue.",
        "disk_hardware_queues" => "Hardware queues of the block layer.",
        "disk_errors_total" => "Errors that the kernel or the drive counted.",
        "disk_recent_errors" => "Errors that libata remembers of the disk, at most 32.",
        "disk_speed_downs" => "How often libata lowered the transfer mode after errors.",
        "disk_temperature_celsius" => "Temperature of the disk.",
        "disk_temperature_limit_celsius" => "The temperature from which on the disk warns.",
        "disk_wear_ratio" => "Share of the disk's endurance that is used.",
        "disk_spare_ratio" => "Share of the disk's spare capacity that is left.",
        "disk_written_bytes_total" => "Bytes the host wrote to the disk in its life.",
        "disk_read_bytes_total" => "Bytes the host read from the disk in its life.",
        "disk_media_written_bytes_total" => "Bytes the disk wrote to its flash.",
        "disk_power_on_seconds_total" => "How long the disk has been powered on.",
        "disk_throttle_level" => "How strongly the disk slows itself down: 0 (not) to 3.",
        "findings" => "Findings of this severity; seekwell inspect says what they are.",
        "finding_info" => "A finding; seekwell inspect --explain ID says what it means.",
        "disk_requests_total" => "Requests of the disk completed since the start.",
        "disk_bytes_total" => "Bytes read, written or discarded by them.",
        "disk_failed_total" => "Requests of the disk that failed.",
        "disk_response_seconds" => "From the queue to the completion.",
        "disk_queue_seconds" => "From the queue to the driver, where there is a request queue.",
        "disk_device_seconds" => "From the driver to the completion.",
        "disk_outstanding_requests" => "Requests queued and not completed.",
        "lost_total" => "Events or requests that could not be counted.",
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
