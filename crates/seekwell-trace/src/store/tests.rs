use super::*;
use crate::error::TraceError;
use crate::record::{Fields, Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Device, Tables, TraceSource, each_batch};
use proptest::prelude::*;
use seekwell_access::OutputFile;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::fs;
use std::path::Path;
use std::time::Duration;

fn tables() -> Tables {
    let device = |name: &str| Device { name: name.to_owned(), ..Device::default() };
    Tables {
        devices: vec![device("sda"), device("sdb")],
        processes: vec![String::new(), "mariadbd".to_owned()],
    }
}

fn about() -> About {
    About::new("test", Clock::Monotonic, Capture::Both)
}

fn records(count: u64) -> Vec<Record> {
    (0..count)
        .map(|i| {
            let op = Op::ALL[(i % 4) as usize];
            let mut r = Record::new(op, i.wrapping_mul(7919) % (1 << 40), 512 * (i % 9) as u32);
            r.queued = Stamp::at(Nanos(i * 1000));
            r.issued = if i % 3 == 0 { Stamp::NONE } else { Stamp::at(Nanos(i * 1000 + 10)) };
            r.completed = if i % 5 == 0 { Stamp::NONE } else { Stamp::at(Nanos(i * 1000 + 99)) };
            r.device = (i % 2) as u32;
            r.process = (i % 2) as u32;
            r.pid = i as u32;
            r.cpu = (i % 64) as u16;
            r.error = u16::from(i % 11 == 0) * 5;
            r.flags = Flags((i % 256) as u16);
            r
        })
        .collect()
}

const SMALL: Options = Options { group_records: 10_000, group_time: Duration::from_secs(3600) };

fn part(path: &Path) -> OutputFile {
    OutputFile::create_part(path, false).expect("creates")
}

/// Reads it both ways, which find the same: as records and as columns.
fn read(path: &Path) -> Result<(Vec<Record>, About, Tables), TraceError> {
    let found = read_records(path);
    match (&found, read_columns(path)) {
        (_, Ok(None)) => {}
        (Ok((records, ..)), Ok(Some(columns))) => assert!(columns == *records, "as records"),
        (one, other) => assert!(one.is_err() && other.is_err(), "{one:?} and {other:?}"),
    }
    found
}

fn read_columns(path: &Path) -> Result<Option<Vec<Record>>, TraceError> {
    let Some(mut stored) = Stored::by_group(path)? else { return Ok(None) };
    let (mut all, mut columns) = (Vec::new(), Columns::default());
    for group in 0..stored.groups() {
        stored.columns(group, &mut columns)?;
        all.extend(columns.records());
    }
    Ok(Some(all))
}

fn read_records(path: &Path) -> Result<(Vec<Record>, About, Tables), TraceError> {
    let mut source = open(path)?;
    let mut out = Vec::new();
    each_batch(&mut source, |batch| {
        out.extend_from_slice(batch);
        true
    })?;
    Ok((out, source.about().clone(), source.tables().clone()))
}

#[test]
fn what_is_written_reads_back_the_same_and_leaves_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let given = records(25_000);
    let mut sink = create_with(part(&path), &about(), SMALL).expect("creates");
    for part in given.chunks(777) {
        sink.write(part, &tables()).expect("writes");
    }
    let mut last = about();
    last.losses.lost_events = 3;
    sink.finish(&last, &tables()).expect("finishes");
    let (found, about, names) = read(&path).expect("reads");
    assert!(found == given);
    assert_eq!((about, names), (last, tables()));
    assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 1);
    let Contents { summary: counts, has_checksums, .. } =
        contents(&path).expect("reads").expect("ours");
    assert!(has_checksums);
    assert_eq!((counts.requests, counts.span_ns()), (25_000, Some(24_999_000)));
    assert!(!counts.is_disordered);
}

// A recording was killed after an hour, and its file had no footer: nothing of it could be read.
#[test]
fn a_killed_recording_is_read_up_to_its_last_whole_group_and_called_cut_short() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let given = records(25_000);
    let mut sink = create_with(part(&path), &about(), SMALL).expect("creates");
    sink.write(&given, &tables()).expect("writes");
    // As after kill -9: nothing more is run, and the last group is torn.
    std::mem::forget(sink);
    let part = part_of(&path).expect("it is there");
    let mut torn = fs::read(&part).expect("reads");
    torn.extend_from_slice(&[0x15, 0x04, 0x15, 0x80]);
    fs::write(&part, torn).expect("writes");
    for name in [&path, &part] {
        let (found, about, names) = read(name).expect("is recovered");
        assert!(found == given[..20_000]);
        assert!(about.cut_short && !about.complete());
        assert_eq!(names, tables());
        assert_eq!(contents(name).expect("reads").expect("ours").summary.requests, 20_000);
    }
}

#[test]
fn a_recording_killed_before_its_first_group_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let mut sink = create(&path, &about(), false).expect("creates");
    sink.write(&records(10), &tables()).expect("writes");
    std::mem::forget(sink);
    let error = read(&path).expect_err("nothing is there").to_string();
    let part = part_of(&path).expect("it is there").display().to_string();
    assert!(error.contains(&part), "{error}");
}

// The second recording began with the name of the first one's part, and what was left of an hour
// was gone.
#[test]
fn a_new_recording_neither_harms_nor_reads_what_a_killed_one_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let given = records(25_000);
    let mut killed = create_with(part(&path), &about(), SMALL).expect("creates");
    killed.write(&given, &tables()).expect("writes");
    let left = part_of(&path).expect("it is there");
    std::mem::forget(killed);
    let mut sink = create(&path, &about(), false).expect("creates");
    sink.write(&given[..5], &tables()).expect("writes");
    sink.finish(&about(), &tables()).expect("finishes");
    assert_eq!(read(&path).expect("reads").0.len(), 5);
    assert_eq!(read(&left).expect("is recovered").0.len(), 20_000);
}

#[test]
fn what_is_not_finished_can_be_read_by_its_owner_only_and_links_in_its_place_are_not_followed() {
    use std::os::unix::fs::{MetadataExt, symlink};
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let victim = folder.path().join("victim");
    fs::write(&victim, "theirs").expect("writes");
    for name in ["trace.parquet.part", "trace.parquet.part.footer", "trace.parquet.part.footer.tmp"]
    {
        symlink(&victim, folder.path().join(name)).expect("links");
    }
    // A link that only looks like a part is no recording to be recovered.
    symlink(&victim, folder.path().join("trace.parquet.0123456789abcdef.part")).expect("links");
    assert_eq!(part_of(&path), None);
    let mut sink = create_with(part(&path), &about(), SMALL).expect("creates");
    sink.write(&records(25_000), &tables()).expect("writes");
    let part = part_of(&path).expect("it is there");
    assert_eq!(fs::metadata(&part).expect("is there").mode() & 0o777, 0o600);
    sink.finish(&about(), &tables()).expect("finishes");
    assert_eq!(fs::read(&victim).expect("reads"), b"theirs");
}

#[test]
fn a_group_is_closed_when_its_time_is_over_though_it_is_not_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let options = Options { group_time: Duration::ZERO, ..SMALL };
    let mut sink = create_with(part(&path), &about(), options).expect("creates");
    sink.write(&records(10), &tables()).expect("writes");
    std::mem::forget(sink);
    assert_eq!(read(&path).expect("is recovered").0.len(), 10);
}

#[test]
fn a_store_that_was_dropped_unfinished_and_empty_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(create(&folder.path().join("trace.parquet"), &about(), false).expect("creates"));
    assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 0);
}

#[test]
fn records_out_of_order_are_read_in_the_order_of_arrival() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let mut given = records(9_000);
    given.reverse();
    let mut sink = create(&path, &about(), false).expect("creates");
    sink.write(&given, &tables()).expect("writes");
    sink.finish(&about(), &tables()).expect("finishes");
    given.reverse();
    assert!(read(&path).expect("reads").0 == given);
}

#[test]
fn groups_can_be_read_in_any_order_where_the_records_are_in_theirs() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.parquet");
    let written = records(25_000);
    let mut sink = create_with(part(&path), &about(), SMALL).expect("creates");
    sink.write(&written, &tables()).expect("writes");
    sink.finish(&about(), &tables()).expect("finishes");
    let mut stored = Stored::by_group(&path).expect("opens").expect("is a store");
    assert_eq!(stored.groups(), 3);
    let mut columns = Columns::default();
    for group in [2, 0, 1] {
        let last = (group * 10_000 + 10_000).min(written.len());
        let given = Columns::from(&written[group * 10_000..last]);
        stored.columns(group, &mut columns).expect("reads");
        assert!(columns == given, "group {group}");
    }
}

#[test]
fn a_shipped_trace_has_the_same_columns_as_records() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    for entry in fs::read_dir(folder).expect("lists") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "parquet") {
            let (records, ..) = read(&path).expect("reads");
            assert!(read_columns(&path).expect("reads") == Some(records), "{}", path.display());
        }
    }
}

#[test]
fn what_the_columns_have_no_place_for_is_refused_and_not_bent() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let mut sink = create(&path, &about(), false).expect("creates");
    let far = Record::new(Op::Read, u64::MAX - 1, 512);
    let late = Record { queued: Stamp::at(Nanos(u64::MAX - 1)), ..Record::new(Op::Read, 0, 512) };
    let nowhere = Record { device: 2, ..Record::new(Op::Read, 0, 512) };
    for bad in [far, late, nowhere] {
        let refused = sink.write(&[bad], &tables());
        assert!(matches!(refused, Err(TraceError::Inexpressible { .. })), "{refused:?}");
    }
}

#[test]
fn a_parquet_file_without_the_columns_of_requests_is_refused_with_what_names_them() {
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.parquet");
    let schema = parse_message_type("message m { required int32 a; }").expect("a schema");
    let file = fs::File::create(&path).expect("creates");
    let properties = WriterProperties::builder().build();
    let writer = SerializedFileWriter::new(file, schema.into(), properties.into());
    writer.expect("begins").close().expect("ends");
    let error = read(&path).expect_err("is another");
    assert_eq!(
        error.to_string(),
        "parquet: there is no column \"offset_bytes\" for the offset of a request, only a; say \
         which it is with --columns offset=NAME"
    );
}

// Of 120 single bits that were flipped, 89 were accepted and changed up to 13,000 values.
#[test]
fn a_flipped_bit_is_refused_or_changes_no_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let given = records(2_500);
    let mut sink = create_with(part(&path), &about(), Options { group_records: 1000, ..SMALL })
        .expect("creates");
    sink.write(&given, &tables()).expect("writes");
    sink.finish(&about(), &tables()).expect("finishes");
    let whole = fs::read(&path).expect("reads");
    let bits = whole.len() as u64 * 8;
    // Every 1/200th of the file, as many places at random, and all of the seal and the tail.
    let spread = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % bits;
    let footer = u32::from_le_bytes(whole[whole.len() - 8..][..4].try_into().expect("four bytes"));
    let seal = (whole.len() as u64 - 8 - u64::from(footer) - 8) * 8;
    let places = (0..200).map(|i| i * bits / 200).chain((1..=200).map(spread));
    for bit in places.chain(seal..seal + 64).chain(bits - 64..bits) {
        let mut flipped = whole.clone();
        flipped[bit as usize / 8] ^= 1 << (bit % 8);
        fs::write(&path, flipped).expect("writes");
        match read(&path) {
            Ok((found, about, names)) => {
                assert!(found == given, "bit {bit} changed a record");
                assert_eq!((about, names), (self::about(), tables()), "bit {bit}");
            }
            Err(error) => assert!(error.to_string().contains("trace.parquet"), "{bit}: {error}"),
        }
    }
}

#[test]
fn of_a_narrowed_store_what_is_read_is_checked_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let given = records(2_500);
    let mut sink = create_with(part(&path), &about(), Options { group_records: 1000, ..SMALL })
        .expect("creates");
    sink.write(&given, &tables()).expect("writes");
    sink.finish(&about(), &tables()).expect("finishes");
    let lengths = || {
        let mut source = open(&path)?;
        source.narrow(Fields::LENGTH.and(Fields::OP));
        let mut found = Vec::new();
        each_batch(&mut source, |batch| {
            found.extend_from_slice(batch);
            true
        })?;
        Ok::<_, TraceError>(found)
    };
    let blank = |r: &Record| Record::new(r.op, 0, r.len);
    let expected: Vec<Record> = given.iter().map(blank).collect();
    assert!(lengths().expect("reads") == expected);
    let whole = fs::read(&path).expect("reads");
    let footer = u32::from_le_bytes(whole[whole.len() - 8..][..4].try_into().expect("four bytes"));
    let groups = whole.len() - 16 - footer as usize;
    let (mut unread, mut refused) = (0, 0);
    for byte in (4..groups).step_by(groups / 400) {
        let mut flipped = whole.clone();
        flipped[byte] ^= 1;
        fs::write(&path, flipped).expect("writes");
        assert!(read(&path).is_err(), "all of it is checked: {byte}");
        match lengths() {
            Ok(found) => {
                assert!(found == expected, "byte {byte} changed a record");
                unread += 1;
            }
            Err(error) => {
                assert!(matches!(error, TraceError::Damaged { .. }), "{byte}: {error}");
                refused += 1;
            }
        }
    }
    assert!(unread > 100 && refused > 10, "{unread} {refused}");
}

#[test]
fn a_store_of_an_earlier_version_is_read_and_known_to_have_no_checksums() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/unsummed.parquet");
    assert_eq!(read(&path).expect("reads").0.len(), 4);
    assert!(!contents(&path).expect("reads").expect("ours").has_checksums);
}

fn sample() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.parquet");
    let mut sink = create(&path, &about(), false).expect("creates");
    sink.write(&records(3000), &tables()).expect("writes");
    sink.finish(&about(), &tables()).expect("finishes");
    fs::read(&path).expect("reads")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_damaged_file_is_an_error_or_a_trace_and_never_a_panic(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in proptest::option::of(any::<prop::sample::Index>()),
        in_footer in any::<bool>(),
    ) {
        static SAMPLE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(sample);
        let mut data = SAMPLE.clone();
        let from = if in_footer { data.len() - 3000 } else { 0 };
        for (at, value) in damage {
            let at = from + at.index(data.len() - from);
            data[at] = value;
        }
        if let Some(cut) = cut {
            data.truncate(cut.index(data.len()));
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace.parquet");
        fs::write(&path, data).expect("writes");
        let _ = read(&path);
    }
}
