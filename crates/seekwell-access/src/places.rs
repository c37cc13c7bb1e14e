//! Where on a device data is looked for, the likeliest places first.
//!
//! The order is the same for the same device in every run, so that whatever ends the look, time or
//! an answer, a second one finds what the first did: of two looks, one sees the start of what the
//! other sees.

use std::collections::HashSet;
use std::ops::Range;

/// What is read at a place of a large device.
const PAGE: u64 = 4096;
/// Places beside the known ones on a large device.
const SAMPLES: usize = 4096;
/// How many are drawn for that; the others are where nothing is stored.
const DRAWN: u64 = 1 << 20;
/// A device with no more data than this is read whole, in pieces as large as this.
const SMALL: u64 = 1 << 30;
const PIECE: u64 = 1 << 20;

/// The parts of `stored`, which is in order, that are looked at. `parts` are the device itself and
/// its partitions.
pub(crate) fn places(
    size_bytes: u64,
    parts: &[Range<u64>],
    stored: &[Range<u64>],
    seed: u64,
) -> Vec<Range<u64>> {
    let small = stored.iter().map(|range| range.end - range.start).sum::<u64>() <= SMALL;
    let unit = if small { PIECE } else { PAGE };
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut add = |at: u64| {
        let start = at - at % unit;
        let mut here = overlap(stored, start..(start + unit).min(size_bytes)).peekable();
        if here.peek().is_some() && seen.insert(start) {
            found.extend(here);
        }
        found.len()
    };
    for part in parts {
        for at in copies(part.end - part.start) {
            add(part.start + at);
        }
    }
    let known = add(0);
    if small {
        let units: Vec<u64> = units(stored);
        let rounds = (units.len() as u64).next_power_of_two();
        spread(rounds).filter_map(|i| units.get(i as usize)).for_each(|at| {
            add(*at);
        });
    } else {
        let pages = size_bytes.div_ceil(PAGE);
        let step = pages.div_ceil(DRAWN);
        for i in spread(DRAWN) {
            let at = u128::from(i) * u128::from(pages) / u128::from(DRAWN);
            let at = (at as u64 + hash(seed ^ i) % step).min(pages - 1);
            if add(at * PAGE) >= known + SAMPLES {
                break;
            }
        }
    }
    found
}

/// Where file systems keep copies of what describes them, below `size_bytes`.
fn copies(size_bytes: u64) -> Vec<u64> {
    let mut found = Vec::new();
    // btrfs has mirrors of its superblock.
    found.extend([64 << 20, 256 << 30, 1 << 50]);
    // ext2 to ext4: groups 1 and the powers of 3, 5 and 7, of as many blocks as a block has bits.
    for block in (10..=16).map(|bits| 1u64 << bits) {
        let group = 8 * block * block;
        let first = if block == 1024 { block } else { 0 };
        let powers = [3u64, 5, 7].into_iter().flat_map(|base| {
            std::iter::successors(Some(base), move |power| power.checked_mul(base))
                .take_while(move |power| *power <= size_bytes / group)
        });
        found.extend(std::iter::once(1).chain(powers).map(|at| at * group + first));
    }
    // XFS: allocation groups, which begin like the first; the middle is where NTFS has a copy, too.
    let blocks = size_bytes / PAGE;
    for groups in [4, 2, 8, 16, 32] {
        found.extend((1..groups).map(|i| i * blocks.div_ceil(groups) * PAGE));
    }
    found.extend((1..=(size_bytes >> 40).min(64)).map(|i| i << 40));
    found.retain(|at| *at < size_bytes);
    found
}

/// The numbers below a power of two, each far from those before it.
fn spread(count: u64) -> impl Iterator<Item = u64> {
    assert!(count.is_power_of_two());
    let unused = count.leading_zeros() + 1;
    (0..count).map(move |i| if count == 1 { 0 } else { i.reverse_bits() >> unused })
}

/// SplitMix64 (Steele, Lea, Flood).
fn hash(from: u64) -> u64 {
    let mut z = from.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Where the pieces begin that hold anything.
fn units(stored: &[Range<u64>]) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    for range in stored {
        let first = range.start / PIECE;
        found.extend((first..range.end.div_ceil(PIECE)).map(|i| i * PIECE));
    }
    found.dedup();
    found
}

/// The parts of `within` that are in one of the ranges, which are in order.
fn overlap(ranges: &[Range<u64>], within: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let first = ranges.partition_point(|range| range.end <= within.start);
    let end = within.end;
    ranges[first..]
        .iter()
        .take_while(move |range| range.start < end)
        .map(move |range| range.start.max(within.start)..range.end.min(end))
}

/// What is left of ranges without others, both in order.
pub(crate) fn without(ranges: &[Range<u64>], taken: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = Vec::new();
    for range in ranges {
        let mut start = range.start;
        for gone in overlap(taken, range.clone()) {
            left.push(start..gone.start);
            start = gone.end;
        }
        left.push(start..range.end);
    }
    left.retain(|range| range.start < range.end);
    left
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "one range is meant")]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_small_device_is_looked_at_whole_and_each_part_once() {
        let stored = [3 * 512..5 * MIB, 40 * MIB..300 * MIB];
        let mut found = places(300 * MIB, &[0..300 * MIB], &stored, 1);
        assert!(found[0].contains(&(64 * MIB)), "the mirror of btrfs comes first: {:?}", found[0]);
        found.sort_by_key(|range| range.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for range in found {
            match joined.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => joined.push(range),
            }
        }
        assert_eq!(joined, stored);
    }

    #[test]
    fn places_of_a_large_device_are_all_over_it_and_begin_with_those_that_are_known() {
        let size = 5 << 40;
        let parts = [0..size, MIB..2 << 40];
        let found = places(size, &parts, &[4 * MIB..size - 2 * MIB], 7);
        let at = |wanted: u64| found.iter().position(|range| range.contains(&wanted));
        let (block, xfs) = (4096, 1 << 40);
        for known in [64 * MIB, 256 << 30, 8 * block * block, 49 * 8 * block * block, xfs, 65 * MIB]
        {
            assert!(at(known).is_some_and(|i| i < 1500), "{known}: {:?}", at(known));
        }
        assert!(found.len() > SAMPLES && found.len() < SAMPLES + 1500, "{}", found.len());
        for sixteenth in 0..16 {
            let here = sixteenth * (size / 16)..(sixteenth + 1) * (size / 16);
            assert!(found.iter().filter(|range| here.contains(&range.start)).count() > 200);
        }
        assert!(found.iter().all(|range| range.end - range.start <= PAGE));
        assert_eq!(found, places(size, &parts, &[4 * MIB..size - 2 * MIB], 7));
        assert_ne!(found, places(size, &parts, &[4 * MIB..size - 2 * MIB], 8));
    }

    #[test]
    fn where_nothing_is_stored_nothing_is_read_and_other_places_take_its_turn() {
        let size = 4 << 40;
        let stored = [10 << 30..20 << 30];
        let found = places(size, &[0..size], &stored, 7);
        assert!(found.len() > 2000, "{}", found.len());
        assert!(found.iter().all(|r| r.start >= stored[0].start && r.end <= stored[0].end));
    }

    #[test]
    fn what_is_taken_out_of_ranges_is_gone() {
        assert_eq!(without(&[0..10, 20..30], &[5..25]), [0..5, 25..30]);
        assert_eq!(without(&[0..10], &[0..10]), []);
        assert_eq!(without(&[0..10], &[3..4, 6..7]), [0..3, 4..6, 7..10]);
    }
}
