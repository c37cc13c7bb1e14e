//! Background work of the system during a run.

use crate::words::evidence;
use crate::{Check, Found, Observed, Rule, rule};
use seekwell_runs::Repeat;
use seekwell_sys::Background;

pub(super) const RULES: &[Rule] = &[Rule {
    id: AT_WORK,
    about: "the system did background work during the measurement",
    means: "Threads of the kernel or maintenance programs worked while the run measured.",
    known: "The CPU time (/proc/PID/schedstat) of ext4lazyinit, mdN_resync, btrfs, btrfs-cleaner, \
            bcache, f2fs_gc, kswapd, fstrim, e2fsck, xfs_scrub and updatedb before and after each \
            repeat: from 0.01 % of one processor on, of kswapd from 1 % on. It does not say which \
            disk they worked on. Work that another finding names is left out.",
    why: "if it was on the measured disk, the numbers are lower than those of the disk alone, and \
          they change when it is done",
    fix: "measure again when it is done, or stop it meanwhile",
    tune: None,
    check: Check::Run(at_work),
}];
const AT_WORK: &str = "SW-BACK-001";

/// What the system did, and how to wait for it or stop it.
const fn words(of: Background) -> (&'static str, &'static str) {
    match of {
        Background::InodeTables => (
            "zeroed ext4 inode tables",
            "wait until pgrep ext4lazyinit finds nothing, or remount with noinit_itable meanwhile",
        ),
        Background::ArraySync => (
            "synchronised or checked an MD array",
            "wait (cat /proc/mdstat), or lower dev.raid.speed_limit_max meanwhile",
        ),
        Background::Btrfs => (
            "balanced, scrubbed or defragmented a btrfs file system",
            "wait, or sudo btrfs balance pause and sudo btrfs scrub cancel on its mount point",
        ),
        Background::BtrfsCleaner => (
            "freed deleted subvolumes of a btrfs file system",
            "sudo btrfs subvolume sync on its mount point waits until they are gone",
        ),
        Background::Bcache => (
            "wrote back or garbage-collected a bcache",
            "wait until bcache/dirty_data is 0, or echo 0 into bcache/writeback_running meanwhile",
        ),
        Background::SegmentCleaning => (
            "cleaned segments of an F2FS file system",
            "wait, or remount with background_gc=off meanwhile",
        ),
        Background::Reclaim => (
            "reclaimed memory",
            "free memory first; requests through the page cache cause it themselves, --direct=1 \
             does not",
        ),
        Background::Trim => {
            ("trimmed unused blocks", "wait, or sudo systemctl stop fstrim.service")
        }
        Background::Check => (
            "checked a mounted file system",
            "wait; systemctl list-timers shows when e2scrub_all and xfs_scrub_all begin",
        ),
        Background::FileIndex => (
            "read all file names for locate",
            "wait; systemctl list-timers shows when updatedb begins",
        ),
    }
}

/// The rule that reports the same work from the state of the disk.
const fn known_by(of: Background) -> Option<&'static str> {
    match of {
        Background::InodeTables => Some("SW-FS-013"),
        Background::ArraySync => Some("SW-MD-002"),
        Background::Btrfs => Some("SW-BTRFS-003"),
        _ => None,
    }
}

fn at_work(input: &Observed<'_>) -> Option<Found> {
    let is_new = |of: &Background| {
        let known = known_by(*of).and_then(rule);
        known.is_none_or(|rule| rule.findings(input).is_empty())
    };
    let worked = |of: Background| Some((of, input.most(&Repeat::background(of))?));
    let all: Vec<_> =
        Background::ALL.into_iter().filter_map(worked).filter(|w| is_new(&w.0)).collect();
    if all.is_empty() {
        return None;
    }
    let seen = all.iter().map(|(of, (phase, percent))| {
        let (does, name) = (words(*of).0, of.name());
        let seen = format!("{name} {does}: up to {percent:.2} % of a CPU in {}", phase.name);
        evidence(seen, "/proc/PID/schedstat")
    });
    let did: Vec<_> = all.iter().map(|(of, _)| words(*of).0).collect();
    let stop: Vec<_> =
        all.iter().map(|(of, _)| format!("{}: {}", of.name(), words(*of).1)).collect();
    Some(
        Found::info(format!("During the measurement the system {}", did.join(", ")))
            .evidence(seen)
            .remedy(stop.join("; ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;

    fn beside(of: Background, percent: f64) -> impl FnOnce(&mut Case) {
        move |c| {
            let repeat = &mut c.phase_mut("rand-read-4k-d1").repeats[2];
            repeat.values.insert(Repeat::background(of), percent);
        }
    }

    #[test]
    fn what_worked_beside_the_run_is_named_with_how_to_stop_it() {
        let case = Case::hdd().with(beside(Background::Trim, 0.4));
        let f = case.with(beside(Background::ArraySync, 3.0)).finding(AT_WORK);
        assert_eq!(
            f.title,
            "During the measurement the system synchronised or checked an MD array, trimmed unused \
             blocks"
        );
        let seen = "fstrim trimmed unused blocks: up to 0.40 % of a CPU in rand-read-4k-d1";
        assert_eq!(f.evidence[1].seen, seen);
        assert!(f.remedy.contains("fstrim: wait, or sudo systemctl stop"), "{f:?}");
        Case::hdd().quiet(AT_WORK);
    }

    #[test]
    fn work_that_the_state_of_the_array_already_shows_is_not_reported_twice() {
        let case = Case::hdd().with(beside(Background::ArraySync, 3.0)).with_disk(|d| {
            let md = d.detail.md.get_or_insert_default();
            md.sync_action = fact("resync".into(), "md/sync_action");
        });
        case.finding("SW-MD-002");
        case.quiet(AT_WORK);
    }

    #[test]
    fn the_rules_that_report_the_same_work_exist() {
        let known = Background::ALL.into_iter().filter_map(known_by);
        assert!(known.map(rule).all(|rule| rule.is_some()));
    }
}
