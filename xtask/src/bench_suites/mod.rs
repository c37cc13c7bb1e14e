//! `cargo xtask bench-suites`: each suite beside the program it takes after, on this machine.
//!
//! Both run in turn and take turns at going first, on the same file system or device. The suites
//! run as a user runs them: the release program, its JSON read. What a rival printed is read by the
//! readers that `seekwell compare` has for it.

mod blog;
mod files;
mod fs;
mod hdparm;
pub mod place;
mod sqlite;
mod threaded;
mod web;

use crate::bench::{in_turn, stop_flag};
use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, bench, process};
use clap::ValueEnum;
use place::SuiteDir;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: bench::Common,
    /// Suites to measure [default: all].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<Section>,
    /// How often each program runs.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Smaller files and shorter loads.
    #[arg(long)]
    quick: bool,
    /// Directory to measure in [default: an ext4 of its own on a loop device in memory].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// A suite with a rival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Beside `hdparm -T` and `-t`.
    Hdparm,
    /// Beside bonnie++.
    Fs,
    /// Beside a straight loop of writes with fsync.
    Fsmark,
    /// Beside fio.
    Threaded,
    /// Beside the sqlite3 program.
    Sqlite,
    /// Beside ab.
    Web,
    /// Beside what the kernel counted.
    Blog,
}

impl Section {
    fn measure(self, bench: &Bench, page: &mut Page) -> Result<(), Failure> {
        match self {
            Self::Hdparm => hdparm::measure(bench, page),
            Self::Fs => fs::measure(bench, page),
            Self::Fsmark => files::measure(bench, page),
            Self::Threaded => threaded::measure(bench, page),
            Self::Sqlite => sqlite::measure(bench, page),
            Self::Web => web::measure(bench, page),
            Self::Blog => blog::measure(bench, page),
        }
    }
}

/// Measures the suites, prints the table and writes the page. Fails where a ratio is not as wanted.
#[expect(clippy::print_stderr, reason = "lines of progress")]
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let stop = stop_flag()?;
    let seekwell = args.common.program()?;
    let place = SuiteDir::new(args.dir.as_deref())?;
    let kept = tempfile::tempdir()?;
    let bench = Bench { seekwell, place, kept, rounds: args.rounds, quick: args.quick, stop };
    let mut page = Page::of(&bench.seekwell, "rival")?;
    page.fact("rivals", versions());
    for section in Section::value_variants() {
        if !args.only.is_empty() && !args.only.contains(section) {
            continue;
        }
        eprintln!("measuring: {section:?}");
        if let Err(why) = section.measure(&bench, &mut page) {
            bench::go_on(&bench.stop)?;
            page.missing(format!("{section:?}"), why);
        }
    }
    let title = "The suites beside the programs they take after";
    page.finish(args.common.out.as_deref(), "suites", title, &how(&bench)?)
}

/// What each rival says it is.
fn versions() -> String {
    let asked = [("hdparm", "-V"), ("fio", "--version"), ("ab", "-V"), ("sqlite3", "--version")];
    let mut versions: Vec<_> = asked
        .iter()
        .map(|(name, flag)| (name, process::first_line(Command::new(name).arg(flag))))
        .map(|(name, line)| if line.starts_with(name) { line } else { format!("{name}: {line}") })
        .collect();
    versions.push("bonnie++ 2.00a, nginx".into());
    versions.join("; ")
}

fn how(bench: &Bench) -> Result<String, Failure> {
    let load = std::fs::read_to_string("/proc/loadavg")?;
    let load = load.split_whitespace().next().unwrap_or("?");
    let (rounds, quick) = (bench.rounds, if bench.quick { ", --quick" } else { "" });
    Ok(format!(
        "Made by `cargo xtask bench-suites`{quick}, on {}. {rounds} rounds of each program, \
         interleaved, taking turns at going first; medians, in brackets the smallest and the \
         largest; ratios are seekwell over its rival within a round. Load average at the end: \
         {load}.",
        bench.place.words()
    ))
}

/// Figures of one run by their names.
type Figures = BTreeMap<String, f64>;

/// One figure both programs give: its name in both, what it is, its unit, and what is wanted.
struct Figure<'a> {
    name: &'a str,
    what: String,
    unit: Unit,
    wanted: Wanted,
}

struct Bench {
    seekwell: PathBuf,
    place: SuiteDir,
    /// Runs of a benchmark of the program are not the user's runs.
    kept: tempfile::TempDir,
    rounds: u32,
    quick: bool,
    stop: Arc<AtomicBool>,
}

impl Bench {
    /// The first in the quick form, the second otherwise.
    fn choose<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The command that runs a suite, with values set, from one that starts the program.
    fn command(
        &self,
        mut command: Command,
        suite: &str,
        on: &Path,
        set: &[(&str, String)],
    ) -> Command {
        command.arg("--runs-dir").arg(self.kept.path());
        command.args(["bench", "--quick", "--json", "--suite", suite, "--on"]).arg(on);
        for (name, value) in set {
            command.arg("--set").arg(format!("{name}={value}"));
        }
        command
    }

    /// Runs a suite once: the value that each step is for, by the step's name.
    fn suite(&self, suite: &str, on: &Path, set: &[(&str, String)]) -> Result<Figures, Failure> {
        self.suite_by(Command::new(&self.seekwell), suite, on, set)
    }

    /// The same, from a command that starts the program.
    fn suite_by(
        &self,
        program: Command,
        suite: &str,
        on: &Path,
        set: &[(&str, String)],
    ) -> Result<Figures, Failure> {
        let text = process::output_of(&mut self.command(program, suite, on, set), &[0, 4])?;
        let run = seekwell_runs::read::run(&text, Path::new("seekwell bench --json"))?;
        let figure = |phase: &seekwell_runs::Phase| match &phase.workload {
            seekwell_runs::Work::Suite(step) => {
                Some((step.step.clone(), phase.median(&step.primary)?))
            }
            _ => None,
        };
        Ok(run.phases.iter().filter_map(figure).collect())
    }

    /// Measures with both programs in turn and adds a row for each figure that both gave in every
    /// round.
    fn compare(
        &self,
        page: &mut Page,
        figures: Vec<Figure<'_>>,
        ours: impl FnMut() -> Result<Figures, Failure>,
        theirs: impl FnMut() -> Result<Figures, Failure>,
    ) -> Result<(), Failure> {
        let (ours, theirs) = in_turn(self.rounds, &self.stop, ours, theirs)?;
        let of = |all: &[Figures], name: &str| {
            all.iter().map(|one| one.get(name).copied()).collect::<Option<Vec<f64>>>()
        };
        for Figure { name, what, unit, wanted } in figures {
            match (of(&ours, name), of(&theirs, name)) {
                (Some(ours), Some(theirs)) => {
                    page.rows.push(Row::beside(what, unit, (ours, theirs), wanted));
                }
                (None, _) => page.missing(what, "seekwell gave no figure"),
                (_, None) => page.missing(what, "its rival gave no figure"),
            }
        }
        Ok(())
    }
}

/// What a rival printed, by the readers of `seekwell compare`: its figures by metric.
fn read_figures(text: &[u8]) -> Result<Figures, Failure> {
    let contents = seekwell_compare::sources::contents(text, "rival")?;
    let runs = contents.configurations.into_iter().flat_map(|(_, runs)| runs);
    let groups = runs.flat_map(|run| run.groups);
    Ok(groups.flat_map(|group| group.values).map(|v| (v.metric, v.value)).collect())
}
