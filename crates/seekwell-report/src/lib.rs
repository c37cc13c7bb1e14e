//! One run document, four readers of it: the terminal, Markdown, a self-contained page, and the
//! attachment alone.
//!
//! Which figures head a report, what a row of the phase table says and how numbers are written is
//! decided once, in `figures` and `rows`; the page is handed the same strings. So two reports of
//! one run can never differ. Nothing here prints.
//!
//! All text may come from a disk or a path, and nobody vouches for those: every renderer passes it
//! through `text` first.

mod attachment;
mod describe;
mod figures;
mod html;
mod markdown;
mod page;
mod rows;
mod terminal;
mod text;
pub mod units;

#[cfg(test)]
#[path = "../tests/sample/mod.rs"]
mod testing;

pub use describe::{heading, sentence};
pub use figures::{Figure, Key, figures};
pub use html::{ReportError, html, html_has_plots};
pub use markdown::markdown;
pub use rows::{Row, rows};
pub use terminal::{Style, facts, inspect, table, terminal};
