//! ZFS pools, and the cache in front of them.

use crate::look::flag;
use crate::words::{bytes, evidence, percent};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::ZfsFacts;

/// Reads after which the rate of misses means something.
const ENOUGH_READS: u64 = 100_000;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-ZFS-001",
        about: "the pool is degraded or suspended",
        means: "A device of the pool is missing or failed, or the pool has stopped.",
        known: "/proc/spl/kstat/zfs/POOL/state is not ONLINE.",
        why: "A degraded pool has to reconstruct the data of the missing device and may not \
              survive the next failure; in a suspended one every write hangs.",
        fix: "sudo zpool status -x names the device and says what to do",
        tune: None,
        check: Check::Zfs(not_online),
    },
    Rule {
        id: "SW-ZFS-002",
        about: "the ARC is limited to too little memory",
        means: "ZFS may use only a small part of memory as its cache, and reads miss it.",
        known: "c_max is below a quarter of memory (OpenZFS defaults to half or more), the \
                ARC has grown to nine tenths of it, and over a fifth of at least 100,000 reads of \
                data missed.",
        why: "Each miss waits for a disk, and the page cache does not help: ZFS does not use it.",
        fix: "raise zfs_arc_max, in bytes, in /sys/module/zfs/parameters and in \
              /etc/modprobe.d/zfs.conf; 0 leaves it to ZFS",
        tune: None,
        check: Check::Zfs(small_arc),
    },
    Rule {
        id: "SW-ZFS-003",
        about: "ZFS does not flush the disks' caches",
        means: "The module is configured to skip cache flushes, for all pools.",
        known: "The module's parameter zfs_nocacheflush is 1.",
        why: "fsync returns before the data is safe: after a power loss the pool may not import. \
              It is safe only where every disk's cache survives a power loss.",
        fix: "echo 0 | sudo tee /sys/module/zfs/parameters/zfs_nocacheflush, and remove it from \
              /etc/modprobe.d",
        tune: None,
        check: Check::Zfs(unflushed),
    },
];

fn not_online(_: &Observed<'_>, zfs: &ZfsFacts) -> Option<Found> {
    let state = zfs.state.as_ref().filter(|state| state.value != "ONLINE")?;
    let title = format!("the pool is {}", state.value.to_lowercase());
    Some(Found::error(title).fact("state", state))
}

fn small_arc(input: &Observed<'_>, zfs: &ZfsFacts) -> Option<Found> {
    let (arc, memory) = (zfs.arc.as_ref()?, input.inspection.host.memory_bytes.as_ref()?);
    let stats = arc.value;
    let reads = stats.demand_data_hits.saturating_add(stats.demand_data_misses);
    let is_full = stats.bytes >= stats.max_bytes / 10 * 9;
    let is_limited = stats.max_bytes < memory.value / 4;
    if reads < ENOUGH_READS || !is_full || !is_limited || stats.demand_data_misses <= reads / 5 {
        return None;
    }
    let missed = percent(stats.demand_data_misses as f64 / reads as f64);
    let (most, all) = (bytes(stats.max_bytes), bytes(memory.value));
    Some(
        Found::warning(format!("the ARC is limited to {most}, and {missed} of the reads miss it"))
            .seen(
                format!("{} of {reads} reads of data missed", stats.demand_data_misses),
                &arc.from,
            )
            .seen(format!("at most {most} of {all} of memory"), &arc.from)
            .evidence(
                zfs.arc_max_bytes
                    .iter()
                    .map(|limit| evidence(format!("zfs_arc_max: {}", limit.value), &limit.from)),
            ),
    )
}

fn unflushed(_: &Observed<'_>, zfs: &ZfsFacts) -> Option<Found> {
    let set = zfs.flushes_off.as_ref().filter(|_| flag(&zfs.flushes_off, true))?;
    Some(Found::error("the disks' caches are not flushed").seen("zfs_nocacheflush: 1", &set.from))
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, pool, quiet};
    use seekwell_inspect::facts::{ArcStats, ZfsFacts};

    fn zfs(change: impl Fn(&mut ZfsFacts)) -> impl Fn(&mut Machine) {
        move |m| change(m.detail().zfs.as_mut().unwrap())
    }

    fn arc(bytes: u64, max_bytes: u64, misses: u64) -> impl Fn(&mut Machine) {
        let stats = ArcStats {
            bytes,
            max_bytes,
            demand_data_hits: 200_000,
            demand_data_misses: misses,
            ..ArcStats::default()
        };
        zfs(move |z| z.arc = fact(stats, "arcstats"))
    }

    pub(crate) fn all() -> Vec<Case> {
        let state = |s: &'static str| zfs(move |z| z.state = fact(s.to_owned(), "state"));
        let flushes = |off| zfs(move |z| z.flushes_off = fact(off, "zfs_nocacheflush"));
        vec![
            fires("SW-ZFS-001", pool, state("DEGRADED")).error(),
            fires("SW-ZFS-001", pool, state("SUSPENDED")).error(),
            quiet("SW-ZFS-001", pool, state("ONLINE")),
            fires("SW-ZFS-002", pool, arc(2 << 30, 2 << 30, 90_000)).warning(),
            quiet("SW-ZFS-002", pool, arc(2 << 30, 2 << 30, 20_000)),
            quiet("SW-ZFS-002", pool, arc(1 << 30, 2 << 30, 90_000)),
            quiet("SW-ZFS-002", pool, arc(8 << 30, 8 << 30, 90_000)),
            fires("SW-ZFS-003", pool, flushes(true)).error(),
            quiet("SW-ZFS-003", pool, flushes(false)),
        ]
    }
}
