//! What is wrong with a disk, how that is known and what to do about it.
//!
//! One registry of rules over one set of observations. A rule has a stable identifier, a page of
//! documentation and a function from what was observed to what it found. It reports nothing without
//! evidence, and nothing above info about a healthy disk: a reader who meets three findings that do
//! not matter skips the fourth. A missing fact is never taken for a bad one.

mod look;
mod observed;
mod rule;
mod rules;
#[cfg(test)]
mod testing;

pub use observed::Observed;
pub use rule::Rule;
pub use rules::log::incidents;

pub(crate) use rule::Found;

use seekwell_inspect::Finding;

/// All rules in the order of their themes.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    rules::RULES.iter().copied().flatten()
}

/// The rule with this identifier, in any letter case.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|r| r.id.eq_ignore_ascii_case(id.trim()))
}

/// All findings, the worst first; those equally bad by identifier. The same observations give the
/// same findings in the same order.
pub fn findings(input: &Observed<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = rules().flat_map(|rule| rule.findings(input)).collect();
    found.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(&b.id)));
    found
}
