//! What drives say of their own health and wear.

use crate::words::bytes;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::health::{Health, Measure, Outcome, Warning};
use seekwell_inspect::{Device, Fact, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-HEALTH-001",
        about: "the drive reports media errors",
        means: "Sectors could not be read, or were replaced by spare ones, or wait to be.",
        known: "Media errors of NVMe, uncorrected errors of SCSI, and of ATA uncorrectable errors \
                with reallocated, pending and uncorrectable sectors. An error where a count grew \
                since the earlier inspection, otherwise a warning.",
        why: "A drive that has begun to lose sectors is several times as likely to fail within \
              weeks, and each retry of a bad sector takes up to seconds.",
        fix: "check that a backup exists; run a long self-test (sudo smartctl -t long, sudo nvme \
              device-self-test -s 2) and replace the drive if it fails or the counts keep growing",
        tune: None,
        check: Check::Health(media_errors),
    },
    Rule {
        id: "SW-HEALTH-002",
        about: "the drive is running out of spare capacity",
        means: "Most of the spare flash that replaces worn blocks is in use.",
        known: "Available spare is below the drive's own threshold (health log, or its warning).",
        why: "When the spare capacity is gone the drive turns read-only or loses data.",
        fix: "back it up and replace it",
        tune: None,
        check: Check::Health(spare),
    },
    Rule {
        id: "SW-HEALTH-003",
        about: "the drive slows itself down",
        means: "Its temperature makes it run below its full speed, now or earlier.",
        known: "The throttling level of OCP's log page is not 0, or the counts and times of \
                thermal management grew since the earlier inspection (a warning); or it has been \
                slowed down heavily at some time (information).",
        why: "A throttled drive gives a fraction of its rate, and measurements of it are of its \
              cooling.",
        fix: "improve its cooling (heat sink, air flow) and measure it again when it is cool",
        tune: None,
        check: Check::Health(throttled),
    },
    Rule {
        id: "SW-HEALTH-004",
        about: "the namespace is formatted to slower blocks than it could be",
        means: "The drive says that another of its LBA formats performs better.",
        known: "Relative performance of the LBA formats in the identify data of the namespace, \
                among those with as much metadata as the one in use. A warning where the one in \
                use is \"degraded\".",
        why: "With blocks of 512 bytes many drives keep larger tables and read before they write; \
              makers state up to 10 % more random writes with 4096.",
        fix: "when the drive is empty: sudo nvme format with the better --lbaf, which erases it",
        tune: None,
        check: Check::Health(format),
    },
    Rule {
        id: "SW-HEALTH-005",
        about: "the drive is worn",
        means: "Its flash has been written nearly as often as the maker guarantees, or more often.",
        known: "Percentage used of the health log (NVMe), the device statistics (ATA) or the solid \
                state media page (SCSI): a warning from 80, an error from 100.",
        why: "Worn flash is slower to write, keeps data for a shorter time without power, and the \
              warranty ends at 100 %.",
        fix: "plan its replacement; reduce writes or leave more of it unwritten until then",
        tune: None,
        check: Check::Health(worn),
    },
    Rule {
        id: "SW-HEALTH-006",
        about: "the drive's power-loss protection is failing",
        means: "The capacitors no longer hold enough charge to save its cache when power fails.",
        known: "The critical warning of the NVMe health log, or capacitor health of OCP's log \
                page: an error at 1 % or less, a warning below 10 %.",
        why: "Such a drive acknowledges writes from its cache: a power cut would lose them, or the \
              drive stops caching and its commits become many times slower.",
        fix: "replace the drive; until then switch its write cache off",
        tune: Some("Set nvme.write_cache=0."),
        check: Check::Health(protection),
    },
    Rule {
        id: "SW-HEALTH-007",
        about: "the drive's last self-test failed",
        means: "The drive tested itself and found a fault.",
        known: "The newest self-test in its log that came to an end.",
        why: "A self-test fails at parts of the drive that data need.",
        fix: "back it up and replace it; a single unreadable sector can be made good by \
              overwriting it",
        tune: None,
        check: Check::Health(self_test),
    },
    Rule {
        id: "SW-HEALTH-008",
        about: "the drive predicts its failure",
        means: "The drive itself says that it is unreliable, read-only or about to fail.",
        known: "The critical warning of NVMe, the SMART status of ATA or an attribute at its \
                threshold, the informational exceptions page of SCSI. An attribute of age alone \
                is a warning.",
        why: "These thresholds are set so that few healthy drives reach them.",
        fix: "back it up now and replace it",
        tune: None,
        check: Check::Health(failing),
    },
    Rule {
        id: "SW-HEALTH-009",
        about: "demand exceeded a limit of a cloud volume",
        means: "The volume received more requests or bytes than it is provisioned for, or than \
                its instance can transfer to and from all of its volumes.",
        known: "The volume's own counters (Amazon EBS, log page D0h): they grew since the earlier \
                inspection (a warning), or are above a minute since it was attached \
                (information).",
        why: "Requests above the limit wait in the volume, so latency grows and the rate does not.",
        fix: "raise the volume's provisioned IOPS or throughput; where the instance is the limit, \
              choose a larger instance type",
        tune: None,
        check: Check::Health(exceeded),
    },
];

/// Counts of data lost, or nearly.
const LOST: [Measure; 4] = [
    Measure::MediaErrors,
    Measure::ReallocatedSectors,
    Measure::PendingSectors,
    Measure::UncorrectableSectors,
];

impl Found {
    fn measure(self, health: &Health, measure: Measure) -> Self {
        let unit = |f: &Fact<i64>| Fact::new(measure.text(f.value), &f.from);
        self.facts(measure.words(), health.get(measure).map(unit).as_ref())
    }

    fn measures(self, health: &Health, all: impl IntoIterator<Item = Measure>) -> Self {
        all.into_iter().fold(self, |found, measure| found.measure(health, measure))
    }
}

/// Which of these counts grew since the earlier inspection; `None` without one.
fn grown(input: &Observed<'_>, d: &Device, of: &[Measure]) -> Option<Vec<Measure>> {
    let now = d.detail.health.as_ref()?;
    let then = input.before(d)?.detail.health.as_ref()?;
    let value = |health: &Health, m: Measure| health.get(m).map(|f| f.value);
    let grew = |m: &Measure| value(now, *m).zip(value(then, *m)).is_some_and(|(n, t)| n > t);
    Some(of.iter().copied().filter(grew).collect())
}

/// How long demand exceeded the limits of a cloud volume and of its instance.
const EXCEEDED: [Measure; 4] = [
    Measure::VolumeIopsExceeded,
    Measure::VolumeRateExceeded,
    Measure::InstanceIopsExceeded,
    Measure::InstanceRateExceeded,
];

fn exceeded(input: &Observed<'_>, d: &Device, health: &Health) -> Option<Found> {
    const MINUTE_US: i64 = 60_000_000;
    let long = |m: &Measure| health.get(*m).is_some_and(|f| f.value >= MINUTE_US);
    let more = grown(input, d, &EXCEEDED).filter(|more| !more.is_empty());
    match more {
        Some(more) => Some(Found::warning("demand exceeds its limits").measures(health, more)),
        None => EXCEEDED.iter().any(long).then(|| {
            Found::info("demand has exceeded its limits")
                .measures(health, EXCEEDED.into_iter().filter(long))
        }),
    }
}

fn warns(health: &Health, warning: Warning) -> bool {
    health.warnings.as_ref().is_some_and(|w| w.value.contains(&warning))
}

/// A finding, with the drive's own warning as evidence where it gives one.
fn warned(severity: Severity, title: impl Into<String>, health: &Health, all: &[Warning]) -> Found {
    let said = health.warnings.iter().flat_map(|w| w.value.iter().map(|v| (*v, &w.from)));
    let said = said.filter(|(v, _)| all.contains(v));
    said.fold(Found::new(severity, title), |found, (warning, from)| {
        found.seen(format!("the drive says: {}", warning.words()), from)
    })
}

fn media_errors(input: &Observed<'_>, d: &Device, health: &Health) -> Option<Found> {
    let there = |m: &Measure| health.get(*m).is_some_and(|f| f.value > 0);
    let found: Vec<Measure> = LOST.into_iter().filter(there).collect();
    let more = grown(input, d, &LOST).unwrap_or_default();
    let first = *more.first().or(found.first())?;
    let title = match more.is_empty() {
        true => Found::warning(format!("it reports {}", first.words())),
        false => Found::error(format!("its {} are increasing", first.words())),
    };
    let then = input.before(d).and_then(|b| b.detail.health.as_ref());
    let mut out = title.measures(health, found);
    if let Some(then) = then {
        for measure in more {
            out = out.facts(&format!("{} before", measure.words()), then.get(measure));
        }
    }
    Some(out)
}

fn spare(_: &Observed<'_>, _: &Device, health: &Health) -> Option<Found> {
    let of = |m| health.get(m).map(|f| f.value);
    let below = of(Measure::Spare).zip(of(Measure::SpareThreshold)).is_some_and(|(s, t)| s < t);
    (below || warns(health, Warning::SpareLow)).then(|| {
        warned(Severity::Error, "its spare capacity is nearly gone", health, &[Warning::SpareLow])
            .measures(health, [Measure::Spare, Measure::SpareThreshold])
    })
}

/// Counts of being slowed down, and how long.
const SLOWED: [Measure; 5] = [
    Measure::HeavyThrottles,
    Measure::HeavyThrottleTime,
    Measure::LightThrottles,
    Measure::LightThrottleTime,
    Measure::ThrottleEvents,
];

fn throttled(input: &Observed<'_>, d: &Device, health: &Health) -> Option<Found> {
    let above = |m| health.get(m).is_some_and(|f| f.value > 0);
    let more = grown(input, d, &SLOWED).filter(|more| !more.is_empty());
    let found = if above(Measure::ThrottleLevel) {
        Found::warning("it is throttled now").measure(health, Measure::ThrottleLevel)
    } else if let Some(more) = &more {
        Found::warning("it has been throttled since").measures(health, more.iter().copied())
    } else if above(Measure::HeavyThrottles) || above(Measure::HeavyThrottleTime) {
        Found::info("it has been throttled heavily")
            .measures(health, SLOWED.into_iter().take(2).filter(|m| above(*m)))
    } else {
        return None;
    };
    Some(found.measures(health, [Measure::Temperature, Measure::TemperatureWarning]))
}

fn format(_: &Observed<'_>, d: &Device, health: &Health) -> Option<Found> {
    let formats = health.formats.as_ref()?;
    let used = formats.value.iter().find(|f| f.in_use)?;
    let like = formats.value.iter().filter(|f| f.metadata_bytes == used.metadata_bytes);
    let best = like.min_by_key(|f| (f.performance, f.index != used.index))?;
    if best.performance >= used.performance {
        return None;
    }
    let words = |n: u8| ["best", "better", "good", "degraded"][usize::from(n.min(3))];
    let severity = if used.performance == 3 { Severity::Warning } else { Severity::Info };
    let (now, then) = (bytes(used.data_bytes), bytes(best.data_bytes));
    Some(
        Found::new(severity, format!("it has blocks of {now} and is faster with {then}"))
            .seen(format!("blocks of {now}: {}", words(used.performance)), &formats.from)
            .seen(format!("blocks of {then}: {}", words(best.performance)), &formats.from)
            .remedy(format!(
                "when the drive is empty: sudo nvme format /dev/{} --lbaf={}, which erases it",
                d.name, best.index
            )),
    )
}

fn worn(_: &Observed<'_>, _: &Device, health: &Health) -> Option<Found> {
    let used = health.get(Measure::PercentUsed)?;
    let severity = match used.value {
        100.. => Severity::Error,
        80.. => Severity::Warning,
        _ => return None,
    };
    Some(
        Found::new(severity, format!("{} % of its endurance is used", used.value))
            .measures(health, [Measure::PercentUsed, Measure::Written, Measure::PowerOnHours]),
    )
}

fn protection(_: &Observed<'_>, _: &Device, health: &Health) -> Option<Found> {
    let charge = health.get(Measure::CapacitorHealth).map(|f| f.value);
    let gone = warns(health, Warning::BackupFailed);
    let severity = match charge {
        _ if gone => Severity::Error,
        Some(..=1) => Severity::Error,
        Some(2..10) => Severity::Warning,
        _ => return None,
    };
    let title = "its power-loss protection is failing";
    Some(
        warned(severity, title, health, &[Warning::BackupFailed])
            .measure(health, Measure::CapacitorHealth),
    )
}

fn self_test(_: &Observed<'_>, _: &Device, health: &Health) -> Option<Found> {
    let test = health.last_test().filter(|t| t.outcome == Outcome::Failed)?;
    let from = &health.self_tests.as_ref()?.from;
    let kind = if test.extended { "extended" } else { "short" };
    let lba = test.failed_lba.map(|lba| format!(" at LBA {lba}")).unwrap_or_default();
    let seen = format!("{kind} self-test after {} h: failed{lba}", test.hours);
    let found = Found::error("its last self-test failed").seen(seen, from);
    Some(found.measure(health, Measure::PowerOnHours))
}

fn failing(_: &Observed<'_>, _: &Device, health: &Health) -> Option<Found> {
    const GRAVE: [Warning; 3] = [Warning::Failing, Warning::Unreliable, Warning::ReadOnly];
    let warning = GRAVE.into_iter().find(|w| warns(health, *w));
    let attributes = health.attributes.iter().flat_map(|a| a.value.iter().map(|v| (v, &a.from)));
    let failed: Vec<_> = attributes.filter(|(a, _)| a.has_failed()).collect();
    let severity = match warning.is_some() || failed.iter().any(|(a, _)| a.pre_fail) {
        true => Severity::Error,
        false if !failed.is_empty() => Severity::Warning,
        false => return None,
    };
    let title = match warning {
        Some(warning) => warning.words().to_owned(),
        None => "a SMART attribute is at its threshold".to_owned(),
    };
    let found = warned(severity, title, health, &GRAVE);
    Some(failed.into_iter().fold(found, |found, (a, from)| {
        let limit = a.threshold.unwrap_or(0);
        found.seen(format!("attribute {}: value {}, threshold {limit}", a.id, a.value), from)
    }))
}

#[cfg(test)]
pub(crate) mod cases {
    use super::*;
    use crate::testing::machine::{Case, Machine, fact, fires, nvme, quiet, sata_hdd};
    use seekwell_inspect::health::{Attribute, LbaFormat, SelfTest};

    fn set(measure: Measure, value: i64) -> impl Fn(&mut Machine) {
        move |m| drop(m.health().values.insert(measure, Fact::new(value, "log-02")))
    }

    fn warn(warning: Warning) -> impl Fn(&mut Machine) {
        move |m| m.health().warnings = fact(vec![warning], "log-02")
    }

    fn formats(used: usize, performance: [u8; 2]) -> impl Fn(&mut Machine) {
        let format = move |index: usize| LbaFormat {
            index: index as u8,
            data_bytes: [512, 4096][index],
            metadata_bytes: 0,
            performance: performance[index],
            in_use: index == used,
        };
        move |m| m.health().formats = fact(vec![format(0), format(1)], "identify")
    }

    fn tests(outcomes: &'static [Outcome]) -> impl Fn(&mut Machine) {
        let test =
            |o: &Outcome| SelfTest { outcome: *o, extended: true, hours: 7, failed_lba: Some(8) };
        move |m| m.health().self_tests = fact(outcomes.iter().map(test).collect(), "log-06")
    }

    fn attribute(value: u8, pre_fail: bool) -> impl Fn(&mut Machine) {
        let table =
            vec![Attribute { id: 5, value, worst: value, threshold: Some(10), raw: 0, pre_fail }];
        move |m| m.health().attributes = fact(table.clone(), "smart-data")
    }

    fn remembered() -> Machine {
        let mut machine = nvme();
        use Measure as M;
        for measure in [M::MediaErrors, M::LightThrottles, M::InstanceRateExceeded] {
            set(measure, 0)(&mut machine);
        }
        machine.remember();
        machine
    }

    pub(crate) fn all() -> Vec<Case> {
        use Measure as M;
        vec![
            fires("SW-HEALTH-001", nvme, set(M::MediaErrors, 3)).warning(),
            fires("SW-HEALTH-001", remembered, set(M::MediaErrors, 3)).error(),
            fires("SW-HEALTH-001", sata_hdd, set(M::PendingSectors, 1)).warning(),
            quiet("SW-HEALTH-001", nvme, set(M::LoggedErrors, 40)),
            fires("SW-HEALTH-002", nvme, warn(Warning::SpareLow)).error(),
            fires("SW-HEALTH-002", nvme, set(M::Spare, 9)).and(set(M::SpareThreshold, 10)).error(),
            quiet("SW-HEALTH-002", nvme, set(M::Spare, 10)).and(set(M::SpareThreshold, 10)),
            fires("SW-HEALTH-003", nvme, set(M::ThrottleLevel, 1)).warning(),
            fires("SW-HEALTH-003", remembered, set(M::LightThrottles, 1)).warning(),
            fires("SW-HEALTH-003", nvme, set(M::HeavyThrottles, 1)).info(),
            quiet("SW-HEALTH-003", nvme, set(M::LightThrottles, 9)),
            fires("SW-HEALTH-004", nvme, formats(0, [3, 0])).warning(),
            fires("SW-HEALTH-004", nvme, formats(0, [2, 1])).info(),
            quiet("SW-HEALTH-004", nvme, formats(1, [2, 0])),
            quiet("SW-HEALTH-004", nvme, formats(0, [0, 0])),
            fires("SW-HEALTH-005", nvme, set(M::PercentUsed, 100)).error(),
            fires("SW-HEALTH-005", nvme, set(M::PercentUsed, 80)).warning(),
            quiet("SW-HEALTH-005", nvme, set(M::PercentUsed, 79)),
            fires("SW-HEALTH-006", nvme, warn(Warning::BackupFailed)).error(),
            fires("SW-HEALTH-006", nvme, set(M::CapacitorHealth, 1)).error(),
            fires("SW-HEALTH-006", nvme, set(M::CapacitorHealth, 9)).warning(),
            quiet("SW-HEALTH-006", nvme, set(M::CapacitorHealth, 100)),
            fires("SW-HEALTH-007", nvme, tests(&[Outcome::Aborted, Outcome::Failed])).error(),
            quiet("SW-HEALTH-007", nvme, tests(&[Outcome::Passed, Outcome::Failed])),
            fires("SW-HEALTH-008", nvme, warn(Warning::ReadOnly)).error(),
            fires("SW-HEALTH-008", sata_hdd, attribute(10, true)).error(),
            fires("SW-HEALTH-008", sata_hdd, attribute(10, false)).warning(),
            quiet("SW-HEALTH-008", sata_hdd, attribute(11, true)),
            quiet("SW-HEALTH-008", nvme, warn(Warning::Temperature)),
            fires("SW-HEALTH-009", remembered, set(M::InstanceRateExceeded, 5)).warning(),
            fires("SW-HEALTH-009", nvme, set(M::VolumeIopsExceeded, 60_000_000)).info(),
            quiet("SW-HEALTH-009", nvme, set(M::VolumeIopsExceeded, 59_999_999)),
        ]
    }
}
