//! A ZFS pool, and the module's cache and queue settings, which all pools share.
//!
//! Sources, of OpenZFS: `module/os/linux/spl/spl-kstat.c` and `spa_stats.c` for the files below
//! `/proc/spl/kstat`, `module/zfs/arc.c` for their counters, zfs(4) for the module's parameters.

use crate::find;
use crate::identity::Properties;
use crate::model::Fact;
use crate::reader::{Need, Reader, show};
use seekwell_sys::DevId;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const KSTAT: &str = "/proc/spl/kstat/zfs";
const MODULE: &str = "/sys/module/zfs";

/// A pool, and the settings that all pools of the machine share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ZfsFacts {
    /// The module's version: `2.2.2-1`.
    pub version: Option<Fact<String>>,
    /// `ONLINE`, `DEGRADED`, `FAULTED`, `SUSPENDED` …
    pub state: Option<Fact<String>>,
    /// The cache of all pools.
    pub arc: Option<Fact<ArcStats>>,
    /// The configured limit of the cache, in bytes; 0 is the module's default.
    pub arc_max_bytes: Option<Fact<u64>>,
    /// `O_DIRECT` bypasses the cache if the dataset's property `direct` allows it. Absent
    /// before OpenZFS 2.3, which ignored `O_DIRECT`.
    pub direct_io: Option<Fact<bool>>,
    /// ZFS does not flush the disks' write caches.
    pub flushes_off: Option<Fact<bool>>,
    /// Read-ahead is disabled.
    pub prefetch_off: Option<Fact<bool>>,
    /// The longest time before written data goes to the disks, in seconds.
    pub txg_timeout_s: Option<Fact<u64>>,
    /// How much written data may be in memory before writers are blocked, in bytes.
    pub dirty_data_max_bytes: Option<Fact<u64>>,
    /// The most requests of each kind that one disk of a pool has outstanding.
    pub sync_reads_max: Option<Fact<u64>>,
    pub sync_writes_max: Option<Fact<u64>>,
    pub async_reads_max: Option<Fact<u64>>,
    pub async_writes_max: Option<Fact<u64>>,
}

/// The adaptive replacement cache, which ZFS uses instead of the page cache. Counts start when the
/// module is loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArcStats {
    pub bytes: u64,
    /// The size it may grow to.
    pub max_bytes: u64,
    pub hits: u64,
    pub misses: u64,
    /// The part of these that is data a program asked for, without metadata and read-ahead.
    pub demand_data_hits: u64,
    pub demand_data_misses: u64,
}

impl ArcStats {
    /// Lines of `NAME TYPE VALUE`.
    fn of(text: &str) -> Option<Self> {
        let value = |wanted: &str| {
            text.lines().find_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
                [name, _, value] if name == wanted => value.parse::<u64>().ok(),
                _ => None,
            })
        };
        Some(Self {
            bytes: value("size")?,
            max_bytes: value("c_max")?,
            hits: value("hits")?,
            misses: value("misses")?,
            demand_data_hits: value("demand_data_hits")?,
            demand_data_misses: value("demand_data_misses")?,
        })
    }
}

pub(crate) fn zfs(r: &mut Reader<'_>, pool: &str) -> ZfsFacts {
    let of_pool = Path::new(KSTAT).join(pool);
    let arc = Path::new(KSTAT).join("arcstats");
    let parameter = |name: &str| Path::new(MODULE).join("parameters").join(name);
    let mut flag = |name: &str, what: &str| r.flag(&parameter(name), what, Need::Optional);
    let direct_io = flag("zfs_dio_enabled", "whether ZFS does direct I/O");
    let flushes_off = flag("zfs_nocacheflush", "whether ZFS flushes the disks' caches");
    let prefetch_off = flag("zfs_prefetch_disable", "whether ZFS reads ahead");
    let mut count = |name: &str, what: &str| r.count(&parameter(name), what);
    ZfsFacts {
        direct_io,
        flushes_off,
        prefetch_off,
        arc_max_bytes: count("zfs_arc_max", "limit of the ARC"),
        txg_timeout_s: count("zfs_txg_timeout", "interval of transaction groups"),
        dirty_data_max_bytes: count("zfs_dirty_data_max", "most dirty data"),
        sync_reads_max: count("zfs_vdev_sync_read_max_active", "queue of synchronous reads"),
        sync_writes_max: count("zfs_vdev_sync_write_max_active", "queue of synchronous writes"),
        async_reads_max: count("zfs_vdev_async_read_max_active", "queue of asynchronous reads"),
        async_writes_max: count("zfs_vdev_async_write_max_active", "queue of asynchronous writes"),
        version: r.optional(&Path::new(MODULE).join("version"), "version of ZFS"),
        state: r.text(&of_pool.join("state"), "state of the ZFS pool", Need::Always),
        arc: arc_stats(r, &arc),
    }
}

fn arc_stats(r: &mut Reader<'_>, path: &Path) -> Option<Fact<ArcStats>> {
    let text = r.view.text(path).map_err(|e| r.miss_error("the ARC", &e, Need::Always)).ok()?;
    let stats = ArcStats::of(&text);
    if stats.is_none() {
        r.miss("the ARC", show(path), "it lacks counters that every version has");
    }
    Some(Fact::new(stats?, show(path)))
}

/// The folders of the block devices with this pool's label, according to udev. A whole disk is left
/// out if one of its partitions has the label: two of the four copies are at the end of a device,
/// and a disk may end where its last partition does.
pub(crate) fn pool_members(r: &Reader<'_>, pool: &str) -> Vec<PathBuf> {
    let carries = |dir: &PathBuf| {
        let dev: Option<DevId> = r.hint(&dir.join("dev")).and_then(|dev| dev.parse().ok());
        let Some(known) = dev.and_then(|dev| Properties::of(r, dev)) else { return false };
        let is = |property: Option<Fact<String>>, word: &str| {
            property.is_some_and(|property| property.value == word)
        };
        let label = known.unescaped("ID_FS_LABEL_ENC").or_else(|| known.get("ID_FS_LABEL"));
        is(known.get("ID_FS_TYPE"), "zfs_member") && is(label, pool)
    };
    let names = r.names(Path::new("/sys/class/block"));
    let dirs = names.iter().filter_map(|name| find::by_name(r, name));
    let found: Vec<PathBuf> = dirs.filter(carries).collect();
    let has_part = |dir: &&PathBuf| found.iter().any(|d| d.parent() == Some(dir.as_path()));
    found.iter().filter(|dir| !has_part(dir)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    const ARC: &str = "\
12 1 0x01 147 39984 6245703251 88451043263425
name                            type data
hits                            4    900
misses                          4    100
demand_data_hits                4    500
demand_data_misses              4    40
mru_size                        4    7
c_max                           4    4294967296
size                            4    1073741824
memory_available_bytes          3    -5
";

    #[test]
    fn the_cache_is_read_from_its_counters() {
        let stats = ArcStats::of(ARC).unwrap();
        assert_eq!((stats.bytes, stats.max_bytes), (1 << 30, 4 << 30));
        assert_eq!((stats.hits, stats.misses), (900, 100));
        assert_eq!((stats.demand_data_hits, stats.demand_data_misses), (500, 40));
        for (word, other) in [("c_max", "c_min"), ("900", "-1"), ("40\n", "x\n"), ("4 ", "")] {
            assert_eq!(ArcStats::of(&ARC.replace(word, other)), None, "{word}");
        }
        assert_eq!(ArcStats::of(""), None);
    }

    #[test]
    fn members_of_a_pool_carry_its_label() {
        let block = |fake: Fake, dir: &str, dev: &str, label: &str| {
            let name = dir.rsplit('/').next().unwrap();
            fake.file(format!("{dir}/dev"), format!("{dev}\n"))
                .symlink(format!("/sys/class/block/{name}"), dir)
                .file(format!("/run/udev/data/b{dev}"), format!("E:ID_FS_TYPE={label}\n"))
        };
        let of = |pool: &str| format!("zfs_member\nE:ID_FS_LABEL={}", pool.replace(' ', "_"));
        let fake = block(Fake::new(), "/sys/devices/x/sda", "8:0", &of("my tank"));
        let escaped = of("my tank") + "\nE:ID_FS_LABEL_ENC=my\\x20tank";
        let fake = block(fake, "/sys/devices/x/sda/sda1", "8:1", &escaped);
        let fake = block(fake, "/sys/devices/x/sda/sda9", "8:9", "ext4");
        let fake = block(fake, "/sys/devices/x/sdb", "8:16", &escaped);
        let fake = block(fake, "/sys/devices/x/sdc", "8:32", &of("other"));
        let fake = block(fake, "/sys/devices/x/sdd", "8:48", "ext4\nE:ID_FS_LABEL=my tank");
        let members = pool_members(&Reader::new(&fake), "my tank");
        assert_eq!(members, ["/sys/devices/x/sda/sda1", "/sys/devices/x/sdb"].map(PathBuf::from));
        assert!(pool_members(&Reader::new(&Fake::new()), "my tank").is_empty());
    }
}
