//! A step of a suite: what it is given, and what it gives.

use crate::error::SuiteError;
use crate::load::{Load, Outcome};
use seekwell_access::Opened;
use seekwell_io::clock::Clock;
use seekwell_io::engine::process_cpu;
use seekwell_io::histogram::Histogram;
use seekwell_io::measurement::Measurement;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_sys::{DevId, DiskCounters, Live};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const SERIES_STEP: Nanos = Nanos::from_millis(50);

pub struct Step {
    /// Stable: `sequential-create`.
    pub name: String,
    pub title: String,
    /// The value that the step is for: a name of [`StepResult::values`].
    pub primary: String,
    /// About how long it takes, for the progress line.
    pub expected: Nanos,
    /// What of it a modelled machine can play.
    pub load: Load,
    /// Adds what follows from a played load.
    pub derive: fn(&mut StepResult),
    /// Does it. State that steps share lies in what this captures, or in the directory.
    pub run: Run,
}

impl Step {
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        primary: impl Into<String>,
        expected: Nanos,
        run: impl FnMut(&Stage<'_>) -> Result<StepResult, SuiteError> + 'static,
    ) -> Self {
        let (name, title, primary) = (name.into(), title.into(), primary.into());
        let load = Load::None { why: "no model has what this step uses".into() };
        Self { name, title, primary, expected, load, derive: |_| (), run: Box::new(run) }
    }

    /// The same step, with what of it a modelled machine can play.
    pub fn on_model(self, load: Load) -> Self {
        Self { load, ..self }
    }
}

pub type Run = Box<dyn FnMut(&Stage<'_>) -> Result<StepResult, SuiteError>>;

pub struct Stage<'a> {
    /// The suite's own directory, or the device or file that is only read.
    pub path: &'a Path,
    /// That device or file.
    pub opened: Option<&'a Opened>,
    /// Of this round; the same seed makes the same requests.
    pub seed: u64,
    /// Raised when the step is to end early, with [`SuiteError::Interrupted`].
    pub stop: &'a AtomicBool,
    /// Told how much of the step is done, from 0 to 1.
    pub progress: &'a (dyn Fn(f64) + Sync),
    /// Where the data lie, if that is one device that counts.
    pub device: Option<DevId>,
}

impl Stage<'_> {
    /// Whether the step is to go on.
    ///
    /// # Errors
    /// [`SuiteError::Interrupted`].
    pub fn go_on(&self) -> Result<(), SuiteError> {
        if self.stop.load(Relaxed) { Err(SuiteError::Interrupted) } else { Ok(()) }
    }

    /// Whether a target of this size will do.
    ///
    /// # Errors
    /// [`SuiteError::TooSmall`].
    pub fn at_least(&self, size_bytes: u64, needed_bytes: u64) -> Result<(), SuiteError> {
        let path = self.path.to_path_buf();
        let too_small = SuiteError::TooSmall { path, size_bytes, needed_bytes };
        if size_bytes < needed_bytes { Err(too_small) } else { Ok(()) }
    }

    /// Begins to measure: what comes before this is preparation.
    pub fn begin(&self) -> Meter {
        Meter {
            device: self.device,
            counted: counters(self.device),
            cpu: process_cpu(),
            clock: Clock::real(),
            began: Clock::real().now(),
        }
    }

    /// Does something again and again until it has taken `least` in all: `prepare` is not measured,
    /// `measured` is. Both are called with the number of the pass, from 0. Returns the sum of the
    /// passes and how many there were.
    ///
    /// # Errors
    /// The first error of either.
    pub fn passes(
        &self,
        least: Nanos,
        mut prepare: impl FnMut(u64) -> Result<(), SuiteError>,
        mut measured: impl FnMut(u64) -> Result<(), SuiteError>,
    ) -> Result<(StepResult, u64), SuiteError> {
        let mut sum: Option<StepResult> = None;
        for pass in 0.. {
            self.go_on()?;
            prepare(pass)?;
            let meter = self.begin();
            measured(pass)?;
            let one = meter.end();
            let sum = match &mut sum {
                None => sum.insert(one),
                Some(sum) => {
                    sum.add(&one);
                    sum
                }
            };
            if sum.measurement.elapsed >= least {
                return Ok((sum.clone(), pass + 1));
            }
        }
        unreachable!("passes end when their time is over")
    }
}

fn counters(device: Option<DevId>) -> Option<DiskCounters> {
    DiskCounters::read(&Live::system(), device?).ok()
}

/// What was true when measuring began.
pub struct Meter {
    device: Option<DevId>,
    counted: Option<DiskCounters>,
    cpu: (Nanos, Nanos),
    clock: Clock,
    began: Nanos,
}

impl Meter {
    pub fn elapsed(&self) -> Nanos {
        self.clock.now().since(self.began)
    }

    pub fn end(&self) -> StepResult {
        let elapsed = self.elapsed();
        let (user, system) = process_cpu();
        let device = self.counted.zip(counters(self.device)).map(|(b, a)| a.since(&b));
        let mut measurement = Measurement::new(SERIES_STEP);
        measurement.elapsed = elapsed;
        measurement.cpu_user = user.since(self.cpu.0);
        measurement.cpu_system = system.since(self.cpu.1);
        let (values, notes) = (BTreeMap::new(), Vec::new());
        StepResult { measurement, device, values, notes, modelled: false }
    }
}

#[derive(Debug, Clone)]
pub struct StepResult {
    /// Time, CPU time, and the requests it made, where it made requests.
    pub measurement: Measurement,
    /// What the device counted meanwhile.
    pub device: Option<DiskCounters>,
    /// What it is for. Names end in their unit: `_bytes_per_s`, `_per_s`, `_ns_p99`, `_ns_max`,
    /// `_ns_mean`, `_ns_p50`, `_ns`, `_percent`, `_share`, `_count`.
    pub values: BTreeMap<String, f64>,
    /// What is to be said about it, in sentences.
    pub notes: Vec<String>,
    /// Whether the time is that of a model, which needs no length to be exact.
    pub modelled: bool,
}

impl StepResult {
    /// What a played load gave.
    pub fn modelled(outcome: Outcome, step: &Step, words: String) -> Self {
        let mut result = Self {
            measurement: outcome.measurement,
            device: None,
            values: BTreeMap::new(),
            notes: vec![words],
            modelled: true,
        };
        result.set(&step.primary, outcome.per_s);
        (step.derive)(&mut result);
        result
    }

    /// Adds the times and counters of what was done after it.
    fn add(&mut self, later: &Self) {
        self.measurement.elapsed += later.measurement.elapsed;
        self.measurement.cpu_user += later.measurement.cpu_user;
        self.measurement.cpu_system += later.measurement.cpu_system;
        self.device = self.device.zip(later.device).map(|(a, b)| a + b);
    }

    /// Adds a value; one that is no number is left out.
    pub fn set(&mut self, name: impl Into<String>, value: f64) {
        if value.is_finite() {
            self.values.insert(name.into(), value);
        }
    }

    /// Adds how many a second: `name` ends in `_per_s`.
    pub fn rate(&mut self, name: impl Into<String>, count: u64) {
        self.set(name, count as f64 / self.measurement.elapsed.as_secs_f64());
    }

    /// Adds a distribution: mean, longest, and the quantiles there are enough values for.
    pub fn latency(&mut self, stem: &str, times: &Histogram) {
        let exact = [("mean", times.mean_ns()), ("max", times.max().map(|n| n.0 as f64))];
        let quantiles = [("p50", 0.5), ("p99", 0.99)];
        let known = quantiles.map(|(name, q)| (name, times.quantile(q).map(|n| n.0 as f64)));
        for (name, value) in exact.into_iter().chain(known) {
            if let Some(value) = value {
                self.set(format!("{stem}_ns_{name}"), value);
            }
        }
    }

    /// Adds requests of one kind that were made and timed.
    pub fn requests(&mut self, op: Op, bytes: u64, times: &Histogram) {
        let of = &mut self.measurement.ops[op as usize];
        of.requests += times.count();
        of.bytes += bytes;
        of.service.merge(times);
    }
}
