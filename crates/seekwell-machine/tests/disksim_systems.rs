//! Whole systems: the mean response times that DiskSim 4's own `runvalid` names for its synthetic
//! systems against those modelled here from the same files, nothing fitted.
//!
//! DiskSim's are of one run of one seed, and runs with other seeds differ: where a second processor
//! falls idle for good (see [`seekwell_machine::synthetic::Processes`]) the load of all that
//! follows is another. So what is held against them is the mean over ten seeds, the file's own
//! first.

#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use seekwell_machine::disksim::{self, System, SystemTimes};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// The folders in which a system's files may lie: what the tests always have, and those that
/// `SEEKWELL_DISKSIM` names, `:` between.
fn folders() -> Vec<PathBuf> {
    let shared = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/disksim"));
    let more = std::env::var_os("SEEKWELL_DISKSIM").unwrap_or_default();
    std::iter::once(shared.to_owned()).chain(std::env::split_paths(&more)).collect()
}

/// The system of that name, or the name of a file that is not there.
fn made(name: &str) -> Result<System, String> {
    let folders = folders();
    let mut missing = None;
    let mut open = |file: &str| {
        let text = |folder: &PathBuf| std::fs::read_to_string(folder.join(file)).ok();
        folders.iter().find_map(text).ok_or_else(|| {
            missing = Some(file.to_owned());
            Error::from(ErrorKind::NotFound)
        })
    };
    let read = disksim::read(&format!("{name}.parv"), &mut open);
    let made = read.and_then(|document| disksim::system(&document, &mut open));
    missing.map_or_else(|| Ok(made.expect("a system")), Err)
}

/// Sees that the mean of what `runvalid` looks at is within 5 % of what it says.
fn met(name: &str, theirs_ms: f64, mean_ns: impl Fn(&SystemTimes) -> f64) {
    let system = match made(name) {
        Ok(system) => system,
        Err(file) => return eprintln!("skipped: no {file} for {name}"),
    };
    let own = system.workload().seed;
    let played = |seed| mean_ns(&system.clone().with_seed(seed).run().expect("it runs")) / 1e6;
    let means: Vec<f64> = std::iter::once(own).chain(1..10).map(played).collect();
    let ours = means.iter().sum::<f64>() / means.len() as f64;
    let (least, most) = means.iter().fold((f64::MAX, 0.0f64), |(l, m), x| (l.min(*x), m.max(*x)));
    let apart = |ms: f64| (ms / theirs_ms - 1.0) * 100.0;
    eprintln!(
        "{name:16} DiskSim {theirs_ms} ms; ten seeds {ours:.2} ({:+.1} %), {least:.2} to \
         {most:.2}; the file's own {:.2} ({:+.1} %)",
        apart(ours),
        means[0],
        apart(means[0]),
    );
    assert!(apart(ours).abs() < 5.0, "{name}: {ours} ms, DiskSim's is {theirs_ms}");
}

/// What `runvalid` calls the response time of the I/O driver: of accesses to devices.
fn accesses(outcome: &SystemTimes) -> f64 {
    outcome.accesses.mean_ns()
}

#[test]
fn a_simple_disk_answers_as_in_disksim() {
    met("synthsimpledisk", 13.5, accesses);
}

#[test]
fn an_open_workload_is_answered_as_in_disksim() {
    met("synthopen", 10.9, accesses);
}

#[test]
fn a_closed_workload_is_answered_as_in_disksim() {
    met("synthclosed", 87.6, accesses);
}

#[test]
fn a_set_of_arrays_answers_as_in_disksim() {
    // The response time of the whole: of requests to volumes.
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
