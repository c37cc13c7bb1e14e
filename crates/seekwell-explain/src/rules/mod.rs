//! The rules, one file per theme.

mod ahci;
mod alignment;
mod array;
mod ata;
mod background;
mod bcache;
mod blk;
mod btrfs;
mod commit;
mod cpu;
mod dm;
mod dma;
mod drbd;
mod engine;
mod errors;
mod fs;
mod full;
mod health;
mod layer;
mod link;
pub(crate) mod log;
mod md;
mod mix;
mod mmc;
mod ncq;
mod net;
mod noise;
mod nvme;
mod page_cache;
mod pcie;
mod probe;
mod queue;
mod read_ahead;
mod room;
mod rotation;
mod sas;
mod scheduler;
mod scsi;
mod shingled;
mod slow;
mod steady;
pub(crate) mod sustained;
mod together;
mod usb;
mod vm;
mod write_cache;
mod writes;
mod zfs;

use crate::rule::Rule;

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
    health::RULES,
    scsi::RULES,
    sas::RULES,
    blk::RULES,
    fs::RULES,
    md::RULES,
    dm::RULES,
    shingled::RULES,
    btrfs::RULES,
    bcache::RULES,
    zfs::RULES,
    drbd::RULES,
    layer::RULES,
    net::RULES,
    vm::RULES,
    log::RULES,
    errors::RULES,
    commit::RULES,
    writes::RULES,
    array::RULES,
    queue::RULES,
    mix::RULES,
    page_cache::RULES,
    room::RULES,
    alignment::RULES,
    rotation::RULES,
    scheduler::RULES,
    read_ahead::RULES,
    noise::RULES,
    background::RULES,
    steady::RULES,
    together::RULES,
    sustained::RULES,
    slow::RULES,
    full::RULES,
    cpu::RULES,
    engine::RULES,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup;
    use crate::testing::machine::{self, Case, all_healthy, sata_hdd};
    use crate::{Observed, findings, rule, rules};
    use seekwell_inspect::Fact;
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
            health::cases::all,
            scsi::cases::all,
            sas::cases::all,
            blk::cases::all,
            fs::cases::all,
            md::cases::all,
            dm::cases::all,
            shingled::cases::all,
            btrfs::cases::all,
            bcache::cases::all,
            zfs::cases::all,
            drbd::cases::all,
            layer::cases::all,
            net::cases::all,
            vm::cases::all,
            cpu::cases::all,
            log::cases::all,
        ];
        all.into_iter().flat_map(|f| f()).collect()
    }

    #[test]
    fn every_rule_fires_on_its_fault_and_stays_quiet_beside_it() {
        let cases = cases();
        cases.iter().for_each(Case::run);
        for rule in rules().filter(|r| !r.needs_run()) {
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
        for (name, case) in checkup::all_healthy() {
            let found = case.explain();
            assert!(found.is_empty(), "{name}: {found:#?}");
        }
    }

    #[test]
    fn rules_have_stable_identifiers_of_their_own_and_a_whole_page() {
        let ids: Vec<_> = rules().map(|r| r.id).collect();
        let unique: BTreeSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len());
        assert!(ids.len() >= 60, "{} rules", ids.len());
        for rule in rules() {
            let parts: Vec<_> = rule.id.split('-').collect();
            assert_eq!((parts.len(), parts[0]), (3, "SW"), "{}", rule.id);
            assert!(parts[2].len() == 3 && parts[2].parse::<u32>().is_ok(), "{}", rule.id);
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

    #[test]
    fn findings_of_a_run_come_worst_first_and_the_same_every_time() {
        let case = checkup::Case::hdd()
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
        let mut case = checkup::Case::nvme();
        case.phases.clear();
        case.inspection.device = None;
        case.inspection.filesystem = None;
        case.medium = None;
        case.engine = None;
        assert!(case.explain().is_empty());
    }
}
