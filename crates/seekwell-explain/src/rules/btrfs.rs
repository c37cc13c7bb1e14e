//! btrfs: what it does beside its users, and what it has lost.

use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::BtrfsFacts;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-BTRFS-001",
        about: "a device of the file system is missing",
        means: "btrfs was mounted without one of its devices.",
        known: "devinfo/*/missing is 1.",
        why: "The next failure loses data, and every read of the missing device is reconstructed \
              from the others.",
        fix: "sudo btrfs device usage on the mount point; then btrfs replace or btrfs device \
              remove missing",
        tune: None,
        check: Check::Facts(missing),
    },
    Rule {
        id: "SW-BTRFS-002",
        about: "the file system counted device errors",
        means: "Reads, writes or flushes failed, or checksums did not match.",
        known: "A counter in devinfo/*/error_stats is not 0. Counters last until they are reset, \
                so the errors may be old.",
        why: "A device, its cable or memory is failing; without a second copy data is lost.",
        fix: "sudo btrfs scrub start -B on the mount point, look at the disk (smartctl), then \
              sudo btrfs device stats --reset",
        tune: None,
        check: Check::Facts(errors),
    },
    Rule {
        id: "SW-BTRFS-003",
        about: "the file system is running a maintenance operation",
        means: "A balance, a device replacement or a resize is running.",
        known: "exclusive_operation is not none.",
        why: "It reads and writes in bulk, so anything measured meanwhile is slower.",
        fix: "wait for it, or sudo btrfs balance pause on the mount point",
        tune: None,
        check: Check::Facts(rearranged),
    },
    Rule {
        id: "SW-BTRFS-004",
        about: "metadata is stored with parity",
        means: "The metadata profile is RAID 5 or 6.",
        known: "allocation/metadata has the folder raid5 or raid6.",
        why: "btrfs does not close the write hole of its parity profiles: after a crash or power \
              loss metadata can be lost for good. Small writes also read the rest of their stripe \
              first.",
        fix: "sudo btrfs balance start -mconvert=raid1 (raid1c3 for RAID 6) on the mount point",
        tune: None,
        check: Check::Facts(parity),
    },
];

/// Of each btrfs on the target's disks, once.
fn each(input: &Observed<'_>, rule: impl Fn(&BtrfsFacts) -> Option<Found>) -> Vec<Found> {
    let mut all: Vec<&BtrfsFacts> = Vec::new();
    for fs in input.devices().into_iter().flat_map(|d| &d.detail.btrfs) {
        if all.iter().all(|known| known.devices != fs.devices) {
            all.push(fs);
        }
    }
    let of = |fs: &&BtrfsFacts| Some(rule(fs)?.of(fs.devices.join(", ")));
    all.iter().filter_map(of).collect()
}

fn missing(input: &Observed<'_>) -> Vec<Found> {
    each(input, |fs| {
        let missing = fs.missing_devices.as_ref().filter(|n| n.value > 0)?;
        let found = Found::error("btrfs runs without one of its devices");
        Some(
            found
                .fact("missing devices", missing)
                .facts("data", fs.data_profile.as_ref())
                .facts("metadata", fs.metadata_profile.as_ref()),
        )
    })
}

fn errors(input: &Observed<'_>) -> Vec<Found> {
    each(input, |fs| {
        let errors = fs.errors.as_ref().filter(|n| n.value > 0)?;
        Some(Found::error("btrfs counted device errors").fact("errors", errors))
    })
}

fn rearranged(input: &Observed<'_>) -> Vec<Found> {
    each(input, |fs| {
        let operation = fs.operation.as_ref().filter(|o| o.value != "none")?;
        let title = format!("btrfs is running: {}", operation.value);
        Some(Found::warning(title).fact("operation", operation))
    })
}

fn parity(input: &Observed<'_>) -> Vec<Found> {
    each(input, |fs| {
        let has_parity = |p: &str| p.split('+').any(|one| ["raid5", "raid6"].contains(&one));
        let profile = fs.metadata_profile.as_ref().filter(|p| has_parity(&p.value))?;
        Some(Found::warning("btrfs stores its metadata with parity").fact("metadata", profile))
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sata_hdd};
    use seekwell_inspect::facts::BtrfsFacts;

    fn btrfs(change: impl Fn(&mut BtrfsFacts)) -> impl Fn(&mut Machine) {
        move |m| {
            let word = |w: &str| fact(w.to_owned(), "btrfs");
            let mut fs = BtrfsFacts {
                devices: vec!["sda1".into()],
                data_profile: word("single"),
                metadata_profile: word("dup"),
                operation: word("none"),
                missing_devices: fact(0, "missing"),
                errors: fact(0, "error_stats"),
                ..BtrfsFacts::default()
            };
            change(&mut fs);
            m.detail().btrfs = vec![fs];
        }
    }

    pub(crate) fn all() -> Vec<Case> {
        let profile = |p: &'static str| {
            btrfs(move |fs| fs.metadata_profile = fact(p.to_owned(), "allocation"))
        };
        let healthy = || btrfs(|_| {});
        let lost = btrfs(|fs| fs.missing_devices = fact(1, "missing"));
        let wrong = btrfs(|fs| fs.errors = fact(7, "error_stats"));
        let busy = btrfs(|fs| fs.operation = fact("balance".to_owned(), "exclusive_operation"));
        vec![
            fires("SW-BTRFS-001", sata_hdd, lost).error(),
            quiet("SW-BTRFS-001", sata_hdd, healthy()),
            fires("SW-BTRFS-002", sata_hdd, wrong).error(),
            quiet("SW-BTRFS-002", sata_hdd, healthy()),
            fires("SW-BTRFS-003", sata_hdd, busy).warning(),
            quiet("SW-BTRFS-003", sata_hdd, healthy()),
            fires("SW-BTRFS-004", sata_hdd, profile("raid6")).warning(),
            fires("SW-BTRFS-004", sata_hdd, profile("raid1+raid5")).warning(),
            quiet("SW-BTRFS-004", sata_hdd, profile("raid1c3")),
        ]
    }
}
