//! Two real traces whose figures were computed before by other means. The small readers here keep
//! these tests independent of the importers.

use super::stats_of;
use crate::record::{Record, Stamp};
use crate::stats::Options;
use crate::stats::document::TraceStats;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::path::PathBuf;

pub(super) fn data(name: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    let read = std::fs::read(&path).ok();
    if read.is_none() {
        eprintln!("skipped: {} is not there", path.display());
    }
    read
}

pub(super) fn vscsi(bytes: &[u8]) -> Vec<Record> {
    let word = |r: &[u8], at: usize| u32::from_le_bytes(r[at..at + 4].try_into().unwrap());
    let long = |r: &[u8], at: usize| u64::from_le_bytes(r[at..at + 8].try_into().unwrap());
    let one = |r: &[u8]| {
        let op = if word(r, 12) & 0xff == 0x28 { Op::Read } else { Op::Write };
        let queued = Stamp::at(Nanos(long(r, 24) * 1000));
        Record { queued, ..Record::new(op, long(r, 16) * 512, word(r, 4)) }
    };
    bytes.chunks_exact(32).map(one).collect()
}

fn disksim(text: &[u8]) -> Vec<Record> {
    let one = |line: &str| {
        let f: Vec<&str> = line.split_whitespace().collect();
        let ms: f64 = f[0].parse().unwrap();
        let op = if f[4] == "1" { Op::Read } else { Op::Write };
        let sectors: u32 = f[3].parse().unwrap();
        Record {
            queued: Stamp::at(Nanos((ms * 1e6).round() as u64)),
            device: f[1].parse().unwrap(),
            ..Record::new(op, f[2].parse::<u64>().unwrap() * 512, sectors * 512)
        }
    };
    std::str::from_utf8(text).unwrap().lines().map(one).collect()
}

#[track_caller]
fn close(what: &str, got: Option<f64>, golden: f64, within: f64) {
    let got = got.unwrap_or_else(|| panic!("{what} is missing"));
    assert!((got - golden).abs() <= within, "{what}: {got}, and not {golden}");
}

fn mib(bytes: u64) -> Option<f64> {
    Some(bytes as f64 / (1u64 << 20) as f64)
}

fn moved(stats: &TraceStats) -> Option<f64> {
    mib(stats.operations.iter().map(|o| o.bytes).sum())
}

#[test]
fn the_virtual_machine_of_cloudphysics_has_the_figures_computed_before() {
    let Some(bytes) = data("traces/cloudPhysicsIO.vscsi") else { return };
    let stats = stats_of(&vscsi(&bytes), Options::default());
    assert_eq!(stats.requests, 113_872);
    assert_eq!(stats.out_of_order, 0);
    close("seconds", stats.duration_ns.map(|ns| ns as f64 / 1e9), 7200.090, 0.0006);
    close("reads", stats.read_share, 0.4125, 0.00005);
    close("MiB", moved(&stats), 4011.1, 0.05);
    close("mean KiB", stats.sizes.mean_bytes.map(|b| b / 1024.0), 36.07, 0.005);
    assert_eq!(stats.sizes.median_bytes, Some(52 << 10));
    close("sequential", stats.order.sequential_share, 0.2596, 0.00005);
    close("footprint", mib(stats.space.footprint_bytes), 1051.6, 0.05);
    assert!(!stats.space.estimated);
    let arrivals = stats.arrivals.expect("arrivals");
    close("mean gap", Some(arrivals.gap_ns_mean / 1e3), 63_230.0, 0.5);
    close("median gap", arrivals.gap_ns_p50.map(|ns| ns as f64 / 1e3), 573.0, 573.0 / 128.0);
    close("variation", arrivals.gap_variation, 3.76, 0.005);
    let top: Vec<_> = stats.sizes.top.iter().map(|s| (s.bytes >> 10, s.reads + s.writes)).collect();
    assert_eq!(top[..3], [(64, 38_389), (8, 19_473), (4, 15_306)]);
    let reuse = stats.reuse.expect("reuse");
    let cold = stats.space.footprint_bytes as f64 / 4096.0 / stats.space.accesses as f64;
    assert!(!reuse.estimated);
    close("first accesses", Some(reuse.cold_share), cold, 1e-12);
    close("misses of a cache for all", reuse.miss_ratio.last().map(|p| p.1), cold, 1e-9);
}

#[test]
fn the_fourteen_disks_of_disksim_have_the_figures_computed_before() {
    let Some(text) = data("disksim/ascii.trace") else { return };
    let stats = stats_of(&disksim(&text), Options::default());
    assert_eq!(stats.requests, 100_000);
    assert_eq!(stats.devices.len(), 14);
    close("seconds", stats.duration_ns.map(|ns| ns as f64 / 1e9), 1532.936, 0.0006);
    close("reads", stats.read_share, 0.7963, 0.00005);
    close("MiB", moved(&stats), 496.4, 0.05);
    close("mean KiB", stats.sizes.mean_bytes.map(|b| b / 1024.0), 5.08, 0.005);
    // On each device; across the devices, which take turns, it would be 0.0175.
    close("sequential", stats.order.sequential_share, 0.08475, 0.00005);
    close("footprint", mib(stats.space.footprint_bytes), 618.6, 0.05);
    let arrivals = stats.arrivals.expect("arrivals");
    // On each device too; of all of them the mean is 15.33 ms and the variation 1.16.
    close("mean gap", Some(arrivals.gap_ns_mean / 1e6), 193.074, 0.0005);
    close("median gap", arrivals.gap_ns_p50.map(|ns| ns as f64 / 1e6), 39.865, 39.9 / 128.0);
    close("variation", arrivals.gap_variation, 13.1273, 0.00005);
}
