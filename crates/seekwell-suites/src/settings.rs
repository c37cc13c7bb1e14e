//! What can be tuned in a suite, and the values that were chosen.

use seekwell_io::units::{exact, parse_size};
use std::collections::BTreeMap;

/// Which form of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Ends within a minute.
    Quick,
    /// As its definition says.
    Full,
}

pub struct Tunable {
    /// What is typed before the `=`.
    pub name: &'static str,
    /// What it is, and its unit.
    pub what: &'static str,
    pub values: Values,
    /// Defaults of the quick and the full form, as they would be typed.
    pub default: [&'static str; 2],
}

/// Tunables as rows: what is typed, what it can be, the defaults of both forms, what it is.
macro_rules! tunables {
    ($($name:literal $values:expr, $quick:literal | $full:literal: $what:literal;)*) => {
        &[$(crate::settings::Tunable {
            name: $name,
            what: $what,
            values: $values,
            default: [$quick, $full],
        }),*]
    };
}
pub(crate) use tunables;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// A whole number from one to another.
    Count(u64, u64),
    /// A size in bytes from one to another, typed with `k`, `m`, `g`: powers of 1024.
    Bytes(u64, u64),
    OneOf(&'static [&'static str]),
    Text,
}

impl Values {
    pub fn words(&self) -> String {
        match self {
            Self::Count(low, high) => format!("{low} to {high}"),
            Self::Bytes(low, high) => format!("{} to {}", exact(*low), exact(*high)),
            Self::OneOf(words) => words.join(", "),
            Self::Text => "a text".into(),
        }
    }

    /// A typed value as it is kept: sizes in bytes.
    pub(crate) fn parse(&self, text: &str) -> Option<String> {
        match self {
            Self::Count(low, high) => {
                text.parse().ok().filter(|n| (low..=high).contains(&n)).map(|n: u64| n.to_string())
            }
            Self::Bytes(low, high) => {
                parse_size(text).filter(|n| (low..=high).contains(&n)).map(|n| n.to_string())
            }
            Self::OneOf(words) => words.contains(&text).then(|| text.to_owned()),
            Self::Text => Some(text.to_owned()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Which form the defaults are of.
    pub level: Level,
    /// By name: numbers as decimal digits, sizes in bytes.
    pub values: BTreeMap<String, String>,
}

impl Settings {
    /// A number or a size in bytes. Names are those of the suite's own tunables.
    pub fn number(&self, name: &str) -> u64 {
        self.word(name).parse().expect("checked when it was set")
    }

    pub fn word(&self, name: &str) -> &str {
        self.values.get(name).expect("a tunable of this suite")
    }
}
