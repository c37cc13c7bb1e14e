//! What a step asks of a disk, for a modelled machine: it has no files and runs no programs.
//!
//! `seekwell reproduce` plays the same loads for the published figures, so that a suite and a row
//! about the same test agree.

mod play;

use crate::settings::Settings;
use seekwell_io::dispatch::dispatcher;
use seekwell_io::engine::Control;
use seekwell_io::measurement::Measurement;
use seekwell_io::request::Op;
use seekwell_io::units::{Nanos, exact};
use seekwell_machine::Model;
use std::time::Instant;

pub use crate::error::PlayError;
pub(crate) use play::{Medium, Playing};

/// What gives a figure on a modelled machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    Drawn(Drawn),
    Played(Played),
    Probed(Probed),
    /// The host's own work, without the disk: one thing takes `host.work_ns.NAME`.
    Host {
        work: &'static str,
        /// How much of the figure's unit one thing is.
        things: f64,
    },
    /// Nothing that a model has.
    None {
        why: String,
    },
}

/// A workload and what is read off it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    pub shape: Shape,
    /// Part of the disk that is used, from its start; 0 for all of it.
    pub region_bytes: u64,
    /// How long, on the machine's clock.
    pub runs: Nanos,
    /// The most requests; 0 for no bound.
    pub requests: u64,
    /// What the host does for each request before it issues the next, as a name of `host.work_ns`.
    pub thinks: Option<&'static str>,
    /// Random writes beside it all the while, which are not counted: how many are outstanding, and
    /// the bytes of each.
    pub beside_writes: Option<(u32, u32)>,
    /// Share of requests that the host's page cache answers: the disk never sees them.
    pub cached: f64,
    pub counts: Counts,
}

/// How the requests of a workload come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Files read from start to end through the page cache, side by side.
    Reads {
        streams: u32,
    },
    /// Files written from start to end through the page cache.
    Writes,
    /// A file read, changed and written back.
    Rewrite,
    Random {
        read_percent: u8,
        bytes: u32,
        depth: u32,
    },
    /// From start to end without the page cache, again and again.
    Sequential {
        read_percent: u8,
        bytes: u32,
        depth: u32,
    },
}

/// Requests of a test on a fast disk; more add nothing.
pub const ENOUGH: u64 = 1 << 16;
const WRITE_BACK: u32 = 8;
/// What Linux 2.6 writes back of a file before it turns to another (`MAX_WRITEBACK_PAGES`,
/// mm/page-writeback.c).
const WRITE_BACK_BYTES: u32 = 4 << 20;

impl Shape {
    /// Percentage of reads, bytes of each request, requests outstanding of each stream, streams.
    fn requests(self, model: &Model) -> (u8, u32, u32, u32) {
        let host = model.host();
        match self {
            Self::Reads { streams } => (100, host.request_bytes, host.read_ahead, streams),
            Self::Writes => (0, host.request_bytes, WRITE_BACK, 1),
            Self::Rewrite => (50, WRITE_BACK_BYTES, 1, 1),
            Self::Random { read_percent, bytes, depth }
            | Self::Sequential { read_percent, bytes, depth } => (read_percent, bytes, depth, 1),
        }
    }
}

/// What a figure counts, each second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Counts {
    /// Bytes, each as this many.
    Bytes(f64),
    /// Requests, each as this many.
    Requests(f64),
    /// So many in all, whatever requests they took.
    InAll(f64),
}

impl Drawn {
    /// A workload with nothing beside it.
    pub const fn new(shape: Shape, region_bytes: u64, runs: Nanos, counts: Counts) -> Self {
        Self {
            shape,
            region_bytes,
            runs,
            requests: 0,
            thinks: None,
            beside_writes: None,
            cached: 0.0,
            counts,
        }
    }
}

/// A trace and what is read off its playing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Played {
    /// Its name in `traces/`.
    pub trace: &'static str,
    /// The most requests of it.
    pub requests: u64,
    /// What decides when a request is issued.
    pub pace: Pace,
    /// What the recording's host took for one thing, in nanoseconds, and the name under
    /// `host.work_ns` of what the modelled one takes: it thinks so much longer.
    pub thinks: Option<(&'static str, f64)>,
    pub counts: Counts,
}

impl Played {
    pub const fn whole(trace: &'static str, pace: Pace, counts: Counts) -> Self {
        Self { trace, requests: u64::MAX, pace, thinks: None, counts }
    }
}

/// How long requests of a probe take beside a background: all are random and of 4 KiB, and come at
/// random times (Poisson), whether or not earlier ones are done. Each thread of the background,
/// the probe's reads and the probe's writes have a submission queue of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probed {
    /// Requests of the probe a second, half reads and half writes. Only they are counted.
    pub probe_per_s: f64,
    /// Requests of the background a second, and how many of a hundred are reads.
    pub background_per_s: f64,
    pub background_read_percent: u8,
    /// Threads of the background, and the most that each has outstanding.
    pub threads: u32,
    pub depth: u32,
    /// How long it runs before requests count, and while they do, on the machine's clock.
    pub ramp: Nanos,
    pub runs: Nanos,
}

/// What decides when a request of a trace is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Each when those of its task that it waited for in the recording are done, and the time that
    /// was thought in between has passed.
    Dependent,
    /// The same of a single program, which waited for the kernel's threads too: for the journal.
    OneProgram,
    /// That many at once, as fast as that goes.
    Depth(u32),
    /// As many at once as there were in the recording, as fast as that goes.
    RecordedDepth,
}

/// What a load gave.
pub struct Outcome {
    /// Time on the machine's clock, and the requests.
    pub measurement: Measurement,
    /// What was counted, a second; of a probe, all writes, those of the background too.
    pub per_s: f64,
}

impl Load {
    /// The load if these tunables have these values, and no load if they do not.
    pub fn only_with(self, settings: &Settings, values: &[(&str, &str)]) -> Self {
        let other = values.iter().find(|(name, value)| settings.word(name) != *value);
        other.map_or(self, |(name, value)| {
            let set = settings.word(name);
            let why = format!("a modelled machine plays it with {name}={value} only, not {set}");
            Self::None { why }
        })
    }

    /// Why this machine cannot play it, if it cannot.
    pub fn missing(&self, model: &Model) -> Option<String> {
        match self {
            Self::None { why } => Some(why.clone()),
            Self::Host { work, .. } if !model.host().work_ns.contains_key(*work) => {
                Some(format!("no disk takes part, and the description has no host.work_ns.{work}"))
            }
            _ => None,
        }
    }

    /// Plays it on a new machine.
    ///
    /// # Errors
    /// [`PlayError`]; [`PlayError::Missing`] where [`Load::missing`] says why.
    pub fn play(&self, model: &Model, seed: u64, control: &Control) -> Result<Outcome, PlayError> {
        self.part(model, seed, control, 1.0)
    }

    /// How long playing it will take in real time, from two short pieces: what each has to set up
    /// first is the same in both.
    ///
    /// # Errors
    /// As for [`Load::play`].
    pub fn takes(&self, model: &Model, control: &Control) -> Result<Nanos, PlayError> {
        const SHARES: [f64; 2] = [0.01, 0.05];
        let piece = |share| {
            let begun = Instant::now();
            self.part(model, 1, control, share).map(|_| begun.elapsed().as_secs_f64())
        };
        let [short, long] = [piece(SHARES[0])?, piece(SHARES[1])?];
        let pace = (long - short).max(0.0) / (SHARES[1] - SHARES[0]);
        Ok(Nanos::from_secs_f64(short + pace * (1.0 - SHARES[0])))
    }

    /// Plays this share of it.
    fn part(
        &self,
        model: &Model,
        seed: u64,
        control: &Control,
        share: f64,
    ) -> Result<Outcome, PlayError> {
        let missing = || PlayError::Missing { why: self.missing(model).unwrap_or_default() };
        let work_ns = |work: &str| model.host().work_ns.get(work).copied();
        let (measurement, counts, cached) = match self {
            Self::None { .. } => return Err(missing()),
            Self::Host { work, things } => {
                let mut measurement = Measurement::new(Nanos(1));
                measurement.elapsed = Nanos::from_secs_f64(1.0);
                measurement.cpu_user = measurement.elapsed;
                let per_s = 1e9 * things / work_ns(work).ok_or_else(missing)?;
                return Ok(Outcome { measurement, per_s });
            }
            Self::Drawn(drawn) => {
                let runs = Nanos::from_secs_f64(drawn.runs.as_secs_f64() * share);
                let drawn = Drawn { runs, ..*drawn };
                let measured = play::drawn(model, &drawn, seed, control)?;
                (measured, drawn.counts, drawn.cached)
            }
            Self::Probed(probed) => {
                let runs = Nanos::from_secs_f64(probed.runs.as_secs_f64() * share);
                let probed = Probed { runs, ..*probed };
                let (measurement, per_s) = play::probed(model, &probed, seed, control)?;
                return Ok(Outcome { measurement, per_s });
            }
            Self::Played(played) => {
                let speed = played.thinks.and_then(|(work, ns)| Some(ns / work_ns(work)?));
                let mut machine = model.build(seed);
                let mut playing = Playing::survey(played.trace, played.requests)?;
                playing.shorten(share);
                let pace = (played.pace, speed.unwrap_or(1.0));
                let tags = &mut dispatcher(model.tags());
                let on = Medium::of(model);
                let measured = playing.play(&on, pace, &mut machine, tags, control)?;
                (measured, played.counts, 0.0)
            }
        };
        let per_s = counts.per_s(&measurement, self) / (1.0 - cached);
        Ok(Outcome { measurement, per_s })
    }

    /// What is played, in words.
    pub fn words(&self, model: &Model) -> String {
        match self {
            Self::None { why } => why.clone(),
            Self::Host { work, .. } => {
                format!("no disk takes part: host.work_ns.{work} of the description alone")
            }
            Self::Played(Played { trace, pace, .. }) => {
                let how = match pace {
                    Pace::Dependent => {
                        "each request after those of its task that it waited for, all other waits \
                         as recorded"
                            .to_owned()
                    }
                    Pace::OneProgram => "each request after those it waited for".to_owned(),
                    Pace::Depth(depth) => format!("{depth} requests outstanding"),
                    Pace::RecordedDepth => "at its recorded depth".to_owned(),
                };
                format!("played as the recorded trace {trace}, {how}")
            }
            Self::Probed(probed) => format!(
                "a probe of {} random requests of 4 KiB a second, half of them reads, beside {} a \
                 second, {} % of them reads",
                probed.probe_per_s, probed.background_per_s, probed.background_read_percent
            ),
            Self::Drawn(drawn) => {
                let (read_percent, bytes, depth, streams) = drawn.shape.requests(model);
                let what = match read_percent {
                    100 => "reads".to_owned(),
                    0 => "writes".to_owned(),
                    reads => format!("requests, {reads} % of them reads,"),
                };
                let how = match drawn.shape {
                    Shape::Random { .. } => "random ",
                    _ => "sequential ",
                };
                let each = if streams > 1 {
                    format!(" for each of {streams} files")
                } else {
                    String::new()
                };
                format!(
                    "played as {how}{what} of {}, {depth} outstanding{each}",
                    exact(bytes.into())
                )
            }
        }
    }
}

impl Counts {
    fn per_s(self, measured: &Measurement, load: &Load) -> f64 {
        // Writes beside a workload are none of its requests.
        let beside = matches!(load, Load::Drawn(Drawn { beside_writes: Some(_), .. }));
        let ops: &[Op] = if beside { &[Op::Read] } else { &Op::ALL };
        let sum = |of: fn(&Measurement, Op) -> u64| -> f64 {
            ops.iter().map(|op| of(measured, *op) as f64).sum()
        };
        let all = match self {
            Self::Bytes(each) => each * sum(|m, op| m.op(op).bytes),
            Self::Requests(each) => each * sum(|m, op| m.op(op).requests),
            Self::InAll(things) => things,
        };
        all / measured.elapsed.as_secs_f64()
    }
}
