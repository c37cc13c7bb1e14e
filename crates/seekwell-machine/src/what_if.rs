//! What limits a load on a machine: each station is made faster in turn, and what that gives the
//! load is the proof. The *elasticity* of a station is ln(rate′ ÷ rate) ÷ ln(factor): 1 where the
//! rate grows as the station's speed does, 0 if it does not matter. (C. Curtsinger and E.
//! Berger, "Coz: Finding Code that Counts with Causal Profiling", SOSP 2015.)
//!
//! All runs of a load have the same requests and the same seeds, so that nothing but the station
//! differs. Two more with other requests say how much of a difference is chance: a hard drive that
//! is a little faster has its sectors come by at other times.

use crate::sweep::{completed, on_threads, run_within};
use crate::{LoadError, Model, Speedup, Station};
use seekwell_io::engine::{Bounds, EngineError};
use seekwell_io::measurement::Measurement;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Generator, Pace, Together, Workload};
use serde::Serialize;

/// How many times as fast each station is made in turn, unless asked otherwise.
pub const FASTER: f64 = 1.1;
/// How many times as many tags there are, and as many requests outstanding.
pub const DEEPER: f64 = 2.0;
/// Requests that decide how long a load has to run.
const PROBED: u64 = 1_000;
/// The least requests that are measured, unless they move more bytes than [`BYTES`].
const LEAST: u64 = 10_000;
const BYTES: u64 = 2 << 30;
/// The most requests that are measured.
const MOST: u64 = 50_000;
/// A station of whose speed a figure follows less than this share limits nothing.
const LEAST_ELASTICITY: f64 = 0.1;
/// How often the machine as it is has other requests, by which one learns what chance does.
const OTHERS: u64 = 2;

/// What a load gets of a machine, and what it would get of others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIf {
    /// Requests completed a second.
    pub requests_per_s: f64,
    /// Bytes read and written a second.
    pub bytes_per_s: f64,
    /// The 99th percentile of response times, in nanoseconds; `None` of too few.
    pub p99_ns: Option<f64>,
    /// The elasticity that chance alone can show: by how much the rate differs with other requests
    /// of the same kind.
    pub chance: f64,
    /// By station, in the order of [`Station::ALL`].
    pub gains: Vec<Gain>,
}

/// What a faster station gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gain {
    /// Which.
    pub station: Station,
    /// How many times as fast, as large, or as deep it is made.
    pub factor: f64,
    /// How many times as many requests are completed.
    pub rate_gain: f64,
    /// How many times as short the 99th percentile is; `None` of too few.
    pub p99_gain: Option<f64>,
    /// How much of the factor the rate follows: 1 all of it, 0 nothing.
    pub elasticity: f64,
}

impl WhatIf {
    /// The station whose speed the rate follows most; `None` if it follows none by a tenth, or
    /// by no more than chance.
    pub fn limit(&self) -> Option<&Gain> {
        let most = self.gains.iter().max_by(|a, b| a.elasticity.total_cmp(&b.elasticity));
        most.filter(|gain| gain.elasticity >= self.chance.max(LEAST_ELASTICITY))
    }
}

/// The station that limits a figure, and what the figure gains when it is faster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Relief {
    /// Which.
    #[serde(rename = "by")]
    pub station: Station,
    /// How many times as fast, as large, or as deep it is made.
    pub factor: f64,
    /// How many times as good the figure becomes: as short a time, or as high a rate.
    pub gain: f64,
}

impl Relief {
    /// Picks the station whose speed a figure follows most, from what the figure gains on machines
    /// with one station faster each; `None` if it follows none by a tenth.
    pub fn most(found: impl IntoIterator<Item = (Speedup, f64)>) -> Option<Self> {
        let each = found.into_iter().map(|(by, gain)| (gain.ln() / by.factor.ln(), by, gain));
        let (elasticity, by, gain) = each.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let told = Self { station: by.station, factor: by.factor, gain };
        (elasticity >= LEAST_ELASTICITY).then_some(told)
    }
}

/// The machine with each of its stations that many times as fast in turn, and with twice the tags.
pub fn faster(model: &Model, factor: f64) -> Vec<(Speedup, Model)> {
    model.faster_each(|station| if station == Station::Tags { DEEPER } else { factor })
}

/// What each of some loads gets of a machine and what it would get were one station `factor` times
/// as fast, on up to `threads` threads; in the loads' order and independent of the number of
/// threads. A load runs for its own time, or for as long as enough of its requests take.
///
/// # Errors
/// For each load, [`LoadError`].
pub fn what_if(
    model: &Model,
    loads: &[Workload],
    factor: f64,
    seed: u64,
    threads: usize,
) -> Vec<Result<WhatIf, LoadError>> {
    let others = faster(model, factor);
    let timed = on_threads(loads.len(), threads, |n| in_time(model, &loads[n], seed));
    let mut runs: Vec<Run<'_>> = (0..=OTHERS).map(|n| Run::Plain(seed.wrapping_add(n))).collect();
    runs.extend(others.iter().map(|(by, other)| Run::Faster(*by, other)));
    runs.push(Run::Deeper);
    let figures = on_threads(loads.len() * runs.len(), threads, |index| {
        let load = timed[index / runs.len()].as_ref().ok()?;
        runs[index % runs.len()].of(model, load, seed)
    });
    let mut figures = figures.into_iter();
    let each = timed.into_iter().map(|load| {
        let found: Vec<_> = figures.by_ref().take(runs.len()).collect();
        load?;
        judged(&runs, found)
    });
    each.collect()
}

/// A run of each load.
enum Run<'a> {
    /// On the machine as it is, with this seed of the requests.
    Plain(u64),
    /// On another one.
    Faster(Speedup, &'a Model),
    /// With more outstanding.
    Deeper,
}

impl Run<'_> {
    /// What it gives; `None` if the load has no depth.
    fn of(&self, model: &Model, load: &Workload, seed: u64) -> Option<Result<Figures, LoadError>> {
        Some(match self {
            Self::Plain(other) => measure(model, &Workload { seed: *other, ..load.clone() }, seed),
            Self::Faster(_, other) => measure(other, load, seed),
            Self::Deeper => measure(model, &twice_as_deep(load)?, seed),
        })
    }

    const fn speedup(&self) -> Option<Speedup> {
        match self {
            Self::Plain(_) => None,
            Self::Faster(by, _) => Some(*by),
            Self::Deeper => Some(Speedup { station: Station::Latency, factor: DEEPER }),
        }
    }
}

/// What the runs of one load say; the first is that of the machine as it is.
fn judged(
    runs: &[Run<'_>],
    figures: Vec<Option<Result<Figures, LoadError>>>,
) -> Result<WhatIf, LoadError> {
    let figures = figures.into_iter().map(Option::transpose).collect::<Result<Vec<_>, _>>()?;
    let base = figures.first().cloned().flatten().ok_or(LoadError::Empty)?;
    let mut found = WhatIf {
        requests_per_s: base.requests_per_s,
        bytes_per_s: base.bytes_per_s,
        p99_ns: base.p99_ns,
        chance: 0.0,
        gains: Vec::new(),
    };
    for (run, figures) in runs.iter().zip(figures) {
        let Some(figures) = figures else { continue };
        let rate_gain = figures.requests_per_s / base.requests_per_s;
        let Some(Speedup { station, factor }) = run.speedup() else {
            found.chance = found.chance.max(rate_gain.ln().abs() / FASTER.ln());
            continue;
        };
        found.gains.push(Gain {
            station,
            factor,
            rate_gain,
            p99_gain: base.p99_ns.zip(figures.p99_ns).map(|(before, after)| before / after),
            elasticity: rate_gain.ln() / factor.ln(),
        });
    }
    Ok(found)
}

/// A load over what the machine has of its region, for a time in which there are requests enough.
fn in_time(model: &Model, load: &Workload, seed: u64) -> Result<Workload, LoadError> {
    let mut load = load.clone();
    load.seed = seed;
    load.region_bytes = load.region_bytes.min(model.capacity().saturating_sub(load.offset_bytes));
    let threads = u64::from(load.threads.max(1));
    let (runtime, ramp) = (load.runtime_ns, load.ramp_ns);
    (load.runtime_ns, load.ramp_ns, load.requests) = (Nanos::ZERO, Nanos::ZERO, PROBED / threads);
    let probed = measure(model, &load, seed)?;
    let least = LEAST.min(BYTES / u64::from(load.max_bytes().max(1))).max(PROBED);
    let time = |requests: u64| (requests as f64 / probed.requests_per_s * 1e9) as u64;
    load.requests = 0;
    load.runtime_ns = Nanos(runtime.0.clamp(time(least), time(MOST).max(1)));
    // What caches take at first is not what is asked.
    load.ramp_ns = ramp.max(Nanos(load.runtime_ns.0 / 4));
    Ok(load)
}

/// The load with twice the requests outstanding, of a closed loop.
fn twice_as_deep(load: &Workload) -> Option<Workload> {
    let Pace::Closed { depth } = load.pace else { return None };
    Some(Workload { pace: Pace::Closed { depth: depth * DEEPER as u32 }, ..load.clone() })
}

#[derive(Debug, Clone, Copy)]
struct Figures {
    requests_per_s: f64,
    bytes_per_s: f64,
    p99_ns: Option<f64>,
}

fn measure(model: &Model, load: &Workload, seed: u64) -> Result<Figures, LoadError> {
    load.check().map_err(EngineError::from)?;
    let depth = load.pace.depth();
    let mut source = Together::new((0..load.threads).map(|t| (Generator::new(load, t), depth)));
    let bounds = Bounds { depth: source.depth(), ..Bounds::of(load) };
    figures(&run_within(model, seed, &mut source, bounds)?)
}

fn figures(measured: &Measurement) -> Result<Figures, LoadError> {
    let (times, requests_per_s) = completed(measured)?;
    let bytes: u64 = measured.ops.iter().map(|op| op.bytes).sum();
    Ok(Figures {
        requests_per_s,
        bytes_per_s: bytes as f64 / measured.elapsed.as_secs_f64(),
        p99_ns: times.quantile(0.99).map(|ns| ns.0 as f64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{Shelf, machine};
    use seekwell_io::workload::Pattern;

    fn model(name: &str, set: &[(&str, &str)]) -> Model {
        let text = machine(name).expect("ships");
        let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Model::read(name, text, &set, &Shelf::default()).expect("is right")
    }

    fn asked(model: &Model, pattern: Pattern, reads: u8, bytes: u32, depth: u32) -> WhatIf {
        let load = Workload::closed(pattern, reads, bytes, depth, model.capacity());
        let found = what_if(model, &[load], FASTER, 1, 2).pop().expect("one");
        found.expect("runs")
    }

    fn of(found: &WhatIf, station: Station) -> f64 {
        let gain = found.gains.iter().find(|gain| gain.station == station);
        gain.map_or(0.0, |gain| gain.elasticity)
    }

    #[test]
    fn large_reads_over_a_slow_link_follow_the_link() {
        let slow = model("sata-ssd", &[("link.speed", "1.5Gbps")]);
        let found = asked(&slow, Pattern::Sequential, 100, 1 << 20, 4);
        let limit = found.limit().expect("is limited");
        assert_eq!(limit.station, Station::Link, "{found:?}");
        assert!(limit.elasticity > 0.8 && limit.rate_gain > 1.07, "{found:?}");
        assert!(of(&found, Station::Flash).abs() < 0.05, "{found:?}");
        assert!(limit.p99_gain.is_some_and(|gain| gain > 1.07), "{found:?}");
    }

    #[test]
    fn random_reads_of_a_hard_drive_follow_its_mechanics_and_large_ones_its_medium() {
        let disk = model("sata-7200", &[]);
        let random = asked(&disk, Pattern::Random, 100, 4096, 1);
        assert_eq!(random.limit().map(|l| l.station), Some(Station::Mechanics), "{random:?}");
        assert!(of(&random, Station::Medium).abs() < 0.1, "{random:?}");
        let large = asked(&disk, Pattern::Sequential, 100, 1 << 20, 4);
        assert_eq!(large.limit().map(|l| l.station), Some(Station::Medium), "{large:?}");
        assert!(of(&large, Station::Medium) > 0.8, "{large:?}");
        assert!(of(&large, Station::Mechanics) < 0.2, "{large:?}");
    }

    #[test]
    fn behind_a_throttle_only_the_throttle_matters() {
        let volume = model("volume-gp3", &[]);
        let found = asked(&volume, Pattern::Random, 100, 4096, 32);
        let limit = found.limit().expect("is limited");
        assert_eq!(limit.station, Station::Throttle, "{found:?}");
        assert!(limit.elasticity > 0.95, "{found:?}");
        let alone = asked(&volume, Pattern::Random, 100, 4096, 1);
        let limit = alone.limit().expect("is limited");
        assert_eq!(limit.station, Station::Latency, "one at a time: {alone:?}");
    }

    #[test]
    fn every_machine_has_stations_and_any_number_of_threads_says_the_same() {
        let array = model("megaraid1600-pci32-33", &[]);
        let stations: Vec<_> = array.faster_each(|_| 1.1).iter().map(|(b, _)| b.station).collect();
        for station in [Station::Bus, Station::Controller, Station::Mechanics, Station::Tags] {
            assert!(stations.contains(&station), "{stations:?}");
        }
        assert!(!stations.contains(&Station::Flash) && !stations.contains(&Station::Throttle));
        let pio = model("pii350-default", &[]);
        let large = asked(&pio, Pattern::Sequential, 100, 64 << 10, 1);
        assert!(of(&large, Station::TransferMode) > 0.3, "{large:?}");
        let load = Workload::closed(Pattern::Random, 70, 4096, 4, 1 << 30);
        let told = |threads| what_if(&array, std::slice::from_ref(&load), FASTER, 3, threads).pop();
        let (one, many) = (told(1).expect("one"), told(3).expect("one"));
        assert_eq!(one.expect("runs"), many.expect("runs"));
    }
}
