//! `composite.xml` of the Phoronix Test Suite: several systems, several tests, and in each the raw
//! value of every trial (`RawString`, colon separated), which are taken as runs.
//!
//! The file may come from anywhere. A document type declaration, the one thing in XML that makes a
//! small file a large one or reads another file, is refused; nesting and counts are bounded.

use crate::error::FormatError;
use crate::model::{Better, Class, Group, Rank, RunValues, Unit, Value};
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;
use std::collections::BTreeMap;

/// The deepest nesting read; the format has five levels.
pub const MAX_DEPTH: usize = 32;
pub const MAX_SYSTEMS: usize = 256;
/// The most tests, and the most entries over all of them.
pub const MAX_ENTRIES: usize = 20_000;
pub const MAX_TRIALS: usize = 20_000;
/// The longest text of an element; raw values may be longer.
pub const MAX_TEXT: usize = 4096;

#[derive(Debug, Default)]
struct System {
    identifier: String,
    hardware: String,
    software: String,
    timestamp: String,
    client: String,
}

#[derive(Debug, Default)]
struct Test {
    identifier: String,
    title: String,
    app_version: String,
    arguments: String,
    description: String,
    scale: String,
    proportion: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Default)]
struct Entry {
    identifier: String,
    value: String,
    raw: String,
}

#[derive(Debug, Default)]
struct File {
    systems: Vec<System>,
    tests: Vec<Test>,
    entries: usize,
}

/// The runs of each system in a text, in the order of the file; `file` names them.
///
/// # Errors
/// [`FormatError`] with the offset of the trouble, or the value that cannot be read.
pub fn read(text: &str, file: &str) -> Result<Vec<(String, Vec<RunValues>)>, FormatError> {
    let parsed = parse(text)?;
    let mut names: Vec<String> = Vec::new();
    let systems = parsed.systems.iter().map(|s| &s.identifier);
    let entries = parsed.tests.iter().flat_map(|t| t.entries.iter().map(|e| &e.identifier));
    for name in systems.chain(entries) {
        if !names.contains(name) {
            if names.len() == MAX_SYSTEMS {
                return Err(FormatError::TooMany { what: "systems", most: MAX_SYSTEMS });
            }
            names.push(name.clone());
        }
    }
    let mut trials = 0;
    let of = |name: String| Ok((name.clone(), runs(&parsed, &name, file, &mut trials)?));
    names.into_iter().map(of).collect()
}

fn parse(text: &str) -> Result<File, FormatError> {
    let mut reader = Reader::from_str(text);
    let mut path: Vec<String> = Vec::new();
    let mut content = String::new();
    let mut file = File::default();
    loop {
        let at = reader.buffer_position();
        let xml = |reason: String| FormatError::Xml { at, reason };
        match reader.read_event().map_err(|e| xml(e.to_string()))? {
            Event::DocType(_) => return Err(FormatError::DocumentType { at }),
            Event::Start(start) => {
                if path.len() == MAX_DEPTH {
                    return Err(xml(format!("more than {MAX_DEPTH} elements inside each other")));
                }
                path.push(start.name().as_ref().to_owned());
                content.clear();
                opened(&path, &mut file)?;
            }
            Event::Text(text) => content.push_str(&text.xml10_content()),
            Event::CData(text) => content.push_str(&text.xml10_content()),
            Event::GeneralRef(name) => {
                let number = name.resolve_char_ref().map_err(|e| xml(e.to_string()))?;
                match (number, resolve_predefined_entity(&name)) {
                    (Some(c), _) => content.push(c),
                    (None, Some(text)) => content.push_str(text),
                    (None, None) => return Err(xml(format!("&{}; is not defined", clip(&name)))),
                }
            }
            Event::End(_) => {
                let text = content.trim();
                let raw = path.last().is_some_and(|name| name == "RawString");
                if text.len() > MAX_TEXT && !raw {
                    return Err(xml(format!("a text of more than {MAX_TEXT} bytes")));
                }
                closed(&path, text, &mut file);
                content.clear();
                path.pop();
            }
            Event::Eof if path.is_empty() => return Ok(file),
            Event::Eof => {
                let open = path.join(" in ");
                return Err(xml(format!("the file ends inside {open}: is it cut short?")));
            }
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
}

fn below_root(path: &[String]) -> Option<Vec<&str>> {
    match path.first().map(String::as_str) {
        Some("PhoronixTestSuite") => Some(path[1..].iter().map(String::as_str).collect()),
        _ => None,
    }
}

fn opened(path: &[String], file: &mut File) -> Result<(), FormatError> {
    let Some(names) = below_root(path) else {
        return if path.len() == 1 { Err(FormatError::Unknown) } else { Ok(()) };
    };
    let full = |n: usize, what, most| match n < most {
        true => Ok(()),
        false => Err(FormatError::TooMany { what, most }),
    };
    match names.as_slice() {
        ["System"] => {
            full(file.systems.len(), "systems", MAX_SYSTEMS)?;
            file.systems.push(System::default());
        }
        ["Result"] => {
            full(file.tests.len(), "tests", MAX_ENTRIES)?;
            file.tests.push(Test::default());
        }
        ["Result", "Data", "Entry"] => {
            if let Some(test) = file.tests.last_mut() {
                full(file.entries, "entries", MAX_ENTRIES)?;
                file.entries += 1;
                test.entries.push(Entry::default());
            }
        }
        _ => {}
    }
    Ok(())
}

fn closed(path: &[String], text: &str, file: &mut File) {
    let Some(names) = below_root(path) else { return };
    let slot = match names.as_slice() {
        ["System", field] => file.systems.last_mut().and_then(|s| match *field {
            "Identifier" => Some(&mut s.identifier),
            "Hardware" => Some(&mut s.hardware),
            "Software" => Some(&mut s.software),
            "TimeStamp" => Some(&mut s.timestamp),
            "TestClientVersion" => Some(&mut s.client),
            _ => None,
        }),
        ["Result", "Data", "Entry", field] => {
            let entry = file.tests.last_mut().and_then(|t| t.entries.last_mut());
            entry.and_then(|e| match *field {
                "Identifier" => Some(&mut e.identifier),
                "Value" => Some(&mut e.value),
                "RawString" => Some(&mut e.raw),
                _ => None,
            })
        }
        ["Result", field] => file.tests.last_mut().and_then(|t| match *field {
            "Identifier" => Some(&mut t.identifier),
            "Title" => Some(&mut t.title),
            "AppVersion" => Some(&mut t.app_version),
            "Arguments" => Some(&mut t.arguments),
            "Description" => Some(&mut t.description),
            "Scale" => Some(&mut t.scale),
            "Proportion" => Some(&mut t.proportion),
            _ => None,
        }),
        _ => None,
    };
    if let Some(slot) = slot {
        *slot = text.to_owned();
    }
}

/// The trials of one system as runs: the i-th run has the i-th trial of each test that has one.
fn runs(
    file: &File,
    system: &str,
    name: &str,
    all_trials: &mut usize,
) -> Result<Vec<RunValues>, FormatError> {
    let known = file.systems.iter().find(|s| s.identifier == system);
    let about = known.map(about).unwrap_or_default();
    let mut left_out = Vec::new();
    let mut runs: Vec<RunValues> = Vec::new();
    for test in &file.tests {
        for entry in test.entries.iter().filter(|e| e.identifier == system) {
            let Some(trials) = trials(entry, test)? else {
                left_out.push(format!(
                    "{}: {:?} is not one number",
                    test.title,
                    clip(&entry.value)
                ));
                continue;
            };
            *all_trials += trials.len();
            if *all_trials > MAX_TRIALS {
                return Err(FormatError::TooMany { what: "trials", most: MAX_TRIALS });
            }
            for (i, value) in trials.into_iter().enumerate() {
                if runs.len() <= i {
                    runs.push(RunValues {
                        name: format!("{name}, {system}, trial {}", i + 1),
                        about: about.clone(),
                        ..RunValues::default()
                    });
                }
                let group = group(test, value);
                if runs[i].groups.iter().all(|g| g.name != group.name) {
                    runs[i].groups.push(group);
                }
            }
        }
    }
    if let Some(first) = runs.first_mut() {
        first.left_out = left_out;
    }
    Ok(runs)
}

fn clip(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The raw values, or the one value if there are none; `None` of a test whose result is a line
/// or a text and not a number.
fn trials(entry: &Entry, test: &Test) -> Result<Option<Vec<f64>>, FormatError> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.abs() < 1e200);
    if number(&entry.value).is_none() {
        return Ok(None);
    }
    let raw = if entry.raw.is_empty() { &entry.value } else { &entry.raw };
    let mut out = Vec::new();
    for text in raw.split(':').filter(|t| !t.trim().is_empty()) {
        if out.len() == MAX_TRIALS {
            return Err(FormatError::TooMany { what: "trials", most: MAX_TRIALS });
        }
        let place = format!("{} on {}", test.title, entry.identifier);
        let bad = || FormatError::value(place, "RawString", text, "numbers with colons between");
        out.push(number(text).ok_or_else(bad)?);
    }
    Ok(Some(out))
}

/// The profile's name without its version: `pts/fio-2.2.0` is `pts/fio`.
fn profile(identifier: &str) -> &str {
    match identifier.rsplit_once('-') {
        Some((name, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => name,
        _ => identifier,
    }
}

fn group(test: &Test, number: f64) -> Group {
    let title = match test.description.is_empty() {
        true => test.title.clone(),
        false => format!("{}, {}", test.title, test.description),
    };
    let identity = [
        ("profile", &test.identifier),
        ("version", &test.app_version),
        ("arguments", &test.arguments),
        ("scale", &test.scale),
        ("proportion", &test.proportion),
    ];
    let better = match test.proportion.as_str() {
        "HIB" => Better::Higher,
        "LIB" => Better::Lower,
        _ => Better::Neither,
    };
    let (unit, factor, class) = unit(&test.scale);
    Group {
        name: format!("{} {}", profile(&test.identifier), test.description).trim().to_owned(),
        title,
        identity: identity.into_iter().map(|(k, v)| (k.to_owned(), v.clone())).collect(),
        invalid: None,
        values: vec![
            Value::new("result", "", &test.title, (unit, better, class), number * factor)
                .ranked(Rank::Headline),
        ],
    }
}

/// A scale as a unit, the factor to it, and its class.
fn unit(scale: &str) -> (Unit, f64, Class) {
    let (nanos, rate) = (Unit::Nanoseconds, Class::Throughput);
    match scale.to_ascii_lowercase().as_str() {
        "mb/s" => (Unit::BytesPerSecond, 1e6, rate),
        "mib/s" => (Unit::BytesPerSecond, 1048576.0, rate),
        "iops"
        | "files/s"
        | "requests per second"
        | "requests/s"
        | "transactions per second"
        | "tps" => (Unit::PerSecond, 1.0, rate),
        "seconds" | "s" => (nanos, 1e9, Class::TypicalLatency),
        "ms" | "milliseconds" => (nanos, 1e6, Class::TypicalLatency),
        "us" | "microseconds" => (nanos, 1e3, Class::TypicalLatency),
        _ => (Unit::Other(scale.to_owned()), 1.0, Class::Other),
    }
}

/// What is known of a system: its hardware and software are written `Key: value, Key: value`.
fn about(system: &System) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for list in [&system.hardware, &system.software] {
        let mut last: Option<String> = None;
        for part in list.split(", ") {
            match part.split_once(": ") {
                Some((key, value)) => {
                    out.insert(key.trim().to_owned(), value.trim().to_owned());
                    last = Some(key.trim().to_owned());
                }
                // A value may hold a comma of its own.
                None => {
                    if let Some(value) = last.as_ref().and_then(|key| out.get_mut(key)) {
                        value.push_str(", ");
                        value.push_str(part);
                    }
                }
            }
        }
    }
    for (key, value) in [("measured at", &system.timestamp), ("test client", &system.client)] {
        if !value.is_empty() {
            out.insert(key.into(), value.clone());
        }
    }
    out
}

#[cfg(test)]
#[path = "phoronix_tests.rs"]
mod tests;
