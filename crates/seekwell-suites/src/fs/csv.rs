//! bonnie++'s CSV line, made of a run of the suite.
//!
//! 1.98 has the number of seeks and of seeking processes after the chunk size; 1.96 and 1.97 lack
//! both. Rates of data are in KiB a second; all rates but seeks and CPU shares are whole. A test
//! that gave no figure is `+++++`, one that was not run is empty. bonnie++ 2.00's own
//! `bon_csv2html` reads 1.98 only.

use super::{FILES_FROM, STEPS};
use seekwell_runs::{Phase, Repeat, RunDocument, Work};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Of bonnie++ 1.96: 48 fields.
    V1_96,
    /// Of bonnie++ 1.97: 48 fields.
    V1_97,
    /// Of bonnie++ 1.98 and 2.00: 50 fields.
    V1_98,
}

impl Version {
    const fn name(self) -> &'static str {
        match self {
            Self::V1_96 => "1.96",
            Self::V1_97 => "1.97",
            Self::V1_98 => "1.98",
        }
    }
}

/// What bonnie++ leaves out because it is the default.
const USUAL_CHUNK: u64 = 8192;

/// How many repeats the run has, of the step that has most.
pub fn repeats(document: &RunDocument) -> usize {
    document.phases.iter().map(|p| p.repeats.len()).max().unwrap_or(0)
}

/// The line of one repeat, counted from 0, without an end of line.
pub fn line(document: &RunDocument, repeat: usize, version: Version) -> String {
    let tunables = document.phases.iter().find_map(|phase| match &phase.workload {
        Work::Suite(step) if step.suite == "fs" => Some(&step.tunables),
        _ => None,
    });
    let none = BTreeMap::new();
    let tunables = tunables.unwrap_or(&none);
    let of = |name: &str| tunables.get(name).cloned().unwrap_or_default();
    let number = |name: &str| of(name).parse::<u64>().unwrap_or(0);
    let name = document.label.as_deref().unwrap_or("seekwell");
    let name = if document.modelled { &format!("MODELLED {name}") } else { name };
    let steps = STEPS.map(|step| result(document, step, repeat));
    let seed = steps.iter().flatten().next().map_or(0, |r| r.seed);
    let mut fields = vec![
        version.name().to_owned(),
        // Some of its readers look at this for what the units are.
        if version == Version::V1_98 { "2.00a" } else { version.name() }.to_owned(),
        name.replace([',', '\n', '\r'], " "),
        of("concurrency"),
        seed.to_string(),
        size(number("size")),
        unless(number("chunk"), USUAL_CHUNK),
    ];
    if version == Version::V1_98 {
        fields.extend([of("seeks"), of("seekers")]);
    }
    rates(&steps[..FILES_FROM], &mut fields);
    fields.push(of("files"));
    let (most, least) = (number("max_size"), number("min_size"));
    let most = match of("kind").as_str() {
        "hard-links" => "link".to_owned(),
        "symlinks" => "symlink".to_owned(),
        _ => unless(most, 0),
    };
    fields.extend([most, unless(least, 0)]);
    fields.push(unless(number("directories"), 1));
    fields.push(unless(number("file_chunk"), USUAL_CHUNK));
    rates(&steps[FILES_FROM..], &mut fields);
    fields.extend(steps.iter().map(|step| step.map_or_else(String::new, latency)));
    fields.join(",")
}

fn result<'a>(document: &'a RunDocument, step: &str, repeat: usize) -> Option<&'a Repeat> {
    let is = |phase: &&Phase| matches!(&phase.workload, Work::Suite(s) if s.step == step);
    document.phases.iter().find(is)?.repeats.get(repeat)
}

/// A size as bonnie++ writes it.
fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 && b.is_multiple_of(1 << 30) => format!("{}G", b >> 30),
        b => format!("{}M", b >> 20),
    }
}

fn unless(value: u64, usual: u64) -> String {
    if value == usual { String::new() } else { value.to_string() }
}

/// The rate and the CPU share of each.
fn rates(steps: &[Option<&Repeat>], fields: &mut Vec<String>) {
    for step in steps {
        let Some(repeat) = step else {
            fields.extend([String::new(), String::new()]);
            continue;
        };
        let value = |name: &str| repeat.values.get(name).copied();
        let rate = value("rate_bytes_per_s")
            .map(|r| format!("{:.0}", r / 1024.0))
            .or_else(|| value("seeks_per_s").map(|r| format!("{r:.1}")))
            .or_else(|| value("files_per_s").map(|r| format!("{r:.0}")));
        let cpu = repeat.cpu_user_ns.0 + repeat.cpu_system_ns.0;
        match rate.filter(|_| repeat.invalid.is_none() && repeat.elapsed_ns.0 > 0) {
            Some(rate) => {
                let share = 100.0 * cpu as f64 / repeat.elapsed_ns.0 as f64;
                fields.extend([rate, format!("{share:.0}")]);
            }
            None => fields.extend(["+++++".to_owned(), "+++".to_owned()]),
        }
    }
}

/// The longest call: in microseconds up to 0.1 s, then in milliseconds, from 100 s in seconds.
fn latency(repeat: &Repeat) -> String {
    match repeat.values.get("call_ns_max").map(|ns| ns / 1e3) {
        None => String::new(),
        Some(us) if us < 100_000.0 => format!("{us:.0}us"),
        Some(us) if us < 100_000_000.0 => format!("{:.0}ms", us / 1e3),
        Some(us) => format!("{:.0}s", us / 1e6),
    }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
