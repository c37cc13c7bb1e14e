//! One published figure and how its modelled counterpart comes about.

use seekwell_io::units::Nanos;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// A larger figure.
    Higher,
    /// A smaller figure.
    Lower,
}

/// One figure as it was published.
#[derive(Debug, Clone)]
pub struct Row {
    /// The document: `R0` to `R4`.
    pub document: &'static str,
    /// What was measured: the same in all configurations of the document.
    pub what: String,
    pub configuration: &'static str,
    /// The machine that models it, by the name of its description.
    pub machine: &'static str,
    /// Unit of both figures.
    pub unit: &'static str,
    pub better: Better,
    pub published: f64,
    /// How the modelled one comes about.
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
        match &self.how {
            How::Drawn(Drawn { inputs, .. }) | How::Played(Played { inputs, .. }) => Some(*inputs),
            _ => None,
        }
    }

    /// `R0 sequential create, AHCI`: what fitted parameters name.
    pub fn id(&self) -> String {
        format!("{} {}, {}", self.document, self.what, self.configuration)
    }
}

/// Where a modelled figure comes from.
#[derive(Debug, Clone)]
pub enum How {
    /// Requests drawn from a workload.
    Drawn(Drawn),
    /// A recorded trace, played.
    Played(Played),
    /// The host's own work, which no disk takes part in: one thing takes `host.work_ns.NAME`.
    Host {
        work: &'static str,
        /// The figure of one that takes a second.
        per_s: f64,
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

/// A workload and what is read off it.
#[derive(Debug, Clone, Copy)]
pub struct Drawn {
    pub is_random: bool,
    /// Share of reads in percent.
    pub read_percent: u8,
    pub bytes: u32,
    /// Requests outstanding.
    pub depth: u32,
    /// Part of the disk that is used; 0 for all of it.
    pub region_bytes: u64,
    /// Where it begins, as a share of the disk in percent.
    pub from_percent: u8,
    /// How long, on the machine's clock.
    pub runs: Nanos,
    /// What the host does for each request before it issues the next, as a name of `host.work_ns`.
    pub thinks: Option<&'static str>,
    /// Writes at random beside it all the while, which are not counted: how many are outstanding,
    /// and the bytes of each.
    pub beside_writes: Option<(u32, u32)>,
    /// Share of requests, in percent, that the host's page cache answers: the disk never sees them.
    pub cached_percent: u8,
    pub reads_off: Rate,
    /// Whose these values are: the document's own, or assumed here.
    pub inputs: &'static str,
}

/// What is read off a workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Bytes a second, divided by this.
    BytesPer(f64),
    /// Requests a second, divided by this.
    RequestsPer(f64),
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

/// A trace and what is read off its playing.
#[derive(Debug, Clone, Copy)]
pub struct Played {
    /// Its name in `traces/`.
    pub trace: &'static str,
    /// What decides when a request is issued.
    pub pace: Pace,
    /// What is read off the time it takes.
    pub figure: Figure,
    /// What the recording's host took for one thing, in nanoseconds, and the name under
    /// `host.work_ns` of what the modelled one takes: it thinks so much longer.
    pub thinks: Option<(&'static str, f64)>,
    /// What of it is the document's own, and what assumed here.
    pub inputs: &'static str,
}

/// What decides when a request of a trace is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Each when those it waited for in the recording are done, and the time that was thought in
    /// between has passed.
    Dependent,
    /// That many at once, as fast as that goes.
    Depth(u32),
    /// As many at once as there were in the recording, as fast as that goes.
    RecordedDepth,
}

/// What is read off the time a trace takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// This many things were done in that time: their number a second.
    PerSecond(f64),
    /// The trace is this share of the whole: the whole's time in seconds.
    SecondsOf(f64),
    RequestsPerSecond,
}
