//! Taking out of a snapshot what names one disk, machine or owner of it.
//!
//! Serial numbers, world-wide names, UUIDs, MAC addresses and host names are found where they are
//! known to stand, and then replaced wherever they occur: in files, names, links and the kernel
//! log, as text, in hexadecimal and in the binary pages that a disk returns. One value always gets
//! one placeholder of its own length, so that what belonged together still does and every length
//! in a binary page is still right. The placeholder is a hash under a key: who knows a serial
//! number cannot try whether it is the one.

mod identify;
mod learn;
mod replace;

use crate::bundle::Bundle;
use crate::sip;
use crate::snapshot::Snapshot;
use crate::tree::{Node, Tree};
use replace::Replacer;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Values that are the same in many machines and name none.
const COMMON: [&str; 12] = [
    "none",
    "null",
    "(null)",
    "unknown",
    "not specified",
    "not available",
    "default string",
    "system serial number",
    "to be filled by o.e.m.",
    "localhost",
    "(none)",
    "disabled",
];

/// What is to be masked, and the key of the placeholders.
pub struct Mask {
    key: [u8; 16],
    /// Serial numbers and the like: any characters.
    texts: BTreeSet<String>,
    /// Digits of world-wide names, UUIDs and addresses, in lower case.
    digits: BTreeSet<String>,
    hosts: BTreeSet<String>,
    made: BTreeMap<String, String>,
}

impl Mask {
    /// A mask that knows nothing yet. Two masks with one key give one value one placeholder.
    pub fn new(key: [u8; 16]) -> Self {
        Self {
            key,
            texts: BTreeSet::new(),
            digits: BTreeSet::new(),
            hosts: BTreeSet::new(),
            made: BTreeMap::new(),
        }
    }

    /// Takes this value, such as a serial number, for one to be masked.
    pub fn secret(&mut self, value: &str) {
        let value = value.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        let hex = value.strip_prefix("0x").or_else(|| value.strip_prefix("naa."));
        let hex = hex.or_else(|| value.strip_prefix("eui.")).unwrap_or(value);
        let digits: String = hex.chars().filter(|c| !matches!(c, '-' | ':' | ' ')).collect();
        if all_digits(&digits) {
            self.digits(&digits);
        } else if !common(value) {
            self.texts.insert(value.to_owned());
        }
    }

    /// Takes this for the name of a machine.
    pub fn host(&mut self, name: &str) {
        let name = name.trim();
        if name.len() >= 2 && !common(name) && name.parse::<std::net::IpAddr>().is_err() {
            self.hosts.insert(name.to_owned());
        }
    }

    fn digits(&mut self, digits: &str) {
        let digits = digits.to_ascii_lowercase();
        if digits.bytes().any(|b| b != digits.as_bytes()[0]) {
            self.digits.insert(digits);
        }
    }

    /// Masks a whole bundle, header included: everything learnt from it and everything shown.
    pub fn bundle(mut self, bundle: &Bundle) -> Bundle {
        learn::from_tree(&mut self, bundle.snapshot.tree());
        bundle.header.iter().for_each(|(_, value)| learn::from_text(&mut self, value));
        let replacer = self.replacer(bundle.snapshot.tree());
        let field = |(name, value): &(String, String)| (name.clone(), replacer.text(value));
        Bundle {
            header: bundle.header.iter().map(field).collect(),
            snapshot: self.snapshot(&bundle.snapshot, &replacer),
        }
    }

    fn snapshot(&mut self, snapshot: &Snapshot, replacer: &Replacer) -> Snapshot {
        let path = |path: &Path| match path.to_str() {
            Some(text) => PathBuf::from(replacer.text(text)),
            None => path.to_path_buf(),
        };
        let mut masked = Tree::default();
        for (at, node) in snapshot.tree().iter() {
            let node = match node {
                Node::File(bytes) => Node::File(self.file(at, bytes, replacer)),
                Node::Link(to) => Node::Link(path(to)),
                other => other.clone(),
            };
            masked.put(&path(at), node);
        }
        Snapshot::from(masked)
    }

    fn file(&mut self, at: &Path, bytes: &[u8], replacer: &Replacer) -> Vec<u8> {
        if let Some(masked) = identify::masked(at, bytes, self) {
            return replacer.bytes(&masked);
        }
        let masked = replacer.bytes(bytes);
        // Values too short to be looked for everywhere go at least where they are known to stand.
        match learn::whole_value(at, bytes) {
            Some(value) if masked == bytes && !common(value) => {
                let placeholder = self.placeholder(value);
                String::from_utf8_lossy(bytes).replacen(value, &placeholder, 1).into_bytes()
            }
            _ => masked,
        }
    }

    /// The placeholder of a text, of its length.
    fn placeholder(&mut self, value: &str) -> String {
        // A serial number may be one in hexadecimal, and is then masked as such everywhere.
        if all_digits(value) {
            return self.placeholder_digits(&value.to_ascii_lowercase());
        }
        if let Some(made) = self.made.get(value) {
            return made.clone();
        }
        let prefix = if value.len() >= 12 { "MASKED" } else { "" };
        let free = |made: &BTreeMap<String, String>, text: &String| {
            text != value && made.values().all(|have| have != text)
        };
        let mut text = String::new();
        // A text of one character may have no free placeholder.
        for round in 0..64u8 {
            text = prefix.to_owned();
            text.extend(self.stream(value, round).take(value.len() - prefix.len()));
            if free(&self.made, &text) {
                break;
            }
        }
        self.made.insert(value.to_owned(), text.clone());
        text
    }

    /// The placeholder of hexadecimal digits: the first digit, which is the kind of a name, stays.
    fn placeholder_digits(&self, digits: &str) -> String {
        // A name with an extension begins with the name.
        let (head, tail) = digits.split_at(digits.len().min(16));
        let hashed = |part: &str, whole: &str| -> String {
            let words = (0u8..).flat_map(|round| {
                let hash = self.hash(whole, round);
                (0..16).map(move |i| hash >> (4 * i) & 0xf)
            });
            words.take(part.len()).filter_map(|d| char::from_digit(d as u32, 16)).collect()
        };
        let mut text = hashed(head, head);
        text.replace_range(..1, &digits[..1]);
        text + &hashed(tail, digits)
    }

    fn stream<'v>(&self, value: &'v str, round: u8) -> impl Iterator<Item = char> + use<'v> {
        const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        let key = self.key;
        (0u8..).flat_map(move |block| {
            let hash = sip::hash(key, &[value.as_bytes(), &[0, round, block]].concat());
            (0..12).map(move |i| char::from(ALPHABET[(hash >> (5 * i) & 31) as usize]))
        })
    }

    fn hash(&self, value: &str, round: u8) -> u64 {
        sip::hash(self.key, &[value.as_bytes(), &[1, round]].concat())
    }

    fn replacer(&mut self, tree: &Tree) -> Replacer {
        let mut replacer = Replacer::default();
        for value in self.texts.clone() {
            let distinct = value.bytes().any(|b| b.is_ascii_digit()) || value.len() >= 8;
            if value.len() < 4 || !distinct {
                continue;
            }
            let placeholder = self.placeholder(&value);
            replacer.add_text(&value, &placeholder);
        }
        for digits in &self.digits {
            replacer.add_digits(digits, &self.placeholder_digits(digits));
            if digits.len() == 32 {
                let head = &digits[..16];
                replacer.add_digits(head, &self.placeholder_digits(head));
            }
        }
        let parts: BTreeSet<&str> =
            tree.iter().filter_map(|(path, _)| path.file_name()?.to_str()).collect();
        for host in self.hosts.clone() {
            // A machine may be called as a file of every machine's is: sda, sys.
            if !parts.contains(host.as_str()) {
                let placeholder = self.placeholder(&host);
                replacer.add(host.as_bytes(), placeholder.as_bytes(), true);
            }
        }
        replacer
    }
}

/// Whether this is nothing but hexadecimal digits, and enough of them to name something.
fn all_digits(text: &str) -> bool {
    text.len() >= 8 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a value identifies nothing.
fn common(value: &str) -> bool {
    let same = value.bytes().all(|b| matches!(b, b'0' | b' ' | b'x' | b'-' | b':' | b'.'));
    same || COMMON.iter().any(|common| value.eq_ignore_ascii_case(common))
}

#[cfg(test)]
mod tests;
