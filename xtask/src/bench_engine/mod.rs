//! `cargo xtask bench-engine`: what the engine costs and gives, beside fio, on this machine.
//!
//! Both tools run in turn, several times, and take turns at going first, so that drift of the
//! machine hits both. Ratios are formed within a round. Everything is written down: raw values,
//! the rows that are lost, and the rows that could not be measured and why.

pub mod devices;
mod measures;
mod report;
mod tools;

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
}

/// Runs everything, prints the table and writes it.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    // The default action would leave devices behind; this way the guards run.
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let seekwell = match &args.seekwell {
        Some(path) => path.canonicalize()?,
        None => build()?,
    };
    let bench = Bench {
        tools: tools::Tools { seekwell, seconds: args.seconds },
        rounds: args.rounds,
        dir: args.dir.canonicalize()?,
        stop,
    };
    let mut report = Report::new(&bench.tools)?;
    measures::all(&bench, &mut report)?;
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let out =
        args.out.clone().unwrap_or_else(|| root().join(format!("docs/bench/{today}-engine.md")));
    let text = report.markdown(&today, args.rounds, args.seconds);
    out.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(&out, &text)?;
    println!("{}", report.table());
    println!("Written to {}.", out.display());
    Ok(ExitCode::SUCCESS)
}

/// What a measurement needs.
struct Bench {
    tools: tools::Tools,
    rounds: u32,
    dir: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Bench {
    /// An error once somebody asked to stop.
    fn go_on(&self) -> Result<(), Failure> {
        if self.stop.load(Ordering::Relaxed) { Err("interrupted".into()) } else { Ok(()) }
    }

    /// Runs both tools in every round, taking turns at going first; results by tool.
    fn rounds<A, B>(
        &self,
        mut ours: impl FnMut() -> Result<A, Failure>,
        mut theirs: impl FnMut() -> Result<B, Failure>,
    ) -> Result<(Vec<A>, Vec<B>), Failure> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for round in 0..self.rounds {
            if round % 2 == 0 {
                a.push(ours()?);
                self.go_on()?;
                b.push(theirs()?);
            } else {
                b.push(theirs()?);
                self.go_on()?;
                a.push(ours()?);
            }
            self.go_on()?;
        }
        Ok((a, b))
    }
}

/// Builds the program, release profile, and gives its path.
pub fn build() -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--package", "seekwell", "--message-format=json"])
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the release build failed".into());
    }
    let lines = output.stdout.split(|b| *b == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "seekwell")
        .find_map(|message| message["executable"].as_str().map(|p| Path::new(p).to_path_buf()))
        .ok_or_else(|| "cargo built no program named seekwell".into())
}
