//! What a suite is.

use crate::error::SuiteError;
use crate::frame::Step;
use crate::settings::{Level, Settings, Tunable};
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
    pub writes: &'static str,
    pub source: &'static str,
    pub on: On,
    pub tunables: &'static [Tunable],
    /// What the values need of each other; called before anything is made.
    pub check: fn(&Settings) -> Result<(), SuiteError>,
    /// What it will put into its directory at most.
    pub needs: fn(&Settings) -> Needs,
    /// Whether its requests pass by the page cache.
    pub direct: fn(&Settings) -> bool,
    pub steps: fn(&Settings) -> Vec<Step>,
}

impl Suite {
    /// The defaults of a form, with some values set: pairs of name and value.
    ///
    /// # Errors
    /// [`SuiteError::NoSuchTunable`] and [`SuiteError::BadValue`].
    pub fn settings(&self, level: Level, set: &[(String, String)]) -> Result<Settings, SuiteError> {
        let known = || self.tunables.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
        if let Some((name, _)) = set.iter().find(|(n, _)| self.tunables.iter().all(|t| t.name != n))
        {
            let (name, suite) = (name.clone(), self.name);
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
        let values = self.tunables.iter().map(value).collect::<Result<_, _>>()?;
        let settings = Settings { level, values };
        (self.check)(&settings)?;
        Ok(settings)
    }

    /// It does not run on what this path is.
    pub fn wrong(&self, path: &Path, found: &'static str) -> SuiteError {
        let needed = match self.on {
            On::Directory => "a directory or a modelled machine",
            On::Anything => "a directory, file or block device or a modelled machine",
            On::Destroyed => "a block device given by --destroy, a directory or a modelled machine",
        };
        SuiteError::WrongTarget { suite: self.name, path: path.to_path_buf(), needed, found }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// A directory, in which it makes one of its own.
    Directory,
    /// A block device or file, which it only reads, or a directory.
    Anything,
    /// A block device that may be overwritten, or a directory. It has no steps: what is written
    /// depends on what was measured.
    Destroyed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// Bytes of data at one time.
    pub bytes: u64,
    /// Files and directories at one time.
    pub files: u64,
}

/// For suites that can bypass the page cache: whether they do.
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
