use super::{BusUse, OnShared, SharedLine};
use crate::fake::{FakeDrive, command, drain};
use crate::hdd::After;
use crate::part::Part;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Drives of 100 ns on one bus: 20 ns to take a read, 30 for a write, 5 ns a sector.
fn drives(count: usize) -> Vec<OnShared<FakeDrive>> {
    let both = |ns| After { read: Nanos(ns), write: Nanos(ns) };
    let bus = BusUse {
        read_command: both(20),
        write_command: both(30),
        read_sector_ns: 5,
        write_sector_ns: 5,
        read_watermark: 1.0,
        read_done: Nanos(3),
    };
    let line = SharedLine::default();
    (0..count).map(|_| OnShared::new(FakeDrive::new(1, 100), vec![line.clone()], bus)).collect()
}

#[test]
fn a_drive_alone_waits_for_nobody() {
    let mut alone = drives(1).remove(0);
    alone.submit(command(0, Op::Read, 0, 4096), Nanos(0));
    // Eight sectors cross when all are there, 3 ns before the drive itself would be done.
    assert_eq!(drain(&mut alone)[0].at, Nanos(140));
    alone.submit(command(0, Op::Write, 0, 4096), Nanos(1000));
    assert_eq!(drain(&mut alone)[0].at, Nanos(1100));
}

#[test]
fn a_command_waits_while_another_has_the_bus() {
    let [mut one, mut other] = <[_; 2]>::try_from(drives(2)).expect("two");
    one.submit(command(0, Op::Write, 0, 4096), Nanos(0));
    other.submit(command(0, Op::Read, 0, 4096), Nanos(0));
    // The write keeps the bus for 30 + 8 × 5, and only then the read is seen.
    assert_eq!(other.next(), Nanos(70));
    let mut done = Vec::new();
    while one.next().min(other.next()) < Nanos::MAX {
        let at = one.next().min(other.next());
        one.advance(at, &mut done);
        other.advance(at, &mut done);
    }
    let ends: Vec<u64> = done.iter().map(|end| end.at.0).collect();
    assert_eq!(ends, [100, 210]);
}
