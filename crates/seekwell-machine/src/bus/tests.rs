use super::{Competitor, OnPci, PciKind, PciParams, PciWire};
use crate::fake::{FakeDrive, arrivals, closed_loop, command, drain, lawful};
use crate::part::Part;
use crate::wire::{Way, Wire};
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

const MEGABYTE: u32 = 1 << 20;

/// Bytes a microsecond that the adapter moves while it has always something to move.
fn rate(params: &PciParams, way: Way) -> f64 {
    let wire = PciWire::new(params).unwrap();
    f64::from(MEGABYTE) * 1e3 / wire.data(MEGABYTE, way).0 as f64
}

/// Share of the clocks in which data crosses.
fn efficiency(params: &PciParams, way: Way) -> f64 {
    let peak = f64::from(params.kind.bytes_per_clock()) * 1e6 / params.kind.clock_ps() as f64;
    rate(params, way) / peak
}

#[test]
fn efficiency_is_what_the_overhead_of_a_burst_leaves() {
    for (burst_bytes, expected) in [(64, 16.0 / 28.0), (256, 64.0 / 76.0), (4, 1.0 / 13.0)] {
        let params = PciParams { burst_bytes, ..PciParams::quiet(PciKind::Pci32At33) };
        let got = efficiency(&params, Way::In);
        assert!((got - expected).abs() < 1e-4, "{burst_bytes} bytes: {got}");
    }
}

#[test]
fn every_faster_bus_carries_more_and_none_more_than_its_peak() {
    let rates = PciKind::ALL.map(|kind| rate(&PciParams::quiet(kind), Way::In));
    let peaks = [133.4, 266.7, 266.7, 533.4, 533.4, 800.0, 1066.7];
    assert!(rates.iter().zip(peaks).all(|(rate, peak)| *rate < peak), "{rates:?}");
    assert!((105.0..118.0).contains(&rates[0]), "about 112 MB/s on the common bus: {rates:?}");
    assert!(rates[3] > 2.5 * rates[0] && rates[5] > rates[4] && rates[6] > rates[5], "{rates:?}");
}

#[test]
fn a_split_read_does_not_hold_the_bus_while_it_waits() {
    let held = PciParams { read_wait_clocks: 60, ..PciParams::quiet(PciKind::Pci64At66) };
    assert!(efficiency(&held, Way::Out) < 0.4);
    let split = PciParams::quiet(PciKind::PciX64At66);
    assert!(efficiency(&split, Way::Out) > 0.7);
}

#[test]
fn a_hungry_neighbour_gets_every_second_turn() {
    let quiet = PciParams::quiet(PciKind::Pci32At33);
    // With the timer at 73 clocks, 256 bytes still fit: 1 address, 8 wait, 64 data.
    let shared = PciParams {
        latency_timer_clocks: 73,
        load: vec![Competitor { bytes_per_s: 1_000_000_000, burst_bytes: 256 }],
        ..quiet.clone()
    };
    let ratio = rate(&shared, Way::In) / rate(&quiet, Way::In);
    assert!((ratio - 0.5).abs() < 1e-4, "{ratio}");
}

#[test]
fn a_modest_neighbour_gets_what_it_wants() {
    // 20 MB/s in bursts of 256 bytes: 76 clocks of 30 ns each 12.8 µs, that is 17.8 % of the bus.
    let share = 20e6 / 256.0 * 76.0 * 30e-9;
    let quiet = PciParams::quiet(PciKind::Pci32At33);
    let shared = PciParams {
        latency_timer_clocks: 73,
        load: vec![Competitor { bytes_per_s: 20_000_000, burst_bytes: 256 }],
        ..quiet.clone()
    };
    let ratio = rate(&shared, Way::In) / rate(&quiet, Way::In);
    assert!((ratio - (1.0 - share)).abs() < 1e-4, "{ratio}");
}

#[test]
fn the_latency_timer_cuts_bursts_only_when_somebody_waits() {
    let params = PciParams { latency_timer_clocks: 25, ..PciParams::quiet(PciKind::Pci32At33) };
    assert!((efficiency(&params, Way::In) - 64.0 / 76.0).abs() < 1e-4);
    let nobody = Competitor { bytes_per_s: 0, burst_bytes: 64 };
    let params = PciParams { load: vec![nobody], ..params };
    assert!((efficiency(&params, Way::In) - 16.0 / 28.0).abs() < 1e-4, "16 clocks are left");
}

#[test]
fn transfers_share_the_bus_one_after_the_other() {
    let params = PciParams {
        command_accesses: 0,
        status_accesses: 0,
        ..PciParams::quiet(PciKind::Pci32At33)
    };
    let mut adapter = OnPci::pci(&params, FakeDrive::new(8, 10)).unwrap();
    let ends = closed_loop(&mut adapter, 8, 400, |n| (Op::Read, u64::from(n) << 16, 1 << 16));
    let one = PciWire::new(&params).unwrap().data(1 << 16, Way::In).0;
    let all = ends.iter().max().unwrap().0;
    assert!((400 * one..=400 * one + 100).contains(&all), "{all} {one}");
}

proptest! {
    #[test]
    fn nobody_gets_more_than_a_turn_nor_more_than_it_wants(
        own in 64_u32..4096,
        others in prop::collection::vec((0_u64..300_000_000, 16_u32..1024), 0..5),
    ) {
        let load: Vec<_> = others
            .iter()
            .map(|&(bytes_per_s, burst_bytes)| Competitor { bytes_per_s, burst_bytes })
            .collect();
        let params =
            PciParams { burst_bytes: own, load, ..PciParams::quiet(PciKind::Pci64At66) };
        let wire = PciWire::new(&params).unwrap();
        let bytes = params.longest_burst(Way::In);
        let clocks = |bytes| {
            f64::from(params.overhead(Way::In) + params.kind.data_clocks(bytes))
        };
        let length = wire.inward.full_ps as f64 / params.kind.clock_ps() as f64;
        let others = params.load.iter().map(|other| {
            let cut = params.cut(other.burst_bytes, params.write_wait_clocks);
            let wants = other.bytes_per_s as f64 / f64::from(cut) * 15e-9 * length * clocks(cut);
            wants.min(clocks(cut))
        });
        let sum = clocks(bytes) + others.sum::<f64>();
        prop_assert!((sum - length).abs() < 0.01, "{} clocks in a round of {}", sum, length);
    }

    #[test]
    fn everything_crosses_once_in_order_of_time(
        arrivals in arrivals(), depth in 1_u32..33, service in 0_u64..500_000,
    ) {
        let load = vec![Competitor { bytes_per_s: 30_000_000, burst_bytes: 64 }];
        let params = PciParams { load, ..PciParams::quiet(PciKind::Pci32At33) };
        let mut adapter = OnPci::pci(&params, FakeDrive::new(depth, service)).unwrap();
        lawful(&mut adapter, depth, &arrivals);
    }
}

#[test]
fn a_bus_that_cannot_be_is_refused() {
    let params = PciParams { latency_timer_clocks: 0, ..PciParams::quiet(PciKind::Pci32At33) };
    let error = OnPci::pci(&params, FakeDrive::new(1, 1)).unwrap_err();
    assert_eq!(error.to_string(), "latency_timer_clocks is 0, not within 8 to 255");
}

#[test]
fn a_command_costs_its_accesses_to_registers() {
    let mut adapter =
        OnPci::pci(&PciParams::quiet(PciKind::Pci32At33), FakeDrive::new(1, 5)).unwrap();
    adapter.submit(command(0, Op::Flush, 0, 0), Nanos::ZERO);
    // Four accesses of 13 clocks of 30 ns before, and as many after.
    assert_eq!(drain(&mut adapter)[0].at, Nanos(1560 + 5 + 1560));
}
