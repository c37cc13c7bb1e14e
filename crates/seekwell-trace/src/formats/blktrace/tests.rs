use super::read::{Blktrace, first_of, open};
use super::wire::{Raw, act, category, note};
use super::write::create;
use crate::error::TraceError;
use crate::formats::input::Input;
use crate::formats::output::Output;
use crate::formats::{self, blkparse};
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Losses, Tables, TraceSource};
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::path::Path;
use std::process::Command;

fn input(bytes: Vec<u8>) -> Input {
    Input::from_reader(Path::new("test"), Box::new(std::io::Cursor::new(bytes))).expect("reads")
}

fn drain(source: &mut dyn TraceSource) -> (Vec<Record>, Result<(), TraceError>) {
    let mut records = Vec::new();
    loop {
        let before = records.len();
        match source.read(&mut records) {
            Ok(()) if records.len() == before => return (records, Ok(())),
            Ok(()) => {}
            Err(error) => return (records, Err(error)),
        }
    }
}

fn read(bytes: Vec<u8>) -> Result<(Vec<Record>, About, Tables), TraceError> {
    let mut source = open(input(bytes))?;
    let (records, ended) = drain(&mut *source);
    ended.map(|()| (records, source.about().clone(), source.tables().clone()))
}

#[derive(Clone, Copy, PartialEq)]
enum As {
    LittleV7,
    BigV7,
    LittleV8,
    BigV8,
}

fn encode(raw: &Raw, payload: &[u8], form: As) -> Vec<u8> {
    let is_big = matches!(form, As::BigV7 | As::BigV8);
    let is_v8 = matches!(form, As::LittleV8 | As::BigV8);
    let mut out = Vec::new();
    let mut put = |value: u64, bytes: usize| {
        if is_big {
            out.extend_from_slice(&value.to_be_bytes()[8 - bytes..]);
        } else {
            out.extend_from_slice(&value.to_le_bytes()[..bytes]);
        }
    };
    put(0x6561_7400 + if is_v8 { 8 } else { 7 }, 4);
    put(raw.sequence.into(), 4);
    put(raw.time, 8);
    put(raw.sector, 8);
    put(raw.bytes.into(), 4);
    if is_v8 {
        put(raw.pid.into(), 4);
        put(raw.action, 8);
    } else {
        put(raw.action, 4);
        put(raw.pid.into(), 4);
    }
    put(raw.device.into(), 4);
    put(raw.cpu.into(), 4);
    put(raw.error.into(), 2);
    put(payload.len() as u64, 2);
    if is_v8 {
        put(0, 8);
        put(0, 4);
    }
    out.extend_from_slice(payload);
    out
}

fn raw(time: u64, act: u8, kind: u64, sector: u64, bytes: u32) -> Raw {
    Raw {
        time,
        sector,
        bytes,
        action: u64::from(act) | kind,
        pid: 42,
        device: 8 << 20 | 16,
        cpu: 3,
        ..Raw::default()
    }
}

/// A process's name, the wall clock, a split read behind a cgroup's number, a message, a flush and
/// a failed write.
fn sample(form: As) -> Vec<u8> {
    let word = |value: u32| {
        if matches!(form, As::BigV7 | As::BigV8) {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let mut name = raw(0, note::PROCESS, category::NOTIFY, 0, 0);
    name.cpu = 0;
    let clock = raw(500, note::TIMESTAMP, category::NOTIFY, 0, 0);
    let message = raw(600, 2, category::NOTIFY | act::HAS_CGROUP, 0, 0);
    let (read, write) = (category::READ, category::WRITE);
    let wanted_flush = write | category::FLUSH | category::SYNC;
    let the_flush = read | category::FLUSH;
    let grouped = read | category::META | act::HAS_CGROUP;
    let mut failed = raw(1090, act::COMPLETE, write | category::FUA, 8, 4096);
    failed.error = 5_u16.wrapping_neg();
    let second = 116_u64.to_be_bytes();
    let records: Vec<(Raw, Vec<u8>)> = vec![
        (name, b"mkfs.ext4\0\0\0\0\0\0\0".to_vec()),
        (clock, [word(1_700_000_000), word(250)].concat()),
        (message, b"\x01\0\0\0\0\0\0\0hello".to_vec()),
        (raw(1000, act::QUEUE, grouped, 100, 16384), vec![1; 8]),
        (raw(1001, act::SPLIT, grouped, 100, 16384), [vec![1; 8], second.to_vec()].concat()),
        (raw(1002, act::ISSUE, read | category::META, 116, 8192), vec![]),
        (raw(1003, act::ISSUE, read | category::META, 100, 8192), vec![]),
        (raw(1004, 15, read, 100, 8192), vec![7; 16]),
        (raw(1010, act::COMPLETE, read | category::META, 100, 8192), vec![]),
        (raw(1011, act::COMPLETE, read | category::META, 116, 8192), vec![]),
        (raw(1020, act::QUEUE, wanted_flush, 0, 0), vec![]),
        (raw(1021, act::ISSUE, the_flush, 0, 0), vec![]),
        (raw(1030, act::COMPLETE, the_flush, 0, 0), vec![]),
        (raw(1031, act::COMPLETE, write | category::SYNC, 0, 0), vec![]),
        (raw(1080, act::ISSUE, write | category::FUA, 8, 4096), vec![]),
        (failed, vec![]),
    ];
    records.iter().flat_map(|(raw, payload)| encode(raw, payload, form)).collect()
}

const FORMS: [As; 4] = [As::LittleV7, As::BigV7, As::LittleV8, As::BigV8];

#[test]
fn both_versions_in_both_byte_orders_say_the_same() {
    for form in FORMS {
        let (records, about, tables) = read(sample(form)).expect("good");
        let shown: Vec<String> = records
            .iter()
            .map(|r| {
                let times = (r.queued, r.issued, r.completed);
                format!("{} {}+{} {times:?} {}", r.op.name(), r.offset / 512, r.len, r.error)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "read 100+16384 (1000, 1002, 1011) 0",
                "read 116+8192 (-, 1002, 1011) 0",
                "read 100+8192 (-, 1003, 1010) 0",
                "flush 0+0 (1020, 1021, 1031) 0",
                "write 8+4096 (-, 1080, 1090) 5",
            ]
        );
        assert_eq!(records[0].flags, Flags::META | Flags::BIO);
        assert_eq!(records[1].flags, Flags::META | Flags::REQUEST);
        assert_eq!(records[4].flags, Flags::FUA);
        assert_eq!((records[0].pid, records[0].cpu), (42, 3));
        assert_eq!(tables.processes[records[0].process as usize], "mkfs.ext4");
        assert_eq!(tables.devices[0].name, "8,16");
        assert_eq!(about.unix_ns_at_zero, Some(1_700_000_000_000_000_250 - 500));
        assert_eq!(about.losses, Losses::default());
    }
}

#[test]
fn zone_commands_of_version_8_are_never_taken_for_writes() {
    let reset = category::WRITE | 1 << 33;
    let bytes = [
        encode(&raw(1, act::QUEUE, reset, 0, 0), &[], As::LittleV8),
        encode(&raw(2, act::COMPLETE, reset, 0, 0), &[], As::LittleV8),
    ];
    let (records, ..) = read(bytes.concat()).expect("good");
    assert!(records[0].flags.has(Flags::OTHER));
    // Zeros to be written are a write, which the highest of the new bits says besides.
    let zeros = category::WRITE | 1 << 38;
    let bytes = [
        encode(&raw(1, act::QUEUE, zeros, 8, 4096), &[], As::LittleV8),
        encode(&raw(2, act::COMPLETE, zeros, 8, 4096), &[], As::LittleV8),
    ];
    let (records, ..) = read(bytes.concat()).expect("good");
    assert_eq!((records[0].op, records[0].len, records[0].flags), (Op::Write, 4096, Flags(0)));
}

#[test]
fn a_record_in_the_other_byte_order_is_refused_with_its_byte() {
    let mut bytes = sample(As::LittleV7);
    let at = bytes.len();
    bytes.extend(encode(&raw(2000, act::QUEUE, category::READ, 0, 512), &[], As::BigV7));
    let error = read(bytes).expect_err("mixed").to_string();
    assert!(
        error.starts_with(&format!("blktrace, byte {at}: expected a record in the byte order")),
        "{error}"
    );
}

#[test]
fn what_is_no_record_is_refused_with_its_byte_and_what_stands_there() {
    let error = read(b"MZ\x90\0rest".to_vec()).expect_err("no trace").to_string();
    assert!(error.starts_with("blktrace, byte 0: "), "{error}");
    assert!(error.contains("4d 5a 90 00"), "{error}");
    let mut old = sample(As::LittleV7);
    old[0] = 6;
    let error = read(old).expect_err("too old").to_string();
    assert!(error.contains("version 7 or 8"), "{error}");
}

#[test]
fn a_file_cut_anywhere_but_between_records_is_said_to_end_there() {
    let whole = sample(As::LittleV7);
    let name_end = 48 + 16;
    for (cut, at) in [(2, 2), (47, 47), (48, 48), (50, 50), (name_end + 20, name_end + 20)] {
        let error = read(whole[..cut].to_vec()).expect_err("cut").to_string();
        let starts = format!("blktrace, byte {at}: the input ends in the middle of a record");
        assert!(error.starts_with(&starts), "{cut}: {error}");
    }
    assert!(read(whole[..name_end].to_vec()).is_ok());
    assert!(read(Vec::new()).expect("an idle disk").0.is_empty());
}

#[test]
fn the_files_of_all_cpus_are_merged_by_time_given_any_of_them_or_their_base_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (q, d, c) = (act::QUEUE, act::ISSUE, act::COMPLETE);
    let one = |time, act| encode(&raw(time, act, category::READ, 8, 512), &[], As::LittleV7);
    let base = folder.path().join("sdb");
    let of = |cpu: u32| folder.path().join(format!("sdb.blktrace.{cpu}"));
    std::fs::write(of(0), [one(10, q), one(30, c)].concat()).expect("writes");
    std::fs::write(of(1), b"").expect("writes");
    std::fs::write(of(10), one(20, d)).expect("writes");
    std::fs::write(folder.path().join("other.blktrace.0"), one(1, q)).expect("writes");
    assert_eq!(first_of(&base), Some(of(0)));
    assert_eq!(first_of(&folder.path().join("sdc")), None);
    for cpu in [0, 1, 10] {
        let mut source =
            open(Input::open(&of(cpu), &std::sync::Arc::default()).expect("opens")).expect("opens");
        let (records, ended) = drain(&mut *source);
        ended.expect("good");
        let times: Vec<_> = records.iter().map(|r| (r.queued, r.issued, r.completed)).collect();
        let at = |ns| Stamp::at(Nanos(ns));
        assert_eq!(times, [(at(10), at(20), at(30))]);
        assert_eq!(source.about().clock, Clock::Monotonic);
    }
}

/// Requests as they come: no two under way at one place, as no file system would have it.
fn requests() -> impl Strategy<Value = Vec<Record>> {
    let one = (0_usize..5, 1_u32..64, 1_u64..90, 1_u64..90, 1_u64..400, 0_u32..3, any::<bool>());
    proptest::collection::vec(one, 1..120).prop_map(|given| {
        let mut at = 0;
        let make = |(i, (op, sectors, gap, wait, work, process, meta)): (usize, _)| {
            at += gap;
            let (op, flags) = [
                (Op::Read, Flags::READ_AHEAD),
                (Op::Write, Flags::SYNC),
                (Op::Write, Flags::SYNC | Flags::FUA),
                (Op::Discard, Flags(0)),
                (Op::Flush, Flags(0)),
            ][op];
            let is_flush = op == Op::Flush;
            let mut record = Record::new(
                op,
                if is_flush { 0 } else { (i as u64 + 1) << 20 },
                if is_flush { 0 } else { sectors * 512 },
            );
            record.flags = if meta && !is_flush { flags | Flags::META } else { flags };
            record.queued = Stamp::at(Nanos(at));
            // A flush is issued and done before another is wanted; only the order shows it.
            let (wait, work) = if is_flush { (0, 0) } else { (wait, work) };
            record.issued = Stamp::at(Nanos(at + wait));
            record.completed = Stamp::at(Nanos(at + wait + work));
            (record.process, record.pid) = (process, process * 100);
            record.cpu = (process % 2) as u16;
            record
        };
        given.into_iter().enumerate().map(make).collect()
    })
}

fn written(records: &[Record], about: &About) -> (Vec<u8>, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace");
    let tables = Tables {
        devices: vec![crate::source::Device { name: "8,16".to_owned(), ..Default::default() }],
        processes: ["", "mysqld", "httpd"].map(str::to_owned).to_vec(),
    };
    let mut sink = create(Output::create(&path, false).expect("creates"), about).expect("creates");
    for part in records.chunks(7) {
        sink.write(part, &tables).expect("writes");
    }
    let done = sink.finish(about, &tables).expect("finishes");
    assert_eq!(done.records + done.left_out, records.len() as u64);
    (std::fs::read(&path).expect("reads"), done.left_out)
}

fn about() -> About {
    let mut about = About::new("test", Clock::Start, Capture::Both);
    about.unix_ns_at_zero = Some(1_600_000_000_123_456_789);
    about
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(records in requests()) {
        let (bytes, left_out) = written(&records, &about());
        prop_assert_eq!(left_out, 0);
        let (again, info, tables) = read(bytes).expect("good");
        prop_assert_eq!(info.unix_ns_at_zero, about().unix_ns_at_zero);
        prop_assert_eq!(info.losses, Losses::default());
        let named: Vec<Record> = again
            .iter()
            .map(|r| {
                let name = tables.processes[r.process as usize].as_str();
                let process = ["", "mysqld", "httpd"].iter().position(|n| *n == name);
                Record { process: process.expect("known") as u32, ..*r }
            })
            .collect();
        prop_assert_eq!(named, records);
    }

    #[test]
    fn damaged_records_are_read_or_refused_and_never_worse(
        form in 0_usize..4,
        changes in proptest::collection::vec((0_usize..900, any::<u8>()), 1..12),
        cut in 0_usize..1200,
    ) {
        let mut bytes = sample(FORMS[form]);
        for (at, byte) in changes {
            if let Some(there) = bytes.get_mut(at) {
                *there = byte;
            }
        }
        bytes.truncate(cut);
        if let Ok(mut source) = Blktrace::new(vec![input(bytes)], Clock::Start) {
            let (records, _) = drain(&mut source);
            prop_assert!(records.len() <= 16);
        }
    }
}

#[test]
fn what_has_no_place_in_it_is_left_out_and_counted() {
    let mut odd = Record::new(Op::Read, 100, 512);
    odd.queued = Stamp::at(Nanos(1));
    let timeless = Record::new(Op::Read, 512, 512);
    let mut command = odd;
    (command.offset, command.flags) = (0, Flags::OTHER);
    let (bytes, left_out) = written(&[odd, timeless, command], &about());
    assert_eq!(left_out, 3);
    assert!(read(bytes).expect("good").0.is_empty());
}

fn total(text: &str, key: &str) -> Vec<String> {
    let totals = text.split("Total").last().unwrap_or(text);
    let after = totals.split(key).nth(1).unwrap_or_default();
    let words = after.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty());
    words.take(2).map(str::to_owned).collect()
}

#[test]
fn the_real_blkparse_reads_what_is_written_and_its_text_is_read_again() {
    let mut records = Vec::new();
    for i in 0..500_u64 {
        let op = if i % 5 < 3 { Op::Read } else { Op::Write };
        let mut record = Record::new(op, i * 8192, 4096);
        record.queued = Stamp::at(Nanos(i * 10_000));
        record.issued = Stamp::at(Nanos(i * 10_000 + 3000));
        record.completed = Stamp::at(Nanos(i * 10_000 + 50_000 + i % 7));
        (record.process, record.pid) = (1, 77);
        records.push(record);
    }
    let (bytes, _) = written(&records, &about());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it.blktrace.0");
    std::fs::write(&path, &bytes).expect("writes");
    let ran = Command::new("blkparse").args(["-i", "it"]).current_dir(folder.path()).output();
    let Ok(ran) = ran else {
        eprintln!("skipped: no blkparse on this machine");
        return;
    };
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && complaints.is_empty(), "{complaints}");
    let totals = |key| total(&text, key);
    assert_eq!(totals("Reads Queued:"), ["300", "1200KiB"], "{text}");
    assert_eq!(totals("Writes Queued:"), ["200", "800KiB"]);
    assert_eq!(totals("Read Dispatches:"), ["300", "1200KiB"]);
    assert_eq!(totals("Writes Completed:"), ["200", "800KiB"]);
    assert!(text.contains("Skips: 0 forward"), "{text}");
    let mut source =
        formats::open_input(input(text.into_bytes()), &blkparse::FORMAT).expect("opens");
    let (again, ended) = drain(&mut *source);
    ended.expect("its text is read");
    assert_eq!(source.tables().processes, ["", "mysqld"]);
    assert_eq!(source.about().losses, Losses::default());
    let plain: Vec<Record> = again.iter().map(|r| Record { device: 0, ..*r }).collect();
    assert_eq!(plain, records);
}
