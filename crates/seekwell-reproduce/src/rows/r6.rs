//! R6: the six numbers of the kernel's io.cost model, as submitted for client SSDs
//! (iocost-benchmarks, `database/`, Apache-2.0; medians over the submitted runs).

use crate::row::{Better, How, Reading, Row};
use seekwell_io::units::Nanos;
use seekwell_suites::load::{Counts, Drawn, Load, Shape};

/// Of a test: its name, and whether bytes or requests count.
const TESTS: [(&str, &str); 6] = [
    ("sequential reads", "MB/s"),
    ("sequential 4 KiB reads", "IOPS"),
    ("random 4 KiB reads", "IOPS"),
    ("sequential writes", "MB/s"),
    ("sequential 4 KiB writes", "IOPS"),
    ("random 4 KiB writes", "IOPS"),
];

/// A drive, its machine, and rbps, rseqiops, rrandiops, wbps, wseqiops and wrandiops, those of
/// bytes in MB/s.
const DRIVES: [(&str, &str, [f64; 6]); 4] = [
    (
        "Samsung 990 PRO 2 TB",
        "990-pro-2tb",
        [6444.1, 596_055.0, 781_780.0, 6596.2, 73_312.0, 73_748.0],
    ),
    (
        "Crucial P3 Plus 1 TB",
        "p3-plus-1tb",
        [4579.9, 391_807.0, 134_655.0, 2220.8, 128_640.0, 17_024.0],
    ),
    (
        "Samsung 970 PRO 512 GB (machine: 1 TB)",
        "nvme-ssd",
        [3468.4, 343_800.0, 376_844.0, 2219.2, 239_923.0, 241_421.0],
    ),
    (
        "Samsung 860 (machine: 870 EVO 1 TB)",
        "870-evo-1tb",
        [571.1, 94_411.0, 98_548.0, 379.2, 90_917.0, 89_636.0],
    ),
];

/// The script's test file.
const FILE: u64 = 16 << 30;
/// Its sequential requests of 128 MiB come in pieces, as a kernel splits them; these add up to as
/// much at once as the drive can use.
const PIECE: (u32, u32) = (128 << 10, 64);
const SMALL: (u32, u32) = (4096, 64);

const INPUTS: &str = "a file of 16 GiB; 4 KiB at depth 64, and 128 MiB at depth 1: the script's \
     (tools/cgroup/iocost_coef_gen.py). Pieces of 128 KiB, 64 at once, in place of the 128 MiB, \
     and the first half second, on an idle drive, in place of two minutes: assumed here";

const FULL: &str = "the two minutes of sequential writes before it wrote 266 GB: its SLC cache was \
     no longer empty, as it is where a load begins here";

/// All of them; the drives are the configurations.
pub fn rows() -> Vec<Row> {
    let tests = TESTS.into_iter().enumerate();
    let each = tests.flat_map(|(test, (what, unit))| {
        DRIVES.iter().map(move |(configuration, machine, published)| Row {
            document: "R6",
            what: what.to_owned(),
            configuration,
            machine,
            unit,
            better: Better::Higher,
            published: published[test],
            how: if *machine == "p3-plus-1tb" && test > 3 {
                How::NotModelled { why: FULL }
            } else {
                How::Load { load: load(test), reads: Reading::Per(1.0), inputs: Some(INPUTS) }
            },
        })
    });
    each.collect()
}

const fn load(test: usize) -> Load {
    let read_percent = if test < 3 { 100 } else { 0 };
    let (bytes, depth) = if test.is_multiple_of(3) { PIECE } else { SMALL };
    let shape = if test % 3 == 2 {
        Shape::Random { read_percent, bytes, depth }
    } else {
        Shape::Sequential { read_percent, bytes, depth }
    };
    let counts = if test.is_multiple_of(3) { Counts::Bytes(1e-6) } else { Counts::Requests(1.0) };
    Load::Drawn(Drawn::new(shape, FILE, Nanos::from_millis(500), counts))
}
