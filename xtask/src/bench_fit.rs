//! `cargo xtask bench-fit`: machines fitted to disks of our own, beside these disks, at jobs that
//! they were not fitted to.

use crate::devices::{Loop, SIZE_BYTES, Throttle, Zram};
use crate::report::{Page, Row, Unit, Wanted, table};
use crate::{Failure, bench, process};
use seekwell_runs::{Phase, Spread, read};
use std::any::Any;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: bench::Common,
    /// Only cases whose names begin with this. May be given several times.
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,
    /// How often each job is measured; the median counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Measurements, at most, of what the fit knows least about, added before fitting.
    #[arg(long, default_value_t = 0, value_name = "N")]
    measure: u32,
    /// Directory on the disk that is measured through a file.
    #[arg(long, default_value = ".", value_name = "DIR")]
    dir: PathBuf,
}

/// How far a rate may be off.
const MARGIN: f64 = 0.15;
/// Cases of which the mean error has to keep the margin, as a share.
const WANTED: f64 = 5.0 / 6.0;
/// Requests a second of the throttled device: reads, writes.
const THROTTLE: (u32, u32) = (12_000, 8_000);

/// A disk that was made to be measured, gone when it is dropped.
struct Disk {
    path: PathBuf,
    /// What `--destroy` takes; a directory needs none.
    serial: Option<String>,
    below: Box<dyn Any>,
}

impl Disk {
    fn on_loop(disk: Loop) -> Self {
        let serial = Some(disk.backing.display().to_string());
        Self { path: disk.node.clone(), serial, below: Box::new(disk) }
    }
}

type Make = fn(&Path) -> Result<Disk, Failure>;

const CASES: [(&str, Make); 6] = [
    ("zram", |_| {
        let zram = Zram::new()?;
        let path = zram.path();
        let serial = path.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Disk { path, serial, below: Box::new(zram) })
    }),
    ("loop over a file in memory", |_| Ok(Disk::on_loop(Loop::filled()?))),
    ("loop over zram", |_| {
        let zram = Zram::new()?;
        let mut disk = Disk::on_loop(Loop::over(&zram.path(), &["--direct-io=on"])?);
        // Fields are dropped in order: the loop device before what it lies on.
        disk.below = Box::new((disk.below, zram));
        Ok(disk)
    }),
    ("throttled loop", |_| {
        let throttled = Loop::filled()?;
        let mut disk = Disk::on_loop(throttled);
        let throttle = Throttle::on(&disk.path, THROTTLE)?;
        disk.below = Box::new((throttle, disk.below));
        Ok(disk)
    }),
    ("loop over a file on the disk", |dir| Ok(Disk::on_loop(Loop::on_disk(dir, SIZE_BYTES)?))),
    ("file on the disk", |dir| {
        let dir = TempDir::new_in(dir)?;
        Ok(Disk { path: dir.path().to_path_buf(), serial: None, below: Box::new(dir) })
    }),
];

/// Whether a job asks for a depth or a mix of 4 KiB, or for larger requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Small,
    Large,
}

/// A job that no checkup has: `rw`, percent of reads, bytes, depth.
struct Job(&'static str, u32, &'static str, u32);

const JOBS: [Job; 17] = [
    Job("randread", 100, "4k", 3),
    Job("randread", 100, "4k", 12),
    Job("randread", 100, "4k", 24),
    Job("randread", 100, "4k", 48),
    Job("randrw", 30, "4k", 16),
    Job("randrw", 50, "4k", 12),
    Job("randrw", 90, "4k", 24),
    Job("randwrite", 0, "4k", 4),
    Job("randwrite", 0, "4k", 12),
    Job("randread", 100, "16k", 8),
    Job("randread", 100, "128k", 4),
    Job("randread", 100, "128k", 16),
    Job("randwrite", 0, "16k", 8),
    Job("read", 100, "16k", 4),
    Job("read", 100, "128k", 2),
    Job("read", 100, "128k", 8),
    Job("write", 0, "128k", 4),
];

impl Job {
    fn kind(&self) -> Kind {
        if self.2 == "4k" { Kind::Small } else { Kind::Large }
    }

    fn name(&self) -> String {
        let Self(rw, reads, size, depth) = self;
        let mix = if *rw == "randrw" { format!(" {reads} % reads") } else { String::new() };
        format!("{rw}{mix} {size}, depth {depth}")
    }

    fn options(&self) -> Vec<String> {
        let Self(rw, reads, size, depth) = self;
        let mix = (*rw == "randrw").then(|| format!("--rwmixread={reads}"));
        let job = [format!("--rw={rw}"), format!("--bs={size}"), format!("--iodepth={depth}")];
        job.into_iter().chain(mix).collect()
    }
}

/// What a job gave.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Reads and writes a second, with the range of a model.
    per_s: f64,
    low: f64,
    high: f64,
    /// Of reads, or of writes if there are none.
    p99_ns: Option<f64>,
}

impl Sample {
    fn of(phase: &Phase) -> Self {
        let rates = ["read.requests_per_s", "write.requests_per_s"];
        let rates: Vec<&Spread> = rates.iter().filter_map(|m| phase.metrics.get(*m)).collect();
        let sum = |of: fn(&Spread) -> f64| rates.iter().map(|spread| of(spread)).sum();
        let p99 = |op: &str| phase.median(&format!("{op}.latency_ns_p99"));
        Self {
            per_s: sum(|s| s.median),
            low: sum(|s| s.low),
            high: sum(|s| s.high),
            p99_ns: p99("read").or_else(|| p99("write")),
        }
    }
}

/// A job on the disk, in every round, and on the machine.
struct Held {
    kind: Kind,
    name: String,
    measured: Vec<Sample>,
    modelled: Sample,
}

impl Held {
    fn median(&self, of: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.measured.iter().filter_map(of).collect();
        Spread::of(&values).map(|spread| spread.median)
    }

    fn measured_per_s(&self) -> f64 {
        self.median(|sample| Some(sample.per_s)).unwrap_or(f64::NAN)
    }

    /// Modelled over measured, less one.
    fn error(&self) -> f64 {
        self.modelled.per_s / self.measured_per_s() - 1.0
    }

    fn in_range(&self) -> bool {
        (self.modelled.low..=self.modelled.high).contains(&self.measured_per_s())
    }

    /// Modelled over measured.
    fn p99_ratio(&self) -> Option<f64> {
        Some(self.modelled.p99_ns? / self.median(|sample| sample.p99_ns)?)
    }
}

/// A case with all its jobs, and what its machine says that it may be wrong by, in percent.
struct Done {
    case: &'static str,
    range_percent: f64,
    jobs: Vec<Held>,
}

impl Done {
    fn errors(&self, kind: Kind) -> Vec<f64> {
        self.jobs.iter().filter(|job| job.kind == kind).map(Held::error).collect()
    }

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.case.to_owned(), format!("± {:.0} %", self.range_percent)];
        for kind in [Kind::Small, Kind::Large] {
            let errors = self.errors(kind);
            let within = errors.iter().filter(|error| error.abs() <= MARGIN).count();
            cells.push(format!("{:.1} %", 100.0 * mean_size(&errors)));
            cells.push(format!("{:+.1} %", 100.0 * worst(&errors)));
            cells.push(format!("{within} of {}", errors.len()));
        }
        let covered = self.jobs.iter().filter(|job| job.in_range()).count();
        cells.push(format!("{covered} of {}", self.jobs.len()));
        let ratios: Vec<f64> = self.jobs.iter().filter_map(Held::p99_ratio).collect();
        let spread = Spread::of(&ratios);
        cells.push(spread.map_or_else(
            || "–".to_owned(),
            |s| format!("{:.2} ({:.2} … {:.2})", s.median, s.low, s.high),
        ));
        cells
    }
}

fn mean_size(errors: &[f64]) -> f64 {
    errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64
}

fn worst(errors: &[f64]) -> f64 {
    errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(f64::NAN)
}

/// Makes each disk, fits a machine to its checkup, measures both and writes the page. Fails where
/// too few cases keep the margin.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let stop = bench::stop_flag()?;
    let seekwell = args.common.program()?;
    let mut page = Page::of(&seekwell, "the disk")?;
    let chosen = |name: &str| args.case.is_empty() || args.case.iter().any(|c| name.starts_with(c));
    let mut all = Vec::new();
    let mut tried = 0;
    for (case, make) in CASES.into_iter().filter(|(name, _)| chosen(name)) {
        bench::go_on(&stop)?;
        tried += 1;
        let disk = match make(&args.dir) {
            Ok(disk) => disk,
            Err(error) => {
                page.missing(case, error);
                continue;
            }
        };
        let bench = Bench { args, seekwell: &seekwell, disk: &disk, stop: &stop };
        match bench.case(case) {
            Ok(done) => all.push(done),
            Err(error) => page.missing(case, error),
        }
    }
    for done in &all {
        for job in &done.jobs {
            let measured: Vec<f64> = job.measured.iter().map(|sample| sample.per_s).collect();
            let values = (vec![job.modelled.per_s; measured.len()], measured);
            let (what, wanted) =
                (format!("{}: {}", done.case, job.name), Wanted::RatioWithin(MARGIN));
            page.rows.push(Row::beside(what, Unit::PerSecond, values, wanted));
        }
    }
    let kept = |kind| all.iter().filter(|done| mean_size(&done.errors(kind)) <= MARGIN).count();
    let (small, large) = (kept(Kind::Small), kept(Kind::Large));
    let how = format!(
        "{}\n\n{}\nMean error within 15 %: {small} of {tried} cases at depths and mixes of 4 KiB, \
         {large} of {tried} at larger sizes.",
        how(args),
        summary(&all)
    );
    page.write(args.common.out.as_deref(), "fit", "Fitted machines beside their disks", &how)?;
    let enough = small as f64 >= WANTED * f64::from(tried);
    Ok(if enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn summary(all: &[Done]) -> String {
    let heads = [
        "case",
        "its range",
        "4 KiB: mean error",
        "worst",
        "within 15 %",
        "larger: mean error",
        "worst",
        "within 15 %",
        "rates in range",
        "p99 ratio",
    ];
    table(&heads, all.iter().map(Done::cells))
}

fn how(args: &Args) -> String {
    let measured = match args.measure {
        0 => String::new(),
        n => format!(", then `--measure` (at most {n} jobs)"),
    };
    format!(
        "Made by `cargo xtask bench-fit`. A checkup of each disk (default level, 1 GiB), `seekwell \
         machine fit last`{measured}, and then {} jobs that it was not fitted to, measured in {} \
         rounds of all jobs for 0.8 s each; the median counts. Left, `seekwell bench --on FITTED` \
         with the same options. Error is modelled over measured, less one; the p99 ratio modelled \
         over measured, of reads or of writes alone, as median, lowest and highest of the jobs. \
         Devices hold data that do not compress. The throttled loop is one over a file in memory, \
         held to {} reads and {} writes a second by a cgroup.",
        JOBS.len(),
        args.rounds,
        THROTTLE.0,
        THROTTLE.1,
    )
}

struct Bench<'a> {
    args: &'a Args,
    seekwell: &'a Path,
    disk: &'a Disk,
    stop: &'a Arc<AtomicBool>,
}

impl Bench<'_> {
    fn case(&self, case: &'static str) -> Result<Done, Failure> {
        let kept = tempfile::tempdir()?;
        let file = kept.path().join("fitted.toml");
        let command = |words: &[&str]| {
            let mut command = Command::new(self.seekwell);
            command.args(words).arg("--json").arg("--runs-dir").arg(kept.path());
            command
        };
        // A finding or a bad repeat is no reason to stop.
        process::output_of(self.on_disk(&mut command(&["checkup"]), &[]), &[0, 1, 4])?;
        let mut fit = command(&["machine", "fit", "last"]);
        fit.arg("-o").arg(&file);
        if self.args.measure > 0 {
            fit.arg(format!("--at-most={}", self.args.measure)).arg("--measure");
            self.on_disk(&mut fit, &[]);
        }
        let told: serde_json::Value = serde_json::from_slice(&process::output(&mut fit)?)?;
        let range_percent = told["model_error_percent"].as_f64().ok_or("the fit told no range")?;
        let mut jobs = Vec::new();
        for job in &JOBS {
            let modelled = sample(command(&["bench", "--no-keep"]).arg("--on").arg(&file), job)?;
            let measured = Vec::new();
            jobs.push(Held { kind: job.kind(), name: job.name(), measured, modelled });
        }
        for _ in 0..self.args.rounds {
            for (job, held) in JOBS.iter().zip(&mut jobs) {
                bench::go_on(self.stop)?;
                let mut bench = command(&["bench", "--no-keep"]);
                held.measured.push(sample(self.on_disk(&mut bench, &["--on"]), job)?);
            }
        }
        Ok(Done { case, range_percent, jobs })
    }

    /// Names the disk, as the value of an option or by itself, and what it may be destroyed by.
    fn on_disk<'c>(&self, command: &'c mut Command, option: &[&str]) -> &'c mut Command {
        command.args(option).arg(&self.disk.path);
        if let Some(serial) = &self.disk.serial {
            command.arg("--destroy").arg(serial);
        }
        command
    }
}

fn sample(command: &mut Command, job: &Job) -> Result<Sample, Failure> {
    command.args(["--size=1g", "--runtime=800ms", "--ramp_time=100ms"]).args(job.options());
    let printed = process::output(command)?;
    let run = read::run(&printed, Path::new("seekwell bench --json"))?;
    let phase = run.phases.first().ok_or("seekwell measured no phase")?;
    Ok(Sample::of(phase))
}
