//! The suite `fs` beside bonnie++: past the page cache, through it, and through one that cannot
//! hold the file.
//!
//! Through a page cache that holds the file, bonnie++'s tests of it are over before there is a
//! figure. On a disk both therefore run with little memory, in a cgroup, as bonnie++ wants a file
//! of twice the memory. That disk is an ext4 of its own: one without a journal keeps the inodes of
//! removed files back for a while, and who comes second finds thousands of them.

use super::{Bench, Figure, Figures, read_figures};
use crate::devices::{Ext4, Loop};
use crate::report::{Page, Unit, Wanted};
use crate::storagemark::confine::{Confine, Room};
use crate::{Failure, process};
use std::path::Path;
use std::process::Command;

/// How far apart figures of blocks, seeks and creation may be.
const NEAR: Wanted = Wanted::RatioWithin(0.15);

const STEPS: [(&str, &str, Unit, Wanted); 9] = [
    ("put_block", "block output", Unit::BytesPerSecond, NEAR),
    ("rewrite", "rewrite", Unit::BytesPerSecond, NEAR),
    ("get_block", "block input", Unit::BytesPerSecond, NEAR),
    ("seeks", "random seeks", Unit::PerSecond, NEAR),
    ("seq_create", "sequential create", Unit::PerSecond, NEAR),
    ("seq_del", "sequential delete", Unit::PerSecond, Wanted::Nothing),
    ("ran_create", "random create", Unit::PerSecond, NEAR),
    ("ran_stat", "random read (stat)", Unit::PerSecond, Wanted::Nothing),
    ("ran_del", "random delete", Unit::PerSecond, Wanted::Nothing),
];

struct Way<'a> {
    words: &'static str,
    direct: bool,
    /// Not compared: what bonnie++ does otherwise than its options say, or than the suite.
    not: &'static [&'static str],
    size: String,
    seeks: u64,
    /// The little memory of both.
    room: Option<&'a Confine>,
    dir: &'a Path,
}

/// Each way that is useful in this place.
pub fn measure(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let on_disk = bench.place.on_disk().map(|dir| {
        let disk = Ext4::on(Loop::on_disk(dir, bench.choose(3 << 30, 6 << 30))?)?;
        let confine = Confine::new(&format!("seekwell-suites-{}", std::process::id()))?;
        confine.limit(bench.choose(256 << 20, 1 << 30))?;
        Ok::<_, Failure>((confine, disk))
    });
    let on_disk = on_disk.transpose()?;
    let dir = on_disk.as_ref().map_or(bench.place.dir(), |(_, disk)| disk.dir());
    let past = Way {
        words: "past the page cache",
        direct: true,
        // With -D it opens the file for output only so.
        not: &["rewrite", "get_block", "seeks"],
        size: bench.choose("256m", "900m").into(),
        seeks: 8192,
        room: None,
        dir,
    };
    let through = match &on_disk {
        Some((confine, _)) => Way {
            words: "through a page cache of a third of the file",
            direct: false,
            not: &[],
            size: bench.choose("768m", "3g").into(),
            seeks: bench.choose(40_000, 120_000),
            room: Some(confine),
            dir,
        },
        None => Way {
            words: "through the page cache",
            direct: false,
            // Then a seek takes as long as handing it out does, for which bonnie++ has a pipe.
            not: &["seeks"],
            size: bench.choose("256m", "900m").into(),
            seeks: 8192,
            room: None,
            dir,
        },
    };
    [past, through].into_iter().try_for_each(|way| measure_way(bench, page, &way))
}

fn measure_way(bench: &Bench, page: &mut Page, way: &Way<'_>) -> Result<(), Failure> {
    let files = bench.choose("48", "128");
    let cache = if way.direct { "direct" } else { "keep" };
    let set = [
        ("size", way.size.clone()),
        ("char_size", "8k".to_owned()),
        ("seeks", way.seeks.to_string()),
        ("files", files.to_owned()),
        ("cache", cache.to_owned()),
    ];
    let program = |name: &str| match way.room {
        Some(confine) => confine.command(Room::Limited, name),
        None => Command::new(name),
    };
    let ours = || bench.suite_by(program(&bench.seekwell.to_string_lossy()), "fs", way.dir, &set);
    let theirs = || {
        let mut command = program("bonnie++");
        command.args(["-q", "-u", "root", "-m", "rival", "-r", "0", "-f", "-n", files, "-s"]);
        command.arg(format!("{}:8k:{}:5", way.size, way.seeks)).arg("-d").arg(way.dir);
        if way.direct {
            command.arg("-D");
        }
        let read = read_figures(&process::output(&mut command)?)?;
        let rate = |(metric, value): (String, f64)| {
            let (step, suffix) = metric.split_once('.')?;
            suffix.ends_with("_per_s").then(|| (step.to_owned(), value))
        };
        Ok(read.into_iter().filter_map(rate).collect::<Figures>())
    };
    let figure = |(name, what, unit, wanted)| Figure {
        name,
        what: format!("fs, {}: {what}, beside bonnie++", way.words),
        unit,
        wanted,
    };
    let compared = STEPS.into_iter().filter(|(name, ..)| !way.not.contains(name));
    bench.compare(page, compared.map(figure).collect(), ours, theirs)
}
