//! Which figures are asked for.

use std::fmt;

/// Figures that are gathered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Figure {
    /// How often blocks come back, and what a cache would miss.
    Reuse,
    /// Requests, operations, bytes, rates, what is made durable.
    Counts,
    /// How large reads and writes are.
    Sizes,
    /// Gaps and bursts.
    Arrivals,
    /// How many requests are under way.
    Queue,
    /// How long they take.
    Latencies,
    /// In which order addresses come.
    Order,
    /// Which blocks are touched, and what follows on what in them.
    Space,
    /// Where reads and writes begin and end.
    Alignment,
    /// When nothing is to be done.
    Idle,
    /// Counts of each device; with [`Self::Order`] what is sequential, with [`Self::Latencies`] how
    /// long it takes.
    Devices,
    /// The same of each process.
    Processes,
}

impl Figure {
    /// All of them, in the order of the document.
    pub const ALL: [Self; 12] = [
        Self::Counts,
        Self::Sizes,
        Self::Arrivals,
        Self::Queue,
        Self::Latencies,
        Self::Order,
        Self::Space,
        Self::Reuse,
        Self::Alignment,
        Self::Idle,
        Self::Devices,
        Self::Processes,
    ];

    /// As `--only` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            other => other.keys()[0],
        }
    }

    /// The keys it has in the document, the main one first.
    pub const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Counts => &[
                "requests",
                "other_commands",
                "failed",
                "duration_ns",
                "out_of_order",
                "operations",
                "read_share",
                "read_bytes_share",
                "requests_per_s",
                "bytes_per_s",
                "durability",
            ],
            Self::Sizes => &["sizes"],
            Self::Arrivals => &["arrivals"],
            Self::Queue => &["queue", "device_queue"],
            Self::Latencies => &["latencies"],
            Self::Order => &["order"],
            Self::Space => &["space", "succession"],
            Self::Reuse => &["reuse"],
            Self::Alignment => &["alignment"],
            Self::Idle => &["idle"],
            Self::Devices => &["devices"],
            Self::Processes => &["processes"],
        }
    }
}

/// Some figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked(u16);

impl Asked {
    /// All of them.
    pub const ALL: Self = Self::of(&Figure::ALL);
    /// Any of these needs arrivals on a clock that never goes back.
    pub(super) const TIMED: Self =
        Self::of(&[Figure::Counts, Figure::Arrivals, Figure::Queue, Figure::Idle]);
    /// Any of these needs requests in turn with those before them.
    pub(super) const PLACED: Self = Self::of(&[Figure::Order, Figure::Devices, Figure::Processes]);
    /// Any of these needs to know when requests ended.
    pub(super) const ENDED: Self = Self::of(&[Figure::Queue, Figure::Idle]);
    /// Any of these needs blocks.
    pub(super) const BLOCKS: Self = Self::of(&[Figure::Space, Figure::Reuse]);
    /// With all of these the load over time is drawn.
    pub(super) const COURSE: Self = Self::of(&[Figure::Counts, Figure::Arrivals, Figure::Queue]);
    /// With all of these addresses over time are drawn.
    pub(super) const MAPS: Self = Self::of(&[Figure::Counts, Figure::Order]);

    /// These figures.
    pub const fn of(figures: &[Figure]) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < figures.len() {
            set |= 1 << figures[at] as u16;
            at += 1;
        }
        Self(set)
    }

    /// These without one.
    #[must_use]
    pub const fn without(self, figure: Figure) -> Self {
        Self(self.0 & !(1 << figure as u16))
    }

    /// Whether one is asked for.
    pub const fn has(self, figure: Figure) -> bool {
        self.0 >> figure as u16 & 1 == 1
    }

    pub(super) const fn has_any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }

    /// Whether all of these are asked for.
    pub const fn has_all(self, of: Self) -> bool {
        self.0 & of.0 == of.0
    }

    /// How parts have it: at first they only said whether [`Figure::Reuse`] is there.
    pub(super) const fn code(self) -> u64 {
        (self.0 ^ Self::ALL.without(Figure::Reuse).0) as u64
    }

    pub(super) fn of_code(code: u64) -> Option<Self> {
        let code = u16::try_from(code).ok().filter(|code| *code <= Self::ALL.0)?;
        Some(Self(code ^ Self::ALL.without(Figure::Reuse).0))
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = Figure::ALL.into_iter().filter(|figure| self.has(*figure));
        f.write_str(&asked.map(Figure::name).collect::<Vec<_>>().join(","))
    }
}
