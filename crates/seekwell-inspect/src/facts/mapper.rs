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
/// The most segments of one device that are told apart.
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
pub struct Use {
    pub used_bytes: u64,
    pub bytes: u64,
}

impl Use {
    /// 0 to 1; 0 of nothing.
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
    /// One that only maps or that this program knows nothing of.
    Other {
        name: String,
    },
}

/// dm-crypt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CryptTarget {
    pub cipher: String,
    /// What is encrypted at a time.
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
    pub data: Use,
    pub metadata: Use,
    pub chunk_bytes: u64,
    /// New chunks are filled with zeroes before they are used.
    pub zeroes_chunks: bool,
    /// `rw`, `ro`, `out_of_data_space`, `fail`.
    pub mode: String,
    pub needs_check: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SnapshotTarget {
    /// The room for copies; absent of one that is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<Use>,
    pub chunk_bytes: u64,
}

/// dm-cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheTarget {
    /// `writeback`, `writethrough`, `passthrough`; `fail` of one that failed.
    pub mode: String,
    pub policy: String,
    pub data: Use,
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
    /// A letter for each member: `A` in sync, `a` not yet, `D` failed, `-` missing.
    pub health: String,
    /// `idle`, `resync`, `recover`, `check`, `repair`, `reshape`, `frozen`.
    pub action: String,
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
        let of = |line| Parameters::of(line).unwrap_or_default();
        let mut target = of(line).target(&of(status));
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

/// Whether what matters of a target stands in its status.
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

    fn word(&self, at: usize) -> &'t str {
        self.words.get(at).copied().unwrap_or_default()
    }

    fn number(&self, at: usize) -> u64 {
        self.word(at).parse().unwrap_or(0)
    }

    fn sectors(&self, at: usize) -> u64 {
        self.number(at).saturating_mul(SECTOR)
    }

    /// `USED/ALL`, in units of so many bytes.
    fn share(&self, at: usize, unit: u64) -> Option<Use> {
        let (used, all) = self.word(at).split_once('/')?;
        let bytes = |n: &str| Some(n.parse::<u64>().ok()?.saturating_mul(unit));
        Some(Use { used_bytes: bytes(used)?, bytes: bytes(all)? })
    }

    /// A number and that many words, from `at` on; and where they end.
    fn counted(&self, at: usize) -> (&[&'t str], usize) {
        let count = usize::try_from(self.number(at)).unwrap_or(usize::MAX);
        let begin = (at + 1).min(self.words.len());
        let end = begin.saturating_add(count).min(self.words.len());
        (&self.words[begin..end], end)
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    fn target(&self, status: &Self) -> MapperTarget {
        use MapperTarget as T;
        let named = |name: &str| T::Other { name: clean(name) };
        match self.kind {
            "crypt" => T::Crypt(self.crypt()),
            "thin-pool" => T::ThinPool(self.pool(status)),
            "thin" => T::Thin { mapped_bytes: status.sectors(0) },
            "snapshot" | "snapshot-merge" => T::Snapshot(SnapshotTarget {
                copies: status.share(0, SECTOR),
                chunk_bytes: self.sectors(3),
            }),
            "snapshot-origin" => T::SnapshotOrigin { snapshots: 0 },
            "cache" => T::Cache(self.cache(status)),
            "writecache" => {
                T::Writecache { failed: status.number(0) > 0, block_bytes: self.number(3) }
            }
            "integrity" => T::Integrity { journal: self.word(3) == "J" },
            "raid" => T::Raid(RaidTarget {
                level: clean(self.word(0)),
                health: clean(status.word(2)),
                action: clean(status.word(4)),
            }),
            "striped" => T::Striped { disks: self.number(0), chunk_bytes: self.sectors(1) },
            name => named(name),
        }
    }

    /// `CIPHER KEY IV DEVICE OFFSET [COUNT OPTION …]`.
    fn crypt(&self) -> CryptTarget {
        let (options, _) = self.counted(5);
        let has = |option: &str| options.contains(&option);
        let sector = options.iter().find_map(|o| o.strip_prefix("sector_size:")?.parse().ok());
        CryptTarget {
            cipher: clean(self.word(0)),
            sector_bytes: sector.unwrap_or(SECTOR),
            no_read_workqueue: has("no_read_workqueue"),
            no_write_workqueue: has("no_write_workqueue"),
            same_cpu: has("same_cpu_crypt"),
            discards: has("allow_discards"),
        }
    }

    /// Table `METADATA DATA CHUNK LOW [COUNT FEATURE …]`, status `TRANSACTION METADATA DATA ROOT
    /// MODE …` or `Fail`.
    fn pool(&self, status: &Self) -> ThinPool {
        let chunk_bytes = self.sectors(2);
        let mode = match status.word(4) {
            "" => status.word(0).to_ascii_lowercase(),
            mode => mode.to_owned(),
        };
        ThinPool {
            data: status.share(2, chunk_bytes).unwrap_or_default(),
            metadata: status.share(1, METADATA_BLOCK).unwrap_or_default(),
            chunk_bytes,
            zeroes_chunks: !self.counted(4).0.contains(&"skip_block_zeroing"),
            mode: clean(&mode),
            needs_check: status.has("needs_check"),
        }
    }

    /// Status `BLOCK METADATA BLOCK DATA HITS MISSES HITS MISSES DEMOTED PROMOTED DIRTY FEATURES
    /// CORE POLICY … ro|rw needs_check|-` or `Fail`.
    fn cache(&self, status: &Self) -> CacheTarget {
        let block = status.sectors(2);
        let (features, end) = status.counted(11);
        let (_, policy_at) = status.counted(end);
        let modes = ["writeback", "writethrough", "passthrough"];
        let mode = features.iter().find(|f| modes.contains(f)).copied();
        let failed = || status.word(0).to_ascii_lowercase();
        CacheTarget {
            mode: clean(&mode.map_or_else(failed, str::to_owned)),
            policy: clean(status.word(policy_at)),
            data: status.share(3, block).unwrap_or_default(),
            dirty_bytes: status.number(10).saturating_mul(block),
            read_hits: status.number(4),
            read_misses: status.number(5),
            write_hits: status.number(6),
            write_misses: status.number(7),
            read_only: status.has("ro"),
            needs_check: status.has("needs_check"),
        }
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
        assert_eq!(pool.data, Use { used_bytes: 990 * 65536, bytes: 1024 * 65536 });
        assert_eq!(pool.metadata, Use { used_bytes: 120 * 4096, bytes: 1024 * 4096 });
        assert_eq!(
            (pool.chunk_bytes, pool.zeroes_chunks, pool.mode.as_str()),
            (65536, false, "rw")
        );
        let MapperTarget::ThinPool(pool) = target(table, "0 131072 thin-pool Fail") else {
            panic!("pool")
        };
        assert_eq!((pool.mode.as_str(), pool.data), ("fail", Use::default()));
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
        let MapperTarget::Cache(cache) = target(table, "0 1 cache Fail") else { panic!("cache") };
        assert_eq!(cache.mode, "fail");
    }

    #[test]
    fn snapshots_arrays_and_the_rest_are_told_apart() {
        let table = "0 65536 snapshot 253:1 253:2 P 8";
        let MapperTarget::Snapshot(one) = target(table, "0 65536 snapshot 2048/8192 16") else {
            panic!("snapshot")
        };
        assert_eq!((one.copies.unwrap().share(), one.chunk_bytes), (0.25, 4096));
        let MapperTarget::Snapshot(lost) = target(table, "0 65536 snapshot Invalid") else {
            panic!("snapshot")
        };
        assert_eq!(lost.copies, None);
        let status = "0 65536 raid raid1 2 AD 65536/65536 idle 0 0 -";
        let MapperTarget::Raid(raid) = target("0 65536 raid raid1 3 0 region_size 1024 2", status)
        else {
            panic!("raid")
        };
        assert_eq!((raid.level.as_str(), raid.health.as_str()), ("raid1", "AD"));
        let other = MapperTarget::Other { name: "linear".to_owned() };
        assert_eq!(target("0 8 linear 8:0 2048", ""), other);
        assert_eq!(
            target("0 8 integrity 8:0 0 - J", ""),
            MapperTarget::Integrity { journal: true }
        );
    }
}
