//! bonnie++'s CSV lines, versions 1.96, 1.97 and 1.98.
//!
//! The first field is the version of the format. 1.98 has two fields more than its forerunners:
//! the number of seeks and of seeking processes, after the chunk size. A test that was over in
//! less than half a second is written `+++++` and has no number. A line may stand in the printed
//! output it came with: all that does not begin with a version and a comma is prose.
//!
//! bonnie++ 2.00a's own readers take the number of directories before the chunk size of small
//! files; its writer leaves the first empty and writes the number where the second belongs. A chunk
//! is a power of two of 256 bytes at least, so that anything else there is a number of directories.

use crate::error::FormatError;
use crate::model::{Better, Class, Group, Rank, RunValues, Unit, Value};
use seekwell_io::units::parse_size;
use std::collections::BTreeMap;

pub const MAX_LINES: usize = 10_000;

/// Fields of the formats 1.96 and 1.97.
const FIELDS: usize = 48;
const FIELDS_1_98: usize = 50;

/// A test: name, title, family, class, fields of its rate and its CPU share.
struct Test {
    name: &'static str,
    title: &'static str,
    family: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    KibPerSecond,
    Seeks,
    Files,
}

const fn test(name: &'static str, title: &'static str, family: &'static str, kind: Kind) -> Test {
    Test { name, title, family, kind }
}

/// The twelve tests in the order of the latencies, which is that of the rates too.
const TESTS: [Test; 12] = [
    test("putc", "sequential output, per character", "per-character output", Kind::KibPerSecond),
    test("put_block", "sequential output, block", "block output", Kind::KibPerSecond),
    test("rewrite", "rewrite", "rewrite", Kind::KibPerSecond),
    test("getc", "sequential input, per character", "per-character input", Kind::KibPerSecond),
    test("get_block", "sequential input, block", "block input", Kind::KibPerSecond),
    test("seeks", "random seeks", "seeks", Kind::Seeks),
    test("seq_create", "sequential create", "create", Kind::Files),
    test("seq_stat", "sequential read (stat)", "stat", Kind::Files),
    test("seq_del", "sequential delete", "delete", Kind::Files),
    test("ran_create", "random create", "create", Kind::Files),
    test("ran_stat", "random read (stat)", "stat", Kind::Files),
    test("ran_del", "random delete", "delete", Kind::Files),
];

/// Whether this line is one of results rather than prose: a version, a comma, a version, a comma.
pub(crate) fn is_result(line: &str) -> bool {
    let mut fields = line.split(',');
    let version = |f: Option<&str>| {
        f.is_some_and(|f| {
            f.len() <= 8
                && f.starts_with(|c: char| c.is_ascii_digit())
                && f.contains('.')
                && f.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
        })
    };
    version(fields.next()) && version(fields.next()) && fields.next().is_some()
}

/// Every result line of a text, in order; `file` names the runs.
///
/// # Errors
/// [`FormatError`] names the line and what is wrong with it.
pub fn read(text: &str, file: &str) -> Result<Vec<RunValues>, FormatError> {
    let mut runs = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('#') || !is_result(line) {
            continue;
        }
        if runs.len() == MAX_LINES {
            return Err(FormatError::TooMany { what: "lines", most: MAX_LINES });
        }
        runs.push(read_line(line, number + 1, file)?);
    }
    if runs.is_empty() { Err(FormatError::Unknown) } else { Ok(runs) }
}

fn read_line(line: &str, number: usize, file: &str) -> Result<RunValues, FormatError> {
    let mut fields: Vec<&str> = line.split(',').take(FIELDS_1_98 + 2).map(str::trim).collect();
    let version = fields[0].to_owned();
    let needed = match version.as_str() {
        "1.96" | "1.97" => FIELDS,
        "1.98" => FIELDS_1_98,
        _ => {
            return Err(FormatError::Version {
                tool: "bonnie++ CSV",
                found: version.chars().take(20).collect(),
                known: "1.96, 1.97 and 1.98",
            });
        }
    };
    if fields.len() != needed {
        return Err(FormatError::Fields { line: number, found: fields.len(), needed, version });
    }
    let mut identity = BTreeMap::new();
    if needed == FIELDS_1_98 {
        let seeks: Vec<&str> = fields.drain(7..9).collect();
        keep(&mut identity, "seeks", seeks[0]);
        keep(&mut identity, "seek_processes", seeks[1]);
    }
    let place = format!("line {number}");
    keep(&mut identity, "concurrency", fields[3]);
    keep(&mut identity, "chunk_size", fields[6]);
    let size = file_size(fields[5]).map_or_else(|| fields[5].to_owned(), |b| b.to_string());
    keep(&mut identity, "file_size_bytes", &size);
    let (directories, chunk) = match (fields[22], fields[23]) {
        ("", number) if !is_chunk(number) => (number, ""),
        both => both,
    };
    for (name, value) in [
        ("num_files", fields[19]),
        ("max_size", fields[20]),
        ("min_size", fields[21]),
        ("num_dirs", directories),
        ("file_chunk", chunk),
    ] {
        keep(&mut identity, name, value);
    }
    let mut left_out = Vec::new();
    let mut values = Vec::new();
    for (i, test) in TESTS.iter().enumerate() {
        // The first six pairs begin at field 7, the others at 24, after the five of the files.
        let at = if i < 6 { 7 + 2 * i } else { 24 + 2 * (i - 6) };
        values_of(test, [fields[at], fields[at + 1], fields[36 + i]], &place, &mut values)?;
        if fields[at].starts_with('+') {
            left_out.push(format!("{}: over in less than half a second", test.title));
        }
    }
    let about = BTreeMap::from([
        ("machine".to_owned(), fields[2].to_owned()),
        ("bonnie++ version".to_owned(), fields[1].to_owned()),
    ]);
    Ok(RunValues {
        name: format!("{file}, line {number}"),
        about,
        groups: vec![Group {
            name: "bonnie++".into(),
            title: "bonnie++".into(),
            identity,
            invalid: None,
            values,
        }],
        left_out,
        ..RunValues::default()
    })
}

fn keep(identity: &mut BTreeMap<String, String>, name: &str, value: &str) {
    if !value.is_empty() {
        identity.insert(name.into(), value.into());
    }
}

/// Whether this can be the size of a block: a power of two from 256 bytes to 1 MiB.
fn is_chunk(text: &str) -> bool {
    text.parse::<u32>().is_ok_and(|n| n.is_power_of_two() && (256..=1 << 20).contains(&n))
}

/// Bytes of a size as bonnie++ writes it: `4G`, `300M`, `1048576k`; a bare number is mebibytes.
fn file_size(text: &str) -> Option<u64> {
    let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
    let bytes = if has_unit { parse_size(text) } else { parse_size(&format!("{text}M")) };
    bytes.filter(|bytes| *bytes < u64::MAX)
}

/// The rate, the CPU share and the latency of one test, those of them that are there.
fn values_of(
    test: &Test,
    [rate, cpu, latency]: [&str; 3],
    place: &str,
    out: &mut Vec<Value>,
) -> Result<(), FormatError> {
    let value = |suffix: &str, what: &str, about, number| {
        let (metric, title) = (format!("{}.{suffix}", test.name), format!("{}{what}", test.title));
        Value::new(metric, title, test.family, about, number)
    };
    if let Some(number) = number(rate, place, test.name)? {
        let (suffix, unit, class) = match test.kind {
            Kind::KibPerSecond => ("rate_bytes_per_s", Unit::BytesPerSecond, Class::Throughput),
            Kind::Seeks => ("requests_per_s", Unit::PerSecond, Class::Throughput),
            Kind::Files => ("files_per_s", Unit::PerSecond, Class::Metadata),
        };
        let factor = if test.kind == Kind::KibPerSecond { 1024.0 } else { 1.0 };
        let rate = value(suffix, "", (unit, Better::Higher, class), number * factor);
        out.push(rate.ranked(Rank::Headline));
    }
    if let Some(number) = number(cpu, place, test.name)? {
        let about = (Unit::Percent, Better::Lower, Class::Cpu);
        out.push(value("cpu_percent", ", CPU", about, number));
    }
    if let Some(ns) = latency_ns(latency, place, test.name)? {
        let about = (Unit::Nanoseconds, Better::Lower, Class::Maximum);
        out.push(value("latency_ns_max", ", longest", about, ns));
    }
    Ok(())
}

fn number(text: &str, place: &str, field: &str) -> Result<Option<f64>, FormatError> {
    if text.is_empty() || text.bytes().all(|b| b == b'+') {
        return Ok(None);
    }
    let plain = text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match text.parse::<f64>() {
        Ok(n) if plain && n.is_finite() => Ok(Some(n)),
        _ => Err(FormatError::value(place, field, text, "a number, +++++ or nothing")),
    }
}

/// A latency with its unit, as nanoseconds: `48125us`, `1645ms`, `2s`.
fn latency_ns(text: &str, place: &str, field: &str) -> Result<Option<f64>, FormatError> {
    if text.is_empty() || text.bytes().all(|b| b == b'+') {
        return Ok(None);
    }
    let units = [("us", 1e3), ("ms", 1e6), ("ns", 1.0), ("s", 1e9)];
    let found = units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, ns)));
    match found.map(|(digits, ns)| (number(digits, place, field), ns)) {
        Some((Ok(Some(n)), ns)) => Ok(Some(n * ns)),
        _ => Err(FormatError::value(place, field, text, "a latency such as 48125us or 1645ms")),
    }
}

#[cfg(test)]
#[path = "bonnie_tests.rs"]
mod tests;
