//! The suite `fs` beside bonnie++, past the page cache and through it.

use super::{Bench, Figure, Figures, finish, read_figures};
use crate::Failure;
use crate::bench_engine::report::{Report, Unit, Wanted};
use std::process::Command;

/// How far apart figures of blocks, seeks and creation may be.
const NEAR: Wanted = Wanted::RatioWithin(0.15);

/// The steps that are compared: name, words, unit, and what is wanted past the page cache and
/// through it. Through it a seek takes as long as handing it out does, which bonnie++ does by a
/// pipe between processes.
const STEPS: [(&str, &str, Unit, [Wanted; 2]); 9] = [
    ("put_block", "block output", Unit::BytesPerSecond, [NEAR, NEAR]),
    ("rewrite", "rewrite", Unit::BytesPerSecond, [NEAR, NEAR]),
    ("get_block", "block input", Unit::BytesPerSecond, [NEAR, NEAR]),
    ("seeks", "random seeks", Unit::PerSecond, [NEAR, Wanted::Nothing]),
    ("seq_create", "sequential create", Unit::PerSecond, [NEAR, NEAR]),
    ("seq_del", "sequential delete", Unit::PerSecond, [Wanted::Nothing; 2]),
    ("ran_create", "random create", Unit::PerSecond, [NEAR, NEAR]),
    ("ran_stat", "random read (stat)", Unit::PerSecond, [Wanted::Nothing; 2]),
    ("ran_del", "random delete", Unit::PerSecond, [Wanted::Nothing; 2]),
];

/// Both ways.
pub fn measure(bench: &Bench, report: &mut Report) -> Result<(), Failure> {
    past_or_through(bench, report, true)?;
    past_or_through(bench, report, false)
}

fn past_or_through(bench: &Bench, report: &mut Report, direct: bool) -> Result<(), Failure> {
    let size = bench.choose(256, 900_u64);
    let files = bench.choose("48", "128");
    let seeks = if direct { bench.choose(40_000, 120_000_u64) } else { 400_000 };
    let cache = if direct { "direct" } else { "keep" };
    let set = [
        ("size", format!("{size}m")),
        ("char_size", "8k".to_owned()),
        ("seeks", seeks.to_string()),
        ("files", files.to_owned()),
        ("cache", cache.to_owned()),
    ];
    let way = if direct { "past the page cache" } else { "through the page cache" };
    let figure = |&(name, what, unit, wanted): &(_, _, _, [Wanted; 2])| Figure {
        name,
        what: format!("fs, {way}: {what}, beside bonnie++"),
        unit,
        wanted: wanted[usize::from(!direct)],
    };
    let theirs = || {
        let mut command = Command::new("bonnie++");
        command.args(["-q", "-u", "root", "-m", "rival", "-r", "0", "-f", "-n", files, "-s"]);
        command.arg(format!("{size}:8k:{seeks}:5")).arg("-d").arg(bench.place.dir());
        if direct {
            command.arg("-D");
        }
        let read = read_figures(&finish(&mut command)?)?;
        let rate = |(metric, value): (String, f64)| {
            let (step, suffix) = metric.split_once('.')?;
            suffix.ends_with("_per_s").then(|| (step.to_owned(), value))
        };
        Ok(read.into_iter().filter_map(rate).collect::<Figures>())
    };
    let figures = STEPS.iter().map(figure).collect();
    bench.compare(report, figures, || bench.suite("fs", bench.place.dir(), &set), theirs)
}
