//! Names and commands.

use crate::Run;
use seekwell_inspect::Evidence;

pub fn evidence(seen: impl Into<String>, from: impl Into<String>) -> Evidence {
    Evidence { seen: seen.into(), from: from.into() }
}

/// The command that measures the target again, with this option.
pub fn command(run: &Run<'_>, option: &str) -> String {
    match option {
        "--depths" => format!("seekwell checkup {}", run.document.inspection.target),
        _ => format!("seekwell bench --on {} {option}", run.document.inspection.target),
    }
}
