//! Direction and order of requests.

use serde::{Deserialize, Serialize};

/// Which requests of a workload discard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discards {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Each block is discarded, and then written.
    BeforeWrites,
}

impl Discards {
    /// Whether none does.
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// Direction and order of requests, in fio's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rw {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential discards.
    Trim,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random discards.
    RandTrim,
    /// Sequential mix.
    ReadWrite,
    /// Random mix.
    RandRw,
    /// Blocks in sequence, each discarded and then written.
    TrimWrite,
    /// Random blocks, each discarded and then written.
    RandTrimWrite,
}

impl Rw {
    /// All, with what each does, in words.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::Read, "Sequential reads"),
        (Self::Write, "Sequential writes"),
        (Self::Trim, "Sequential discards"),
        (Self::RandRead, "Random reads"),
        (Self::RandWrite, "Random writes"),
        (Self::RandTrim, "Random discards"),
        (Self::ReadWrite, "Sequential reads and writes"),
        (Self::RandRw, "Random reads and writes"),
        (Self::TrimWrite, "Blocks in sequence, each discarded and then written"),
        (Self::RandTrimWrite, "Random blocks, each discarded and then written"),
    ];

    /// The direction and order of a word of fio's.
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "readwrite" { "rw" } else { name };
        Self::ALL.iter().map(|(rw, _)| *rw).find(|rw| rw.name() == name)
    }

    /// That of a share of reads, per cent, or of discards.
    pub const fn of(random: bool, read_percent: u8, discards: Discards) -> Self {
        match (random, discards, read_percent) {
            (false, Discards::All, _) => Self::Trim,
            (true, Discards::All, _) => Self::RandTrim,
            (false, Discards::BeforeWrites, _) => Self::TrimWrite,
            (true, Discards::BeforeWrites, _) => Self::RandTrimWrite,
            (false, Discards::None, 100) => Self::Read,
            (false, Discards::None, 0) => Self::Write,
            (false, Discards::None, _) => Self::ReadWrite,
            (true, Discards::None, 100) => Self::RandRead,
            (true, Discards::None, 0) => Self::RandWrite,
            (true, Discards::None, _) => Self::RandRw,
        }
    }

    /// Which of its requests discard.
    pub const fn discards(self) -> Discards {
        match self {
            Self::Trim | Self::RandTrim => Discards::All,
            Self::TrimWrite | Self::RandTrimWrite => Discards::BeforeWrites,
            _ => Discards::None,
        }
    }

    /// Whether requests are in random order.
    pub const fn is_random(self) -> bool {
        matches!(
            self,
            Self::RandRead | Self::RandWrite | Self::RandTrim | Self::RandRw | Self::RandTrimWrite
        )
    }

    /// The word fio has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::RandTrim => "randtrim",
            Self::ReadWrite => "rw",
            Self::RandRw => "randrw",
            Self::TrimWrite => "trimwrite",
            Self::RandTrimWrite => "randtrimwrite",
        }
    }
}
