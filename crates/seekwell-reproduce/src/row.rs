//! One published figure and how its modelled counterpart comes about.

use seekwell_io::request::Op;
use seekwell_suites::load::{Load, Outcome};

/// A modelled figure within this share of the published one is met.
pub const NEAR: f64 = 0.15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Higher,
    Lower,
}

#[derive(Debug, Clone)]
pub struct Row {
    /// The document: `R0` to `R6`.
    pub document: &'static str,
    /// What was measured: the same in all configurations of the document.
    pub what: String,
    pub configuration: &'static str,
    /// The machine that models it, by the name of its description.
    pub machine: &'static str,
    pub unit: &'static str,
    pub better: Better,
    pub published: f64,
    pub how: How,
}

impl Row {
    /// The figures of one test: configuration, machine, published.
    pub(crate) fn each(
        document: &'static str,
        (what, unit, better): (&str, &'static str, Better),
        how: &How,
        figures: impl IntoIterator<Item = (&'static str, &'static str, f64)>,
    ) -> Vec<Self> {
        let row = |(configuration, machine, published)| Self {
            document,
            what: what.to_owned(),
            configuration,
            machine,
            unit,
            better,
            published,
            how: how.clone(),
        };
        figures.into_iter().map(row).collect()
    }

    /// Whose the workload's inputs are: the document's own, or assumed here. `None` if there is
    /// no workload.
    pub const fn inputs(&self) -> Option<&'static str> {
        if let How::Load { inputs, .. } = &self.how { *inputs } else { None }
    }

    /// `R0 sequential create, AHCI`: what fitted parameters name.
    pub fn id(&self) -> String {
        format!("{} {}, {}", self.document, self.what, self.configuration)
    }
}

#[derive(Debug, Clone)]
pub enum How {
    /// What a suite's step asks of the machine.
    Load {
        load: Load,
        reads: Reading,
        /// Whose its inputs are, if it has any.
        inputs: Option<&'static str>,
    },
    /// Share of the processor in percent, of another row of the same configuration: what
    /// `host.work_ns.NAME` takes of each of its things.
    Processor {
        /// The other row's `what`.
        of: &'static str,
        work: &'static str,
        /// Things in one of the other row's unit.
        each: f64,
    },
    /// A property of a trace as it was recorded here, on a machine of its own.
    Recorded {
        /// Its name in `traces/`.
        trace: &'static str,
        property: Property,
    },
    /// No model predicts it.
    NotModelled { why: &'static str },
}

/// How a figure is read off what a load gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// What it counts each second, divided by this.
    Per(f64),
    /// The seconds that this many of what it counts take.
    SecondsOf(f64),
    /// Response time of requests of a kind, in microseconds: the quantile.
    Micros(Op, f64),
}

impl Reading {
    /// `None` if too few requests were counted for the quantile.
    pub fn of(self, outcome: &Outcome) -> Option<f64> {
        Some(match self {
            Self::Per(unit) => outcome.per_s / unit,
            Self::SecondsOf(things) => things / outcome.per_s,
            Self::Micros(op, q) => {
                outcome.measurement.op(op).response.quantile(q)?.as_secs_f64() * 1e6
            }
        })
    }

    /// How far a modelled figure may be from the published one and is near: of rare events twice as
    /// far as of others.
    pub const fn near(self) -> f64 {
        match self {
            Self::Micros(_, q) if q > 0.5 => 2.0 * NEAR,
            _ => NEAR,
        }
    }
}

/// What a recording shows by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    /// Mean number of requests between arrival and completion, over time.
    Queue,
    /// Bytes read, of all, in percent.
    ReadPercent,
    /// Bytes a second, in MB.
    MegabytesPerSecond,
}
