//! Tables of other programs: Parquet as DuckDB, polars and pyarrow write it, and columns of other
//! names.
use seekwell_io::request::Op;
use seekwell_trace::formats::{self, Reading, TimeUnit};
use seekwell_trace::record::{Flags, Record};
use seekwell_trace::source::{About, Clock, Tables};
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(path: &Path, how: &Reading) -> (Vec<Record>, About, Tables) {
    let mut source = formats::open_file(path, how).expect("opens");
    let mut out = Vec::new();
    loop {
        let before = out.len();
        source.read(&mut out).expect("reads");
        if out.len() == before {
            return (out, source.about().clone(), source.tables().clone());
        }
    }
}

fn mapped(columns: &str) -> Reading {
    Reading { columns: Some(columns.parse().expect("a mapping")), ..Reading::default() }
}

// A store that DuckDB, polars or pyarrow had written again was refused: its columns may be null, or
// stand in another order.
#[test]
fn a_store_that_another_program_wrote_again_holds_the_same_requests() {
    let (ours, _, names) = read(&data("unsummed.parquet"), &Reading::default());
    for program in ["duckdb", "polars", "pyarrow"] {
        let path = data("tables").join(program).with_extension("parquet");
        let (mut theirs, about, tables) = read(&path, &Reading::default());
        assert_eq!(about.format, "parquet", "{program}");
        if program == "pyarrow" {
            assert_eq!(tables, names, "pyarrow keeps what the file says of itself");
            assert_eq!(theirs, ours);
            continue;
        }
        let of = |list: &[String], number: u32| list[number as usize].clone();
        let devices: Vec<String> = tables.devices.iter().map(|d| d.name.clone()).collect();
        assert_eq!(devices, ["0", "1"], "{program} keeps numbers only");
        for (theirs, ours) in theirs.iter_mut().zip(&ours) {
            let number = of(&tables.processes, theirs.process);
            assert_eq!(number.parse().unwrap_or(0), ours.process, "{program}");
            theirs.process = ours.process;
        }
        assert_eq!(theirs, ours, "{program}");
    }
}

#[test]
fn columns_of_other_names_and_units_are_read_through_a_mapping() {
    let parquet = mapped("time=ts,response=resp*s,offset=lba*512,length=bytes,op=rw,device=vol");
    let (records, about, tables) = read(&data("tables/names.parquet"), &parquet);
    assert_eq!((about.clock, about.unix_ns_at_zero), (Clock::Unix, Some(0)));
    let first = records[0];
    assert_eq!((first.op, first.offset, first.len), (Op::Write, 4096, 512));
    assert_eq!(first.queued.get().expect("known").0, 1_600_000_000_000_005_000);
    assert_eq!(first.completed.get().expect("known").0, 1_600_000_000_000_009_000);
    assert_eq!((records[3].op, records[3].completed.get()), (Op::Flush, None));
    assert_eq!(tables.devices[1].name, "b");

    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("other.csv");
    std::fs::write(&csv, "when,sector,rw,n\n1.5,8,R,4096\n1.25,16,w,512\n").expect("writes");
    let (records, ..) = read(&csv, &mapped("time=when*ms,offset=sector*512,op=rw,length=n"));
    let told = records.iter().map(|r| (r.queued.get().expect("known").0, r.offset, r.op));
    let wanted = [(1_250_000, 8192, Op::Write), (1_500_000, 4096, Op::Read)];
    assert!(told.eq(wanted), "in the order of arrival: {records:?}");

    std::fs::write(&csv, "5 r 4096 512\n").expect("writes");
    let (records, ..) = read(&csv, &mapped("time=1*us,op=2,offset=3,length=4"));
    assert_eq!((records.len(), records[0].queued.get().expect("known").0), (1, 5000));
}

#[test]
fn our_own_columns_are_known_in_any_order_and_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("own.csv");
    let text = "op,length_bytes,offset_bytes,flags,queued_ns\nwrite,512,4096,sync+fua,7\n";
    std::fs::write(&csv, text).expect("writes");
    let (records, about, _) = read(&csv, &Reading::default());
    assert_eq!((about.format.as_str(), records[0].offset), ("csv", 4096));
    assert_eq!(records[0].flags, Flags::SYNC | Flags::FUA);
}

// A quote in the first line that was never closed took all memory there was.
#[test]
fn a_line_of_names_with_an_open_quote_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("torn.csv");
    std::fs::write(&csv, "ts,\"lba,op\n1,2,r\n").expect("writes");
    let refused = formats::open_file(&csv, &mapped("time=ts")).err().expect("is refused");
    assert!(refused.to_string().contains("line 1: expected a closing quote"), "{refused}");
}

#[test]
fn times_are_read_in_the_unit_that_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.txt");
    std::fs::write(&path, "1500.5 0 8 16 1\n").expect("writes");
    let how = Reading { unit: Some(TimeUnit::Microseconds), ..Reading::default() };
    assert_eq!(read(&path, &how).0[0].queued.get().expect("known").0, 1_500_500);
    let refused = formats::open_file(&data("unsummed.parquet"), &how).err().expect("is known");
    assert_eq!(
        refused.to_string(),
        "seekwell says itself what its times are in: leave --time-unit out"
    );
    let refused = formats::open_file(&data("unsummed.parquet"), &mapped("time=issued_ns"));
    let refused = refused.err().expect("is known").to_string();
    assert_eq!(refused, "seekwell says itself what its columns hold: leave --columns out");
}
