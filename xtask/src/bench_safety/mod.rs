//! `cargo xtask bench-safety`: tries to make the program lose somebody's data, leave something
//! behind, or die, and counts.
//!
//! Five sections: devices that must not be overwritten, with a checksum of every byte before and
//! after; kills at random moments; faults of the surroundings (limits, full disks, signals); files
//! nobody should trust; and a web server under bad requests. Each has controls that must succeed, so
//! that a program that refuses everything does not pass. All devices, mounts and files are the
//! campaign's own.

mod faults;
mod hostile;
mod kills;
mod refusals;
mod rig;
mod serve;

use crate::{Failure, bench_engine, root};
use rig::Rig;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Options of `bench-safety`.
#[derive(clap::Args)]
pub struct Args {
    /// File to write [default: docs/bench/DATE-safety.md; none with --quick].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The program to try [default: built now, release profile].
    #[arg(long, value_name = "FILE")]
    seekwell: Option<PathBuf>,
    /// Where files are measured and images lie.
    #[arg(long, value_name = "DIR", default_value_os_t = std::env::temp_dir())]
    dir: PathBuf,
    /// A short form of every section.
    #[arg(long)]
    quick: bool,
    /// Sections to run [default: all].
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// How many kills [default: 200; 8 with --quick].
    #[arg(long)]
    kills: Option<u32>,
    /// Seed of moments and mutations.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What a section tried.
struct Section {
    name: &'static str,
    tried: u32,
    losses: Vec<String>,
    left_out: Vec<String>,
}

impl Section {
    fn new(name: &'static str) -> Self {
        Self { name, tried: 0, losses: Vec::new(), left_out: Vec::new() }
    }

    /// Counts one try and keeps what went wrong.
    fn count(&mut self, what: &str, outcome: Result<(), String>) {
        self.tried += 1;
        self.losses.extend(outcome.err().map(|why| format!("{what}: {why}")));
    }

    /// Notes something that cannot be tried on this machine.
    fn leave_out(&mut self, what: &str, why: impl std::fmt::Display) {
        self.left_out.push(format!("{what}: {why}"));
    }

    fn line(&self) -> String {
        let passed = self.tried as usize - self.losses.len();
        format!("| {} | {} | {passed} | {} |", self.name, self.tried, self.left_out.len())
    }
}

type Run = fn(&mut Rig, &mut Section) -> Result<(), Failure>;

const SECTIONS: [(&str, Run); 5] = [
    ("refusals", refusals::run),
    ("kills", kills::run),
    ("faults", faults::run),
    ("hostile", hostile::run),
    ("serve", serve::run),
];

/// Runs the sections, prints the table and writes it.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let known = |name: &String| SECTIONS.iter().any(|(known, _)| known == name);
    if let Some(name) = args.only.iter().find(|name| !known(name)) {
        return Err(format!("no section is named {name}").into());
    }
    let seekwell = bench_engine::program(args.seekwell.as_deref())?;
    let kills = args.kills.unwrap_or(if args.quick { 8 } else { 200 });
    let mut rig = Rig::new(seekwell, &args.dir, args.seed, args.quick, kills)?;
    let mut sections = Vec::new();
    for (name, run) in SECTIONS {
        if !args.only.is_empty() && !args.only.iter().any(|only| only == name) {
            continue;
        }
        let mut section = Section::new(name);
        run(&mut rig, &mut section)?;
        println!("{name}: {} tried, {} lost", section.tried, section.losses.len());
        sections.push(section);
    }
    let report = report(&sections);
    println!("\n{report}");
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let default = || root().join(format!("docs/bench/{today}-safety.md"));
    if let Some(out) = args.out.clone().or_else(|| (!args.quick).then(default)) {
        std::fs::write(&out, page(&today, args.seed, &rig, &report))?;
        println!("Written to {}.", out.display());
    }
    let lost = sections.iter().any(|s| !s.losses.is_empty());
    let idle = sections.iter().all(|s| s.tried == 0);
    Ok(if lost || idle { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn report(sections: &[Section]) -> String {
    let mut out = String::from("| section | tried | passed | left out |\n|---|---:|---:|---:|\n");
    for section in sections {
        let _ = writeln!(out, "{}", section.line());
    }
    let lists = [
        ("Lost", sections.iter().flat_map(|s| &s.losses).collect::<Vec<_>>()),
        ("Left out, because this machine lacks it", {
            sections.iter().flat_map(|s| &s.left_out).collect()
        }),
    ];
    for (title, lines) in lists.iter().filter(|(_, lines)| !lines.is_empty()) {
        let _ = write!(out, "\n{title}:\n\n");
        for line in lines {
            let _ = writeln!(out, "- {line}");
        }
    }
    out
}

fn page(today: &str, seed: u64, rig: &Rig, report: &str) -> String {
    let version =
        crate::bench_engine::report::first_line_of(Command::new(&rig.seekwell).arg("--version"));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "# Trying to lose data, {today}\n\n- kernel: {}\n- seekwell: {version}\n\nMade by `cargo \
         xtask bench-safety --seed {seed}`. A refusal passes when the exit status is 3, nothing \
         is on standard output, and every byte of every device and image involved is as it was; \
         a kill (SIGKILL at a random moment) when the user's files are intact, the settings come \
         back, the next command works and leaves nothing of the killed one behind; a fault or a \
         hostile file when the program ends in time with a documented exit status; a request when \
         it is answered without a file that was not asked for, and the server lives on.\n\n{report}",
        kernel.trim()
    )
}
