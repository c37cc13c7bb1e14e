//! `cargo xtask bench-engine`: what the engine costs and gives, beside fio, on this machine.
//!
//! Both tools run in turn, several times, and take turns at going first, so that drift of the
//! machine hits both. Ratios are formed within a round. Everything is written down: raw values,
//! the rows that are lost, and the rows that could not be measured and why.

mod measures;
pub mod tools;

use crate::report::Page;
use crate::{Failure, bench, devices, process};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: bench::Common,
    /// How often each tool runs.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Seconds each run measures.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// Directory for the temporary files whose latency is measured.
    #[arg(long, default_value = ".", value_name = "DIR")]
    dir: PathBuf,
    /// fio's t/io_uring, which no distribution packs: built from fio's sources.
    #[arg(long, value_name = "FILE")]
    t_io_uring: Option<PathBuf>,
}

/// Runs everything, prints the table and writes it.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let stop = bench::stop_flag()?;
    let seekwell = args.common.program()?;
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
    let mut page = Page::of(&bench.tools.seekwell, "fio")?;
    page.fact("fio", process::first_line(Command::new("fio").arg("--version")));
    measures::all(&bench, &mut page)?;
    let how = how(args.rounds, args.seconds);
    page.write(args.common.out.as_deref(), "engine", "The engine beside fio", &how)?;
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

struct Bench {
    tools: tools::Tools,
    rounds: u32,
    dir: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Bench {
    fn go_on(&self) -> Result<(), Failure> {
        bench::go_on(&self.stop)
    }

    fn rounds<A, B>(
        &self,
        ours: impl FnMut() -> Result<A, Failure>,
        theirs: impl FnMut() -> Result<B, Failure>,
    ) -> Result<(Vec<A>, Vec<B>), Failure> {
        bench::in_turn(self.rounds, &self.stop, ours, theirs)
    }
}
