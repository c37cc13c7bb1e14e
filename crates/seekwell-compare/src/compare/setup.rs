//! What else differed: everything known of the two set-ups, not only the one thing that was meant
//! to be changed.

use crate::document::SetupDifference;
use crate::model::{RunValues, Side};
use seekwell_inspect::diff::diff;

/// The most differences listed among the runs of one side.
const MOST_TOLD: usize = 5;
/// What is kept of a source and differs between any two files.
const NOT_SETUP: [&str; 3] = ["measured at", "filename", "directory"];

/// What differs between the newest runs of two sides, the most important first, and whether both
/// say how their target was attached.
pub fn differences(a: &Side, b: &Side) -> (Vec<SetupDifference>, bool) {
    let (Some(a), Some(b)) = (a.runs.last(), b.runs.last()) else { return (Vec::new(), false) };
    let known = a.inspection.is_some() && b.inspection.is_some();
    (between(a, b), known)
}

fn between(a: &RunValues, b: &RunValues) -> Vec<SetupDifference> {
    let mut out = Vec::new();
    if let (Some(a), Some(b)) = (&a.inspection, &b.inspection) {
        out.extend(diff(a, b).into_iter().map(|c| SetupDifference {
            what: c.what,
            device: c.device,
            a: c.before,
            b: c.after,
            matters: c.matters,
        }));
    }
    let mut keys: Vec<&String> = a.about.keys().chain(b.about.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let (of_a, of_b) = (a.about.get(key).cloned(), b.about.get(key).cloned());
        if of_a != of_b {
            let matters = !NOT_SETUP.contains(&key.as_str());
            out.push(SetupDifference {
                what: key.clone(),
                device: None,
                a: of_a,
                b: of_b,
                matters,
            });
        }
    }
    if a.modelled != b.modelled {
        let word = |modelled| Some(if modelled { "a model" } else { "a disk" }.to_owned());
        out.insert(
            0,
            SetupDifference {
                what: "what was measured".into(),
                device: None,
                a: word(a.modelled),
                b: word(b.modelled),
                matters: true,
            },
        );
    }
    out.sort_by_key(|d| !d.matters);
    out
}

/// What differs between the runs of one side and could change how fast a disk is.
pub fn within(side: &Side) -> Vec<String> {
    let Some((first, rest)) = side.runs.split_first() else { return Vec::new() };
    let mut told: Vec<String> = Vec::new();
    for run in rest {
        for d in between(first, run).into_iter().filter(|d| d.matters) {
            let text = format!("{}, in {}", in_words(&d), run.name);
            if !told.iter().any(|t| t.starts_with(&in_words(&d))) {
                told.push(text);
            }
        }
    }
    let more = told.len().saturating_sub(MOST_TOLD);
    told.truncate(MOST_TOLD);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

/// A difference as a phrase: `queue depth 1 → 32 (sda)`.
pub fn in_words(d: &SetupDifference) -> String {
    let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "—".into());
    let device = d.device.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{}{device}: {} → {}", d.what, side(&d.a), side(&d.b))
}
