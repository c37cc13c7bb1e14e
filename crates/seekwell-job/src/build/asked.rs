//! The options that hold for one job, and typed answers to what it asks for.

use crate::error::{Asking, JobError};
use crate::job::{Amount, By, FixedRange, Origin};
use crate::options::Spec;
use crate::value::{self, Bare, Parsed, Reading};
use seekwell_io::units::Nanos;
use std::collections::BTreeMap;
#[cfg(test)]
use std::{cell::RefCell, collections::BTreeSet};

/// One option that holds for a job.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// What is known of it.
    pub(super) spec: &'static Spec,
    /// Its value, with variables replaced; `1` for a flag without one.
    pub(super) value: String,
    /// A keyword stood in it.
    pub(super) keyword: bool,
    /// Where it was written.
    pub(super) at: Origin,
    /// Its number among all that were read: the larger came later.
    pub(super) order: u32,
}

/// The options that hold, by canonical name.
pub(super) type Options = BTreeMap<&'static str, Given>;

/// Answers for one job.
pub(super) struct Asked<'a> {
    /// Its name.
    pub(super) job: &'a str,
    /// Where its section begins.
    pub(super) origin: &'a Origin,
    options: &'a Options,
    /// `kb_base=1024`.
    compatible: bool,
    /// Names that were asked for: an option that no one asks for would be ignored silently.
    #[cfg(test)]
    pub(super) seen: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Asked<'a> {
    /// Answers from these options.
    pub(super) fn new(
        job: &'a str,
        origin: &'a Origin,
        options: &'a Options,
    ) -> Result<Self, JobError> {
        let mut asked = Self {
            job,
            origin,
            options,
            compatible: true,
            #[cfg(test)]
            seen: RefCell::default(),
        };
        asked.compatible = asked.word("kb_base", &[("1024", true), ("1000", false)], true)?;
        Ok(asked)
    }

    /// The option, when it holds.
    pub(super) fn given(&self, name: &'static str) -> Option<&'a Given> {
        debug_assert!(crate::options::find(name).is_some_and(|s| s.name == name), "{name}");
        #[cfg(test)]
        self.seen.borrow_mut().insert(name);
        self.options.get(name)
    }

    /// Whether the option holds.
    pub(super) fn has(&self, name: &'static str) -> bool {
        self.given(name).is_some()
    }

    /// Whether the first was written after the second.
    pub(super) fn later(&self, name: &'static str, other: &'static str) -> bool {
        let order = |name| self.given(name).map(|given| given.order);
        order(name) > order(other)
    }

    /// How numbers of this option are read.
    pub(super) fn reading(&self, given: &Given) -> Reading {
        Reading { compatible: self.compatible, arithmetic: given.keyword }
    }

    fn asking(&self, given: &Given) -> Box<Asking> {
        Asking::new(&given.at, self.job, given.spec.name, &given.value)
    }

    /// A value that the option does not take.
    pub(super) fn bad(&self, given: &Given, needed: impl Into<String>) -> JobError {
        JobError::Value { asking: self.asking(given), needed: needed.into() }
    }

    /// [`Self::bad`] of an option by name.
    pub(super) fn bad_option(&self, name: &'static str, needed: impl Into<String>) -> JobError {
        let asking = match self.given(name) {
            Some(given) => self.asking(given),
            None => Asking::new(self.origin, self.job, name, ""),
        };
        JobError::Value { asking, needed: needed.into() }
    }

    /// A value that fio takes and this program does not.
    pub(super) fn refuse(&self, given: &Given, why: impl Into<String>) -> JobError {
        JobError::Refused { asking: self.asking(given), why: why.into() }
    }

    /// The value as `read` understands it; none when the option does not hold.
    pub(super) fn parse<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&str, Reading) -> Parsed<T>,
    ) -> Result<Option<T>, JobError> {
        let Some(given) = self.given(name) else { return Ok(None) };
        let value = read(&given.value, self.reading(given));
        value.map(Some).map_err(|needed| self.bad(given, needed))
    }

    /// The text.
    pub(super) fn text(&self, name: &'static str) -> Option<String> {
        self.given(name).map(|given| given.value.trim().to_owned())
    }

    /// 0 or 1.
    pub(super) fn flag(&self, name: &'static str, default: bool) -> Result<bool, JobError> {
        let read = |text: &str, _| match text.trim() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err("0 or 1"),
        };
        Ok(self.parse(name, read)?.unwrap_or(default))
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&str, T)],
        default: T,
    ) -> Result<T, JobError> {
        let Some(given) = self.given(name) else { return Ok(default) };
        self.pick(given, given.value.trim(), words)
    }

    /// What `text`, a part of the value, stands for among some words.
    pub(super) fn pick<T: Copy>(
        &self,
        given: &Given,
        text: &str,
        words: &[(&str, T)],
    ) -> Result<T, JobError> {
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.bad(given, format!("one of {}", words.join(", ")))
        })
    }

    /// A number from `least` to `most`.
    pub(super) fn number(
        &self,
        name: &'static str,
        least: u64,
        most: u64,
    ) -> Result<Option<u64>, JobError> {
        let Some(value) = self.parse(name, value::number)? else { return Ok(None) };
        if (least..=most).contains(&value) {
            return Ok(Some(value));
        }
        Err(self.bad_option(name, format!("{least} to {most}")))
    }

    /// A number of 32 bits, at least `least`.
    pub(super) fn count(
        &self,
        name: &'static str,
        least: u32,
        default: u32,
    ) -> Result<u32, JobError> {
        let value = self.number(name, u64::from(least), u64::from(u32::MAX))?;
        Ok(value.map_or(default, |value| value as u32))
    }

    /// A share of 100.
    pub(super) fn percent(&self, name: &'static str) -> Result<Option<u8>, JobError> {
        Ok(self.number(name, 0, 100)?.map(|value| value as u8))
    }

    /// A time, zero when the option does not hold.
    pub(super) fn time(&self, name: &'static str, bare: Bare) -> Result<Nanos, JobError> {
        let read = |text: &str, how| value::time(text, bare, how);
        Ok(self.parse(name, read)?.unwrap_or(Nanos::ZERO))
    }

    /// A number of milliseconds, as fio's windows are given.
    pub(super) fn millis(&self, name: &'static str, default: u64) -> Result<Nanos, JobError> {
        let most = u64::from(u32::MAX);
        Ok(Nanos::from_millis(self.number(name, 0, most)?.unwrap_or(default)))
    }

    /// Bytes or percent.
    pub(super) fn amount(&self, name: &'static str) -> Result<Option<Amount>, JobError> {
        self.parse(name, value::amount)
    }

    /// A range of bytes.
    pub(super) fn byte_range(
        &self,
        name: &'static str,
    ) -> Result<Option<FixedRange<u64>>, JobError> {
        self.parse(name, |text, how| value::range(text, |one| value::number(one, how)))
    }

    /// For each kind of request a number from `least` to `most`.
    pub(super) fn triple(
        &self,
        name: &'static str,
        least: u64,
        most: u64,
    ) -> Result<By<Option<u64>>, JobError> {
        let read = |text: &str, how| value::triple(text, |one| value::number(one, how));
        let values = self.parse(name, read)?.unwrap_or_default();
        if values.iter().flatten().all(|value| (least..=most).contains(value)) {
            return Ok(values);
        }
        Err(self.bad_option(name, format!("{least} to {most}")))
    }
}
