//! A result file that the Phoronix Test Suite's own viewer shows: one system for each side, one
//! result for each metric, the runs as raw values.
//!
//! Written after `result-file.xsd` and `types.xsd` of the suite: the order of elements matters,
//! titles have 2 to 50 characters and identifiers 1 to 128, times are `YYYY-MM-DD HH:MM:SS`. The
//! suite's readers take the mean for the value and find the error from the raw values, so the mean
//! is written here too, where every other output of this program has the median.

use crate::model::{Better, Class, Rank, RunValues, Side, Unit, Value};
use quick_xml::escape::escape;
use seekwell_inspect::{Fact, Inspection};
use seekwell_sys::classify;
use std::fmt::Write;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    pub version: String,
    /// The time of writing, RFC 3339.
    pub now: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    #[error("there is nothing to write: a result file needs at least one result")]
    Nothing,
}

classify!(WriteError {
    Usage: Nothing;
});

/// The sides as a result file.
///
/// # Errors
/// [`WriteError::Nothing`] when there is nothing to write: the schema asks for one result.
pub fn phoronix_xml(sides: &[Side], about: &About) -> Result<String, WriteError> {
    let results = results(sides);
    if results.is_empty() {
        return Err(WriteError::Nothing);
    }
    let names: Vec<String> = identifiers(sides);
    let now = timestamp(&about.now).unwrap_or_else(|| "1970-01-01 00:00:00".to_owned());
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PhoronixTestSuite>\n");
    let client = format!("seekwell {}", about.version);
    let description = names.join(", ");
    out += "  <Generated>\n";
    element(&mut out, 4, "Title", &clip("seekwell compare", 50));
    element(&mut out, 4, "LastModified", &now);
    element(&mut out, 4, "TestClient", &client);
    element(&mut out, 4, "Description", &clip(&description, 2048));
    out += "  </Generated>\n";
    for (side, name) in sides.iter().zip(&names) {
        system(&mut out, side, name, &now, &client);
    }
    for result in &results {
        write_result(&mut out, result, &names, &about.version);
    }
    out += "</PhoronixTestSuite>\n";
    Ok(out)
}

/// Names of the sides, made different from each other if they are not.
fn identifiers(sides: &[Side]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for side in sides {
        let modelled = side.runs.iter().any(|r| r.modelled);
        let mark = if modelled { " (modelled)" } else { "" };
        let name = format!("{}{mark}", clip(&plain(&side.name), 100));
        let mut unique = if name.trim().is_empty() { "side".to_owned() } else { name.clone() };
        for n in 2.. {
            if !out.contains(&unique) {
                break;
            }
            unique = format!("{name} {n}");
        }
        out.push(unique);
    }
    out
}

fn system(out: &mut String, side: &Side, name: &str, now: &str, client: &str) {
    let newest = side.runs.last();
    let inspection = newest.and_then(|r| r.inspection.as_deref());
    let started = newest.and_then(|r| timestamp(r.started_at.as_ref()?));
    *out += "  <System>\n";
    element(out, 4, "Identifier", name);
    element(out, 4, "Hardware", &inspection.map(hardware).unwrap_or_default());
    element(out, 4, "Software", &software(newest, inspection));
    element(out, 4, "User", "");
    element(out, 4, "TimeStamp", started.as_deref().unwrap_or(now));
    element(out, 4, "TestClientVersion", client);
    element(out, 4, "Notes", "");
    *out += "  </System>\n";
}

/// `Key: value` pairs with commas between; a comma inside a value would end it.
fn pairs(pairs: Vec<(String, Option<String>)>) -> String {
    let known = pairs.into_iter().filter_map(|(key, value)| Some((key, value?)));
    let told = known.map(|(key, value)| format!("{key}: {}", value.replace(',', ";")));
    told.collect::<Vec<_>>().join(", ")
}

fn hardware(inspection: &Inspection) -> String {
    let text = |fact: &Option<Fact<String>>| fact.as_ref().map(|f| f.value.clone());
    let memory = inspection.host.memory_bytes.as_ref();
    let disks = inspection.disks();
    let models: Vec<String> = disks.iter().filter_map(|d| text(&d.model)).collect();
    let drivers: Vec<String> = disks.iter().filter_map(|d| text(&d.driver)).collect();
    let several = |all: Vec<String>| (!all.is_empty()).then(|| all.join(" + "));
    pairs(vec![
        ("Processor".into(), text(&inspection.host.cpu_model)),
        ("Memory".into(), memory.map(|m| format!("{} MB", m.value >> 20))),
        ("Disk".into(), several(models)),
        ("Disk Driver".into(), several(drivers)),
    ])
}

fn software(run: Option<&RunValues>, inspection: Option<&Inspection>) -> String {
    let kernel = inspection.and_then(|i| i.host.kernel.as_ref()).map(|k| k.value.clone());
    let fs = inspection.and_then(|i| i.filesystem.as_ref()).map(|f| f.fstype.value.clone());
    let mut all = vec![("Kernel".into(), kernel), ("File-System".into(), fs)];
    let about = run.into_iter().flat_map(|r| &r.about);
    all.extend(about.map(|(key, value)| (key.clone(), Some(value.clone()))));
    pairs(all)
}

struct ResultRow<'a> {
    group: String,
    title: String,
    described: &'a Value,
    /// Values of each side that has it: its number and one value for each run.
    values: Vec<(usize, Vec<f64>)>,
}

fn results(sides: &[Side]) -> Vec<ResultRow<'_>> {
    let mut out: Vec<ResultRow<'_>> = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        for group in side.runs.iter().flat_map(|r| &r.groups).filter(|g| g.invalid.is_none()) {
            for value in group.values.iter().filter(|v| v.rank != Rank::Detail) {
                let same = |row: &&mut ResultRow<'_>| {
                    row.group == group.name
                        && row.described.metric == value.metric
                        && row.described.unit == value.unit
                };
                match out.iter_mut().find(same) {
                    None => out.push(ResultRow {
                        group: group.name.clone(),
                        title: group.title.clone(),
                        described: value,
                        values: vec![(at, vec![value.value])],
                    }),
                    Some(row) => match row.values.iter_mut().find(|(i, _)| *i == at) {
                        Some((_, values)) => values.push(value.value),
                        None => row.values.push((at, vec![value.value])),
                    },
                }
            }
        }
    }
    out
}

/// The unit as the suite writes it, and what a value is divided by.
fn scale(value: &Value) -> (String, f64) {
    match &value.unit {
        Unit::PerSecond if value.class == Class::Metadata => ("Files/s".into(), 1.0),
        Unit::BytesPerSecond => ("MB/s".into(), 1e6),
        Unit::PerSecond => ("IOPS".into(), 1.0),
        Unit::Nanoseconds => ("us".into(), 1e3),
        Unit::Percent => ("%".into(), 1.0),
        Unit::Share => ("Share".into(), 1.0),
        Unit::Count => ("Count".into(), 1.0),
        Unit::Other(text) => (text.clone(), 1.0),
    }
}

fn write_result(out: &mut String, row: &ResultRow<'_>, names: &[String], version: &str) {
    let (scale, divisor) = scale(row.described);
    let proportion = match row.described.better {
        Better::Higher => "HIB",
        Better::Lower => "LIB",
        Better::Neither => "ABSTRACT",
    };
    let description = match row.described.title.is_empty() {
        true => row.title.clone(),
        false => format!("{}: {}", row.title, row.described.title),
    };
    *out += "  <Result>\n";
    element(out, 4, "Identifier", &format!("local/seekwell-{version}"));
    element(out, 4, "Title", "seekwell");
    element(out, 4, "AppVersion", version);
    element(out, 4, "Arguments", &format!("{} {}", row.group, row.described.metric));
    element(out, 4, "Description", &description);
    element(out, 4, "Scale", &scale);
    element(out, 4, "Proportion", proportion);
    element(out, 4, "DisplayFormat", "BAR_GRAPH");
    *out += "    <Data>\n";
    for (at, values) in &row.values {
        let scaled: Vec<f64> = values.iter().map(|v| v / divisor).collect();
        let mean = scaled.iter().sum::<f64>() / scaled.len() as f64;
        let raw: Vec<String> = scaled.iter().map(f64::to_string).collect();
        *out += "      <Entry>\n";
        element(out, 8, "Identifier", &names[*at]);
        element(out, 8, "Value", &mean.to_string());
        element(out, 8, "RawString", &raw.join(":"));
        *out += "      </Entry>\n";
    }
    *out += "    </Data>\n  </Result>\n";
}

fn element(out: &mut String, indent: usize, name: &str, text: &str) {
    let text = plain(text);
    let _ = writeln!(out, "{:indent$}<{name}>{}</{name}>", "", escape(text.as_str()));
}

/// Text without the characters that no XML document may hold.
fn plain(text: &str) -> String {
    let legal = |c: char| !c.is_control() && c != '\u{fffe}' && c != '\u{ffff}';
    text.chars().map(|c| if legal(c) { c } else { '\u{fffd}' }).collect()
}

fn clip(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// A time of RFC 3339 as the suite writes it; `None` of any other text.
fn timestamp(time: &str) -> Option<String> {
    let (date, clock) = (time.get(..10)?, time.get(11..19)?);
    let pattern = |text: &str, pattern: &str| {
        let fits = |(c, p): (char, char)| if p == '0' { c.is_ascii_digit() } else { c == p };
        text.len() == pattern.len() && text.chars().zip(pattern.chars()).all(fits)
    };
    let fits = pattern(date, "0000-00-00") && pattern(clock, "00:00:00");
    (fits && time.as_bytes()[10] == b'T').then(|| format!("{date} {clock}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SourceKind;
    use crate::sources::{bonnie, phoronix};

    const LINE: &str = "1.96,1.96,kvm,1,1,4G,,439,99,52686,15,27168,5,2039,99,62782,4,228.9,3,\
384,,,,,17299,43,379058,99,777,1,24781,49,522877,100,579,1,48125us,1645ms,1545ms,16144us,137ms,\
863ms,1773ms,169us,18519ms,1403ms,14us,14935ms\n";

    fn about() -> About {
        About { version: "0.1.0".into(), now: "2026-11-20T23:15:02.5Z".into() }
    }

    fn side(name: &str, text: &str) -> Side {
        let runs = bonnie::read(text, name).unwrap();
        Side { name: name.into(), source: SourceKind::BonnieCsv, runs }
    }

    #[test]
    fn what_is_written_is_read_back_as_the_same_numbers() {
        let sides = [side("a & <b>", &LINE.repeat(3)), side("c", &LINE.replace("777", "1645"))];
        let text = phoronix_xml(&sides, &about()).unwrap();
        let back = phoronix::read(&text, "f").unwrap();
        let names: Vec<&str> = back.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a & <b>", "c"]);
        assert_eq!((back[0].1.len(), back[1].1.len()), (3, 1));
        for (side, (_, runs)) in sides.iter().zip(&back) {
            let wanted = side.runs[0].groups[0].values.iter().filter(|v| v.rank != Rank::Detail);
            let wanted: Vec<f64> = wanted.map(|v| v.value).collect();
            let found: Vec<f64> = runs[0].groups.iter().map(|g| g.values[0].value).collect();
            assert_eq!(found.len(), 12);
            for (wanted, found) in wanted.iter().zip(&found) {
                assert!((wanted / found - 1.0).abs() < 1e-12, "{wanted} {found}");
            }
        }
        assert_eq!(back[0].1[0].about["machine"], "kvm");
        assert!(text.contains("<LastModified>2026-11-20 23:15:02</LastModified>"));
    }

    #[test]
    fn names_that_are_equal_empty_long_or_hold_control_characters_stay_legal_and_apart() {
        let long = "x".repeat(500);
        let names = ["a", "a", "", "\u{1b}[2J", &long, &long];
        let sides: Vec<Side> = names.iter().map(|name| side(name, LINE)).collect();
        let text = phoronix_xml(&sides, &about()).unwrap();
        assert!(!text.contains('\u{1b}'));
        let back = phoronix::read(&text, "f").unwrap();
        assert_eq!(back.len(), 6);
        assert!(back.iter().all(|(name, _)| (1..=128).contains(&name.chars().count())));
    }

    #[test]
    fn nothing_to_write_is_an_error_and_a_strange_time_is_not_written() {
        assert_eq!(phoronix_xml(&[], &about()), Err(WriteError::Nothing));
        for time in ["", "yesterday", "2026-11-20 23:15:02", "2026-1é-20T23:15:02Z"] {
            assert_eq!(timestamp(time), None, "{time}");
        }
    }
}
