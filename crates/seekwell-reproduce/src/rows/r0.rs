//! R0: the same disk behind ICH8 in piix and in AHCI mode, under `bonnie++ -n 384` (2009).

use crate::row::{Better, How, Reading, Row};
use seekwell_suites::fs::load::{File, load};
use seekwell_suites::load::{Drawn, Load};

const MODES: [(&str, &str); 2] = [("piix", "p4sbe-ich8-piix"), ("AHCI", "p4sbe-ich8-ahci")];
/// bonnie++ counts in KiB.
const KIB: f64 = 1024.0;
/// Its file, of which every part is used, and the five processes that seek in it (`SeekProcCount`
/// in bonnie++ 1.96).
const FILE: File = File { size: 4 << 30, chunk: 8 << 10, seekers: 5 };
/// Without `-s` the file is twice the memory, so the document's machine had 2 GiB: that holds
/// almost half of the file, a tenth of it taken to be in use otherwise.
const CACHED: f64 = 0.45;
const MAXIMUM: &str = "the longest of many waits in one run follows the host's write-back bursts, \
                       which no layer models";

/// Test|unit|figures|shares of the processor|longest waits in ms, each of piix and AHCI|work of the
/// host|the suite's step.
const TESTS: &str = "\
sequential output, per character|K/s|439 430|99 98|48.125 50.870|put_character|putc
sequential output, block|K/s|52686 52639|15 14|1645 1532|put_block|put_block
rewrite|K/s|27168 27533|5 5|1545 1655|rewrite|rewrite
sequential input, per character|K/s|2039 2066|99 99|16.144 10.203|get_character|getc
sequential input, block|K/s|62782 62991|4 4|137 21.423|get_block|get_block
random seeks|/s|228.9 224.5|3 1|863 953|seek|seeks
sequential create|/s|17299 28173|43 56|1773 1363|create|seq_create
sequential stat|/s|379058 373407|99 98|0.169 0.157|stat|seq_stat
sequential delete|/s|777 1645|1 2|18519 12877|delete|seq_del
random create|/s|24781 31110|49 61|1403 1216|create|ran_create
random stat|/s|522877 522376|100 99|0.014 0.061|random_stat|ran_stat
random delete|/s|579 1026|1 1|14935 11397|delete|ran_del
";

pub fn rows() -> Vec<Row> {
    TESTS.lines().flat_map(test).collect()
}

fn test(line: &'static str) -> Vec<Row> {
    let cells: Vec<&str> = line.split('|').collect();
    let [what, unit, figures, shares, waits, work, step] = cells[..] else {
        panic!("a test has seven cells: {line}")
    };
    let each = if unit == "K/s" { KIB } else { 1.0 };
    let how = How::Load { load: of(step), reads: Reading::Per(each), inputs: inputs(step) };
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

fn of(step: &str) -> Load {
    match load(step, FILE) {
        Load::Drawn(drawn) if step == "seeks" => Load::Drawn(Drawn { cached: CACHED, ..drawn }),
        load => load,
    }
}

fn inputs(step: &str) -> Option<&'static str> {
    Some(match step {
        "put_block" | "rewrite" | "get_block" => {
            "the document's file of 4 GiB; request sizes and depths of Linux 2.6 assumed"
        }
        "seeks" => {
            "the document's file of 4 GiB, which bonnie++ makes twice the memory by default: 45 % \
             of it assumed to be cached; five processes as in bonnie++ 1.96"
        }
        "seq_create" | "seq_del" | "ran_create" | "ran_del" => {
            "bonnie++ 2.00 recorded on a modelled drive, a quarter of the document's files"
        }
        _ => return None,
    })
}
