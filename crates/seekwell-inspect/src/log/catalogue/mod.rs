//! The kernel's storage messages, as data.
//!
//! One entry for each thing the kernel can say about a disk's trouble: how it says it, what that
//! means, how bad it is and what to do. The identifiers are kept for good; a message that changed
//! its wording between kernels is one entry with several patterns. Read off Linux 6.1.192; the
//! lines marked so were also provoked and captured on that kernel.

mod ata;
mod entry;
mod nvme;
mod platform;
mod scsi;

pub use entry::{CatalogueEntry, Family, Level, Seen};

use super::event::KernelEvent;
use super::matcher::{Holes, PatternSet};
use std::sync::OnceLock;

/// Every entry, in the order of its identifier.
pub fn entries() -> impl Iterator<Item = &'static CatalogueEntry> {
    [ata::ENTRIES, scsi::ENTRIES, nvme::ENTRIES, platform::ENTRIES].into_iter().flatten()
}

pub fn entry(id: KernelEvent) -> &'static CatalogueEntry {
    entries().find(|e| e.id == id).expect("every event has an entry")
}

/// The entry a message is, with how bad this form of it is. Where two fit, the more special one is
/// earlier in the catalogue and wins.
pub fn classify(message: &str) -> Option<(&'static CatalogueEntry, Level)> {
    let compiled = compiled();
    let (i, _) = compiled.set.first(message)?;
    Some((compiled.forms[i].0, compiled.forms[i].1))
}

/// The catalogue made ready for comparing.
pub(crate) struct Compiled {
    pub set: PatternSet,
    pub forms: Vec<(&'static CatalogueEntry, Level)>,
}

pub(crate) fn compiled() -> &'static Compiled {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let forms = || entries().flat_map(|e| e.forms.iter().map(move |(l, form)| (e, *l, *form)));
        Compiled {
            set: PatternSet::new(forms().map(|(_, _, form)| form)),
            forms: forms().map(|(e, l, _)| (e, l)).collect(),
        }
    })
}

/// A line that an entry knows.
#[derive(Clone)]
pub(crate) struct Hit<'t> {
    pub entry: &'static CatalogueEntry,
    /// How bad this form of it is.
    pub level: Level,
    pub form: usize,
    pub held: Holes<'t>,
}

/// The entry a line is, and what it holds.
pub(crate) fn look_up(message: &str) -> Option<Hit<'_>> {
    let compiled = compiled();
    let (form, held) = compiled.set.first(message)?;
    let (entry, level) = compiled.forms[form];
    Some(Hit { entry, level, form, held })
}
