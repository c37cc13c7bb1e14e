//! What the two arms are: a plain job, settings of the disk, a command, a mode.

use crate::error::ArmError;
use seekwell_job::plain::{canonical, names};
use seekwell_job::{PlainError, PlainJob};
use seekwell_sys::nearest;
use seekwell_tune::setting::{is_key, registry};
use serde::{Deserialize, Serialize};

/// A setting of the disk or machine, by tune's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// `scheduler`, `read_ahead_kb` …
    pub key: String,
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmSpec {
    #[serde(rename = "options")]
    pub job: PlainJob,
    /// Settings applied before each of its runs, in this order.
    pub settings: Vec<Setting>,
    /// The letter of the highest risk its settings may have, where that is C or D.
    #[serde(default)]
    pub allow_risk: Option<char>,
    /// A shell command run before each of its runs.
    pub command: Option<String>,
    /// A mode of the machine that only a person can set, `AHCI in the BIOS`.
    pub mode: Option<String>,
}

impl ArmSpec {
    /// An arm with these options and nothing else.
    pub fn new(job: PlainJob) -> Self {
        Self { job, settings: Vec::new(), allow_risk: None, command: None, mode: None }
    }

    /// An arm from `KEY=VALUE` words. A key that is not an option is a setting of the disk, or a
    /// parameter of a modelled machine.
    ///
    /// # Errors
    /// [`ArmError`] for an unknown key, a value that it does not take, or a key given twice.
    pub fn parse(base: &PlainJob, words: &[String], modelled: bool) -> Result<Self, ArmError> {
        let mut arm = Self::new(base.clone());
        let mut seen: Vec<&str> = Vec::new();
        for word in words {
            let (key, value) = word
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .filter(|(key, value)| !key.is_empty() && !value.is_empty())
                .ok_or_else(|| ArmError::NoValue { word: word.chars().take(80).collect() })?;
            let name = canonical(key);
            if seen.contains(&name) {
                return Err(ArmError::Twice { key: name.to_owned() });
            }
            seen.push(name);
            if names().any(|own| own == name) {
                arm.job.set(name, value)?;
            } else if modelled || is_key(key) {
                arm.settings.push(Setting { key: key.to_owned(), value: value.to_owned() });
            } else {
                return Err(not_known(key));
            }
        }
        Ok(arm)
    }

    /// Its settings as keys and values.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.settings.iter().map(|s| (s.key.clone(), s.value.clone())).collect()
    }

    /// What this arm has that the other lacks or sets differently, as typed: `iodepth=32`,
    /// `scheduler=none`. Empty when it is the baseline the other one changes, or the same.
    pub fn against(&self, other: &Self) -> Vec<String> {
        let theirs = other.job.words();
        let mut own: Vec<String> = self
            .job
            .words()
            .into_iter()
            .filter(|word| !theirs.contains(word))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let settings = self.settings.iter().filter(|s| !other.settings.contains(s));
        own.extend(settings.map(|s| format!("{}={}", s.key, s.value)));
        if self.command != other.command {
            own.extend(self.command.as_ref().map(|c| format!("after `{c}`")));
        }
        if self.mode != other.mode {
            own.extend(self.mode.clone());
        }
        own
    }

    /// [`ArmSpec::against`] as one line; `as it is` if there is nothing to name.
    pub fn label(&self, other: &Self) -> String {
        let own = self.against(other);
        if own.is_empty() { "as it is".to_owned() } else { own.join(", ") }
    }
}

fn not_known(key: &str) -> ArmError {
    if let Err(error @ PlainError::NotPlain { .. }) = PlainJob::default().set(key, "") {
        return error.into();
    }
    let near = nearest(key, names().chain(registry().map(|s| s.key)));
    let near = near.first().map(|near| (*near).to_owned());
    ArmError::Unknown { key: key.to_owned(), near }
}
