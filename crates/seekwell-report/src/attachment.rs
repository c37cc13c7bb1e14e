//! The attachment of a target as lines of text: a tree of devices from the file system down, each
//! disk with its stations back to the CPU.

use crate::text::clean;
use crate::units::{binary, capacity, time, whole_percent};
use seekwell_inspect::facts::{BtrfsFacts, DrbdState, MapperTarget, NetworkPath, Usage, ZfsFacts};
use seekwell_inspect::{Device, DeviceKind, Fact, Filesystem, Inspection};

/// A line of the tree: how deep it stands, a short name and what it is. All text is clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Steps in from the left.
    pub depth: usize,
    pub name: String,
    /// What it is, in words.
    pub detail: String,
    /// Where that was read; may be empty.
    pub from: String,
}

/// The lines of a target: file system, devices, under each disk its stations from the device back
/// to the CPU, and the network interface that leads to the server.
pub fn lines(inspection: &Inspection) -> Vec<Line> {
    let mut out = Vec::new();
    let device = inspection.device.as_ref();
    let filesystem = inspection.filesystem.as_ref();
    for fs in std::iter::successors(filesystem, |fs| fs.below.as_deref()) {
        let mut line = Line { depth: out.len(), ..line_of_filesystem(fs) };
        let layout =
            device.and_then(|d| d.detail.btrfs.first()).filter(|_| fs.fstype.value == "btrfs");
        line.detail.extend(layout.map(profiles));
        out.push(line);
    }
    if let Some(device) = device {
        walk(device, out.len(), &mut out);
    }
    out.extend(inspection.network.as_ref().map(|path| line_of_network(out.len(), path)));
    out
}

fn line_of_network(depth: usize, path: &Fact<NetworkPath>) -> Line {
    let rate = path.value.rate().unwrap_or_else(|| "speed unknown".to_owned());
    Line {
        depth,
        name: clean(&path.value.interface),
        detail: format!("network: {rate}, to the server {}", clean(&path.value.server)),
        from: clean(&path.from),
    }
}

/// How a btrfs lays its data out: `, data raid1, metadata raid1`.
fn profiles(fs: &BtrfsFacts) -> String {
    let both = [("data", &fs.data_profile), ("metadata", &fs.metadata_profile)];
    let known = both.into_iter().filter_map(|(what, p)| Some((what, p.as_ref()?)));
    known.map(|(what, profile)| format!(", {what} {}", clean(&profile.value))).collect()
}

fn line_of_filesystem(fs: &Filesystem) -> Line {
    let mut parts = vec![format!("{} from {}", clean(&fs.fstype.value), clean(&fs.source.value))];
    parts.extend(fs.size_bytes.as_ref().map(|f| capacity(f.value)));
    parts.extend(fs.available_bytes.as_ref().map(|f| format!("{} free", capacity(f.value))));
    if fs.read_only {
        parts.push("read only".to_owned());
    }
    Line {
        depth: 0,
        name: clean(&fs.mount_point.value),
        detail: parts.join(", "),
        from: clean(&fs.mount_point.from),
    }
}

fn kind(device: &Device) -> &'static str {
    match device.kind {
        DeviceKind::Disk => "disk",
        DeviceKind::Partition => "partition",
        DeviceKind::DeviceMapper => "device mapper",
        DeviceKind::Md => "software RAID",
        DeviceKind::Loop => "loop device",
        DeviceKind::Zram => "compressed memory",
        DeviceKind::Network => "network disk",
        DeviceKind::MultipathHead => "multipath head",
        DeviceKind::Pool => "pool",
        DeviceKind::Other => "block device",
    }
}

fn walk(device: &Device, depth: usize, out: &mut Vec<Line>) {
    let texts = [&device.model, &device.role, &device.serial, &device.firmware];
    let [model, role, serial, firmware] = texts.map(|f| f.as_ref().map(|f| clean(&f.value)));
    let mut parts = vec![kind(device).to_owned()];
    let mapped = device.detail.mapper.as_ref().and_then(|m| m.name.as_ref());
    let mapped = mapped.map(|f| clean(&f.value)).filter(|name| role.as_ref() != Some(name));
    parts.extend(role.filter(|r| !r.is_empty()));
    parts.extend(mapped.filter(|name| !name.is_empty()));
    parts.extend(device.detail.mapper.iter().flat_map(|m| &m.targets).filter_map(target));
    parts.extend(device.detail.drbd.as_ref().map(|f| mirror(&f.value)));
    parts.extend(device.detail.zfs.as_ref().into_iter().flat_map(pool));
    parts.extend(model.filter(|m| !m.is_empty()));
    parts.extend(device.size_bytes.as_ref().map(|f| capacity(f.value)));
    parts.extend(serial.map(|s| format!("serial {s}")));
    parts.extend(firmware.map(|f| format!("firmware {f}")));
    let sleeps = device.detail.nvme.as_ref().and_then(|n| n.idle_exit_us.as_ref());
    parts.extend(
        sleeps.map(|exit| format!("idle states with {} to wake", time(exit.value as f64 * 1e3))),
    );
    let from = [&device.model, &device.role].into_iter().flatten().next();
    out.push(Line {
        depth,
        name: clean(&device.name),
        detail: parts.join(", "),
        from: from.map_or_else(String::new, |f| clean(&f.from)),
    });
    let stations =
        device.attachment.iter().rev().filter(|h| h.kind != "device" && h.kind != "disk");
    for (at, hop) in (depth + 1..).zip(stations) {
        out.push(Line {
            depth: at,
            name: clean(&hop.name),
            detail: format!("{}: {}", clean(&hop.kind), clean(&hop.detail)),
            from: clean(&hop.from),
        });
    }
    for below in &device.below {
        walk(below, depth + 1, out);
    }
}

/// What decides the speed of a device-mapper target, in words; `None` if it only maps.
fn target(target: &Fact<MapperTarget>) -> Option<String> {
    use MapperTarget as T;
    let used = |what: &str, usage: Usage| {
        format!("{what} {} full ({})", whole_percent(usage.share()), binary(usage.bytes))
    };
    Some(match &target.value {
        T::Crypt(crypt) => {
            let queued = match (crypt.no_read_workqueue, crypt.no_write_workqueue) {
                (true, true) => "no workqueues",
                (true, false) => "a workqueue for writes",
                (false, true) => "a workqueue for reads",
                (false, false) => "workqueues for reads and writes",
            };
            let discards = if crypt.discards { "passed down" } else { "not passed down" };
            format!(
                "{}, {} sectors, {queued}, discards {discards}",
                clean(&crypt.cipher),
                binary(crypt.sector_bytes)
            )
        }
        T::ThinPool(pool) => format!(
            "thin pool, {}, {}, {} chunks, mode {}",
            used("data", pool.data),
            used("metadata", pool.metadata),
            binary(pool.chunk_bytes),
            clean(&pool.mode)
        ),
        T::Thin { mapped_bytes } => format!("thin, {} mapped", binary(*mapped_bytes)),
        T::Snapshot(snapshot) => format!("snapshot, {}", used("copies", snapshot.copies)),
        T::SnapshotOrigin { snapshots } => format!("snapshots: {snapshots}"),
        T::Cache(cache) => {
            let reads = cache.read_hits.saturating_add(cache.read_misses);
            let hits = whole_percent(cache.read_hits as f64 / reads.max(1) as f64);
            let (mode, usage) = (clean(&cache.mode), used("cache", cache.data));
            format!(
                "{mode}, {usage}, {hits} of {reads} reads hit, {} dirty",
                binary(cache.dirty_bytes)
            )
        }
        T::Writecache { .. } => "write cache".to_owned(),
        T::Integrity { journal } => {
            format!("integrity{}", if *journal { " with a journal" } else { "" })
        }
        T::Raid(raid) => format!(
            "{}, members {}, {}",
            clean(&raid.level),
            clean(&raid.health),
            clean(&raid.action)
        ),
        T::Striped { disks, chunk_bytes } => {
            format!("striped over {disks} disks, {} chunks", binary(*chunk_bytes))
        }
        T::Vdo(vdo) => {
            let compression = if vdo.compresses { "on" } else { "off" };
            format!(
                "VDO, mode {}, {}, deduplication index {}, compression {compression}",
                clean(&vdo.mode),
                used("space", vdo.physical),
                clean(&vdo.index)
            )
        }
        T::Failed { name } => format!("{}, failed", clean(name)),
        T::Other { .. } => return None,
    })
}

/// How a disk is mirrored over the network.
fn mirror(state: &DrbdState) -> String {
    let [connection, disk, peer] =
        [&state.connection, &state.disk, &state.peer_disk].map(|word| clean(word));
    let protocol = match state.protocol.as_str() {
        "" => String::new(),
        letter => format!(", protocol {}", clean(letter)),
    };
    format!("{connection}{protocol}, disk {disk}, peer disk {peer}")
}

/// The state of a ZFS pool, and the cache in front of it.
fn pool(zfs: &ZfsFacts) -> impl Iterator<Item = String> {
    let state = zfs.state.as_ref().map(|f| clean(&f.value));
    let arc = zfs.arc.as_ref().map(|f| {
        let all = f.value.hits.saturating_add(f.value.misses);
        let hits = whole_percent(f.value.hits as f64 / all.max(1) as f64);
        let (bytes, most) = (binary(f.value.bytes), binary(f.value.max_bytes));
        format!("ARC {bytes} of at most {most}, {hits} of {all} requests hit")
    });
    state.into_iter().chain(arc)
}

/// The settings of a device's queue that are known: name, value, where it was read.
pub fn settings(device: &Device) -> Vec<(&'static str, String, String)> {
    let (queue, more) = (&device.queue, &device.detail.queue);
    let mut out = Vec::new();
    let mut add = |name, value: Option<(String, &String)>| {
        if let Some((value, from)) = value {
            out.push((name, value, clean(from)));
        }
    };
    let yes_no = |b: bool| if b { "yes" } else { "no" }.to_owned();
    let number = |f: &seekwell_inspect::Fact<u64>| f.value.to_string();
    add("scheduler", queue.scheduler.as_ref().map(|f| (clean(&f.value), &f.from)));
    add("requests queued", queue.nr_requests.as_ref().map(|f| (number(f), &f.from)));
    add("queue depth", queue.queue_depth.as_ref().map(|f| (number(f), &f.from)));
    add("hardware queues", queue.hardware_queues.as_ref().map(|f| (number(f), &f.from)));
    add("read-ahead", queue.read_ahead_bytes.as_ref().map(|f| (binary(f.value), &f.from)));
    add("largest request", queue.max_request_bytes.as_ref().map(|f| (binary(f.value), &f.from)));
    add("write cache", queue.write_cache.as_ref().map(|f| (clean(&f.value), &f.from)));
    add("forced unit access", queue.fua.as_ref().map(|f| (yes_no(f.value), &f.from)));
    add("rotational", queue.rotational.as_ref().map(|f| (yes_no(f.value), &f.from)));
    add("logical block", queue.logical_block_bytes.as_ref().map(|f| (binary(f.value), &f.from)));
    add("physical block", queue.physical_block_bytes.as_ref().map(|f| (binary(f.value), &f.from)));
    let offset = queue.alignment_offset_bytes.as_ref().filter(|f| f.value > 0);
    add("alignment offset", offset.map(|f| (binary(f.value), &f.from)));
    let discard = |bytes| if bytes == 0 { "none".to_owned() } else { binary(bytes) };
    add("largest discard", queue.discard_max_bytes.as_ref().map(|f| (discard(f.value), &f.from)));
    if let Some(zones) = &more.zones {
        add("zones", more.zoned.as_ref().map(|f| (clean(&f.value), &f.from)));
        add("zone", zones.zone_bytes.as_ref().map(|f| (binary(f.value), &f.from)));
        let most = |f: &Fact<u64>| match f.value {
            0 => "any number".to_owned(),
            most => most.to_string(),
        };
        add("open zones at most", zones.max_open.as_ref().map(|f| (most(f), &f.from)));
        add("active zones at most", zones.max_active.as_ref().map(|f| (most(f), &f.from)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_inspect::TargetKind;
    use seekwell_inspect::facts::ArcStats;

    fn fact<T>(value: T) -> Option<Fact<T>> {
        Some(Fact::new(value, "/proc/x"))
    }

    #[test]
    fn pools_and_mirrors_say_what_decides_their_speed() {
        let arc = ArcStats {
            bytes: 1 << 30,
            max_bytes: 2 << 30,
            hits: 3,
            misses: 1,
            ..ArcStats::default()
        };
        let mut pool = Device::new("tank", "", DeviceKind::Pool);
        pool.role = fact("zfs".to_owned());
        pool.detail.zfs =
            Some(ZfsFacts { state: fact("ONLINE".into()), arc: fact(arc), ..ZfsFacts::default() });
        let mut mirror = Device::new("drbd0", "147:0", DeviceKind::Network);
        mirror.detail.drbd = fact(DrbdState {
            connection: "StandAlone".into(),
            disk: "UpToDate".into(),
            peer_disk: "DUnknown".into(),
            ..DrbdState::default()
        });
        pool.below.push(mirror);
        let mut inspection = Inspection::new("/tank", TargetKind::Directory);
        inspection.device = Some(pool);
        let shown: Vec<String> = lines(&inspection).into_iter().map(|l| l.detail).collect();
        assert_eq!(
            shown,
            [
                "pool, zfs, ONLINE, ARC 1 GiB of at most 2 GiB, 75 % of 4 requests hit",
                "network disk, StandAlone, disk UpToDate, peer disk DUnknown",
            ]
        );
    }
}
