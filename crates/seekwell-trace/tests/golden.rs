//! Real traces against figures that were worked out by other means.
#![allow(clippy::print_stderr)]

use seekwell_io::request::Op;
use seekwell_trace::formats::{self, Format, Reading};
use seekwell_trace::record::{Flags, Record};
use seekwell_trace::source::{About, Tables};
use std::path::{Path, PathBuf};

/// A file beside the project, or none with a word about it.
fn data(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        eprintln!("skipped: {name} is not here");
        return None;
    }
    Some(path)
}

fn named(name: &str) -> &'static Format {
    Format::named(name).expect("a format")
}

fn read(path: &Path, format: Option<&'static Format>) -> (Vec<Record>, About, Tables) {
    let mut source =
        formats::open_file(path, &Reading { format, ..Reading::default() }).expect("opens");
    let mut out = Vec::new();
    loop {
        let before = out.len();
        source.read(&mut out).expect("reads");
        if out.len() == before {
            return (out, source.about().clone(), source.tables().clone());
        }
    }
}

struct Figures {
    requests: usize,
    span_ms: f64,
    read_percent: f64,
    mib: f64,
}

fn figures(records: &[Record]) -> Figures {
    let at = |r: Option<&Record>| r.and_then(|r| r.arrival().get()).expect("has times").0;
    let reads = records.iter().filter(|r| r.op == Op::Read).count();
    let bytes: u64 = records.iter().map(|r| u64::from(r.len)).sum();
    Figures {
        requests: records.len(),
        span_ms: (at(records.last()) - at(records.first())) as f64 / 1e6,
        read_percent: reads as f64 * 100.0 / records.len() as f64,
        mib: bytes as f64 / f64::from(1 << 20),
    }
}

fn assert_near(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within, "{found} is not {wanted} within {within}");
}

#[test]
fn the_cloud_physics_sample_has_its_published_figures() {
    let Some(path) = data("traces/cloudPhysicsIO.vscsi") else { return };
    let (records, about, _) = read(&path, None);
    let found = figures(&records);
    assert_eq!((found.requests, about.format.as_str()), (113_872, "vscsi"));
    assert_near(found.span_ms, 7_200_090.0, 0.5);
    assert_near(found.read_percent, 41.25, 0.005);
    assert_near(found.mib, 4011.1, 0.05);
    assert_eq!(about.losses.moved, 0);
}

#[test]
fn disksims_ascii_trace_has_its_figures() {
    let Some(path) = data("disksim/ascii.trace") else { return };
    let (records, about, tables) = read(&path, None);
    let found = figures(&records);
    assert_eq!((found.requests, about.format.as_str()), (100_000, "disksim"));
    assert_near(found.span_ms, 1_532_936.0, 0.5);
    assert_near(found.read_percent, 79.63, 0.005);
    assert_near(found.mib, 496.4, 0.05);
    assert_eq!(tables.devices.len(), 14);
}

#[test]
fn measured_drives_keep_their_service_and_think_times() {
    for (name, requests, mean_us) in [
        ("atlas10k", 10_000, 3_893.0),
        ("barracuda", 10_000, 6_627.0),
        ("cheetah4LP", 10_000, 5_328.0),
        ("ibm18es", 10_000, 5_261.0),
        ("hp_c2247a", 9_999, 15_298.0),
        ("hp_c2490a", 9_984, 12_550.0),
    ] {
        let Some(path) = data(&format!("disksim/{name}.trace")) else { return };
        let (records, about, _) = read(&path, None);
        assert_eq!((records.len(), about.format.as_str()), (requests, "disksim-validate"));
        let text = std::fs::read_to_string(&path).expect("reads");
        let mut next_ns = 0.0_f64;
        let mut total_us = 0.0;
        for (record, line) in records.iter().zip(text.lines()) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let service: f64 = fields[4].parse().expect("a number");
            let think: f64 = fields[5].parse().expect("a number");
            let issued = record.issued.get().expect("known").0;
            let completed = record.completed.get().expect("known").0;
            assert_near(issued as f64, next_ns, 1.0);
            assert_near((completed - issued) as f64, service * 1e3, 1.0);
            assert_eq!(record.flags.has(Flags::CACHE_HIT), fields[1] == "Hit");
            next_ns = completed as f64 + think * 1e3;
            total_us += service;
        }
        assert_near(total_us / requests as f64, mean_us, 1.0);
    }
}

#[test]
fn conversion_through_every_written_format_keeps_what_it_can_hold() {
    let Some(path) = data("traces/cloudPhysicsIO.vscsi") else { return };
    let (given, about, tables) = read(&path, None);
    let folder = tempfile::tempdir().expect("a folder");
    let written = [
        ("seekwell", "a.parquet"),
        ("csv", "a.csv.zst"),
        ("msr", "a.msr.gz"),
        ("iolog", "a.iolog"),
        ("disksim", "a.disksim"),
    ];
    for (format, name) in written {
        let path = folder.path().join(name);
        let mut sink = formats::create(&path, named(format), &about, false).expect("creates");
        for part in given.chunks(5000) {
            sink.write(part, &tables).expect("writes");
        }
        let done = sink.finish(&about, &tables).expect("finishes");
        assert_eq!((done.records, done.left_out), (given.len() as u64, 0), "{}", format);
        let (found, about, _) = read(&path, None);
        assert_eq!(about.format, if format == "seekwell" { "vscsi" } else { format });
        let (a, b) = (figures(&given), figures(&found));
        assert_near(b.span_ms, a.span_ms, 0.001);
        let same = |(x, y): (&Record, &Record)| (x.op, x.offset, x.len) == (y.op, y.offset, y.len);
        assert!(given.iter().zip(&found).all(same), "{}", format);
        assert_eq!(given.len(), found.len());
    }
}

#[test]
fn next_accesses_agree_with_the_same_trace_in_another_form() {
    let Some(path) = data("traces/cloudPhysicsIO.vscsi") else { return };
    let (given, about, tables) = read(&path, None);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.oracleGeneral");
    let mut sink = formats::create(&path, named("oracle"), &about, false).expect("creates");
    sink.write(&given, &tables).expect("writes");
    sink.finish(&about, &tables).expect("finishes");
    let bytes = std::fs::read(&path).expect("reads");
    assert_eq!(bytes.len(), given.len() * 24);
    let mut promised = std::collections::HashMap::new();
    for (i, (raw, record)) in bytes.chunks(24).zip(&given).enumerate() {
        let object = u64::from_le_bytes(raw[4..12].try_into().expect("eight"));
        assert_eq!(object, record.offset / 512);
        let next = i64::from_le_bytes(raw[16..].try_into().expect("eight"));
        if let Some(last) = promised.insert(object, next) {
            assert_eq!(last, i as i64 + 1, "counted from 1");
        }
    }
    assert!(promised.values().all(|&next| next == -1));
    let (again, about, _) = read(&path, None);
    assert_eq!((again.len(), about.format.as_str()), (given.len(), "oracle"));
}
