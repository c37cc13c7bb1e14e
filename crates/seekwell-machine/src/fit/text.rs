//! Descriptions as text, every value with where it is from.

use crate::describe::Provenance;
use std::fmt::{Display, Write as _};
use toml::Value;

/// A description in the making.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// One with a title and what there is to say of it.
    pub fn new(title: &str, about: &str) -> Self {
        let mut text = Self::default();
        text.line(format_args!("title = {}", Value::from(title)));
        text.line(format_args!("about = {}", Value::from(about)));
        text
    }

    /// Begins a table.
    pub fn table(&mut self, name: &str) {
        self.line(format_args!("\n[{name}]"));
    }

    /// A key that names a part or a kind.
    pub fn word(&mut self, key: &str, word: &str) {
        self.line(format_args!("{key} = {}", Value::from(word)));
    }

    /// A value with its source.
    pub fn value(&mut self, key: &str, value: impl Display, source: Provenance) {
        self.line(format_args!("{key} = {{ value = {value}, from = \"{}\" }}", source.name()));
    }

    /// A value that was fitted on these phases.
    pub fn fitted(&mut self, key: &str, value: impl Display, on: &[String]) {
        let on: Vec<Value> = on.iter().map(|phase| Value::from(phase.as_str())).collect();
        let on = Value::from(on);
        self.line(format_args!("{key} = {{ value = {value}, from = \"fitted\", on = {on} }}"));
    }

    /// The same, or assumed if there was nothing to fit it on.
    pub fn fitted_or_assumed(&mut self, key: &str, value: impl Display, on: &[String]) {
        if on.is_empty() {
            self.value(key, value, Provenance::Assumed);
        } else {
            self.fitted(key, value, on);
        }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.0
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let written = writeln!(self.0, "{line}");
        debug_assert!(written.is_ok(), "a string takes everything");
    }
}
