//! R0: the same disk behind ICH8 in piix and in AHCI mode, under `bonnie++ -n 384` (2009).

use crate::row::{Better, Drawn, Figure, How, Pace, Played, Rate, Row};
use seekwell_io::units::Nanos;

const MODES: [(&str, &str); 2] = [("piix", "p4sbe-ich8-piix"), ("AHCI", "p4sbe-ich8-ahci")];
/// bonnie++ counts in KiB.
const KIB: f64 = 1024.0;
/// Its file, of which every part is used.
const FILE: u64 = 4 << 30;
const MAXIMUM: &str = "the longest of many waits in one run follows the host's write-back bursts, \
                       which no layer models";

/// Test|unit|figures|shares of the processor|longest waits in ms, each of piix and AHCI|work of the
/// host|what gives the modelled figure: the host alone, a stream with this share of reads, seeks,
/// or a recorded phase with the seconds its processor took.
const TESTS: &str = "\
sequential output, per character|K/s|439 430|99 98|48.125 50.870|put_character|host
sequential output, block|K/s|52686 52639|15 14|1645 1532|put_block|stream 0
rewrite|K/s|27168 27533|5 5|1545 1655|rewrite|stream 50
sequential input, per character|K/s|2039 2066|99 99|16.144 10.203|get_character|host
sequential input, block|K/s|62782 62991|4 4|137 21.423|get_block|stream 100
random seeks|/s|228.9 224.5|3 1|863 953|seek|seeks
sequential create|/s|17299 28173|43 56|1773 1363|create|bonnie-create-seq 1.43
sequential stat|/s|379058 373407|99 98|0.169 0.157|stat|host
sequential delete|/s|777 1645|1 2|18519 12877|delete|bonnie-delete-seq 1.42
random create|/s|24781 31110|49 61|1403 1216|create|bonnie-create-random 1.45
random stat|/s|522877 522376|100 99|0.014 0.061|random_stat|host
random delete|/s|579 1026|1 1|14935 11397|delete|bonnie-delete-random 1.45
";

pub fn rows() -> Vec<Row> {
    TESTS.lines().flat_map(test).collect()
}

fn test(line: &'static str) -> Vec<Row> {
    let cells: Vec<&str> = line.split('|').collect();
    let [what, unit, figures, shares, waits, work, from] = cells[..] else {
        panic!("a test has seven cells: {line}")
    };
    let each = if unit == "K/s" { KIB } else { 1.0 };
    let how = match from.split_once(' ') {
        None if from == "host" => How::Host { work, per_s: 1.0 / each },
        None => seeks(),
        Some(("stream", reads)) => stream(number(reads) as u8),
        Some((trace, recorded_s)) => played(trace, work, number(recorded_s)),
    };
    let share = How::Processor { of: what, work, each };
    let of_both = |(what, unit, better), how: &How, published: &str| {
        let both = MODES.into_iter().zip(published.split(' '));
        let both = both.map(|((mode, machine), figure)| (mode, machine, number(figure)));
        Row::each("R0", (what, unit, better), how, both)
    };
    let (processor, longest) = (format!("{what}: processor"), format!("{what}: longest wait"));
    let not_modelled = How::NotModelled { why: MAXIMUM };
    [
        of_both((what, unit, Better::Higher), &how, figures),
        of_both((&processor, "%CP", Better::Lower), &share, shares),
        of_both((&longest, "ms", Better::Lower), &not_modelled, waits),
    ]
    .concat()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is not a number"))
}

/// A pass over the file through the page cache, in the 512 KiB that the kernel of the time put
/// together; what is written back of it while it is read goes in portions of the 4 MiB that Linux
/// 2.6 writes back of a file before it goes on to another (`MAX_WRITEBACK_PAGES`,
/// mm/page-writeback.c).
fn stream(read_percent: u8) -> How {
    let is_rewrite = read_percent == 50;
    // Reading ahead keeps two requests under way, writing back as many as there are.
    let (bytes, depth) = match read_percent {
        100 => (512 << 10, 2),
        0 => (512 << 10, 8),
        _ => (4 << 20, 1),
    };
    How::Drawn(Drawn {
        is_random: false,
        read_percent,
        bytes,
        depth,
        region_bytes: FILE,
        from_percent: 0,
        runs: Nanos::from_millis(20_000),
        thinks: None,
        beside_writes: None,
        cached_percent: 0,
        // What is read and written back again counts once.
        reads_off: Rate::BytesPer(if is_rewrite { 2.0 * KIB } else { KIB }),
        inputs: "the document's file of 4 GiB; request sizes and depths of Linux 2.6 assumed",
    })
}

/// Five processes (`SeekProcCount` in bonnie++ 1.96), each reading a block of 8 KiB anywhere and
/// changing every tenth. Without `-s` the file is twice the memory, so the document's machine had
/// 2 GiB: that holds almost half of the file, a tenth of it taken to be in use otherwise.
fn seeks() -> How {
    How::Drawn(Drawn {
        is_random: true,
        read_percent: 91,
        bytes: 8 << 10,
        depth: 5,
        region_bytes: FILE,
        from_percent: 0,
        runs: Nanos::from_millis(60_000),
        thinks: None,
        beside_writes: None,
        cached_percent: 45,
        reads_off: Rate::RequestsPer(1.0 / 0.91),
        inputs: "the document's file of 4 GiB, which bonnie++ makes twice the memory by default: \
                 45 % of it assumed to be cached; five processes as in bonnie++ 1.96",
    })
}

/// A recorded phase; its processor took `recorded_s` for all files.
fn played(trace: &'static str, work: &'static str, recorded_s: f64) -> How {
    How::Played(Played {
        trace,
        pace: Pace::Dependent,
        figure: Figure::PerSecond(FILES),
        thinks: Some((work, recorded_s * 1e9 / FILES)),
        inputs: "bonnie++ 2.00 recorded on a modelled drive, a quarter of the document's files",
    })
}

/// Files of each recorded phase.
const FILES: f64 = 96.0 * 1024.0;
