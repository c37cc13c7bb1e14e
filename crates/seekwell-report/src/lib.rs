//! One run document, four readers of it: the terminal, Markdown, a self-contained page, and the
//! attachment alone.
//!
//! Which figures head a report, what a row of the phase table says and how numbers are written is
//! decided once, in `figures` and `rows`; the page is handed the same strings. So two reports of
//! one run can never differ. Nothing here prints.
//!
//! Text may come from a disk or a path and is not trusted: every renderer passes it
//! through `text` first.

mod attachment;
mod compare;
mod describe;
mod experiment;
mod fidelity;
mod figures;
mod fleet;
mod health;
mod history;
mod html;
mod limits;
mod markdown;
mod page;
mod plan;
pub mod reproduced;
mod rows;
mod sheet;
mod study;
mod suite;
mod terminal;
mod text;
mod trace;
pub use seekwell_io::units;

#[cfg(test)]
#[path = "../tests/sample/mod.rs"]
mod testing;

pub use compare::{comparison, comparison_markdown, trend, trend_markdown};
pub use describe::{heading, sentence};
pub use fidelity::{Faith, fidelity};
pub use figures::{Figure, Key, figures};
pub use fleet::fleet;
pub use history::{Choice, History, HistoryPoint};
pub use html::{
    ReportError, Served, SideRuns, html, html_comparison, html_experiment, html_fleet, html_plan,
    html_trace_stats,
};
pub use limits::{CeilingRow, LimitRow, ceilings, limits};
pub use markdown::markdown;
pub use page::Kept;
pub use plan::{Curve, PlanPage, PlanPlot};
pub use rows::{Row, rows};
pub use study::{StudyText, of_job, preconditioning, study};
pub use suite::{StepRow, steps};
pub use terminal::{Style, facts, findings, inspect, prose, table, terminal};
pub use text::{clean, columns, wrap};
pub use trace::{trace_stats, trace_stats_markdown};
