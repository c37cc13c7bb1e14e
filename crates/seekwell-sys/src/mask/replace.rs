//! Replacing many needles in one pass.

use std::collections::HashMap;

/// Needles are distinguished by this many bytes first; shorter ones cannot be.
const HEAD: usize = 2;

#[derive(Debug)]
struct Needle {
    lower: Vec<u8>,
    with: Vec<u8>,
    /// Found only where no letter or digit stands beside it.
    bounded: bool,
}

/// Needles and what takes their place, letter case aside.
#[derive(Debug, Default)]
pub(super) struct Replacer {
    needles: Vec<Needle>,
    by_head: HashMap<[u8; HEAD], Vec<usize>>,
}

impl Replacer {
    pub fn add(&mut self, needle: &[u8], with: &[u8], bounded: bool) {
        let lower = needle.to_ascii_lowercase();
        let Some(head) = lower.first_chunk::<HEAD>().copied() else { return };
        let list = self.by_head.entry(head).or_default();
        if list.iter().any(|n| self.needles[*n].lower == lower) {
            return;
        }
        list.push(self.needles.len());
        self.needles.push(Needle { lower, with: with.to_vec(), bounded });
        // The longest first: a value may begin with another.
        list.sort_by_key(|n| std::cmp::Reverse(self.needles[*n].lower.len()));
    }

    /// Adds a text in the shapes in which it is written.
    pub fn add_text(&mut self, value: &str, with: &str) {
        let bounded = value.len() < 8;
        self.add(value.as_bytes(), with.as_bytes(), bounded);
        // udev: in names of links, and escaped.
        self.add(value.replace(' ', "_").as_bytes(), with.as_bytes(), bounded);
        self.add(value.replace(' ', "\\x20").as_bytes(), with.as_bytes(), bounded);
        // NVMe writes the characters of a serial number in hexadecimal into a name of its own.
        let hex = |text: &str| text.bytes().map(|b| format!("{b:02x}")).collect::<String>();
        self.add(hex(value).as_bytes(), hex(with).as_bytes(), false);
    }

    /// Adds hexadecimal digits in the shapes in which they are written.
    pub fn add_digits(&mut self, digits: &str, with: &str) {
        let bounded = digits.len() < 16;
        self.add(digits.as_bytes(), with.as_bytes(), bounded);
        for (size, separator) in [(2, ":"), (2, " "), (2, "-"), (4, " ")] {
            let grouped = |text: &str| {
                let groups: Vec<&str> = (0..text.len())
                    .step_by(size)
                    .map(|at| &text[at..(at + size).min(text.len())])
                    .collect();
                groups.join(separator)
            };
            self.add(grouped(digits).as_bytes(), grouped(with).as_bytes(), bounded);
        }
        if digits.len() == 32 {
            self.add(dashed(digits).as_bytes(), dashed(with).as_bytes(), false);
            // MD writes four groups.
            let fours = |t: &str| [&t[..8], &t[8..16], &t[16..24], &t[24..]].join(":");
            self.add(fours(digits).as_bytes(), fours(with).as_bytes(), false);
        }
        if let (Some(binary), Some(with)) = (bytes(digits), bytes(with))
            && binary.len() >= 8
        {
            self.add(&binary, &with, false);
        }
    }

    /// The bytes with every needle replaced.
    pub fn bytes(&self, haystack: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(haystack.len());
        let mut at = 0;
        while at < haystack.len() {
            match self.at(haystack, at) {
                Some(needle) => {
                    out.extend_from_slice(&needle.with);
                    at += needle.lower.len();
                }
                None => {
                    out.push(haystack[at]);
                    at += 1;
                }
            }
        }
        out
    }

    /// A text with every needle replaced.
    pub fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }

    fn at(&self, haystack: &[u8], at: usize) -> Option<&Needle> {
        let rest = &haystack[at..];
        let head = rest.first_chunk::<HEAD>()?.to_ascii_lowercase();
        let list = self.by_head.get(&[head[0], head[1]])?;
        let alone = |at: Option<&u8>| at.is_none_or(|b| !b.is_ascii_alphanumeric());
        let fits = |needle: &Needle| {
            let len = needle.lower.len();
            rest.get(..len).is_some_and(|r| r.eq_ignore_ascii_case(&needle.lower))
                && (!needle.bounded
                    || (alone(at.checked_sub(1).map(|b| &haystack[b])) && alone(rest.get(len))))
        };
        list.iter().map(|n| &self.needles[*n]).find(|needle| fits(needle))
    }
}

/// 32 digits as a UUID is written.
fn dashed(d: &str) -> String {
    [&d[..8], &d[8..12], &d[12..16], &d[16..20], &d[20..]].join("-")
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).ok()?, 16).ok();
    digits.len().is_multiple_of(2).then(|| digits.as_bytes().chunks(2).map(pair).collect())?
}
