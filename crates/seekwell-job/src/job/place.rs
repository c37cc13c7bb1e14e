//! Which files a job uses, and where in them.

use std::path::PathBuf;

/// A length that may depend on what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// This many bytes.
    Bytes(u64),
    /// This share of the file or device, 0 to 100.
    Percent(u8),
}

impl Amount {
    /// In bytes, where the whole is `whole` bytes.
    pub const fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(p) => (whole as u128 * p as u128 / 100) as u64,
        }
    }

    /// Whether it is nothing at all.
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::Bytes(0) | Self::Percent(0))
    }
}

/// A value, or any from `min` to `max` where these differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FixedRange<T> {
    /// The smallest.
    pub min: T,
    /// The largest.
    pub max: T,
}

/// Which of several files the next request goes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServiceOrder {
    /// One after the other.
    RoundRobin,
    /// Each file to its end before the next.
    Sequential,
    /// Any, with equal chance.
    Random,
    /// Drawn by Zipf's law with this theta.
    Zipf(f64),
    /// Drawn by Pareto's law with this power.
    Pareto(f64),
    /// Drawn around the middle with this deviation, in percent of the number of files.
    Normal(f64),
}

/// Which file comes next, and after how many requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Service {
    /// Which.
    pub order: ServiceOrder,
    /// Requests to one file before the next is chosen.
    pub every: u32,
}

/// How room is made in a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallocate {
    /// Not at all: it is written out.
    None,
    /// By the file system where it can, else not.
    Native,
    /// `posix_fallocate`.
    Posix,
    /// `fallocate` that keeps the size.
    Keep,
    /// Only the size is set.
    Truncate,
}

/// How and when files are made and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Creation {
    /// How room is made.
    pub fallocate: Fallocate,
    /// Only made: nothing is measured (`create_only`).
    pub only: bool,
    /// A file that is not there may be made (`allow_file_create`).
    pub allowed: bool,
    /// Written out whole before the run (`overwrite`).
    pub overwrite: bool,
    /// Removed after each loop (`unlink_each_loop`).
    pub unlink_each_loop: bool,
}

/// The files a job uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Files {
    /// Names given by `filename`; all clones share them. Empty: names are made by `format`.
    pub names: Vec<PathBuf>,
    /// Where made and relative names are; clone n uses number n modulo their count. Empty: the
    /// working folder.
    pub directories: Vec<PathBuf>,
    /// How names are made: `$jobname`, `$jobnum`, `$filenum` and `$clientuid` are replaced.
    pub format: String,
    /// Files of one clone; where names are given, their number.
    pub count: u32,
    /// The most open at the same time.
    pub open: u32,
    /// Which file the next request goes to.
    pub service: Service,
    /// Size of each file (`filesize`); none divides [`super::Extent::size`] among them.
    pub file_bytes: Option<FixedRange<u64>>,
    /// Requests begin at the end of what is there (`file_append`).
    pub append: bool,
    /// What the page cache holds of a file is dropped before the run.
    pub invalidate: bool,
    /// Files are read once before the run.
    pub pre_read: bool,
    /// How and when files are made.
    pub creation: Creation,
}

/// `zonemode=strided`: so much is read or written, then so much skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strided {
    /// Transferred in each zone, in bytes.
    pub zone_bytes: u64,
    /// Length of a zone, in bytes; at least `zone_bytes`.
    pub range_bytes: u64,
    /// Left out between zones, in bytes.
    pub skip_bytes: u64,
}

/// `zonemode=zbd`: the files are zoned devices, whose write pointers are followed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zoned {
    /// The expected zone size of the device, in bytes; `None` accepts any.
    pub zone_bytes: Option<u64>,
    /// Reads may go beyond write pointers.
    pub read_beyond: bool,
    /// The most zones open on the device at once; `None` for the device's own limit.
    pub most_open: Option<u32>,
    /// The most that each clone may have open at once.
    pub most_open_each: Option<u32>,
    /// The device's own limit does not apply.
    pub past_limits: bool,
    /// Zones are reset early once this share of them is written.
    pub reset_from: f64,
    /// They are reset after this many writes; `None` if only full zones are reset.
    pub reset_every: Option<u64>,
}
