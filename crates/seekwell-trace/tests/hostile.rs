//! Torn, shuffled and made-up inputs for every importer: an error or a trace, in order and within
//! the tables, never a panic.
use proptest::prelude::*;
use seekwell_trace::formats::{self, Format, Input};
use std::io::Cursor;
use std::path::Path;

/// A good beginning for each format.
const SEEDS: [(&str, &[u8]); 16] = [
    (
        "iolog",
        b"fio version 3 iolog\n\
          0 sda add\n\
          1 sda open\n\
          5 sda read 4096 512\n\
          6 sda trim 0 512\n\
          7 sda sync 0 0\n",
    ),
    (
        "iolog",
        b"fio version 2 iolog\n\
          sda add\n\
          sda open\n\
          sda write 4096 512\n\
          sda wait 5 0\n\
          sda read 0 512\n",
    ),
    (
        "msr",
        b"128166372003061629,hm,1,Read,383496192,32768,413\n\
          128166372003061629,hm,0,Write,0,512,\n",
    ),
    (
        "alibaba",
        b"419,W,8792731648,16384,1577808144360767\n\
          725,R,0,4096,1577808144360768\n",
    ),
    (
        "tencent",
        b"1538323200,3904,8,1,1283\n\
          1538323200,16,1,0,1284\n",
    ),
    (
        "systor",
        b"Timestamp,Response,IOType,LUN,Offset,Size\n\
          1455592378.011457000,0.000284000,R,4,5615,8192\n\
          1455592378.5,,,4,,\n",
    ),
    (
        "spc",
        b"0,20941264,8192,W,0.551706\n\
          1,3,512,r,0.554041\n",
    ),
    (
        "fiu",
        b"0 4892 syslogd 904265560 8 W 6 0 531e779f9a0b5c\n\
          39064 12 my tool 16 1 R 8 1 abc\n",
    ),
    (
        "disksim",
        b"13.191135\t30\t0\t5\t1\n\
          17.829285\t20\t576560\t6\t1f\n",
    ),
    ("mqsim", b"0 0 8 16 0\n60055212345 1 24 8 1\n"),
    (
        "csv",
        b"op,offset_bytes,length_bytes,queued_ns,flags,device,process,note\n\
          W,4096.0,512,1e3,3,\"a,b\",0,x\n\
          ,,,5,sync+fua,b,dd,\n",
    ),
    (
        "disksim-validate",
        b"W Hit    4583176   4    663.00000  45422.00000\n\
          R Miss 8 2 607.5 1\n",
    ),
    (
        "vscsi",
        &[
            7, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0x28, 0, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0,
            0, 0, 0, 0,
        ],
    ),
    (
        "vscsi",
        &[
            0x2a, 0, 0, 2, 7, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0,
            0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0,
        ],
    ),
    (
        "oracle",
        &[3, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255],
    ),
    (
        "csv",
        b"queued_ns,issued_ns,completed_ns,op,offset_bytes,length_bytes,device,\
          pid,process,cpu,error,flags\n\
          5,7,9,write,4096,512,\"8,0\",12,\"a \"\"b\"\"\",3,5,sync+fua\n\
          ,8,,read,0,512,sdb,0,,0,0,\n",
    ),
];

fn named(name: &str) -> &'static Format {
    Format::named(name).expect("a format")
}

fn try_all(format: &str, data: Vec<u8>) {
    let input = Input::from_reader(Path::new("hostile"), Box::new(Cursor::new(data)));
    let Ok(mut source) = formats::open_input(input.expect("memory reads"), named(format)) else {
        return;
    };
    let mut records = Vec::new();
    let mut last = None;
    loop {
        records.clear();
        let ended = source.read(&mut records);
        let tables = source.tables();
        for record in &records {
            assert!((record.device as usize) < tables.devices.len());
            assert!((record.process as usize) < tables.processes.len());
            let at = record.arrival();
            assert!(last <= Some(at), "{format} goes back in time");
            last = Some(at);
        }
        if ended.is_err() || records.is_empty() {
            return;
        }
    }
}

#[test]
fn every_seed_is_a_good_trace() {
    for (format, seed) in SEEDS {
        let input = Input::from_reader(Path::new("seed"), Box::new(Cursor::new(seed)));
        let mut source = formats::open_input(input.expect("reads"), named(format)).expect("opens");
        let mut records = Vec::new();
        source.read(&mut records).unwrap_or_else(|e| panic!("{format}: {e}"));
        assert!(!records.is_empty(), "{format}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn damaged_traces_of_any_format_do_no_harm(
        which in 0..SEEDS.len(),
        repeats in 1_usize..4,
        edits in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 0..12
        ),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let (format, seed) = SEEDS[which];
        let mut data = seed.repeat(repeats);
        for (at, byte, how) in edits {
            let at = at.index(data.len());
            match how {
                0 => data[at] = byte,
                1 => data.insert(at, byte),
                // Digits make numbers overflow; separators make fields vanish.
                2 => data[at] = b"0123456789.,- \t\nRW\""[usize::from(byte) % 19],
                _ => { data.splice(at..at, [b'9'; 20]); }
            }
        }
        if is_cut {
            data.truncate(cut.index(data.len()));
        }
        try_all(format, data);
    }

    #[test]
    fn any_bytes_read_as_any_format_do_no_harm(
        which in 0..SEEDS.len(),
        data in proptest::collection::vec(any::<u8>(), 0..2000),
    ) {
        formats::detect(&data, Path::new("x"));
        try_all(SEEDS[which].0, data);
    }
}
