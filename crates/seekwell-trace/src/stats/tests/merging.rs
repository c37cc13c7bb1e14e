//! Parts by device, in any order and through any tree of merges, are the whole to the byte.

use super::{Noise, gathered};
use crate::error::TraceError;
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, BATCH, Capture, Clock, Device, Tables, TraceSource};
use crate::stats::{Asked, Figure, Options, Policy, Shard, Stats, StatsError, identity, of};
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// A trace of some devices, with all that records can hold.
pub(super) fn made(seed: u64, n: u64, devices: u64) -> Vec<Record> {
    let mut noise = Noise(seed);
    let mut now = noise.below(100) * 1_000_000_000;
    let one = |_| {
        now += noise.skewed(2_000_000_000);
        let stamp =
            |ns: u64| if ns.is_multiple_of(17) { Stamp::NONE } else { Stamp::at(Nanos(ns)) };
        let op = Op::ALL[noise.below(4) as usize];
        let flags = match noise.below(20) {
            0 => Flags::OTHER,
            1 => Flags::REQUEST,
            2 => Flags::BIO | Flags::FUA,
            _ => Flags(0),
        };
        let issued = now + noise.below(3_000);
        Record {
            queued: stamp(now),
            issued: stamp(issued),
            completed: stamp(issued + noise.below(5_000_000)),
            device: noise.skewed(devices) as u32,
            process: noise.below(5) as u32,
            error: u16::from(noise.below(30) == 0),
            flags,
            ..Record::new(op, noise.skewed(3000) * 512, noise.skewed(70_000) as u32 * 7)
        }
    };
    (0..n).map(one).collect()
}

fn options(rate_log2: u32) -> Options {
    Options { rate_log2, policies: vec![Policy::Lru], ..Options::default() }
}

/// Merges parts in an order and a tree that the noise decides.
fn merged(mut parts: Vec<Stats>, noise: &mut Noise) -> Stats {
    while parts.len() > 1 {
        let one = noise.below(parts.len() as u64) as usize;
        let part = parts.swap_remove(one);
        let into = noise.below(parts.len() as u64) as usize;
        parts[into].merge(part).expect("they fit");
    }
    parts.pop().expect("one is left")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_partition_order_and_tree_of_merges_gives_the_same_bytes(
        seed in any::<u64>(), n in 0u64..1500,
        devices in 1u64..12, shards in 1u64..9, rate in 0u32..3,
    ) {
        let records = made(seed, n, devices);
        let mut whole = gathered(&records, options(rate), 500);
        let mut noise = Noise(seed ^ 7);
        let part = |index| {
            let shard = Shard { index, count: shards };
            gathered(&records, Options { shard, ..options(rate) }, 333)
        };
        let parts = (0..shards).map(part).map(|mut part| {
            // Some go through a file.
            let bytes = part.to_bytes();
            if noise.below(2) == 0 { Stats::from_bytes(&bytes).expect("whole") } else { part }
        });
        let parts: Vec<Stats> = parts.collect();
        let mut all = merged(parts, &mut noise);
        prop_assert_eq!(all.to_bytes(), whole.to_bytes());
        prop_assert_eq!(all.digest(), whole.digest());
        let (mut told, _) = all.finish("");
        let (whole, _) = whole.finish("");
        told.about.clone_from(&whole.about);
        prop_assert_eq!(told, whole);
    }

    #[test]
    fn threads_change_nothing(seed in any::<u64>(), threads in 2usize..5) {
        let records = made(seed, 9000, 7);
        let of = |threads| {
            // Far more batches than may wait.
            let source = Given { batch: 64, ..Given::of(records.clone()) };
            let stats = of(source, "a.csv", &options(1), threads, |_| true);
            stats.expect("reads").expect("to the end").to_bytes()
        };
        prop_assert_eq!(of(threads), of(1));
    }

    #[test]
    fn damaged_bytes_are_refused(seed in any::<u64>(), flip in any::<(usize, u8)>()) {
        let mut bytes = gathered(&made(seed, 200, 3), options(0), 999).to_bytes();
        let at = flip.0 % bytes.len();
        prop_assert!(Stats::from_bytes(&bytes[..at]).is_err());
        bytes[at] ^= flip.1 | 1;
        prop_assert!(Stats::from_bytes(&bytes).is_err());
    }
}

struct Given {
    records: Vec<Record>,
    batch: usize,
    about: About,
    tables: Tables,
}

impl Given {
    fn of(mut records: Vec<Record>) -> Self {
        records.reverse();
        let device = |i| Device { name: format!("d{i}"), ..Device::default() };
        let processes = (0..5).map(|i| format!("p{i}")).collect();
        let tables = Tables { devices: (0..12).map(device).collect(), processes };
        let about = About::new("test", Clock::Start, Capture::Both);
        Self { records, batch: BATCH, about, tables }
    }
}

impl TraceSource for Given {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let left = self.records.len().saturating_sub(self.batch);
        out.extend(self.records.drain(left..).rev());
        Ok(())
    }
    fn about(&self) -> &About {
        &self.about
    }
    fn tables(&self) -> &Tables {
        &self.tables
    }
}

// The rate fell by what one pass saw, and what was merged of two rates was neither.
#[test]
fn parts_that_do_not_fit_together_are_refused_and_nothing_is_added() {
    let records = made(3, 300, 2);
    let mut one = gathered(&records, options(0), 999);
    let before = one.to_bytes();
    let mut refused =
        |with: Options| one.merge(gathered(&records, with, 999)).expect_err("refused");
    assert!(matches!(refused(options(1)), StatsError::Rates { one: 0, other: 1 }));
    let other = Options { asked: Asked::ALL.without(Figure::Reuse), ..options(0) };
    assert!(matches!(refused(other), StatsError::Figures { .. }));
    assert!(matches!(refused(Options::default()), StatsError::Options { .. }));
    assert!(matches!(refused(options(0)), StatsError::SameDevice { .. }));
    assert_eq!(one.to_bytes(), before);
}

#[test]
fn traces_whose_clocks_differ_are_not_merged() {
    let records = made(3, 50, 1);
    let with = |zero, name: &str| {
        let mut stats = Stats::new(Options::default());
        let mut given = Given::of(Vec::new());
        given.about.unix_ns_at_zero = zero;
        given.tables.devices[0].name = name.to_owned();
        stats.update(&records, &given.about, &given.tables).expect("there is room");
        stats
    };
    let mut dated = with(Some(5_000_000_000), "a");
    assert!(matches!(dated.merge(with(None, "b")), Err(StatsError::Options { .. })));
    dated.merge(with(Some(0), "b")).expect("both count from 1970");
    let (told, _) = dated.finish("");
    let (alone, _) = with(Some(0), "b").finish("");
    assert_eq!(told.duration_ns, alone.duration_ns.map(|ns| ns + 5_000_000_000));
}

#[test]
fn too_many_blocks_are_an_error_that_names_the_option() {
    let records: Vec<Record> = (0..5000).map(|i| Record::new(Op::Read, i * 4096, 4096)).collect();
    let mut stats = Stats::new(Options { most_blocks: 1000, ..Options::default() });
    let given = Given::of(Vec::new());
    let error = stats.update(&records, &given.about, &given.tables).expect_err("refused");
    assert!(error.to_string().ends_with("sample fewer, with --rate-log2 2"), "{error}");
    // A lane that fails ends the reading, and its error is returned.
    let source = Given::of(records.repeat(20));
    let few = Options { most_blocks: 1000, ..Options::default() };
    let error = of(source, "a.csv", &few, 2, |_| true).expect_err("refused");
    assert!(matches!(error, StatsError::TooMany { rate_log2: 0, .. }), "{error}");
}

// The 4,096th device and all after it were one.
#[test]
fn any_number_of_devices_is_told_apart() {
    let record =
        |i: u64| Record { device: (i / 2) as u32, ..Record::new(Op::Read, i % 2 * 4096, 4096) };
    let records: Vec<Record> = (0..20_000).map(record).collect();
    let (told, _) = gathered(&records, Options::default(), 999).finish("");
    assert_eq!(told.space.footprint_bytes, 20_000 * 4096);
    assert_eq!(told.order.sequential_share, Some(0.5));
    assert_eq!(told.reuse.expect("reuse").cold_share, 1.0);
}

#[test]
fn a_device_is_known_by_its_name_its_host_or_else_its_file() {
    let about = |format| About::new(format, Clock::Start, Capture::Queue);
    assert_eq!(identity("419", &about("alibaba"), "x/part-1.csv.gz"), "419");
    assert_eq!(identity("disk", &about("vscsi"), "x/cloudPhysicsIO.vscsi"), "cloudPhysicsIO");
    assert_eq!(identity("", &about("csv"), "web.csv"), "web");
    let recorded = About { host: Some("h".to_owned()), ..about("seekwell") };
    assert_eq!(identity("sda", &recorded, "a.parquet"), "h/sda");
    assert_eq!(identity("h/sda", &recorded, "a.parquet"), "h/sda");
}
