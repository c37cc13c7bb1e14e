//! What is wrong with a disk, how that is known and what to do about it.
//!
//! One registry of rules over one set of observations. A rule has a stable identifier, a page of
//! documentation and a function from what was observed to what it found. It reports nothing without
//! evidence, and nothing above info about a healthy disk: a reader who meets three findings that do
//! not matter skips the fourth. A missing fact is never taken for a bad one.

mod found;
mod look;
mod observed;
mod rule;
mod rules;
#[cfg(test)]
mod testing;
mod words;

pub use observed::Observed;
pub use rule::Rule;
pub use rules::log::incidents;
pub use rules::sustained::{fast_cause, is_cloud};

pub(crate) use found::Found;
pub(crate) use rule::Check;

use seekwell_inspect::Finding;
use std::cmp::Reverse;

/// All rules in the order of their themes.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    rules::RULES.iter().copied().flatten()
}

/// The rule with this identifier, in any letter case.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|r| r.id.eq_ignore_ascii_case(id.trim()))
}

/// All findings, the worst first; of those equally bad, what a run showed before what the facts
/// show, by identifier. The same observations give the same findings in the same order.
pub fn findings(input: &Observed<'_>) -> Vec<Finding> {
    let found = rules().flat_map(|rule| rule.findings(input).into_iter().map(move |f| (rule, f)));
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(rule, f)| (Reverse(f.severity), !rule.needs_run(), rule.id));
    found.into_iter().map(|(_, finding)| finding).collect()
}
