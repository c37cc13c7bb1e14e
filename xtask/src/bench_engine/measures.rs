//! What is measured, and what is wanted of it.

use super::tools::Sample;
use super::{Bench, tools};
use crate::busy::Busy;
use crate::devices::{Loop, Zram};
use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, process};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

type Measure<'a> = &'a dyn Fn() -> Result<Vec<Row>, Failure>;

/// Measures everything. What cannot be measured becomes a row that says why; only being asked to
/// stop is an error.
pub fn all(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let parts: [(&str, Measure<'_>); 12] = [
        ("null target, depth 32", &|| null(bench)),
        ("memory over time", &|| memory(bench)),
        ("loop device over tmpfs", &|| {
            device(bench, "loop over tmpfs", &Loop::filled()?.node, Wanted::RatioAtLeast(1.0))
        }),
        ("zram", &|| device(bench, "zram", &Zram::new()?.path(), Wanted::RatioAtLeast(1.25))),
        ("zram, tuned, beside fio", &|| tuned(bench)),
        ("zram at three depths", &|| depths(bench, "zram", &Zram::new()?.path())),
        ("loop device at three depths", &|| {
            depths(bench, "loop over tmpfs", &Loop::filled()?.node)
        }),
        ("two threads on two devices", &|| two_devices(bench)),
        ("latency on a temporary file", &|| latency(bench)),
        ("seekwell inspect .", &|| inspect(bench)),
        ("release binary", &|| size(bench)),
        ("first progress line", &|| first_line(bench)),
    ];
    for (what, measure) in parts {
        progress(what);
        match measure() {
            Ok(rows) => page.rows.extend(rows),
            Err(why) => {
                bench.go_on()?;
                page.missing(what, why);
            }
        }
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a line of progress")]
fn progress(what: &str) {
    eprintln!("measuring: {what}");
}

/// One row from both tools' samples.
fn row(
    what: &str,
    unit: Unit,
    wanted: Wanted,
    (ours, theirs): &(Vec<Sample>, Vec<Sample>),
    value: fn(&Sample) -> f64,
) -> Row {
    let of = |samples: &[Sample]| samples.iter().map(value).collect();
    Row::beside(what, unit, (of(ours), of(theirs)), wanted)
}

fn null(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let size = ["--size=100g".to_owned()];
    let samples = bench.rounds(
        || bench.tools.seekwell(Path::new("null"), 32, &[]),
        || bench.tools.fio("null", 32, &size),
    )?;
    let own = "null target, depth 32: CPU per request";
    let whole = "null target, depth 32: CPU per request, whole process";
    Ok(vec![
        row(own, Unit::Ns, Wanted::AtMost(100.0), &samples, |s| s.own_cpu_ns),
        row(whole, Unit::Ns, Wanted::RatioAtMost(0.4), &samples, |s| s.process_cpu_ns),
        row("null target, depth 32: rate", Unit::PerSecond, Wanted::Nothing, &samples, |s| s.iops),
    ])
}

/// How many times as long the longer of two runs is, whose memory is compared.
const LONGER: u32 = 10;

/// A run must not need memory for each request: the peak of one with ten times as many.
fn memory(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let null = Path::new("null");
    let samples = bench.rounds(
        || bench.tools.seekwell_for(bench.tools.seconds * LONGER, null, 32, &[]),
        || bench.tools.seekwell(null, 32, &[]),
    )?;
    let what = format!("null target: most memory of a run {LONGER} times as long, beside one");
    let wanted = Wanted::RatioAtMost(1.05);
    Ok(vec![row(&what, Unit::Bytes, wanted, &samples, |s| s.peak_bytes)])
}

/// Depth at which each tool has what it can use.
const DEEP: u32 = 128;

/// Both as fast as they go, with all their figures.
fn tuned(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let zram = Zram::new()?;
    let mut options = vec![format!("--filename={}", zram.path().display())];
    options.extend(
        ["--direct=1", "--fixedbufs", "--registerfiles", "--norandommap", "--clocksource=cpu"]
            .map(str::to_owned),
    );
    options.extend(
        ["--iodepth_batch_submit=32", "--iodepth_batch_complete_min=32"].map(str::to_owned),
    );
    let samples = bench.rounds(
        || bench.tools.seekwell(&zram.path(), DEEP, &[]),
        || bench.tools.fio("io_uring", DEEP, &options),
    )?;
    let what = format!("zram, 4 KiB random read, depth {DEEP}, beside fio tuned: rate");
    Ok(vec![row(&what, Unit::PerSecond, Wanted::RatioAtLeast(1.1), &samples, |s| s.iops)])
}

/// Rate and CPU a request beside both rivals, at three depths, with another processor free and with
/// all but one busy.
fn depths(bench: &Bench, name: &str, path: &Path) -> Result<Vec<Row>, Failure> {
    let options = [format!("--filename={}", path.display()), "--direct=1".to_owned()];
    let processors = std::thread::available_parallelism()?.get();
    let mut rows = Vec::new();
    for (busy, around) in [(false, "other processors free"), (true, "other processors busy")] {
        let _busy = busy.then(|| Busy::on(1..processors));
        for depth in [1, 32, DEEP] {
            let what = |part: &str| format!("{name}, depth {depth}, {around}: {part}");
            let samples = bench.rounds(
                || bench.tools.seekwell(path, depth, &[]),
                || bench.tools.fio("io_uring", depth, &options),
            )?;
            let no_more = Wanted::RatioAtMost(1.0);
            let cpu = what("all CPU per request, whole process, beside fio");
            rows.push(row(&cpu, Unit::Ns, no_more, &samples, |s| s.process_cpu_ns));
            let beside = what("rate, beside fio");
            rows.push(row(&beside, Unit::PerSecond, Wanted::Nothing, &samples, |s| s.iops));
            let Some(program) = &bench.tools.t_io_uring else { continue };
            let (ours, theirs) = bench.rounds(
                || bench.tools.seekwell(path, depth, &[]),
                || bench.tools.t_io_uring(program, path, depth),
            )?;
            let rates = (ours.iter().map(|s| s.iops).collect(), theirs);
            let (what, wanted) = (what("rate, beside t/io_uring"), Wanted::RatioAtLeast(1.1));
            rows.push(Row::beside(what, Unit::PerSecond, rates, wanted));
        }
    }
    Ok(rows)
}

/// Jobs on two devices at once, beside a job on one.
fn two_devices(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let devices = [Zram::new()?, Zram::new()?];
    let paths = [devices[0].path(), devices[1].path()];
    // By plain system calls a device of this kind is served by the thread that asks, and by no
    // other: a ring would wake a thread of the kernel for each request.
    let rates = bench.rounds(
        || bench.tools.seekwell_together(&paths),
        || bench.tools.seekwell_together(&paths[..1]),
    )?;
    let what = "zram, 4 KiB random read, depth 1: two threads on two devices, beside one";
    Ok(vec![Row::beside(what, Unit::PerSecond, rates, Wanted::RatioAtLeast(1.9))])
}

fn device(bench: &Bench, name: &str, path: &Path, rate: Wanted) -> Result<Vec<Row>, Failure> {
    let options = [format!("--filename={}", path.display()), "--direct=1".to_owned()];
    let samples = bench.rounds(
        || bench.tools.seekwell(path, 32, &[]),
        || bench.tools.fio("io_uring", 32, &options),
    )?;
    let what = |part: &str| format!("{name}, 4 KiB random read, depth 32: {part}");
    let half = Wanted::RatioAtMost(0.5);
    Ok(vec![
        row(&what("rate"), Unit::PerSecond, rate, &samples, |s| s.iops),
        row(&what("user CPU per request"), Unit::Ns, half, &samples, |s| s.own_user_ns),
        row(&what("user CPU per request, whole process"), Unit::Ns, half, &samples, |s| {
            s.process_user_ns
        }),
        row(&what("all CPU per request"), Unit::Ns, Wanted::Nothing, &samples, |s| s.own_cpu_ns),
        row(
            &what("all CPU per request, whole process"),
            Unit::Ns,
            Wanted::Nothing,
            &samples,
            |s| s.process_cpu_ns,
        ),
    ])
}

/// Size of the files whose latency is measured.
const FILE: &str = "256m";

fn latency(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let folder = tempfile::tempdir_in(&bench.dir)?;
    let file = folder.path().join("fio");
    process::output(
        Command::new("fio")
            .args(["--name=lay-out", "--rw=write", "--bs=1m", "--end_fsync=1"])
            .args([format!("--size={FILE}"), format!("--filename={}", file.display())]),
    )?;
    let options = [format!("--filename={}", file.display()), "--direct=1".to_owned()];
    let size = format!("--size={FILE}");
    let samples = bench.rounds(
        || bench.tools.seekwell(folder.path(), 1, &[&size]),
        || bench.tools.fio("io_uring", 1, &options),
    )?;
    let what = |part: &str| format!("temporary file, 4 KiB random read, depth 1: {part}");
    let near = Wanted::RatioWithin(0.1);
    let after_submit = Row {
        what: what("latency p50, against fio's clat"),
        unit: Unit::Ns,
        ours: samples.0.iter().map(|s| s.latency_ns_p50).collect(),
        theirs: samples.1.iter().map(|s| s.after_submit_ns_p50).collect(),
        wanted: Wanted::Nothing,
    };
    Ok(vec![
        row(&what("latency p50"), Unit::Ns, near, &samples, |s| s.latency_ns_p50),
        after_submit,
        row(&what("latency p99"), Unit::Ns, near, &samples, |s| s.latency_ns_p99),
        row(&what("rate"), Unit::PerSecond, Wanted::Nothing, &samples, |s| s.iops),
    ])
}

fn alone(what: &str, unit: Unit, most: f64, ours: Vec<f64>) -> Vec<Row> {
    vec![Row::new(what, unit, ours, Wanted::AtMost(most))]
}

fn inspect(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let mut times = Vec::new();
    for _ in 0..20 {
        let begin = Instant::now();
        let mut command = Command::new(&bench.tools.seekwell);
        process::output(command.args(["inspect", "."]).current_dir(&bench.dir))?;
        times.push(begin.elapsed().as_nanos() as f64);
        bench.go_on()?;
    }
    Ok(alone("seekwell inspect .: wall time", Unit::Ns, 50e6, times))
}

fn size(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let bytes = std::fs::metadata(&bench.tools.seekwell)?.len() as f64;
    Ok(alone("release binary: size", Unit::Bytes, 15e6, vec![bytes]))
}

/// Progress is only for a terminal, so script(1) lends one. Its own start is counted in.
fn first_line(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let mut times = Vec::new();
    let kept = tempfile::tempdir()?;
    for _ in 0..bench.rounds.max(3) {
        let begin = Instant::now();
        let mut child = Command::new("script")
            .args(["--quiet", "--flush", "--return", "--command"])
            .arg(format!("{} checkup --quick .", tools::quoted(&bench.tools.seekwell)))
            .arg("/dev/null")
            .env("XDG_DATA_HOME", kept.path())
            .current_dir(&bench.dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("script could not be started: {e}"))?;
        let mut first = [0; 1];
        let read = child.stdout.as_mut().ok_or("no stdout")?.read(&mut first);
        let elapsed = begin.elapsed();
        // SIGTERM, so that script passes it on and the program removes its file.
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        child.wait()?;
        match read {
            Ok(1) => times.push(elapsed.as_nanos() as f64),
            _ => return Err("seekwell checkup printed nothing to its terminal".into()),
        }
        bench.go_on()?;
    }
    Ok(alone("seekwell checkup: start to first progress", Unit::Ns, 100e6, times))
}
