//! The suite `threaded` beside fio doing the same pattern.

use super::{Bench, Figure, Figures, read_figures};
use crate::report::{Page, Unit, Wanted};
use crate::{Failure, process};
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::path::Path;
use std::process::Command;

const THREADS: u32 = 4;
const BLOCK: u32 = 4096;

/// Steps by their names, with fio's names of the patterns and the metrics both are about.
const STEPS: [(&str, &str, &str); 4] = [
    ("sequential-write", "write", "write.rate_bytes_per_s"),
    ("random-write", "randwrite", "write.rate_bytes_per_s"),
    ("sequential-read", "read", "read.rate_bytes_per_s"),
    ("random-read", "randread", "read.rate_bytes_per_s"),
];

/// All four patterns; the page cache is dropped before each, and writes end with a sync.
pub fn measure(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    // Beyond as many requests as a file has blocks fio does no more.
    let (size, random) = bench.choose(("256m", 40_000), ("512m", 131_072_u32));
    let set = [
        ("threads", THREADS.to_string()),
        ("size", size.to_owned()),
        ("block", BLOCK.to_string()),
        ("random", random.to_string()),
        ("cache", "drop".to_owned()),
        ("runtime", "0".to_owned()),
    ];
    let figure = |&(name, _, _): &(_, _, _)| Figure {
        name,
        what: format!("threaded: {name}, {THREADS} threads, beside fio"),
        unit: Unit::BytesPerSecond,
        wanted: Wanted::RatioWithin(0.1),
    };
    let theirs = || {
        let folder = tempfile::tempdir_in(bench.place.dir())?;
        let mut all = Figures::new();
        for (step, pattern, metric) in STEPS {
            // Told to, it would do so in the time that it measures; the suite does it before.
            forget(folder.path())?;
            let mut command = Command::new("fio");
            command.args(["--ioengine=psync", "--thread", "--group_reporting", "--invalidate=0"]);
            command.args(["--output-format=json", "--fallocate=none", "--end_fsync=1"]);
            command.args(["--norandommap=1", "--filename_format=$jobnum"]);
            // The suite neither advises the kernel of its reads nor changes what it writes.
            command.args(["--fadvise_hint=0", "--scramble_buffers=0"]);
            command.arg("--directory").arg(folder.path());
            command.arg(format!("--name={step}")).arg(format!("--rw={pattern}"));
            command.arg(format!("--numjobs={THREADS}")).arg(format!("--bs={BLOCK}"));
            command.arg(format!("--size={size}"));
            if pattern.starts_with("rand") {
                command.arg(format!("--number_ios={random}"));
            }
            let read = read_figures(&process::output(&mut command)?)?;
            all.extend(read.get(metric).map(|value| (step.to_owned(), *value)));
        }
        Ok(all)
    };
    let figures = STEPS.iter().map(figure).collect();
    bench.compare(page, figures, || bench.suite("threaded", bench.place.dir(), &set), theirs)
}

/// Drops what is cached of the files in a folder, which are on the disk.
fn forget(folder: &Path) -> Result<(), Failure> {
    for file in std::fs::read_dir(folder)? {
        fadvise(File::open(file?.path())?, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}
