//! R3: RAID controllers on faster buses under recorded web and database load: StorageMark 2004.

use crate::row::{Better, Figure, How, Pace, Played, Property, Row};

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
/// Traces, and how many of their requests are under way in playback: the published mean queue
/// lengths, 1.86 and 3.50, where there are some.
const TRACES: [(&str, &str, Pace); 4] = [
    ("web light", "web-light", Pace::Depth(2)),
    ("web heavy", "web-heavy", Pace::Depth(4)),
    ("database light", "db-light", Pace::RecordedDepth),
    ("database heavy", "db-heavy", Pace::RecordedDepth),
];

/// All of them.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let recorded = [
        ("mean queue length", "requests", Property::Queue, [1.86, 3.50]),
        ("data read", "%", Property::ReadPercent, [75.0, 86.0]),
        ("transfer rate", "MB/s", Property::MegabytesPerSecond, [3.3, 35.1]),
    ];
    for (what, unit, property, figures) in recorded {
        for ((configuration, trace, _), published) in TRACES.into_iter().zip(figures) {
            let figure = (configuration, "", published);
            let how = How::Recorded { trace, property };
            rows.extend(Row::each("R3", (what, unit, Better::Higher), &how, [figure]));
        }
    }
    for (index, (what, trace, pace)) in TRACES.into_iter().enumerate() {
        let figure = Figure::RequestsPerSecond;
        let how = How::Played(Played { trace, pace, figure, thinks: None });
        let figures = CONTROLLERS.map(|(name, machine, figures)| (name, machine, figures[index]));
        rows.extend(Row::each("R3", (what, "IO/s", Better::Higher), &how, figures));
    }
    rows
}
