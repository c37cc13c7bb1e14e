//! Whole drives against their data sheets, by the same engine that measures real ones.

use super::drives::{c300_128, c300_256, nvme_1tb, sata_1tb};
use crate::link::{SataLink, SataParams, SataSpeed};
use crate::ssd::{Fill, Ssd, SsdParams};
use crate::{Machine, Part};
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::{Control, run};
use seekwell_io::measurement::Measurement;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};

const MB: f64 = 1e6;

fn on_sata(params: SsdParams) -> SataLink<Ssd> {
    let drive = Ssd::new(params).expect("legal parameters");
    SataLink::sata(SataParams::at(SataSpeed::Gbps6), drive).expect("a legal link")
}

fn measured(part: impl Part, workload: &Workload) -> Measurement {
    let mut machine = Machine::new(part);
    run(workload, 0, &mut machine, &mut Unlimited::default(), &Control::default())
        .expect("a legal workload")
}

/// Requests and bytes per second.
fn rates(part: impl Part, pattern: Pattern, read_percent: u8, len: u32, depth: u32) -> (f64, f64) {
    let region = part.capacity().min(8 << 30);
    let mut workload = Workload::closed(pattern, read_percent, len, depth, region);
    workload.ramp_ns = Nanos::from_millis(1000);
    workload.runtime_ns = Nanos::from_millis(2000);
    let measurement = measured(part, &workload);
    let requests: u64 = measurement.ops.iter().map(|op| op.requests).sum();
    let bytes: u64 = measurement.ops.iter().map(|op| op.bytes).sum();
    let seconds = measurement.elapsed.as_secs_f64();
    (requests as f64 / seconds, bytes as f64 / seconds)
}

#[track_caller]
fn near(what: &str, got: f64, published: f64, percent: f64) {
    let off = (got / published - 1.0) * 100.0;
    println!("{what}: {got:.0}, published {published:.0}, {off:+.1} %");
    assert!(off.abs() <= percent, "{what}: {got:.0} for {published:.0}, {off:+.1} %");
}

/// The four corners at depth 32: sequential read and write in bytes a second, random in requests.
fn corners<P: Part>(name: &str, make: impl Fn(Fill) -> P, depth: u32, sheet: [f64; 4]) {
    let (seq, random) = (Pattern::Sequential, Pattern::Random);
    let read = rates(make(Fill::Sequential), seq, 100, 128 << 10, depth).1;
    near(&format!("{name} sequential read"), read, sheet[0] * MB, 10.0);
    let written = rates(make(Fill::Empty), seq, 0, 128 << 10, depth).1;
    near(&format!("{name} sequential write"), written, sheet[1] * MB, 10.0);
    let reads = rates(make(Fill::Sequential), random, 100, 4096, depth).0;
    near(&format!("{name} random read"), reads, sheet[2], 10.0);
    let writes = rates(make(Fill::Empty), random, 0, 4096, depth).0;
    near(&format!("{name} random write"), writes, sheet[3], 10.0);
}

#[test]
fn the_c300_meets_its_data_sheet_at_256_gb() {
    corners("C300 256", |fill| on_sata(c300_256(fill)), 32, [355.0, 215.0, 60_000.0, 45_000.0]);
}

#[test]
fn the_c300_meets_its_data_sheet_at_128_gb() {
    corners("C300 128", |fill| on_sata(c300_128(fill)), 32, [355.0, 140.0, 50_000.0, 30_000.0]);
}

#[test]
fn a_modern_sata_drive_meets_its_data_sheet() {
    corners("SATA", |fill| on_sata(sata_1tb(fill)), 32, [560.0, 530.0, 98_000.0, 90_000.0]);
    let (alone, _) = rates(on_sata(sata_1tb(Fill::Sequential)), Pattern::Random, 100, 4096, 1);
    near("SATA random read at depth 1", alone, 10_000.0, 10.0);
}

#[test]
fn an_nvme_drive_meets_its_data_sheet() {
    let make = |fill| Ssd::new(nvme_1tb(fill)).expect("legal parameters");
    corners("NVMe", make, 128, [3500.0, 2700.0, 500_000.0, 500_000.0]);
    let (alone, _) = rates(make(Fill::Sequential), Pattern::Random, 100, 4096, 1);
    near("NVMe random read at depth 1", alone, 15_000.0, 10.0);
}

/// What the DragonFly developers saw before their driver used tags: about 8,000 a second. The
/// controller's latency is fitted on it, so this only keeps it.
#[test]
fn a_c300_read_one_at_a_time_takes_about_an_eighth_of_a_millisecond() {
    let drive = on_sata(c300_256(Fill::Sequential));
    let (reads, _) = rates(drive, Pattern::Random, 100, 512, 1);
    near("C300 reads of 512 bytes at depth 1", reads, 8_000.0, 12.0);
    let drive = on_sata(c300_256(Fill::Sequential));
    let (reads, _) = rates(drive, Pattern::Random, 100, 4096, 1);
    assert!((6_000.0..8_000.0).contains(&reads), "{reads:.0} reads of 4 KiB a second");
}

/// `AnandTech` 2010: after 20 minutes of random writes over the whole drive the C300 fell to 20
/// MB/s, and TRIM brought it back.
#[test]
fn random_writes_over_a_full_drive_collapse_and_a_discard_of_everything_brings_them_back() {
    let mut workload = Workload::closed(Pattern::Random, 0, 4096, 32, 256_000_000_000);
    workload.runtime_ns = Nanos::from_millis(20_000);
    workload.ramp_ns = Nanos::from_millis(5_000);
    let written = |fill| {
        let measurement = measured(on_sata(c300_256(fill)), &workload);
        measurement.ops[1].bytes as f64 / measurement.elapsed.as_secs_f64() / MB
    };
    let (steady, fresh) = (written(Fill::Random), written(Fill::Empty));
    println!("C300 random writes: {fresh:.0} MB/s fresh, {steady:.0} MB/s in the steady state");
    assert!((15.0..45.0).contains(&steady), "{steady:.0} MB/s");
    assert!((166.0..204.0).contains(&fresh), "{fresh:.0} MB/s");
}

#[test]
fn small_sequential_reads_one_at_a_time_are_faster_with_read_ahead() {
    let with = c300_256(Fill::Sequential);
    let without = SsdParams { read_ahead_bytes: 0, ..with.clone() };
    let rate = |params| rates(on_sata(params), Pattern::Sequential, 100, 4096, 1).0;
    let (with, without) = (rate(with), rate(without));
    assert!(with > 1.5 * without, "{with:.0} and {without:.0} reads a second");
}
