//! What is computed, and of which devices.

use super::entry::seed_of;
use super::policy::Policy;
use crate::formats::{Detail, Format};
use crate::source::About;
use std::borrow::Cow;
use std::str::FromStr;

/// What is computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Reuse distances and the miss-ratio curve too.
    pub reuse: bool,
    /// One block in 2^k is followed, at most 2^32; 0 follows all. Only equal rates can be merged.
    pub rate_log2: u32,
    /// Blocks followed at most, of all devices together.
    pub most_blocks: usize,
    /// Policies of a cache that all devices share, of which a curve is wanted.
    pub policies: Vec<Policy>,
    /// Which devices are counted.
    pub shard: Shard,
}

impl Default for Options {
    /// All blocks of all devices, up to 16 GiB of them; no shared cache.
    fn default() -> Self {
        Self {
            reuse: true,
            rate_log2: 0,
            most_blocks: 1 << 22,
            policies: Vec::new(),
            shard: Shard::ALL,
        }
    }
}

/// Which devices of a trace are counted: those whose hashed name falls to `index` of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    pub index: u64,
    /// At least 1.
    pub count: u64,
}

impl FromStr for Shard {
    type Err = &'static str;

    /// `I/N`, I from 1 to N.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            Some((index.parse::<u64>().ok()?.checked_sub(1)?, count.parse().ok()?))
        });
        let fits = |&(index, count): &(u64, u64)| index < count && count <= MOST_SHARDS;
        let (index, count) = numbers.filter(fits).ok_or("I/N is wanted, I from 1 to N, as 3/16")?;
        Ok(Self { index, count })
    }
}

/// Far more than there are devices.
const MOST_SHARDS: u64 = 1 << 20;

impl Shard {
    /// All devices.
    pub const ALL: Self = Self { index: 0, count: 1 };

    /// One of so many parts of these devices.
    #[must_use]
    pub const fn part(self, index: u64, count: u64) -> Self {
        Self { index: self.index + self.count * index, count: self.count * count }
    }

    /// Whether the device of this identity is one of them.
    pub fn holds(self, identity: &str) -> bool {
        seed_of(identity) % self.count == self.index
    }
}

/// What a device is called wherever traces come together: its name as the format has it (a
/// volume's number, a disk), after the host's where the trace tells it; for formats that know no
/// devices, the name of the file without its ending.
pub fn identity<'a>(name: &'a str, about: &About, file: &'a str) -> Cow<'a, str> {
    let knows = Format::named(&about.format).is_none_or(|format| format.holds.has(Detail::Device));
    if name.is_empty() || !knows {
        let stem = file.rsplit('/').next().unwrap_or(file);
        return Cow::Borrowed(stem.split_once('.').map_or(stem, |(stem, _)| stem));
    }
    match about.host.as_deref().filter(|host| !host.is_empty()) {
        Some(host) if !name.starts_with(&format!("{host}/")) => {
            Cow::Owned(format!("{host}/{name}"))
        }
        _ => Cow::Borrowed(name),
    }
}
