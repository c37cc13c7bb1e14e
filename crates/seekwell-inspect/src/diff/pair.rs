//! Which device of one inspection is which of the other.

use serde_json::Value;
use std::collections::BTreeMap;

/// The file systems of targets of the same name, or of the only targets there are.
pub(super) fn filesystems<'v>(
    before: &'v [Value],
    after: &'v [Value],
) -> Vec<(&'v Value, &'v Value)> {
    if let ([old], [new]) = (before, after) {
        return vec![(&old["filesystem"], &new["filesystem"])];
    }
    let same = |old: &&'v Value| after.iter().find(|new| new["path"] == old["path"]);
    before.iter().filter_map(|old| Some((&old["filesystem"], &same(&old)?["filesystem"]))).collect()
}

/// Each device on either side with itself on the other, if it is there.
pub(super) fn devices<'v>(
    before: &'v [Value],
    after: &'v [Value],
) -> Vec<(Option<&'v Value>, Option<&'v Value>)> {
    let mut old = all(before);
    let mut new = all(after);
    let mut pairs = Vec::new();
    let fact = |key: &'static str| {
        move |d: &Value| d[key]["value"].as_str().filter(|v| !v.is_empty()).map(str::to_owned)
    };
    let kind = |d: &Value| d["kind"].as_str().map(str::to_owned);
    let name = |d: &Value| Some(format!("{}:{}", kind(d)?, d["name"].as_str()?));
    match_by(&mut old, &mut new, &mut pairs, &fact("serial"));
    match_by(&mut old, &mut new, &mut pairs, &fact("wwn"));
    // A disk with another serial number under the same name is another disk.
    let nameless = |d: &Value| name(d).filter(|_| fact("serial")(d).is_none());
    match_by(&mut old, &mut new, &mut pairs, &nameless);
    match_by(&mut old, &mut new, &mut pairs, &name);
    // The only disk left on either side was put in the place of the other.
    match_by(&mut old, &mut new, &mut pairs, &kind);
    pairs.extend(old.into_iter().map(|d| (Some(d), None)));
    pairs.extend(new.into_iter().map(|d| (None, Some(d))));
    pairs
}

type Pairs<'v> = Vec<(Option<&'v Value>, Option<&'v Value>)>;

/// Takes out of both lists the devices on both sides that `by` identifies.
fn match_by<'v>(
    old: &mut Vec<&'v Value>,
    new: &mut Vec<&'v Value>,
    pairs: &mut Pairs<'v>,
    by: &dyn Fn(&Value) -> Option<String>,
) {
    let count = |list: &[&Value]| {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        list.iter().filter_map(|d| by(d)).for_each(|key| *seen.entry(key).or_default() += 1);
        seen
    };
    let (in_old, in_new) = (count(old), count(new));
    let once = |key: &String| in_old.get(key) == Some(&1) && in_new.get(key) == Some(&1);
    old.retain(|device| {
        let Some(key) = by(device).filter(|key| once(key)) else { return true };
        let Some(at) = new.iter().position(|d| by(d).as_ref() == Some(&key)) else { return true };
        pairs.push((Some(device), Some(new.remove(at))));
        false
    });
}

/// Every device with all it stands on, each once.
fn all(inspections: &[Value]) -> Vec<&Value> {
    fn walk<'v>(device: &'v Value, out: &mut Vec<&'v Value>) {
        if !device.is_object() {
            return;
        }
        let same = |have: &&Value| have["name"] == device["name"] && have["dev"] == device["dev"];
        if !out.iter().any(same) {
            out.push(device);
        }
        device["below"].as_array().into_iter().flatten().for_each(|d| walk(d, out));
    }
    let mut out = Vec::new();
    inspections.iter().for_each(|i| walk(&i["device"], &mut out));
    out
}
