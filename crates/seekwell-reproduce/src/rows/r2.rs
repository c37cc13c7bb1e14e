//! R2: DragonFly's AHCI driver before and after it used its tags and kept reads and writes apart
//! (April 2011).

use crate::row::{Better, How, Reading, Row};
use seekwell_io::units::Nanos;
use seekwell_suites::load::{Counts, Drawn, Load, Shape};

const STATES: [&str; 2] = ["before", "after"];
const BLOG: &str = "what blogbench reaches is decided by the memory and the processors of a server \
                    that the document does not describe";

/// The part of the drive that was read is not stated; a drive that gives 150 reads one at a time
/// moves its arm little.
const TEST_FILE: u64 = 8 << 30;
/// What DragonFly writes to swap at once.
const CLUSTER: u32 = 64 << 10;

pub fn rows() -> Vec<Row> {
    let random = |bytes, region_bytes, beside_writes, inputs| {
        let shape = Shape::Random { read_percent: 100, bytes, depth: 64 };
        let (runs, counts) = (Nanos::from_millis(30_000), Counts::Requests(1.0));
        let drawn = Drawn::new(shape, region_bytes, runs, counts);
        How::Load {
            load: Load::Drawn(Drawn { beside_writes, ..drawn }),
            reads: Reading::Per(1.0),
            inputs: Some(inputs),
        }
    };
    let not = How::NotModelled { why: BLOG };
    let tests = [
        (
            "random 512-byte reads, Crucial C300",
            "IOPS",
            [8000.0, 37_000.0],
            ["c300-before", "c300-after"],
            random(
                512,
                0,
                None,
                "the document's request size; depth 64 over the whole SSD assumed",
            ),
        ),
        (
            "random 512-byte reads, hard drive",
            "IOPS",
            [150.0, 365.0],
            ["dragonfly-hdd-before", "dragonfly-hdd-after"],
            random(
                512,
                TEST_FILE,
                None,
                "the document's request size; depth 64 assumed; 8 GiB of the disk chosen because \
                 the document's 150 reads one at a time need short seeks",
            ),
        ),
        (
            "blogbench: writing holds until blog",
            "#",
            [1300.0, 1600.0],
            ["dragonfly-hdd-before", "dragonfly-hdd-after"],
            not.clone(),
        ),
        (
            "swapcache SSD, random reads under blogbench",
            "IOPS",
            [130.0, 1400.0],
            ["swapcache-ssd-before", "swapcache-ssd-after"],
            random(
                16 << 10,
                0,
                Some((64, CLUSTER)),
                "reads of 16 KiB beside writes of 64 KiB, 64 of each outstanding: assumed",
            ),
        ),
        (
            "blogbench: article reads at the end",
            "/s",
            [10_000.0, 60_000.0],
            ["dragonfly-hdd-before", "dragonfly-hdd-after"],
            not,
        ),
    ];
    let both = |(what, unit, figures, machines, how): (_, _, [f64; 2], [&'static str; 2], How)| {
        let states = (0..2).map(|i| (STATES[i], machines[i], figures[i]));
        Row::each("R2", (what, unit, Better::Higher), &how, states)
    };
    tests.into_iter().flat_map(both).collect()
}
