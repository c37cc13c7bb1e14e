//! Software RAID.

use crate::look::{solid_state, text};
use crate::words::bytes;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::MdFacts;
use seekwell_inspect::{Device, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-MD-001",
        about: "the array is degraded",
        means: "A member is missing or failed.",
        known: "md/degraded is above 0, or a member's state is faulty.",
        why: "Depending on the level the next failure loses everything, and an array with parity \
              computes missing data for every read of it.",
        fix: "cat /proc/mdstat names the member; replace the disk and sudo mdadm --add it",
        tune: None,
        check: Check::Md(degraded),
    },
    Rule {
        id: "SW-MD-002",
        about: "the array is synchronising",
        means: "The kernel is rebuilding, checking or reshaping the array.",
        known: "sync_action is not idle.",
        why: "It reads and writes all members from end to end: everything measured now is lower, \
              often by half or more.",
        fix: "wait for it (cat /proc/mdstat), or slow it: sysctl dev.raid.speed_limit_max",
        tune: Some("Lower sync_speed_max temporarily."),
        check: Check::Md(synchronising),
    },
    Rule {
        id: "SW-MD-003",
        about: "copies of the array differ",
        means: "The last check found sectors whose copies or parity do not agree.",
        known: "mismatch_cnt is above 0 while nothing is synchronising. Mirrors that hold swap or \
                memory-mapped files may differ harmlessly, so for them it is only information.",
        why: "With parity it means that a rebuild would write wrong data.",
        fix: "run another check: echo check | sudo tee into md/sync_action; look at the members' \
              SMART",
        tune: None,
        check: Check::Md(mismatches),
    },
    Rule {
        id: "SW-MD-004",
        about: "a large array keeps no write-intent bitmap",
        means: "After a crash the whole array has to be synchronised.",
        known: "consistency_policy is resync, of a redundant array over 100 GiB.",
        why: "Hours of reduced rate and redundancy after each crash instead of seconds.",
        fix: "sudo mdadm --grow --bitmap=internal on the array; a bitmap chunk of 64 MiB or more \
              keeps its cost low",
        tune: None,
        check: Check::Md(no_bitmap),
    },
    Rule {
        id: "SW-MD-005",
        about: "the array is not writable",
        means: "The array is inactive, failed or read-only.",
        known: "array_state is inactive, readonly, broken or suspended. read-auto becomes writable \
                by itself at the first write.",
        why: "Requests fail or wait.",
        fix: "sudo mdadm --detail shows why; sudo mdadm --readwrite or --run on the array",
        tune: None,
        check: Check::Md(not_writable),
    },
    Rule {
        id: "SW-MD-006",
        about: "the stripe cache is at its small default",
        means: "The array keeps 256 stripes in memory to gather full stripes of writes.",
        known: "stripe_cache_size is 256 on level 4, 5 or 6.",
        why: "Sequential writes that do not fill a stripe have to read it first. 4096 and more \
              gather them; memory used is 4 KiB times members times stripes.",
        fix: "echo 4096 into md/stripe_cache_size",
        tune: Some("Set stripe_cache_size on trial and measure."),
        check: Check::Md(small_stripe_cache),
    },
    Rule {
        id: "SW-MD-007",
        about: "members of an array differ in kind",
        means: "The array has both rotating and solid-state members.",
        known: "The rotation rates the members report (IDENTIFY word 217, VPD page B1h).",
        why: "A mirror's writes finish with its slowest member. Reads can prefer the fast one.",
        fix: "set the slow member to write-mostly: echo writemostly into md/dev-*/state",
        tune: None,
        check: Check::Md(mixed_members),
    },
    Rule {
        id: "SW-MD-008",
        about: "two members of an array are on the same disk",
        means: "Two members are on one disk.",
        known: "Two partitions below the array have the same disk.",
        why: "When it fails, two members are lost at once; until then it seeks between them.",
        fix: "move one member to a separate disk",
        tune: None,
        check: Check::Md(same_disk),
    },
];

fn degraded(_: &Observed<'_>, _: &Device, md: &MdFacts) -> Option<Found> {
    let missing = md.degraded.as_ref().filter(|n| n.value > 0);
    let faulty = md.members.iter().find(|(_, state)| state.value.contains("faulty"));
    if missing.is_none() && faulty.is_none() {
        return None;
    }
    let mut found = Found::error("the array is degraded")
        .facts("missing members", missing)
        .facts("level", md.level.as_ref());
    if let Some((name, state)) = faulty {
        found = found.seen(format!("{name}: {}", state.value), &state.from);
    }
    Some(found)
}

fn synchronising(_: &Observed<'_>, _: &Device, md: &MdFacts) -> Option<Found> {
    let idle = ["idle", "frozen"];
    let action = md.sync_action.as_ref().filter(|a| !idle.contains(&a.value.as_str()))?;
    Some(
        Found::warning(format!("the array runs a {}", action.value))
            .fact("action", action)
            .facts("sectors done", md.sync_completed.as_ref()),
    )
}

fn mismatches(_: &Observed<'_>, _: &Device, md: &MdFacts) -> Option<Found> {
    let count = md.mismatches.as_ref().filter(|n| n.value > 0)?;
    let level = md.level.as_ref()?;
    if md.sync_action.as_ref().is_some_and(|a| a.value != "idle") {
        return None;
    }
    let parity = ["raid4", "raid5", "raid6"].contains(&level.value.as_str());
    let severity = if parity { Severity::Error } else { Severity::Info };
    Some(
        Found::new(severity, "its copies differ")
            .fact("different sectors", count)
            .fact("level", level),
    )
}

/// Below this a whole synchronisation takes minutes.
const LARGE: u64 = 100 << 30;

fn no_bitmap(_: &Observed<'_>, d: &Device, md: &MdFacts) -> Option<Found> {
    let policy = md.consistency_policy.as_ref().filter(|p| p.value == "resync")?;
    let size = d.size_bytes.as_ref().filter(|s| s.value > LARGE)?;
    Some(
        Found::warning("no write-intent bitmap")
            .fact("consistency policy", policy)
            .seen(format!("size {}", bytes(size.value)), &size.from)
            .remedy(format!("sudo mdadm --grow --bitmap=internal /dev/{}", d.name)),
    )
}

fn not_writable(_: &Observed<'_>, _: &Device, md: &MdFacts) -> Option<Found> {
    let state = md.array_state.as_ref()?;
    let severity = match state.value.as_str() {
        "inactive" | "broken" | "clear" => Severity::Error,
        "readonly" | "suspended" => Severity::Warning,
        _ => return None,
    };
    Some(Found::new(severity, format!("the array is {}", state.value)).fact("state", state))
}

fn small_stripe_cache(_: &Observed<'_>, _: &Device, md: &MdFacts) -> Option<Found> {
    let cache = md.stripe_cache.as_ref().filter(|n| n.value <= 256)?;
    Some(
        Found::info("a small stripe cache")
            .fact("stripes", cache)
            .remedy(format!("echo 4096 | sudo tee {}", cache.from)),
    )
}

fn disks<'d>(device: &'d Device, out: &mut Vec<&'d Device>) {
    match device.below.is_empty() {
        true => out.push(device),
        false => device.below.iter().for_each(|d| disks(d, out)),
    }
}

fn mixed_members(_: &Observed<'_>, d: &Device, md: &MdFacts) -> Option<Found> {
    let level = md.level.as_ref()?;
    let mut all = Vec::new();
    disks(d, &mut all);
    let of = |flash: bool| {
        all.iter().find(|m| solid_state(&m.detail) == Some(flash)).map(|m| m.name.clone())
    };
    let (flash, rotating) = (of(true)?, of(false)?);
    Some(
        Found::info("members differ in kind")
            .fact("level", level)
            .seen(format!("{rotating} rotates, {flash} does not"), &level.from),
    )
}

fn same_disk(_: &Observed<'_>, d: &Device, md: &MdFacts) -> Option<Found> {
    let level = md.level.as_ref().filter(|l| l.value != "linear")?;
    let whole: Vec<&str> = d
        .below
        .iter()
        .map(|m| m.below.first().map_or(m.name.as_str(), |disk| disk.name.as_str()))
        .collect();
    let twice = whole.iter().find(|n| whole.iter().filter(|o| o == n).count() > 1)?;
    let severity = if text(&md.level) == "raid0" { Severity::Warning } else { Severity::Error };
    Some(
        Found::new(severity, format!("two members are on {twice}"))
            .fact("level", level)
            .seen(format!("members are on {}", whole.join(", ")), &level.from),
    )
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, mirror, quiet};
    use seekwell_inspect::DeviceKind;
    use seekwell_inspect::Fact;

    fn level(word: &'static str) -> impl Fn(&mut Machine) {
        move |m| m.md().level = fact(word.into(), "level")
    }

    /// Makes every member a partition of the disk that `of` names.
    fn partitions(of: fn(usize) -> usize) -> impl Fn(&mut Machine) {
        move |m| {
            let disks = m.disk().below.clone();
            for (at, member) in m.disk().below.iter_mut().enumerate() {
                member.kind = DeviceKind::Partition;
                member.name = format!("{}{}", disks[of(at)].name, at + 1);
                member.below = vec![disks[of(at)].clone()];
            }
        }
    }

    pub(crate) fn all() -> Vec<Case> {
        let mismatch = |m: &mut Machine| m.md().mismatches = fact(128, "mismatch_cnt");
        let action = |word: &'static str| {
            move |m: &mut Machine| m.md().sync_action = fact(word.into(), "sync_action")
        };
        let state = |word: &'static str| {
            move |m: &mut Machine| m.md().array_state = fact(word.into(), "array_state")
        };
        let resync = |m: &mut Machine| m.md().consistency_policy = fact("resync".into(), "policy");
        vec![
            fires("SW-MD-001", mirror, |m| m.md().degraded = fact(1, "degraded")).error(),
            fires("SW-MD-001", mirror, |m| {
                m.md().members[1].1 = Fact::new("faulty".into(), "dev-sdb/state");
            })
            .error(),
            quiet("SW-MD-001", mirror, |m| m.md().degraded = None),
            fires("SW-MD-002", mirror, action("recover")).warning(),
            quiet("SW-MD-002", mirror, action("frozen")),
            fires("SW-MD-003", mirror, mismatch).info(),
            fires("SW-MD-003", mirror, mismatch).and(level("raid6")).error(),
            quiet("SW-MD-003", mirror, mismatch).and(action("check")),
            fires("SW-MD-004", mirror, resync).warning(),
            quiet("SW-MD-004", mirror, resync).and(|m| m.disk().size_bytes = fact(1 << 30, "size")),
            fires("SW-MD-005", mirror, state("readonly")).warning(),
            fires("SW-MD-005", mirror, state("inactive")).error(),
            quiet("SW-MD-005", mirror, state("read-auto")),
            fires("SW-MD-006", mirror, |m| m.md().stripe_cache = fact(256, "s")).info(),
            quiet("SW-MD-006", mirror, |m| m.md().stripe_cache = fact(4096, "s")),
            fires("SW-MD-007", mirror, |m| {
                let id = m.disk().below[1].detail.identify.as_mut().unwrap();
                id.value.rotation_rpm = Some(1);
                m.disk().below[1].queue.rotational = fact(false, "rotational");
            })
            .info(),
            quiet("SW-MD-007", mirror, |m| m.disk().below[1].detail.identify = None),
            fires("SW-MD-008", mirror, partitions(|_| 0)).error(),
            fires("SW-MD-008", mirror, partitions(|_| 0)).and(level("raid0")).warning(),
            quiet("SW-MD-008", mirror, partitions(|at| at)),
        ]
    }
}
