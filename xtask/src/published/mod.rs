//! `cargo xtask record-published`: traces of the programs whose published figures `seekwell
//! reproduce` models.
//!
//! The programs are those of the documents: bonnie++'s small files, the SQLite, FS-Mark and
//! Threaded I/O tests of the Phoronix Test Suite, and blogs. They run on ext4 over the modelled
//! disk of the document's machine, so that requests wait for each other as they did there. What was
//! recorded stands in `docs/published-traces.md`.

mod blog;
mod bonnie;
mod phoronix;
mod recorder;
mod report;
mod stage;

use crate::{Failure, bench, devices, root};
use report::Report;
use stage::{Scene, Stage};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Most bytes of a trace, and of all together.
const LARGEST: u64 = 1_500_000;
const ALL: u64 = 5_000_000;

pub const SCENES: [Scene; 3] = [Scene::Bonnie, Scene::Phoronix, Scene::Blog];

#[derive(clap::Args)]
pub struct Args {
    /// Record a small part of each: to see that it works.
    #[arg(long, requires = "out")]
    quick: bool,
    /// Folder for traces and page [default: traces and docs of the working tree].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Record this scene only; may be repeated.
    #[arg(long, value_enum, requires = "out")]
    scene: Vec<Scene>,
    /// Folder on a disk for the scenes while they run.
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    work: PathBuf,
    /// The program that records [default: built now, release profile].
    #[arg(long, value_name = "FILE")]
    seekwell: Option<PathBuf>,
}

/// Builds the scenes one after the other, records, and writes traces and page.
#[expect(clippy::print_stdout, reason = "the page is the result")]
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    devices::need_root()?;
    let seekwell = bench::program(args.seekwell.as_deref())?;
    let stop = bench::stop_flag()?;
    let work = args.work.canonicalize()?;
    let kept = tempfile::tempdir_in(&work)?;
    let mut report = Report::new()?;
    for scene in if args.scene.is_empty() { &SCENES[..] } else { &args.scene } {
        let stage = Stage::new(*scene, &work, kept.path(), &seekwell, &stop, args.quick)?;
        match scene {
            Scene::Bonnie => bonnie::run(&stage, &mut report)?,
            Scene::Phoronix => phoronix::run(&stage, &mut report)?,
            Scene::Blog => blog::run(&stage, &mut report)?,
        }
    }
    fits(&report)?;
    let (traces, page) = match &args.out {
        Some(dir) => (dir.clone(), dir.join("published-traces.md")),
        None => (root().join("traces"), root().join("docs/published-traces.md")),
    };
    write(&report, kept.path(), &traces, &page)?;
    println!("{}\nWritten to {} and {}.", report.text(), traces.display(), page.display());
    Ok(ExitCode::SUCCESS)
}

/// Refuses what is too large to ship.
fn fits(report: &Report) -> Result<(), Failure> {
    if let Some(trace) = report.traces.iter().find(|t| t.bytes > LARGEST) {
        return Err(format!("{} has {} bytes, at most {LARGEST}", trace.name, trace.bytes).into());
    }
    let all: u64 = report.traces.iter().map(|t| t.bytes).sum();
    if all > ALL {
        return Err(format!("the traces have {all} bytes together, at most {ALL}").into());
    }
    Ok(())
}

fn write(report: &Report, kept: &Path, traces: &Path, page: &Path) -> Result<(), Failure> {
    fs::create_dir_all(traces)?;
    for trace in &report.traces {
        let file = format!("{}.parquet", trace.name);
        fs::copy(kept.join(&file), traces.join(&file))?;
    }
    Ok(fs::write(page, report.text())?)
}
