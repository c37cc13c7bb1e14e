//! File systems and how they are mounted: on the target, and on every disk below it.

use crate::look::filesystems;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::{BlockGroups, Ext4Facts};
use seekwell_inspect::{Filesystem, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-FS-001",
        about: "flushes are switched off by a mount option",
        means: "The file system does not tell the disk to flush its cache, so fsync returns before \
                the data is safe.",
        known: "The option barrier=0 or nobarrier is in force.",
        why: "After a power loss the journal itself can be corrupt. The gain in speed is real; it \
              is safe with a battery-backed cache and unsafe otherwise.",
        fix: "sudo mount -o remount,barrier on the mount point (barrier=1 of ext4), and remove the \
              option from /etc/fstab",
        tune: None,
        check: Check::Facts(no_barriers),
    },
    Rule {
        id: "SW-FS-002",
        about: "the file system is mounted sync",
        means: "Every write waits until it is on the disk, as if every program called fsync each \
                time.",
        known: "The option sync is in force; not of a removable disk's vfat, where it is usual.",
        why: "Writes run at the rate of single commits: tens to a few thousand a second.",
        fix: "sudo mount -o remount,async on the mount point, and remove sync from /etc/fstab",
        tune: None,
        check: Check::Facts(sync_mount),
    },
    Rule {
        id: "SW-FS-003",
        about: "every read writes an access time",
        means: "The file system keeps the time of every access.",
        known: "The option strictatime is in force, or neither relatime nor noatime on a local \
                one.",
        why: "Reading files causes writes; a tree walk rewrites every inode.",
        fix: "sudo mount -o remount,relatime on the mount point",
        tune: None,
        check: Check::Facts(access_times),
    },
    Rule {
        id: "SW-FS-004",
        about: "the file system was shut down",
        means: "After an error the kernel stopped the file system; all requests fail.",
        known: "The option emergency_ro or shutdown is in force.",
        why: "Nothing can be written, including data still in memory.",
        fix: "find the cause in the kernel log, unmount, repair (fsck, xfs_repair) and mount again",
        tune: None,
        check: Check::Facts(shut_down),
    },
    Rule {
        id: "SW-FS-005",
        about: "data is written after the metadata that points to it",
        means: "ext4 does not order data before its metadata.",
        known: "The option data=writeback is in force.",
        why: "After a crash files can contain old data of other files.",
        fix: "mount with data=ordered, which is the default",
        tune: None,
        check: Check::Facts(writeback_data),
    },
    Rule {
        id: "SW-FS-006",
        about: "all data goes through the journal",
        means: "ext4 writes all data twice, first to its journal.",
        known: "The option data=journal is in force.",
        why: "Sequential writes run at half the disk's rate; commits of small files can be faster.",
        fix: "mount with data=ordered unless small synchronous writes are the point",
        tune: None,
        check: Check::Facts(journal_data),
    },
    Rule {
        id: "SW-FS-007",
        about: "the file system discards while deleting",
        means: "Every deletion waits for discards on the disk.",
        known: "The option discard is in force, except btrfs's discard=async, on a disk whose TRIM \
                cannot be queued (libata says unqueued).",
        why: "An unqueued TRIM drains the queue: all other requests wait for it, which shows as \
              stalls while files are deleted.",
        fix: "mount without discard and let fstrim.timer do it: sudo systemctl enable --now \
              fstrim.timer",
        tune: None,
        check: Check::Facts(online_discard),
    },
    Rule {
        id: "SW-FS-008",
        about: "delayed allocation is off",
        means: "ext4 allocates every block as soon as it is written to memory.",
        known: "The option nodelalloc is in force.",
        why: "Files grow piecemeal: more fragments and smaller requests.",
        fix: "mount without nodelalloc",
        tune: None,
        check: Check::Facts(no_delayed_allocation),
    },
    Rule {
        id: "SW-FS-009",
        about: "the file system was mounted without replaying its journal",
        means: "The journal was skipped, so the file system may be inconsistent.",
        known: "The option norecovery or noload is in force.",
        why: "Files may be missing or half written; writing to it would make it worse.",
        fix: "unmount it and mount it without the option, from a copy if the disk is failing",
        tune: None,
        check: Check::Facts(no_replay),
    },
    Rule {
        id: "SW-FS-010",
        about: "metadata is committed rarely",
        means: "The journal is committed at long intervals.",
        known: "The option commit= is above 30 seconds.",
        why: "That many seconds of work are lost at a power loss, where programs do not call \
              fsync.",
        fix: "mount with a smaller commit=; the default is 5 for ext4 and 30 for btrfs",
        tune: None,
        check: Check::Facts(rare_commits),
    },
    Rule {
        id: "SW-FS-011",
        about: "the file system recorded errors",
        means: "ext4 found an inconsistency in its own structures, or a disk error, and recorded \
                it in its superblock.",
        known: "errors_count in /sys/fs/ext4 is above 0. It is kept across reboots until the file \
                system is checked, so it may be old.",
        why: "Its structures may be inconsistent, and going on writing can make it worse.",
        fix: "look at the disk first (other findings, smartctl), save what matters, then unmount \
              it and run e2fsck -f on the device, which also resets the count",
        tune: None,
        check: Check::Facts(recorded_errors),
    },
    Rule {
        id: "SW-FS-012",
        about: "the file system refuses writes although it is mounted read-write",
        means: "After an error ext4 made itself read-only.",
        known: "/proc/fs/ext4/*/options says ro, and the mount itself says rw: a file system \
                mounted read-only on purpose says ro in both.",
        why: "Programs that write fail; what was written last may be lost.",
        fix: "find the cause in the kernel log, unmount, e2fsck -f on the device, mount again",
        tune: None,
        check: Check::Facts(made_read_only),
    },
    Rule {
        id: "SW-FS-013",
        about: "ext4 is still initialising its inode tables",
        means: "mkfs left zeroing the inode tables to the kernel, which does it in the background \
                once the file system is mounted.",
        known: "On a file system mounted read-write without noinit_itable, group descriptors lack \
                the flag for a zeroed inode table. (The kernel holds them in memory.)",
        why: "The kernel thread ext4lazyinit competes with all other I/O, on large disks for \
              hours: a new file system measures slower than it will be.",
        fix: "wait before you measure, remount with init_itable=0 so that it does not pause, or \
              format with mkfs.ext4 -E lazy_itable_init=0,lazy_journal_init=0",
        tune: None,
        check: Check::Facts(initialising),
    },
];

fn each(input: &Observed<'_>, rule: impl Fn(&Filesystem) -> Option<Found>) -> Vec<Found> {
    filesystems(input.inspection).into_iter().filter_map(rule).collect()
}

fn kind(fs: &Filesystem) -> &str {
    &fs.fstype.value
}

/// The first of these options that is in force.
fn option<'f>(fs: &'f Filesystem, wanted: &[&str]) -> Option<&'f str> {
    let found = fs.options.value.iter().find(|o| wanted.contains(&o.as_str()));
    found.map(String::as_str)
}

fn with_option(fs: &Filesystem, wanted: &[&str], severity: Severity, words: &str) -> Option<Found> {
    let option = option(fs, wanted)?;
    Some(found(fs, severity, words, option))
}

fn found(fs: &Filesystem, severity: Severity, words: &str, option: &str) -> Found {
    Found::new(severity, format!("{}: {words}", fs.mount_point.value))
        .seen(format!("{} mounted with {option}", kind(fs)), &fs.options.from)
}

fn no_barriers(input: &Observed<'_>) -> Vec<Found> {
    let words = "flushes are switched off";
    each(input, |fs| {
        let on = match kind(fs) {
            "ext4" | "ext3" => "barrier=1",
            _ => "barrier",
        };
        let found = with_option(fs, &["nobarrier", "barrier=0"], Severity::Error, words)?;
        Some(found.remedy(format!("sudo mount -o remount,{on} {}", fs.mount_point.value)))
    })
}

fn sync_mount(input: &Observed<'_>) -> Vec<Found> {
    each(input, |fs| {
        let removable = ["vfat", "exfat", "msdos", "iso9660"].contains(&kind(fs));
        if removable || fs.read_only {
            return None;
        }
        let found = with_option(fs, &["sync"], Severity::Warning, "every write is synchronous")?;
        Some(found.remedy(format!("sudo mount -o remount,async {}", fs.mount_point.value)))
    })
}

fn access_times(input: &Observed<'_>) -> Vec<Found> {
    const LOCAL: [&str; 6] = ["ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs"];
    each(input, |fs| {
        if fs.read_only || !LOCAL.contains(&kind(fs)) {
            return None;
        }
        // The kernel prints nothing for strictatime.
        if option(fs, &["relatime", "noatime"]).is_some() {
            return None;
        }
        let found =
            found(fs, Severity::Info, "every read writes a time", "neither relatime nor noatime");
        Some(found.remedy(format!("sudo mount -o remount,relatime {}", fs.mount_point.value)))
    })
}

fn shut_down(input: &Observed<'_>) -> Vec<Found> {
    let words = "the file system was shut down";
    each(input, |fs| with_option(fs, &["emergency_ro", "shutdown"], Severity::Error, words))
}

fn writeback_data(input: &Observed<'_>) -> Vec<Found> {
    let words = "data may be older than the metadata that points to it";
    each(input, |fs| with_option(fs, &["data=writeback"], Severity::Warning, words))
}

fn journal_data(input: &Observed<'_>) -> Vec<Found> {
    let words = "all data is written twice";
    each(input, |fs| with_option(fs, &["data=journal"], Severity::Info, words))
}

fn online_discard(input: &Observed<'_>) -> Vec<Found> {
    let trims: Vec<_> = input
        .devices()
        .into_iter()
        .filter_map(|d| d.detail.ata.as_ref()?.trim.as_ref())
        .filter(|t| t.value.contains("unqueued"))
        .collect();
    let Some(trim) = trims.first() else { return Vec::new() };
    each(input, |fs| {
        let words = "deletions wait for unqueued discards";
        let found = with_option(fs, &["discard", "discard=sync"], Severity::Info, words)?;
        Some(found.fact("how the disk trims", trim))
    })
}

fn no_delayed_allocation(input: &Observed<'_>) -> Vec<Found> {
    let words = "delayed allocation is off";
    each(input, |fs| with_option(fs, &["nodelalloc"], Severity::Info, words))
}

fn no_replay(input: &Observed<'_>) -> Vec<Found> {
    let words = "mounted without replaying its journal";
    each(input, |fs| with_option(fs, &["norecovery", "noload"], Severity::Warning, words))
}

fn rare_commits(input: &Observed<'_>) -> Vec<Found> {
    each(input, |fs| {
        let commit = fs.options.value.iter().find(|o| o.starts_with("commit="))?;
        let seconds: u64 = commit.strip_prefix("commit=")?.parse().ok()?;
        let words = format!("metadata is committed every {seconds} s");
        (seconds > 30).then(|| found(fs, Severity::Info, &words, commit))
    })
}

/// Each ext4 once, however many disks it is seen from.
pub(super) fn each_ext4(
    input: &Observed<'_>,
    rule: impl Fn(&Ext4Facts) -> Option<Found>,
) -> Vec<Found> {
    let mut all: Vec<&Ext4Facts> = Vec::new();
    for fs in input.devices().into_iter().flat_map(|d| &d.detail.ext4) {
        if all.iter().all(|known| known.device != fs.device) {
            all.push(fs);
        }
    }
    all.into_iter().filter_map(rule).collect()
}

fn initialising(input: &Observed<'_>) -> Vec<Found> {
    each_ext4(input, |fs| {
        let groups = fs.block_groups.as_ref().filter(|g| g.value.uninitialised > 0)?;
        let BlockGroups { total, uninitialised } = groups.value;
        let title = format!("{}: ext4 is still initialising its inode tables", fs.device);
        Some(
            Found::warning(title)
                .seen(format!("{uninitialised} of {total} are left"), &groups.from),
        )
    })
}

fn recorded_errors(input: &Observed<'_>) -> Vec<Found> {
    each_ext4(input, |fs| {
        let count = fs.error_count.as_ref().filter(|c| c.value > 0)?;
        let last = fs.last_error_at.as_ref().map(|at| format!(", the last at {}", at.value));
        let last = last.unwrap_or_default();
        let errors = if count.value == 1 { "an error" } else { "errors" };
        let title = format!("{}: ext4 recorded {errors}{last}", fs.device);
        let found = Found::error(title).fact("errors", count);
        Some(
            found
                .facts("first", fs.first_error_at.as_ref())
                .facts("last", fs.last_error_at.as_ref())
                .facts("met in", fs.last_error_function.as_ref())
                .facts("at an error it does", fs.at_error.as_ref())
                .remedy(format!(
                    "save what matters, then: sudo umount /dev/{0} && sudo e2fsck -f /dev/{0}",
                    fs.device
                )),
        )
    })
}

fn made_read_only(input: &Observed<'_>) -> Vec<Found> {
    each_ext4(input, |fs| {
        let refused = fs.read_only.as_ref().filter(|ro| ro.value)?;
        let asked = fs.mounted_writable.as_ref().filter(|rw| rw.value)?;
        let title = format!("{}: ext4 made itself read-only", fs.device);
        Some(Found::error(title).seen("ro in force", &refused.from).seen("mounted rw", &asked.from))
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sata_hdd, sata_ssd};
    use seekwell_inspect::Fact;
    use seekwell_inspect::facts::{BlockGroups, Ext4Facts};

    fn option(word: &'static str) -> impl Fn(&mut Machine) {
        move |m| m.option(word)
    }

    fn kind(word: &'static str) -> impl Fn(&mut Machine) {
        move |m| m.fs().fstype = Fact::new(word.into(), "mountinfo")
    }

    /// Moves the mount from the target to the disk below a block device.
    fn on_the_disk(m: &mut Machine) {
        let fs = m.inspection.filesystem.take().unwrap();
        m.detail().mounts = vec![fs];
    }

    /// The file system of the target as ext4 itself sees it.
    fn remembers(errors: u64, read_only: bool, asked: bool) -> impl Fn(&mut Machine) {
        move |m| {
            m.detail().ext4 = vec![Ext4Facts {
                device: "sda1".into(),
                error_count: fact(errors, "errors_count"),
                last_error_at: fact("2026-11-16T12:00:01Z".into(), "last_error_time"),
                read_only: fact(read_only, "options"),
                mounted_writable: fact(asked, "mountinfo"),
                ..Ext4Facts::default()
            }];
        }
    }

    fn groups(uninitialised: u64) -> impl Fn(&mut Machine) {
        let groups = BlockGroups { total: 1024, uninitialised };
        move |m| m.detail().ext4[0].block_groups = fact(groups, "ext4-groups")
    }

    pub(crate) fn all() -> Vec<Case> {
        let unqueued = |m: &mut Machine| m.ata().trim = fact("unqueued".into(), "trim");
        vec![
            fires("SW-FS-001", sata_hdd, option("nobarrier")).error(),
            fires("SW-FS-001", sata_hdd, option("barrier=0")).and(on_the_disk).error(),
            quiet("SW-FS-001", sata_hdd, option("barrier=1")),
            fires("SW-FS-002", sata_hdd, option("sync")).warning(),
            quiet("SW-FS-002", sata_hdd, option("sync")).and(kind("vfat")),
            quiet("SW-FS-002", sata_hdd, option("dirsync")),
            fires("SW-FS-003", sata_hdd, |m| m.fs().options.value = vec!["rw".into()]).info(),
            quiet("SW-FS-003", sata_hdd, |m| m.fs().options.value = vec!["rw".into()])
                .and(kind("tmpfs")),
            fires("SW-FS-004", sata_hdd, option("emergency_ro")).error(),
            quiet("SW-FS-004", sata_hdd, option("ro")),
            fires("SW-FS-005", sata_hdd, option("data=writeback")).warning(),
            quiet("SW-FS-005", sata_hdd, option("data=ordered")),
            fires("SW-FS-006", sata_hdd, option("data=journal")).info(),
            quiet("SW-FS-006", sata_hdd, option("data=ordered")),
            fires("SW-FS-007", sata_ssd, option("discard")).and(unqueued).info(),
            quiet("SW-FS-007", sata_ssd, option("discard=async")).and(unqueued),
            quiet("SW-FS-007", sata_ssd, option("discard")),
            fires("SW-FS-008", sata_hdd, option("nodelalloc")).info(),
            quiet("SW-FS-008", sata_hdd, option("delalloc")),
            fires("SW-FS-009", sata_hdd, option("norecovery")).warning(),
            quiet("SW-FS-009", sata_hdd, option("ro")),
            fires("SW-FS-010", sata_hdd, option("commit=120")).info(),
            quiet("SW-FS-010", sata_hdd, option("commit=30")),
            fires("SW-FS-011", sata_hdd, remembers(2, false, true)).error(),
            quiet("SW-FS-011", sata_hdd, remembers(0, false, true)),
            quiet("SW-FS-011", sata_hdd, |m| m.detail().ext4 = vec![Ext4Facts::default()]),
            fires("SW-FS-012", sata_hdd, remembers(0, true, true)).error(),
            quiet("SW-FS-012", sata_hdd, remembers(0, false, true)),
            quiet("SW-FS-012", sata_hdd, remembers(0, true, false)),
            fires("SW-FS-013", sata_hdd, remembers(0, false, true)).and(groups(900)).warning(),
            quiet("SW-FS-013", sata_hdd, remembers(0, false, true)).and(groups(0)),
        ]
    }
}
