//! `cargo xtask bench-trace`: what reading, recording and replaying traces cost, beside the tools
//! people use for it. One file per section; each makes its own data and removes it.

mod import;
mod memory;
mod page;
pub mod record;
mod replay;
mod stats;

use crate::{Failure, bench_engine, root};
use clap::ValueEnum;
use page::Page;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `bench-trace`.
#[derive(clap::Args)]
pub struct Args {
    /// File to write [default: docs/bench/DATE-trace.md].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Sections to measure [default: all].
    #[arg(long, value_name = "SECTION,…", value_delimiter = ',')]
    only: Vec<Section>,
    /// How often each thing is measured; the median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Replay for 10 s instead of 60; a hundredth of the long trace.
    #[arg(long)]
    quick: bool,
    /// The program to measure [default: built now, release profile].
    #[arg(long, value_name = "FILE")]
    seekwell: Option<PathBuf>,
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
    /// Statistics of a trace.
    Stats,
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
            Self::Stats => stats::stats(bench, page),
            Self::Memory => memory::memory(bench, page),
            Self::Replay => replay::replay(bench, page),
        }
    }
}

/// What every section needs.
pub struct Bench {
    /// The program.
    pub seekwell: PathBuf,
    /// How often each thing is measured.
    pub rounds: u32,
    /// Shorter replays, and a hundredth of the long trace.
    pub quick: bool,
}

/// Measures the sections, prints the page and writes it. Fails where a promise is not kept.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let seekwell = bench_engine::program(args.seekwell.as_deref())?;
    let bench = Bench { seekwell, rounds: args.rounds, quick: args.quick };
    let mut page = Page::new(&bench)?;
    for section in Section::value_variants() {
        if args.only.is_empty() || args.only.contains(section) {
            section.measure(&bench, &mut page)?;
        }
    }
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let out =
        args.out.clone().unwrap_or_else(|| root().join(format!("docs/bench/{today}-trace.md")));
    let text = page.text(&today);
    out.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(&out, &text)?;
    println!("{text}\nWritten to {}.", out.display());
    Ok(if page.all_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
