//! A machine in a few words, layer by layer, from the host outwards.

use super::Model;
use crate::describe::{Node, Value};
use seekwell_io::units::{capacity, exact};

/// One layer in words.
#[derive(serde::Serialize, Debug, Clone, PartialEq, Eq)]
pub struct ChainLink {
    /// The description's table.
    pub layer: &'static str,
    /// What it is: `ahci, 32 slots, NCQ on`.
    pub text: String,
}

/// Keys worth a word in each layer, and how the value is said, with the value for `{}`.
const WORTH: [(&str, &[(&str, &str)]); 12] = [
    ("host", &[("tags", "tags {}"), ("openings", "{} openings")]),
    ("front", &[("kind", "{} in front")]),
    ("scheduler", &[("order", "I/O scheduler: {}"), ("requests", "{} requests")]),
    ("throttle", &[("latency_ns", "limits, and {} ns there and back"), ("depth", "{} at once")]),
    ("bus", &[("kind", "{}"), ("load", "other masters: {}")]),
    (
        "controller",
        &[
            ("kind", "{}"),
            ("mode", "{}"),
            ("width", "{}"),
            ("multcount", "multcount {}"),
            ("slots", "{} slots"),
            ("ncq", "NCQ {}"),
            ("interrupt", "interrupt by {}"),
        ],
    ),
    ("memory", &[("size_bytes", "{}"), ("write", "write-{}")]),
    ("array", &[("level", "{}"), ("stripe_unit_bytes", "stripe unit {}")]),
    ("scsi", &[("bytes_per_s", "{} bytes a second")]),
    ("link", &[("speed", "SATA {}")]),
    ("pcie", &[("generation", "PCI Express {}.0"), ("lanes", "{} lanes")]),
    (
        "drive",
        &[
            ("count", "{} ×"),
            ("kind", "{}"),
            ("capacity_bytes", "{}"),
            ("rpm", "{} rpm"),
            ("actuators", "{} actuators"),
            ("shingled.cache_bytes", "shingled, {} of media cache"),
        ],
    ),
];

impl Model {
    /// The layers that the description has, the host's first.
    pub fn chain(&self) -> Vec<ChainLink> {
        let root = self.description().root();
        let layers = WORTH.iter().filter_map(|(layer, keys)| {
            let node = root.get(layer)?;
            let mut words: Vec<String> = keys
                .iter()
                .filter_map(|(key, said)| {
                    let found = key.split('.').try_fold(node, |node, key| node.get(key))?;
                    Some(said.replace("{}", &value(key, found)?))
                })
                .collect();
            // The other parts' names say no more than their values.
            words.extend(node.note.clone().filter(|_| *layer == "drive"));
            Some(ChainLink { layer, text: words.join(", ").replace(" ×, ", " × ") })
        });
        layers.collect()
    }
}

/// A value as people say it; `None` for what says nothing.
fn value(key: &str, node: &Node) -> Option<String> {
    Some(match &node.value {
        Value::Bool(yes) => if *yes { "on" } else { "off" }.to_owned(),
        Value::Integer(bytes) if key.ends_with("_bytes") => size(*bytes as u64),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::List(items) if items.is_empty() => return None,
        Value::List(items) => items.len().to_string(),
        Value::Table(_) => return None,
    })
}

/// Bytes in the unit in which drives are sold, or in which memory is.
fn size(bytes: u64) -> String {
    let is_memory = bytes < 1 << 33 && bytes.is_multiple_of(1 << 10);
    if is_memory || bytes < 1_000_000_000 { exact(bytes) } else { capacity(bytes) }
}
