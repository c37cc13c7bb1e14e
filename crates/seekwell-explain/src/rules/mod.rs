//! The rules, one file per theme.

mod ahci;
mod ata;
mod blk;
mod dm;
mod dma;
mod fs;
mod link;
pub(crate) mod log;
mod md;
mod mmc;
mod ncq;
mod nvme;
mod pcie;
mod probe;
mod sas;
mod scsi;
mod usb;
mod vm;
mod write_cache;

use crate::Rule;

/// All rules, by theme.
pub(crate) const RULES: &[&[Rule]] = &[
    ata::RULES,
    ahci::RULES,
    link::RULES,
    ncq::RULES,
    dma::RULES,
    probe::RULES,
    write_cache::RULES,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine::{self, Case, all_healthy, sata_hdd};
    use crate::{Observed, findings, rule, rules};
    use std::collections::BTreeSet;

    fn cases() -> Vec<Case> {
        let all = [
            ata::cases::all,
            ahci::cases::all,
            link::cases::all,
            ncq::cases::all,
            dma::cases::all,
            probe::cases::all,
            write_cache::cases::all,
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
            let found = findings(&Observed::new(&machine.inspection));
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
        assert_eq!(rule("sw-link-001 ").map(|r| r.id), Some("SW-LINK-001"));
        assert!(rule("SW-LINK-999").is_none());
        assert!(rule("").is_none());
    }

    #[test]
    fn findings_come_worst_first_and_the_same_every_time() {
        let mut machine = sata_hdd();
        machine.option("nobarrier");
        machine.option("sync");
        machine.option("nodelalloc");
        machine.ata().speed_downs = machine::fact(1, "spdn_cnt");
        let order = |_| {
            let all = findings(&Observed::new(&machine.inspection));
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
        assert!(findings(&Observed::new(&machine.inspection)).is_empty());
    }
}
