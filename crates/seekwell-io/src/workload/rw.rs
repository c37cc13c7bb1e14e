//! Direction and order of requests.

use serde::{Deserialize, Serialize};

/// Direction and order of requests, in fio's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rw {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential mix.
    ReadWrite,
    /// Random mix.
    RandRw,
}

impl Rw {
    /// All, with what each does, in words.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Read, "Sequential reads"),
        (Self::Write, "Sequential writes"),
        (Self::RandRead, "Random reads"),
        (Self::RandWrite, "Random writes"),
        (Self::ReadWrite, "Sequential reads and writes"),
        (Self::RandRw, "Random reads and writes"),
    ];

    /// The direction and order of a word of fio's.
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "readwrite" { "rw" } else { name };
        Self::ALL.iter().map(|(rw, _)| *rw).find(|rw| rw.name() == name)
    }

    /// Those of a share of reads, per cent.
    pub const fn of(random: bool, read_percent: u8) -> Self {
        match (random, read_percent) {
            (false, 100) => Self::Read,
            (false, 0) => Self::Write,
            (false, _) => Self::ReadWrite,
            (true, 100) => Self::RandRead,
            (true, 0) => Self::RandWrite,
            (true, _) => Self::RandRw,
        }
    }

    /// Whether requests are in random order.
    pub const fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
    }

    /// The word fio has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::ReadWrite => "rw",
            Self::RandRw => "randrw",
        }
    }
}
