use super::*;
use crate::error::TraceError;
use crate::formats::input::Input;
use proptest::prelude::*;
use std::path::Path;

pub fn read(open: impl Fn(Input) -> Opened, text: &[u8]) -> Read {
    let reader = Box::new(std::io::Cursor::new(text.to_vec()));
    let mut source =
        open(Input::from_reader(Path::new("test"), reader).expect("reads")).expect("opens");
    let mut records = Vec::new();
    let ended = loop {
        let before = records.len();
        match source.read(&mut records) {
            Ok(()) if records.len() == before => break Ok(()),
            Ok(()) => {}
            Err(error) => break Err(error),
        }
    };
    Read { records, ended, about: source.about().clone(), tables: source.tables().clone() }
}

/// All there is to know of an input.
pub struct Read {
    pub records: Vec<Record>,
    pub ended: Result<(), TraceError>,
    pub about: About,
    pub tables: Tables,
}

/// What blkparse 1.2 printed of a laptop's disk, with every action that has a form of its own.
const SAMPLE: &str = "\
  8,0    3        1     0.000000000   697  A   W 223490 + 8 <- (8,1) 223427
  8,1    3        2     0.000001829   697  Q   W 223490 + 8 [kjournald]
  8,0    3        3     0.000006000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        4     0.000008000   697  G   W 223490 + 8 [kjournald]
  8,0    3        5     0.000009000   697  P   N [kjournald]
  8,0    3        6     0.000010000   697  Q   W 223498 + 8 [kjournald]
  8,0    3        7     0.000011000   697  M   W 223498 + 8 [kjournald]
  8,0    3        8     0.000012000   697  I   W 223490 + 16 (    1000) [kjournald]
  8,0    3        0     0.000012500     0  m   N cfq697 insert_request
  8,0    3        9     0.000013000   697  U   N [kjournald] 1
  8,0    3       10     0.000014000     0  D   W 223490 + 16 (    2000) [my job [x]]
  8,0    1        1     0.000099000     0  C   W 223490 + 16 (   85000) [0]
  8,0    1        2     1.000000001   700  Q FWFSM 8 + 8 [sync]
  8,0    1        3     1.000000002   700  D WFSM 8 + 8 [sync]
  8,0    1        4     1.000000005     0  C WFSM 8 + 8 [-5]
  8,0    0        1     1.500000000   800  Q   R 4096 + 16 [cat]
  8,0    0        2     1.500000001   800  X   R 4096 / 4104 [cat]
  8,0    0        3     1.500000002   800  D   R 4096 + 8 [cat]
  8,0    0        4     1.500000003   800  D   R 4104 + 8 [cat]
  8,0    0        5     1.500000004     0  C   R 4096 + 8 [0]
  8,0    0        6     1.500000005     0  C   R 4104 + 8 [65531]
  8,0    0        7     2.000000000   900  D   R 36 (12 00 00 00 24 00 ..) [smartd]
  8,0    0        8     2.000000009   900  C   R (12 00 00 00 24 00 ..) [0]
Input file sda.blktrace.0 added
CPU0 (8,0):
 Reads Queued:           1,        8KiB\t Writes Queued:           3,       12KiB
 Read Dispatches:        2,        8KiB\t Write Dispatches:        2,       12KiB

Total (8,0):
 Reads Queued:           1,        8KiB

Throughput (R/W): 4KiB/s / 6KiB/s
Events (8,0): 23 entries
Skips: 0 forward (0 -   0.0%)
";

#[test]
fn every_action_of_the_default_format_is_understood_and_the_totals_are_no_requests() {
    let read = read(open, SAMPLE.as_bytes());
    read.ended.expect("all of it is good");
    let shown: Vec<String> = read
        .records
        .iter()
        .map(|r| {
            let process = &read.tables.processes[r.process as usize];
            let times = (r.queued, r.issued, r.completed);
            format!("{} {}+{} {times:?} {process} {}", r.op.name(), r.offset, r.len, r.error)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "write 114426880+4096 (1829, -, -) kjournald 0",
            "write 114426880+4096 (6000, 14000, 99000) kjournald 0",
            "write 114430976+4096 (10000, 14000, 99000) kjournald 0",
            "write 114426880+8192 (-, 14000, 99000) kjournald 0",
            "write 4096+4096 (1000000001, 1000000002, 1000000005) sync 5",
            "write 4096+4096 (-, 1000000002, 1000000005) sync 5",
            "read 2097152+8192 (1500000000, 1500000002, 1500000005) cat 5",
            "read 2097152+4096 (-, 1500000002, 1500000004) cat 0",
            "read 2101248+4096 (-, 1500000003, 1500000005) cat 5",
            "read 0+36 (-, 2000000000, 2000000009) smartd 0",
        ]
    );
    assert!(read.records[4].flags.has(Flags::PREFLUSH | Flags::FUA | Flags::SYNC | Flags::META));
    assert_eq!(read.tables.devices[1].name, "8,0");
    assert_eq!((read.records[0].pid, read.records[0].cpu), (697, 3));
    assert_eq!(read.about.capture, Capture::Both);
    assert_eq!(read.about.losses.unfinished, 1);
}

#[test]
fn a_line_in_another_format_is_refused_with_its_number() {
    let head = "  8,0    0        1     0.000000000   697  Q   W 8 + 8 [a]\n";
    for (bad, wrong) in [
        ("0.000000000, 697, a, Q, 8, 8, 4096", "default format"),
        ("  8,0 0 2 0.12 697 Q W 8 + 8 [a]", "default format"),
        ("  8,0 0 2 0.000000001 697 Q W 8 8 [a]", "sector + sectors"),
        ("  8,0 0 2 0.000000001 697 Y W 8 + 8 [a]", "an action"),
        ("  8,0 0 2 0.000000001 697 Q w 8 + 8 [a]", "letters"),
        ("  8,0 0 2 0.000000001 697 Q W 8 + 8", "[…]"),
        ("  8,0 0 2 0.000000001 697 C W 8 + 8 [EIO]", "[error]"),
        ("  8,0 0 2 99999999999.000000001 697 Q W 8 + 8 [a]", "default format"),
        ("  8,0 0 2 0.000000001 697 Q W 99999999999999999999 + 8 [a]", "sector + sectors"),
    ] {
        let read = read(open, format!("{head}{bad}\n").as_bytes());
        let error = read.ended.expect_err(bad).to_string();
        assert!(error.starts_with("blkparse, line 2: "), "{error}");
        assert!(error.contains(wrong), "{error}");
        assert_eq!(read.records.len(), 1, "what came before is kept");
    }
}

#[test]
fn a_first_device_of_bytes_that_are_nothing_is_refused() {
    let line = b"  \0\0\0\0    1        1     0.000000000   697  Q  WS 223490 + 8 [kjournald]\n";
    let read = read(open, line);
    assert_eq!(read.records.len(), 0);
    assert!(matches!(read.ended, Err(TraceError::Malformed { .. })), "{:?}", read.ended);
}

#[test]
fn a_file_cut_in_the_middle_of_a_line_is_said_to_end_there() {
    let cut = "  8,0 0 1 0.000000000 697 Q W 8 + 8 [a]\n  8,0 0 2 0.0000";
    let read = read(open, cut.as_bytes());
    let error = read.ended.expect_err("cut").to_string();
    assert_eq!(error, "blkparse, line 2: the input ends in the middle of a line");
    assert_eq!(read.records.len(), 1);
}

/// What two ways of reading a line must agree about.
fn said(line: &[u8], head: &Head<'_>) -> (String, u16, u64, u32, String, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let Head { device, cpu, at, pid, action, letters, len } = head;
    (text(device), *cpu, at.0, *pid, text(action), text(letters), text(&line[*len..]))
}

proptest! {
    #[test]
    fn columns_in_their_places_say_what_words_between_blanks_say(
        device in (0..1000_u32, 0..1000_u32),
        cpu in 0..100_u16,
        at in (0..100_000_u64, 0..1_000_000_000_u64),
        pid in 0..100_000_000_u32,
        action in prop::sample::select(vec!["Q", "D", "C", "UT", "ZP"]),
        letters in "[RWFSMAD]{1,3}",
        damage in proptest::option::of((0..52_usize, any::<u8>())),
    ) {
        let ((major, minor), (seconds, ns)) = (device, at);
        let mut line = format!(
            "{major:>3},{minor:<3} {cpu:>2}        1 {seconds:>5}.{ns:09} {pid:>5} {action:>2} \
             {letters:>3} 223490 + 8 [kjournald]"
        )
        .into_bytes();
        if damage.is_none() {
            prop_assert!(columns::head(&line).is_some());
        }
        if let Some((at, byte)) = damage {
            line[at] = byte;
        }
        if let Some(fast) = columns::head(&line) {
            let device = fast.device.trim_ascii().to_vec();
            let good = Blkparse::new().device(&device, &mut Tables::default());
            // A sequence that is no number is passed over by the one and refused by the other.
            if let (Some(slow), Ok(Some(_))) = (head(&line), good) {
                prop_assert_eq!(said(&line, &fast), said(&line, &slow));
            } else {
                prop_assert!(damage.is_some());
            }
        }
    }

    #[test]
    fn damaged_text_is_read_or_refused_and_never_worse(
        changes in proptest::collection::vec((0..SAMPLE.len(), any::<u8>()), 1..12),
        cut in 0..SAMPLE.len(),
    ) {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(cut);
        let read = read(open, &bytes);
        prop_assert!(read.records.len() <= 30);
        let most = read.tables.processes.len() as u32;
        prop_assert!(read.records.iter().all(|r| r.process < most));
    }
}
