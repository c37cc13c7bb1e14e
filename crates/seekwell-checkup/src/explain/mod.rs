//! What follows from facts and measurements together.
//!
//! One file per theme, one function per rule, each with its condition, its threshold and the reason
//! for that threshold in its doc comment. A rule says nothing unless it has evidence, and nothing
//! about a healthy disk: a reader who meets three findings that do not matter skips the fourth.

mod alignment;
mod cache;
mod commit;
mod cpu;
mod engine;
mod errors;
mod full;
mod look;
mod mix;
mod noise;
mod queue;
mod read_ahead;
mod room;
mod rotation;
mod scheduler;
mod slow;
mod steady;
#[cfg(test)]
pub(crate) mod testing;

use seekwell_inspect::{Fact, Finding, Inspection};
use seekwell_runs::{Engine, Medium, Phase, Study};

/// Everything the rules may look at.
#[derive(Debug, Clone, Copy)]
pub struct ExplainInput<'a> {
    /// The attachment of the target.
    pub inspection: &'a Inspection,
    /// The phases with their metrics.
    pub phases: &'a [Phase],
    /// Whether the device was written twice over before.
    pub preconditioned: bool,
    /// What was asked beyond their numbers.
    pub study: Option<&'a Study>,
    /// What the data lay in, where anything was measured.
    pub medium: Option<&'a Medium>,
    /// How requests were issued, where any were.
    pub engine: Option<&'a Engine>,
    /// The size the temporary file should have had, in bytes.
    pub wanted_bytes: Option<u64>,
    /// The value of `kernel.io_uring_disabled`, where it could be read.
    pub io_uring_disabled: Option<&'a Fact<u64>>,
}

/// One rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The identifier of its findings, stable for ever.
    pub id: &'static str,
    /// What it looks for, in a few words.
    pub about: &'static str,
    /// The rule itself: its finding, or nothing.
    pub apply: fn(&ExplainInput<'_>) -> Option<Finding>,
}

/// All rules, by theme.
pub const RULES: &[&[Rule]] = &[
    errors::RULES,
    commit::RULES,
    queue::RULES,
    mix::RULES,
    cache::RULES,
    room::RULES,
    alignment::RULES,
    rotation::RULES,
    scheduler::RULES,
    read_ahead::RULES,
    noise::RULES,
    steady::RULES,
    slow::RULES,
    full::RULES,
    cpu::RULES,
    engine::RULES,
];

/// All findings, the worst first; those equally bad by identifier. The same input gives the same
/// findings in the same order.
pub fn explain(input: &ExplainInput<'_>) -> Vec<Finding> {
    let rules = RULES.iter().copied().flatten();
    let mut found: Vec<Finding> = rules.filter_map(|rule| (rule.apply)(input)).collect();
    found.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(&b.id)));
    found
}

#[cfg(test)]
mod tests {
    use super::testing::{Case, all_healthy};
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_healthy_disk_of_any_kind_has_no_findings() {
        for (name, case) in all_healthy() {
            let found = case.explain();
            assert!(found.is_empty(), "{name}: {found:#?}");
        }
    }

    #[test]
    fn rules_have_stable_identifiers_of_their_own() {
        let ids: Vec<_> = RULES.iter().copied().flatten().map(|r| r.id).collect();
        let unique: BTreeSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len());
        for id in ids {
            let parts: Vec<_> = id.split('-').collect();
            assert_eq!((parts.len(), parts[0]), (3, "SW"), "{id}");
            assert!(parts[2].len() == 3 && parts[2].parse::<u32>().is_ok(), "{id}");
        }
    }

    #[test]
    fn findings_are_sorted_worst_first_and_come_out_the_same_every_time() {
        let case = Case::hdd()
            .with(|c| {
                c.fail("rand-read-4k-d1", 5);
                c.drawn("commit-4k").direct = true;
                c.set("commit-4k", "flush.response_ns_p50", 50e3);
                c.spread("seq-read-1m", "read.requests_per_s", 100.0, 60.0, 140.0);
            })
            .with_disk(|d| d.queue.scheduler = Some(Fact::new("none".into(), "q/scheduler")));
        let ids: Vec<_> = case.explain().into_iter().map(|f| (f.severity, f.id)).collect();
        assert!(ids.len() >= 4, "{ids:?}");
        assert!(ids.windows(2).all(|w| w[0].0 > w[1].0 || (w[0].0 == w[1].0 && w[0].1 < w[1].1)));
        let again: Vec<_> = case.explain().into_iter().map(|f| (f.severity, f.id)).collect();
        assert_eq!(ids, again);
    }

    #[test]
    fn an_empty_checkup_of_an_unknown_target_has_no_findings_and_does_not_panic() {
        let mut case = Case::nvme();
        case.phases.clear();
        case.inspection.device = None;
        case.inspection.filesystem = None;
        case.medium = None;
        case.engine = None;
        assert!(case.explain().is_empty());
    }
}
