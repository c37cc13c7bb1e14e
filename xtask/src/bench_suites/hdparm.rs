//! The suite `hdparm` beside hdparm itself, on a loop device.

use super::{Bench, Figure, Figures, read_figures};
use crate::devices::Loop;
use crate::report::{Page, Unit, Wanted};
use crate::{Failure, process};
use std::process::Command;

/// More than a disk of today gives in the three seconds of `-t`.
const LASTS_BYTES: u64 = 8 << 30;

/// Both timings. Neither program finds what it reads warmer than the other did: the device lies in
/// memory, or its requests pass by the cache of the file that it is.
pub fn measure(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let disk = match bench.place.on_disk() {
        Some(dir) => Loop::on_disk(dir, bench.choose(LASTS_BYTES / 4, LASTS_BYTES))?,
        None => Loop::filled()?,
    };
    let set = [
        ("cached", bench.choose("700", "2000").to_owned()),
        ("device", bench.choose("1000", "3000").to_owned()),
        // hdparm waits as long. Memory that lies unused for seconds goes back to the host of a
        // virtual machine, and getting it again takes as long as reading a disk.
        ("settle", "3000".to_owned()),
    ];
    let figure = |name, what: &str| Figure {
        name,
        what: format!("hdparm: {what}"),
        unit: Unit::BytesPerSecond,
        wanted: Wanted::RatioWithin(0.1),
    };
    let figures = vec![
        figure("cached", "cached reads, beside hdparm -T"),
        figure("device", "device reads, beside hdparm -t"),
    ];
    let theirs = || {
        let mut all = Figures::new();
        for flag in ["-T", "-t"] {
            all.extend(read_figures(&process::output(
                Command::new("hdparm").arg(flag).arg(&disk.node),
            )?)?);
        }
        let of = |metric: &str| all.get(metric).copied();
        let named =
            [("cached", of("cached.read_bytes_per_s")), ("device", of("device.read_bytes_per_s"))];
        Ok(named.into_iter().filter_map(|(name, v)| Some((name.to_owned(), v?))).collect())
    };
    bench.compare(page, figures, || bench.suite("hdparm", &disk.node, &set), theirs)
}
