//! Totals without a kernel, and programs on the one that runs.

use super::*;
use crate::capture::tests::skip;

#[test]
fn what_came_since_an_earlier_look_is_right_where_numbers_have_wrapped() {
    let (mut then, mut now) = (Totals::default(), Totals::default());
    let bin = Histogram::bin_of(5_000);
    then.times[Op::Write as usize].bins[bin] = u32::MAX;
    then.times[Op::Write as usize].bytes = u64::MAX - 4095;
    now.times[Op::Write as usize].bins[bin] = 2;
    now.times[Op::Write as usize].bytes = 8192;
    now.times[Op::Write as usize].sum_ns = 15_000;
    now.failed = 1;
    let since = now.since(&then);
    let response = since.response(Op::Write);
    assert_eq!((response.count(), response.mean_ns()), (3, Some(5_000.0)));
    assert_eq!((since.bytes(Op::Write), since.failed()), (12_288, 1));
    let middle = Nanos(Histogram::middle_of(bin));
    assert_eq!((response.min(), response.max()), (Some(middle), Some(middle)));
    assert_eq!(since.response(Op::Read).count() + since.queue().count(), 0);
}

#[test]
fn a_part_of_a_disk_is_counted_in_sectors() {
    let place = Place { disk: (8, 1), part: Some((1 << 20, 4096)) };
    assert_eq!((place.number(), place.sectors()), (8 << 20 | 1, (2048, 8)));
    assert_eq!(Place { part: None, ..place }.sectors(), (0, u64::MAX));
}

#[test]
fn this_kernel_takes_the_programs_and_there_is_room_for_disks_that_come() {
    let nothing = |minor| Place { disk: (4095, minor), part: None };
    let mut counting = match Counting::start(&[nothing(0)]) {
        Ok(counting) => counting,
        Err(why) => return skip(&why.to_string()),
    };
    let added = (1..).map_while(|minor| counting.add(nothing(minor)).unwrap()).count();
    assert_eq!((added, counting.slots().count()), (SPARE, SPARE + 1));
    assert!(counting.counts((4095, 3)) && !counting.counts((4095, 99)));
    for slot in counting.slots() {
        assert_eq!(counting.totals(slot).device().count(), 0);
    }
    assert!(counting.outstanding().is_empty() && counting.take_usage().unwrap().is_empty());
}
