//! Whether what a step printed is what the scenario says it must be.

use super::machine::Ran;
use super::scenario::{Condition, Expected, Step};
use serde_json::Value;

/// What is wrong, in sentences; and whether findings could be looked at.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// One sentence for each thing that is not as it must be.
    pub wrong: Vec<String>,
    /// The output is an inspection that says nothing of findings.
    pub without_findings: bool,
}

pub fn judge(step: &Step, ran: &Ran) -> Verdict {
    let mut verdict = Verdict::default();
    let wrong = &mut verdict.wrong;
    if ran.power_cut != step.power_cut {
        let how = if ran.power_cut { "was cut, and should not" } else { "was not cut" };
        wrong.push(format!("the power {how}"));
        return verdict;
    }
    if ran.status != step.exit {
        wrong.push(format!("exit status {}, not {}", ran.status, step.exit));
    }
    for (what, text, words) in
        [("standard output", &ran.out, &step.stdout), ("standard error", &ran.err, &step.stderr)]
    {
        let missing = words.iter().filter(|w| !text.contains(w.as_str()));
        wrong.extend(missing.map(|w| format!("{what} lacks {w:?}: {}", brief(text))));
    }
    let document: Option<Value> = serde_json::from_str(&ran.out).ok();
    if !(step.json.is_empty() && step.hops.is_empty()) && document.is_none() {
        wrong.push(format!("standard output is no JSON: {}", brief(&ran.out)));
    }
    let Some(document) = document else { return verdict };
    for (pointer, expected) in &step.json {
        wrong.extend(differs(pointer, at(&document, pointer), expected));
    }
    wrong.extend(hops(&step.hops, &document));
    match findings(&document) {
        Some(found) => wrong.extend(judge_findings(step, &found)),
        None => verdict.without_findings = is_inspection(&document),
    }
    verdict
}

/// What a JSON pointer leads to. A segment `key=text` is the first of a list whose key has this
/// value: `/limits/phase=seq-read-1m/by`.
fn at<'a>(document: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer.split('/').skip(1).try_fold(document, |value, segment| match segment.split_once('=') {
        Some((key, wanted)) => value.as_array()?.iter().find(|item| item[key] == wanted),
        None => value.pointer(&format!("/{segment}")),
    })
}

fn brief(text: &str) -> String {
    let line = text.trim().lines().next_back().unwrap_or("nothing");
    line.chars().take(300).collect()
}

fn differs(pointer: &str, value: Option<&Value>, expected: &Expected) -> Option<String> {
    let shown = value.map_or("absent".to_owned(), Value::to_string);
    let texts = || -> Vec<String> {
        let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        match value {
            Some(Value::Array(list)) => list.iter().map(text).collect(),
            other => other.iter().map(|v| text(v)).collect(),
        }
    };
    let number = value.and_then(Value::as_f64);
    let (holds, wanted) = match expected {
        Expected::Is(wanted) => (same(value, wanted), wanted.to_string()),
        Expected::Condition(condition) => match condition {
            Condition::Contains(w) => {
                (texts().iter().any(|t| t.contains(w)), format!("with {w:?}"))
            }
            Condition::Lacks(w) => {
                (!texts().iter().any(|t| t.contains(w)), format!("without {w:?}"))
            }
            Condition::AtLeast(n) => (number.is_some_and(|v| v >= *n), format!("{n} or more")),
            Condition::AtMost(n) => (number.is_some_and(|v| v <= *n), format!("{n} or less")),
            Condition::Present(p) => {
                let there = value.is_some_and(|v| !v.is_null());
                (there == *p, if *p { "there" } else { "absent" }.to_owned())
            }
            Condition::Length(n) => {
                let length = value.and_then(Value::as_array).map(Vec::len);
                (length == Some(*n), format!("a list of {n}"))
            }
        },
    };
    (!holds).then(|| format!("{pointer} is {shown}, not {wanted}"))
}

/// Numbers are the same by value, whether or not they are written with a point.
fn same(value: Option<&Value>, wanted: &Value) -> bool {
    match (value.and_then(Value::as_f64), wanted.as_f64()) {
        (Some(a), Some(b)) => a.to_bits() == b.to_bits(),
        _ => value == Some(wanted),
    }
}

/// Each wanted text is in a station of the attachment of the device (or of the first disk below
/// it), in this order.
fn hops(wanted: &[String], document: &Value) -> Option<String> {
    if wanted.is_empty() {
        return None;
    }
    let mut device =
        document.pointer("/device").or_else(|| document.pointer("/inspections/0/device"));
    while let Some(below) = device.and_then(|d| d.pointer("/below/0")) {
        device = Some(below);
    }
    let stations = device.and_then(|d| d.pointer("/attachment")).and_then(Value::as_array);
    let text = |hop: &Value| {
        ["kind", "name", "detail"].map(|k| hop[k].as_str().unwrap_or_default()).join(" ")
    };
    let stations: Vec<String> = stations.into_iter().flatten().map(text).collect();
    let mut rest = stations.iter();
    let missing = wanted.iter().find(|w| !rest.any(|s| s.contains(w.as_str())))?;
    Some(format!("the attachment lacks {missing:?} (in that order): {}", stations.join(" → ")))
}

fn is_inspection(document: &Value) -> bool {
    document["schema"].as_str().is_some_and(|s| s.starts_with("seekwell/inspect"))
}

/// Identifier, severity and title of every finding in an inspection or a list of them; `None` when
/// the document says nothing of findings.
fn findings(document: &Value) -> Option<Vec<(String, String, String)>> {
    if !is_inspection(document) {
        return None;
    }
    let several = document["inspections"].as_array();
    let all = std::iter::once(document).chain(several.into_iter().flatten());
    let lists: Vec<&Vec<Value>> = all.filter_map(|d| d["findings"].as_array()).collect();
    let text = |f: &Value, key: &str| f[key].as_str().unwrap_or_default().to_owned();
    let of = |f: &Value| (text(f, "id"), text(f, "severity"), text(f, "title"));
    (!lists.is_empty()).then(|| lists.into_iter().flatten().map(of).collect())
}

fn judge_findings(step: &Step, found: &[(String, String, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for id in &step.findings_must {
        if !found.iter().any(|(f, ..)| f == id) {
            wrong.push(format!("the finding {id} is not there"));
        }
    }
    let known = |id: &String| step.findings_must.contains(id) || step.findings_allowed.contains(id);
    for (id, severity, title) in
        found.iter().filter(|(id, severity, _)| severity != "info" && !known(id))
    {
        wrong.push(format!("the finding {id} ({severity}) should not be there: {title}"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(text: &str) -> Step {
        toml::from_str(&format!("name = \"s\"\n{text}")).unwrap()
    }

    fn ran(out: &str) -> Ran {
        Ran { out: out.to_owned(), ..Ran::default() }
    }

    fn wrong(text: &str, out: &str) -> Vec<String> {
        judge(&step(text), &ran(out)).wrong
    }

    const INSPECTION: &str = r#"{"schema": "seekwell/inspect/1", "notes": ["a", "virtual machine"],
        "device": {"driver": {"value": "ahci"}, "depth": 32, "model": null, "below": [],
        "attachment": [{"kind": "cpu", "name": "node 0", "detail": ""},
                       {"kind": "port", "name": "ata1", "detail": "SATA"}]}}"#;

    #[test]
    fn what_is_as_it_must_be_is_not_wrong() {
        let text = "hops = [\"cpu\", \"ata1 SATA\"]\n[json]\n\"/device/driver/value\" = \"ahci\"\n\
                    \"/device/attachment/kind=port/name\" = \"ata1\"\n\
                    \"/device/depth\" = 32\n\"/notes\" = { contains = \"virtual\" }\n\
                    \"/device/model\" = { present = false }\n\"/notes \" = { lacks = \"x\" }\n";
        assert_eq!(wrong(text, INSPECTION), Vec::<String>::new());
    }

    #[test]
    fn each_thing_that_differs_is_a_sentence_with_both_values() {
        let text = "exit = 3\nstdout = [\"nowhere\"]\nhops = [\"ata1\", \"cpu\"]\n[json]\n\
                    \"/device/driver/value\" = \"ata_piix\"\n\"/device/depth\" = { at_most = 31 }\n\
                    \"/device/model\" = { present = true }\n\"/notes\" = { length = 1 }\n";
        let wrong = wrong(text, INSPECTION);
        assert_eq!(wrong.len(), 7, "{wrong:?}");
        let all = wrong.join("\n");
        for words in [
            "exit status 0, not 3",
            "lacks \"nowhere\"",
            "/device/driver/value is \"ahci\", not \"ata_piix\"",
            "/device/depth is 32, not 31 or less",
            "/device/model is null, not there",
            "not a list of 1",
            "lacks \"cpu\"",
        ] {
            assert!(all.contains(words), "{words:?} is not in {all}");
        }
    }

    #[test]
    fn output_that_is_no_json_is_wrong_only_where_json_is_wanted() {
        assert_eq!(wrong("", "plain"), Vec::<String>::new());
        assert_eq!(wrong("[json]\n\"/a\" = 1\n", "plain").len(), 1);
    }

    #[test]
    fn a_finding_that_must_be_there_and_one_that_may_not_are_told() {
        let found = |ids: &[(&str, &str)]| {
            let list: Vec<Value> = ids
                .iter()
                .map(|(id, s)| serde_json::json!({"id": id, "severity": s, "title": "t"}))
                .collect();
            serde_json::json!({"schema": "seekwell/inspect/1", "findings": list}).to_string()
        };
        let text = "findings_must = [\"SW-A-001\"]\nfindings_allowed = [\"SW-B-001\"]";
        let good = found(&[("SW-A-001", "error"), ("SW-B-001", "warning"), ("SW-C-001", "info")]);
        assert_eq!(wrong(text, &good), Vec::<String>::new());
        let bad = wrong(text, &found(&[("SW-C-001", "warning")]));
        assert_eq!(bad.len(), 2, "{bad:?}");
        assert!(bad[0].contains("SW-A-001") && bad[1].contains("SW-C-001"), "{bad:?}");
    }

    #[test]
    fn findings_are_looked_for_once_the_program_tells_any() {
        let text = "findings_must = [\"SW-A-001\"]";
        let verdict = judge(&step(text), &ran(INSPECTION));
        assert_eq!(verdict, Verdict { wrong: Vec::new(), without_findings: true });
        let list = format!(
            r#"{{"schema": "seekwell/inspect-list/1", "inspections": [{INSPECTION},
            {{"findings": []}}]}}"#
        );
        assert_eq!(wrong(text, &list), ["the finding SW-A-001 is not there"]);
    }
}
