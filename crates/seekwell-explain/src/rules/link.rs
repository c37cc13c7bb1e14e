//! The SATA link: its speed against what both sides can do, its limits, its power saving.

use crate::look::{gbps, generation, is, solid_state};
use crate::words::{in_gbps, replug};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::{AtaErrorClass, AtaFacts, IdentifyData};
use seekwell_inspect::{Device, Fact, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-LINK-001",
        about: "the SATA link is slower than both sides support",
        means: "Port and drive can both do more than the speed they agreed on.",
        known: "sata_spd is below the lower of the drive's best (IDENTIFY word 76) and the port's \
                (AHCI capabilities); without a capability register the drive's own best is \
                assumed. A port that is faster than the drive is not a fault.",
        why: "1.5 Gbps carry at most 150 MB/s, 3 Gbps 300 and 6 Gbps 600. A link that trained down \
              does so because the signal is bad, so errors usually follow.",
        fix: "replace the cable, reseat it or use another port or backplane slot; then detach and \
              rescan the disk or reboot",
        tune: None,
        check: Check::Ata(slow_link),
    },
    Rule {
        id: "SW-LINK-002",
        about: "the kernel holds the SATA link at a lower speed",
        means: "A speed limit is set on this link, so it will not train faster whatever is \
                attached to it.",
        known: "sata_spd_limit names a speed. Its value <unknown> means no limit. When the limit \
                was already there at probing (hw_sata_spd_limit), the firmware or libata.force set \
                it; otherwise error handling did.",
        why: "1.5 Gbps carry at most 150 MB/s: a tenth of what a solid-state drive on a healthy \
              system delivers with its neighbours, a quarter of what its own link can.",
        fix: "if error handling set it, replace the cable and detach and rescan the disk; if it \
              was set at boot, remove libata.force or the firmware setting",
        tune: None,
        check: Check::Ata(limited),
    },
    Rule {
        id: "SW-LINK-003",
        about: "drive and port report different link speeds",
        means: "The drive reports a different speed from the port, so something sits between them: \
                a bridge, a port multiplier, an interposer.",
        known: "IDENTIFY word 77 (now) against sata_spd.",
        why: "The slower of the two sets the pace, and the port's figure is what tools show.",
        fix: "look for an adapter between port and drive and connect the drive directly",
        tune: None,
        check: Check::Ata(disagree),
    },
    Rule {
        id: "SW-LINK-004",
        about: "the drive behind a bridge or adapter runs below its best link",
        means: "The drive itself reports a link slower than it supports. No port of this machine \
                shows it, because a SAS controller or a bridge sits in between.",
        known: "IDENTIFY word 77 is below the best of word 76 and there is no libata link.",
        why: "The link behind the adapter caps the drive at 150 or 300 MB/s, and nothing else in \
              the system shows it.",
        fix: "check the cable or backplane between adapter and drive, and what the adapter \
              supports",
        tune: None,
        check: Check::Drive(behind_adapter),
    },
    Rule {
        id: "SW-LINK-005",
        about: "the port is slower than the solid-state drive on it",
        means: "The drive could use a faster port than this one.",
        known: "The port's generation in the AHCI capabilities is below the drive's best; the link \
                runs as fast as the port can. A hard disk does not need more and is not mentioned.",
        why: "A solid-state drive delivers 500 MB/s on 6 Gbps and under 280 on 3 Gbps.",
        fix: "move the drive to a 6 Gbps port; many boards have two of them among slower ones",
        tune: None,
        check: Check::Ata(slow_port),
    },
    Rule {
        id: "SW-LINK-006",
        about: "link power management is set to min_power",
        means: "The link may sleep in its deepest state whenever it is idle, even with drives that \
                do not wake up in time.",
        known: "link_power_management_policy of the port is min_power or min_power_with_partial.",
        why: "With some drives it leads to time-outs, lost links and lost data; \
              med_power_with_dipm saves nearly as much energy without that history.",
        fix: "echo med_power_with_dipm into link_power_management_policy, and remove the setting \
              that put min_power there (TLP SATA_LINKPWR, powertop --auto-tune, tuned)",
        tune: Some("Set link_power_management_policy on trial and revert it."),
        check: Check::Ata(min_power),
    },
    Rule {
        id: "SW-LINK-007",
        about: "link errors while link power management is on",
        means: "The link lost commands and may sleep when idle; sleeping links are a common cause.",
        known: "The error ring has bus errors, and the policy is not max_performance.",
        why: "These errors look like a bad cable and do not go away with a new one. Each one \
              stalls the disk for seconds.",
        fix: "set link_power_management_policy to max_performance and see whether the errors stop",
        tune: Some("Set link_power_management_policy to max_performance on trial."),
        check: Check::Ata(errors_under_lpm),
    },
    Rule {
        id: "SW-LINK-008",
        about: "the kernel applies limits for a parallel bridge",
        means: "The drive on a SATA port looks as if it were behind a parallel-to-serial bridge, \
                so the kernel uses no more than UDMA/100 and requests of 128 KiB.",
        known: "IDENTIFY word 93 holds a parallel reset result on a SATA link, and requests are \
                limited to 128 KiB. Emulated drives look so too; that is information only.",
        why: "Requests are split into pieces of 128 KiB, which costs some sequential rate.",
        fix: "connect the drive without the bridge",
        tune: None,
        check: Check::Ata(bridge_limits),
    },
];

fn slow_link(_: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let now = ata.link_speed.as_ref()?;
    let id = d.detail.identify.as_ref()?;
    let drive = gbps(id.value.link_max.as_ref()?)?;
    let ahci = ata.ahci.as_ref();
    let port = ahci.and_then(|a| a.generation()).map(generation);
    let possible = port.map_or(drive, |p| p.min(drive));
    // A limit has a finding of its own.
    if gbps(&now.value)? >= possible || ata.link_limit.is_some() {
        return None;
    }
    let title =
        format!("the SATA link runs at {} where {} is possible", now.value, in_gbps(possible));
    let severity = if port.is_some() { Severity::Warning } else { Severity::Info };
    let mut found = Found::new(severity, title)
        .fact("link", now)
        .seen(format!("the drive supports {}", in_gbps(drive)), &id.from);
    if let (Some(port), Some(register)) = (port, ahci.and_then(|a| a.capabilities.as_ref())) {
        found = found.seen(format!("the port supports {}", in_gbps(port)), &register.from);
    }
    Some(found.remedy(format!("replace the cable or use another port; then {}", replug(d))))
}

fn limited(input: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let limit = ata.link_limit.as_ref()?;
    let drive = d.detail.identify.as_ref().and_then(|i| gbps(i.value.link_max.as_ref()?));
    if drive.is_some_and(|drive| gbps(&limit.value).is_some_and(|l| drive <= l)) {
        return None;
    }
    let at_probe = ata.link_limit_at_probe.as_ref().filter(|l| l.value == limit.value);
    let (severity, by) = match at_probe {
        Some(_) => (Severity::Warning, "since it was probed"),
        None => (Severity::Error, "after errors"),
    };
    let found = Found::new(severity, format!("the link is limited to {} {by}", limit.value))
        .fact("limit", limit)
        .facts("limit at probing", ata.link_limit_at_probe.as_ref())
        .facts("link", ata.link_speed.as_ref())
        .facts("asked for at boot", input.boot_option("libata.force=").as_ref());
    Some(match at_probe {
        Some(_) => found,
        None => found.remedy(format!("replace the cable or use another port; then {}", replug(d))),
    })
}

fn disagree(_: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let port = ata.link_speed.as_ref()?;
    let id = d.detail.identify.as_ref()?;
    let drive = id.value.link_now.as_ref()?;
    if gbps(drive)? == gbps(&port.value)? {
        return None;
    }
    Some(
        Found::warning("drive and port report different link speeds")
            .fact("the port says", port)
            .seen(format!("the drive says: {drive}"), &id.from),
    )
}

fn behind_adapter(_: &Observed<'_>, d: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    let (most, now) = (id.value.link_max.as_ref()?, id.value.link_now.as_ref()?);
    let has_port = d.detail.ata.as_ref().is_some_and(|a| a.link_speed.is_some());
    if has_port || gbps(now)? >= gbps(most)? {
        return None;
    }
    Some(
        Found::warning(format!("its own link runs at {now} of {most}"))
            .seen(format!("link now {now} (word 77), best {most} (word 76)"), &id.from)
            .facts("driver", d.driver.as_ref()),
    )
}

fn slow_port(_: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let register = ata.ahci.as_ref()?.capabilities.as_ref()?;
    let port = generation(ata.ahci.as_ref()?.generation()?);
    let id = d.detail.identify.as_ref()?;
    let drive = gbps(id.value.link_max.as_ref()?)?;
    if port >= drive || solid_state(&d.detail) != Some(true) {
        return None;
    }
    Some(
        Found::warning("its port is slower than the drive")
            .seen(format!("the port supports {}", in_gbps(port)), &register.from)
            .seen(format!("the drive supports {}", in_gbps(drive)), &id.from),
    )
}

fn policy_command(policy: &Fact<String>, value: &str) -> String {
    format!("echo {value} | sudo tee {}", policy.from)
}

fn min_power(_: &Observed<'_>, _: &Device, ata: &AtaFacts) -> Option<Found> {
    let policy = ata.lpm_policy.as_ref()?;
    policy.value.starts_with("min_power").then(|| {
        Found::warning("its link may enter its deepest sleep state")
            .fact("link power management", policy)
            .remedy(policy_command(policy, "med_power_with_dipm"))
    })
}

fn errors_under_lpm(_: &Observed<'_>, _: &Device, ata: &AtaFacts) -> Option<Found> {
    let policy = ata.lpm_policy.as_ref()?;
    let ring = ata.errors.as_ref()?;
    let errors = ring.value.iter().filter(|e| e.class == AtaErrorClass::Bus).count();
    if errors == 0 || is(&ata.lpm_policy, "max_performance") {
        return None;
    }
    Some(
        Found::warning("link errors while the link may sleep")
            .seen(format!("{errors} bus errors"), &ring.from)
            .fact("link power management", policy)
            .remedy(policy_command(policy, "max_performance")),
    )
}

/// What the kernel allows behind a bridge: 256 sectors of 512 bytes, by `ATA_MAX_SECTORS`.
const BRIDGE_LIMIT: u64 = 128 << 10;

fn bridge_limits(input: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let speed = ata.link_speed.as_ref()?;
    let id = d.detail.identify.as_ref().filter(|i| i.value.parallel_reset_result)?;
    let most = &d.detail.queue.max_hardware_request_bytes;
    let most = most.as_ref().filter(|m| m.value <= BRIDGE_LIMIT)?;
    let severity = if input.is_virtual(d) { Severity::Info } else { Severity::Warning };
    Some(
        Found::new(severity, "the kernel applies limits for a parallel bridge")
            .seen("word 93 has the result of a parallel reset", &id.from)
            .seen(format!("largest request {} KiB", most.value >> 10), &most.from)
            .fact("link", speed),
    )
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sata_hdd, sata_ssd};
    use seekwell_inspect::facts::{AtaError, AtaErrorClass};

    fn port(speed: &'static str) -> impl Fn(&mut Machine) {
        move |m| {
            m.ata().link_speed = fact(speed.into(), "sata_spd");
            m.id().link_now = Some(speed.into());
        }
    }

    fn policy(word: &'static str) -> impl Fn(&mut Machine) {
        move |m| m.ata().lpm_policy = fact(word.into(), "link_power_management_policy")
    }

    fn bus_error(m: &mut Machine) {
        let error = AtaError { at_s: None, class: AtaErrorClass::Bus };
        m.ata().errors = fact(vec![error], "ering");
    }

    fn bridged(m: &mut Machine) {
        m.id().parallel_reset_result = true;
        m.detail().queue.max_hardware_request_bytes = fact(128 << 10, "max_hw_sectors_kb");
        m.disk().queue.max_request_bytes = fact(128 << 10, "max_sectors_kb");
    }

    pub(crate) fn all() -> Vec<Case> {
        let limit = |m: &mut Machine| m.ata().link_limit = fact("1.5 Gbps".into(), "limit");
        vec![
            fires("SW-LINK-001", sata_hdd, port("1.5 Gbps")).warning(),
            fires("SW-LINK-001", sata_hdd, port("3.0 Gbps")).and(|m| m.ata().ahci = None).info(),
            quiet("SW-LINK-001", sata_hdd, port("3.0 Gbps"))
                .and(|m| m.id().link_max = Some("3.0 Gbps".into())),
            quiet("SW-LINK-001", sata_hdd, port("1.5 Gbps")).and(|m| m.id().link_max = None),
            fires("SW-LINK-002", sata_hdd, limit).error(),
            fires("SW-LINK-002", sata_hdd, limit)
                .and(|m| m.ata().link_limit_at_probe = fact("1.5 Gbps".into(), "hw"))
                .warning(),
            quiet("SW-LINK-002", sata_hdd, limit)
                .and(|m| m.id().link_max = Some("1.5 Gbps".into())),
            fires("SW-LINK-003", sata_hdd, |m| m.id().link_now = Some("3.0 Gbps".into())).warning(),
            quiet("SW-LINK-003", sata_hdd, |m| m.id().link_now = None),
            fires("SW-LINK-004", sata_hdd, |m| {
                m.detail().ata = None;
                m.id().link_now = Some("1.5 Gbps".into());
            })
            .warning(),
            quiet("SW-LINK-004", sata_hdd, |m| m.detail().ata = None),
            fires("SW-LINK-005", sata_ssd, port("3.0 Gbps"))
                .and(|m| {
                    m.ata().ahci.as_mut().unwrap().capabilities = fact(0xe724_ff05, "caps");
                })
                .warning(),
            quiet("SW-LINK-005", sata_hdd, |m| {
                m.ata().ahci.as_mut().unwrap().capabilities = fact(0xe724_ff05, "caps");
            }),
            fires("SW-LINK-006", sata_ssd, policy("min_power")).warning(),
            quiet("SW-LINK-006", sata_ssd, policy("medium_power")),
            fires("SW-LINK-007", sata_ssd, bus_error).warning(),
            quiet("SW-LINK-007", sata_ssd, bus_error).and(policy("max_performance")),
            fires("SW-LINK-008", sata_hdd, bridged).warning(),
            fires("SW-LINK-008", sata_hdd, bridged).and(Machine::virtualise).info(),
            quiet("SW-LINK-008", sata_hdd, |m| m.id().parallel_reset_result = true),
        ]
    }
}
