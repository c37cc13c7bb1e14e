//! R0: the same disk behind ICH8 in piix and in AHCI mode, under `bonnie++ -n 384` (2009).

use crate::row::{Better, Drawn, Figure, How, Pace, Played, Rate, Row};
use seekwell_io::units::Nanos;

const MODES: [(&str, &str); 2] = [("piix", "p4sbe-ich8-piix"), ("AHCI", "p4sbe-ich8-ahci")];
/// bonnie++ counts in KiB.
const KIB: f64 = 1024.0;
/// Its file, of which every part is used.
const FILE: u64 = 4 << 30;
const MAXIMUM: &str = "the longest of many waits in one run follows the host's write-back bursts, \
                       which no layer models";

/// A test: its name, whether it is in K/s, both modes' figures, shares of the processor and longest
/// waits in milliseconds, and what gives the modelled figure.
struct Test {
    what: &'static str,
    processor: &'static str,
    longest: &'static str,
    unit: &'static str,
    figures: [f64; 2],
    shares: [f64; 2],
    waits_ms: [f64; 2],
    work: &'static str,
    how: How,
}

/// All of them.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for test in tests() {
        let each = if test.unit == "K/s" { KIB } else { 1.0 };
        let share = How::Processor { of: test.what, work: test.work, each };
        let wait = How::NotModelled { why: MAXIMUM };
        let figures = [
            (test.what, test.unit, Better::Higher, test.figures, test.how),
            (test.processor, "%CP", Better::Lower, test.shares, share),
            (test.longest, "ms", Better::Lower, test.waits_ms, wait),
        ];
        for (what, unit, better, published, how) in figures {
            for ((configuration, machine), published) in MODES.into_iter().zip(published) {
                rows.push(Row {
                    document: "R0",
                    what,
                    configuration,
                    machine,
                    unit,
                    better,
                    published,
                    how: how.clone(),
                });
            }
        }
    }
    rows
}

macro_rules! test {
    (
        $what:literal, $unit:literal, $figures:expr, $shares:expr, $waits:expr, $work:literal,
        $how:expr
    ) => {
        Test {
            what: $what,
            processor: concat!($what, ": processor"),
            longest: concat!($what, ": longest wait"),
            unit: $unit,
            figures: $figures,
            shares: $shares,
            waits_ms: $waits,
            work: $work,
            how: $how,
        }
    };
}

fn tests() -> Vec<Test> {
    vec![
        test!(
            "sequential output, per character",
            "K/s",
            [439.0, 430.0],
            [99.0, 98.0],
            [48.125, 50.870],
            "put_character",
            How::Host { work: "put_character", per_s: 1.0 / KIB }
        ),
        test!(
            "sequential output, block",
            "K/s",
            [52_686.0, 52_639.0],
            [15.0, 14.0],
            [1645.0, 1532.0],
            "put_block",
            stream(0)
        ),
        test!(
            "rewrite",
            "K/s",
            [27_168.0, 27_533.0],
            [5.0, 5.0],
            [1545.0, 1655.0],
            "rewrite",
            stream(50)
        ),
        test!(
            "sequential input, per character",
            "K/s",
            [2039.0, 2066.0],
            [99.0, 99.0],
            [16.144, 10.203],
            "get_character",
            How::Host { work: "get_character", per_s: 1.0 / KIB }
        ),
        test!(
            "sequential input, block",
            "K/s",
            [62_782.0, 62_991.0],
            [4.0, 4.0],
            [137.0, 21.423],
            "get_block",
            stream(100)
        ),
        test!("random seeks", "/s", [228.9, 224.5], [3.0, 1.0], [863.0, 953.0], "seek", seeks()),
        test!(
            "sequential create",
            "/s",
            [17_299.0, 28_173.0],
            [43.0, 56.0],
            [1773.0, 1363.0],
            "create",
            played("bonnie-create-seq", "create", 1.43)
        ),
        test!(
            "sequential stat",
            "/s",
            [379_058.0, 373_407.0],
            [99.0, 98.0],
            [0.169, 0.157],
            "stat",
            How::Host { work: "stat", per_s: 1.0 }
        ),
        test!(
            "sequential delete",
            "/s",
            [777.0, 1645.0],
            [1.0, 2.0],
            [18_519.0, 12_877.0],
            "delete",
            played("bonnie-delete-seq", "delete", 1.42)
        ),
        test!(
            "random create",
            "/s",
            [24_781.0, 31_110.0],
            [49.0, 61.0],
            [1403.0, 1216.0],
            "create",
            played("bonnie-create-random", "create", 1.45)
        ),
        test!(
            "random stat",
            "/s",
            [522_877.0, 522_376.0],
            [100.0, 99.0],
            [0.014, 0.061],
            "random_stat",
            How::Host { work: "random_stat", per_s: 1.0 }
        ),
        test!(
            "random delete",
            "/s",
            [579.0, 1026.0],
            [1.0, 1.0],
            [14_935.0, 11_397.0],
            "delete",
            played("bonnie-delete-random", "delete", 1.45)
        ),
    ]
}

/// A pass over the file through the page cache, in the 512 KiB that the kernel of the time put
/// together; what is written back of it while it is read goes in portions of the 4 MiB that Linux
/// 2.6 writes back of a file before it goes on to another (`MAX_WRITEBACK_PAGES`,
/// mm/page-writeback.c).
fn stream(read_percent: u8) -> How {
    let is_rewrite = read_percent == 50;
    // Reading ahead keeps two requests under way, writing back as many as there are.
    let (bytes, depth) = match read_percent {
        100 => (512 << 10, 2),
        0 => (512 << 10, 8),
        _ => (4 << 20, 1),
    };
    How::Drawn(Drawn {
        is_random: false,
        read_percent,
        bytes,
        depth,
        region_bytes: FILE,
        from_percent: 0,
        runs: Nanos::from_millis(20_000),
        thinks: None,
        beside_writes: None,
        // What is read and written back again counts once.
        reads_off: Rate::BytesPer(if is_rewrite { 2.0 * KIB } else { KIB }),
    })
}

/// Three processes, each reading a block of 8 KiB anywhere and changing every tenth.
fn seeks() -> How {
    How::Drawn(Drawn {
        is_random: true,
        read_percent: 91,
        bytes: 8 << 10,
        depth: 3,
        region_bytes: FILE,
        from_percent: 0,
        runs: Nanos::from_millis(60_000),
        thinks: None,
        beside_writes: None,
        reads_off: Rate::RequestsPer(1.0 / 0.91),
    })
}

/// A recorded phase; its processor took `recorded_s` for all files.
const fn played(trace: &'static str, work: &'static str, recorded_s: f64) -> How {
    How::Played(Played {
        trace,
        pace: Pace::Dependent,
        figure: Figure::PerSecond(FILES),
        thinks: Some((work, recorded_s * 1e9 / FILES)),
    })
}

/// Files of each recorded phase.
const FILES: f64 = 96.0 * 1024.0;
