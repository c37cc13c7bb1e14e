//! The page of a plan: which machine sustains a load, and where each breaks.

use crate::page::table;
use crate::text::escape_html as escape;
use serde::Serialize;

/// What the page shows, numbers written as in the terminal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanPage {
    /// The load.
    pub heading: String,
    /// One for each limit.
    pub plots: Vec<PlanPlot>,
    /// Heads of the table's columns.
    pub header: Vec<String>,
    /// A machine each.
    pub rows: Vec<Vec<String>>,
}

/// Loads against the figure of a limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanPlot {
    /// `p99`, `mean`, `iops`.
    pub figure: &'static str,
    /// In nanoseconds; of `iops` a second.
    pub bound: f64,
    /// Whether a load is a depth, or a factor of the load as given.
    pub by_depth: bool,
    pub curves: Vec<Curve>,
}

/// What a machine gave under each load that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    pub name: String,
    /// Load and figure, ascending.
    pub points: Vec<(f64, f64)>,
}

pub(crate) fn body(plan: &PlanPage) -> String {
    let header: Vec<&str> = plan.header.iter().map(String::as_str).collect();
    let title = escape(&plan.heading);
    format!("<h1>{title}</h1>\n{}", table("Modelled", &header, 2, &plan.rows))
}
