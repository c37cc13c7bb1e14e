//! What is known of one message.

use crate::finding::Severity;
use crate::log::event::KernelEvent;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
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
    /// I/O failing on its way: error handling, what it switched off, and what callers got.
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
    Lab,
    Source,
}

impl Seen {
    pub fn kernels(self) -> &'static str {
        match self {
            Self::Lab => "6.1.192 in the lab",
            Self::Source => "6.1 source",
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct CatalogueEntry {
    /// What it is; its identifier is stable.
    pub id: KernelEvent,
    /// How the lines that are it look, each with how bad it is: literal text and typed holes in
    /// `<…>` such as `<ata>`, `<dev>`, `<num>`. Compared from the start of the message; text
    /// behind the end is free.
    pub forms: &'static [(Level, &'static str)],
    pub meaning: &'static str,
    pub remedy: &'static str,
    /// Which lines it can be one incident with.
    pub family: Family,
    pub seen: Seen,
    /// Where Linux 6.1.192 prints it.
    pub printed_at: &'static str,
}

impl CatalogueEntry {
    /// The worst any of its forms is.
    pub fn level(&self) -> Level {
        self.forms.iter().map(|(level, _)| *level).max().unwrap_or(Level::Info)
    }
}

macro_rules! table {
    ($($id:ident $family:ident $seen:ident $at:literal
       [$($level:ident $form:literal),+ $(,)?] $meaning:literal; $remedy:literal)*) => {
        &[$(CatalogueEntry {
            id: crate::log::event::KernelEvent::$id,
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
