//! A whole description: a file, the parts it names, and what somebody wants to be different.

use super::error::{DescribeError, Problem};
use super::node::{Node, Origin, Provenance, Value, join};
use crate::file_line::FileLine;
use seekwell_sys::nearest;

/// The key that names a part whose keys hold where a table has none of its own.
const PART: &str = "part";
/// The key that decides which other keys a table has.
const KIND: &str = "kind";
/// Keys that a table keeps when its kind changes.
const KEPT: [&str; 2] = ["count", "fast"];
const MOST_PARTS: usize = 8;

/// Where parts are found by name.
pub trait Parts {
    /// The text of a part.
    fn text(&self, name: &str) -> Option<String>;
    /// All names.
    fn names(&self) -> Vec<String>;
}

/// A value of a description with what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Dotted key: `drive.seek.full_ms`.
    pub key: String,
    /// As it is written: `7200`, `[1.2, 3.4]`.
    pub value: String,
    /// Where it is from.
    pub origin: Origin,
    /// What its author has to say of it.
    pub note: Option<String>,
    /// Where it was written.
    pub place: FileLine,
}

/// A description whose parts are all in place.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    root: Node,
}

impl Description {
    /// Reads a description and the parts it names.
    ///
    /// # Errors
    /// [`DescribeError`], also in the parts' own files.
    pub fn read(file: &str, text: &str, parts: &dyn Parts) -> Result<Self, DescribeError> {
        let mut root = Node::parse(file, text)?;
        expand(&mut root, "", parts, &mut Vec::new())?;
        Ok(Self { root })
    }

    /// Makes one value different: `controller.kind`, `ide`. A value is read as TOML, or as text
    /// if it is not valid TOML. The key `drive.part` replaces the part, and so does a new
    /// `drive.kind` if a part of that name holds the kind's defaults.
    ///
    /// # Errors
    /// [`DescribeError`] where the key leads through something that is no table. Whether it means
    /// anything is seen when the machine is built.
    pub fn set(&mut self, key: &str, value: &str, parts: &dyn Parts) -> Result<(), DescribeError> {
        let place = FileLine { file: format!("--set {key}={value}").into(), line: 1 };
        let refused = || DescribeError::new(place.clone(), key, Problem::LeadsNowhere);
        let keys: Vec<&str> = key.split('.').collect();
        if keys.iter().any(|key| key.is_empty()) {
            return Err(refused());
        }
        let origin = Some(Origin { source: Provenance::Asked, on: Vec::new() });
        let mut node = Node { origin, ..literal(value, &place) };
        let (last, tables) = keys.split_last().ok_or_else(refused)?;
        if *last == PART {
            let mut holder = Node::empty(place.clone());
            holder.put(PART, node);
            expand(&mut holder, key, parts, &mut Vec::new())?;
            node = holder;
        }
        let mut at = &mut self.root;
        for key in tables {
            if at.get(key).is_none() {
                at.put(key, Node::empty(place.clone()));
            }
            at = at.get_mut(key).ok_or_else(refused)?;
        }
        let switched = match &node.value {
            Value::Text(kind) if *last == KIND => defaults(kind, at, parts)?,
            _ => None,
        };
        match at.value {
            Value::Table(_) if *last == PART => *at = node,
            Value::Table(_) if let Some(defaults) = switched => {
                *at = defaults;
                at.put(last, node);
            }
            Value::Table(_) => at.put(last, node),
            _ => return Err(refused()),
        }
        Ok(())
    }

    /// All values, in the order written, each with where it is from.
    ///
    /// # Errors
    /// [`Problem::NoSource`] for the first that does not say.
    pub fn parameters(&self) -> Result<Vec<Parameter>, DescribeError> {
        let mut out = Vec::new();
        for (key, node) in self.root.entries() {
            // The name of a machine is not a parameter.
            if !Self::WORDS.contains(&key.as_str()) {
                collect(node, key, &mut out)?;
            }
        }
        Ok(out)
    }

    /// Keys at the top that describe the description.
    pub const WORDS: [&'static str; 3] = ["title", "about", "source"];

    /// The tree.
    pub const fn root(&self) -> &Node {
        &self.root
    }
}

/// The part that holds a kind's defaults, with what `old` keeps; `None` if `old` is of that kind
/// already, or no part bears the kind's name.
fn defaults(kind: &str, old: &Node, parts: &dyn Parts) -> Result<Option<Node>, DescribeError> {
    let is = |node: &Node| match node.get(KIND).map(|node| &node.value) {
        Some(Value::Text(found)) => found == kind,
        _ => false,
    };
    let Some(text) = parts.text(kind).filter(|_| !is(old)) else { return Ok(None) };
    let mut made = Node::parse(&format!("parts/{kind}.toml"), &text)?;
    for word in Description::WORDS {
        made.take(word);
    }
    expand(&mut made, "", parts, &mut vec![kind.to_owned()])?;
    if !is(&made) {
        return Ok(None);
    }
    for key in KEPT {
        if let Some(node) = old.get(key) {
            made.put(key, node.clone());
        }
    }
    Ok(Some(made))
}

/// A value typed on the command line.
fn literal(text: &str, place: &FileLine) -> Node {
    let parsed = Node::parse(&place.file, &format!("value = {text}\n")).ok();
    match parsed {
        Some(Node { value, .. }) if !matches!(value, Value::Table(_)) => {
            Node { place: place.clone(), value, origin: None, note: None }
        }
        _ => {
            let value = Value::Text(text.to_owned());
            Node { place: place.clone(), value, origin: None, note: None }
        }
    }
}

/// Puts the parts that tables name in their places.
fn expand(
    node: &mut Node,
    path: &str,
    parts: &dyn Parts,
    chain: &mut Vec<String>,
) -> Result<(), DescribeError> {
    if let Some(named) = node.take(PART) {
        let path = join(path, PART);
        let bad = |problem| DescribeError::new(named.place.clone(), &path, problem);
        let Value::Text(name) = &named.value else {
            let found = named.kind().to_owned();
            return Err(bad(Problem::Wrong { found, expected: "the name of a part" }));
        };
        let is_cycle = chain.contains(name);
        chain.push(name.clone());
        if is_cycle || chain.len() > MOST_PARTS {
            return Err(bad(Problem::Cycle { chain: chain.clone() }));
        }
        let text = parts.text(name).ok_or_else(|| {
            let near = nearest(name, parts.names());
            bad(Problem::NoPart { name: name.clone(), nearest: near })
        })?;
        let mut part = Node::parse(&format!("parts/{name}.toml"), &text)?;
        let title = part.take("title");
        for word in Description::WORDS {
            part.take(word);
        }
        expand(&mut part, &path, parts, chain)?;
        chain.pop();
        let over = std::mem::replace(node, part);
        node.place = over.place.clone();
        node.note = title.and_then(|title| match title.value {
            Value::Text(text) => Some(text),
            _ => None,
        });
        node.merge(over);
    }
    if let Value::Table(entries) = &mut node.value {
        for (key, child) in entries {
            expand(child, &join(path, key), parts, chain)?;
        }
    }
    Ok(())
}

fn collect(node: &Node, path: &str, out: &mut Vec<Parameter>) -> Result<(), DescribeError> {
    if let Value::Table(entries) = &node.value {
        return entries.iter().try_for_each(|(key, child)| collect(child, &join(path, key), out));
    }
    let Some(origin) = &node.origin else {
        return Err(DescribeError::new(node.place.clone(), path, Problem::NoSource));
    };
    out.push(Parameter {
        key: path.to_owned(),
        value: written(node),
        origin: origin.clone(),
        note: node.note.clone(),
        place: node.place.clone(),
    });
    Ok(())
}

/// A value as TOML has it.
fn written(node: &Node) -> String {
    match &node.value {
        Value::Bool(yes) => yes.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", "))
        }
        Value::Table(entries) => {
            let pairs = entries.iter().map(|(key, node)| format!("{key} = {}", written(node)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}
