//! What limits a fast disk on half a link, in every shape that a statement can have.

use seekwell_inspect::Evidence;
use seekwell_runs::RunDocument;
use seekwell_runs::limits::{Ceiling, Confidence, Known, Next, PhaseLimit, Station, Unit};

/// A statement that knows no rate.
fn unrated(phase: &str, by: Station, name: &str, point: (f64, f64)) -> PhaseLimit {
    PhaseLimit {
        phase: phase.into(),
        by,
        name: name.into(),
        measured: None,
        ceiling: None,
        unit: None,
        share: None,
        confidence: Confidence::Likely,
        evidence: vec![Evidence { seen: "flat beyond".into(), from: phase.into() }],
        or: Vec::new(),
        tell: None,
        next: None,
        request_bytes: Some(point.0),
        bytes_per_s: Some(point.1),
    }
}

fn rated(limit: PhaseLimit, measured: f64, ceiling: f64, unit: Unit) -> PhaseLimit {
    let (measured, ceiling, share) = (Some(measured), Some(ceiling), Some(measured / ceiling));
    let confidence = Confidence::Shown;
    PhaseLimit { measured, ceiling, share, unit: Some(unit), confidence, ..limit }
}

fn then(by: Station, gain: Option<f64>) -> Option<Next> {
    Some(Next { by, gain })
}

fn ceiling(by: Station, name: &str, rate: f64, unit: Unit, known: Known) -> Ceiling {
    let from = match known {
        Known::Declared => "/sys/bus/pci/devices/0000:01:00.0/current_link_width",
        Known::Measured => "rand-read-4k-d128",
        Known::Inferred => "rand-write-4k-d32",
    };
    Ceiling { by, name: name.into(), rate, unit, op: None, known, from: from.into() }
}

pub fn fill(document: &mut RunDocument) {
    let link = "the PCIe link at 2 lanes of 4";
    let read = unrated("seq-read-1m", Station::Link, link, (1_048_576.0, 3.423e9));
    let waits = "each request waits for the one before it";
    let one = unrated("rand-read-4k-d1", Station::Latency, waits, (4096.0, 54.9e6));
    let two = unrated("rand-read-4k-d2", Station::Latency, waits, (4096.0, 107e6));
    let many = unrated("rand-read-4k-d128", Station::Tags, "the queue of 128", (4096.0, 1.39e9));
    let write = unrated("seq-write-1m", Station::Flash, "the flash", (1_048_576.0, 2.723e9));
    let commit = unrated("commit-4k", Station::Unknown, "not known", (4096.0, 5.77e6));
    document.summary = vec![
        "Sequential reads reach 98 % of the PCIe link, which runs at 2 lanes of 4.".into(),
        "Random reads wait for each other up to depth 64.".into(),
    ];
    document.limits = vec![
        PhaseLimit {
            next: then(Station::Flash, Some(2.0)),
            ..rated(read, 3.423e9, 3.5e9, Unit::BytesPerS)
        },
        PhaseLimit { next: then(Station::Link, Some(64.0)), ..one },
        PhaseLimit { next: then(Station::Link, Some(32.7)), ..two },
        PhaseLimit {
            next: then(Station::Flash, None),
            ..rated(many, 127.0, 128.0, Unit::Commands)
        },
        PhaseLimit {
            or: vec![Station::Link, Station::WriteCache],
            tell: Some("seekwell bench --rw write --bs 1m --sustained /dev/nvme0n1".into()),
            ..write
        },
        PhaseLimit { confidence: Confidence::Possible, ..commit },
    ];
    let flat = Unit::BytesPerS;
    let writes = ceiling(Station::Flash, "flash", 2.8e9, flat, Known::Inferred);
    document.ceilings = vec![
        ceiling(Station::Link, "PCIe 3.0, 2 lanes", 3.5e9, flat, Known::Declared),
        Ceiling { op: Some("write".into()), ..writes },
        ceiling(Station::Bus, "PCIe switch", 3.6e9, flat, Known::Declared),
        ceiling(Station::Tags, "128 commands", 340e3, Unit::RequestsPerS, Known::Measured),
    ];
}
