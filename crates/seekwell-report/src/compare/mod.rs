//! A comparison and a history, in the terminal and as Markdown. What a row says is decided once,
//! here; both renderers are handed the same strings.

mod history;
mod markdown;
mod page;
mod rows;
mod terminal;

pub(crate) use history::{about, heading, sentences};
pub use history::{trend, trend_markdown};
pub use markdown::comparison_markdown;
pub(crate) use page::sheets;
pub(crate) use rows::{change_text, metric_value, signed, value};
pub use terminal::comparison;

#[cfg(test)]
mod tests;
