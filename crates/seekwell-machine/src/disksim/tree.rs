//! What a parameter file says, as blocks of keys and values.

use super::error::DisksimError;
use crate::file_line::FileLine;

/// Everything a file and those it names say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Blocks with a name, in order.
    pub blocks: Vec<Block>,
    /// Which components are made of which block.
    pub instances: Vec<Instance>,
    /// How components are joined, from the driver down.
    pub topology: Option<Node>,
}

/// Components made of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Names of the components.
    pub names: Vec<String>,
    /// Name of the block.
    pub of: String,
}

/// A component in the topology.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is: `disksim_bus`, `disksim_disk`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What is joined to it from below.
    pub children: Vec<Self>,
}

/// Keys and values.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// What it describes: `disksim_disk`.
    pub kind: String,
    /// Its name; empty if it has none, being the value of a key.
    pub name: String,
    /// Where it begins.
    pub place: FileLine,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The key, its words separated by one blank.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Where the key is.
    pub place: FileLine,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Anything else without structure: a name, a choice, a file.
    Word(String),
    /// Values in brackets; ranges of names are written out.
    List(Vec<Self>),
    /// A block.
    Block(Block),
}

impl Document {
    /// The block of that name.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }

    pub(super) fn only(&self, kind: &str) -> Result<&Block, DisksimError> {
        let mut all = self.blocks.iter().filter(|block| block.kind == kind);
        match (all.next(), all.next()) {
            (Some(block), None) => Ok(block),
            (Some(_), Some(second)) => Err(DisksimError::Expected {
                place: second.place.clone(),
                expected: "only one block of its kind",
                found: format!("another {kind}"),
            }),
            (None, _) => Err(DisksimError::NoSuch { what: kind.to_owned() }),
        }
    }

    /// The block a component is made of.
    pub fn block_of(&self, component: &str) -> Option<&Block> {
        let made = |instance: &&Instance| instance.names.iter().any(|name| name == component);
        self.instances.iter().find(made).and_then(|instance| self.block(&instance.of))
    }

    /// Names of all components made of blocks of that kind, in order.
    pub fn components<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        let of = move |instance: &&Instance| {
            self.block(&instance.of).is_some_and(|block| block.kind == kind)
        };
        self.instances.iter().filter(of).flat_map(|made| made.names.iter().map(String::as_str))
    }
}

impl Node {
    /// The components from here down to the one of that name, both included.
    pub fn path(&self, name: &str) -> Option<Vec<&Self>> {
        if self.name == name {
            return Some(vec![self]);
        }
        let mut path = self.children.iter().find_map(|child| child.path(name))?;
        path.insert(0, self);
        Some(path)
    }
}

impl Block {
    /// The parameter of that key, in whatever case.
    pub fn get(&self, key: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.key.eq_ignore_ascii_case(key))
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Word(word) => f.write_str(word),
            Self::List(values) => write!(f, "a list of {}", values.len()),
            Self::Block(block) => write!(f, "{} {{…}}", block.kind),
        }
    }
}
