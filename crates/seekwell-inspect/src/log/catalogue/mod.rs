//! The kernel's storage messages, as data.
//!
//! One entry for each thing the kernel can say about a disk's trouble: how it says it, what that
//! means, how bad it is and what to do. The identifiers are kept for good; a message that changed
//! its wording between kernels is one entry with several patterns. Read off Linux 6.1.192; the
//! lines marked so were also provoked and captured on that kernel.

mod ata;
mod nvme;
mod platform;
mod scsi;

use super::event::KernelEvent;
use super::matcher::{Holes, PatternSet};
use crate::Severity;
use serde::Serialize;
use std::sync::OnceLock;

/// How bad one line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Slower than it could be, or a doubt.
    Warning,
    /// Something failed or was switched off.
    Error,
    /// Data is lost, or the device is out.
    Critical,
}

impl Level {
    /// The severity a finding of it has, and whether it is the worst of that.
    pub fn severity(self) -> (Severity, bool) {
        match self {
            Self::Info => (Severity::Info, false),
            Self::Warning => (Severity::Warning, false),
            Self::Error => (Severity::Error, false),
            Self::Critical => (Severity::Error, true),
        }
    }
}

/// Which lines can be one incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// I/O failing on its way: error handling, what it switched off, and what callers were told.
    Errors,
    /// A PCIe link or function in trouble.
    Pcie,
    /// A file system that found it could not write or read.
    Filesystem,
    /// A statement that stands alone: repeats of it are one incident, nothing else joins.
    Alone,
    /// Said of every device of its kind; kept as a fact, never an incident by itself.
    Statement,
}

/// Where a message was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// Captured from the running kernel.
    Lab,
    /// Read in the kernel's source.
    Source,
}

impl Seen {
    /// The kernels, in words.
    pub fn kernels(self) -> &'static str {
        match self {
            Self::Lab => "6.1.192 in the lab",
            Self::Source => "6.1 source",
        }
    }
}

/// One thing the kernel can say.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Entry {
    /// What it is; its identifier is stable.
    pub id: KernelEvent,
    /// How the lines that are it look, each with how bad it is: literal text and typed holes in
    /// `<…>` such as `<ata>`, `<dev>`, `<num>`. Compared from the start of the message; text
    /// behind the end is free.
    pub forms: &'static [(Level, &'static str)],
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// Which lines it can be one incident with.
    pub family: Family,
    /// Where it was met.
    pub seen: Seen,
    /// Where Linux 6.1.192 prints it.
    pub printed_at: &'static str,
}

impl Entry {
    /// The worst any of its forms is.
    pub fn level(&self) -> Level {
        self.forms.iter().map(|(level, _)| *level).max().unwrap_or(Level::Info)
    }
}

/// Every entry, in the order of its identifier.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [ata::ENTRIES, scsi::ENTRIES, nvme::ENTRIES, platform::ENTRIES].into_iter().flatten()
}

/// The entry of an event.
pub fn entry(id: KernelEvent) -> &'static Entry {
    entries().find(|e| e.id == id).expect("every event has an entry")
}

/// The entry a message is, with how bad this form of it is. Where two fit, the more special one is
/// earlier in the catalogue and wins.
pub fn classify(message: &str) -> Option<(&'static Entry, Level)> {
    let compiled = compiled();
    let (i, _) = compiled.set.first(message)?;
    Some((compiled.forms[i].0, compiled.forms[i].1))
}

/// The catalogue made ready for comparing.
pub(crate) struct Compiled {
    pub set: PatternSet,
    pub forms: Vec<(&'static Entry, Level)>,
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
    pub entry: &'static Entry,
    /// How bad this form of it is.
    pub level: Level,
    /// Which form of all it is.
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

/// Writes entries as rows.
macro_rules! table {
    ($($id:ident $family:ident $seen:ident $at:literal
       [$($level:ident $form:literal),+ $(,)?] $meaning:literal; $remedy:literal)*) => {
        &[$(Entry {
            id: crate::log::KernelEvent::$id,
            forms: &[$((Level::$level, $form)),+],
            meaning: $meaning,
            remedy: $remedy,
            family: Family::$family,
            seen: Seen::$seen,
            printed_at: $at,
        }),*]
    };
}
pub(crate) use table;
