//! Cards and eMMC: wear and queueing.

use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::MmcFacts;
use seekwell_inspect::{Device, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-MMC-001",
        about: "the eMMC is worn",
        means: "The device estimates that its erase cycles are used up, or nearly so.",
        known: "life_time: two numbers in tenths, for the two kinds of memory in it; 10 is 90 to \
                100 %, 11 is past it. 0 means not defined.",
        why: "Past its rated life it turns read-only or loses data.",
        fix: "back it up and plan the replacement of the board or module; reduce writes (logs, \
              swap)",
        tune: None,
        check: Check::Mmc(worn),
    },
    Rule {
        id: "SW-MMC-002",
        about: "the eMMC is running out of reserve blocks",
        means: "Most of the spare blocks that replace bad ones are in use.",
        known: "pre_eol_info is 2 (80 % used) or 3 (90 % used).",
        why: "When none are left the device goes read-only.",
        fix: "back it up and replace it",
        tune: None,
        check: Check::Mmc(reserve),
    },
    Rule {
        id: "SW-MMC-003",
        about: "the eMMC's command queue is off",
        means: "The device can queue 32 commands but gets one at a time.",
        known: "cmdq_en is there and 0, on an MMC device.",
        why: "Random access stays at the rate of depth one.",
        fix: "a newer kernel, or a host controller with a command queue engine",
        tune: None,
        check: Check::Mmc(no_queue),
    },
];

fn worn(_: &Observed<'_>, _: &Device, mmc: &MmcFacts) -> Option<Found> {
    let life = mmc.life_time.as_ref()?;
    let (a, b) = life.value;
    let severity = match a.max(b) {
        11.. => Severity::Error,
        10 => Severity::Warning,
        _ => return None,
    };
    Some(
        Found::new(severity, "the flash is worn")
            .seen(format!("life time used: {a} and {b} tenths"), &life.from),
    )
}

fn reserve(_: &Observed<'_>, _: &Device, mmc: &MmcFacts) -> Option<Found> {
    let info = mmc.pre_eol_info.as_ref()?;
    let (severity, used) = match info.value {
        2 => (Severity::Warning, "80 %"),
        3 => (Severity::Error, "90 %"),
        _ => return None,
    };
    let title = format!("{used} of the reserve blocks are used");
    Some(Found::new(severity, title).fact("pre-EOL information", info))
}

fn no_queue(_: &Observed<'_>, _: &Device, mmc: &MmcFacts) -> Option<Found> {
    let queue = mmc.command_queue.as_ref().filter(|q| !q.value)?;
    let kind = mmc.kind.as_ref().filter(|k| k.value == "MMC")?;
    Some(Found::info("its command queue is off").fact("command queue", queue).fact("kind", kind))
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, emmc, fact, fires, quiet};

    pub(crate) fn all() -> Vec<Case> {
        vec![
            fires("SW-MMC-001", emmc, |m| m.mmc().life_time = fact((3, 10), "l")).warning(),
            fires("SW-MMC-001", emmc, |m| m.mmc().life_time = fact((11, 1), "l")).error(),
            quiet("SW-MMC-001", emmc, |m| m.mmc().life_time = fact((0, 9), "l")),
            fires("SW-MMC-002", emmc, |m| m.mmc().pre_eol_info = fact(2, "p")).warning(),
            fires("SW-MMC-002", emmc, |m| m.mmc().pre_eol_info = fact(3, "p")).error(),
            quiet("SW-MMC-002", emmc, |m| m.mmc().pre_eol_info = fact(0, "p")),
            fires("SW-MMC-003", emmc, |m| m.mmc().command_queue = fact(false, "c")).info(),
            quiet("SW-MMC-003", emmc, |m| {
                m.mmc().command_queue = fact(false, "c");
                m.mmc().kind = fact("SD".into(), "type");
            }),
        ]
    }
}
