//! Reading with a record of what could not be read.
//!
//! A value that is simply not offered by a kind of device is no loss; a value that is there and
//! refused, or that every such device has, is. Each call says which of the two it is.

use crate::model::{Fact, Missing};
use seekwell_sys::{View, ViewError};
use std::collections::HashSet;
use std::path::Path;

/// The longest text taken over into a fact, in characters.
const MAX_TEXT: usize = 1024;

/// Whether a value has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Not every device or kernel has it: its absence is not reported.
    Optional,
    /// Its absence is reported.
    Always,
}

/// A view, and what could not be read of it.
pub(crate) struct Reader<'a> {
    pub view: &'a dyn View,
    missing: Vec<Missing>,
    told: HashSet<(String, String)>,
}

impl<'a> Reader<'a> {
    pub fn new(view: &'a dyn View) -> Self {
        Self { view, missing: Vec::new(), told: HashSet::new() }
    }

    /// What could not be read so far, each place once.
    pub fn into_missing(self) -> Vec<Missing> {
        self.missing
    }

    /// Notes that `what` could not be had.
    pub fn miss(&mut self, what: &str, from: impl Into<String>, reason: impl Into<String>) {
        let missing = Missing { what: what.to_owned(), from: from.into(), reason: reason.into() };
        if self.told.insert((missing.from.clone(), missing.what.clone())) {
            self.missing.push(missing);
        }
    }

    /// Notes that `what` could not be had because of `error`.
    pub fn miss_error(&mut self, what: &str, error: &ViewError, need: Need) {
        if matches!(error, ViewError::Absent { .. }) && need == Need::Optional {
            return;
        }
        self.miss(what, show(error.path()), reason(error));
    }

    /// The text of a file, cleaned for showing. Empty text is no value.
    pub fn text(&mut self, path: &Path, what: &str, need: Need) -> Option<Fact<String>> {
        match self.view.text(path) {
            Ok(text) => {
                let text = clean(&text);
                if text.is_empty() && need == Need::Always {
                    self.miss(what, show(path), "it is empty");
                }
                (!text.is_empty()).then(|| Fact::new(text, show(path)))
            }
            Err(error) => {
                self.miss_error(what, &error, need);
                None
            }
        }
    }

    /// The text of a file; no error is noted if it cannot be read.
    pub fn hint(&self, path: &Path) -> Option<String> {
        let text = clean(&self.view.text(path).ok()?);
        (!text.is_empty()).then_some(text)
    }

    pub fn number(&mut self, path: &Path, what: &str, need: Need) -> Option<Fact<u64>> {
        match self.view.number(path) {
            Ok(number) => Some(Fact::new(number, show(path))),
            Err(error) => {
                self.miss_error(what, &error, need);
                None
            }
        }
    }

    /// A text that not every device has.
    pub fn optional(&mut self, path: &Path, what: &str) -> Option<Fact<String>> {
        self.text(path, what, Need::Optional)
    }

    /// A number that not every device has.
    pub fn count(&mut self, path: &Path, what: &str) -> Option<Fact<u64>> {
        self.number(path, what, Need::Optional)
    }

    /// A value of any other form; no error is noted if it cannot be read.
    pub fn parsed<T: std::str::FromStr>(&self, path: &Path) -> Option<Fact<T>> {
        Some(Fact::new(self.hint(path)?.parse().ok()?, show(path)))
    }

    /// A number the kernel writes in hexadecimal, with or without `0x`.
    pub fn hex(&self, path: &Path) -> Option<Fact<u64>> {
        let text = self.hint(path)?;
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        Some(Fact::new(u64::from_str_radix(digits, 16).ok()?, show(path)))
    }

    /// A number times a unit; a product that does not fit is malformed.
    pub fn scaled(&mut self, path: &Path, what: &str, unit: u64, need: Need) -> Option<Fact<u64>> {
        let number = self.number(path, what, need)?;
        let Some(value) = number.value.checked_mul(unit) else {
            self.miss(what, show(path), format!("it holds {}, which is too large", number.value));
            return None;
        };
        Some(Fact::new(value, number.from))
    }

    /// A file that holds 0 or another number.
    pub fn flag(&mut self, path: &Path, what: &str, need: Need) -> Option<Fact<bool>> {
        let number = self.number(path, what, need)?;
        Some(Fact::new(number.value != 0, number.from))
    }

    /// The name of the driver bound to a device, from its `driver` link.
    pub fn driver(&self, device: &Path) -> Option<Fact<String>> {
        let path = device.join("driver");
        let name = clean(self.view.link(&path).ok()?.file_name()?.to_str()?);
        (!name.is_empty()).then(|| Fact::new(name, show(&path)))
    }

    /// The names in a directory; none if it cannot be listed.
    pub fn names(&self, path: &Path) -> Vec<String> {
        self.view.list(path).unwrap_or_default()
    }
}

pub(crate) fn show(path: &Path) -> String {
    path.display().to_string()
}

/// One line of ordinary characters: what a device says of itself may hold anything.
pub(crate) fn clean(text: &str) -> String {
    let plain = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    let plain = plain.chars().take(MAX_TEXT);
    plain.map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Why something could not be read, in words.
pub(crate) fn reason(error: &ViewError) -> String {
    match error {
        ViewError::Absent { .. } => "it does not exist here".to_owned(),
        ViewError::Denied { .. } => "permission denied: it needs root".to_owned(),
        ViewError::Failed { kind, .. } => format!("the kernel answered: {kind}"),
        ViewError::Malformed { expected, found, .. } => {
            format!("it holds {found:?}, which is not {expected}")
        }
    }
}

/// The name in brackets of a list such as `[mq-deadline] none`, and all names.
pub(crate) fn choice(text: &str) -> (Option<String>, Vec<String>) {
    let mut chosen = None;
    let mut all = Vec::new();
    for word in text.split_whitespace() {
        let name = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'));
        if let Some(name) = name {
            chosen.get_or_insert_with(|| name.to_owned());
        }
        all.push(name.unwrap_or(word).to_owned());
    }
    if let ([only], None) = (all.as_slice(), &chosen) {
        chosen = Some(only.clone());
    }
    (chosen, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    #[test]
    fn absence_counts_only_where_the_value_has_to_be() {
        let fake = Fake::new().denied("/a").file("/empty", "\n").file("/n", "12 bananas");
        let mut r = Reader::new(&fake);
        assert_eq!(r.text(Path::new("/x"), "x", Need::Optional), None);
        assert_eq!(r.text(Path::new("/empty"), "empty", Need::Optional), None);
        assert_eq!(r.text(Path::new("/y"), "y", Need::Always), None);
        assert_eq!(r.text(Path::new("/a"), "a", Need::Optional), None);
        assert_eq!(r.text(Path::new("/a"), "a", Need::Always), None);
        assert_eq!(r.number(Path::new("/n"), "n", Need::Optional), None);
        let told: Vec<_> = r.into_missing().into_iter().map(|m| (m.what, m.reason)).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(told[0].1, "it does not exist here");
        assert_eq!(told[1].1, "permission denied: it needs root");
        assert!(told[2].1.contains("12 bananas"), "{told:?}");
    }

    #[test]
    fn the_choice_is_the_name_in_brackets_or_the_only_one() {
        assert_eq!(choice("[mq-deadline] none").0.as_deref(), Some("mq-deadline"));
        assert_eq!(choice("none").0.as_deref(), Some("none"));
        assert_eq!(choice("a b").0, None);
        assert_eq!(choice("").1, Vec::<String>::new());
        assert_eq!(choice("none [bfq]").1, ["none", "bfq"]);
    }

    #[test]
    fn control_characters_never_reach_a_fact() {
        assert_eq!(clean(" \0A\u{1b}[31mB\n"), "A\u{fffd}[31mB");
        assert_eq!(clean(&"x".repeat(5000)).len(), MAX_TEXT);
    }
}
