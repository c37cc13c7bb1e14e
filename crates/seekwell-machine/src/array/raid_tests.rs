use super::{Array, ArrayError, ArrayParams, Level, Order, ReadChoice};
use crate::controller::{Ahci, AhciParams};
use crate::fake::{FakeDrive, arrivals, closed_loop, command, drain, lawful};
use crate::part::Part;
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

const UNIT: u32 = 65_536;
const SERVICE: u64 = 10_000_000;

fn array(params: ArrayParams, members: u32) -> Array<FakeDrive> {
    let drives = (0..members).map(|_| FakeDrive::new(1, SERVICE)).collect();
    Array::new(params, drives).unwrap()
}

fn bare(level: Level, members: u32) -> Array<FakeDrive> {
    array(ArrayParams::bare(level, UNIT), members)
}

/// What members were asked in all: reads, writes, flushes.
fn asked(array: &Array<FakeDrive>) -> [usize; 3] {
    [Op::Read, Op::Write, Op::Flush].map(|op| {
        array.members().map(|drive| drive.ops().iter().filter(|&&one| one == op).count()).sum()
    })
}

/// Does one command alone; when it is done.
fn alone(array: &mut Array<FakeDrive>, op: Op, offset: u64, len: u32) -> Nanos {
    array.submit(command(0, op, offset, len), Nanos::ZERO);
    let done = drain(array);
    assert_eq!(done.len(), 1);
    done[0].at
}

#[test]
fn a_small_write_to_raid_5_is_four_accesses_in_two_rounds() {
    let mut array = bare(Level::Raid5, 5);
    assert_eq!(alone(&mut array, Op::Write, 4096, 4096), Nanos(2 * SERVICE));
    assert_eq!(asked(&array), [2, 2, 0]);
}

#[test]
fn a_full_stripe_to_raid_5_is_one_write_a_member() {
    let mut array = bare(Level::Raid5, 5);
    assert_eq!(alone(&mut array, Op::Write, 0, 4 * UNIT), Nanos(SERVICE));
    assert_eq!(asked(&array), [0, 5, 0]);
}

#[test]
fn a_write_that_begins_and_ends_within_stripes_reads_only_for_those() {
    let mut array = bare(Level::Raid5, 5);
    // Half of the last unit of stripe 0, all of stripe 1, half of the first unit of stripe 2.
    let (from, len) = (4 * UNIT - UNIT / 2, 5 * UNIT);
    alone(&mut array, Op::Write, u64::from(from), len);
    assert_eq!(asked(&array), [2 + 2, 2 + 5 + 2, 0]);
}

#[test]
fn mirrors_write_all_copies_and_read_one() {
    for (level, members, writes) in [(Level::Raid1, 3, 3), (Level::Raid10, 4, 2)] {
        let mut array = bare(level, members);
        alone(&mut array, Op::Write, 0, 4096);
        assert_eq!(asked(&array), [0, writes, 0], "{level:?}");
        let mut array = bare(level, members);
        alone(&mut array, Op::Read, 0, 4096);
        assert_eq!(asked(&array), [1, 0, 0], "{level:?}");
    }
}

#[test]
fn a_flush_goes_to_every_member_and_discards_only_where_there_is_no_parity() {
    let mut array = bare(Level::Raid5, 4);
    array.submit(command(0, Op::Flush, 0, 0), Nanos::ZERO);
    array.submit(command(1, Op::Discard, 0, 4096), Nanos::ZERO);
    assert_eq!(drain(&mut array).iter().map(|done| done.at.0).collect::<Vec<_>>(), [0, SERVICE]);
    assert_eq!(asked(&array), [0, 0, 4]);
}

#[test]
fn every_choice_spreads_reads_over_the_copies_as_it_says() {
    for (read_choice, first) in [
        (ReadChoice::Primary, 400),
        (ReadChoice::RoundRobin, 200),
        (ReadChoice::ShortestQueue, 200),
    ] {
        let params = ArrayParams { read_choice, ..ArrayParams::bare(Level::Raid1, UNIT) };
        let mut array = array(params, 2);
        closed_loop(&mut array, 4, 400, |n| (Op::Read, u64::from(n * 7919 % 400) << 20, 4096));
        let counts: Vec<usize> = array.members().map(|drive| drive.given.len()).collect();
        assert_eq!(counts, [first, 400 - first], "{read_choice:?}");
    }
}

#[test]
fn the_nearest_copy_keeps_each_member_in_its_region() {
    let params =
        ArrayParams { read_choice: ReadChoice::Nearest, ..ArrayParams::bare(Level::Raid1, UNIT) };
    let mut array = array(params, 2);
    let far = 1_u64 << 39;
    closed_loop(&mut array, 1, 100, |n| (Op::Read, u64::from(n % 2) * far, 4096));
    // The first goes to member 0, the far one as well, as both are at 0; then each stays.
    let regions: Vec<BTreeOffsets> = array.members().map(regions).collect();
    assert!(regions.iter().any(|offsets| offsets.len() == 1), "{regions:?}");
}

type BTreeOffsets = std::collections::BTreeSet<u64>;

fn regions(drive: &FakeDrive) -> BTreeOffsets {
    drive.given.iter().skip(2).map(|(_, command)| command.offset).collect()
}

#[test]
fn upwards_order_sweeps_and_starts_again_from_the_lowest() {
    let params = ArrayParams { order: Order::Upwards, ..ArrayParams::bare(Level::Raid0, UNIT) };
    let mut array = array(params, 1);
    for (tag, block) in [50, 20, 90, 10, 70].into_iter().enumerate() {
        array.submit(command(tag as u32, Op::Read, block << 20, 4096), Nanos::ZERO);
    }
    drain(&mut array);
    let drive = array.members().next().unwrap();
    let order: Vec<u64> = drive.given.iter().map(|(_, command)| command.offset >> 20).collect();
    assert_eq!(order, [50, 70, 90, 10, 20]);
}

/// An array without one member, and what its members were asked for a command.
fn degraded(level: Level, members: u32, failed: u32, op: Op, offset: u64, len: u32) -> [usize; 3] {
    let params = ArrayParams { failed: Some(failed), ..ArrayParams::bare(level, UNIT) };
    let mut array = array(params, members);
    alone(&mut array, op, offset, len);
    let at_failed = array.members().nth(failed as usize).unwrap().given.len();
    assert_eq!(at_failed, 0, "a member that failed is asked for nothing");
    asked(&array)
}

#[test]
fn an_array_goes_on_without_a_member() {
    // Member 1 of 5 has the second data unit of the first stripe, member 4 its parity.
    let (unit, second) = (UNIT, u64::from(UNIT));
    let raid5 = |failed, op, offset, len| degraded(Level::Raid5, 5, failed, op, offset, len);
    assert_eq!(raid5(1, Op::Read, second, 4096), [4, 0, 0], "read from all others");
    assert_eq!(raid5(1, Op::Read, 0, 4096), [1, 0, 0], "read as ever");
    assert_eq!(raid5(1, Op::Write, second, 4096), [3, 1, 0], "only parity can be written");
    assert_eq!(raid5(1, Op::Write, 0, 4096), [2, 2, 0], "read, modified and written");
    assert_eq!(raid5(4, Op::Write, 0, 4096), [0, 1, 0], "no parity to be written");
    assert_eq!(raid5(1, Op::Write, 0, unit + 4096), [4, 2, 0], "all that is left is read");
    assert_eq!(degraded(Level::Raid10, 4, 0, Op::Read, 0, 4096), [1, 0, 0]);
    assert_eq!(degraded(Level::Raid1, 2, 0, Op::Write, 0, 4096), [0, 1, 0]);
    assert_eq!(degraded(Level::Raid1, 2, 1, Op::Flush, 0, 0), [0, 0, 1]);
}

#[test]
fn two_writes_to_one_stripe_change_its_parity_one_after_the_other() {
    let mut array = array(ArrayParams::bare(Level::Raid5, UNIT), 5);
    array.submit(command(0, Op::Write, 0, 4096), Nanos::ZERO);
    array.submit(command(1, Op::Write, u64::from(UNIT) + 8192, 4096), Nanos::ZERO);
    let done = drain(&mut array);
    assert_eq!(done.iter().map(|done| done.at.0).collect::<Vec<_>>(), [2 * SERVICE, 4 * SERVICE]);
}

#[test]
fn the_processor_is_one_for_all_commands() {
    let params = ArrayParams {
        command_ns: 300_000,
        access_ns: 50_000,
        xor_bytes_per_s: 100_000_000,
        ..ArrayParams::bare(Level::Raid5, UNIT)
    };
    let mut array = array(params, 5);
    let end = alone(&mut array, Op::Write, 0, 4096);
    // Two accesses and 8 KiB through the exclusive-or, twice; the command once.
    let cost = 300_000 + 2 * (2 * 50_000 + 81_920);
    assert_eq!((array.busy().0, end.0), (cost, cost + 2 * SERVICE));
}

#[test]
fn the_host_pays_for_the_ports_of_all_members() {
    let port = || Ahci::new(AhciParams::TYPICAL, FakeDrive::new(1, SERVICE)).unwrap();
    let members = vec![port(), port(), port()];
    let mut array = Array::new(ArrayParams::bare(Level::Raid1, UNIT), members).unwrap();
    array.submit(command(0, Op::Write, 0, 4096), Nanos::ZERO);
    drain(&mut array);
    assert_eq!(array.usage().processor, Nanos(3 * (1_000 + 1_500 + 1_000)));
}

#[test]
fn members_that_do_not_make_such_an_array_are_refused() {
    let drives = |count: u32| (0..count).map(|_| FakeDrive::new(1, 1)).collect::<Vec<_>>();
    for (level, count) in
        [(Level::Raid5, 2), (Level::Raid10, 5), (Level::Raid1, 1), (Level::Raid0, 0)]
    {
        let error = Array::new(ArrayParams::bare(level, UNIT), drives(count)).unwrap_err();
        assert!(matches!(error, ArrayError::Members { .. }), "{error}");
    }
    let failed = ArrayParams { failed: Some(0), ..ArrayParams::bare(Level::Raid0, UNIT) };
    let error = Array::new(failed, drives(2)).unwrap_err();
    assert!(matches!(error, ArrayError::Lost { .. }), "{error}");
    let error = Array::new(ArrayParams::bare(Level::Raid0, 1000), drives(2)).unwrap_err();
    assert_eq!(error, ArrayError::Unaligned { bytes: 1000 });
}

proptest! {
    #[test]
    fn everything_is_done_once_in_order_of_time_on_every_level(
        arrivals in arrivals(),
        level in prop_oneof![
            Just(Level::Raid0), Just(Level::Raid1), Just(Level::Raid4),
            Just(Level::Raid5), Just(Level::Raid10),
        ],
        depth in 1_u32..8,
        service in 0_u64..200_000,
        order in prop_oneof![Just(Order::Arrival), Just(Order::Upwards)],
        command_ns in 0_u32..50_000,
        failed in prop::option::of(0_u32..4),
    ) {
        let failed = failed.filter(|_| level != Level::Raid0);
        let params = ArrayParams { order, command_ns, failed, ..ArrayParams::bare(level, 8192) };
        let make = || {
            let drives = (0..4).map(|_| FakeDrive::new(depth, service)).collect();
            Array::new(params, drives).unwrap()
        };
        let (mut one, mut two) = (make(), make());
        let ends = lawful(&mut one, 64, &arrivals);
        prop_assert_eq!(ends, lawful(&mut two, 64, &arrivals), "the same every time");
    }
}
