use super::{LinkSleep, SataLink, SataParams, SataSpeed};
use crate::fake::{FakeDrive, arrivals, closed_loop, command, drain, lawful};
use crate::part::Part;
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

fn link(speed: SataSpeed, drive: FakeDrive) -> SataLink<FakeDrive> {
    SataLink::sata(SataParams::at(speed), drive).unwrap()
}

/// Commands a second that a link carries from a drive that is never the limit.
fn per_second(speed: SataSpeed, op: Op, len: u32) -> f64 {
    let mut link = link(speed, FakeDrive::new(32, 100));
    let ends = closed_loop(&mut link, 32, 2000, |n| (op, u64::from(n) * u64::from(len), len));
    2000.0 / ends.last().unwrap().as_secs_f64()
}

#[test]
fn a_6_gbps_link_ends_at_98_000_small_commands_and_553_megabytes_a_second() {
    let reads = per_second(SataSpeed::Gbps6, Op::Read, 4096);
    assert!((97_000.0..99_000.0).contains(&reads), "{reads}");
    let writes = per_second(SataSpeed::Gbps6, Op::Write, 4096);
    assert!((97_000.0..99_000.0).contains(&writes), "{writes}");
    let rate = per_second(SataSpeed::Gbps6, Op::Read, 131_072) * 0.131_072;
    assert!((551.0..556.0).contains(&rate), "{rate}");
}

#[test]
fn slower_generations_carry_a_half_and_a_quarter() {
    let rates = [SataSpeed::Gbps1_5, SataSpeed::Gbps3, SataSpeed::Gbps6]
        .map(|speed| per_second(speed, Op::Read, 1 << 20) * 1.048_576);
    assert!((139.0..141.0).contains(&rates[0]), "{rates:?}");
    assert!((278.0..281.0).contains(&rates[1]), "{rates:?}");
    assert!((555.0..562.0).contains(&rates[2]), "{rates:?}");
}

#[test]
fn a_read_that_streams_ends_one_frame_after_the_medium() {
    // 128 KiB at 3 Gb/s take 16 × (8192 + 584) / 300 MB/s = 468,054 ns on the link.
    let (words, whole, frame) = (1200, 468_054, 29_254);
    for (streams, expected) in [
        (0, words + 1_000_000 + whole + words),
        (400_000, words + 1_000_000 - 400_000 + whole + words),
        (900_000, words + 1_000_000 + frame + words),
    ] {
        let mut drive = FakeDrive::new(1, 1_000_000);
        drive.streams = Nanos(streams);
        let mut link = link(SataSpeed::Gbps3, drive);
        link.submit(command(0, Op::Read, 0, 131_072), Nanos::ZERO);
        assert_eq!(drain(&mut link)[0].at, Nanos(expected), "streaming for {streams} ns");
    }
}

#[test]
fn written_data_has_crossed_before_the_drive_sees_the_command() {
    let mut link = link(SataSpeed::Gbps6, FakeDrive::new(4, 1000));
    link.submit(command(0, Op::Write, 0, 8192), Nanos::ZERO);
    link.submit(command(1, Op::Write, 8192, 8192), Nanos::ZERO);
    drain(&mut link);
    // (8192 + 584) / 600 MB/s = 14,627 ns, and 1200 ns of words, one after the other.
    let times: Vec<u64> = link.part().given.iter().map(|(at, _)| at.0).collect();
    assert_eq!(times, [15_827, 2 * 15_827]);
}

#[test]
fn a_command_slips_between_the_frames_of_a_transfer() {
    let mut link = link(SataSpeed::Gbps1_5, FakeDrive::new(4, 1000));
    link.submit(command(0, Op::Write, 0, 1 << 20), Nanos::ZERO);
    link.submit(command(1, Op::Read, 0, 512), Nanos(5000));
    drain(&mut link);
    assert_eq!(link.part().given[0].0, Nanos(6200), "the read does not wait for a megabyte");
    assert_eq!(link.part().ops(), [Op::Read, Op::Write]);
}

#[test]
fn a_link_that_sleeps_wakes_once_for_all_that_comes_meanwhile() {
    let sleep = Some(LinkSleep { after_ns: 1_000_000, wake_ns: 500_000 });
    let params = SataParams { sleep, ..SataParams::at(SataSpeed::Gbps6) };
    let mut link = SataLink::sata(params, FakeDrive::new(4, 1000)).unwrap();
    let awake = 2_000_000 + 500_000;
    link.submit(command(0, Op::Write, 0, 512), Nanos(2_000_000));
    link.submit(command(1, Op::Read, 0, 512), Nanos(2_400_000));
    let end = drain(&mut link).last().unwrap().at;
    assert_eq!(link.part().ops(), [Op::Read, Op::Write]);
    assert_eq!(link.part().given[0].0, Nanos(awake + 1200));
    // Not long enough after the last one to have gone to sleep again.
    link.submit(command(0, Op::Read, 0, 512), end + Nanos(999_999));
    drain(&mut link);
    assert_eq!(link.part().given[2].0, end + Nanos(999_999 + 1200));
}

#[test]
fn a_link_without_end_is_refused() {
    let params = SataParams { command_ns: 2_000_000, ..SataParams::at(SataSpeed::Gbps6) };
    let error = SataLink::sata(params, FakeDrive::new(1, 1)).unwrap_err();
    assert_eq!(error.to_string(), "command_ns is 2000000, not within 0 to 1000000");
}

proptest! {
    #[test]
    fn everything_crosses_once_in_order_of_time(
        arrivals in arrivals(), depth in 1_u32..33, service in 1_u64..2_000_000,
    ) {
        let mut link = link(SataSpeed::Gbps3, FakeDrive::new(depth, service));
        lawful(&mut link, depth, &arrivals);
        prop_assert_eq!(link.part().given.len(), arrivals.len());
    }

    #[test]
    fn the_wire_is_never_idle_while_data_waits(
        lens in prop::collection::vec(1_u32..2048, 1..60),
    ) {
        // With a drive that takes no time, the end is the sum of all that crosses.
        let mut link = link(SataSpeed::Gbps6, FakeDrive::new(64, 0));
        for (tag, len) in lens.iter().enumerate() {
            link.submit(command(tag as u32, Op::Write, 0, len * 512), Nanos::ZERO);
        }
        let end = drain(&mut link).last().unwrap().at;
        prop_assert!(link.busy() >= end);
        prop_assert!(link.busy().0 - end.0 <= 1200 * lens.len() as u64);
    }
}
