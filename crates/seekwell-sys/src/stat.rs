//! What a block device counted of its own I/O: `/sys/dev/block/M:m/stat`
//! (Documentation/admin-guide/iostats.rst).

use crate::mounts::DevId;
use crate::view::{View, ViewError};
use std::iter::Sum;
use std::ops::Add;

/// Unit of the counters, whatever the device's block size.
const SECTOR: u64 = 512;

/// Counters since boot; they wrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskCounters {
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Flushes completed; 0 before Linux 5.5, which did not count them.
    pub flushes: u64,
    /// Time with at least one request outstanding, in milliseconds.
    pub busy_ms: u64,
    /// Time flushes took, in milliseconds; most kernels do not count it as busy. 0 before Linux
    /// 5.5.
    pub flush_ms: u64,
}

impl DiskCounters {
    /// Reads them for one device or partition.
    ///
    /// # Errors
    /// [`ViewError`], malformed when there are fewer than the eleven fields of the oldest layout.
    pub fn read(view: &dyn View, dev: DevId) -> Result<Self, ViewError> {
        let path = dev.sysfs().join("stat");
        let text = view.text(&path)?;
        let fields: Vec<u64> =
            text.split_ascii_whitespace().map_while(|f| f.parse().ok()).collect();
        if fields.len() < 11 {
            let found = text.chars().take(80).collect();
            return Err(ViewError::Malformed { path, expected: "at least 11 counters", found });
        }
        Ok(Self {
            read_bytes: fields[2].wrapping_mul(SECTOR),
            written_bytes: fields[6].wrapping_mul(SECTOR),
            flushes: fields.get(15).copied().unwrap_or(0),
            busy_ms: fields[9],
            flush_ms: fields.get(16).copied().unwrap_or(0),
        })
    }

    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            read_bytes: self.read_bytes.wrapping_sub(earlier.read_bytes),
            written_bytes: self.written_bytes.wrapping_sub(earlier.written_bytes),
            flushes: self.flushes.wrapping_sub(earlier.flushes),
            busy_ms: self.busy_ms.wrapping_sub(earlier.busy_ms),
            flush_ms: self.flush_ms.wrapping_sub(earlier.flush_ms),
        }
    }
}

impl Add for DiskCounters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            read_bytes: self.read_bytes.wrapping_add(other.read_bytes),
            written_bytes: self.written_bytes.wrapping_add(other.written_bytes),
            flushes: self.flushes.wrapping_add(other.flushes),
            busy_ms: self.busy_ms.wrapping_add(other.busy_ms),
            flush_ms: self.flush_ms.wrapping_add(other.flush_ms),
        }
    }
}

impl Sum for DiskCounters {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Live;

    fn read(stat: &str) -> Result<DiskCounters, ViewError> {
        let root = std::env::temp_dir().join(format!(
            "seekwell-stat-{}-{}",
            std::process::id(),
            stat.len()
        ));
        let dir = root.join("sys/dev/block/8:0");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("stat"), stat).unwrap();
        let counters = DiskCounters::read(&Live::rooted(&root), DevId { major: 8, minor: 0 });
        std::fs::remove_dir_all(&root).unwrap();
        counters
    }

    #[test]
    fn sectors_are_512_bytes_and_flushes_the_sixteenth_field() {
        let now = read(" 10 0 80 5 20 0 160 9 0 14 14 0 0 0 0 7 3\n").unwrap();
        let expect = DiskCounters {
            read_bytes: 40960,
            written_bytes: 81920,
            flushes: 7,
            busy_ms: 14,
            flush_ms: 3,
        };
        assert_eq!(now, expect);
        let old = read("10 0 80 5 20 0 160 9 0 14 14").unwrap();
        assert_eq!(old.flushes, 0);
        assert_eq!(now.since(&old).flushes, 7);
    }

    #[test]
    fn a_table_cut_short_is_malformed() {
        assert!(matches!(read("1 2 3"), Err(ViewError::Malformed { .. })));
        assert!(matches!(read("1 2 x 4 5 6 7 8 9 10 11 12"), Err(ViewError::Malformed { .. })));
    }
}
