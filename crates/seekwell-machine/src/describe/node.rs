//! A description as a tree that remembers where each value was written and where it is from.
//!
//! ```toml
//! [drive]
//! from = "datasheet"                       # for everything below that does not say otherwise
//! rpm = 7200
//! command_us = { value = 250, from = "fitted", on = ["R0 sequential input, block"] }
//! ```

use super::error::{DescribeError, Problem};
use crate::file_line::FileLine;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Bytes of a description that are read; a real one has some thousand.
const MOST_BYTES: usize = 4 << 20;
/// Tables within tables.
const MOST_DEPTH: usize = 16;

/// Where a parameter's value is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// The maker's own figures, or a standard's.
    Datasheet,
    /// Measured on the thing, here or in a publication.
    Measured,
    /// Chosen so that the model meets figures; those do not count as reproduced.
    Fitted,
    /// A plausible value of such things.
    Assumed,
    /// Set by a what-if.
    Asked,
}

impl Provenance {
    /// All that a description may say.
    pub const WRITTEN: [Self; 4] = [Self::Datasheet, Self::Measured, Self::Fitted, Self::Assumed];

    /// The word in descriptions and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Datasheet => "datasheet",
            Self::Measured => "measured",
            Self::Fitted => "fitted",
            Self::Assumed => "assumed",
            Self::Asked => "asked",
        }
    }
}

/// Where a value is from and, if it was fitted, on what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The kind of source.
    pub source: Provenance,
    /// The figures it was fitted on; empty for all other sources.
    pub on: Vec<String>,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a point.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys with values, in the order written.
    Table(Vec<(String, Node)>),
}

/// A value, where it was written and where it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// File and line.
    pub place: FileLine,
    /// The value.
    pub value: Value,
    /// Where it is from, as far as that is said; tables have none of their own.
    pub origin: Option<Origin>,
    /// What its author has to say of it.
    pub note: Option<String>,
}

impl Node {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`DescribeError`] with the line, for what is not TOML, too large, too deep, or says of a
    /// value that it is from somewhere unknown.
    pub fn parse(file: &str, text: &str) -> Result<Self, DescribeError> {
        let reader = Reader { file: file.into(), lines: line_starts(text) };
        let top = |problem| DescribeError::new(reader.place(0), "", problem);
        if text.len() > MOST_BYTES {
            return Err(top(Problem::TooLarge { bytes: text.len(), most: MOST_BYTES }));
        }
        let table = DeTable::parse(text).map_err(|error| {
            let place = reader.place(error.span().map_or(0, |span| span.start));
            DescribeError::new(place, "", Problem::Syntax { message: error.message().to_owned() })
        })?;
        let mut root = reader.table(table.get_ref(), reader.place(0), "", 0)?;
        root.hand_down(None);
        Ok(root)
    }

    /// Gives every value the origin of the innermost table that has one, so that merging with
    /// another table changes none.
    fn hand_down(&mut self, from: Option<&Origin>) {
        let own = self.origin.take();
        let origin = own.as_ref().or(from);
        match &mut self.value {
            Value::Table(entries) => {
                entries.iter_mut().for_each(|(_, node)| node.hand_down(origin));
            }
            _ => self.origin = origin.cloned(),
        }
    }

    /// A table without keys.
    pub const fn empty(place: FileLine) -> Self {
        Self { place, value: Value::Table(Vec::new()), origin: None, note: None }
    }

    /// The value under a key of this table.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find_map(|(k, node)| (k == key).then_some(node))
    }

    /// The value under a key of this table, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.value {
            Value::Table(entries) => {
                entries.iter_mut().find_map(|(k, node)| (k == key).then_some(node))
            }
            _ => None,
        }
    }

    /// Puts a value under a key of this table, in place of what was there.
    pub fn put(&mut self, key: &str, node: Self) {
        if let Some(old) = self.get_mut(key) {
            *old = node;
        } else if let Value::Table(entries) = &mut self.value {
            entries.push((key.to_owned(), node));
        }
    }

    /// Takes a key and its value out of this table.
    pub fn take(&mut self, key: &str) -> Option<Self> {
        let Value::Table(entries) = &mut self.value else { return None };
        let index = entries.iter().position(|(k, _)| k == key)?;
        Some(entries.remove(index).1)
    }

    /// Keys and values, none of anything but a table.
    pub fn entries(&self) -> &[(String, Self)] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// What `over` says goes before what this says, key by key.
    pub fn merge(&mut self, over: Self) {
        match (&mut self.value, over) {
            (Value::Table(_), Self { value: Value::Table(entries), .. }) => {
                for (key, node) in entries {
                    match self.get_mut(&key) {
                        Some(mine) => mine.merge(node),
                        None => self.put(&key, node),
                    }
                }
            }
            (_, over) => *self = over,
        }
    }

    /// What kind of thing this is, in words.
    pub const fn kind(&self) -> &'static str {
        match self.value {
            Value::Bool(_) => "true or false",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Offsets at which lines begin.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

struct Reader {
    file: Arc<str>,
    lines: Vec<usize>,
}

impl Reader {
    fn place(&self, offset: usize) -> FileLine {
        let line = self.lines.partition_point(|start| *start <= offset) as u32;
        FileLine { file: Arc::clone(&self.file), line: line.max(1) }
    }

    fn table(
        &self,
        table: &DeTable<'_>,
        place: FileLine,
        path: &str,
        depth: usize,
    ) -> Result<Node, DescribeError> {
        if depth > MOST_DEPTH {
            let problem = Problem::TooDeep { most: MOST_DEPTH };
            return Err(DescribeError::new(place, path, problem));
        }
        let mut entries = Vec::with_capacity(table.len());
        let mut ordered: Vec<_> = table.iter().collect();
        ordered.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in ordered {
            let name = key.get_ref().as_ref();
            entries.push((name.to_owned(), self.value(value, &join(path, name), depth + 1)?));
        }
        let mut node = Node { place, value: Value::Table(entries), origin: None, note: None };
        node.origin = origin(&mut node, path)?;
        node.note = match node.take("note") {
            Some(Node { value: Value::Text(text), .. }) => Some(text),
            Some(other) => return Err(wrong(&other, &join(path, "note"), "text")),
            None => None,
        };
        // `{ value = …, from = … }` is that value.
        if node.entries().len() == 1
            && let Some(value) = node.take("value")
        {
            node.value = value.value;
        }
        Ok(node)
    }

    fn value(
        &self,
        value: &Spanned<DeValue<'_>>,
        path: &str,
        depth: usize,
    ) -> Result<Node, DescribeError> {
        let place = self.place(value.span().start);
        let bad = |found: &str, expected: &'static str| {
            let problem = Problem::Wrong { found: found.to_owned(), expected };
            DescribeError::new(place.clone(), path, problem)
        };
        let value = match value.get_ref() {
            DeValue::Table(table) => return self.table(table, place, path, depth),
            DeValue::Array(list) if depth < MOST_DEPTH => Value::List(
                list.iter()
                    .enumerate()
                    .map(|(i, item)| self.value(item, &format!("{path}[{i}]"), depth + 1))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Array(_) => {
                let problem = Problem::TooDeep { most: MOST_DEPTH };
                return Err(DescribeError::new(place, path, problem));
            }
            DeValue::Boolean(yes) => Value::Bool(*yes),
            DeValue::String(text) => Value::Text(text.as_ref().to_owned()),
            DeValue::Integer(number) => Value::Integer(
                i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| bad(number.as_str(), "a whole number below 2⁶³"))?,
            ),
            DeValue::Float(number) => {
                let parsed = number.as_str().parse::<f64>().ok().filter(|f| f.is_finite());
                Value::Float(parsed.ok_or_else(|| bad(number.as_str(), "a finite number"))?)
            }
            DeValue::Datetime(date) => return Err(bad(&date.to_string(), "no date")),
        };
        Ok(Node { place, value, origin: None, note: None })
    }
}

/// Takes what a table says of where its values are from.
fn origin(node: &mut Node, path: &str) -> Result<Option<Origin>, DescribeError> {
    let on = match node.take("on") {
        Some(on) => texts(&on, &join(path, "on"))?,
        None => Vec::new(),
    };
    let Some(from) = node.take("from") else { return Ok(None) };
    let path = join(path, "from");
    let Value::Text(word) = &from.value else { return Err(wrong(&from, &path, "text")) };
    let Some(source) = Provenance::WRITTEN.into_iter().find(|source| source.name() == word) else {
        let among = Provenance::WRITTEN.iter().map(|source| source.name().to_owned()).collect();
        let problem = Problem::NotAmong { found: word.clone(), among };
        return Err(DescribeError::new(from.place, &path, problem));
    };
    if (source == Provenance::Fitted) == on.is_empty() {
        return Err(DescribeError::new(from.place, &path, Problem::FittedOn));
    }
    Ok(Some(Origin { source, on }))
}

fn texts(node: &Node, path: &str) -> Result<Vec<String>, DescribeError> {
    let Value::List(items) = &node.value else { return Err(wrong(node, path, "a list")) };
    let text = |item: &Node| match &item.value {
        Value::Text(text) => Ok(text.clone()),
        _ => Err(wrong(item, path, "text")),
    };
    items.iter().map(text).collect()
}

/// A value of the wrong kind.
fn wrong(node: &Node, path: &str, expected: &'static str) -> DescribeError {
    let problem = Problem::Wrong { found: node.kind().to_owned(), expected };
    DescribeError::new(node.place.clone(), path, problem)
}
