//! R4: hdparm on an IDE disk (O'Reilly, 2000).

use crate::row::{Better, How, Reading, Row};
use seekwell_io::units::Nanos;
use seekwell_suites::hdparm;

const SETTINGS: [(&str, &str, [f64; 2]); 3] = [
    ("defaults", "pii350-default", [95.52, 3.58]),
    ("-c3 -m16", "pii350-c3m16", [90.78, 6.50]),
    ("-X66 -d1 -u1 -m16 -c3", "pii350-udma2", [89.51, 20.13]),
];

/// hdparm counts in MiB.
const MIB: f64 = 1_048_576.0;

/// All of them. The device is read one after the other in the 64 KiB that Linux 2.2 put together at
/// most, one request at a time, from its beginning, for three seconds.
pub fn rows() -> Vec<Row> {
    let of = |load, inputs| How::Load { load, reads: Reading::Per(MIB), inputs };
    let cached = of(hdparm::CACHED, None);
    let device = of(
        hdparm::device_load(Nanos::from_millis(3_000)),
        Some(
            "three seconds from the start of the disk, as hdparm reads; requests of 64 KiB, one at \
             a time, assumed",
        ),
    );
    let tests = [("cached reads, -T", cached), ("device reads, -t", device)];
    let of_settings = |(index, (what, how)): (usize, (_, How))| {
        let figures = SETTINGS.map(|(name, machine, figures)| (name, machine, figures[index]));
        Row::each("R4", (what, "MB/s", Better::Higher), &how, figures)
    };
    tests.into_iter().enumerate().flat_map(of_settings).collect()
}
