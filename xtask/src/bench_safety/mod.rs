//! `cargo xtask bench-safety`: tries to make the program lose somebody's data, leave something
//! behind, or die, and counts.
//!
//! Five sections: devices that must not be overwritten, with a checksum of every byte before and
//! after; kills at random moments; faults of the surroundings (limits, full disks, signals);
//! hostile files; and a web server under bad requests. Each has controls that must succeed, so that
//! a program that refuses everything does not pass. All devices, mounts and files are the
//! campaign's own.

mod faults;
mod hostile;
mod kills;
mod refusals;
mod rig;
mod serve;

use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, bench};
use rig::Rig;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Args {
    /// File to write [default: docs/bench/DATE-safety.md; none with --quick].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The program to try [default: built now, release profile].
    #[arg(long, value_name = "FILE")]
    seekwell: Option<PathBuf>,
    /// Where files are measured and images lie [default: an ext4 of its own in memory].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
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

#[derive(Default)]
struct Section {
    tried: u32,
    losses: Vec<String>,
    left_out: Vec<(String, String)>,
}

impl Section {
    /// Counts one try and keeps what went wrong.
    fn count(&mut self, what: &str, outcome: Result<(), String>) {
        self.tried += 1;
        self.losses.extend(outcome.err().map(|why| format!("{what}: {why}")));
    }

    /// Notes something that cannot be tried on this machine.
    fn leave_out(&mut self, what: &str, why: impl std::fmt::Display) {
        self.left_out.push((what.to_owned(), why.to_string()));
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
    let seekwell = bench::program(args.seekwell.as_deref())?;
    let kills = args.kills.unwrap_or(if args.quick { 8 } else { 200 });
    let mut rig = Rig::new(seekwell, args.dir.as_deref(), args.seed, args.quick, kills)?;
    let mut page = Page::of(&rig.seekwell, "")?;
    let (mut tried, mut lost) = (0, Vec::new());
    for (name, run) in SECTIONS {
        if !args.only.is_empty() && !args.only.iter().any(|only| only == name) {
            continue;
        }
        let (mut section, begun) = (Section::default(), Instant::now());
        run(&mut rig, &mut section)?;
        let (tries, losses, took) = (section.tried, section.losses.len(), begun.elapsed());
        println!("{name}: {tries} tried, {losses} lost, {:.1} s", took.as_secs_f64());
        section.losses.iter().for_each(|loss| println!("  lost: {loss}"));
        let passed = f64::from(section.tried) - section.losses.len() as f64;
        let wanted = Wanted::AtLeast(f64::from(section.tried));
        page.rows.push(Row::new(name, Unit::Named("passed"), vec![passed], wanted));
        for (what, why) in section.left_out {
            page.missing(format!("{name}: {what}"), why);
        }
        tried += section.tried;
        lost.extend(section.losses);
    }
    if args.quick && args.out.is_none() {
        println!("\n{}", page.table());
    } else {
        let how = how(args.seed, &lost);
        page.write(args.out.as_deref(), "safety", "Trying to lose data", &how)?;
    }
    let sound = lost.is_empty() && tried > 0;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn how(seed: u64, lost: &[String]) -> String {
    let mut how = format!(
        "Made by `cargo xtask bench-safety --seed {seed}`. A refusal passes when the exit \
         status is 3 (or 2, for what is no device), nothing is on standard output, and every \
         byte of every device and image involved is as it was; a kill (SIGKILL at a random \
         moment) when the user's files are intact, the settings come back, the next command \
         works (its figures may be invalid on a busy machine, exit status 4) and leaves nothing \
         of the killed one behind; a fault or a hostile file when the program ends in time with \
         a documented exit status; a request when it is answered without a file that was not \
         asked for, and the server lives on."
    );
    if !lost.is_empty() {
        how += &format!("\n\nLost:\n\n- {}", lost.join("\n- "));
    }
    how
}
