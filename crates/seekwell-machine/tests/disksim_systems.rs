//! Whole systems: the mean response times that DiskSim 4's own `runvalid` names for its synthetic
//! systems against those modelled here from the same files.

#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use seekwell_machine::disksim::{self, Outcome};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// The folders in which a system's files may lie: what the tests always have, and those that
/// SEEKWELL_DISKSIM names, `:` between.
fn folders() -> Vec<PathBuf> {
    let shared = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/disksim"));
    let more = std::env::var_os("SEEKWELL_DISKSIM").unwrap_or_default();
    std::iter::once(shared.to_owned()).chain(std::env::split_paths(&more)).collect()
}

/// What became of a system's workload, or the name of a file that is not there.
fn played(name: &str) -> Result<Outcome, String> {
    let folders = folders();
    let mut missing = None;
    let mut open = |file: &str| {
        let found =
            folders.iter().find_map(|folder| std::fs::read_to_string(folder.join(file)).ok());
        found.ok_or_else(|| {
            missing = Some(file.to_owned());
            Error::from(ErrorKind::NotFound)
        })
    };
    let read = disksim::read(&format!("{name}.parv"), &mut open);
    let made = read.and_then(|document| disksim::system(&document, &mut open));
    match (missing, made) {
        (Some(file), _) => Err(file),
        (None, made) => Ok(made.and_then(|system| system.run()).expect("a system")),
    }
}

/// Sees that the mean of what `runvalid` looks at is within 5 % of what it says.
fn met(name: &str, theirs_ms: f64, of: impl Fn(&Outcome) -> f64) {
    let outcome = match played(name) {
        Ok(outcome) => outcome,
        Err(file) => return eprintln!("skipped: no {file} for {name}"),
    };
    let ours = of(&outcome) / 1e6;
    eprintln!(
        "{name:16} {ours:.3} ms (DiskSim {theirs_ms}), {:+.1} %, {} requests in {:.0} s",
        (ours / theirs_ms - 1.0) * 100.0,
        outcome.requests.count(),
        outcome.span.as_secs_f64()
    );
    for (device, times) in &outcome.devices {
        eprintln!("  {device} {} {:.3}", times.count(), times.mean_ns() / 1e6);
    }
    assert!((ours / theirs_ms - 1.0).abs() < 0.05, "{name}: {ours} ms, DiskSim's is {theirs_ms}");
}

fn accesses(outcome: &Outcome) -> f64 {
    outcome.accesses.mean_ns()
}

#[test]
fn a_simple_disk_answers_as_in_disksim() {
    met("synthsimpledisk", 13.5, accesses);
}

#[test]
fn an_open_workload_on_three_drives_is_answered_as_in_disksim() {
    met("synthopen", 10.9, accesses);
}

#[test]
fn a_closed_workload_is_answered_as_in_disksim() {
    met("synthclosed", 87.6, accesses);
}

#[test]
fn four_arrays_answer_as_in_disksim() {
    met("syntharrays", 34.3, |outcome| outcome.requests.mean_ns());
}

#[test]
fn a_raid_5_at_the_driver_answers_as_in_disksim() {
    met("synthraid5", 22.8, accesses);
}

#[test]
fn a_memory_cache_at_the_controller_answers_as_in_disksim() {
    met("synthcachemem", 24.6, accesses);
}

#[test]
fn a_cache_device_at_the_controller_answers_as_in_disksim() {
    met("synthcachedev", 28.9, accesses);
}
