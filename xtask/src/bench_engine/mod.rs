//! `cargo xtask bench-engine`: what the engine costs and gives, beside fio, on this machine.
//!
//! Both tools run in turn, several times, and take turns at going first, so that drift of the
//! machine hits both. Ratios are formed within a round. Everything is written down: raw values,
//! the rows that are lost, and the rows that could not be measured and why.

pub mod devices;
mod measures;
pub mod report;
pub mod tools;

use crate::{Failure, root};
use report::Report;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Options of `bench-engine`.
#[derive(clap::Args)]
pub struct Args {
    /// File to write [default: docs/bench/DATE-engine.md].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How often each tool runs.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Seconds each run measures.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// Directory for the temporary files whose latency is measured.
    #[arg(long, default_value = ".", value_name = "DIR")]
    dir: PathBuf,
    /// The program to measure [default: built now, release profile].
    #[arg(long, value_name = "FILE")]
    seekwell: Option<PathBuf>,
    /// fio's t/io_uring, which no distribution packs: built from fio's sources.
    #[arg(long, value_name = "FILE")]
    t_io_uring: Option<PathBuf>,
}

/// Runs everything, prints the table and writes it.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let stop = stop_flag()?;
    let seekwell = program(args.seekwell.as_deref())?;
    let bench = Bench {
        tools: tools::Tools {
            seekwell,
            seconds: args.seconds,
            t_io_uring: args.t_io_uring.clone(),
        },
        rounds: args.rounds,
        dir: args.dir.canonicalize()?,
        stop,
    };
    let fio = report::first_line_of(Command::new("fio").arg("--version"));
    let mut report = Report::new(&bench.tools.seekwell, "fio", vec![fio])?;
    measures::all(&bench, &mut report)?;
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let out =
        args.out.clone().unwrap_or_else(|| root().join(format!("docs/bench/{today}-engine.md")));
    let title = format!("The engine beside fio, {today}");
    let text = report.markdown(&title, &how(args.rounds, args.seconds));
    out.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(&out, &text)?;
    println!("{}", report.table());
    println!("Written to {}.", out.display());
    Ok(ExitCode::SUCCESS)
}

fn how(rounds: u32, seconds: u32) -> String {
    format!(
        "Made by `cargo xtask bench-engine`. {rounds} rounds of {seconds} s for each tool, \
         interleaved, taking turns at going first; medians, in brackets the smallest and the \
         largest; ratios are seekwell over its rival within a round. Devices hold {} MiB of data \
         that does not compress. fio runs with its defaults, `--direct=1` on devices and files, \
         but in the row that says it is tuned: there it has registered files and buffers, batches \
         of 32 and no random map. t/io_uring runs with registered files and buffers and batches of \
         32, and keeps no latencies. fio's latency is `lat`, which like ours begins before the \
         submitting call; `clat` begins when that call has returned. CPU time is what each tool \
         says of itself while it measures; \"whole process\" is what the kernel charged, start-up \
         and kernel workers included.",
        devices::SIZE_BYTES >> 20
    )
}

/// A flag that the signals that end a program raise. Their default action would leave devices
/// behind; this way the guards run.
pub fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// An error once somebody asked to stop.
pub fn go_on(stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Ordering::Relaxed) { Err("interrupted".into()) } else { Ok(()) }
}

/// Measures with both tools in every round, taking turns at going first; results by tool.
pub fn in_turn<A, B>(
    rounds: u32,
    stop: &AtomicBool,
    mut ours: impl FnMut() -> Result<A, Failure>,
    mut theirs: impl FnMut() -> Result<B, Failure>,
) -> Result<(Vec<A>, Vec<B>), Failure> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            a.push(ours()?);
            go_on(stop)?;
            b.push(theirs()?);
        } else {
            b.push(theirs()?);
            go_on(stop)?;
            a.push(ours()?);
        }
        go_on(stop)?;
    }
    Ok((a, b))
}

/// What a measurement needs.
struct Bench {
    tools: tools::Tools,
    rounds: u32,
    dir: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Bench {
    fn go_on(&self) -> Result<(), Failure> {
        go_on(&self.stop)
    }

    fn rounds<A, B>(
        &self,
        ours: impl FnMut() -> Result<A, Failure>,
        theirs: impl FnMut() -> Result<B, Failure>,
    ) -> Result<(Vec<A>, Vec<B>), Failure> {
        in_turn(self.rounds, &self.stop, ours, theirs)
    }
}

/// The program that is measured or records: the one that was named, or it is built now, release
/// profile.
pub fn program(named: Option<&Path>) -> Result<PathBuf, Failure> {
    match named {
        Some(path) => Ok(path.canonicalize()?),
        None => build_release(&["--package", "seekwell"], "seekwell"),
    }
}

/// Builds with these words for cargo, release profile, and gives the path of the program that is
/// called so.
pub fn build_release(words: &[&str], name: &str) -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--message-format=json"])
        .args(words)
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the release build failed".into());
    }
    let lines = output.stdout.split(|b| *b == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(|p| Path::new(p).to_path_buf()))
        .ok_or_else(|| format!("cargo built no program named {name}").into())
}
