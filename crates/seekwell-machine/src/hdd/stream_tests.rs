use super::*;
use crate::describe::{Description, read};
use crate::library::{PARTS, Shelf};
use crate::part::{Command, Part};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Hard drives that ship, by name.
fn shipped() -> Vec<(&'static str, Params)> {
    let drive = |name: &'static str| {
        let text = format!("[drive]\npart = \"{name}\"\n");
        let description = Description::read(name, &text, &Shelf::default()).ok()?;
        let mut node = description.root().get("drive")?.clone();
        node.take("kind");
        node.take("actuators");
        node.take("shingled");
        Some((name, read::<Params>(&node, "drive").ok()?))
    };
    PARTS.iter().filter_map(|(name, _)| drive(name)).collect()
}

/// Bytes a second of the first zone with its skews, and nothing lost besides.
fn media_rate(params: &Params) -> f64 {
    let zone = &params.layout.zones[0];
    let (tracks, sectors) = (f64::from(params.surfaces), f64::from(zone.sectors_per_track));
    let skews = (tracks - 1.0) * zone.track_skew + zone.cylinder_skew;
    let turns_per_s = params.rpm / 60.0;
    let share = tracks * sectors / (tracks * sectors + skews);
    sectors * f64::from(params.sector_bytes) * turns_per_s * share
}

/// Bytes a second of a sequential stream from the beginning, with `depth` requests outstanding.
fn stream_rate(params: &Params, op: Op, kib: u32, depth: u32) -> f64 {
    let mut drive = Hdd::new(params.clone(), 7).expect("legal parameters");
    let (len, all) = (kib << 10, (256 << 10) / kib);
    let (mut now, mut done) = (Nanos::ZERO, Vec::new());
    let give = |drive: &mut Hdd, nth: u32, now| {
        let offset = u64::from(nth) * u64::from(len);
        drive.submit(Command { tag: nth, op, offset, len, durable: false }, now);
    };
    (0..depth).for_each(|nth| give(&mut drive, nth, now));
    let (mut given, mut ended) = (depth, 0);
    while ended < all {
        now = drive.next();
        drive.advance(now, &mut done);
        for _ in done.drain(..) {
            ended += 1;
            give(&mut drive, given, now);
            given += 1;
        }
    }
    f64::from(ended) * f64::from(len) / now.as_secs_f64()
}

/// Story: 128 KiB reads in sequence came at 190 MB/s from one to four outstanding, and at 35 with
/// 32: the arm took whichever began to pass first.
#[test]
fn every_drive_reads_a_stream_at_the_rate_of_its_medium_at_any_depth() {
    let drives = shipped();
    for name in ["exos-2x18", "exos-x18", "st2000dm006", "st8000as0002"] {
        assert!(drives.iter().any(|drive| drive.0 == name), "{name}");
    }
    for (name, params) in drives {
        for depth in [1, 2, 4, 8, 16, 32].into_iter().filter(|d| *d <= params.queue.depth) {
            for kib in [64, 128, 1024] {
                let share = stream_rate(&params, Op::Read, kib, depth) / media_rate(&params);
                assert!((0.95..1.02).contains(&share), "{name}, {kib} KiB, {depth}: {share}");
            }
        }
    }
}

/// Mean time of a random durable write of `len` bytes, in nanoseconds.
fn write_time(params: &Params, len: u32) -> f64 {
    const WRITES: u64 = 500;
    let mut drive = Hdd::new(params.clone(), 7).expect("legal parameters");
    let blocks = drive.capacity() / 4096;
    let (mut now, mut done, mut sum) = (Nanos::ZERO, Vec::new(), 0);
    for nth in 0..WRITES {
        let offset = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) % blocks * 4096;
        drive.submit(Command { tag: 0, op: Op::Write, offset, len, durable: true }, now);
        while done.is_empty() {
            drive.advance(drive.next(), &mut done);
        }
        let end = done.remove(0).at;
        sum += end.since(now).0;
        now = end + Nanos::from_millis(50);
    }
    sum as f64 / WRITES as f64
}

#[test]
fn a_write_of_512_bytes_costs_a_drive_with_sectors_of_4_kib_a_turn_more() {
    let large: Vec<_> =
        shipped().into_iter().filter(|(_, params)| params.physical_bytes == Some(4096)).collect();
    for name in ["exos-x18", "st2000dm006", "st250dm000"] {
        assert!(large.iter().any(|drive| drive.0 == name), "{name}");
    }
    for (name, params) in large {
        let turns = (write_time(&params, 512) - write_time(&params, 4096)) / (60e9 / params.rpm);
        assert!((0.9..1.1).contains(&turns), "{name}: {turns}");
    }
}
