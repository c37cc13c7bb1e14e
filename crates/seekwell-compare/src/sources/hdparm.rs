//! What `hdparm -t` and `-T` print. Its MB are 2^20 bytes and its kB 2^10. A device that was read
//! to its end in less than half a second has no number.

use crate::error::FormatError;
use crate::model::{Better, Class, Group, Rank, RunValues, Unit, Value};
use std::collections::BTreeMap;

pub const MAX_TIMINGS: usize = 10_000;
/// A rate of a shorter run is not taken.
const SHORTEST_S: f64 = 0.5;

/// The timings by what is printed before them: the metric, its words, whether the page cache is
/// passed by.
const TIMINGS: [(&str, &str, &str, bool); 4] = [
    ("Timing cached reads:", "cached", "cached reads (-T)", false),
    ("Timing buffered disk reads:", "device", "device reads (-t)", false),
    ("Timing O_DIRECT cached reads:", "cached", "cached reads (-T)", true),
    ("Timing O_DIRECT disk reads:", "device", "device reads (-t)", true),
];

pub(crate) fn is_timing(line: &str) -> bool {
    TIMINGS.iter().any(|(start, ..)| line.trim_start().starts_with(start))
}

/// Devices in their order, each with its runs: one for every time hdparm was started on it.
///
/// # Errors
/// [`FormatError`] names the line and what is wrong with it.
pub fn read(text: &str, file: &str) -> Result<Vec<(String, Vec<RunValues>)>, FormatError> {
    let mut devices: Vec<(String, Vec<RunValues>)> = Vec::new();
    let (mut at, mut seen) = (None, 0);
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(device) = line.strip_suffix(':').filter(|d| d.starts_with('/')) {
            let known = devices.iter().position(|(name, _)| name == device);
            let index = known.unwrap_or_else(|| {
                devices.push((device.to_owned(), Vec::new()));
                devices.len() - 1
            });
            devices[index].1.push(empty(device, &format!("{file}, line {number}")));
            at = Some(index);
        } else if is_timing(line) {
            seen += 1;
            if seen > MAX_TIMINGS {
                return Err(FormatError::TooMany { what: "timings", most: MAX_TIMINGS });
            }
            let run = at.and_then(|i| devices[i].1.last_mut());
            let run = run.ok_or_else(|| {
                let place = format!("line {number}");
                FormatError::value(place, "timing", line, "a line with its device before it")
            })?;
            timing(line, number, run)?;
        }
    }
    devices.iter_mut().for_each(|(_, runs)| runs.retain(|r| !r.groups.is_empty()));
    devices.retain(|(_, runs)| !runs.is_empty());
    if devices.is_empty() { Err(FormatError::Unknown) } else { Ok(devices) }
}

fn empty(device: &str, name: &str) -> RunValues {
    RunValues {
        name: name.to_owned(),
        about: BTreeMap::from([("device".to_owned(), device.to_owned())]),
        ..RunValues::default()
    }
}

/// Adds the figure of one line: `1024 MB in  0.41 seconds = 2501.11 MB/sec`.
fn timing(line: &str, number: usize, run: &mut RunValues) -> Result<(), FormatError> {
    let found = TIMINGS.iter().find_map(|t| Some((t, line.strip_prefix(t.0)?)));
    let Some(((_, name, title, direct), rest)) = found else { return Ok(()) };
    let place = || format!("line {number}");
    let words: Vec<&str> = rest.split_whitespace().collect();
    let bad = || FormatError::value(place(), *name, rest.trim(), "N MB in S seconds = R MB/sec");
    let ["MB", "in", seconds, "seconds", "=", rate, unit] =
        words.get(1..8).and_then(|w| <[&str; 7]>::try_from(w).ok()).ok_or_else(bad)?
    else {
        return Err(bad());
    };
    let shift = match unit {
        "MB/sec" => 20,
        "kB/sec" => 10,
        _ => return Err(bad()),
    };
    let plain = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let (seconds, rate) = plain(seconds).zip(plain(rate)).ok_or_else(bad)?;
    let group_name = if *direct { "hdparm --direct" } else { "hdparm" };
    if !run.groups.iter().any(|g| g.name == group_name) {
        run.groups.push(Group {
            name: group_name.into(),
            title: group_name.into(),
            identity: BTreeMap::from([("direct".to_owned(), direct.to_string())]),
            invalid: None,
            values: Vec::new(),
        });
    }
    let metric = format!("{name}.read_bytes_per_s");
    let group = run.groups.iter_mut().find(|g| g.name == group_name).ok_or_else(bad)?;
    if seconds < SHORTEST_S {
        run.left_out.push(format!("{title}: over in less than half a second"));
    } else if group.value(&metric).is_none() {
        let about = (Unit::BytesPerSecond, Better::Higher, Class::Throughput);
        let value = Value::new(metric, *title, name, about, rate * f64::from(1_u32 << shift));
        group.values.push(value.ranked(Rank::Headline));
    }
    Ok(())
}

#[cfg(test)]
#[path = "hdparm_tests.rs"]
mod tests;
