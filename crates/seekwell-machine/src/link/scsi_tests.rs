use super::{OnScsi, ScsiParams};
use crate::array::{Array, ArrayParams, Level};
use crate::fake::{FakeDrive, arrivals, closed_loop, lawful};
use proptest::prelude::*;
use seekwell_io::request::Op;

/// An array without redundancy of drives on one Ultra160 bus.
fn striped(drives: u32, service_ns: u64, depth: u32) -> Array<OnScsi<FakeDrive>> {
    let drives = (0..drives).map(|_| FakeDrive::new(depth, service_ns)).collect();
    let members = OnScsi::scsi(ScsiParams::ULTRA160, drives).unwrap();
    Array::new(ArrayParams::bare(Level::Raid0, 65_536), members).unwrap()
}

/// Bytes a microsecond, that is MB/s, in reads of one stripe unit.
fn rate(drives: u32, service_ns: u64) -> f64 {
    let mut array = striped(drives, service_ns, 4);
    let ends = closed_loop(&mut array, 32, 2_000, |n| (Op::Read, u64::from(n) << 16, 1 << 16));
    2_000.0 * 65_536.0 / ends.iter().max().unwrap().as_secs_f64() / 1e6
}

#[test]
fn drives_on_one_bus_add_up_until_it_is_full() {
    // Four commands at once, each in 4 ms and its time on the bus, are 59 MB/s a drive.
    let rates = [1, 2, 4, 8].map(|drives| rate(drives, 4_000_000));
    assert!((57.0..66.0).contains(&rates[0]), "{rates:?}");
    assert!((115.0..132.0).contains(&rates[1]), "{rates:?}");
    // 65,536 bytes take 409.6 µs and 25 µs beside.
    assert!((145.0..152.0).contains(&rates[2]), "{rates:?}");
    assert!((145.0..152.0).contains(&rates[3]), "{rates:?}");
}

#[test]
fn small_transfers_pay_for_the_phases() {
    let mut array = striped(8, 1_000, 4);
    let ends = closed_loop(&mut array, 32, 4_000, |n| (Op::Read, u64::from(n) << 16, 512));
    let per_command = ends.iter().max().unwrap().0 / 4_000;
    assert!((28_000..29_000).contains(&per_command), "{per_command} ns: 25 µs of phases and 3.2");
}

#[test]
fn a_bus_that_cannot_be_is_refused() {
    let params = ScsiParams { burst_bytes: 0, ..ScsiParams::ULTRA160 };
    let error = OnScsi::scsi(params, vec![FakeDrive::new(1, 1)]).unwrap_err();
    assert_eq!(error.to_string(), "burst_bytes is 0, not within 512 to 16777216");
}

proptest! {
    #[test]
    fn everything_crosses_once_in_order_of_time(
        arrivals in arrivals(), drives in 1_u32..5, depth in 1_u32..5, service in 0_u64..500_000,
    ) {
        lawful(&mut striped(drives, service, depth), 64, &arrivals);
    }
}
