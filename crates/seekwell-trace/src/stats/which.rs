//! What is computed, and of which devices.

use super::entry::seed_of;
use super::figure::Asked;
use super::policy::Policy;
use crate::formats::{Detail, Format};
use crate::source::{About, Tables};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// What is computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Which figures.
    pub asked: Asked,
    /// Addresses over time too, which only a page shows.
    pub maps: bool,
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
    /// All blocks of all devices, up to 12 GiB of them; no shared cache.
    fn default() -> Self {
        Self {
            asked: Asked::ALL,
            maps: true,
            rate_log2: 0,
            // Tables of them are at least three eighths full: 350 MiB at most.
            most_blocks: 3 << 20,
            policies: Vec::new(),
            shard: Shard::ALL,
        }
    }
}

impl Options {
    pub(super) fn follows_blocks(&self) -> bool {
        self.asked.has_any(Asked::BLOCKS) || !self.policies.is_empty()
    }

    pub(super) fn draws_maps(&self) -> bool {
        self.maps && self.asked.has_all(Asked::MAPS)
    }
}

/// Which devices of a trace are counted: those whose hashed name falls to `index` of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// At least 1.
    pub count: u64,
    /// From 0.
    pub index: u64,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    /// `I/N`, I from 1 to N.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            Some((index.parse::<u64>().ok()?.checked_sub(1)?, count.parse().ok()?))
        });
        let shard = numbers.map(|(index, count)| Self { index, count });
        shard.filter(|shard| shard.is_valid()).ok_or("I/N is wanted, I from 1 to N, as 3/16")
    }
}

/// Far more than there are devices.
const MOST_SHARDS: u64 = 1 << 20;

impl Shard {
    /// All devices.
    pub const ALL: Self = Self { index: 0, count: 1 };

    pub(super) const fn is_valid(self) -> bool {
        self.index < self.count && self.count <= MOST_SHARDS
    }

    /// Part `index` of these devices, split into `count` parts.
    #[must_use]
    pub const fn part(self, index: u64, count: u64) -> Self {
        Self { index: self.index + self.count * index, count: self.count * count }
    }

    /// Whether the device of this identity is one of them.
    pub fn holds(self, identity: &str) -> bool {
        seed_of(identity) % self.count == self.index
    }
}

/// Leaves out those that make a whole, and sorts the others.
pub(super) fn complete(shards: &mut Vec<Shard>) {
    shards.sort_unstable();
    let left = |same: &[Shard]| {
        let each: Vec<&[Shard]> = same.chunk_by(|a, b| a == b).collect();
        let is_whole = each.len() as u64 == same[0].count;
        let wholes = each.iter().map(|one| one.len()).min().filter(|_| is_whole).unwrap_or(0);
        each.into_iter().flat_map(|one| one[wholes..].to_vec()).collect::<Vec<_>>()
    };
    *shards = shards.chunk_by(|a, b| a.count == b.count).flat_map(left).collect();
}

/// Names what is missing beside the first of these, which are sorted and make no whole.
pub(super) fn missing(shards: &[Shard]) -> Option<String> {
    /// Told by name.
    const TOLD: usize = 8;
    let count = shards.first()?.count;
    let is_here = |index: &u64| shards.binary_search(&Shard { count, index: *index }).is_ok();
    let mut all = (0..count).filter(|index| !is_here(index));
    let told: Vec<String> =
        all.by_ref().take(TOLD).map(|index| Shard { count, index }.to_string()).collect();
    let (more, told) = (all.count(), told.join(", "));
    Some(if more == 0 { told } else { format!("{told} and {more} more") })
}

/// What a device is called wherever traces come together: its name as the format has it (a
/// volume's number, a disk), after the host's if the trace has it; for formats that know no
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

/// What a device of a file is called; one that its tables do not name, by its number.
pub(super) fn name_of<'a>(
    device: usize,
    about: &About,
    tables: &'a Tables,
    file: &'a str,
) -> Cow<'a, str> {
    match tables.devices.get(device) {
        Some(known) => identity(&known.name, about, file),
        None => Cow::Owned(format!("device {device}")),
    }
}
