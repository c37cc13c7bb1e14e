//! R3: RAID controllers on faster buses under recorded web and database load: StorageMark 2004.

use crate::row::{Better, How, Property, Reading, Row};
use seekwell_suites::load::{Load, Pace};
use seekwell_suites::storagemark;

/// Configurations and their figures for web light, web heavy, database light and database heavy.
const CONTROLLERS: [(&str, &str, [f64; 4]); 5] = [
    ("AcceleRAID 600, PCI-X 64/100", "acceleraid600-pcix64-100", [435.0, 510.0, 990.0, 1724.0]),
    ("AcceleRAID 600, PCI 64/66", "acceleraid600-pci64-66", [435.0, 510.0, 990.0, 1695.0]),
    ("MegaRAID 1600, PCI 64/66", "megaraid1600-pci64-66", [418.0, 568.0, 1316.0, 1639.0]),
    ("MegaRAID 1600, PCI 32/33", "megaraid1600-pci32-33", [413.0, 562.0, 1176.0, 1408.0]),
    (
        "MegaRAID 1600, PCI 32/33 + load",
        "megaraid1600-pci32-33-load",
        [407.0, 556.0, 1075.0, 1250.0],
    ),
];
const RECORDED: &str = "the re-recorded trace at its own depth";
/// Tests, their traces, which of the controllers' figures they are held against, how many of their
/// requests are outstanding in playback, and whose number that is.
const TESTS: [(&str, &str, usize, Pace, &str); 5] = [
    (
        "web light",
        "web-light",
        0,
        Pace::Depth(2),
        "played at depth 2: the document's mean queue length is 1.86",
    ),
    (
        "web heavy",
        "web-heavy",
        1,
        Pace::Depth(4),
        "played at depth 4: the document's mean queue length is 3.50",
    ),
    ("web heavy at its recorded depth", "web-heavy", 1, Pace::RecordedDepth, RECORDED),
    ("database light", "db-light", 2, Pace::RecordedDepth, RECORDED),
    ("database heavy", "db-heavy", 3, Pace::RecordedDepth, RECORDED),
];

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let recorded = [
        ("mean queue length", "requests", Property::Queue, [1.86, 3.50]),
        ("data read", "%", Property::ReadPercent, [75.0, 86.0]),
        ("transfer rate", "MB/s", Property::MegabytesPerSecond, [3.3, 35.1]),
    ];
    for (what, unit, property, figures) in recorded {
        for ((configuration, trace, ..), published) in TESTS.into_iter().zip(figures) {
            let figure = (configuration, "", published);
            let how = How::Recorded { trace, property };
            rows.extend(Row::each("R3", (what, unit, Better::Higher), &how, [figure]));
        }
    }
    for (what, trace, of, pace, inputs) in TESTS {
        let load = Load::Played(storagemark::load(trace, pace));
        let how = How::Load { load, reads: Reading::Per(1.0), inputs: Some(inputs) };
        let figures = CONTROLLERS.map(|(name, machine, figures)| (name, machine, figures[of]));
        rows.extend(Row::each("R3", (what, "IO/s", Better::Higher), &how, figures));
    }
    rows
}
