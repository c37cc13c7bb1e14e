//! A device-mapper device and the targets it is made of, from its table and status.
//!
//! Source of the forms: `Documentation/admin-guide/device-mapper` of the kernel. Lengths there are
//! sectors of 512 bytes, blocks of metadata 4 KiB.

use crate::model::Fact;
use crate::pages::page;
use crate::reader::{Need, Reader, clean, show};
use serde::{Deserialize, Serialize};
use std::path::Path;

const SECTOR: u64 = 512;
const METADATA_BLOCK: u64 = 4096;
const VDO_BLOCK: u64 = 4096;
/// The most segments of one device that are kept apart.
const MAX_TARGETS: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MapperFacts {
    /// Its name below `/dev/mapper`.
    pub name: Option<Fact<String>>,
    /// Its I/O is held back.
    pub suspended: Option<Fact<bool>>,
    /// What it is made of, as far as that decides its speed; equal ones once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Fact<MapperTarget>>,
}

/// How much of something is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub used_bytes: u64,
    pub bytes: u64,
}

impl Usage {
    /// 0 to 1; 0 if there is no space at all.
    pub fn share(self) -> f64 {
        self.used_bytes as f64 / self.bytes.max(1) as f64
    }
}

/// What a target is, and what of it decides its speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MapperTarget {
    Crypt(CryptTarget),
    ThinPool(ThinPool),
    /// A volume of a thin pool, and how much of it the pool holds.
    Thin {
        mapped_bytes: u64,
    },
    Snapshot(SnapshotTarget),
    /// A volume that has snapshots, each with a copy of what is overwritten here.
    SnapshotOrigin {
        snapshots: u64,
    },
    Cache(CacheTarget),
    Writecache {
        /// It stopped after an error of its cache device.
        failed: bool,
        block_bytes: u64,
    },
    Integrity {
        /// Every write goes to a journal first.
        journal: bool,
    },
    Raid(RaidTarget),
    Striped {
        disks: u64,
        chunk_bytes: u64,
    },
    Vdo(VdoTarget),
    /// Its status says that it failed: no request is served from it any more.
    Failed {
        name: String,
    },
    /// A target that only maps, one this program does not know, or one whose status could not be
    /// read.
    Other {
        name: String,
    },
}

/// dm-crypt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CryptTarget {
    pub cipher: String,
    /// The unit of encryption.
    pub sector_bytes: u64,
    /// Reads are decrypted where they complete, not handed to a worker.
    pub no_read_workqueue: bool,
    /// Writes are encrypted where they are issued, not handed to a worker.
    pub no_write_workqueue: bool,
    /// A request is encrypted on the CPU that issued it.
    pub same_cpu: bool,
    /// Discards reach the disk.
    pub discards: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThinPool {
    pub data: Usage,
    pub metadata: Usage,
    /// `major:minor` of the device with the metadata.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub metadata_device: String,
    pub chunk_bytes: u64,
    /// New chunks are filled with zeroes before they are used.
    pub zeroes_chunks: bool,
    /// `rw`, `ro`, `out_of_data_space`.
    pub mode: String,
    pub needs_check: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SnapshotTarget {
    /// The space for copies.
    pub copies: Usage,
    pub chunk_bytes: u64,
}

/// dm-cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheTarget {
    /// `writeback`, `writethrough`, `passthrough`.
    pub mode: String,
    pub policy: String,
    pub data: Usage,
    pub dirty_bytes: u64,
    pub read_hits: u64,
    pub read_misses: u64,
    pub write_hits: u64,
    pub write_misses: u64,
    /// Its metadata cannot be written.
    pub read_only: bool,
    pub needs_check: bool,
}

/// dm-raid, which LVM's mirrors and RAID volumes are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RaidTarget {
    /// `raid1`, `raid5_ls` …
    pub level: String,
    /// One letter per member: `A` in sync, `a` not in sync, `D` failed, `-` missing.
    pub health: String,
    /// `idle`, `resync`, `recover`, `check`, `repair`, `reshape`, `frozen`.
    pub action: String,
}

/// dm-vdo, which deduplicates and compresses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VdoTarget {
    /// `normal`, `recovering`, `read-only`.
    pub mode: String,
    /// The index that finds duplicates: `online`, `offline`, `opening`, `closed`, `error` …
    pub index: String,
    /// New data is compressed.
    pub compresses: bool,
    /// The space on the device below; what is used includes VDO's own metadata.
    pub physical: Usage,
}

pub(super) fn read(r: &mut Reader<'_>, dir: &Path) -> MapperFacts {
    let mut facts = MapperFacts {
        name: r.optional(&dir.join("dm/name"), "device-mapper name"),
        suspended: r.flag(&dir.join("dm/suspended"), "whether it is suspended", Need::Optional),
        targets: Vec::new(),
    };
    let Some(dev) = r.hint(&dir.join("dev")) else { return facts };
    let mut ask = |what: &str| {
        let path = page("mapper/control", &format!("{what}-{dev}"));
        let read = r.view.text(&path);
        let read = read.map_err(|e| r.miss_error("device-mapper table", &e, Need::Optional));
        read.ok().map(|text| (text, show(&path)))
    };
    let Some((table, from)) = ask("table") else { return facts };
    let (status, status_from) = ask("status").unwrap_or_default();
    for (line, status) in table.lines().zip(status.lines().chain(std::iter::repeat(""))) {
        let Some(line) = Parameters::of(line) else { continue };
        let mut target = line.target(&Parameters::of(status).unwrap_or_default());
        if let MapperTarget::SnapshotOrigin { snapshots } = &mut target {
            *snapshots = holders_below(r, dir).saturating_sub(1);
        }
        let from = if has_status(&target) { &status_from } else { &from };
        let known = facts.targets.iter().any(|t| t.value == target);
        if !known && facts.targets.len() < MAX_TARGETS {
            facts.targets.push(Fact::new(target, from.clone()));
        }
    }
    facts
}

/// How many devices stand on the ones directly below.
fn holders_below(r: &Reader<'_>, dir: &Path) -> u64 {
    let slaves = dir.join("slaves");
    let each = r.names(&slaves).into_iter().map(|n| r.names(&slaves.join(n).join("holders")).len());
    each.max().unwrap_or(0) as u64
}

/// Whether a target's facts come from its status rather than its table.
const fn has_status(target: &MapperTarget) -> bool {
    use MapperTarget as T;
    matches!(
        target,
        T::ThinPool(_)
            | T::Thin { .. }
            | T::Snapshot(_)
            | T::Cache(_)
            | T::Writecache { .. }
            | T::Raid(_)
            | T::Vdo(_)
            | T::Failed { .. }
    )
}

/// A line of a table or status: `START LENGTH KIND PARAMETERS`.
#[derive(Debug, Clone, Default)]
struct Parameters<'t> {
    kind: &'t str,
    words: Vec<&'t str>,
}

impl<'t> Parameters<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let mut words = line.split_whitespace().skip(2);
        Some(Self { kind: words.next()?, words: words.collect() })
    }

    fn word(&self, at: usize) -> Option<&'t str> {
        self.words.get(at).copied()
    }

    fn text(&self, at: usize) -> Option<String> {
        self.word(at).map(clean)
    }

    fn number(&self, at: usize) -> Option<u64> {
        self.word(at)?.parse().ok()
    }

    fn sectors(&self, at: usize) -> Option<u64> {
        self.number(at)?.checked_mul(SECTOR)
    }

    /// `USED/ALL`, in units of `unit` bytes.
    fn usage(&self, at: usize, unit: u64) -> Option<Usage> {
        let (used, all) = self.word(at)?.split_once('/')?;
        let bytes = |n: &str| n.parse::<u64>().ok()?.checked_mul(unit);
        Some(Usage { used_bytes: bytes(used)?, bytes: bytes(all)? })
    }

    /// The words of a list that begins with its length, and the position after it.
    fn list(&self, at: usize) -> Option<(&[&'t str], usize)> {
        let end = usize::try_from(self.number(at)?).ok()?.checked_add(at + 1)?;
        Some((self.words.get(at + 1..end)?, end))
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Of a status: it has failed.
    fn is_failed(&self) -> bool {
        let first = self.words.first();
        first.is_some_and(|w| ["Fail", "Error", "Invalid", "Overflow", "Merge"].contains(w))
    }

    fn target(&self, status: &Self) -> MapperTarget {
        let name = clean(self.kind);
        if status.is_failed() {
            return MapperTarget::Failed { name };
        }
        self.known(status).unwrap_or(MapperTarget::Other { name })
    }

    fn known(&self, status: &Self) -> Option<MapperTarget> {
        use MapperTarget as T;
        Some(match self.kind {
            "crypt" => T::Crypt(self.crypt()?),
            "thin-pool" => T::ThinPool(self.pool(status)?),
            "thin" => T::Thin { mapped_bytes: status.sectors(0)? },
            "snapshot" | "snapshot-merge" => T::Snapshot(SnapshotTarget {
                copies: status.usage(0, SECTOR)?,
                chunk_bytes: self.sectors(3)?,
            }),
            "snapshot-origin" => T::SnapshotOrigin { snapshots: 0 },
            "cache" => T::Cache(self.cache(status)?),
            "writecache" => {
                T::Writecache { failed: status.number(0)? > 0, block_bytes: self.number(3)? }
            }
            "integrity" => T::Integrity { journal: self.word(3)? == "J" },
            "raid" => T::Raid(RaidTarget {
                level: self.text(0)?,
                health: status.text(2)?,
                action: status.text(4)?,
            }),
            "vdo" => T::Vdo(status.vdo()?),
            "striped" => T::Striped { disks: self.number(0)?, chunk_bytes: self.sectors(1)? },
            _ => return None,
        })
    }

    /// `CIPHER KEY IV DEVICE OFFSET [COUNT OPTION …]`.
    fn crypt(&self) -> Option<CryptTarget> {
        let options = if self.words.len() > 5 { self.list(5)?.0 } else { &[] };
        let has = |option: &str| options.contains(&option);
        let sector = options.iter().find_map(|o| o.strip_prefix("sector_size:"));
        Some(CryptTarget {
            cipher: self.text(0)?,
            sector_bytes: sector.map_or(Some(SECTOR), |size| size.parse().ok())?,
            no_read_workqueue: has("no_read_workqueue"),
            no_write_workqueue: has("no_write_workqueue"),
            same_cpu: has("same_cpu_crypt"),
            discards: has("allow_discards"),
        })
    }

    /// Table `METADATA DATA CHUNK LOW [COUNT FEATURE …]`, status `TRANSACTION METADATA DATA ROOT
    /// MODE …`.
    fn pool(&self, status: &Self) -> Option<ThinPool> {
        let chunk_bytes = self.sectors(2)?;
        let features = if self.words.len() > 4 { self.list(4)?.0 } else { &[] };
        Some(ThinPool {
            data: status.usage(2, chunk_bytes)?,
            metadata: status.usage(1, METADATA_BLOCK)?,
            metadata_device: self.text(0)?,
            chunk_bytes,
            zeroes_chunks: !features.contains(&"skip_block_zeroing"),
            mode: status.text(4)?,
            needs_check: status.has("needs_check"),
        })
    }

    /// Status `DEVICE MODE RECOVERING INDEX COMPRESSION USED ALL`, in blocks.
    fn vdo(&self) -> Option<VdoTarget> {
        let blocks = |at| self.number(at)?.checked_mul(VDO_BLOCK);
        Some(VdoTarget {
            mode: self.text(1)?,
            index: self.text(3)?,
            compresses: self.word(4)? == "online",
            physical: Usage { used_bytes: blocks(5)?, bytes: blocks(6)? },
        })
    }

    /// Status `BLOCK METADATA BLOCK DATA HITS MISSES HITS MISSES DEMOTED PROMOTED DIRTY FEATURES
    /// CORE POLICY … ro|rw needs_check|-`.
    fn cache(&self, status: &Self) -> Option<CacheTarget> {
        let block = status.sectors(2)?;
        let (features, end) = status.list(11)?;
        let (_, policy_at) = status.list(end)?;
        let modes = ["writeback", "writethrough", "passthrough"];
        Some(CacheTarget {
            mode: clean(features.iter().find(|f| modes.contains(f))?),
            policy: status.text(policy_at)?,
            data: status.usage(3, block)?,
            dirty_bytes: status.number(10)?.checked_mul(block)?,
            read_hits: status.number(4)?,
            read_misses: status.number(5)?,
            write_hits: status.number(6)?,
            write_misses: status.number(7)?,
            read_only: status.has("ro"),
            needs_check: status.has("needs_check"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(table: &str, status: &str) -> MapperTarget {
        Parameters::of(table).unwrap().target(&Parameters::of(status).unwrap_or_default())
    }

    #[test]
    fn the_options_of_an_encrypted_device_are_read() {
        let plain = "0 65536 crypt aes-xts-plain64 - 0 8:0 2048";
        let MapperTarget::Crypt(crypt) = target(plain, "") else { panic!("crypt") };
        assert_eq!((crypt.cipher.as_str(), crypt.sector_bytes), ("aes-xts-plain64", 512));
        assert!(!crypt.no_read_workqueue && !crypt.discards);
        let options = "4 allow_discards no_read_workqueue no_write_workqueue sector_size:4096";
        let MapperTarget::Crypt(crypt) = target(&format!("{plain} {options}"), "") else {
            panic!("crypt")
        };
        assert_eq!(crypt.sector_bytes, 4096);
        assert!(crypt.no_read_workqueue && crypt.no_write_workqueue && crypt.discards);
        assert!(!crypt.same_cpu);
    }

    #[test]
    fn a_pool_tells_how_full_it_is_and_in_which_mode() {
        let table = "0 131072 thin-pool 8:16 8:32 128 0 1 skip_block_zeroing";
        let status = "0 131072 thin-pool 5 120/1024 990/1024 - rw discard_passdown \
                      queue_if_no_space - 1024";
        let MapperTarget::ThinPool(pool) = target(table, status) else { panic!("pool") };
        assert_eq!(pool.data, Usage { used_bytes: 990 * 65536, bytes: 1024 * 65536 });
        assert_eq!(pool.metadata, Usage { used_bytes: 120 * 4096, bytes: 1024 * 4096 });
        assert_eq!(pool.metadata_device, "8:16");
        assert_eq!(
            (pool.chunk_bytes, pool.zeroes_chunks, pool.mode.as_str()),
            (65536, false, "rw")
        );
        let failed = MapperTarget::Failed { name: "thin-pool".to_owned() };
        assert_eq!(target(table, "0 131072 thin-pool Fail"), failed);
    }

    #[test]
    fn a_cache_tells_its_mode_hits_and_dirt() {
        let table = "0 131072 cache 8:16 8:32 8:48 512 1 writeback smq 0";
        let status = "0 131072 cache 8 27/4096 512 4/128 10 30 5 7 0 4 2 2 writeback \
                      no_discard_passdown 2 migration_threshold 4096 smq 0 rw -";
        let MapperTarget::Cache(cache) = target(table, status) else { panic!("cache") };
        assert_eq!((cache.mode.as_str(), cache.policy.as_str()), ("writeback", "smq"));
        assert_eq!((cache.read_hits, cache.read_misses, cache.write_misses), (10, 30, 7));
        assert_eq!(cache.dirty_bytes, 2 * 512 * 512);
        assert_eq!(cache.data.bytes, 128 * 512 * 512);
        assert!(!cache.read_only && !cache.needs_check);
        let failed = MapperTarget::Failed { name: "cache".to_owned() };
        assert_eq!(target(table, "0 131072 cache Fail"), failed);
    }

    #[test]
    fn snapshots_arrays_and_the_rest_are_told_apart() {
        let table = "0 65536 snapshot 253:1 253:2 P 8";
        let MapperTarget::Snapshot(one) = target(table, "0 65536 snapshot 2048/8192 16") else {
            panic!("snapshot")
        };
        assert_eq!((one.copies.share(), one.chunk_bytes), (0.25, 4096));
        for lost in ["Invalid", "Overflow", "Merge failed"] {
            let failed = MapperTarget::Failed { name: "snapshot".to_owned() };
            assert_eq!(target(table, &format!("0 65536 snapshot {lost}")), failed);
        }
        let status = "0 65536 raid raid1 2 AD 65536/65536 idle 0 0 -";
        let MapperTarget::Raid(raid) = target("0 65536 raid raid1 3 0 region_size 1024 2", status)
        else {
            panic!("raid")
        };
        assert_eq!((raid.level.as_str(), raid.health.as_str()), ("raid1", "AD"));
        let status = "0 65536 vdo /dev/dm-1 normal - online offline 3000 4000";
        let MapperTarget::Vdo(vdo) = target("0 65536 vdo V4 /dev/dm-1 4000", status) else {
            panic!("vdo")
        };
        assert_eq!(
            (vdo.mode.as_str(), vdo.index.as_str(), vdo.compresses),
            ("normal", "online", false)
        );
        assert_eq!(vdo.physical, Usage { used_bytes: 3000 * 4096, bytes: 4000 * 4096 });
        let other = MapperTarget::Other { name: "linear".to_owned() };
        assert_eq!(target("0 8 linear 8:0 2048", ""), other);
        assert_eq!(
            target("0 8 integrity 8:0 0 - J", ""),
            MapperTarget::Integrity { journal: true }
        );
    }
    /// What a status does not say is not made up.
    #[test]
    fn a_status_that_is_missing_or_of_another_form_leaves_only_the_name() {
        for (table, statuses) in [
            ("0 8 snapshot 253:1 253:2 P 8", vec!["", "0 8 snapshot Unknown"]),
            ("0 8 thin-pool 8:16 8:32 128 0", vec!["", "0 8 thin-pool 5 x/1024 9/9 - rw"]),
            ("0 8 thin 253:0 1", vec!["", "0 8 thin -"]),
            ("0 8 cache 8:16 8:32 8:48 512 0 smq 0", vec!["", "0 8 cache 8 27/4096 512 4/128 10"]),
            ("0 8 writecache s 8:0 8:16 4096 0", vec![""]),
            ("0 8 raid raid1 3 0 region_size 1024 2", vec!["", "0 8 raid raid1 2"]),
            ("0 8 crypt aes - 0 8:0 0 1 sector_size:x", vec![""]),
            ("0 8 striped 2", vec![""]),
            ("0 8 vdo V4 s", vec!["", "0 8 vdo /dev/s normal - online online 3"]),
        ] {
            for status in statuses {
                let target = target(table, status);
                assert!(matches!(target, MapperTarget::Other { .. }), "{table}; {status}");
            }
        }
    }
}
