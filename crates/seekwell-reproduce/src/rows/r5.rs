//! R5: how long requests of a probe take beside random writes (G. Haas, A. Lee, P. Bonnet, V. Leis,
//! "SSD-iQ: Uncovering the Hidden Side of SSD Performance", PVLDB 18, 2025, raw results).

use crate::row::{Better, How, Reading, Row};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_suites::load::{Load, Probed};

/// A drive and its cells: the background's name and requests a second, and the probe's figures in
/// the order of [`FIGURES`], in microseconds.
struct Drive {
    name: &'static str,
    machine: &'static str,
    cells: &'static [(&'static str, u32, [f64; 6])],
}

const FIGURES: [(&str, Reading); 6] = [
    ("read p50", Reading::Micros(Op::Read, 0.5)),
    ("read p99", Reading::Micros(Op::Read, 0.99)),
    ("read p99.9", Reading::Micros(Op::Read, 0.999)),
    ("write p50", Reading::Micros(Op::Write, 0.5)),
    ("write p99", Reading::Micros(Op::Write, 0.99)),
    ("write p99.9", Reading::Micros(Op::Write, 0.999)),
];

const DRIVES: [Drive; 7] = [
    Drive {
        name: "Samsung PM9A3 960 GB",
        machine: "pm9a3-960",
        cells: &[
            ("10000/s", 10_000, [64.0, 237.0, 393.0, 11.0, 14.0, 17.0]),
            ("20000/s", 20_000, [71.0, 276.0, 428.0, 11.0, 14.0, 17.0]),
            ("40000/s", 40_000, [89.0, 349.0, 505.0, 11.0, 14.0, 17.0]),
            ("60000/s", 60_000, [107.0, 388.0, 544.0, 14.0, 81.0, 138.0]),
            ("80000/s", 80_000, [899.0, 2204.0, 3070.0, 3378.0, 4039.0, 5934.0]),
            ("100000/s", 100_000, [903.0, 2206.0, 3082.0, 3380.0, 4040.0, 5935.0]),
            ("150000/s", 150_000, [898.0, 2204.0, 3048.0, 3378.0, 4038.0, 5961.0]),
            ("250000/s", 250_000, [899.0, 2202.0, 3058.0, 3379.0, 4032.0, 5951.0]),
            ("500000/s", 500_000, [904.0, 2206.0, 3057.0, 3381.0, 4040.0, 5947.0]),
        ],
    },
    Drive {
        name: "SK Hynix PE8110 960 GB",
        machine: "pe8110-960",
        cells: &[
            ("10000/s", 10_000, [56.0, 315.0, 457.0, 10.0, 12.0, 16.0]),
            ("20000/s", 20_000, [65.0, 372.0, 497.0, 10.0, 12.0, 16.0]),
            ("40000/s", 40_000, [71.0, 411.0, 536.0, 10.0, 13.0, 16.0]),
            ("60000/s", 60_000, [150.0, 430.0, 564.0, 10.0, 13.0, 17.0]),
            ("80000/s", 80_000, [4211.0, 6041.0, 6228.0, 4742.0, 6890.0, 6981.0]),
            ("100000/s", 100_000, [4808.0, 6071.0, 6268.0, 5304.0, 6909.0, 6998.0]),
            ("150000/s", 150_000, [4797.0, 6067.0, 6260.0, 5286.0, 6904.0, 6992.0]),
        ],
    },
    Drive {
        name: "WD DC 960 GB",
        machine: "wd-dc-960",
        cells: &[
            ("10000/s", 10_000, [84.0, 362.0, 565.0, 13.0, 16.0, 35.0]),
            ("20000/s", 20_000, [93.0, 454.0, 639.0, 13.0, 17.0, 38.0]),
            ("40000/s", 40_000, [192.0, 559.0, 785.0, 13.0, 36.0, 122.0]),
            ("60000/s", 60_000, [8682.0, 11_582.0, 14_161.0, 8835.0, 11_857.0, 14_476.0]),
            ("80000/s", 80_000, [8692.0, 11_574.0, 14_158.0, 8846.0, 11_848.0, 14_472.0]),
            ("100000/s", 100_000, [8696.0, 11_592.0, 14_128.0, 8850.0, 11_874.0, 14_442.0]),
            ("150000/s", 150_000, [8694.0, 11_572.0, 14_140.0, 8848.0, 11_842.0, 14_445.0]),
        ],
    },
    Drive {
        name: "Solidigm D7-P5520 1.92 TB",
        machine: "d7-p5520-1920",
        cells: &[
            ("10000/s", 10_000, [70.0, 256.0, 410.0, 8.0, 26.0, 151.0]),
            ("20000/s", 20_000, [115.0, 363.0, 486.0, 8.0, 56.0, 164.0]),
            ("40000/s", 40_000, [117.0, 413.0, 531.0, 8.0, 49.0, 152.0]),
            ("60000/s", 60_000, [124.0, 438.0, 563.0, 8.0, 41.0, 70.0]),
            ("80000/s", 80_000, [142.0, 460.0, 599.0, 9.0, 55.0, 119.0]),
            ("100000/s", 100_000, [140.0, 464.0, 613.0, 9.0, 74.0, 326.0]),
            ("150000/s", 150_000, [424.0, 2152.0, 3284.0, 2112.0, 7002.0, 8645.0]),
        ],
    },
    Drive {
        name: "Kioxia CM7-R 3.84 TB",
        machine: "cm7-r-3840",
        cells: &[
            ("10000/s", 10_000, [73.0, 222.0, 552.0, 8.0, 11.0, 15.0]),
            ("20000/s", 20_000, [73.0, 342.0, 590.0, 8.0, 11.0, 15.0]),
            ("40000/s", 40_000, [73.0, 464.0, 633.0, 8.0, 11.0, 15.0]),
            ("60000/s", 60_000, [74.0, 518.0, 682.0, 8.0, 11.0, 15.0]),
            ("80000/s", 80_000, [74.0, 541.0, 734.0, 8.0, 15.0, 566.0]),
            ("100000/s", 100_000, [74.0, 555.0, 774.0, 8.0, 1948.0, 2540.0]),
            ("150000/s", 150_000, [75.0, 581.0, 900.0, 8.0, 4721.0, 5230.0]),
            ("250000/s", 250_000, [137.0, 656.0, 1050.0, 791.0, 5966.0, 6405.0]),
            ("500000/s", 500_000, [244.0, 867.0, 1112.0, 2858.0, 6107.0, 6560.0]),
        ],
    },
    Drive {
        name: "Micron 7450 PRO 960 GB",
        machine: "micron-7450-pro-960",
        cells: &[
            ("10000/s", 10_000, [65.0, 232.0, 427.0, 9.0, 313.0, 1584.0]),
            ("20000/s", 20_000, [74.0, 338.0, 466.0, 9.0, 4212.0, 8854.0]),
            ("40000/s", 40_000, [105.0, 1591.0, 5341.0, 10.0, 11_003.0, 15_124.0]),
            ("60000/s", 60_000, [2864.0, 4558.0, 4918.0, 9113.0, 10_916.0, 11_268.0]),
            ("80000/s", 80_000, [174.0, 496.0, 712.0, 5700.0, 5774.0, 5792.0]),
            ("100000/s", 100_000, [174.0, 495.0, 712.0, 5698.0, 5767.0, 5787.0]),
            ("150000/s", 150_000, [173.0, 496.0, 712.0, 5692.0, 5768.0, 5786.0]),
        ],
    },
    Drive {
        name: "Micron 7450 MAX 800 GB",
        machine: "micron-7450-max-800",
        cells: &[
            ("10000/s", 10_000, [65.0, 161.0, 388.0, 9.0, 14.0, 218.0]),
            ("20000/s", 20_000, [65.0, 257.0, 428.0, 9.0, 766.0, 2608.0]),
            ("40000/s", 40_000, [75.0, 373.0, 3142.0, 9.0, 6974.0, 12_550.0]),
            ("60000/s", 60_000, [87.0, 4016.0, 4666.0, 10.0, 10_656.0, 11_362.0]),
            ("80000/s", 80_000, [108.0, 424.0, 595.0, 10.0, 5208.0, 5274.0]),
            ("100000/s", 100_000, [123.0, 460.0, 652.0, 3620.0, 4191.0, 4233.0]),
            ("150000/s", 150_000, [144.0, 488.0, 689.0, 3304.0, 3357.0, 3368.0]),
        ],
    },
];

const INPUTS: &str = "a probe of 10,000 random requests of 4 KiB a second, half of them reads, \
     Poisson arrivals, beside a background of which 99 of 100 are writes (7 threads, depth 64): \
     the document's. Separate submission queues for the probe's reads and writes, and the \
     drive's steady state in place of three overwrites: assumed here";

/// All of them; the rates of the background are the configurations.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for Drive { name, machine, cells } in &DRIVES {
        for (figure, (what, reads)) in FIGURES.into_iter().enumerate() {
            for (configuration, per_s, published) in *cells {
                let load = Load::Probed(beside(f64::from(*per_s)));
                rows.push(Row {
                    document: "R5",
                    what: format!("{name}, {what}"),
                    configuration,
                    machine,
                    unit: "µs",
                    better: Better::Lower,
                    published: published[figure],
                    how: How::Load { load, reads, inputs: Some(INPUTS) },
                });
            }
        }
    }
    rows
}

const fn beside(background_per_s: f64) -> Probed {
    Probed {
        probe_per_s: 10_000.0,
        background_per_s,
        background_read_percent: 1,
        threads: 7,
        depth: 64,
        ramp: Nanos::from_millis(2_000),
        runs: Nanos::from_millis(2_500),
    }
}
