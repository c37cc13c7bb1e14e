//! What differs between two inspections: which settings, which link, which driver.
//!
//! Both are compared as documents, value by value, so that a fact added later is compared without
//! a word here. What counts by itself (errors, free memory, temperatures) is left out, for it
//! differs always. Disks are distinguished by serial number and world-wide name, for a controller
//! in another mode may give them other names.

mod change;
mod names;
mod pair;
mod walk;

pub use change::Change;

use crate::inspection::Inspection;
use serde_json::Value;

/// What changed from `before` to `after`, the most important first; nothing when nothing did.
pub fn diff(before: &Inspection, after: &Inspection) -> Vec<Change> {
    diff_all(std::slice::from_ref(before), std::slice::from_ref(after))
}

/// The same for all that was inspected of two machines, or of one at two times.
pub fn diff_all(before: &[Inspection], after: &[Inspection]) -> Vec<Change> {
    let values = |all: &[Inspection]| -> Vec<Value> {
        all.iter().filter_map(|i| serde_json::to_value(i).ok()).collect()
    };
    let (before, after) = (values(before), values(after));
    let mut found = Vec::new();
    let first = |all: &[Value]| all.first().map_or(Value::Null, |i| i["host"].clone());
    if !before.is_empty() && !after.is_empty() {
        walk::compare("host", None, &first(&before), &first(&after), &mut found);
    }
    for (old, new) in pair::filesystems(&before, &after) {
        walk::compare("filesystem", None, old, new, &mut found);
    }
    for (old, new) in pair::devices(&before, &after) {
        let name = |device: &Value| device["name"].as_str().map(str::to_owned);
        match (old, new) {
            (Some(old), Some(new)) => {
                walk::compare("device", name(old), old, new, &mut found);
            }
            (old, new) => found.push(whole(old, new)),
        }
    }
    found.retain(|change| !names::nothing(change));
    found
        .sort_by_cached_key(|c| (!c.matters, names::rank(&c.key), c.device.clone(), c.key.clone()));
    // The device and its controller show the same.
    let mut told: Vec<Change> = Vec::new();
    for change in found {
        let same = |have: &Change| {
            have.device == change.device
                && have.what == change.what
                && have.before == change.before
                && have.after == change.after
        };
        if !told.iter().any(same) {
            told.push(change);
        }
    }
    told
}

/// A device that is on one side only.
fn whole(before: Option<&Value>, after: Option<&Value>) -> Change {
    let words = |device: &Value| {
        let fact = |key: &str| device[key]["value"].as_str().map(str::to_owned);
        let kind = device["kind"].as_str().unwrap_or("device").to_owned();
        fact("model").map_or(kind.clone(), |model| format!("{kind}, {model}"))
    };
    let any = before.or(after).and_then(|d| d["name"].as_str());
    Change {
        what: "the device itself".to_owned(),
        key: "device".to_owned(),
        device: any.map(str::to_owned),
        before: before.map(words),
        after: after.map(words),
        from_before: None,
        from_after: None,
        matters: true,
    }
}

#[cfg(test)]
mod tests;
