//! R1: three SATA modes of one server under the Phoronix Test Suite.

use crate::row::{Better, How, Reading, Row};
use seekwell_suites::load::Load;
use seekwell_suites::{fsmark, sqlite, threaded, web};

const MODES: [(&str, &str); 3] = [
    ("IDE", "x8dtl-ide"),
    ("AHCI, BIOS ROM", "x8dtl-ahci-bios"),
    ("AHCI, Intel ROM", "x8dtl-ahci-intel"),
];

const INSERTIONS: f64 = 12_500.0;
const MB: f64 = 1e6;

pub fn rows() -> Vec<Row> {
    let played = |recorded, reads, inputs| How::Load {
        load: Load::Played(recorded),
        reads,
        inputs: Some(inputs),
    };
    let host = |load, per| How::Load { load, reads: Reading::Per(per), inputs: None };
    let tests = [
        (
            "SQLite timed insertions",
            "s",
            Better::Lower,
            [1708.55, 794.92, 558.98],
            played(
                sqlite::RECORDED,
                Reading::SecondsOf(INSERTIONS),
                "recorded on ext4 with barriers, a fifth of the test's insertions",
            ),
        ),
        (
            "FS-Mark, 1000 files of 1 MB",
            "files/s",
            Better::Higher,
            [9.93, 11.87, 13.8],
            played(
                fsmark::RECORDED,
                Reading::Per(1.0),
                "recorded on ext4 with barriers, a fifth of the test's files",
            ),
        ),
        (
            "Threaded I/O, random read",
            "MB/s",
            Better::Higher,
            [1252.83, 1265.55, 1303.47],
            host(threaded::CACHED, MB),
        ),
        (
            "Threaded I/O, random write",
            "MB/s",
            Better::Higher,
            [0.59, 0.97, 1.08],
            played(
                threaded::RANDOM_WRITE,
                Reading::Per(MB),
                "tiotest's 32 threads and files of 64 MiB, recorded with fio on ext4",
            ),
        ),
        (
            "Apache Benchmark, static page",
            "/s",
            Better::Higher,
            [15_908.64, 15_546.63, 15_730.01],
            host(web::WARM, 1.0),
        ),
    ];
    let of_modes = |(what, unit, better, figures, how): (_, _, _, [f64; 3], How)| {
        let modes = MODES.into_iter().zip(figures);
        let modes = modes.map(|((mode, machine), figure)| (mode, machine, figure));
        Row::each("R1", (what, unit, better), &how, modes)
    };
    tests.into_iter().flat_map(of_modes).collect()
}
