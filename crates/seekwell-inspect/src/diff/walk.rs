//! Two documents side by side.

use super::change::Change;
use super::names;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Finds every difference below `key`.
pub(super) fn compare(
    key: &str,
    device: Option<String>,
    before: &Value,
    after: &Value,
    found: &mut Vec<Change>,
) {
    let mut walk = Walk { device, found };
    if key == "device" {
        walk.controller(before, after);
    }
    let nowhere = (None, None);
    walk.values(key, before, after, &nowhere);
}

struct Walk<'f> {
    device: Option<String>,
    found: &'f mut Vec<Change>,
}

/// Where the values before and after were read.
type From = (Option<String>, Option<String>);

impl Walk<'_> {
    fn values(&mut self, key: &str, before: &Value, after: &Value, from: &From) {
        if before == after {
            return;
        }
        // Both null are equal, so one of the two is a fact.
        if let (Some((old, at_old)), Some((new, at_new))) = (fact(before), fact(after)) {
            let at = |at: Option<&str>, above: &Option<String>| {
                at.map(str::to_owned).or_else(|| above.clone())
            };
            return self.values(key, old, new, &(at(at_old, &from.0), at(at_new, &from.1)));
        }
        match (before, after) {
            (Value::Object(old), Value::Object(new)) => self.objects(key, old, new, from),
            (Value::Object(old), Value::Null) => self.objects(key, old, &Map::new(), from),
            (Value::Null, Value::Object(new)) => self.objects(key, &Map::new(), new, from),
            (Value::Array(old), Value::Array(new)) => self.arrays(key, old, new, from),
            (Value::Array(old), Value::Null) => self.arrays(key, old, &[], from),
            (Value::Null, Value::Array(new)) => self.arrays(key, &[], new, from),
            (old, new) => self.changed(key, words(key, old), words(key, new), from),
        }
    }

    fn objects(
        &mut self,
        key: &str,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        from: &From,
    ) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names.into_iter().filter(|n| !names::ignored(n)) {
            let of = |map: &Map<String, Value>| map.get(name).cloned().unwrap_or(Value::Null);
            self.values(&format!("{key}.{name}"), &of(before), &of(after), from);
        }
    }

    fn arrays(&mut self, key: &str, before: &[Value], after: &[Value], from: &From) {
        let plain = |v: &Value| !v.is_object() && !v.is_array();
        if before.iter().chain(after).all(plain) {
            return self.sets(key, before, after, from);
        }
        if before.iter().chain(after).all(|v| label(v).is_some()) {
            let labels: BTreeSet<String> = before.iter().chain(after).filter_map(label).collect();
            for name in labels {
                let of = |all: &[Value]| {
                    let this = all.iter().find(|v| label(v).as_ref() == Some(&name));
                    this.cloned().unwrap_or(Value::Null)
                };
                self.values(key, &of(before), &of(after), from);
            }
            return;
        }
        // The last is nearest to the disk: of PCI functions, its controller.
        for back in 1..=before.len().max(after.len()) {
            let of = |all: &[Value]| {
                let at = all.len().checked_sub(back);
                at.map_or(Value::Null, |at| all[at].clone())
            };
            self.values(key, &of(before), &of(after), from);
        }
    }

    /// Lists of words, such as mount options: only what one side has alone is said.
    fn sets(&mut self, key: &str, before: &[Value], after: &[Value], from: &From) {
        let only = |these: &[Value], others: &[Value]| {
            let alone: Vec<String> = these
                .iter()
                .filter(|v| !others.contains(v))
                .filter_map(|v| words(key, v))
                .collect();
            (!alone.is_empty()).then(|| alone.join(","))
        };
        self.changed(key, only(before, after), only(after, before), from);
    }

    fn changed(&mut self, key: &str, before: Option<String>, after: Option<String>, from: &From) {
        if before == after {
            return;
        }
        let (what, matters) = names::name(key);
        let (before, after) = match key.ends_with("command_line") {
            true => different_words(before, after),
            false => (before, after),
        };
        self.found.push(Change {
            what,
            key: key.to_owned(),
            device: self.device.clone(),
            from_before: from.0.clone().filter(|_| before.is_some()),
            from_after: from.1.clone().filter(|_| after.is_some()),
            before,
            after,
            matters,
        });
    }

    /// What the controller is, in words, from its station on the way to the disk.
    fn controller(&mut self, before: &Value, after: &Value) {
        let of = |device: &Value| {
            let hops = device["attachment"].as_array()?;
            let hop = hops.iter().find(|hop| hop["kind"] == "controller")?;
            let words = hop["detail"].as_str()?.split(" [").next()?.to_owned();
            let words = words.split(", driver").next()?.to_owned();
            Some((words, hop["from"].as_str().map(str::to_owned)))
        };
        let (old, new) = (of(before), of(after));
        let from =
            |side: &Option<(String, Option<String>)>| side.as_ref().and_then(|s| s.1.clone());
        let at = (from(&old), from(&new));
        self.changed("device.controller", old.map(|s| s.0), new.map(|s| s.0), &at);
    }
}

/// Value and origin of a fact; a missing one has neither.
fn fact(value: &Value) -> Option<(&Value, Option<&str>)> {
    match value {
        Value::Null => Some((&Value::Null, None)),
        Value::Object(map) if map.len() == 2 => {
            Some((map.get("value")?, Some(map.get("from")?.as_str()?)))
        }
        _ => None,
    }
}

/// By what an element of a list is known on both sides.
fn label(value: &Value) -> Option<String> {
    let text = |v: &Value| v.as_str().map(str::to_owned);
    let of = |key: &str| text(&value[key]).or_else(|| text(&value[key]["value"]));
    match value {
        Value::Object(map) if map.contains_key("mount_point") => of("mount_point"),
        Value::Object(map) if map.contains_key("class") => None,
        Value::Object(_) => of("name").or_else(|| of("id")),
        Value::Array(pair) => pair.first().and_then(text),
        _ => None,
    }
}

fn words(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(yes) => Some(if *yes { "yes" } else { "no" }.to_owned()),
        Value::Number(number) => Some(names::number(key, number)),
        Value::String(text) => Some(names::text(text)),
        other => Some(other.to_string()),
    }
}

/// Of two lines the words only one has.
fn different_words(
    before: Option<String>,
    after: Option<String>,
) -> (Option<String>, Option<String>) {
    let split = |line: &Option<String>| -> Vec<String> {
        line.iter().flat_map(|l| l.split_whitespace()).map(str::to_owned).collect()
    };
    let (old, new) = (split(&before), split(&after));
    let only = |these: &[String], others: &[String]| {
        let alone: Vec<&str> =
            these.iter().filter(|w| !others.contains(w)).map(String::as_str).collect();
        (!alone.is_empty()).then(|| alone.join(" "))
    };
    match (only(&old, &new), only(&new, &old)) {
        // The same words in another order.
        (None, None) => (before, after),
        different => different,
    }
}
