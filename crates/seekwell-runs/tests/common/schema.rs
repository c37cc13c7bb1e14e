//! The published schemas of the JSON documents, made strict: a key that they do not describe is an
//! error in a test, while readers must ignore it.
#![allow(dead_code, reason = "each test program uses some of it")]

use jsonschema::{Retrieve, Uri, Validator};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

const BASE: &str = "schema:///";

struct Strict;

impl Retrieve for Strict {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        read(uri.path().as_str().trim_start_matches('/'))
    }
}

fn read(file: &str) -> Result<Value, Box<dyn Error + Send + Sync>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(file))?)?;
    close(&mut schema);
    schema["$id"] = json!(format!("{BASE}{file}"));
    Ok(schema)
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(close);
            if map.get("properties").is_some_and(Value::is_object) {
                map.insert("unevaluatedProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// The validator of a file in docs/schema or, `FILE#/$defs/PART`, of a part of it.
fn validator(part: &str) -> Arc<Validator> {
    static MADE: LazyLock<Mutex<BTreeMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().expect("no panic");
    let build = || {
        let options = jsonschema::options().with_base_uri(BASE).with_retriever(Strict);
        let built = options.build(&json!({ "$ref": part }));
        Arc::new(built.unwrap_or_else(|error| panic!("docs/schema/{part}: {error}")))
    };
    Arc::clone(made.entry(part.to_owned()).or_insert_with(build))
}

/// A document of ours is what its schema says; other JSON is none of ours.
#[track_caller]
pub fn check(document: &Value) {
    let ours = document["schema"].as_str().and_then(|schema| schema.strip_prefix("seekwell/"));
    if let Some(name) = ours {
        conforms(&(name.replace('/', "-") + ".json"), document);
    }
}

#[track_caller]
fn conforms(part: &str, document: &Value) {
    let validator = validator(part);
    let found = validator.iter_errors(document).take(5);
    let found: Vec<_> = found.map(|e| format!("{}: {}", e.instance_path(), e.masked())).collect();
    assert!(found.is_empty(), "docs/schema/{part}: {found:#?}");
}

/// Each document is what the first of these parts says, and together they have every key that the
/// parts describe, but those for which there is a reason.
#[track_caller]
pub fn complete(parts: &[&str], documents: &[Value], absent: &[(&str, &str)]) {
    let mut described = BTreeSet::new();
    for part in parts {
        let (file, inside) = part.split_once('#').unwrap_or((part, ""));
        let schema = read(file).unwrap_or_else(|error| panic!("docs/schema/{file}: {error}"));
        let inner = schema.pointer(inside).unwrap_or_else(|| panic!("no docs/schema/{part}"));
        keys(&format!("{file}#{inside}"), inner, &mut described);
    }
    for document in documents {
        conforms(parts[0], document);
        let seen = validator(parts[0]).evaluate(document);
        for entry in seen.iter_annotations() {
            let at = entry.absolute_keyword_location.map_or("", |uri| uri.as_str());
            let at = at.strip_prefix(BASE).unwrap_or(at);
            let names = entry.annotations.value().as_array().into_iter().flatten();
            for name in names.filter_map(Value::as_str) {
                described.remove(&format!("{at}/{name}"));
            }
        }
    }
    for (key, reason) in absent {
        assert!(described.remove(*key), "docs/schema: {key} is there, not absent: {reason}");
    }
    assert!(described.is_empty(), "docs/schema describes what none of these has: {described:#?}");
}

/// All keys below a part, as pointers.
fn keys(at: &str, schema: &Value, out: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            // Beside a reference stands what is narrower about its keys, and no key.
            let properties = map.get("properties").filter(|_| !map.contains_key("$ref"));
            if let Some(Value::Object(properties)) = properties {
                out.extend(properties.keys().map(|key| format!("{at}/properties/{key}")));
            }
            map.iter().for_each(|(key, inner)| keys(&format!("{at}/{key}"), inner, out));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, inner)| keys(&format!("{at}/{i}"), inner, out));
        }
        _ => {}
    }
}
