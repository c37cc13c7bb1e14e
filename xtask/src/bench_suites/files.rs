//! The suite `fsmark` beside a straight loop: make a file, write it, sync it, close it.

use super::{Bench, Figure, Figures};
use crate::Failure;
use crate::report::{Page, Unit, Wanted};
use std::fs::File;
use std::io::Write;
use std::time::Instant;

/// Files a second, of two sizes.
pub fn measure(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    // Enough for half a second and more of either.
    for (size, count) in [(4 << 10, bench.choose(3000, 12_000)), (1 << 20, bench.choose(400, 1000))]
    {
        let set = [
            ("files", count.to_string()),
            ("size", size.to_string()),
            ("sync", "1".to_owned()),
            ("runtime", "600".to_owned()),
        ];
        let figure = Figure {
            name: "create",
            what: format!("fsmark: files of {} KiB, beside a plain loop", size >> 10),
            unit: Unit::PerSecond,
            // The same order.
            wanted: Wanted::RatioWithin(0.5),
        };
        let ours = || bench.suite("fsmark", bench.place.dir(), &set);
        bench.compare(page, vec![figure], ours, || plain(bench, size, count))?;
    }
    Ok(())
}

fn plain(bench: &Bench, size: usize, count: u32) -> Result<Figures, Failure> {
    let folder = tempfile::tempdir_in(bench.place.dir())?;
    let data = vec![0x5a; 16 << 10];
    let began = Instant::now();
    for number in 0..count {
        let mut file = File::create_new(folder.path().join(number.to_string()))?;
        for _ in 0..size / data.len() {
            file.write_all(&data)?;
        }
        file.write_all(&data[..size % data.len()])?;
        file.sync_all()?;
    }
    let rate = f64::from(count) / began.elapsed().as_secs_f64();
    Ok(Figures::from([("create".to_owned(), rate)]))
}
