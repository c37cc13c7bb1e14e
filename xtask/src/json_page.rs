//! `cargo xtask json-page`: docs/json.md, from the schemas in docs/schema and the prose of its
//! `page.md`, where `{{NAME}}` stands for all that NAME.json describes.

use crate::{Failure, root};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// What the schemas use of JSON Schema, with keys in the order in which they are written.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Schema {
    #[serde(rename = "$schema")]
    dialect: Option<String>,
    title: String,
    description: String,
    #[serde(rename = "$ref")]
    reference: Option<String>,
    #[serde(rename = "type")]
    types: Option<Types>,
    #[serde(rename = "const")]
    constant: Option<String>,
    #[serde(rename = "enum")]
    words: Vec<Value>,
    one_of: Vec<Self>,
    any_of: Vec<Self>,
    properties: IndexMap<String, Self>,
    required: Vec<String>,
    additional_properties: Option<Box<Self>>,
    property_names: Option<Box<Self>>,
    min_properties: Option<u64>,
    max_properties: Option<u64>,
    items: Option<Box<Self>>,
    prefix_items: Vec<Self>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    #[serde(rename = "$defs")]
    parts: IndexMap<String, Self>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Types {
    One(String),
    Several(Vec<String>),
}

pub fn run() -> Result<ExitCode, Failure> {
    fs::write(root().join("docs/json.md"), page(&root().join("docs/schema"))?)?;
    Ok(ExitCode::SUCCESS)
}

/// The page; each schema of the folder has its place in it.
fn page(folder: &Path) -> Result<String, Failure> {
    let mut schemas = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|e| e == "json") {
            let schema: Schema = serde_json::from_str(&fs::read_to_string(&path)?)
                .map_err(|e| format!("{}: {e}", path.display()))?;
            schemas.insert(name, schema);
        }
    }
    let titles: BTreeMap<_, _> =
        schemas.iter().map(|(n, s)| (n.clone(), s.title.clone())).collect();
    let mut out = String::new();
    for line in fs::read_to_string(folder.join("page.md"))?.lines() {
        let named = line.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        match named.map(|name| (name, schemas.remove(name))) {
            None => writeln!(out, "{line}")?,
            Some((name, Some(schema))) => {
                out += &Section { name, titles: &titles }.text(&schema)?
            }
            Some((name, None)) => return Err(format!("page.md: no {name}.json, or twice").into()),
        }
    }
    match schemas.keys().next() {
        None => Ok(out),
        Some(name) => Err(format!("page.md: {{{{{name}}}}} is missing").into()),
    }
}

/// What one file describes.
struct Section<'a> {
    name: &'a str,
    titles: &'a BTreeMap<String, String>,
}

impl Section<'_> {
    fn text(&self, schema: &Schema) -> Result<String, Failure> {
        let mut out = format!("## {}\n\n", schema.title);
        self.describe(schema, &mut out)?;
        for (part, schema) in &schema.parts {
            write!(out, "\n### {}\n\n", heading(self.name, part))?;
            self.describe(schema, &mut out)?;
        }
        Ok(out)
    }

    fn describe(&self, schema: &Schema, out: &mut String) -> Result<(), Failure> {
        writeln!(out, "{}", schema.description)?;
        if !schema.one_of.is_empty() {
            writeln!(out, "\nOne of {}.", self.kinds(&schema.one_of, ", ", ""))?;
        }
        if !schema.properties.is_empty() {
            writeln!(out, "\n| key | type | meaning |\n|---|---|---|")?;
            self.rows("", schema, out)?;
        }
        Ok(())
    }

    /// A row for each key, and for those of what lies in it unless that has a table of its own.
    fn rows(&self, above: &str, schema: &Schema, out: &mut String) -> Result<(), Failure> {
        for (key, value) in &schema.properties {
            let optional = if schema.required.contains(key) { "" } else { "optional " };
            let (kind, meaning) = (self.kind(value, &value.description), &value.description);
            writeln!(out, "| `{above}{key}` | {optional}{kind} | {meaning} |")?;
            let (mut path, mut inner) = (format!("{above}{key}"), value);
            loop {
                // Of a fact, what lies in its value.
                if inner.reference.is_some() {
                    let Some(value) = inner.properties.get("value") else { break };
                    (path, inner) = (path + ".value", value);
                } else if let Some(items) = &inner.items {
                    (path, inner) = (path + "[]", items);
                } else if let Some(values) = &inner.additional_properties {
                    (path, inner) = (path + ".*", values);
                } else {
                    break self.rows(&format!("{path}."), inner, out)?;
                }
            }
        }
        Ok(())
    }

    fn kinds(&self, schemas: &[Schema], between: &str, meaning: &str) -> String {
        let kinds: Vec<_> = schemas.iter().map(|schema| self.kind(schema, meaning)).collect();
        kinds.join(between)
    }

    /// The type in words. Words of a closed set that the meaning names are not repeated.
    fn kind(&self, schema: &Schema, meaning: &str) -> String {
        if let Some(target) = &schema.reference {
            let of =
                schema.properties.get("value").map(|v| format!(" of {}", self.kind(v, meaning)));
            return self.link(target) + &of.unwrap_or_default();
        }
        if let Some(word) = &schema.constant {
            return format!("`{word}`");
        }
        if !schema.words.is_empty() {
            let quoted = schema.words.iter().map(|word| match word {
                Value::String(word) => format!("`{word}`"),
                other => other.to_string(),
            });
            let named = |word: &String| word == "null" || meaning.contains(word);
            let words: Vec<_> = quoted.collect();
            return match (words.iter().all(named), words.last().is_some_and(|w| w == "null")) {
                (true, true) => "word or null".to_owned(),
                (true, false) => "word".to_owned(),
                (false, _) => words.join(", "),
            };
        }
        if let Some(items) = &schema.items {
            return format!("list of {}", self.kind(items, meaning)) + or_null(schema);
        }
        if !schema.prefix_items.is_empty() {
            return format!("[{}]", self.kinds(&schema.prefix_items, ", ", meaning))
                + or_null(schema);
        }
        if let Some(values) = &schema.additional_properties {
            return format!("{} by name", self.kind(values, meaning)) + or_null(schema);
        }
        match &schema.types {
            Some(Types::One(name)) => name.clone(),
            Some(Types::Several(names)) => names.join(" or "),
            None if schema.any_of.is_empty() => "any".to_owned(),
            None => self.kinds(&schema.any_of, " or ", meaning),
        }
    }

    /// A link to the table of what is referred to: `FILE.json`, or `FILE.json#/$defs/PART`.
    fn link(&self, target: &str) -> String {
        let (file, part) = target.split_once("#/$defs/").unwrap_or((target, ""));
        let name = file.strip_suffix(".json").unwrap_or(self.name);
        let (text, heading) = match (part, self.titles.get(name)) {
            ("", Some(title)) => (title.clone(), title.clone()),
            _ => (part.to_owned(), heading(name, part)),
        };
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        format!("[{text}](#{})", kept.collect::<String>().replace(' ', "-"))
    }
}

/// `run: phase` for a part of `run-1`.
fn heading(name: &str, part: &str) -> String {
    format!("{}: {part}", name.trim_end_matches(|c: char| c == '-' || c.is_ascii_digit()))
}

fn or_null(schema: &Schema) -> &'static str {
    match &schema.types {
        Some(Types::Several(_)) => " or null",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_documents_is_what_the_schemas_say() {
        let page = page(&root().join("docs/schema")).unwrap();
        let kept = fs::read_to_string(root().join("docs/json.md")).unwrap();
        let differs = kept.lines().zip(page.lines()).find(|(kept, made)| kept != made);
        assert!(kept == page, "run `cargo xtask json-page`; first difference: {differs:?}");
    }
}
