//! SAS phys: rates and errors of the links to a disk.

use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, Fact, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-SAS-001",
        about: "a SAS link is slower than both sides support",
        means: "A phy on the way negotiated a lower rate than its equally capable neighbours, or \
                than the fastest rate of the disk's own phy.",
        known: "negotiated_linkrate against maximum_linkrate_hw. A SATA disk of 6 Gbit behind a 12 \
                Gbit phy is not a fault, so a rate of 6 on a faster phy is reported for SAS disks \
                only, as information.",
        why: "3 Gbit carry 300 MB/s, 6 Gbit 600, 12 Gbit 1200.",
        fix: "check cable and backplane slot; sudo smartctl -x shows the disk's own phys",
        tune: None,
        check: Check::Device(slow),
    },
    Rule {
        id: "SW-SAS-002",
        about: "a SAS phy is limited below what its hardware supports",
        means: "The maximum rate of a phy was lowered.",
        known: "maximum_linkrate is below maximum_linkrate_hw.",
        why: "Everything on the link shares the lower rate.",
        fix: "echo the hardware's rate into maximum_linkrate of the phy",
        tune: None,
        check: Check::Device(limited),
    },
    Rule {
        id: "SW-SAS-003",
        about: "a SAS phy counts link errors",
        means: "Words arrived corrupt, or synchronisation was lost.",
        known: "The error counters of a phy grew since the earlier inspection, or are above 100. \
                Hot-plugging leaves a few.",
        why: "Corrupt frames are sent again, which stalls the disk; many of them make it drop out.",
        fix: "replace the cable, reseat the disk, look at the backplane",
        tune: None,
        check: Check::Device(errors),
    },
    Rule {
        id: "SW-SAS-004",
        about: "a SAS phy on the way is switched off",
        means: "One lane of the port to the disk is disabled.",
        known: "enable of the phy is 0.",
        why: "A wide port loses that lane's rate, and its redundancy.",
        fix: "echo 1 into enable of the phy, if it was not switched off on purpose",
        tune: None,
        check: Check::Device(disabled),
    },
];

/// `12.0 Gbit` as tenths of a gigabit a second.
fn rate(fact: &Option<Fact<String>>) -> Option<u64> {
    let number: f64 = fact.as_ref()?.value.strip_suffix(" Gbit")?.parse().ok()?;
    (number > 0.0 && number < 1000.0).then_some((number * 10.0) as u64)
}

fn slow(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let fastest = d.detail.sas.iter().filter_map(|p| rate(&p.negotiated)).max();
    d.detail.sas.iter().find_map(|phy| {
        let now = phy.negotiated.as_ref()?;
        let (value, possible) = (rate(&phy.negotiated)?, rate(&phy.maximum_hardware)?);
        let limit = rate(&phy.maximum).unwrap_or(possible);
        // A limit has a finding of its own.
        if value >= possible || limit < possible {
            return None;
        }
        let uneven = fastest.is_some_and(|f| f > value);
        let severity = match value {
            _ if uneven => Severity::Warning,
            0..=30 => Severity::Warning,
            _ if d.transport.as_ref().is_some_and(|t| t.value == "sas") => Severity::Info,
            _ => return None,
        };
        Some(
            Found::new(severity, format!("the SAS link {} runs at {}", phy.name, now.value))
                .fact("negotiated", now)
                .facts("the hardware supports", phy.maximum_hardware.as_ref()),
        )
    })
}

fn limited(_: &Observed<'_>, d: &Device) -> Option<Found> {
    d.detail.sas.iter().find_map(|phy| {
        let limit = phy.maximum.as_ref()?;
        if rate(&phy.maximum)? >= rate(&phy.maximum_hardware)? {
            return None;
        }
        Some(
            Found::warning(format!("the SAS link {} is limited to {}", phy.name, limit.value))
                .fact("limit", limit)
                .facts("the hardware supports", phy.maximum_hardware.as_ref()),
        )
    })
}

/// What plugging in and out leaves stays far below.
const MANY: u64 = 100;

fn errors(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let before = input.before(d);
    d.detail.sas.iter().find_map(|phy| {
        let from = &phy.invalid_dwords.as_ref()?.from;
        let then = before.and_then(|b| b.detail.sas.iter().find(|p| p.name == phy.name));
        let seen = match then.map(|then| phy.errors().saturating_sub(then.errors())) {
            Some(grew) if grew > 0 => format!("{}: {grew} errors more than before", phy.name),
            None if phy.errors() >= MANY => format!("{}: {} errors", phy.name, phy.errors()),
            _ => return None,
        };
        Some(Found::warning("its SAS link has errors").seen(seen, from))
    })
}

fn disabled(_: &Observed<'_>, d: &Device) -> Option<Found> {
    d.detail.sas.iter().find_map(|phy| {
        let on = phy.enabled.as_ref().filter(|e| !e.value)?;
        let title = format!("the SAS phy {} is switched off", phy.name);
        Some(Found::warning(title).fact("enabled", on))
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sas};

    fn both(rate: &'static str) -> impl Fn(&mut Machine) {
        move |m| {
            for phy in &mut m.detail().sas {
                phy.negotiated = fact(rate.into(), "negotiated_linkrate");
            }
        }
    }

    pub(crate) fn all() -> Vec<Case> {
        let one = |m: &mut Machine| m.phy().negotiated = fact("6.0 Gbit".into(), "n");
        vec![
            fires("SW-SAS-001", sas, one).warning(),
            fires("SW-SAS-001", sas, both("3.0 Gbit")).warning(),
            fires("SW-SAS-001", sas, both("6.0 Gbit")).info(),
            quiet("SW-SAS-001", sas, both("6.0 Gbit"))
                .and(|m| m.disk().transport = fact("sata".into(), "t")),
            quiet("SW-SAS-001", sas, both("Link Rate failed")),
            fires("SW-SAS-002", sas, |m| m.phy().maximum = fact("6.0 Gbit".into(), "m")).warning(),
            quiet("SW-SAS-002", sas, |m| m.phy().maximum = None),
            fires("SW-SAS-003", sas, |m| m.phy().invalid_dwords = fact(100, "i")).warning(),
            fires("SW-SAS-003", sas, Machine::remember)
                .and(|m| m.phy().sync_losses = fact(1, "s"))
                .warning(),
            quiet("SW-SAS-003", sas, |m| m.phy().invalid_dwords = fact(5, "i")),
            fires("SW-SAS-004", sas, |m| m.phy().enabled = fact(false, "enable")).warning(),
            quiet("SW-SAS-004", sas, |m| m.phy().enabled = None),
        ]
    }
}
