//! What the benchmarks share: the program, taking turns, and stopping.

use crate::{Failure, root};
use rustix::time::{ClockId, clock_gettime};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// The program that is measured or records: the one that was named, or it is built now, release
/// profile.
pub fn program(named: Option<&Path>) -> Result<PathBuf, Failure> {
    match named {
        Some(path) => Ok(path.canonicalize()?),
        None => build(&["--release", "--package", "seekwell"], "seekwell"),
    }
}

/// What cargo says of one target that it built or found built.
#[derive(serde::Deserialize)]
pub struct Artifact {
    pub executable: Option<PathBuf>,
    pub manifest_path: PathBuf,
    pub target: Target,
    pub profile: Profile,
}

#[derive(serde::Deserialize)]
pub struct Target {
    pub name: String,
}

#[derive(serde::Deserialize)]
pub struct Profile {
    pub test: bool,
}

/// Runs a command of cargo that builds, and returns what it built.
pub fn built(words: &[&str]) -> Result<Vec<Artifact>, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(words)
        .arg("--message-format=json")
        // That of a test program; ring, and all above it, is built again where it changes.
        .env_remove("CARGO_MANIFEST_DIR")
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the build failed".into());
    }
    let lines = output.stdout.split(|b| *b == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Runs `cargo build` with these arguments and returns the path of the program of this name.
pub fn build(words: &[&str], name: &str) -> Result<PathBuf, Failure> {
    let built = built(&[&["build"], words].concat())?;
    let mut programs = built.into_iter().filter(|a| a.target.name == name);
    let program = programs.find_map(|artifact| artifact.executable);
    program.ok_or_else(|| format!("cargo built no program named {name}").into())
}

/// The options of most benchmarks.
#[derive(Debug, clap::Args)]
pub struct Common {
    /// File to write [default: docs/bench/DATE-NAME.md].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The program to measure [default: built now, release profile].
    #[arg(long, value_name = "FILE")]
    seekwell: Option<PathBuf>,
}

impl Common {
    pub fn program(&self) -> Result<PathBuf, Failure> {
        program(self.seekwell.as_deref())
    }
}

/// Evenly spread numbers, the same in every run (G. Marsaglia, "Xorshift RNGs", Journal of
/// Statistical Software 8(14), 2003).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

/// CPU time so far, in seconds: of this thread, or of all.
pub fn cpu_s(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
