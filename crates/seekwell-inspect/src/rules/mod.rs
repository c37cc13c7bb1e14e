//! What is wrong with how a disk is attached or set, and how that is known.
//!
//! One file per theme. A rule has a stable identifier, a page of documentation and a function from
//! facts to what it found. It says nothing without evidence, and nothing of severity warning about
//! a healthy disk: a reader who meets three findings that do not matter skips the fourth. A fact
//! that is not there is never taken for one that is bad.

mod ahci;
mod ata;
mod blk;
mod cache;
mod dm;
mod dma;
mod fs;
mod link;
mod log;
mod look;
mod md;
mod mmc;
mod ncq;
mod nvme;
mod pcie;
mod probe;
mod sas;
mod scsi;
#[cfg(test)]
mod testing;
mod usb;
mod vm;

pub use log::incidents;

use crate::finding::{Evidence, Finding, Severity};
use crate::log::LogReport;
use crate::model::Inspection;

/// Everything the rules may look at.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    /// The target as it is.
    pub inspection: &'a Inspection,
    /// The kernel log, where it could be read.
    pub log: Option<&'a LogReport>,
    /// The same target some time before: error counters are judged by what they grew.
    pub earlier: Option<&'a Inspection>,
}

impl<'a> RuleInput<'a> {
    /// An inspection alone.
    pub fn new(inspection: &'a Inspection) -> Self {
        Self { inspection, log: None, earlier: None }
    }
}

/// One rule with its page of documentation.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The identifier of its findings, stable for ever: `SW-LINK-001`.
    pub id: &'static str,
    /// What it looks for, in a few words.
    pub about: &'static str,
    /// What the finding means.
    pub means: &'static str,
    /// How it is known: which facts, which threshold, which traps were avoided.
    pub known: &'static str,
    /// Why it matters, with a measured or published figure where there is one.
    pub why: &'static str,
    /// How to fix it.
    pub fix: &'static str,
    /// What this program's `tune` can change about it.
    pub tune: Option<&'static str>,
    apply: fn(&RuleInput<'_>) -> Vec<Found>,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule").field("id", &self.id).field("about", &self.about).finish()
    }
}

/// What a rule found on one device; the rest of the finding is the rule's.
#[derive(Debug, Clone)]
struct Found {
    severity: Severity,
    title: String,
    evidence: Vec<Evidence>,
    /// An exact command or setting; `None` takes the rule's own words.
    remedy: Option<String>,
}

impl Rule {
    /// The findings of this rule, in the order of the devices.
    pub fn findings(&self, input: &RuleInput<'_>) -> Vec<Finding> {
        let found = (self.apply)(input).into_iter();
        found
            .map(|f| {
                debug_assert!(!f.evidence.is_empty(), "{} needs evidence", self.id);
                Finding {
                    id: self.id.to_owned(),
                    severity: f.severity,
                    title: f.title,
                    evidence: f.evidence,
                    why: self.why.to_owned(),
                    remedy: f.remedy.unwrap_or_else(|| self.fix.to_owned()),
                    tune: self.tune.map(str::to_owned),
                }
            })
            .collect()
    }

    /// The page of documentation as plain text.
    pub fn page(&self) -> String {
        let mut page = format!("{}: {}\n", self.id, self.about);
        let parts = [
            ("What it means", Some(self.means)),
            ("How it is known", Some(self.known)),
            ("Why it matters", Some(self.why)),
            ("What to do", Some(self.fix)),
            ("What tune can do", self.tune.or(Some("Nothing: this is not a runtime setting."))),
        ];
        for (title, text) in parts {
            page += &format!("\n{title}\n  {}\n", text.unwrap_or_default());
        }
        page
    }
}

/// All rules, by theme.
const RULES: &[&[Rule]] = &[
    ata::RULES,
    ahci::RULES,
    link::RULES,
    ncq::RULES,
    dma::RULES,
    probe::RULES,
    cache::RULES,
    nvme::RULES,
    pcie::RULES,
    usb::RULES,
    mmc::RULES,
    scsi::RULES,
    sas::RULES,
    blk::RULES,
    fs::RULES,
    md::RULES,
    dm::RULES,
    vm::RULES,
    log::RULES,
];

/// All rules in the order of their themes.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied().flatten()
}

/// The rule with this identifier; letter case does not matter.
pub fn explain_rule(id: &str) -> Option<&'static Rule> {
    rules().find(|r| r.id.eq_ignore_ascii_case(id.trim()))
}

/// All findings, the worst first; those equally bad by identifier. The same input gives the same
/// findings in the same order.
pub fn findings(input: &RuleInput<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = rules().flat_map(|rule| rule.findings(input)).collect();
    found.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(&b.id)));
    found
}

#[cfg(test)]
mod tests {
    use super::testing::{Case, all_healthy, sata_hdd};
    use super::*;
    use std::collections::BTreeSet;

    fn cases() -> Vec<Case> {
        let all = [
            ata::cases::all,
            ahci::cases::all,
            link::cases::all,
            ncq::cases::all,
            dma::cases::all,
            probe::cases::all,
            cache::cases::all,
            nvme::cases::all,
            pcie::cases::all,
            usb::cases::all,
            mmc::cases::all,
            scsi::cases::all,
            sas::cases::all,
            blk::cases::all,
            fs::cases::all,
            md::cases::all,
            dm::cases::all,
            vm::cases::all,
            log::cases::all,
        ];
        all.into_iter().flat_map(|f| f()).collect()
    }

    #[test]
    fn every_rule_fires_on_its_fault_and_stays_quiet_beside_it() {
        let cases = cases();
        cases.iter().for_each(Case::run);
        for rule in rules() {
            let rows = |fires| {
                cases.iter().filter(|c| c.id == rule.id && c.expects_finding() == fires).count()
            };
            assert!(rows(true) > 0, "{} is never seen to fire", rule.id);
            assert!(rows(false) > 0, "{} is never seen to stay quiet", rule.id);
        }
    }

    #[test]
    fn a_healthy_disk_of_any_kind_has_no_findings() {
        for (name, machine) in all_healthy() {
            let found = findings(&RuleInput::new(&machine.inspection));
            assert!(found.is_empty(), "{name}: {found:#?}");
        }
    }

    #[test]
    fn rules_have_stable_identifiers_of_their_own_and_a_whole_page() {
        let ids: Vec<_> = rules().map(|r| r.id).collect();
        let unique: BTreeSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len());
        assert!(ids.len() >= 60, "{} rules", ids.len());
        // These themes belong to rules over measurements.
        let taken = [
            "QUEUE", "MIX", "COMMIT", "CACHE", "ROOM", "ALIGN", "ROT", "SCHED", "RA", "NOISE",
            "FULL", "CPU", "IO", "ENGINE", "STATS",
        ];
        for rule in rules() {
            let parts: Vec<_> = rule.id.split('-').collect();
            assert_eq!((parts.len(), parts[0]), (3, "SW"), "{}", rule.id);
            assert!(parts[2].len() == 3 && parts[2].parse::<u32>().is_ok(), "{}", rule.id);
            assert!(!taken.contains(&parts[1]), "{}", rule.id);
            for text in [rule.about, rule.means, rule.known, rule.why, rule.fix] {
                assert!(text.len() > 10 && !text.contains("  "), "{}: {text:?}", rule.id);
            }
            let page = rule.page();
            assert!(page.starts_with(rule.id) && page.contains(rule.fix), "{page}");
        }
    }

    #[test]
    fn a_rule_is_found_by_its_identifier_in_any_letter_case() {
        assert_eq!(explain_rule("sw-link-001 ").map(|r| r.id), Some("SW-LINK-001"));
        assert!(explain_rule("SW-LINK-999").is_none());
        assert!(explain_rule("").is_none());
    }

    #[test]
    fn findings_come_worst_first_and_the_same_every_time() {
        let mut machine = sata_hdd();
        machine.option("nobarrier");
        machine.option("sync");
        machine.option("nodelalloc");
        machine.ata().speed_downs = testing::fact(1, "spdn_cnt");
        let order = |_| {
            let all = findings(&RuleInput::new(&machine.inspection));
            all.into_iter().map(|f| (f.severity, f.id)).collect::<Vec<_>>()
        };
        let first = order(());
        assert!(first.len() == 4, "{first:?}");
        assert!(first.windows(2).all(|w| w[0].0 > w[1].0 || (w[0].0 == w[1].0 && w[0].1 < w[1].1)));
        assert_eq!(first, order(()));
    }

    #[test]
    fn an_inspection_without_a_device_has_no_findings() {
        let mut machine = sata_hdd();
        machine.inspection.device = None;
        machine.inspection.filesystem = None;
        assert!(findings(&RuleInput::new(&machine.inspection)).is_empty());
    }
}
