//! Chores of the project: what is generated from the program, real kernels to try it on, and
//! measuring the program itself.

mod bench;
mod bench_engine;
mod bench_fit;
mod bench_fleet;
mod bench_inspect;
mod bench_limits;
mod bench_machine;
mod bench_nbd;
mod bench_safety;
mod bench_suites;
mod bench_trace;
mod busy;
mod devices;
mod dist;
mod held_out;
mod json_page;
mod lab;
mod process;
mod published;
mod report;
mod serve;
mod storagemark;
mod test;
mod trace_stats;

use clap::{Parser, Subcommand};
use std::path::Path;
use std::process::ExitCode;

/// Chores of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write man pages, and completions for bash, zsh and fish, to dist.
    Dist(dist::Args),
    /// Write docs/json.md from the schemas of the JSON documents in docs/schema.
    JsonPage,
    /// Measure the engine beside fio and write a dated table to docs/bench.
    BenchEngine(bench_engine::Args),
    /// Measure fitted machines beside their disks at jobs that they were not fitted to, and write a
    /// dated table to docs/bench.
    BenchFit(bench_fit::Args),
    /// Measure how fast many runs are sent to PostgreSQL and asked there, and write a dated table
    /// to docs/bench.
    BenchFleet(bench_fleet::Args),
    /// Measure inspection beside lsblk, smartctl and lshw and write a dated table to docs/bench.
    BenchInspect(bench_inspect::Args),
    /// Hold what checkups of modelled machines name as the limit against what making each station
    /// faster shows, and write a dated table to docs/bench.
    BenchLimits(bench_limits::Args),
    /// Measure how fast modelled machines run and write a dated table to docs/bench.
    BenchMachine(bench_machine::Args),
    /// Fit the drives of R5 to every second of their rates and print what they give at the others.
    HeldOut(held_out::Args),
    /// Measure modelled machines that are served over NBD beside the same machines in their own
    /// time, and write a dated table to docs/bench.
    BenchNbd(bench_nbd::Args),
    /// Measure import, storage, recording and replay of traces and write a dated table to
    /// docs/bench.
    BenchTrace(bench_trace::Args),
    /// Try to make the program lose data, leave something behind or die, and write a dated table to
    /// docs/bench.
    BenchSafety(bench_safety::Args),
    /// Measure the suites beside hdparm, bonnie++, fio, sqlite3 and ab and write a dated table to
    /// docs/bench.
    BenchSuites(bench_suites::Args),
    /// Record the four traces of StorageMark 2004 again, from real servers.
    Storagemark(storagemark::Args),
    /// Record the traces behind `seekwell reproduce` from the programs of the documents.
    RecordPublished(published::Args),
    /// Boot real kernels on emulated hardware and check what the program reports of them.
    Lab(lab::Args),
    /// Pass one connection of a guest on to a socket; QEMU runs this for the lab.
    #[command(hide = true)]
    LabRelay(lab::relay::Args),
    /// Run all tests, several programs at a time, and sum up the results; `make test` builds them.
    Test(test::Args),
}

#[expect(clippy::print_stderr, reason = "errors are for the terminal")]
fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Dist(args) => dist::run(&args),
        Task::JsonPage => json_page::run(),
        Task::BenchEngine(args) => bench_engine::run(&args),
        Task::BenchFit(args) => bench_fit::run(&args),
        Task::BenchFleet(args) => bench_fleet::run(&args),
        Task::BenchInspect(args) => bench_inspect::run(&args),
        Task::BenchLimits(args) => bench_limits::run(&args),
        Task::BenchMachine(args) => bench_machine::run(&args),
        Task::HeldOut(args) => held_out::run(&args),
        Task::BenchNbd(args) => bench_nbd::run(&args),
        Task::BenchTrace(args) => bench_trace::run(&args),
        Task::BenchSafety(args) => bench_safety::run(&args),
        Task::BenchSuites(args) => bench_suites::run(&args),
        Task::Storagemark(args) => storagemark::run(&args),
        Task::RecordPublished(args) => published::run(&args),
        Task::Lab(args) => lab::run(&args),
        Task::LabRelay(args) => lab::relay::run(&args),
        Task::Test(args) => test::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What stops a chore, as a sentence.
type Failure = Box<dyn std::error::Error>;

/// The top of the working tree.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}
