//! Shingled disks that hide it.

use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Device;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "SW-SMR-001",
    about: "a shingled disk manages its zones itself",
    means: "Tracks overlap, so the drive must rewrite a whole zone to change part of it. It \
            collects writes in a cache and rewrites zones when idle.",
    known: "Word 69 of IDENTIFY or the zoned field of VPD page B1h says so, or the maker lists the \
            model (Western Digital, Seagate and Toshiba published lists in 2020). A rotating disk \
            that supports TRIM is probably one: a conventional disk has no use for it.",
    why: "Once its cache is full, random writes fall to a few megabytes a second for minutes, and \
          a RAID rebuild or resilver can take days. A short benchmark sees only the cache.",
    fix: "use it for large sequential writes and reads; replace it in RAID, ZFS and under \
          databases with a conventional (CMR) disk; if it supports TRIM, run sudo fstrim regularly",
    tune: None,
    check: Check::Device(shingled),
}];

/// Beginnings of model numbers. Sources: Western Digital's list of recording technology and blog of
/// April 2020 (EFAX from 2 to 6 TB, EZAZ, SPZX), Seagate's list of CMR and SMR drives, Toshiba's
/// statement of April 2020 (DT02, MQ04, P300 of 4 and 6 TB, L200 of 1 and 2 TB).
const MODELS: [&str; 32] = [
    "ST5000AS0011",
    "ST6000AS0002",
    "ST8000AS0002",
    "ST2000DM005",
    "ST2000DM008",
    "ST3000DM007",
    "ST4000DM004",
    "ST6000DM003",
    "ST8000DM004",
    "ST500LM030",
    "ST1000LM048",
    "ST2000LM015",
    "ST3000LM024",
    "ST4000LM024",
    "ST5000LM000",
    "WD20EFAX",
    "WD30EFAX",
    "WD40EFAX",
    "WD60EFAX",
    "WD20EZAZ",
    "WD40EZAZ",
    "WD60EZAZ",
    "WD10SPZX",
    "WD20SPZX",
    "WD10SPSX",
    "TOSHIBA DT02ABA",
    "TOSHIBA MQ04ABF",
    "TOSHIBA MQ04ABD",
    "TOSHIBA HDWD240",
    "TOSHIBA HDWD260",
    "TOSHIBA HDWL110",
    "TOSHIBA HDWL120",
];

fn shingled(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let known = || Found::warning("it is shingled and manages its zones itself");
    let identify = d.detail.identify.as_ref();
    if let Some(id) = identify.filter(|id| id.value.zoned == 2) {
        return Some(known().seen("zoned capabilities: managed by the device", &id.from));
    }
    let page = d.detail.scsi.as_ref().and_then(|s| s.zoned.as_ref());
    if let Some(zoned) = page.filter(|z| z.value == 2) {
        return Some(known().seen("zoned field: managed by the device", &zoned.from));
    }
    let model = d.model.as_ref()?;
    let name = model.value.trim_start_matches("WDC ");
    if MODELS.iter().any(|begin| name.starts_with(begin)) {
        return Some(known().fact("model", model));
    }
    let id = identify.filter(|id| id.value.trim && id.value.rotation_rpm.is_some_and(|n| n > 1))?;
    (!input.is_virtual(d)).then(|| {
        Found::info("it is probably shingled: it rotates and supports TRIM")
            .seen("TRIM, and a rotation rate", &id.from)
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sas, sata_hdd, sata_ssd};

    fn model(name: &'static str) -> impl Fn(&mut Machine) {
        move |m| m.disk().model = fact(name.to_owned(), "model")
    }

    pub(crate) fn all() -> Vec<Case> {
        vec![
            fires("SW-SMR-001", sata_hdd, model("WDC WD40EFAX-68JH4N0")).warning(),
            fires("SW-SMR-001", sata_hdd, model("ST8000AS0002-1NA17Z")).warning(),
            fires("SW-SMR-001", sata_hdd, |m| m.id().zoned = 2).warning(),
            fires("SW-SMR-001", sas, |m| m.scsi().zoned = fact(2, "vpd_pgb1")).warning(),
            fires("SW-SMR-001", sata_hdd, |m| m.id().trim = true).info(),
            quiet("SW-SMR-001", sata_hdd, |m| m.id().zoned = 1),
            quiet("SW-SMR-001", sata_hdd, model("WDC WD40EFRX-68N32N0")),
            quiet("SW-SMR-001", sata_hdd, model("WDC WD80EFAX-68KNBN0")),
            // The same series at 7,200 rpm is conventional.
            quiet("SW-SMR-001", sata_hdd, model("ST1000LM049-2GH172")),
            quiet("SW-SMR-001", sata_ssd, |m| m.id().trim = true),
        ]
    }
}
