//! From a measurement to the numbers of the run document.
//!
//! One run gives one number per metric. Requests are never pooled over runs, and a run that says
//! too little to give a number is kept but marked, so that it is clear why it is missing.

use crate::slow::slowdown;
use seekwell_io::histogram::Histogram;
use seekwell_io::measurement::{Measurement, OpMeasurement, Stopped};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_runs::{DeviceCount, Invalid, Latency, OpSummary, Repeat, RepeatDetail, Spread};
use std::collections::BTreeMap;

/// A rate is not given for a run shorter than this: timer ticks, a full write cache and the start
/// of the run itself would be most of it.
pub const SHORTEST_RATE: Nanos = Nanos::from_millis(500);

/// The numbers of one run under `seed`, with what the device counted meanwhile. A run from which
/// no number may be taken says why in `invalid`.
pub fn summarize(m: &Measurement, device: Option<DeviceCount>, seed: u64) -> Repeat {
    let used = Op::ALL.into_iter().filter(|op| m.op(*op).requests > 0);
    Repeat {
        elapsed_ns: m.elapsed,
        failure: m.first_failure,
        failed: m.failed,
        ops: used.map(|op| (op.name().into(), op_summary(m.op(op), m.elapsed))).collect(),
        cpu_user_ns: m.cpu_user,
        cpu_system_ns: m.cpu_system,
        syscalls: m.syscalls,
        issuer: m.issuer,
        device,
        slowdown: slowdown(m),
        invalid: invalid(m),
        ..Repeat::new(seed, m.stopped)
    }
}

/// Histograms and series of one run, to be kept beside the document: `repeat` counts from 0 in
/// `phase`.
pub fn detail(phase: &str, repeat: u32, m: &Measurement) -> RepeatDetail {
    let bins = |pick: fn(&OpMeasurement) -> &Histogram| {
        let of = |op: Op| (op.name().to_owned(), pick(m.op(op)).sparse());
        Op::ALL.into_iter().map(of).filter(|(_, bins)| !bins.is_empty()).collect()
    };
    RepeatDetail {
        phase: phase.into(),
        repeat,
        latency_bins: bins(|o| &o.service),
        response_bins: bins(|o| &o.response),
        series: m.series.clone(),
    }
}

/// One spread per metric over the valid repeats, under the names documented at
/// [`Phase::metrics`](seekwell_runs::Phase::metrics). A metric that one valid repeat lacks (a
/// percentile with too few requests) is left out: over the others it would be a biased sample.
///
/// | name | unit | is |
/// |---|---|---|
/// | `OP.requests_per_s` | 1/s | requests completed |
/// | `OP.rate_bytes_per_s` | B/s | bytes moved; reads and writes only |
/// | `OP.latency_ns_{mean,p50,p90,p99,p99_9,p99_99,max}` | ns | service time |
/// | `OP.response_ns_{mean,…}` | ns | response time, where requests were wanted at a time |
/// | `cpu_percent` | % | CPU time of the issuing threads over elapsed time; 100 is one CPU |
/// | `cpu_ns_per_request` | ns | the same per request |
/// | `requests_per_syscall` | – | how well submission and reaping were batched |
/// | `device_share` | 0…1 | bytes the device counted over bytes asked for |
/// | `lateness_ns_{mean,…}` | ns | of a replay: handed over minus due |
/// | `drift_percent` | % | of a replay: how much longer issuing took than it should have |
/// | any name of `values` | its end | of a suite's step |
pub fn metrics(repeats: &[Repeat]) -> BTreeMap<String, Spread> {
    let valid: Vec<_> = repeats.iter().filter(|r| r.invalid.is_none()).collect();
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for repeat in &valid {
        for (name, value) in numbers(repeat) {
            values.entry(name).or_default().push(value);
        }
    }
    let everywhere = values.into_iter().filter(|(_, v)| v.len() == valid.len());
    everywhere.filter_map(|(name, v)| Some((name, Spread::of(&v)?))).collect()
}

fn op_summary(op: &OpMeasurement, elapsed: Nanos) -> OpSummary {
    let per_s = |n: u64| if elapsed.0 == 0 { 0.0 } else { n as f64 / elapsed.as_secs_f64() };
    OpSummary {
        requests: op.requests,
        bytes: op.bytes,
        requests_per_s: per_s(op.requests),
        rate_bytes_per_s: per_s(op.bytes),
        latency: latency(&op.service).unwrap_or_default(),
        response: latency(&op.response),
    }
}

/// A distribution in numbers; nothing of an empty one.
pub fn latency(h: &Histogram) -> Option<Latency> {
    let q = |q| h.quantile(q).map(|n| n.0);
    Some(Latency {
        ns_min: h.min()?.0,
        ns_mean: h.mean_ns()?,
        ns_p50: q(0.5),
        ns_p90: q(0.9),
        ns_p99: q(0.99),
        ns_p99_9: q(0.999),
        ns_p99_99: q(0.9999),
        ns_max: h.max()?.0,
    })
}

fn invalid(m: &Measurement) -> Option<Invalid> {
    failed(m).map(Invalid::Because).or_else(|| too_short(m.elapsed))
}

/// What went wrong with a run, however long it was.
fn failed(m: &Measurement) -> Option<String> {
    if let Some(f) = &m.first_failure {
        let more = if m.failed > 1 { format!(" ({} failed)", m.failed) } else { String::new() };
        return Some(format!("{f}{more}"));
    }
    let given_up = if m.abandoned > 0 {
        format!("; {} requests never came back", m.abandoned)
    } else {
        String::new()
    };
    match m.stopped {
        Stopped::Interrupted => return Some(format!("interrupted{given_up}")),
        Stopped::Stalled => return Some(format!("the target stopped answering{given_up}")),
        Stopped::Failed => return Some("a request failed".into()),
        Stopped::Finished => {}
    }
    if m.failed > 0 {
        return Some(format!("{} requests failed", m.failed));
    }
    if m.abandoned > 0 {
        return Some(format!("{} requests never came back", m.abandoned));
    }
    if m.requests() == 0 {
        return Some(format!("nothing completed in {}", m.elapsed));
    }
    None
}

/// Why no rate is taken from a run that took so long, if it was too short for one.
pub fn too_short(elapsed: Nanos) -> Option<Invalid> {
    (elapsed < SHORTEST_RATE).then(|| Invalid::too_short(elapsed, SHORTEST_RATE))
}

/// Whether nothing is wrong with a repeat but that it was too short for a rate.
pub fn is_only_short(repeat: &Repeat) -> bool {
    matches!(repeat.invalid, Some(Invalid::TooShort(_)))
}

/// The metrics of one repeat; see [`metrics`].
pub fn numbers(r: &Repeat) -> Vec<(String, f64)> {
    let mut out = Vec::with_capacity(32);
    for (op, s) in &r.ops {
        out.push((format!("{op}.requests_per_s"), s.requests_per_s));
        if s.bytes > 0 {
            out.push((format!("{op}.rate_bytes_per_s"), s.rate_bytes_per_s));
        }
        times(&mut out, &format!("{op}.latency_ns"), &s.latency);
        if let Some(response) = &s.response {
            times(&mut out, &format!("{op}.response_ns"), response);
        }
    }
    let cpu = (r.cpu_user_ns + r.cpu_system_ns).0 as f64;
    let requests: u64 = r.ops.values().map(|o| o.requests).sum();
    // A modelled host without costs of its own spends none.
    if cpu > 0.0 && r.elapsed_ns > Nanos::ZERO {
        out.push(("cpu_percent".into(), 100.0 * cpu / r.elapsed_ns.0 as f64));
    }
    if cpu > 0.0 && requests > 0 {
        out.push(("cpu_ns_per_request".into(), cpu / requests as f64));
    }
    if r.syscalls > 0 {
        out.push(("requests_per_syscall".into(), requests as f64 / r.syscalls as f64));
    }
    if let Some(device) = &r.device {
        out.push(("device_share".into(), device.share));
    }
    if let Some(fidelity) = &r.fidelity {
        if let Some(lateness) = &fidelity.lateness {
            times(&mut out, "lateness_ns", lateness);
        }
        out.extend(fidelity.drift_percent.map(|drift| ("drift_percent".into(), drift)));
    }
    out.extend(r.values.iter().map(|(name, value)| (name.clone(), *value)));
    out
}

fn times(out: &mut Vec<(String, f64)>, prefix: &str, l: &Latency) {
    out.push((format!("{prefix}_mean"), l.ns_mean));
    out.push((format!("{prefix}_max"), l.ns_max as f64));
    let quantiles = [
        ("p50", l.ns_p50),
        ("p90", l.ns_p90),
        ("p99", l.ns_p99),
        ("p99_9", l.ns_p99_9),
        ("p99_99", l.ns_p99_99),
    ];
    let known = quantiles.iter().filter_map(|(name, ns)| Some((name, (*ns)? as f64)));
    out.extend(known.map(|(name, ns)| (format!("{prefix}_{name}"), ns)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_io::measurement::{Failure, FailureKind};

    /// `n` requests of `op`, each of `service` nanoseconds, in `ms` milliseconds.
    fn measured(op: Op, n: u64, service: u64, ms: u64) -> Measurement {
        let mut m = Measurement::new(Nanos::from_millis(100));
        m.elapsed = Nanos::from_millis(ms);
        add(&mut m, op, n, service);
        m
    }

    fn add(m: &mut Measurement, op: Op, n: u64, service: u64) {
        let o = &mut m.ops[op as usize];
        o.requests = n;
        o.bytes = if op == Op::Flush { 0 } else { n * 4096 };
        (0..n).for_each(|_| o.service.record(Nanos(service)));
    }

    #[test]
    fn a_run_gives_the_documented_metric_names_and_their_values() {
        let mut m = measured(Op::Read, 10_000, 100_000, 1000);
        add(&mut m, Op::Flush, 2_000, 50_000);
        (0..2_000).for_each(|_| m.ops[Op::Flush as usize].response.record(Nanos(60)));
        m.cpu_user = Nanos::from_millis(200);
        m.cpu_system = Nanos::from_millis(40);
        m.syscalls = 3_000;
        let device = DeviceCount { read_bytes: 1, written_bytes: 0, flushes: 2_000, share: 0.75 };
        let metrics = metrics(&[summarize(&m, Some(device), 7)]);
        let expect = [
            ("cpu_ns_per_request", 20_000.0),
            ("cpu_percent", 24.0),
            ("device_share", 0.75),
            ("flush.latency_ns_max", 50_000.0),
            ("flush.latency_ns_mean", 50_000.0),
            ("flush.latency_ns_p50", 50_000.0),
            ("flush.latency_ns_p90", 50_000.0),
            ("flush.latency_ns_p99", 50_000.0),
            ("flush.requests_per_s", 2_000.0),
            ("flush.response_ns_max", 60.0),
            ("flush.response_ns_mean", 60.0),
            ("flush.response_ns_p50", 60.0),
            ("flush.response_ns_p90", 60.0),
            ("flush.response_ns_p99", 60.0),
            ("read.latency_ns_max", 100_000.0),
            ("read.latency_ns_mean", 100_000.0),
            ("read.latency_ns_p50", 100_000.0),
            ("read.latency_ns_p90", 100_000.0),
            ("read.latency_ns_p99", 100_000.0),
            ("read.latency_ns_p99_9", 100_000.0),
            ("read.rate_bytes_per_s", 40_960_000.0),
            ("read.requests_per_s", 10_000.0),
            ("requests_per_syscall", 4.0),
        ];
        let got: Vec<_> = metrics.iter().map(|(n, s)| (n.as_str(), s.median)).collect();
        assert_eq!(got, expect);
        assert!(metrics.values().all(|s| s.n == 1));
    }

    #[test]
    fn a_run_shorter_than_half_a_second_gives_no_rate() {
        let short = summarize(&measured(Op::Read, 100, 1000, 499), None, 7);
        let why = short.invalid.clone().expect("marked");
        assert!(why.starts_with("too short: 499 ms"), "{why}");
        assert!(metrics(&[short]).is_empty());
        assert_eq!(summarize(&measured(Op::Read, 100, 1000, 500), None, 7).invalid, None);
    }

    #[test]
    fn a_run_with_a_failed_request_is_invalid_and_says_which() {
        let mut m = measured(Op::Read, 100, 1000, 900);
        m.failed = 3;
        m.stopped = Stopped::Failed;
        let kind = FailureKind::Errno { errno: 5 };
        m.first_failure = Some(Failure { op: Op::Read, offset: 8192, len: 4096, kind });
        let why = summarize(&m, None, 7).invalid.expect("marked");
        assert!(why.starts_with("read of 4096 bytes at offset 8192: Input/output error"), "{why}");
        assert!(why.ends_with("(3 failed)"), "{why}");
    }

    #[test]
    fn interrupted_stalled_and_empty_runs_say_so() {
        let why = |stopped, abandoned, requests| {
            let mut m = measured(Op::Write, requests, 10, 1000);
            m.stopped = stopped;
            m.abandoned = abandoned;
            summarize(&m, None, 7).invalid
        };
        assert_eq!(why(Stopped::Interrupted, 0, 9).as_deref(), Some("interrupted"));
        let stalled = why(Stopped::Stalled, 2, 9).expect("marked");
        assert_eq!(&*stalled, "the target stopped answering; 2 requests never came back");
        assert_eq!(why(Stopped::Finished, 0, 0).as_deref(), Some("nothing completed in 1.00 s"));
        assert_eq!(why(Stopped::Finished, 0, 9), None);
    }

    #[test]
    fn a_percentile_some_repeat_has_too_few_requests_for_is_left_out() {
        let many = summarize(&measured(Op::Read, 1_000, 1000, 900), None, 7);
        let few = summarize(&measured(Op::Read, 999, 1000, 900), None, 7);
        assert!(metrics(&[many.clone(), many.clone()]).contains_key("read.latency_ns_p99"));
        let mixed = metrics(&[many, few]);
        assert!(!mixed.contains_key("read.latency_ns_p99"));
        assert_eq!(mixed["read.latency_ns_p90"].n, 2);
    }

    #[test]
    fn detail_keeps_only_operations_that_occurred() {
        let d = detail("rand-read-4k-d1", 2, &measured(Op::Read, 7, 50, 900));
        assert_eq!((d.phase.as_str(), d.repeat), ("rand-read-4k-d1", 2));
        assert_eq!(d.latency_bins.len(), 1);
        assert_eq!(d.latency_bins["read"], [(50, 7)]);
        assert!(d.response_bins.is_empty());
    }
}
