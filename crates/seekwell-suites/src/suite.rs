//! What a suite is, what can be tuned in it, and the values that were chosen.

use crate::error::SuiteError;
use crate::frame::Step;
use seekwell_io::units::{exact, parse_size};
use std::collections::BTreeMap;
use std::path::Path;

/// A named, fixed set of steps.
pub struct Suite {
    pub name: &'static str,
    /// For people, short.
    pub title: &'static str,
    /// What it does, one or two sentences.
    pub does: &'static str,
    /// How long the quick and the full form take on a common disk, in words.
    pub takes: [&'static str; 2],
    /// What it writes, in words.
    pub writes: &'static str,
    /// Where its definition comes from.
    pub source: &'static str,
    pub on: On,
    pub tunables: &'static [Tunable],
    /// What the values need of each other; called before anything is made.
    pub check: fn(&Settings) -> Result<(), SuiteError>,
    /// What it will put into its directory at most.
    pub needs: fn(&Settings) -> Needs,
    /// Whether its requests pass by the page cache.
    pub direct: fn(&Settings) -> bool,
    /// Its steps, in their order.
    pub steps: fn(&Settings) -> Vec<Step>,
}

impl Suite {
    /// It does not run on what this path is.
    pub fn wrong(&self, path: &Path, found: &'static str) -> SuiteError {
        let needed = match self.on {
            On::Directory => "a directory or a modelled machine",
            On::Anything => "a directory, file or block device or a modelled machine",
        };
        SuiteError::WrongTarget { suite: self.name, path: path.to_path_buf(), needed, found }
    }
}

/// What a suite runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// A directory, in which it makes one of its own.
    Directory,
    /// A block device or file, which it only reads, or a directory.
    Anything,
}

/// The most a suite writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// Bytes of data at one time.
    pub bytes: u64,
    /// Files and directories at one time.
    pub files: u64,
}

/// Which form of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Ends within a minute.
    Quick,
    /// As its definition says.
    Full,
}

/// Something that can be set.
pub struct Tunable {
    /// What is typed before the `=`.
    pub name: &'static str,
    /// What it is, and its unit.
    pub what: &'static str,
    pub values: Values,
    /// Defaults of the quick and the full form, as they would be typed.
    pub default: [&'static str; 2],
}

impl Tunable {
    /// What is typed, what it is, what it can be, and the defaults of both forms.
    pub const fn new(
        name: &'static str,
        what: &'static str,
        values: Values,
        default: [&'static str; 2],
    ) -> Self {
        Self { name, what, values, default }
    }
}

/// What a tunable can be.
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
    fn parse(&self, text: &str) -> Option<String> {
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

/// The values of a suite's tunables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Which form the defaults are of.
    pub level: Level,
    /// By name: numbers as decimal digits, sizes in bytes.
    pub values: BTreeMap<String, String>,
}

impl Settings {
    /// The defaults of a form, with some values set: pairs of name and value.
    ///
    /// # Errors
    /// [`SuiteError::NoSuchTunable`] and [`SuiteError::BadValue`].
    pub fn new(suite: &Suite, level: Level, set: &[(String, String)]) -> Result<Self, SuiteError> {
        let known = || suite.tunables.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
        if let Some((name, _)) =
            set.iter().find(|(n, _)| suite.tunables.iter().all(|t| t.name != n))
        {
            let (name, suite) = (name.clone(), suite.name);
            return Err(SuiteError::NoSuchTunable { suite, name, known: known() });
        }
        let value = |tunable: &Tunable| {
            let typed = set.iter().rev().find(|(name, _)| name == tunable.name);
            let default = tunable.default[usize::from(level == Level::Full)];
            let text = typed.map_or(default, |(_, value)| value);
            let parsed = tunable.values.parse(text).ok_or_else(|| SuiteError::BadValue {
                name: tunable.name.into(),
                value: text.into(),
                needed: tunable.values.words(),
            })?;
            Ok::<_, SuiteError>((tunable.name.to_owned(), parsed))
        };
        let values = suite.tunables.iter().map(value).collect::<Result<_, _>>()?;
        let settings = Self { level, values };
        (suite.check)(&settings)?;
        Ok(settings)
    }

    /// A number or a size in bytes. Names are those of the suite's own tunables.
    pub fn number(&self, name: &str) -> u64 {
        self.word(name).parse().expect("checked when it was set")
    }

    /// A word or text.
    pub fn word(&self, name: &str) -> &str {
        self.values.get(name).expect("a tunable of this suite")
    }
}

/// For suites that can be told to pass by the page cache: whether they are.
pub fn told_direct(settings: &Settings) -> bool {
    settings.word("cache") == "direct"
}

/// For suites that always go through the page cache.
pub const fn through_cache(_: &Settings) -> bool {
    false
}

/// For suites whose values are each possible whatever the others are.
///
/// # Errors
/// None.
pub const fn any(_: &Settings) -> Result<(), SuiteError> {
    Ok(())
}
