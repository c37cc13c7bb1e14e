//! One published figure and how its modelled counterpart comes about.

use seekwell_suites::load::Load;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Higher,
    Lower,
}

#[derive(Debug, Clone)]
pub struct Row {
    /// The document: `R0` to `R4`.
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

    /// Whose the workload's inputs are: the document's own, or assumed here. `None` where there is
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
        /// Whose its inputs are, where it has any.
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
    /// No model tells it.
    NotModelled { why: &'static str },
}

/// How a figure is read off what a load counts each second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// Divided by this.
    Per(f64),
    /// The seconds that this many take.
    SecondsOf(f64),
}

impl Reading {
    pub fn of(self, per_s: f64) -> f64 {
        match self {
            Self::Per(unit) => per_s / unit,
            Self::SecondsOf(things) => things / per_s,
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
