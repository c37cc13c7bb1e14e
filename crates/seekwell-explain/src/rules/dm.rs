//! Device mapper.

use crate::look::text;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, DeviceKind};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-DM-001",
        about: "the mapped device is suspended",
        means: "Its I/O is held until it is resumed.",
        known: "dm/suspended is 1.",
        why: "Every program that touches it hangs.",
        fix: "sudo dmsetup resume on the device, once it is known who suspended it",
        tune: None,
        check: Check::Facts(suspended),
    },
    Rule {
        id: "SW-DM-002",
        about: "a multipath device has one path",
        means: "One path to the disk is left.",
        known: "A mapped device made by multipath stands on a single disk.",
        why: "The next failure makes it unreachable, and its rate is that of one path.",
        fix: "sudo multipath -ll shows the missing path",
        tune: None,
        check: Check::Device(one_path),
    },
    Rule {
        id: "SW-DM-003",
        about: "a mapped device has no visible device below it",
        means: "The device has no devices below it although its kind needs one.",
        known: "slaves is empty, of LVM, crypt or multipath.",
        why: "All its requests fail; what was below it was probably unplugged.",
        fix: "sudo dmsetup table shows the missing device; attach it again or remove the mapping",
        tune: None,
        check: Check::Device(groundless),
    },
];

fn suspended(input: &Observed<'_>) -> Vec<Found> {
    input.each(|d| {
        let mapper = d.detail.mapper.as_ref()?;
        let flag = mapper.suspended.as_ref().filter(|s| s.value)?;
        let name = text(&mapper.name);
        Some(
            Found::error(format!("{} ({name}): suspended", d.name))
                .fact("suspended", flag)
                .remedy(format!("sudo dmsetup resume {name}")),
        )
    })
}

fn one_path(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let role = d.role.as_ref().filter(|r| r.value == "multipath")?;
    (d.kind == DeviceKind::DeviceMapper && d.below.len() == 1).then(|| {
        Found::warning("one path is left")
            .fact("made by", role)
            .seen(format!("its only path is {}", d.below[0].name), &role.from)
    })
}

fn groundless(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let needs = ["lvm", "crypt", "multipath"];
    let role = d.role.as_ref().filter(|r| needs.contains(&r.value.as_str()))?;
    (d.kind == DeviceKind::DeviceMapper && d.below.is_empty())
        .then(|| Found::error("nothing is below it").fact("made by", role))
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, mapper, quiet};

    pub(crate) fn all() -> Vec<Case> {
        let role = |word: &'static str| {
            move |m: &mut Machine| m.disk().role = fact(word.into(), "dm/uuid")
        };
        vec![
            fires("SW-DM-001", mapper, |m| {
                m.detail().mapper.as_mut().unwrap().suspended = fact(true, "dm/suspended");
            })
            .error(),
            quiet("SW-DM-001", mapper, |m| m.detail().mapper.as_mut().unwrap().suspended = None),
            fires("SW-DM-002", mapper, role("multipath")).warning(),
            quiet("SW-DM-002", mapper, role("crypt")),
            fires("SW-DM-003", mapper, |m| m.disk().below.clear()).error(),
            quiet("SW-DM-003", mapper, |m| m.disk().below.clear()).and(role("zero")),
        ]
    }
}
