//! Phases with histograms and series that belong together: latencies are drawn, everything else is
//! computed from them.

use seekwell_io::histogram::Histogram;
use seekwell_io::measurement::{Interval, Series, Stopped};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Workload;
use seekwell_runs::{Detail, DeviceCount, Latency, OpSummary, Phase, Repeat, RepeatDetail, Spread};
use std::collections::BTreeMap;

const STEP: Nanos = Nanos::from_millis(50);
const ELAPSED: Nanos = Nanos::from_millis(1020);

/// How the rate goes over time.
#[derive(Clone, Copy, PartialEq)]
pub enum Noise {
    Steady,
    /// Fast until a write cache is full.
    CacheFillsUp,
}

struct Side {
    op: Op,
    per_s: f64,
    median_ns: f64,
    sigma: f64,
}

/// A phase in the making.
pub struct Made {
    phase: Phase,
    sides: Vec<Side>,
    noise: Noise,
    most: u64,
}

/// A small generator of even shares, good enough to draw a picture from.
struct Draw(u64);

impl Draw {
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normal, from twelve even shares.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

impl Made {
    pub fn new(name: &str, title: &str, workload: Workload) -> Self {
        let phase = Phase::new(name, title, workload);
        Self { phase, sides: Vec::new(), noise: Noise::Steady, most: 30_000 }
    }

    fn drawn(&self) -> &Workload {
        self.phase.workload.drawn().expect("the samples draw their requests")
    }

    pub fn noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    pub fn few(mut self, most: u64) -> Self {
        self.most = most;
        self
    }

    pub fn read(self, per_s: f64, median_us: f64, sigma: f64) -> Self {
        self.side(Op::Read, per_s, median_us, sigma)
    }

    pub fn write(self, per_s: f64, median_us: f64, sigma: f64) -> Self {
        self.side(Op::Write, per_s, median_us, sigma)
    }

    pub fn flush(self, per_s: f64, median_us: f64, sigma: f64) -> Self {
        self.side(Op::Flush, per_s, median_us, sigma)
    }

    fn side(mut self, op: Op, per_s: f64, median_us: f64, sigma: f64) -> Self {
        self.sides.push(Side { op, per_s, median_ns: median_us * 1e3, sigma });
        self
    }

    pub fn skipped(mut self, why: &str) -> Phase {
        self.phase.skipped = Some(why.into());
        self.phase
    }

    pub fn build(mut self, repeats: u32) -> (Phase, Detail) {
        let mut detail = Detail::default();
        for number in 0..repeats {
            let (repeat, part) = self.repeat(number);
            self.phase.repeats.push(repeat);
            detail.repeats.push(part);
        }
        self.phase.metrics = metrics(&self.phase.repeats);
        (self.phase, detail)
    }

    fn repeat(&self, number: u32) -> (Repeat, RepeatDetail) {
        let seed = self.phase.name.bytes().map(u64::from).sum::<u64>() * 7919 + u64::from(number);
        let mut draw = Draw(seed | 1 << 40);
        let drift = 1.0 + 0.012 * draw.normal();
        let mut ops = BTreeMap::new();
        let mut bins = BTreeMap::new();
        let mut response_bins = BTreeMap::new();
        for side in &self.sides {
            let (service, response) = self.histograms(side, drift, &mut draw);
            let summary = self.summary(side, drift, &service, response.as_ref());
            ops.insert(side.op.name().to_owned(), summary);
            bins.insert(side.op.name().to_owned(), service.sparse());
            if let Some(response) = response {
                response_bins.insert(side.op.name().to_owned(), response.sparse());
            }
        }
        let bytes = |op: &str| ops.get(op).map_or(0, |o: &OpSummary| o.bytes);
        let requests: u64 = ops.values().map(|o| o.requests).sum();
        let repeat = Repeat {
            elapsed_ns: ELAPSED,
            device: Some(DeviceCount {
                read_bytes: bytes("read"),
                written_bytes: bytes("write"),
                flushes: ops.get("flush").map_or(0, |o| o.requests),
                share: if self.drawn().direct { 1.0 } else { 0.0 },
            }),
            cpu_user_ns: Nanos(requests * 700),
            cpu_system_ns: Nanos(requests * 1900),
            syscalls: requests / 4,
            ops,
            ..Repeat::new(seed, Stopped::Finished)
        };
        let part = RepeatDetail {
            phase: self.phase.name.clone(),
            repeat: number,
            latency_bins: bins,
            response_bins,
            series: self.series(drift, &mut draw),
        };
        (repeat, part)
    }

    fn histograms(
        &self,
        side: &Side,
        drift: f64,
        draw: &mut Draw,
    ) -> (Histogram, Option<Histogram>) {
        let mut service = Histogram::default();
        let commit = side.op == Op::Flush;
        let mut response = commit.then(Histogram::default);
        let n = ((side.per_s * ELAPSED.as_secs_f64()) as u64).min(self.most);
        for _ in 0..n {
            let slow = if draw.share() < 0.004 { 3.0 + 2.0 * draw.share() } else { 1.0 };
            let ns = side.median_ns / drift * (side.sigma * draw.normal()).exp() * slow;
            service.record(Nanos(ns as u64));
            if let Some(response) = &mut response {
                response.record(Nanos((ns + 24_000.0) as u64));
            }
        }
        (service, response)
    }

    fn summary(
        &self,
        side: &Side,
        drift: f64,
        service: &Histogram,
        response: Option<&Histogram>,
    ) -> OpSummary {
        let per_s = side.per_s * drift;
        let size = if side.op == Op::Flush { 0 } else { self.drawn().max_bytes() };
        let requests = (per_s * ELAPSED.as_secs_f64()) as u64;
        OpSummary {
            requests,
            bytes: requests * u64::from(size),
            requests_per_s: per_s,
            rate_bytes_per_s: per_s * f64::from(size),
            latency: latency(service),
            response: response.map(latency),
        }
    }

    fn series(&self, drift: f64, draw: &mut Draw) -> Series {
        let mut series = Series::new(STEP);
        for i in 0..ELAPSED.0.div_ceil(STEP.0) {
            let length = STEP.0.min(ELAPSED.0 - i * STEP.0) as f64 / 1e9;
            let shape = match self.noise {
                Noise::Steady => 1.0,
                Noise::CacheFillsUp => {
                    if i < 9 {
                        1.3
                    } else {
                        0.72
                    }
                }
            };
            let mut step = Interval::default();
            for side in &self.sides {
                let n = side.per_s * drift * length * shape * (1.0 + 0.02 * draw.normal());
                step.requests[side.op as usize] = n as u64;
                if side.op != Op::Flush {
                    step.bytes[side.op as usize] = n as u64 * u64::from(self.drawn().max_bytes());
                }
            }
            *series.at(Nanos(i * STEP.0)) = step;
        }
        series
    }
}

fn latency(h: &Histogram) -> Latency {
    let at = |q| h.quantile(q).map(|n| n.0);
    Latency {
        ns_min: h.min().map_or(0, |n| n.0),
        ns_mean: h.mean_ns().unwrap_or(0.0),
        ns_p50: at(0.5),
        ns_p90: at(0.9),
        ns_p99: at(0.99),
        ns_p99_9: at(0.999),
        ns_p99_99: at(0.9999),
        ns_max: h.max().map_or(0, |n| n.0),
    }
}

fn metrics(repeats: &[Repeat]) -> BTreeMap<String, Spread> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut add = |name: String, value: f64| values.entry(name).or_default().push(value);
    for repeat in repeats {
        let requests: u64 = repeat.ops.values().map(|o| o.requests).sum();
        let cpu = (repeat.cpu_user_ns + repeat.cpu_system_ns).0 as f64;
        add("cpu_ns_per_request".into(), cpu / requests as f64);
        if let Some(device) = &repeat.device {
            add("device_share".into(), device.share);
        }
        for (op, summary) in &repeat.ops {
            add(format!("{op}.requests_per_s"), summary.requests_per_s);
            add(format!("{op}.rate_bytes_per_s"), summary.rate_bytes_per_s);
            let clocks =
                [("latency", Some(&summary.latency)), ("response", summary.response.as_ref())];
            for (clock, l) in clocks {
                let Some(l) = l else { continue };
                let quantiles = [("p50", l.ns_p50), ("p99", l.ns_p99), ("p99_9", l.ns_p99_9)];
                for (name, value) in quantiles {
                    if let Some(ns) = value {
                        add(format!("{op}.{clock}_ns_{name}"), ns as f64);
                    }
                }
            }
        }
    }
    let whole = values.into_iter().filter(|(_, v)| v.len() == repeats.len());
    whole.filter_map(|(name, v)| Some((name, Spread::of(&v)?))).collect()
}
