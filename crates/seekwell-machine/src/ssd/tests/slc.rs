//! Flash programmed one bit a cell, in front of the rest.

use super::drives::small;
use crate::Part;
use crate::fake::command;
use crate::ssd::{Fill, SlcParams, Ssd, SsdParams};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

const CHUNK: u32 = 64 << 10;
const IDLE: Nanos = Nanos::from_millis(100);

/// A drive whose first 8 MiB are programmed in 50 µs a piece in place of 1 ms.
fn cached() -> Ssd {
    let slc = SlcParams { bytes: 8 << 20, program_ns: 50_000, idle_ns: IDLE.0 };
    let params = SsdParams { slc: Some(slc), program_ns: 1_000_000, ..small(Fill::Sequential) };
    Ssd::new(params).expect("legal parameters")
}

/// Writes chunks one after the other and gives when the last was done.
fn write(drive: &mut Ssd, chunks: u64, mut now: Nanos) -> Nanos {
    for chunk in 0..chunks {
        let offset = chunk * u64::from(CHUNK) % drive.capacity();
        drive.submit(command(0, Op::Write, offset, CHUNK), now);
        let mut done = Vec::new();
        while done.is_empty() {
            now = drive.next();
            drive.advance(now, &mut done);
        }
    }
    now
}

/// Lets time pass.
fn rest(drive: &mut Ssd, until: Nanos) {
    let mut done = Vec::new();
    while drive.next() <= until {
        let at = drive.next();
        drive.advance(at, &mut done);
    }
}

/// Megabytes a second.
fn rate(chunks: u64, took: Nanos) -> f64 {
    (chunks * u64::from(CHUNK)) as f64 / took.as_secs_f64() / 1e6
}

#[test]
fn writes_are_fast_until_the_slc_flash_is_full_and_slow_after_that() {
    let mut drive = cached();
    let full = write(&mut drive, 128, Nanos::ZERO);
    // 64 KiB to each of two channels of 200 MB/s, one after the other: the wire is what bounds it.
    let fast = rate(128, full);
    let end = write(&mut drive, 128, full);
    // Four dies program 16 KiB each in 1 ms and 82 µs of transfer.
    let slow = rate(128, end.since(full));
    assert!(fast > 150.0 && (slow / 60.6 - 1.0).abs() < 0.05, "{fast:.1}, then {slow:.1} MB/s");
    assert_eq!(drive.counts().folded, 0, "nothing is folded while commands come");
}

#[test]
fn a_rest_folds_what_the_slc_flash_holds_and_makes_it_fast_again() {
    let mut drive = cached();
    let full = write(&mut drive, 256, Nanos::ZERO);
    rest(&mut drive, full + Nanos(IDLE.0 * 9 / 10));
    assert_eq!(drive.counts().folded, 0, "not before the time is over");
    let long = full + Nanos::from_millis(10_000);
    rest(&mut drive, long);
    assert_eq!(drive.counts().folded, (8 << 20) / 4096);
    let again = rate(128, write(&mut drive, 128, long).since(long));
    assert!(again > 150.0, "{again:.1} MB/s");
}

#[test]
fn a_command_ends_the_folding_and_what_was_folded_until_then_is_room() {
    let mut drive = cached();
    let full = write(&mut drive, 256, Nanos::ZERO);
    // A piece of 16 KiB takes each of four dies a little more than 1 ms: about 64 ms for 4 MiB.
    let half = full + IDLE + Nanos::from_millis(80);
    rest(&mut drive, half);
    let before = drive.counts().folded;
    assert!((200..1500).contains(&before), "{before} units");
    let end = write(&mut drive, 1, half);
    rest(&mut drive, end + Nanos(IDLE.0 / 2));
    let after = drive.counts().folded;
    assert!(after - before <= 16, "only what the dies had begun: {before}, {after}");
}
