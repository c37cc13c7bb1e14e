//! An SD card or eMMC.

use crate::model::Fact;
use crate::reader::{Reader, show};
use crate::sysfs::name;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A card or soldered flash behind an MMC host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MmcFacts {
    /// `SD`, `MMC`, `SDcombo`.
    pub kind: Option<Fact<String>>,
    /// The name the maker gave it.
    pub name: Option<Fact<String>>,
    /// Wear of the two kinds of memory in tenths: 1 is 0 to 10 %, 10 is 90 to 100 %, 11 is past it.
    pub life_time: Option<Fact<(u64, u64)>>,
    /// Reserve blocks: 1 normal, 2 80 % used, 3 90 % used.
    pub pre_eol_info: Option<Fact<u64>>,
    /// Command queueing is in use; `None` if the card has none.
    pub command_queue: Option<Fact<bool>>,
}

pub(super) fn read(r: &mut Reader<'_>, dir: &Path, stations: &[PathBuf]) -> Option<MmcFacts> {
    stations.iter().find(|s| name(s) == "mmc_host")?;
    let device = dir.join("device");
    Some(MmcFacts {
        kind: r.optional(&device.join("type"), "kind of card"),
        name: r.optional(&device.join("name"), "card name"),
        life_time: life_time(r, &device.join("life_time")),
        pre_eol_info: r.hex(&device.join("pre_eol_info")),
        command_queue: r.hex(&device.join("cmdq_en")).map(|f| Fact::new(f.value != 0, f.from)),
    })
}

/// Two numbers, `0x01 0x0a`; 0 means not defined.
fn life_time(r: &Reader<'_>, path: &Path) -> Option<Fact<(u64, u64)>> {
    let text = r.hint(path)?;
    let mut numbers =
        text.split_whitespace().map(|w| u64::from_str_radix(w.strip_prefix("0x").unwrap_or(w), 16));
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(a)), Some(Ok(b)), None) => Some(Fact::new((a, b), show(path))),
        _ => None,
    }
}
