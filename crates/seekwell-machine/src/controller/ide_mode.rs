//! Transfer modes of parallel ATA and their cycle times.

use serde::{Deserialize, Serialize};

/// A transfer mode: who moves the words, and how fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdeMode {
    /// The processor moves each word; 3.3 MB/s at the cable.
    Pio0,
    /// 5.2 MB/s.
    Pio1,
    /// 8.3 MB/s.
    Pio2,
    /// 11.1 MB/s.
    Pio3,
    /// 16.7 MB/s.
    Pio4,
    /// The controller moves the words; 4.2 MB/s.
    Mwdma0,
    /// 13.3 MB/s.
    Mwdma1,
    /// 16.7 MB/s.
    Mwdma2,
    /// A word at each edge of the strobe, with a checksum; 16.7 MB/s.
    Udma0,
    /// 25 MB/s.
    Udma1,
    /// 33.3 MB/s.
    Udma2,
    /// 44.4 MB/s.
    Udma3,
    /// 66.7 MB/s.
    Udma4,
    /// 100 MB/s.
    Udma5,
    /// 133 MB/s.
    Udma6,
}

impl IdeMode {
    /// Time of one word of two bytes at the cable, in nanoseconds.
    pub const fn cycle_ns(self) -> u64 {
        match self {
            Self::Pio0 => 600,
            Self::Pio1 => 383,
            Self::Pio2 => 240,
            Self::Pio3 => 180,
            Self::Pio4 | Self::Mwdma2 | Self::Udma0 => 120,
            Self::Mwdma0 => 480,
            Self::Mwdma1 => 150,
            Self::Udma1 => 80,
            Self::Udma2 => 60,
            Self::Udma3 => 45,
            Self::Udma4 => 30,
            Self::Udma5 => 20,
            Self::Udma6 => 15,
        }
    }

    /// Time of one access to a register of eight bits, in nanoseconds. A device that does DMA is
    /// taken to do its registers in PIO 4.
    pub const fn register_cycle_ns(self) -> u64 {
        match self {
            Self::Pio0 => 600,
            Self::Pio1 => 383,
            Self::Pio2 => 330,
            Self::Pio3 => 180,
            _ => 120,
        }
    }

    /// Whether the processor moves the words.
    pub const fn is_pio(self) -> bool {
        matches!(self, Self::Pio0 | Self::Pio1 | Self::Pio2 | Self::Pio3 | Self::Pio4)
    }
}

/// How wide the processor's accesses to the data port are (`hdparm -c` 0, 1 and 3). The cable has
/// sixteen bits, so that a wide access is two cycles there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PortWidth {
    /// Two bytes.
    Bits16,
    /// Four bytes.
    Bits32,
    /// Four bytes, after a sequence of three register accesses at each block.
    Bits32Sync,
}
