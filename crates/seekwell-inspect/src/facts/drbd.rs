//! A disk mirrored over the network (`drivers/block/drbd/drbd_proc.c` of the kernel, which has
//! DRBD 8.4; the table of DRBD 9 names no device).

use crate::model::Fact;
use crate::reader::{Need, Reader, clean, show};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The state of a mirror; fields that the kernel does not report are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DrbdState {
    /// `Connected`, `WFConnection`, `StandAlone`, `SyncSource`, `SyncTarget` …
    pub connection: String,
    /// `Primary`, `Secondary`.
    pub role: String,
    /// Of the disk here: `UpToDate`, `Inconsistent`, `Diskless` …
    pub disk: String,
    /// Of the peer's disk: `UpToDate`, `DUnknown` …
    pub peer_disk: String,
    /// When a write is complete: `A` once it is on its way, `B` once the peer has it in memory, `C`
    /// once it is on the peer's disk.
    pub protocol: String,
    /// How much is known to differ between the two disks, in bytes.
    pub out_of_sync_bytes: u64,
}

impl DrbdState {
    /// ` 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----`, and further lines of
    /// which the first ends in the KiB that differ, `oos:0`.
    fn of(table: &str, minor: &str) -> Option<Self> {
        let begin = format!("{minor}: cs:");
        let mut lines = table.lines().skip_while(|line| !line.trim_start().starts_with(&begin));
        let words: Vec<&str> = lines.next()?.split_whitespace().collect();
        let word = |prefix: &str| words.iter().find_map(|word| word.strip_prefix(prefix));
        let (disk, peer_disk) = word("ds:")?.split_once('/')?;
        let counted = lines.next().unwrap_or_default().split_whitespace();
        let kib = counted.filter_map(|word| word.strip_prefix("oos:")).next();
        Some(Self {
            connection: clean(word("cs:")?),
            role: clean(word("ro:")?.split('/').next()?),
            disk: clean(disk),
            peer_disk: clean(peer_disk),
            protocol: words.iter().find(|w| ["A", "B", "C"].contains(w)).map_or("", |w| w).into(),
            out_of_sync_bytes: kib?.parse::<u64>().ok()?.checked_mul(1024)?,
        })
    }
}

/// The mirror whose device has this name, `drbd0`.
pub(super) fn read(r: &mut Reader<'_>, name: &str) -> Option<Fact<DrbdState>> {
    let minor = name.strip_prefix("drbd")?;
    let path = Path::new("/proc/drbd");
    let what = "state of the mirror";
    let table = r.view.text(path).map_err(|e| r.miss_error(what, &e, Need::Always)).ok()?;
    let state = DrbdState::of(&table, minor);
    if state.is_none() {
        r.miss(what, show(path), "DRBD 9 does not report it there; drbdadm status does");
    }
    Some(Fact::new(state?, show(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
version: 8.4.11 (api:1/proto:86-101)
srcversion: 2A5DFCD31AE4EBF93C0E357
 0: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C r-----
    ns:9048 nr:0 dw:0 dr:9048 al:0 bm:0 lo:0 pe:2 ua:0 ap:0 ep:1 wo:f oos:1028
\t[>...................] sync'ed:  7.0% (98304/107352)K
\tfinish: 0:00:10 speed: 9,048 (9,048) K/sec

 2: cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown   r-----
    ns:0 nr:0 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:0
12: cs:Unconfigured
";

    #[test]
    fn each_mirror_has_a_line_of_states_and_one_of_counters() {
        let state = DrbdState::of(TABLE, "0").unwrap();
        assert_eq!((state.connection.as_str(), state.role.as_str()), ("SyncSource", "Primary"));
        assert_eq!((state.disk.as_str(), state.peer_disk.as_str()), ("UpToDate", "Inconsistent"));
        assert_eq!((state.protocol.as_str(), state.out_of_sync_bytes), ("C", 1028 << 10));
        let alone = DrbdState::of(TABLE, "2").unwrap();
        assert_eq!((alone.protocol.as_str(), alone.out_of_sync_bytes), ("", 0));
        for minor in ["12", "1", "", "02"] {
            assert_eq!(DrbdState::of(TABLE, minor), None, "{minor}");
        }
        assert_eq!(DrbdState::of("version: 9.2.11 (api:2/proto:86-122)\n", "0"), None);
    }
}
