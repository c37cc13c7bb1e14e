//! How fast other tools' traces are read, and the store written and read. The traces are made here:
//! 5 M lines of MSR CSV, and 1 M requests as blktrace events that blkparse itself turns into text.

use super::Bench;
use crate::Failure;
use crate::bench::Dice;
use crate::report::{Page, Row, Unit, Wanted};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const MSR_LINES: u64 = 5_000_000;
const BLKTRACE_REQUESTS: u64 = 1_000_000;
/// What is promised, in requests per second of one core.
const MSR_AT_LEAST: f64 = 8e6;
const BLKPARSE_AT_LEAST: f64 = 5e6;

/// blktrace's events, as in the kernel's blktrace_api.h: magic and version, actions, categories.
const MAGIC_V7: u32 = 0x6561_7407;
const EVENTS: [(u32, u32, u64); 3] = [(1, 0x10, 0), (7, 0x40, 4_000), (8, 0x80, 90_000)];
const CATEGORY_READ: u32 = 1;

/// MSR CSV and blkparse's text, with blkparse's own speed beside it.
pub fn import(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let msr = folder.path().join("msr.csv");
    make_msr(&msr)?;
    let info = |file: &Path| vec!["trace".into(), "info".into(), "--json".into(), file.into()];
    let row = measure(bench, "import MSR CSV, 5 M lines", &bench.seekwell, &info(&msr), MSR_LINES)?;
    page.rows.push(Row { wanted: Wanted::AtLeast(MSR_AT_LEAST), ..row });
    std::fs::remove_file(&msr)?;

    let binary = folder.path().join("made.blktrace.0");
    make_blktrace(&binary)?;
    let text = folder.path().join("made.txt");
    let parse: Vec<_> = ["-q", "-i"].map(Into::into).into_iter().chain([binary.into()]).collect();
    let parsed = Command::new("blkparse").args(&parse).stdout(File::create(&text)?).status();
    if !parsed.is_ok_and(|status| status.success()) {
        page.missing("import blkparse text", "blkparse (package blktrace) is not installed");
        return Ok(());
    }
    let what = "import blkparse text, 1 M requests of 3 lines";
    let row = measure(bench, what, &bench.seekwell, &info(&text), BLKTRACE_REQUESTS)?;
    page.rows.push(Row { wanted: Wanted::AtLeast(BLKPARSE_AT_LEAST), ..row });
    let what = "blkparse itself, binary to text, the same";
    page.rows.push(measure(bench, what, Path::new("blkparse"), &parse, BLKTRACE_REQUESTS)?);
    Ok(())
}

/// The same MSR trace into the store and back out of it.
pub fn store(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let (msr, parquet) = (folder.path().join("msr.csv"), folder.path().join("a.parquet"));
    make_msr(&msr)?;
    let cut = folder.path().join("none.csv");
    let to_store: Vec<_> =
        ["trace", "convert", "--force"].map(Into::into).into_iter().collect::<Vec<_>>();
    let to_store = [to_store, vec![msr.into(), parquet.clone().into()]].concat();
    let what = "MSR CSV into the store";
    page.rows.push(measure(bench, what, &bench.seekwell, &to_store, MSR_LINES)?);
    // Reading alone: everything is read, nothing is kept.
    let args = ["trace", "cut", "--force", "--device", "none"].map(Into::into);
    let args = [args.to_vec(), vec![parquet.clone().into(), cut.into()]].concat();
    page.rows.push(measure(bench, "read the store", &bench.seekwell, &args, MSR_LINES)?);
    let each = std::fs::metadata(&parquet)?.len() as f64 / MSR_LINES as f64;
    let what = "the store, for each request";
    page.rows.push(Row::new(what, Unit::Named("bytes"), vec![each], Wanted::Nothing));
    Ok(())
}

/// Requests per second of CPU time that a program uses.
fn measure(
    bench: &Bench,
    what: &str,
    program: &Path,
    args: &[std::ffi::OsString],
    requests: u64,
) -> Result<Row, Failure> {
    let mut values = Vec::new();
    for round in 0..=bench.rounds {
        let before = children_cpu_s();
        let mut command = Command::new(program);
        command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status()?;
        if !status.success() {
            return Err(format!("{what}: {} ended with {status}", program.display()).into());
        }
        // The first round fills the page cache.
        if round > 0 {
            values.push(requests as f64 / (children_cpu_s() - before));
        }
    }
    Ok(Row::new(what, Unit::Named("requests/s of CPU"), values, Wanted::Nothing))
}

/// CPU time of all processes that were waited for, in seconds.
pub fn children_cpu_s() -> f64 {
    // SAFETY: all of rusage is numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: it writes one rusage into ours.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn make_msr(path: &Path) -> Result<(), Failure> {
    write_msr(File::create(path)?, MSR_LINES, 2)
}

/// MSR CSV of this many requests: arrivals 100 µs apart on average, two thirds reads, a tenth of it
/// sequential; 64 GiB of each disk, or all of 1 TiB.
pub fn write_msr(file: File, lines: u64, disks: u64) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let (mut numbers, mut ticks) = (Dice(1), 128_166_372_003_061_629_u64);
    let (mut offset, span) = (0, (1 << 40) / disks.max(16));
    for _ in 0..lines {
        let dice = numbers.next();
        ticks += dice % 2000;
        let size = 4096 << ((dice >> 20) % 5);
        offset =
            if (dice >> 24) % 10 == 0 { offset + size } else { (dice >> 28) % span / 512 * 512 };
        let kind = if (dice >> 16) % 3 == 0 { "Write" } else { "Read" };
        let (disk, response) = ((dice >> 11) % disks, 300 + (dice >> 40) % 90_000);
        writeln!(out, "{ticks},web,{disk},{kind},{offset},{size},{response}")?;
    }
    Ok(out.flush()?)
}

/// Queue, issue and completion of reads, 100 µs apart, so that none overlap.
fn make_blktrace(path: &Path) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut numbers = Dice(2);
    for i in 0..BLKTRACE_REQUESTS {
        let sector = numbers.next() % (1 << 31) / 8 * 8;
        for (sequence, (action, category, after_ns)) in EVENTS.into_iter().enumerate() {
            let action = action | ((category | CATEGORY_READ) << 16);
            out.write_all(&MAGIC_V7.to_ne_bytes())?;
            out.write_all(&((i * 3 + sequence as u64 + 1) as u32).to_ne_bytes())?;
            out.write_all(&(i * 100_000 + after_ns).to_ne_bytes())?;
            out.write_all(&sector.to_ne_bytes())?;
            for word in [4096, action, 1234, 8 << 20, 0, 0] {
                out.write_all(&word.to_ne_bytes())?;
            }
        }
    }
    Ok(out.flush()?)
}
