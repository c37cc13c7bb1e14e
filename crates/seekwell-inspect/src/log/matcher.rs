//! Finding the few lines that matter among millions.
//!
//! A pattern is the kernel's format string with its holes named: literal text and typed holes in
//! `<…>`. Every pattern is looked for by its longest literal part, all at once with one automaton;
//! only a line that holds one of those parts is taken apart.
//!
//! | hole | holds |
//! |---|---|
//! | `<ata>` | `ata1` or `ata1.00` |
//! | `<dev>` | the name of a block device, partition, array or mapped device |
//! | `<nvme>` | `nvme0` or `nvme0n1` |
//! | `<mmc>` | `mmc0` |
//! | `<pci>` | `0000:00:1f.2` |
//! | `<usb>` | `2-1.4`, also with its interface `2-1:1.0` |
//! | `<hctl>` | `0:0:0:0` |
//! | `<host>` | `host0` |
//! | `<num>` | a decimal number with an optional sign and fraction |
//! | `<hex>` | a hexadecimal number, with or without `0x` |
//! | `<name>` | a device named otherwise: `usb2-port1`, `01:00.0` |
//! | `<word>` | no white space, comma, bracket or colon |
//! | `<*>` | anything, as little as fits |

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Literal(&'static str),
    Hole(Hole),
}

/// What fits into a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hole {
    Ata,
    Dev,
    Nvme,
    Mmc,
    Pci,
    Usb,
    Hctl,
    Host,
    Name,
    Num,
    Hex,
    Word,
    Any,
}

impl Hole {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ata" => Self::Ata,
            "dev" => Self::Dev,
            "nvme" => Self::Nvme,
            "mmc" => Self::Mmc,
            "pci" => Self::Pci,
            "usb" => Self::Usb,
            "hctl" => Self::Hctl,
            "host" => Self::Host,
            "name" => Self::Name,
            "num" => Self::Num,
            "hex" => Self::Hex,
            "word" => Self::Word,
            "*" => Self::Any,
            _ => return None,
        })
    }

    /// Whether what it holds names a device.
    pub(crate) fn is_subject(self) -> bool {
        !matches!(self, Self::Num | Self::Hex | Self::Word | Self::Any)
    }

    /// The length of what fits at the start of `text`; 0 when nothing does.
    fn fits(self, text: &str) -> usize {
        let while_ =
            |test: fn(u8) -> bool| text.bytes().position(|b| !test(b)).unwrap_or(text.len());
        match self {
            Self::Ata => prefixed(text, "ata", |b| b.is_ascii_digit() || b == b'.'),
            Self::Nvme => prefixed(text, "nvme", |b| b.is_ascii_alphanumeric()),
            Self::Mmc => prefixed(text, "mmc", |b| b.is_ascii_digit()),
            Self::Host => prefixed(text, "host", |b| b.is_ascii_digit()),
            Self::Dev => {
                // A comma, a closing bracket or a colon ends the name, as in `sda, sector`.
                let len = while_(|b| b.is_ascii_alphanumeric() || b"_-!/.".contains(&b));
                let name = text[..len].trim_end_matches(['.', '-']);
                if text.starts_with(|c: char| c.is_ascii_alphabetic()) { name.len() } else { 0 }
            }
            Self::Pci => {
                let len = while_(|b| b.is_ascii_hexdigit() || b == b':' || b == b'.');
                let address = text[..len].trim_end_matches([':', '.']);
                if is_pci(address) { address.len() } else { 0 }
            }
            Self::Usb => {
                let len = while_(|b| b.is_ascii_digit() || b"-.:".contains(&b));
                let name = text[..len].trim_end_matches([':', '.', '-']);
                if name.contains('-') { name.len() } else { 0 }
            }
            Self::Hctl => {
                let len = while_(|b| b.is_ascii_digit() || b == b':');
                let name = text[..len].trim_end_matches(':');
                if name.split(':').count() == 4 && !name.contains("::") { name.len() } else { 0 }
            }
            Self::Name => {
                let len = while_(|b| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b));
                text[..len].trim_end_matches([':', '.']).len()
            }
            Self::Num => {
                let len = while_(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
                let number = text[..len].trim_end_matches(['.', '-']);
                if number.bytes().any(|b| b.is_ascii_digit()) { number.len() } else { 0 }
            }
            Self::Hex => while_(|b| b.is_ascii_hexdigit() || b == b'x'),
            Self::Word => while_(|b| !b.is_ascii_whitespace() && !b",:()[]{}".contains(&b)),
            Self::Any => 0,
        }
    }
}

/// A fixed start with at least one digit behind it.
fn prefixed(text: &str, prefix: &str, test: fn(u8) -> bool) -> usize {
    let Some(rest) = text.strip_prefix(prefix) else { return 0 };
    let len = rest.bytes().position(|b| !test(b)).unwrap_or(rest.len());
    let name = rest[..len].trim_end_matches('.');
    if name.starts_with(|c: char| c.is_ascii_digit()) { prefix.len() + name.len() } else { 0 }
}

fn is_pci(text: &str) -> bool {
    let mut parts = text.rsplitn(2, '.');
    let function = parts.next().unwrap_or_default();
    let bus: Vec<&str> = parts.next().unwrap_or_default().split(':').collect();
    let [domain, bus, device] = bus[..] else { return false };
    domain.len() >= 4 && bus.len() == 2 && device.len() == 2 && function.len() == 1
}

/// A pattern ready to be compared.
#[derive(Debug)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
}

/// What was in the holes of a line, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Holes<'t> {
    held: Vec<(Hole, &'t str)>,
}

impl<'t> Holes<'t> {
    /// The device the line is about: a block device before anything else, else the first named.
    pub(crate) fn subject(&self) -> Option<&'t str> {
        let of = |test: fn(Hole) -> bool| self.held.iter().find(|(h, _)| test(*h)).map(|(_, t)| *t);
        of(|h| h == Hole::Dev).or_else(|| of(Hole::is_subject))
    }

    /// The content of the `n`th hole of this kind, from 0.
    pub(crate) fn get(&self, hole: Hole, n: usize) -> Option<&'t str> {
        self.held.iter().filter(|(h, _)| *h == hole).nth(n).map(|(_, t)| *t)
    }
}

impl Pattern {
    /// Takes a pattern apart. A `<` that opens no known hole is literal.
    pub(crate) fn new(source: &'static str) -> Self {
        let mut parts = Vec::new();
        let (mut rest, mut from) = (source, 0);
        while let Some(open) = rest[from..].find('<').map(|i| i + from) {
            let close = rest[open..].find('>').map(|i| i + open);
            let hole = close.and_then(|c| Some((c, Hole::named(&rest[open + 1..c])?)));
            let Some((close, hole)) = hole else {
                from = open + 1;
                continue;
            };
            if open > 0 {
                parts.push(Part::Literal(&rest[..open]));
            }
            parts.push(Part::Hole(hole));
            (rest, from) = (&rest[close + 1..], 0);
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest));
        }
        Self { parts }
    }

    /// The longest literal part, which every matching line holds.
    pub(crate) fn anchor(&self) -> &'static str {
        let literals = self.parts.iter().filter_map(|p| match p {
            Part::Literal(text) => Some(*text),
            Part::Hole(_) => None,
        });
        literals.max_by_key(|l| l.len()).unwrap_or_default()
    }

    /// Compares from the start of `text`; text behind the pattern's end is free.
    pub(crate) fn matches<'t>(&self, text: &'t str) -> Option<Holes<'t>> {
        let mut holes = Holes::default();
        let mut rest = text;
        let mut parts = self.parts.iter();
        while let Some(part) = parts.next() {
            match *part {
                Part::Literal(literal) => rest = rest.strip_prefix(literal)?,
                Part::Hole(Hole::Any) => {
                    let Some(Part::Literal(next)) = parts.next() else {
                        holes.held.push((Hole::Any, rest));
                        return Some(holes);
                    };
                    let at = rest.find(next)?;
                    holes.held.push((Hole::Any, &rest[..at]));
                    rest = &rest[at + next.len()..];
                }
                Part::Hole(hole) => {
                    let len = hole.fits(rest);
                    if len == 0 {
                        return None;
                    }
                    holes.held.push((hole, &rest[..len]));
                    rest = &rest[len..];
                }
            }
        }
        Some(holes)
    }
}

/// An automaton that finds any of some words.
///
/// # Panics
/// On more words than it can hold, which is a mistake in a table of this program.
pub(crate) fn automaton(words: &[&'static str]) -> AhoCorasick {
    AhoCorasickBuilder::new()
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .expect("a table of patterns fits an automaton")
}

/// Many patterns, tried in their order.
pub(crate) struct PatternSet {
    patterns: Vec<Pattern>,
    /// For every anchor, the patterns that have it, in order.
    by_anchor: Vec<Vec<usize>>,
    anchors: AhoCorasick,
}

impl PatternSet {
    /// Takes the patterns apart and builds the automaton; not to be done per line.
    pub(crate) fn new(sources: impl Iterator<Item = &'static str>) -> Self {
        let patterns: Vec<Pattern> = sources.map(Pattern::new).collect();
        let mut words: Vec<&'static str> = Vec::new();
        let mut by_anchor: Vec<Vec<usize>> = Vec::new();
        for (i, pattern) in patterns.iter().enumerate() {
            let anchor = pattern.anchor();
            let at = words.iter().position(|w| *w == anchor).unwrap_or_else(|| {
                words.push(anchor);
                by_anchor.push(Vec::new());
                words.len() - 1
            });
            by_anchor[at].push(i);
        }
        let anchors = automaton(&words);
        Self { patterns, by_anchor, anchors }
    }

    /// What every matching line holds one of.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.patterns.iter().map(Pattern::anchor)
    }

    pub(crate) fn first<'t>(&self, text: &'t str) -> Option<(usize, Holes<'t>)> {
        let mut candidates: Vec<usize> = self
            .anchors
            .find_overlapping_iter(text)
            .flat_map(|m| self.by_anchor[m.pattern().as_usize()].iter().copied())
            .take(1024)
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.into_iter().find_map(|i| Some((i, self.patterns[i].matches(text)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_its_literals_and_typed_holes_only() {
        let p = Pattern::new("<ata>: limiting SATA link speed to <word> Gbps");
        assert_eq!(p.anchor(), ": limiting SATA link speed to ");
        let held = p.matches("ata2.00: limiting SATA link speed to 1.5 Gbps").expect("it matches");
        assert_eq!(held.subject(), Some("ata2.00"));
        assert_eq!(held.get(Hole::Word, 0), Some("1.5"));
        for other in [
            "atax: limiting SATA link speed to 1.5 Gbps",
            "ata2: limiting SATA link speed to ",
            " ata2: limiting SATA link speed to 1.5 Gbps",
        ] {
            assert_eq!(p.matches(other), None, "{other}");
        }
    }

    #[test]
    fn holes_stop_where_their_kind_ends() {
        let fits = |hole: Hole, text| &text[..hole.fits(text)];
        let cases: [(Hole, &'static str, &str); 14] = [
            (Hole::Ata, "ata1.00: x", "ata1.00"),
            (Hole::Ata, "ata.00", ""),
            (Hole::Dev, "sda, sector", "sda"),
            (Hole::Dev, "cciss!c0d0p1)", "cciss!c0d0p1"),
            (Hole::Dev, "0day", ""),
            (Hole::Pci, "0000:00:1f.2: AHCI", "0000:00:1f.2"),
            (Hole::Pci, "10000:01:00.0: x", "10000:01:00.0"),
            (Hole::Pci, "00:1f.2: x", ""),
            (Hole::Usb, "2-1.4:1.0: x", "2-1.4:1.0"),
            (Hole::Usb, "21: x", ""),
            (Hole::Hctl, "0:2:0:0: [sda]", "0:2:0:0"),
            (Hole::Hctl, "0:2:0: [sda]", ""),
            (Hole::Num, "-19, x", "-19"),
            (Hole::Num, "1.5.", "1.5"),
        ];
        for (hole, text, expected) in cases {
            assert_eq!(fits(hole, text), expected, "{hole:?} in {text}");
        }
    }

    #[test]
    fn a_bracket_that_is_no_hole_is_literal() {
        let p = Pattern::new("a <F> <num> <");
        assert!(p.matches("a <F> 12 <").is_some());
        assert!(p.matches("a <F> x <").is_none());
    }

    #[test]
    fn the_first_of_several_matching_patterns_wins() {
        let set = PatternSet::new(["<ata>: failed: READ FPDMA", "<ata>: failed: "].into_iter());
        let first = |t: &str| set.first(t).map(|(i, _)| i);
        assert_eq!(first("ata1: failed: READ FPDMA"), Some(0));
        assert_eq!(first("ata1: failed: READ DMA"), Some(1));
        assert_eq!(first("xta1: failed: READ DMA"), None);
    }
}
