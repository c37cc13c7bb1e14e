//! What a drive says of its health, in rows.

use crate::text::clean;
use crate::units::{binary, three_digits};
use seekwell_inspect::health::{Health, Measure as M, Outcome, Unit};

/// Values that are in the document but not in the text: few readers need them.
const LEFT_OUT: [M; 8] = [
    M::SpareThreshold,
    M::TemperatureWarning,
    M::TemperatureCritical,
    M::MediaRead,
    M::ReadCommands,
    M::WriteCommands,
    M::BusyTime,
    M::PowerStates,
];

/// Each row: name, value, and where it was read. Counts of nothing are left out, but for those of
/// media errors.
pub fn rows(health: &Health) -> Vec<(&'static str, String, String)> {
    let mut out = Vec::new();
    let mut add = |name, value: String, from: &str| out.push((name, value, clean(from)));
    if let Some(warnings) = &health.warnings {
        let words: Vec<&str> = warnings.value.iter().map(|w| w.words()).collect();
        let state = if words.is_empty() { "good".to_owned() } else { words.join(", ") };
        add("state", state, &warnings.from);
    }
    for (measure, fact) in &health.values {
        let level = matches!(measure.unit(), Unit::Percent | Unit::Celsius | Unit::Size);
        let counts = fact.value != 0 || level || *measure == M::MediaErrors;
        if counts && !LEFT_OUT.contains(measure) {
            add(measure.words(), measure.text(fact.value), &fact.from);
        }
    }
    if let (Some(factor), Some(from)) = (health.write_amplification(), health.get(M::MediaWritten))
    {
        add("write amplification", three_digits(factor), &from.from);
    }
    if let (Some(test), Some(tests)) = (health.last_test(), &health.self_tests) {
        let outcome = if test.outcome == Outcome::Failed { "failed" } else { "passed" };
        add("last self-test", format!("{outcome} at {} h", test.hours), &tests.from);
    }
    if let Some(formats) = &health.formats {
        let one = |f: &seekwell_inspect::health::LbaFormat| {
            let metadata = match f.metadata_bytes {
                0 => String::new(),
                bytes => format!("+{bytes}"),
            };
            let used = if f.in_use { " (in use)" } else { "" };
            format!("{}{metadata}{used}", binary(f.data_bytes))
        };
        let all: Vec<String> = formats.value.iter().map(one).collect();
        add("LBA formats", all.join(", "), &formats.from);
    }
    out
}
