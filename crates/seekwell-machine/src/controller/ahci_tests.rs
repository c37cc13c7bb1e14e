use super::{Ahci, AhciParams, Interrupt};
use crate::fake::{FakeDrive, arrivals, closed_loop, command, drain, lawful};
use crate::part::Part;
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// A port whose host takes no time.
const FREE: AhciParams = AhciParams {
    issue_ns: 0,
    interrupt_ns: 0,
    line_ns: 0,
    completion_ns: 0,
    ..AhciParams::TYPICAL
};

fn port(params: AhciParams, depth: u32, service: u64) -> Ahci<FakeDrive> {
    Ahci::new(params, FakeDrive::new(depth, service)).unwrap()
}

/// When each command got to the drive, by tag.
fn given(port: &Ahci<FakeDrive>) -> Vec<(u32, u64)> {
    port.drive().given.iter().map(|(at, command)| (command.tag, at.0)).collect()
}

#[test]
fn a_flush_waits_for_what_is_queued_and_holds_back_what_comes_after() {
    let mut port = port(FREE, 32, 100);
    port.submit(command(0, Op::Read, 0, 512), Nanos::ZERO);
    port.submit(command(1, Op::Write, 0, 512), Nanos::ZERO);
    port.submit(command(2, Op::Flush, 0, 0), Nanos::ZERO);
    port.submit(command(3, Op::Read, 0, 512), Nanos::ZERO);
    drain(&mut port);
    assert_eq!(given(&port), [(0, 0), (1, 0), (2, 100), (3, 200)]);
}

#[test]
fn unqueued_commands_go_one_at_a_time_or_as_many_as_the_driver_gives() {
    for (at_once, last) in [(1, 300), (4, 0)] {
        let params = AhciParams { ncq: false, unqueued_at_once: at_once, ..FREE };
        let mut port = port(params, 32, 100);
        assert_eq!(port.depth(), at_once);
        for tag in 0..4 {
            port.submit(command(tag, Op::Read, 0, 512), Nanos::ZERO);
        }
        drain(&mut port);
        assert_eq!(given(&port)[3], (3, last));
    }
}

#[test]
fn a_reserved_slot_and_a_shallow_drive_bound_what_is_outstanding() {
    for (reserved, drive, depth) in [(0, 32, 32), (1, 32, 31), (0, 8, 8)] {
        let port = port(AhciParams { reserved_slots: reserved, ..FREE }, drive, 100);
        assert_eq!(port.depth(), depth);
    }
}

#[test]
fn ncq_multiplies_what_a_drive_that_works_in_parallel_does() {
    for (ncq, expected) in [(true, 32.0), (false, 1.0)] {
        let mut port = port(AhciParams { ncq, ..FREE }, 32, 100_000);
        let ends = closed_loop(&mut port, 32, 3200, |n| (Op::Read, u64::from(n) * 4096, 4096));
        let at_once = 3200.0 * 100_000.0 / ends.last().unwrap().0 as f64;
        assert!((at_once - expected).abs() < 0.01, "{at_once}");
    }
}

#[test]
fn one_interrupt_serves_all_that_ends_while_its_handler_runs() {
    let params = AhciParams { interrupt_ns: 5_000, completion_ns: 500, ..FREE };
    let mut port = port(params, 32, 100);
    for tag in 0..4 {
        port.submit(command(tag, Op::Read, 0, 512), Nanos::ZERO);
    }
    let ends: Vec<u64> = drain(&mut port).iter().map(|done| done.at.0).collect();
    assert_eq!(ends, [5_600, 6_100, 6_600, 7_100]);
    assert_eq!(port.usage().processor, Nanos(5_000 + 4 * 500));
}

#[test]
fn an_interrupt_by_line_costs_the_reads_of_the_status() {
    let ends = [Interrupt::Message, Interrupt::Line].map(|interrupt| {
        let mut port = port(AhciParams { interrupt, ..AhciParams::TYPICAL }, 32, 10_000);
        port.submit(command(0, Op::Read, 0, 512), Nanos::ZERO);
        drain(&mut port)[0].at.0
    });
    assert_eq!(ends, [1_000 + 10_000 + 2_500, 1_000 + 10_000 + 3_500]);
}

#[test]
fn a_port_without_a_free_slot_is_refused() {
    let params = AhciParams { slots: 4, reserved_slots: 4, ..FREE };
    let error = Ahci::new(params, FakeDrive::new(1, 1)).unwrap_err();
    assert_eq!(error.to_string(), "reserved_slots is 4, not within 0 to 3");
}

proptest! {
    #[test]
    fn queued_and_other_commands_never_mix_and_none_overtakes(
        arrivals in arrivals(),
        ncq in any::<bool>(),
        unqueued_at_once in 1_u32..5,
        depth in 1_u32..33,
        service in 1_u64..300_000,
    ) {
        let params = AhciParams { ncq, unqueued_at_once, ..AhciParams::TYPICAL };
        let mut port = port(params, depth, service);
        lawful(&mut port, 200, &arrivals);
        let given = &port.drive().given;
        prop_assert!(given.iter().map(|(_, c)| c.tag).eq(0..arrivals.len() as u32));
        let queued = |op| ncq && matches!(op, Op::Read | Op::Write);
        for (n, (at, one)) in given.iter().enumerate() {
            let active = given[..n].iter().filter(|(then, _)| then.0 + service > at.0);
            let mut count = 1;
            for (_, other) in active {
                prop_assert_eq!(queued(one.op), queued(other.op));
                count += 1;
            }
            prop_assert!(queued(one.op) || count <= unqueued_at_once.min(depth));
        }
    }
}
