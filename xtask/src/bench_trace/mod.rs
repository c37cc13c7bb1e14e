//! `cargo xtask bench-trace`: what reading, recording and replaying traces cost, beside the tools
//! people use for it. One file per section; each makes its own data and removes it.

mod import;
mod live;
mod memory;
mod peers;
mod record;
mod replay;
mod stats;

use crate::report::Page;
use crate::{Failure, bench};
use clap::ValueEnum;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: bench::Common,
    /// Sections to measure [default: all].
    #[arg(long, value_name = "SECTION,…", value_delimiter = ',')]
    only: Vec<Section>,
    /// How often each thing is measured; the median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// A Python that has duckdb, polars and libcachesim, or some of them.
    #[arg(long, value_name = "FILE", default_value = "python3")]
    python: PathBuf,
    /// Replay for 10 s instead of 60; a hundredth of the long trace.
    #[arg(long)]
    quick: bool,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Reading other tools' formats.
    Import,
    /// Writing and reading the store.
    Store,
    /// Recording a fast disk.
    Record,
    /// The live view beside biolatency.
    Live,
    /// Statistics of a trace.
    Stats,
    /// Statistics on two threads beside one.
    Threads,
    /// Statistics and import beside DuckDB, polars and libCacheSim.
    Peers,
    /// Memory for a trace of 10⁹ requests.
    Memory,
    /// Replaying on time, beside fio.
    Replay,
}

impl Section {
    fn measure(self, bench: &Bench, page: &mut Page) -> Result<(), Failure> {
        match self {
            Self::Import => import::import(bench, page),
            Self::Store => import::store(bench, page),
            Self::Record => record::record(bench, page),
            Self::Live => live::live(bench, page),
            Self::Stats => stats::stats(bench, page),
            Self::Threads => stats::threads(bench, page),
            Self::Peers => peers::peers(bench, page),
            Self::Memory => memory::memory(bench, page),
            Self::Replay => replay::replay(bench, page),
        }
    }
}

pub struct Bench {
    pub seekwell: PathBuf,
    pub rounds: u32,
    python: PathBuf,
    /// Shorter replays, and a hundredth of the long trace.
    pub quick: bool,
}

impl Bench {
    /// Runs a script; what follows are its arguments.
    fn python(&self, script: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-c", script]);
        command
    }
}

/// Measures the sections, prints the page and writes it. Fails where a promise is not kept.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let seekwell = args.common.program()?;
    let (rounds, python) = (args.rounds, args.python.clone());
    let bench = Bench { seekwell, rounds, python, quick: args.quick };
    let mut page = Page::of(&bench.seekwell, "rival")?;
    for section in Section::value_variants() {
        if args.only.is_empty() || args.only.contains(section) {
            section.measure(&bench, &mut page)?;
        }
    }
    page.finish(args.common.out.as_deref(), "trace", "Traces", HOW)
}

const HOW: &str = "\
Made by `cargo xtask bench-trace`. Whole processes of the release build, start-up included; rates \
of CPU are per second of CPU time, user and kernel, so that other load on the machine counts \
little. Medians, in brackets the smallest and the largest.";
