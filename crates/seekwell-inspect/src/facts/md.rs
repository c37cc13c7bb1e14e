//! A software RAID.

use crate::model::Fact;
use crate::reader::Reader;
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MdFacts {
    /// `raid1`, `raid5` …
    pub level: Option<Fact<String>>,
    /// Members it should have.
    pub raid_disks: Option<Fact<u64>>,
    pub degraded: Option<Fact<u64>>,
    /// `clean`, `active`, `readonly`, `read-auto`, `inactive` …
    pub array_state: Option<Fact<String>>,
    /// `idle`, `resync`, `recover`, `check`, `repair`, `reshape`.
    pub sync_action: Option<Fact<String>>,
    /// `done / all` in sectors, while something runs.
    pub sync_completed: Option<Fact<String>>,
    /// How it stays consistent: `resync`, `bitmap`, `journal`, `ppl`.
    pub consistency_policy: Option<Fact<String>>,
    /// Sectors found different by the last check.
    pub mismatches: Option<Fact<u64>>,
    /// Bytes of a chunk; 0 of a mirror.
    pub chunk_bytes: Option<Fact<u64>>,
    /// Stripes kept in memory, of RAID 4, 5 and 6.
    pub stripe_cache: Option<Fact<u64>>,
    /// Members with their states: `sda1: in_sync`.
    pub members: Vec<(String, Fact<String>)>,
}

pub(super) fn read(r: &mut Reader<'_>, dir: &Path) -> Option<MdFacts> {
    let md = dir.join("md");
    if !r.view.exists(&md) {
        return None;
    }
    let at = |file: &str| md.join(file);
    let mut facts = MdFacts {
        level: r.optional(&at("level"), "RAID level"),
        raid_disks: r.count(&at("raid_disks"), "members"),
        degraded: r.count(&at("degraded"), "missing members"),
        array_state: r.optional(&at("array_state"), "state of the array"),
        sync_action: r.optional(&at("sync_action"), "what the array does"),
        sync_completed: r.optional(&at("sync_completed"), "progress"),
        consistency_policy: r.optional(&at("consistency_policy"), "consistency policy"),
        mismatches: r.count(&at("mismatch_cnt"), "mismatches"),
        chunk_bytes: r.count(&at("chunk_size"), "chunk size"),
        stripe_cache: r.count(&at("stripe_cache_size"), "stripe cache"),
        members: Vec::new(),
    };
    for name in r.names(&md).into_iter().filter(|n| n.starts_with("dev-")) {
        if let Some(state) = r.optional(&md.join(&name).join("state"), "state of a member") {
            facts.members.push((name.trim_start_matches("dev-").to_owned(), state));
        }
    }
    Some(facts)
}
