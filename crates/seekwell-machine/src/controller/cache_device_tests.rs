use super::cache_device::{CacheDevice, CacheDeviceParams};
use crate::driver::QueueParams;
use crate::fake::{FakeDrive, command, drain};
use crate::part::Part;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// A drive that takes 100 ns, copied on one that takes 10.
fn pair(through: bool) -> CacheDevice<FakeDrive> {
    let params = CacheDeviceParams {
        sectors: 1000,
        through,
        idle_ns: 500,
        sector_ns: 0,
        depth: 1,
        queue: QueueParams::PLAIN,
        pending: 1,
    };
    CacheDevice::new(params, FakeDrive::new(1, 100), FakeDrive::new(1, 10)).expect("legal")
}

/// When a command given at `now` is done, all that follows from it being done too.
fn took(pair: &mut CacheDevice<FakeDrive>, op: Op, sector: u64, now: u64) -> u64 {
    pair.submit(command(0, op, sector * 512, 8 * 512), Nanos(now));
    let done = drain(pair);
    assert_eq!(done.len(), 1);
    done[0].at.0 - now
}

#[test]
fn a_second_read_comes_from_the_copy() {
    let mut pair = pair(false);
    assert_eq!(took(&mut pair, Op::Read, 16, 0), 100);
    assert_eq!(took(&mut pair, Op::Read, 16, 1000), 10);
    assert_eq!(took(&mut pair, Op::Read, 20, 2000), 100, "half of it is not there");
    // Beyond what there are copies of.
    assert_eq!(took(&mut pair, Op::Read, 5000, 3000), 100);
    assert_eq!(took(&mut pair, Op::Read, 5000, 4000), 100);
}

#[test]
fn a_write_is_done_with_the_copy_and_goes_to_the_drive_when_that_rests() {
    let mut pair = pair(false);
    assert_eq!(took(&mut pair, Op::Write, 16, 0), 10);
    assert!(pair.drive().given.is_empty(), "a drive that has done nothing is not known to rest");
    assert_eq!(took(&mut pair, Op::Read, 400, 1000), 100);
    let given: Vec<(u64, Op)> =
        pair.drive().given.iter().map(|(at, command)| (at.0, command.op)).collect();
    // 500 ns after the read's end the copy is read, and the drive has it after that.
    assert_eq!(given, [(1000, Op::Read), (1610, Op::Write)]);
    assert_eq!(took(&mut pair, Op::Read, 16, 5000), 10);
}

#[test]
fn a_copy_written_through_leaves_nothing_to_do() {
    let mut pair = pair(true);
    assert_eq!(took(&mut pair, Op::Write, 16, 0), 10);
    assert_eq!(pair.drive().ops(), [Op::Write]);
    assert_eq!(pair.next(), Nanos::MAX);
}

#[test]
fn more_copies_than_there_is_room_for_are_refused() {
    let params = CacheDeviceParams {
        sectors: 1 << 40,
        through: false,
        idle_ns: 0,
        sector_ns: 0,
        depth: 1,
        queue: QueueParams::PLAIN,
        pending: 1,
    };
    let refused = CacheDevice::new(params, FakeDrive::new(1, 1), FakeDrive::new(1, 1));
    assert_eq!(refused.expect_err("too many").field, "sectors");
}
