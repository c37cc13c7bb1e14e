//! Device mapper.

use crate::look::text;
use crate::words::{bytes, evidence, fact_bytes, percent};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::{MapperTarget, SnapshotTarget, Usage};
use seekwell_inspect::{Device, DeviceKind, Fact, Severity};

/// A pool or snapshot filled beyond this will not last long.
const NEARLY_FULL: f64 = 0.85;
/// Requests after which a cache's hit rate means something.
const ENOUGH_REQUESTS: u64 = 100_000;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-DM-001",
        about: "the mapped device is suspended",
        means: "Its I/O is held until it is resumed.",
        known: "dm/suspended is 1.",
        why: "Every program that touches it hangs.",
        fix: "sudo dmsetup resume on the device, once it is known who suspended it",
        tune: None,
        check: Check::Facts(suspended),
    },
    Rule {
        id: "SW-DM-002",
        about: "a multipath device has one path",
        means: "One path to the disk is left.",
        known: "A mapped device made by multipath stands on a single disk.",
        why: "The next failure makes it unreachable, and its rate is that of one path.",
        fix: "sudo multipath -ll shows the missing path",
        tune: None,
        check: Check::Device(one_path),
    },
    Rule {
        id: "SW-DM-003",
        about: "a mapped device has no visible device below it",
        means: "The device has no devices below it although its kind needs one.",
        known: "slaves is empty, of LVM, crypt or multipath.",
        why: "All its requests fail; what was below it was probably unplugged.",
        fix: "sudo dmsetup table shows the missing device; attach it again or remove the mapping",
        tune: None,
        check: Check::Device(groundless),
    },
    Rule {
        id: "SW-DM-004",
        about: "dm-crypt hands requests on flash to its workqueues",
        means: "A kernel worker encrypts every write and decrypts every read.",
        known: "The table of a crypt target on a disk that does not rotate lacks no_read_workqueue \
                or no_write_workqueue.",
        why: "The workers were made for slow ciphers and rotating disks. With AES in the processor \
              the queues can cost more than the cipher: Cloudflare doubled the rate of an \
              encrypted SSD without them (Linux 5.9 and later).",
        fix: "sudo cryptsetup refresh --perf-no_read_workqueue --perf-no_write_workqueue NAME; \
              with --persistent it stays (LUKS2); measure before and after",
        tune: None,
        check: Check::Mapped(workqueues),
    },
    Rule {
        id: "SW-DM-005",
        about: "dm-crypt uses 512-byte sectors on a disk with 4 KiB sectors",
        means: "Each 4 KiB block is encrypted in eight separate operations.",
        known: "sector_size of a crypt target is 512 and the physical sector below is 4096 bytes.",
        why: "Larger encryption sectors cost less CPU per byte, and a write never covers only part \
              of a physical sector.",
        fix: "sudo cryptsetup reencrypt --sector-size 4096 on the LUKS2 device, after a backup",
        tune: None,
        check: Check::Mapped(small_sectors),
    },
    Rule {
        id: "SW-DM-006",
        about: "dm-crypt does not pass discards to flash",
        means: "The SSD is not told which blocks the file system has freed.",
        known: "A crypt target lacks allow_discards, and the disk below takes discards.",
        why: "An SSD that never learns which blocks are free has less spare area for garbage \
              collection: sustained writes are slower and wear it more. Passing discards reveals \
              which blocks are free.",
        fix: "sudo cryptsetup refresh --allow-discards NAME (with --persistent it stays), then \
              sudo fstrim on the file system, if free space need not be secret",
        tune: None,
        check: Check::Mapped(no_discards),
    },
    Rule {
        id: "SW-DM-007",
        about: "a thin pool has nearly run out of space",
        means: "The pool has little space left for data or metadata.",
        known: "The pool's status: over 85 % of data or metadata used, or a mode other than rw.",
        why: "A full pool stops or fails the writes of all its volumes at once; full metadata can \
              need a repair.",
        fix: "sudo lvextend the pool (--poolmetadatasize for its metadata), or remove snapshots",
        tune: None,
        check: Check::Mapped(full_pool),
    },
    Rule {
        id: "SW-DM-008",
        about: "a thin pool zeroes large chunks",
        means: "The first write to a chunk fills the whole chunk with zeros first.",
        known: "Zeroing is on and a chunk is 512 KiB or larger.",
        why: "A 4 KiB write to unallocated space becomes a write of the whole chunk.",
        fix: "sudo lvchange --zero n on the pool, if its users trust each other: a new block then \
              shows whatever was on the disk before",
        tune: None,
        check: Check::Mapped(zeroed_chunks),
    },
    Rule {
        id: "SW-DM-009",
        about: "a volume has copy-on-write snapshots",
        means: "The first write to each chunk copies it to every snapshot.",
        known: "The volume is a snapshot-origin, or is itself a snapshot.",
        why: "For each snapshot, such a write becomes a read, two writes and a metadata update: \
              one snapshot halves the write rate, and each further one costs more. Thin snapshots \
              share chunks and do not.",
        fix: "sudo lvremove snapshots that are no longer needed, or use a thin pool",
        tune: None,
        check: Check::Mapped(snapshots),
    },
    Rule {
        id: "SW-DM-010",
        about: "a snapshot is lost or nearly full",
        means: "A snapshot has little or no space left for copies.",
        known: "The snapshot's status: over 85 % used, or Invalid.",
        why: "A snapshot that runs full is dropped completely.",
        fix: "sudo lvextend the snapshot, or lvremove it",
        tune: None,
        check: Check::Mapped(full_snapshot),
    },
    Rule {
        id: "SW-DM-011",
        about: "a cache device has failed",
        means: "dm-cache or dm-writecache has stopped or can no longer write its metadata.",
        known: "The status says Fail, ro, needs_check or an error.",
        why: "Blocks that were only in the cache may be lost, and the rest runs at the slow \
              disk's rate.",
        fix: "sudo lvs -a -o +cache_mode,lv_health_status; back up, then repair (lvconvert \
              --repair) or sudo lvconvert --uncache",
        tune: None,
        check: Check::Mapped(failed_cache),
    },
    Rule {
        id: "SW-DM-012",
        about: "a cache serves few reads",
        means: "Most reads miss the cache and go to the slow disk.",
        known: "Under half of at least 100,000 reads since it was set up were hits.",
        why: "The volume runs at the rate of the disk below it, and promoting and demoting blocks \
              loads both disks.",
        fix: "make the cache larger than the working set, or measure without it: sudo lvconvert \
              --splitcache",
        tune: None,
        check: Check::Mapped(cold_cache),
    },
    Rule {
        id: "SW-DM-013",
        about: "a RAID volume of the device mapper is degraded or synchronising",
        means: "A member has failed or is missing, or one is being brought up to date.",
        known: "A member's letter in the status is D (failed) or - (missing), or an action runs.",
        why: "The next failure may lose data; until it is in sync, the volume shares its disks \
              with the rebuild.",
        fix: "sudo lvs -a -o +devices,lv_health_status,sync_percent; sudo lvconvert --repair where \
              a disk has failed, else wait",
        tune: None,
        check: Check::Mapped(unsound_raid),
    },
    Rule {
        id: "SW-DM-014",
        about: "dm-integrity writes everything twice",
        means: "Every write goes to a journal first and then to its final place.",
        known: "The integrity target is in mode J.",
        why: "Writes run at half the disk's rate at most. A bitmap costs less, but does not \
              protect what was being written at a crash.",
        fix: "integritysetup open --integrity-bitmap-mode on the device, where that is enough",
        tune: None,
        check: Check::Mapped(journalled),
    },
    Rule {
        id: "SW-DM-015",
        about: "a VDO volume is nearly full or read-only",
        means: "The device below has little space left, or the volume stopped taking writes.",
        known: "The volume's status: over 85 % of the physical blocks used, or a mode other than \
                normal.",
        why: "How much more fits depends on how well it is deduplicated and compressed; when the \
              space runs out, writes fail although the file system above has room.",
        fix: "sudo lvextend the VDO pool, delete and fstrim; after read-only mode: vdoforcerebuild \
              on the device below, from a copy",
        tune: None,
        check: Check::Mapped(full_vdo),
    },
];

fn suspended(input: &Observed<'_>) -> Vec<Found> {
    input.each(|d| {
        let mapper = d.detail.mapper.as_ref()?;
        let flag = mapper.suspended.as_ref().filter(|s| s.value)?;
        let name = text(&mapper.name);
        Some(
            Found::error(format!("{} ({name}): suspended", d.name))
                .fact("suspended", flag)
                .remedy(format!("sudo dmsetup resume {name}")),
        )
    })
}

fn one_path(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let role = d.role.as_ref().filter(|r| r.value == "multipath")?;
    (d.kind == DeviceKind::DeviceMapper && d.below.len() == 1).then(|| {
        Found::warning("one path is left")
            .fact("made by", role)
            .seen(format!("its only path is {}", d.below[0].name), &role.from)
    })
}

fn groundless(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let needs = ["lvm", "crypt", "multipath"];
    let role = d.role.as_ref().filter(|r| needs.contains(&r.value.as_str()))?;
    (d.kind == DeviceKind::DeviceMapper && d.below.is_empty())
        .then(|| Found::error("nothing is below it").fact("made by", role))
}

fn mapped(d: &Device) -> &str {
    d.detail.mapper.as_ref().map_or("", |m| text(&m.name))
}

fn workqueues(d: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let MapperTarget::Crypt(crypt) = &target.value else { return None };
    let is_flash = d.queue.rotational.as_ref().is_some_and(|r| !r.value);
    let kinds = match (crypt.no_read_workqueue, crypt.no_write_workqueue) {
        (true, true) => return None,
        (false, false) => "reads and writes wait",
        (false, true) => "reads wait",
        (true, false) => "writes wait",
    };
    is_flash.then(|| {
        Found::info(format!("{kinds} for a worker of dm-crypt"))
            .seen(format!("{}, {kinds} for a worker", crypt.cipher), &target.from)
            .facts("rotational", d.queue.rotational.as_ref())
            .remedy(format!(
                "sudo cryptsetup refresh --perf-no_read_workqueue --perf-no_write_workqueue {}, \
                 and measure before and after",
                mapped(d)
            ))
    })
}

fn small_sectors(d: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let MapperTarget::Crypt(crypt) = &target.value else { return None };
    let below = d.below.first()?.queue.physical_block_bytes.as_ref()?;
    (crypt.sector_bytes == 512 && below.value >= 4096).then(|| {
        Found::info("dm-crypt uses 512-byte sectors")
            .seen("sector_size: 512", &target.from)
            .evidence([fact_bytes("physical sector below", below)])
    })
}

fn no_discards(d: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let MapperTarget::Crypt(crypt) = &target.value else { return None };
    let below = d.below.first()?;
    let takes = below.detail.queue.discard_max_hardware_bytes.as_ref()?;
    let is_flash = d.queue.rotational.as_ref().is_some_and(|r| !r.value);
    (is_flash && !crypt.discards && takes.value > 0).then(|| {
        Found::info("discards do not reach the disk")
            .seen("allow_discards is not set", &target.from)
            .evidence([fact_bytes("largest discard of the disk", takes)])
            .remedy(format!("sudo cryptsetup refresh --allow-discards {}", mapped(d)))
    })
}

fn used(what: &str, usage: Usage) -> String {
    format!("{what}: {} of {} used", percent(usage.share()), bytes(usage.bytes))
}

/// What is found of a target of one of these kinds that failed.
fn failed(target: &Fact<MapperTarget>, kinds: &[&str], title: &str) -> Option<Found> {
    let MapperTarget::Failed { name } = &target.value else { return None };
    let is_one = kinds.contains(&name.as_str());
    is_one.then(|| Found::error(title).seen("its status says that it failed", &target.from))
}

fn full_pool(_: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let MapperTarget::ThinPool(pool) = &target.value else {
        return failed(target, &["thin-pool"], "the pool has failed");
    };
    let uses = [("data", pool.data), ("metadata", pool.metadata)];
    let fullest = uses.into_iter().max_by(|a, b| a.1.share().total_cmp(&b.1.share()))?;
    let (severity, title) = if pool.mode != "rw" {
        (Severity::Error, format!("the pool is in mode {}", pool.mode))
    } else if pool.needs_check {
        (Severity::Error, "the pool's metadata must be checked".to_owned())
    } else if fullest.1.share() > NEARLY_FULL {
        (Severity::Warning, format!("the pool's {} is nearly full", fullest.0))
    } else {
        return None;
    };
    let seen = uses.map(|(what, usage)| evidence(used(what, usage), &target.from));
    Some(Found::new(severity, title).evidence(seen))
}

fn zeroed_chunks(_: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let MapperTarget::ThinPool(pool) = &target.value else { return None };
    (pool.zeroes_chunks && pool.chunk_bytes >= 512 << 10).then(|| {
        let chunk = bytes(pool.chunk_bytes);
        Found::info(format!("each new chunk of {chunk} is zeroed"))
            .seen(format!("chunk {chunk}, zeroing on"), &target.from)
    })
}

fn snapshots(_: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    match target.value {
        MapperTarget::SnapshotOrigin { snapshots } => Some(
            Found::warning("the first write to each chunk copies it to the snapshots")
                .seen(format!("snapshots: {snapshots}"), &target.from),
        ),
        MapperTarget::Snapshot(_) => Some(
            Found::info("it is a snapshot: the first write to each chunk copies it")
                .seen("the target is a snapshot", &target.from),
        ),
        _ => None,
    }
}

fn full_snapshot(_: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let MapperTarget::Snapshot(SnapshotTarget { copies, .. }) = target.value else {
        return failed(target, &["snapshot", "snapshot-merge"], "the snapshot is lost");
    };
    (copies.share() > NEARLY_FULL).then(|| {
        Found::warning("the snapshot is nearly full").seen(used("copies", copies), &target.from)
    })
}

fn full_vdo(_: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let MapperTarget::Vdo(vdo) = &target.value else { return None };
    let (severity, title) = match vdo.mode.as_str() {
        "normal" if vdo.physical.share() <= NEARLY_FULL => return None,
        "normal" => (Severity::Warning, "VDO has nearly run out of space".to_owned()),
        "recovering" => (Severity::Warning, "VDO is recovering".to_owned()),
        mode => (Severity::Error, format!("VDO is in mode {mode}")),
    };
    Some(Found::new(severity, title).seen(used("physical space", vdo.physical), &target.from))
}

fn failed_cache(_: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let state = match &target.value {
        MapperTarget::Cache(c) if c.needs_check => "its metadata must be checked",
        MapperTarget::Cache(c) if c.read_only => "its metadata is read-only",
        MapperTarget::Writecache { failed: true, .. } => "stopped after an error",
        _ => return failed(target, &["cache", "writecache"], "the cache has failed"),
    };
    Some(Found::error(format!("the cache: {state}")).seen(format!("cache: {state}"), &target.from))
}

fn cold_cache(_: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let MapperTarget::Cache(cache) = &target.value else { return None };
    let reads = cache.read_hits.saturating_add(cache.read_misses);
    (reads >= ENOUGH_REQUESTS && cache.read_hits < reads / 2).then(|| {
        let hits = percent(cache.read_hits as f64 / reads as f64);
        Found::info(format!("only {hits} of reads hit the cache"))
            .seen(format!("{} of {reads} reads hit", cache.read_hits), &target.from)
            .seen(used("cache", cache.data), &target.from)
    })
}

fn unsound_raid(_: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    let MapperTarget::Raid(raid) = &target.value else { return None };
    let runs = !["", "idle", "frozen"].contains(&raid.action.as_str());
    let seen = format!("{} {}, action {}", raid.level, raid.health, raid.action);
    if raid.health.contains(['D', '-']) {
        return Some(Found::error("a member has failed or is missing").seen(seen, &target.from));
    }
    runs.then(|| {
        Found::warning(format!("the volume runs a {}", raid.action)).seen(seen, &target.from)
    })
}

fn journalled(_: &Device, target: &Fact<MapperTarget>) -> Option<Found> {
    matches!(target.value, MapperTarget::Integrity { journal: true })
        .then(|| Found::info("every write is journalled first").seen("mode: J", &target.from))
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, encrypted, fact, fires, mapper, quiet};
    use seekwell_inspect::facts::{
        CacheTarget, MapperTarget as T, RaidTarget, SnapshotTarget, ThinPool, Usage, VdoTarget,
    };

    fn usage(used_bytes: u64) -> Usage {
        Usage { used_bytes, bytes: 1000 }
    }

    fn pool(data: u64, chunk_bytes: u64, mode: &str) -> T {
        let (data, metadata) = (usage(data), usage(100));
        let (mode, zeroes_chunks) = (mode.to_owned(), true);
        T::ThinPool(ThinPool {
            data,
            metadata,
            chunk_bytes,
            zeroes_chunks,
            mode,
            ..ThinPool::default()
        })
    }

    fn cache(mode: &str, read_hits: u64, read_misses: u64) -> T {
        let mode = mode.to_owned();
        T::Cache(CacheTarget { mode, read_hits, read_misses, ..CacheTarget::default() })
    }

    fn raid(health: &str, action: &str) -> T {
        let level = "raid1".to_owned();
        T::Raid(RaidTarget { level, health: health.to_owned(), action: action.to_owned() })
    }

    fn snapshot(used_bytes: u64) -> T {
        T::Snapshot(SnapshotTarget { copies: usage(used_bytes), chunk_bytes: 4096 })
    }

    fn vdo(mode: &str, used_bytes: u64) -> T {
        let (mode, physical) = (mode.to_owned(), usage(used_bytes));
        T::Vdo(VdoTarget { mode, physical, ..VdoTarget::default() })
    }

    fn failed(name: &str) -> T {
        T::Failed { name: name.to_owned() }
    }

    /// Of the targets above a disk.
    fn targets() -> Vec<Case> {
        let case = |is_found, id, target: T| {
            let change = move |m: &mut Machine| m.target(target.clone());
            if is_found { fires(id, mapper, change) } else { quiet(id, mapper, change) }
        };
        vec![
            case(true, "SW-DM-007", pool(900, 65536, "rw")).warning(),
            case(true, "SW-DM-007", pool(1000, 65536, "out_of_data_space")).error(),
            case(true, "SW-DM-007", failed("thin-pool")).error(),
            case(false, "SW-DM-007", pool(850, 65536, "rw")),
            case(true, "SW-DM-008", pool(1, 1 << 20, "rw")).info(),
            case(false, "SW-DM-008", pool(1, 65536, "rw")),
            case(true, "SW-DM-009", T::SnapshotOrigin { snapshots: 1 }).warning(),
            case(false, "SW-DM-009", T::Thin { mapped_bytes: 4096 }),
            case(true, "SW-DM-010", snapshot(900)).warning(),
            case(true, "SW-DM-010", failed("snapshot")).error(),
            case(false, "SW-DM-010", snapshot(500)),
            case(true, "SW-DM-011", failed("cache")).error(),
            case(true, "SW-DM-011", T::Writecache { failed: true, block_bytes: 4096 }).error(),
            case(false, "SW-DM-011", cache("writeback", 0, 0)),
            case(true, "SW-DM-012", cache("writeback", 20_000, 180_000)).info(),
            case(false, "SW-DM-012", cache("writeback", 2, 18)),
            case(true, "SW-DM-013", raid("AD", "idle")).error(),
            case(true, "SW-DM-013", raid("A-", "idle")).error(),
            case(true, "SW-DM-013", raid("Aa", "recover")).warning(),
            case(false, "SW-DM-013", raid("AA", "idle")),
            case(true, "SW-DM-014", T::Integrity { journal: true }).info(),
            case(false, "SW-DM-014", T::Integrity { journal: false }),
            case(true, "SW-DM-015", vdo("normal", 900)).warning(),
            case(true, "SW-DM-015", vdo("recovering", 10)).warning(),
            case(true, "SW-DM-015", vdo("read-only", 10)).error(),
            case(false, "SW-DM-015", vdo("normal", 800)),
        ]
    }

    fn crypts() -> Vec<Case> {
        vec![
            fires("SW-DM-004", encrypted, |m| m.crypt().no_write_workqueue = false).info(),
            quiet("SW-DM-004", encrypted, |m| m.crypt().no_write_workqueue = false)
                .and(|m| m.disk().queue.rotational = fact(true, "rotational")),
            fires("SW-DM-005", encrypted, |m| m.crypt().sector_bytes = 512).info(),
            quiet("SW-DM-005", encrypted, |m| m.crypt().sector_bytes = 512)
                .and(|m| m.disk().below[0].queue.physical_block_bytes = fact(512, "physical")),
            fires("SW-DM-006", encrypted, |m| m.crypt().discards = false).info(),
            quiet("SW-DM-006", encrypted, |m| m.crypt().discards = false).and(|m| {
                let disk = &mut m.disk().below[0].detail.queue;
                disk.discard_max_hardware_bytes = fact(0, "discard_max_hw_bytes");
            }),
        ]
    }

    pub(crate) fn all() -> Vec<Case> {
        let mut all = devices();
        all.extend(targets());
        all.extend(crypts());
        all
    }

    fn devices() -> Vec<Case> {
        let role = |word: &'static str| {
            move |m: &mut Machine| m.disk().role = fact(word.into(), "dm/uuid")
        };
        vec![
            fires("SW-DM-001", mapper, |m| {
                m.detail().mapper.as_mut().unwrap().suspended = fact(true, "dm/suspended");
            })
            .error(),
            quiet("SW-DM-001", mapper, |m| m.detail().mapper.as_mut().unwrap().suspended = None),
            fires("SW-DM-002", mapper, role("multipath")).warning(),
            quiet("SW-DM-002", mapper, role("crypt")),
            fires("SW-DM-003", mapper, |m| m.disk().below.clear()).error(),
            quiet("SW-DM-003", mapper, |m| m.disk().below.clear()).and(role("zero")),
        ]
    }
}
