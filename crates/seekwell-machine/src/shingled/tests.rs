use super::*;
use crate::fake::{FakeDrive, arrivals, closed_loop, command, drain, lawful};
use proptest::prelude::*;

const BAND: u32 = 256 << 10;
const CACHE: u64 = 1 << 20;
const PARAMS: ShingledParams = ShingledParams {
    cache_bytes: CACHE,
    cache_ranges: 64,
    band_bytes: BAND,
    idle_ns: 1_000_000_000,
};
const HOME: u64 = CACHE + BAND as u64;

fn disk() -> Shingled<FakeDrive> {
    Shingled::new(PARAMS, FakeDrive::new(8, 10_000)).expect("legal")
}

/// Does one command, and the cleaning it waits for, and returns what that made of the drive
/// underneath.
fn alone(
    disk: &mut Shingled<FakeDrive>,
    now: u64,
    op: Op,
    at: u64,
    len: u32,
) -> Vec<(Op, u64, u32)> {
    let mut done = Vec::new();
    disk.advance(Nanos(now), &mut done);
    let before = disk.part.given.len();
    disk.submit(command(0, op, at, len), Nanos(now));
    while done.is_empty() || disk.cleaning.is_some() {
        let next = disk.next();
        disk.advance(next, &mut done);
    }
    let given = &disk.part.given[before..];
    given.iter().map(|(_, it)| (it.op, it.offset, it.len)).collect()
}

#[test]
fn writes_go_to_the_cache_in_order_and_reads_find_the_newest() {
    let mut disk = disk();
    assert_eq!(alone(&mut disk, 0, Op::Write, 40_960, 8192), [(Op::Write, 0, 8192)]);
    assert_eq!(alone(&mut disk, 20_000, Op::Write, 45_056, 8192), [(Op::Write, 8192, 8192)]);
    let read = alone(&mut disk, 40_000, Op::Read, 36_864, 20_480);
    let pieces = [
        (Op::Read, HOME + 36_864, 4096),
        (Op::Read, 0, 4096),
        (Op::Read, 8192, 8192),
        (Op::Read, HOME + 53_248, 4096),
    ];
    assert_eq!(read, pieces);
}

#[test]
fn a_rest_cleans_the_band_and_a_read_is_one_piece_again() {
    let mut disk = disk();
    for nth in 0..3 {
        alone(&mut disk, nth * 20_000, Op::Write, 8192 * nth, 4096);
    }
    let before = disk.part.given.len();
    assert!(drain(&mut disk).is_empty());
    let steps: Vec<_> = disk.part.given[before..].iter().map(|(_, c)| (c.op, c.offset)).collect();
    let band = [(Op::Read, HOME), (Op::Read, 0), (Op::Write, CACHE), (Op::Write, HOME)];
    assert_eq!(steps, band, "three writes lie in a row in the cache");
    assert!(disk.part.given[before].0 >= Nanos(1_000_000_000), "not before the rest");
    let read = alone(&mut disk, 2_000_000_000, Op::Read, 0, 65_536);
    assert_eq!(read, [(Op::Read, HOME, 65_536)]);
    let written = disk.usage().written.expect("it tells");
    assert_eq!((written.host_bytes, written.media_bytes), (12_288, 12_288 + 2 * u64::from(BAND)));
}

#[test]
fn a_stream_goes_on_in_the_band_it_reaches() {
    let mut disk = disk();
    let step = BAND / 4;
    let mut places = Vec::new();
    for nth in 0..12 {
        let write = alone(&mut disk, nth * 20_000, Op::Write, nth * u64::from(step), step);
        places.push(write[0].1 >= HOME);
    }
    let in_place = [[false; 4], [true; 4], [true; 4]].concat();
    assert_eq!(places, in_place, "the first band's writes continue nothing");
    // It stops within a band: the rest of that is in the cache and has to be cleaned.
    alone(&mut disk, 240_000, Op::Write, 12 * u64::from(step), step);
    let before = disk.part.given.len();
    drain(&mut disk);
    let homes = disk.part.given[before..].iter().filter(|(_, c)| c.op == Op::Write);
    let homes: Vec<u64> = homes.map(|(_, c)| c.offset).filter(|at| *at >= HOME).collect();
    assert_eq!(homes, [HOME, HOME + 3 * u64::from(BAND)]);
}

#[test]
fn writes_wait_for_a_band_each_once_the_map_is_full() {
    let end = |count: u32| {
        let scattered = |nth: u32| (Op::Write, u64::from(nth) * 16 * u64::from(BAND), 4096);
        let ends = closed_loop(&mut disk(), 4, count, scattered);
        ends.into_iter().max().expect("some").0
    };
    let fast = end(64);
    assert_eq!(fast, 64 / 4 * 10_000, "four at a time, as the drive underneath");
    // Four commands of the drive for each band: it, what is cached of it, scratch, and home.
    assert!((end(128) - fast) >= 64 * 4 * 10_000);
}

proptest! {
    #[test]
    fn everything_is_done_once_and_in_order(arrivals in arrivals()) {
        lawful(&mut disk(), 8, &arrivals);
    }

    /// An oracle knows for each 4 KiB whether it was written since its band was last cleaned.
    /// Writes begin at even units and end at odd ones: none continues another.
    #[test]
    fn every_byte_is_read_once_and_from_where_it_was_written(
        writes in prop::collection::vec((0_u64..256, 0_u32..20), 1..60),
        (from, units) in (0_u64..512, 1_u32..60),
    ) {
        let mut disk = disk();
        let mut newest = std::collections::HashMap::new();
        for (nth, (unit, count)) in writes.iter().map(|(at, n)| (2 * at, 2 * n + 1)).enumerate() {
            let now = nth as u64 * 20_000_000;
            let mut at = unit;
            // Where the cache is full a band is cleaned, which begins with reading all of it.
            for (op, offset, len) in alone(&mut disk, now, Op::Write, unit * 4096, count * 4096) {
                let units = u64::from(len / 4096);
                if op == Op::Write && offset < CACHE {
                    newest.extend((0..units).map(|step| (at + step, offset + step * 4096)));
                    at += units;
                } else if op == Op::Read && offset >= HOME {
                    let first = (offset - HOME) / 4096;
                    newest.retain(|unit, _| !(first..first + units).contains(unit));
                }
            }
        }
        let now = writes.len() as u64 * 20_000_000;
        let mut expected = Vec::new();
        for unit in from..from + u64::from(units) {
            let home = HOME + unit * 4096;
            expected.push(newest.get(&unit).copied().unwrap_or(home));
        }
        let mut found = Vec::new();
        for (op, offset, len) in alone(&mut disk, now, Op::Read, from * 4096, units * 4096) {
            prop_assert_eq!(op, Op::Read);
            found.extend((0..u64::from(len / 4096)).map(|step| offset + step * 4096));
        }
        prop_assert_eq!(found, expected);
    }
}
