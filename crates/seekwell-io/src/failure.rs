//! How one request failed.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FailureKind {
    /// The kernel answered with this errno.
    Errno {
        /// The number.
        errno: i32,
    },
    /// The drive completed a passthrough command with this status.
    Nvme {
        /// Its code in bits 7:0 and its type in bits 10:8.
        status: u16,
    },
    /// Fewer bytes were moved than asked for.
    Short {
        /// Bytes moved.
        moved: u32,
    },
}

impl FailureKind {
    /// The errno; what has none is an input/output error.
    pub const fn errno(self) -> i32 {
        match self {
            Self::Errno { errno } => errno,
            Self::Nvme { .. } | Self::Short { .. } => libc::EIO,
        }
    }

    /// Whether the device itself is no longer there.
    pub const fn is_device_gone(self) -> bool {
        is_device_gone(self.errno())
    }

    /// Whether the file system or a quota is full, which is no fault of the disk.
    pub const fn is_no_space(self) -> bool {
        matches!(self.errno(), libc::ENOSPC | libc::EDQUOT)
    }
}

/// Whether an errno says that the device itself is no longer there.
pub const fn is_device_gone(errno: i32) -> bool {
    matches!(errno, libc::ENXIO | libc::ENODEV)
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Errno { errno } => std::io::Error::from_raw_os_error(*errno).fmt(f),
            Self::Nvme { status } => {
                let (kind, code) = (status >> 8, status & 0xff);
                write!(f, "the drive answered with NVMe status type {kind:x}h, code {code:02x}h")?;
                let known = STATUSES.iter().find(|(known, _)| known == status);
                known.map_or(Ok(()), |(_, words)| write!(f, " ({words})"))
            }
            Self::Short { moved } => write!(f, "only {moved} bytes were moved"),
        }
    }
}

/// Statuses of reads, writes, flushes and deallocations (NVM Express Base 2.0, 3.3.3.2,
/// and NVM Command Set 1.0).
const STATUSES: &[(u16, &str)] = &[
    (0x001, "invalid command opcode"),
    (0x002, "invalid field in the command"),
    (0x004, "data transfer error"),
    (0x005, "aborted by power loss"),
    (0x006, "internal error"),
    (0x007, "command aborted"),
    (0x00b, "the namespace or its format is invalid"),
    (0x015, "the operation is denied"),
    (0x020, "the namespace is write-protected"),
    (0x080, "LBA out of range"),
    (0x081, "capacity exceeded"),
    (0x082, "the namespace is not ready"),
    (0x083, "reservation conflict"),
    (0x182, "the range is read-only"),
    (0x280, "a write fault"),
    (0x281, "an unrecovered read error"),
    (0x286, "access is denied"),
    (0x287, "the block is deallocated or was never written"),
    (0x370, "path error"),
    (0x371, "aborted by the host"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_of_a_drive_is_told_in_words_and_is_an_input_output_error() {
        let failure = FailureKind::Nvme { status: 0x281 };
        let text = "the drive answered with NVMe status type 2h, code 81h \
                    (an unrecovered read error)";
        assert_eq!(failure.to_string(), text);
        assert_eq!(failure.errno(), libc::EIO);
        let unknown = FailureKind::Nvme { status: 0x7c0 }.to_string();
        assert!(unknown.ends_with("type 7h, code c0h"), "{unknown}");
    }
}
