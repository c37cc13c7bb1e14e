use super::lines::Lines;
use super::{CacheParams, Cached, WritePolicy};
use crate::array::{Array, ArrayParams, Level};
use crate::fake::{FakeDrive, arrivals, closed_loop, command, drain, lawful};
use crate::part::Part;
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::BTreeSet;

const LINE: u32 = 65_536;
const SERVICE: u64 = 5_000_000;

/// A cache of that many lines that takes 1000 ns for a command.
fn params(lines: u64) -> CacheParams {
    CacheParams {
        command_ns: 1_000,
        dirty_limit_percent: 100,
        ..CacheParams::write_back(lines * u64::from(LINE))
    }
}

fn cached(params: CacheParams) -> Cached<FakeDrive> {
    Cached::new(params, FakeDrive::new(4, SERVICE)).unwrap()
}

/// Does one command at a time and returns how long it took.
fn take(part: &mut Cached<FakeDrive>, op: Op, offset: u64, len: u32) -> u64 {
    let start = part.heard + Nanos(1_000_000_000);
    // Whatever is left to happen before, such as writing below.
    let mut done = Vec::new();
    part.advance(start, &mut done);
    part.submit(command(0, op, offset, len), start);
    while done.is_empty() {
        let at = part.next();
        part.advance(at, &mut done);
    }
    done[0].at.since(start).0
}

/// The sectors of what went below.
fn written(part: &Cached<FakeDrive>) -> BTreeSet<u64> {
    let writes = part.below().given.iter().filter(|(_, command)| command.op == Op::Write);
    writes.flat_map(|(_, c)| c.offset / 512..(c.offset + u64::from(c.len)) / 512).collect()
}

#[test]
fn a_write_is_done_when_it_is_in_the_memory_and_goes_below_when_it_is_idle() {
    let mut part = cached(params(16));
    part.submit(command(0, Op::Write, 4096, 4096), Nanos::ZERO);
    part.submit(command(1, Op::Flush, 0, 0), Nanos::ZERO);
    let done = drain(&mut part);
    assert_eq!(done.iter().map(|done| done.at.0).collect::<Vec<_>>(), [1_000, 2_000]);
    let given = &part.below().given;
    assert_eq!(given.len(), 1, "the flush is the battery's");
    assert_eq!((given[0].0.0, given[0].1.offset, given[0].1.len), (50_000_000, 4096, 4096));
}

#[test]
fn without_a_battery_or_by_order_writes_go_through() {
    for (battery, write) in [(false, WritePolicy::Back), (true, WritePolicy::Through)] {
        let mut part = cached(CacheParams { battery, write, ..params(16) });
        assert_eq!(take(&mut part, Op::Write, 0, 4096), 1_000 + SERVICE);
        assert_eq!(take(&mut part, Op::Flush, 0, 0), 1_000 + SERVICE);
        assert_eq!(part.below().ops(), [Op::Write, Op::Flush]);
    }
}

#[test]
fn what_was_read_or_written_is_read_from_the_memory() {
    let mut part = cached(params(16));
    assert_eq!(take(&mut part, Op::Read, 0, 8192), 1_000 + SERVICE);
    assert_eq!(take(&mut part, Op::Read, 4096, 4096), 1_000);
    take(&mut part, Op::Write, 1 << 20, 4096);
    assert_eq!(take(&mut part, Op::Read, 1 << 20, 4096), 1_000);
    assert_eq!(take(&mut part, Op::Discard, 0, 4096), 1_000 + SERVICE);
    assert_eq!(take(&mut part, Op::Read, 0, 4096), 1_000 + SERVICE);
    let mut forgetful = cached(CacheParams { keeps_reads: false, ..params(16) });
    take(&mut forgetful, Op::Read, 0, 4096);
    assert_eq!(take(&mut forgetful, Op::Read, 0, 4096), 1_000 + SERVICE);
}

#[test]
fn the_line_used_longest_ago_is_given_up() {
    let mut part = cached(params(2));
    let line = u64::from(LINE);
    for number in [0, 1, 0, 2] {
        take(&mut part, Op::Read, number * line, 4096);
    }
    assert_eq!(take(&mut part, Op::Read, 0, 4096), 1_000, "used since");
    assert_eq!(take(&mut part, Op::Read, line, 4096), 1_000 + SERVICE);
}

#[test]
fn small_writes_in_any_order_go_below_as_one() {
    let mut part = cached(params(16));
    for n in [3, 0, 2, 1, 7, 4, 6, 5] {
        part.submit(command(n, Op::Write, u64::from(n) * 16_384, 16_384), Nanos::ZERO);
    }
    drain(&mut part);
    let given: Vec<_> = part.below().given.iter().map(|(_, c)| (c.offset, c.len)).collect();
    assert_eq!(given, [(0, 131_072)]);
}

#[test]
fn small_writes_in_sequence_become_full_stripes_of_a_raid_5() {
    // Four data units of 64 KiB; the writes begin within a stripe and end within another.
    let drives = (0..5).map(|_| FakeDrive::new(4, SERVICE)).collect();
    let array = Array::new(ArrayParams::bare(Level::Raid5, LINE), drives).unwrap();
    let mut part =
        Cached::new(CacheParams { destage_bytes: 4 * LINE, ..params(64) }, array).unwrap();
    closed_loop(&mut part, 1, 300, |n| (Op::Write, u64::from(n + 8) * 4096, 4096));
    let reads: usize = part
        .below()
        .members()
        .map(|drive| drive.ops().iter().filter(|&&op| op == Op::Read).count())
        .sum();
    // 8 to 308 of 64 a stripe: four full stripes; a first one from its ninth write on, and a last
    // one of 52, are reconstructed from the one unit that each leaves in part.
    assert_eq!(reads, 1 + 1);
}

#[test]
fn a_full_memory_makes_writes_as_slow_as_what_is_below() {
    // Writes of a line each, scattered, so that none is joined with another.
    let lines = 8;
    let mut part = cached(CacheParams { destages_at_once: 1, ..params(lines) });
    let ends =
        closed_loop(&mut part, 1, 100, |n| (Op::Write, u64::from(n) * 3 * u64::from(LINE), LINE));
    assert_eq!(ends[lines as usize - 1].0, 1_000 * lines, "the first fit");
    let per_write = (ends[99].0 - ends[49].0) / 50;
    assert_eq!(per_write, SERVICE);
}

#[test]
fn a_write_larger_than_the_memory_goes_past_it() {
    let mut part = cached(params(2));
    assert_eq!(take(&mut part, Op::Write, 0, 4 * LINE), 1_000 + SERVICE);
    assert_eq!(part.below().ops(), [Op::Write]);
}

#[test]
fn reading_ahead_serves_what_follows() {
    let mut part = cached(CacheParams { read_ahead_bytes: 2 * LINE, ..params(16) });
    let ends = closed_loop(&mut part, 1, 9, |n| (Op::Read, u64::from(n) * 16_384, 16_384));
    // The first continues from 0, where the memory's last read is taken to have ended: it and the
    // eight that follow need one round below, as both reads go there at the same time.
    assert_eq!(ends[0].0, 1_000 + SERVICE);
    assert_eq!(ends[8].0, ends[0].0 + 8 * 1_000);
    assert_eq!(part.below().given.len(), 2);
}

#[test]
fn a_read_of_what_is_coming_waits_for_it_and_asks_for_nothing() {
    let mut part = cached(params(16));
    part.submit(command(0, Op::Read, 0, 16_384), Nanos::ZERO);
    part.submit(command(1, Op::Read, 4096, 4096), Nanos::ZERO);
    let done = drain(&mut part);
    assert_eq!(done.iter().map(|done| done.at.0).collect::<Vec<_>>(), [1_000 + SERVICE; 2]);
    assert_eq!(part.below().given.len(), 1);
}

#[test]
fn a_cache_that_cannot_be_is_refused() {
    let error = |params| Cached::new(params, FakeDrive::new(1, 1)).unwrap_err().field;
    assert_eq!(error(CacheParams { line_sectors: 256, ..params(4) }), "line_sectors");
    let destage_percent = 101;
    assert_eq!(error(CacheParams { destage_percent, ..params(4) }), "destage_percent");
    assert_eq!(error(CacheParams { size_bytes: 512, ..params(4) }), "size_bytes");
}

/// What is done to a memory of lines.
#[derive(Debug, Clone, Copy)]
enum Act {
    Write(u64, u32),
    Fill(u64, u32),
    Forget(u64, u32),
    Destage(u64, u32),
    Destaged,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let range = || (0_u64..64, 1_u32..20).prop_map(|(at, len)| (at * 512, len * 512));
    let one = prop_oneof![
        4 => range().prop_map(|(offset, len)| Act::Write(offset, len)),
        4 => range().prop_map(|(offset, len)| Act::Fill(offset, len)),
        1 => range().prop_map(|(offset, len)| Act::Forget(offset, len)),
        3 => (0_u64..20, 1_u32..20).prop_map(|(line, most)| Act::Destage(line, most * 512)),
        3 => Just(Act::Destaged),
    ];
    prop::collection::vec(one, 1..100)
}

proptest! {
    #[test]
    fn no_dirty_sector_is_lost_and_no_memory_is_used_twice(acts in acts()) {
        // Lines of four sectors; 21 of them could be there, and eight are.
        let mut lines = Lines::new(2048, 8);
        let mut dirty = BTreeSet::new();
        let mut leaving = Vec::new();
        let sectors = |offset: u64, len: u32| offset / 512..(offset + u64::from(len)) / 512;
        for act in acts {
            match act {
                Act::Write(offset, len) => {
                    if u64::from(lines.held()) + lines.would_hold(offset, len) <= 8 {
                        lines.write(offset, len);
                        dirty.extend(sectors(offset, len));
                        prop_assert_eq!(lines.missing(offset, len), None);
                    }
                }
                Act::Fill(offset, len) => lines.fill(offset, len),
                Act::Forget(offset, len) => {
                    lines.forget(offset, len);
                    sectors(offset, len).for_each(|sector| { dirty.remove(&sector); });
                    prop_assert_eq!(lines.missing(offset, len), Some((offset, len)));
                }
                Act::Destage(line, most) => {
                    if let Some((offset, len)) = lines.destage(line, most) {
                        prop_assert!(len > 0 && len <= most);
                        for sector in sectors(offset, len) {
                            prop_assert!(dirty.remove(&sector), "{} was clean", sector);
                        }
                        leaving.push((offset, len));
                    }
                }
                Act::Destaged => {
                    if let Some((offset, len)) = leaving.pop() {
                        lines.destaged(offset, len);
                    }
                }
            }
            let numbers = |sector: u64| sector / 4;
            let out = leaving.iter().flat_map(|&(offset, len)| sectors(offset, len));
            let held: BTreeSet<u64> = dirty.iter().copied().chain(out).map(numbers).collect();
            prop_assert_eq!(lines.held() as usize, held.len());
            prop_assert!(lines.held() <= 8);
            for sector in &dirty {
                prop_assert_eq!(lines.missing(sector * 512, 512), None);
            }
        }
    }

    #[test]
    fn everything_is_done_once_and_all_that_was_written_goes_below(
        arrivals in arrivals(),
        lines in 1_u64..40,
        back in any::<bool>(),
        keeps_reads in any::<bool>(),
        read_ahead_bytes in 0_u32..300_000,
        at_once in 1_u32..6,
    ) {
        let write = if back { WritePolicy::Back } else { WritePolicy::Through };
        let params = CacheParams {
            write,
            keeps_reads,
            read_ahead_bytes,
            destages_at_once: at_once,
            ..params(lines)
        };
        lawful(&mut cached(params), 64, &arrivals);
        // Without discards, after which there is nothing to be written.
        let kept: Vec<_> = arrivals.into_iter().filter(|one| one.1 != Op::Discard).collect();
        let mut part = cached(params);
        lawful(&mut part, 64, &kept);
        let writes = kept.iter().filter(|one| one.1 == Op::Write);
        let sectors = writes
            .flat_map(|&(_, _, offset, len)| offset / 512..(offset + u64::from(len)) / 512);
        prop_assert_eq!(written(&part), sectors.collect::<BTreeSet<_>>());
    }
}
