//! What the registry says of each format, against the documentation and against what is written.
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_trace::formats::{self, Detail, Format, Step};
use seekwell_trace::record::{Flags, Record, Stamp};
use seekwell_trace::source::{About, Capture, Clock, Device, Tables};
use std::path::Path;

const NS_PER_S: u64 = 1_000_000_000;

fn list(words: impl IntoIterator<Item = &'static str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}

fn resolution(ns: u64) -> String {
    match ns {
        NS_PER_S.. => format!("{} s", ns / NS_PER_S),
        1000.. => format!("{} µs", ns / 1000),
        _ => format!("{ns} ns"),
    }
}

fn table() -> String {
    let mut table = "| format | what it is | times | resolution | operations | also keeps \
        | written, without |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for format in Format::ALL {
        let holds = format.holds;
        let written = match (format.is_written(), format.leaves_out()) {
            (false, _) => String::new(),
            (true, []) => "yes".to_owned(),
            (true, ops) => list(ops.iter().map(|op| op.name())),
        };
        table += &format!(
            "| `{}` | {} | {} | {} | {} | {} | {written} |\n",
            format.name,
            format.description,
            holds.letters(),
            resolution(holds.step_ns),
            list(holds.ops.iter().map(|op| op.name())),
            list(Detail::ALL.into_iter().filter(|d| holds.has(*d)).map(Detail::name)),
        );
    }
    table
}

#[test]
fn the_documentation_has_the_table_that_the_registry_gives() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let table = table();
    assert!(page.contains(&table), "docs/formats.md needs this table:\n\n{table}");
}

#[test]
fn every_format_is_found_by_its_name_and_no_two_share_one() {
    for format in Format::ALL {
        assert_eq!(Format::named(format.name), Some(format));
        assert_eq!(Format::ALL.into_iter().filter(|other| *other == format).count(), 1);
    }
}

fn tables() -> Tables {
    let device = |name: &str| Device { name: name.to_owned(), ..Device::default() };
    Tables {
        devices: vec![device("8,0"), device("8,16")],
        processes: vec![String::new(), "postgres".to_owned()],
    }
}

/// One request of each kind, 10 s apart, with everything that can be known of it; and a command
/// that is only counted.
fn everything() -> Vec<Record> {
    let at = |s: u64| Stamp::at(Nanos(s * NS_PER_S));
    let record = |i: u64, op, len| Record {
        queued: at(1_700_000_000 + i * 10),
        issued: at(1_700_000_001 + i * 10),
        completed: at(1_700_000_002 + i * 10),
        device: i as u32 % 2,
        pid: 12,
        process: 1,
        cpu: 3,
        flags: Flags::SYNC,
        error: if i == 1 { 5 } else { 0 },
        ..Record::new(op, if op == Op::Flush { 0 } else { 4096 * i }, len)
    };
    let counted = Record { flags: Flags::OTHER, ..record(4, Op::Read, 512) };
    vec![
        record(0, Op::Read, 4096),
        record(1, Op::Write, 8192),
        record(2, Op::Flush, 0),
        record(3, Op::Discard, 4096),
        counted,
    ]
}

/// One step's time, since the arrival of the first request.
fn time(record: &Record, step: Step, first: &Record) -> Option<u64> {
    let stamp = match step {
        Step::Queued => record.queued,
        Step::Issued => record.issued,
        Step::Completed => record.completed,
    };
    Some(stamp.get()?.0 - first.arrival().get()?.0)
}

#[test]
fn what_is_written_keeps_and_leaves_out_what_the_registry_says() {
    let (given, tables) = (everything(), tables());
    let mut about = About::new("test", Clock::Unix, Capture::Both);
    about.unix_ns_at_zero = Some(0);
    for format in Format::written() {
        let is_ours = matches!(format.name, "seekwell" | "csv");
        let is_kept = |r: &Record| {
            !format.leaves_out().contains(&r.op) && (is_ours || !r.flags.has(Flags::OTHER))
        };
        let kept: Vec<&Record> = given.iter().filter(|r| is_kept(r)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace");
        let mut sink = formats::create(&path, format, &about, false).expect("creates");
        sink.write(&given, &tables).expect("writes");
        let written = sink.finish(&about, &tables).expect("finishes");
        let counts = (written.records as usize, written.left_out as usize);
        assert_eq!(counts, (kept.len(), given.len() - kept.len()), "{format:?}");

        let mut source = formats::open_file(&path, &format.into()).expect("opens");
        let mut found = Vec::new();
        while {
            let before = found.len();
            source.read(&mut found).expect("reads");
            found.len() > before
        } {}
        assert_eq!(found.len(), kept.len(), "{format:?}");
        for (r, was) in found.iter().zip(&kept) {
            check(format, (r, source.tables(), &found[0]), (was, &tables, &given[0]));
        }
    }
}

type Known<'a> = (&'a Record, &'a Tables, &'a Record);

fn check(format: &Format, (r, names, first): Known<'_>, (was, were, first_was): Known<'_>) {
    let holds = format.holds;
    for step in Step::ALL {
        let expected = time(was, step, first_was).filter(|_| holds.times.contains(&step));
        assert_eq!(time(r, step, first), expected, "{format:?}: {step:?} of {was:?}");
    }
    if holds.ops.contains(&was.op) {
        assert_eq!(r.op, was.op, "{format:?}");
    }
    assert_eq!((r.offset, r.len), (was.offset, was.len), "{format:?}");
    for detail in Detail::ALL {
        let known = |r: &Record, tables: &Tables| match detail {
            Detail::Device => r.device.to_string(),
            Detail::Process => format!("{} {}", r.pid, tables.processes[r.process as usize]),
            Detail::Cpu => r.cpu.to_string(),
            Detail::Flags => format!("{:?}", r.flags),
            Detail::Error => r.error.to_string(),
        };
        let is_kept = known(r, names) == known(was, were);
        if holds.has(detail) {
            assert!(is_kept, "{format:?}: {} of {was:?} became {r:?}", detail.name());
        }
    }
}
