//! What one commit costs: too little to be honest, or too much to work with.

use super::writes::{SERVER, causes};
use crate::look::{ONE_READ, commit_ns};
use crate::words::{evidence, fact, ns, quote};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, Evidence, Severity};
use seekwell_runs::PhaseId;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: TOO_FAST,
        about: "commits are too fast to be durable",
        means: "A write followed by a flush completes sooner than the medium could have stored it, \
                or the file system is mounted without barriers. Either a protected cache holds the \
                data, or flushes are ignored.",
        known: "Median of writing 4 KiB and flushing, on a single disk: under 1 ms on a rotating \
                disk (half a turn takes 2 ms at 15,000 rpm), under 20 µs on flash (two PCIe round \
                trips; 5 µs where the kernel sends no flush), under 100 µs on a virtual disk. \
                Memory, loop devices, network disks and RAID controllers with their own cache are \
                not judged.",
        why: "what a database calls committed is lost in a power failure unless a battery or \
              capacitors protect the cache; a missing barrier can damage the file system as well",
        fix: "find out whether the drive, controller or host protects its cache; if not, switch \
              the volatile cache off, or mount with barriers",
        tune: None,
        check: Check::Run(too_fast),
    },
    Rule {
        id: TOO_SLOW,
        about: "commits are very slow",
        means: "Making one small write durable takes far longer than this kind of disk needs.",
        known: "Median of writing 4 KiB and flushing: over 20 ms on flash or a virtual disk, over \
                100 ms on anything else; or over 5 ms and over 200 times a random read. Consumer \
                flash needs 0.5 to 5 ms; a rotating disk under a journal two to four turns. What \
                may be the cause is listed as for SW-WRITE-001.",
        why: "databases, mail servers, package managers and virtual machines wait for every \
              commit; that rate is all they get, however fast other reads and writes are",
        fix: "look for other writers (iostat -x 1) and disk errors (smartctl -a); keep logs that \
              commit often on a drive with power-loss protection",
        tune: None,
        check: Check::Run(too_slow),
    },
];
const TOO_FAST: &str = "SW-COMMIT-001";
const TOO_SLOW: &str = "SW-COMMIT-002";
const COMMIT: PhaseId = PhaseId::Commit;

/// A block can be made durable on a rotating disk only when it passes under the head: half a turn,
/// 2 ms at 15,000 rpm and 4.2 ms at 7,200, on average. A median of under 1 ms means that most
/// commits never waited for the disk at all.
const ROTATING_NS: f64 = 1e6;
/// A write and a flush are two round trips over PCIe of about 8 µs each before any flash is
/// touched, and flash takes at least 100 µs to program. A drive that says it has a volatile cache
/// has to.
const FLASH_NS: f64 = 20e3;
/// With a cache that is not volatile the kernel sends no flush and one round trip is honest. Less
/// than this is the speed of memory: nothing left the machine.
const NO_FLUSH_NS: f64 = 5e3;
/// Through a virtual machine's exits, the host's system call and its disk, 100 µs is quick even
/// with a protected NVMe drive below.
const VIRTUAL_NS: f64 = 100e3;
/// Consumer flash needs 0.5 to 5 ms, cheap sticks 10.
const SLOW_FLASH_NS: f64 = 20e6;
/// A rotating disk under a journal needs two to four turns, 15 to 40 ms; a server across a network
/// may add as much.
const SLOW_OTHER_NS: f64 = 100e6;
/// Healthy flash commits in ten to twenty times the time of a read.
const READ_TIMES: f64 = 200.0;
/// Below this a commit is not slow, however fast reads are.
const READ_FLOOR_NS: f64 = 5e6;

/// Controllers with a battery-backed cache of their own: a fast commit is what they are bought for.
const RAID_DRIVERS: [&str; 8] =
    ["megaraid_sas", "aacraid", "hpsa", "smartpqi", "arcmsr", "3w-9xxx", "3w-sas", "cciss"];

fn too_fast(input: &Observed<'_>) -> Option<Found> {
    let commit = commit_ns(input)?;
    if let Some(option) = no_barrier(input) {
        return Some(without_barriers(input, commit, option));
    }
    let disk = input.disk()?;
    let driver = disk.driver.as_ref().map_or("", |d| d.value.as_str());
    if RAID_DRIVERS.contains(&driver) || disk.detail.raid_controller().is_some() {
        return None;
    }
    let belief = disk.queue.write_cache.as_ref();
    let through = belief.is_some_and(|b| b.value == "write through");
    let host = input.virtual_evidence(disk);
    let rotates = input.rotates(disk) == Some(true);
    let (limit, severity) = match (&host, rotates) {
        (Some(_), _) => (VIRTUAL_NS, Severity::Info),
        (None, true) => (ROTATING_NS, Severity::Error),
        (None, false) => (if through { NO_FLUSH_NS } else { FLASH_NS }, Severity::Warning),
    };
    if commit >= limit {
        return None;
    }
    let (took, least) = (ns(commit), ns(limit));
    let medium = if rotates { "a platter" } else { "flash" };
    let seen = format!(
        "write 4 KiB and flush, median: {took}; under {least} it did not wait for {medium}"
    );
    let mut proof = vec![evidence(seen, COMMIT)];
    let mean = input.phase(COMMIT).and_then(|p| p.median("flush.response_ns_mean"));
    if let Some(mean) = mean.filter(|m| *m > 3.0 * commit) {
        let seen = format!("mean: {}; some commits wait, most do not", ns(mean));
        proof.push(evidence(seen, COMMIT));
    }
    proof.extend(belief.map(|b| fact("the kernel treats the write cache as", b)));
    proof.extend(disk.queue.rotational.as_ref().filter(|_| rotates).map(|r| fact("rotational", r)));
    let why = match host {
        Some(_) => {
            "either the host has a write cache that survives a power failure, or it acknowledges \
             flushes without performing them; in the second case what a database calls committed \
             is lost when the host loses power"
        }
        None => {
            "unless the cache is protected by a battery or capacitors, the drive acknowledges a \
             flush without performing it, or is never sent one; what a database calls committed is \
             then lost in a power failure"
        }
    };
    let remedy = remedy(disk, host.is_some(), through);
    proof.extend(host);
    let title = match severity {
        Severity::Info => format!("{}: whether commits are durable is up to the host", disk.name),
        _ => format!("{}: commits are too fast to be honest", disk.name),
    };
    Some(Found::new(severity, title).evidence(proof).why(why).remedy(remedy))
}

fn remedy(disk: &Device, is_virtual: bool, through: bool) -> String {
    let name = &disk.name;
    let nvme = disk.transport.as_ref().is_some_and(|t| t.value == "nvme");
    if is_virtual {
        return format!(
            "on the host, see how {name} is attached: cache=unsafe and a cache type of `Unsafe` \
             ignore flushes; cache=none or writeback do not"
        );
    }
    if through {
        return format!(
            "make the kernel send flushes, and measure again: echo 'write back' | sudo tee \
             /sys/block/{name}/queue/write_cache"
        );
    }
    if nvme {
        return format!(
            "look up whether the drive has power-loss protection; if not, switch its volatile \
             write cache off: sudo nvme set-feature -f 6 -v 0 /dev/{name}"
        );
    }
    format!(
        "look up whether the drive or controller has power-loss protection; if not, switch its \
         write cache off: sudo hdparm -W0 /dev/{name}"
    )
}

fn no_barrier(input: &Observed<'_>) -> Option<Evidence> {
    let fs = input.inspection.filesystem.as_ref()?;
    input.disk()?;
    let off = |o: &&String| matches!(o.as_str(), "nobarrier" | "barrier=0");
    let option = fs.options.value.iter().find(off)?;
    Some(evidence(format!("mounted with the option {option}"), &fs.options.from))
}

fn without_barriers(input: &Observed<'_>, commit: f64, option: Evidence) -> Found {
    let fs = input.inspection.filesystem.as_ref();
    let mount = fs.map_or("/", |f| f.mount_point.value.as_str());
    let ext = fs.is_some_and(|f| f.fstype.value.starts_with("ext"));
    let on = if ext { "barrier=1" } else { "barrier" };
    Found::error(format!("{mount} is mounted with flushes off: commits need not reach the medium"),
    )
    .evidence([option, evidence(format!("write 4 KiB and flush, median: {}", ns(commit)), COMMIT)])
    .why(
        "without barriers the file system never tells the disk to empty its write cache; a power \
         failure can lose what was committed and damage the file system itself",
    )
    .remedy(format!("sudo mount -o remount,{on} {}, and the same in /etc/fstab", quote(mount)))
}

fn too_slow(input: &Observed<'_>) -> Option<Found> {
    let commit = commit_ns(input)?;
    let disk = input.disk();
    let quick = disk
        .is_some_and(|d| input.rotates(d) == Some(false) || input.virtual_evidence(d).is_some());
    let limit = if quick { SLOW_FLASH_NS } else { SLOW_OTHER_NS };
    let read = input.one_read_ns();
    let beyond_reads = read.is_some_and(|ns| commit > READ_TIMES * ns && commit > READ_FLOOR_NS);
    if commit <= limit && !beyond_reads {
        return None;
    }
    let mut proof = vec![evidence(
        format!("write 4 KiB and flush, median: {}; {:.0} a second", ns(commit), 1e9 / commit),
        COMMIT,
    )];
    let seen = |read| format!("one random read, median: {}", ns(read));
    proof.extend(read.map(|read| evidence(seen(read), ONE_READ)));
    let write = "write.latency_ns_mean";
    if let Some(write) = input.phase(PhaseId::RandomWrite(1)).and_then(|p| p.median(write)) {
        let seen = format!("the same write without a flush, mean: {}", ns(write));
        proof.push(evidence(seen, PhaseId::RandomWrite(1)));
    }
    let cache = disk.and_then(|d| d.queue.write_cache.as_ref());
    proof.extend(cache.map(|b| fact("the kernel treats the write cache as", b)));
    let fs = input.inspection.filesystem.as_ref();
    proof.extend(fs.map(|f| fact("file system", &f.fstype)));
    let (causes, first) = causes(input);
    proof.extend(causes);
    let remedy = first.unwrap_or_else(|| match disk {
        Some(d) => format!(
            "see whether something else writes to {0} meanwhile (iostat -x 1 {0}) and whether the \
             disk reports errors (sudo smartctl -a /dev/{0}); a drive with power-loss protection \
             for the database's log is the lasting remedy",
            d.name
        ),
        None => SERVER.into(),
    });
    Some(Found::warning(format!("One commit takes {}", ns(commit))).evidence(proof).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;

    fn at(case: Case, ns: f64) -> Case {
        case.with(|c| c.set(COMMIT, "flush.response_ns_p50", ns))
    }

    fn through(d: &mut Device) {
        d.queue.write_cache = fact("write through".into(), "/sys/block/sda/queue/write_cache");
    }

    #[test]
    fn a_rotating_disk_that_commits_in_less_than_half_a_turn_lies() {
        let f = at(Case::hdd(), 0.4e6).finding(TOO_FAST);
        assert_eq!(f.severity, Severity::Error);
        assert!(f.evidence[0].seen.contains("400 µs"), "{f:?}");
        assert!(f.remedy.contains("hdparm -W0 /dev/sdb"), "{f:?}");
        at(Case::hdd(), 4e6).quiet(TOO_FAST);
    }

    #[test]
    fn a_disk_the_kernel_sends_no_flushes_gets_them_back() {
        let f = at(Case::hdd(), 0.2e6).with_disk(through).finding(TOO_FAST);
        assert!(f.remedy.contains("echo 'write back'"), "{f:?}");
    }

    #[test]
    fn flash_with_a_volatile_cache_cannot_commit_at_the_speed_of_memory() {
        let f = at(Case::nvme(), 15e3).finding(TOO_FAST);
        assert_eq!(f.severity, Severity::Warning);
        assert!(f.remedy.contains("nvme set-feature -f 6 -v 0 /dev/nvme0n1"), "{f:?}");
        at(Case::nvme(), 25e3).quiet(TOO_FAST);
    }

    #[test]
    fn flash_with_a_protected_cache_may_be_quick_but_not_quicker_than_its_link() {
        at(Case::nvme(), 12e3).with_disk(through).quiet(TOO_FAST);
        at(Case::nvme(), 3e3).with_disk(through).finding(TOO_FAST);
    }

    #[test]
    fn a_virtual_disk_that_is_quick_is_information_about_its_host() {
        let f = at(Case::virtio(), 60e3).finding(TOO_FAST);
        assert_eq!(f.severity, Severity::Info);
        assert!(f.why.contains("host"), "{f:?}");
        assert!(!f.evidence.iter().any(|e| e.seen.starts_with("mean")), "{f:?}");
        let journal = |c: &mut Case| c.set(COMMIT, "flush.response_ns_mean", 700e3);
        let f = at(Case::virtio(), 60e3).with(journal).finding(TOO_FAST);
        assert!(f.evidence[1].seen.contains("mean: 700 µs; some commits wait"), "{f:?}");
        at(Case::virtio(), 150e3).quiet(TOO_FAST);
    }

    #[test]
    fn memory_raid_controllers_and_read_only_targets_are_not_accused() {
        at(Case::zram(), 500.0).quiet(TOO_FAST);
        let raid = |d: &mut Device| d.driver = fact("megaraid_sas".into(), "p");
        at(Case::hdd(), 0.1e6).with_disk(raid).quiet(TOO_FAST);
        let mut read_only = Case::hdd();
        read_only.phase_mut(COMMIT).metrics.clear();
        read_only.quiet(TOO_FAST);
    }

    #[test]
    fn a_mount_without_barriers_is_an_error_at_any_speed() {
        let option = |o: &str| {
            Case::hdd().with(|c| {
                let fs = c.inspection.filesystem.as_mut().expect("ext4");
                fs.options.value.push(o.into());
            })
        };
        let f = option("nobarrier").finding(TOO_FAST);
        assert_eq!(f.severity, Severity::Error);
        assert!(f.remedy.contains("remount,barrier=1 /srv"), "{f:?}");
        option("barrier=1").quiet(TOO_FAST);
    }

    #[test]
    fn commits_slower_than_their_kind_of_disk_are_a_finding() {
        let f = at(Case::sata_ssd(), 25e6).finding(TOO_SLOW);
        assert!(f.evidence[0].seen.contains("25.0 ms; 40 a second"), "{f:?}");
        assert!(f.remedy.contains("power-loss protection"), "{f:?}");
        assert!(!f.remedy.contains("iostat"), "the cause is known: {f:?}");
        let unexplained = at(Case::sata_ssd(), 25e6).with(|c| {
            c.phase_mut(PhaseId::RandomWrite(1)).metrics.clear();
        });
        assert!(unexplained.finding(TOO_SLOW).remedy.contains("/dev/sda"));
        at(Case::sata_ssd(), 15e6).quiet(TOO_SLOW);
        at(Case::hdd(), 60e6).quiet(TOO_SLOW);
        at(Case::hdd(), 130e6).finding(TOO_SLOW);
    }

    #[test]
    fn slow_commits_over_a_network_are_told_without_a_device() {
        let f = at(Case::nvme(), 130e6).with(|c| c.inspection.device = None).finding(TOO_SLOW);
        assert!(f.remedy.contains("server"), "{f:?}");
    }
}
