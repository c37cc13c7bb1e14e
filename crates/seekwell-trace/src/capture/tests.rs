//! What the parts of a recording do together, for the layouts of four kernels.

use super::decode::{Decoded, Decoder};
use super::page::PageLayout;
use super::page::tests::{EVENT, PAGE};
use super::plan::{Events, Plan, Recorded};
use super::process::Processes;
use super::shared::SharedRings;
use super::transport::{Chunk, Encoding};
use super::{CaptureError, EventFormat};
use crate::pair::{Event, EventKind};
use crate::record::Flags;
use crate::source::{Device, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::path::{Path, PathBuf};

const KERNELS: [&str; 4] = ["4.19", "5.10", "6.1", "6.18"];
const DISK: u32 = 7 << 20 | 1;

/// Says that a test could not be made here.
pub fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

fn layouts(kernel: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/events").join(kernel)
}

fn plan() -> Plan {
    let disk = Recorded { major: 7, minor: 1, part: None, device: Device::default() };
    Plan { disks: vec![disk], ..Plan::default() }
}

/// The events of a kernel, from the files kept here.
fn events(kernel: &str, plan: &Plan) -> Result<Events, CaptureError> {
    Events::read(plan, |path| {
        let (_, name) = path.split_once('/').expect("a folder and a name");
        let path = layouts(kernel).join(format!("{name}.format"));
        std::fs::read_to_string(&path).map_err(|source| CaptureError::Io {
            what: "reading",
            path,
            source,
        })
    })
}

/// What goes into a field.
enum Value {
    Number(u64),
    Text(&'static str),
}
use Value::{Number, Text};

/// The bytes of an event as the kernel with this layout would write it.
fn bytes(kernel: &str, name: &str, values: &[(&str, Value)]) -> Vec<u8> {
    let text = std::fs::read_to_string(layouts(kernel).join(format!("{name}.format"))).unwrap();
    let format = EventFormat::parse(&text).unwrap();
    let mut event = vec![0; 64];
    let id = [("common_type", Number(u64::from(format.id)))];
    for (field, value) in id.iter().chain(values) {
        let Some(place) = format.field(field) else { panic!("{kernel}: {name} has no {field}") };
        let value = match value {
            Number(n) if place.size == 8 => n.to_ne_bytes().to_vec(),
            Number(n) if place.size == 2 => (*n as u16).to_ne_bytes().to_vec(),
            Number(n) => (*n as u32).to_ne_bytes().to_vec(),
            Text(text) => text.as_bytes().to_vec(),
        };
        event[place.offset..place.offset + value.len()].copy_from_slice(&value);
    }
    event
}

/// A page of 4 KiB at time 0 with these events at 100, 200, 300 …
fn page(events: &[Vec<u8>]) -> Vec<u8> {
    let mut data = Vec::new();
    for event in events {
        let (length, delta) = (event.len() as u32 / 4, 100);
        let head =
            if cfg!(target_endian = "big") { length << 27 | delta } else { delta << 5 | length };
        data.extend(head.to_ne_bytes());
        data.extend(event);
    }
    let mut page = 0_u64.to_ne_bytes().to_vec();
    page.extend((data.len() as u64).to_ne_bytes());
    page.extend(data);
    page.resize(4096, 0);
    page
}

fn decode(kernel: &str, raw: &[Vec<u8>]) -> (Vec<Event>, Tables, u64) {
    let plan = plan();
    let events = events(kernel, &plan).unwrap();
    let layout = PageLayout::parse(PAGE, EVENT).unwrap();
    let mut decoder = Decoder::new(Encoding::Pages(events, layout, 4096), &plan);
    let mut tables = Tables { devices: Vec::new(), processes: vec![String::new()] };
    let (mut out, mut decoded) = (Vec::new(), Decoded::default());
    let chunk = Chunk { cpu: 3, bytes: page(raw) };
    decoder.decode(&chunk, &mut tables, &mut out, &mut decoded).unwrap();
    (out, tables, decoded.lost)
}

fn place(sector: u64, sectors: u64) -> [(&'static str, Value); 3] {
    [("dev", Number(u64::from(DISK))), ("sector", Number(sector)), ("nr_sector", Number(sectors))]
}

#[test]
fn a_request_reads_the_same_from_the_layout_of_every_kernel() {
    for kernel in KERNELS {
        let event = |name: &str, more: Vec<(&'static str, Value)>| {
            let place = place(2048, 8).into_iter();
            let more =
                place.chain(more).chain([("rwbs", Text("WFSM")), ("common_pid", Number(42))]);
            bytes(kernel, name, &more.collect::<Vec<_>>())
        };
        let raw = [
            event("block_bio_queue", vec![("comm", Text("fio"))]),
            event("block_rq_issue", vec![("comm", Text("kworker")), ("bytes", Number(4096))]),
            event("block_rq_complete", vec![("error", Number((-5_i64).cast_unsigned()))]),
        ];
        let (events, tables, lost) = decode(kernel, &raw);
        assert_eq!(lost, 0, "{kernel}");
        assert_eq!(tables.processes, ["", "fio"], "{kernel}");
        let kinds: Vec<_> = events.iter().map(|e| (e.at, e.kind, e.error, e.process)).collect();
        let expected = [
            (Nanos(100), EventKind::Queue, 0, 1),
            (Nanos(200), EventKind::Issue, 0, 0),
            (Nanos(300), EventKind::Complete, 5, 0),
        ];
        assert_eq!(kinds, expected, "{kernel}");
        for event in events {
            let is = (event.offset, event.len, event.op, event.pid, event.cpu, event.device);
            assert_eq!(is, (2048 * 512, 4096, Op::Write, 42, 3, 0), "{kernel}");
            assert_eq!(event.flags, Flags::FUA | Flags::SYNC | Flags::META, "{kernel}");
        }
    }
}

#[test]
fn the_end_of_a_flush_is_nowhere_and_a_split_tells_what_stays_in_front() {
    // A flush is issued at sector 0 and completes at sector 2^64-1, which no offset in bytes holds.
    for kernel in KERNELS {
        let mut end: Vec<_> = place(u64::MAX, 0).into_iter().collect();
        end.push(("rwbs", Text("FF")));
        let split = [
            ("dev", Number(u64::from(DISK))),
            ("sector", Number(64)),
            ("new_sector", Number(80)),
            ("rwbs", Text("R")),
        ];
        let raw = [bytes(kernel, "block_rq_complete", &end), bytes(kernel, "block_split", &split)];
        let (events, ..) = decode(kernel, &raw);
        assert_eq!((events[0].offset, events[0].op), (Event::NOWHERE, Op::Flush), "{kernel}");
        let split = (events[1].kind, events[1].offset, events[1].len);
        assert_eq!(split, (EventKind::Split, 64 * 512, 16 * 512), "{kernel}");
    }
}

#[test]
fn other_disks_are_passed_over_and_what_cannot_be_read_counts_as_lost() {
    for kernel in KERNELS {
        let with = |dev: u32, letters: &'static str| {
            let values = [
                ("dev", Number(u64::from(dev))),
                ("sector", Number(0)),
                ("nr_sector", Number(8)),
                ("rwbs", Text(letters)),
            ];
            bytes(kernel, "block_bio_queue", &values)
        };
        let (events, _, lost) = decode(kernel, &[with(DISK + 1, "R"), with(DISK, "?")]);
        assert_eq!((events.len(), lost), (0, 1), "{kernel}");
    }
}

#[test]
fn a_kernel_without_the_events_is_told_so_and_one_without_the_rarer_ones_will_do() {
    let missing = |without: &'static str| {
        let plan = plan();
        Events::read(&plan, |path| {
            if path.ends_with(without) {
                let source = std::io::ErrorKind::NotFound.into();
                return Err(CaptureError::Io { what: "reading", path: path.into(), source });
            }
            let name = path.rsplit('/').next().unwrap();
            let file = layouts("6.1").join(format!("{name}.format"));
            Ok(std::fs::read_to_string(file).unwrap())
        })
    };
    let needed = missing("block_rq_issue").unwrap_err().to_string();
    assert!(needed.contains("CONFIG_BLK_DEV_IO_TRACE"), "{needed}");
    assert_eq!(missing("block_split").unwrap().all().count(), 7);
}

#[test]
fn new_tasks_are_listened_for_only_when_a_process_is_named_by_number() {
    let task = |pids: Vec<u32>| {
        let processes = Processes { pids, names: vec!["x".to_owned()] };
        let plan = Plan { processes, ..plan() };
        let mut asked = Vec::new();
        let record = std::cell::RefCell::new(&mut asked);
        Events::read(&plan, |path| {
            record.borrow_mut().push(path.to_owned());
            let name = path.rsplit('/').next().unwrap();
            let name = if name == "task_newtask" { "block_split" } else { name };
            Ok(std::fs::read_to_string(layouts("6.18").join(format!("{name}.format"))).unwrap())
        })
        .unwrap();
        asked.iter().any(|path| path == "task/task_newtask")
    };
    assert!(task(vec![1]));
    assert!(!task(vec![]));
}

#[test]
fn this_kernel_takes_every_program_and_tasks_are_only_followed_when_that_is_asked_for() {
    let plan = Plan { buffer_bytes_per_cpu: 1 << 20, ..plan() };
    let rings = match SharedRings::open(&plan) {
        Ok(rings) => rings,
        Err(why) => return skip(&why.to_string()),
    };
    let processes = Processes { pids: vec![1], names: Vec::new() };
    let all = SharedRings::open(&Plan { processes, ..plan }).unwrap();
    assert_eq!(all.programs(), rings.programs() + 1);
}
