//! What there is to set, where it lives, what it takes, and what can go wrong with it.
//!
//! One file per family. A setting is data: the machinery that reads, writes and puts back knows
//! none of them by name.

mod cache;
mod device;
mod drive;
pub mod hdparm;
mod iosched;
mod irq;
mod nvme;
mod power;
mod queue;
mod request;
mod values;
mod vm;

pub use request::{Request, RequestError, parse};
pub use values::{ValueProblem, Values};

use crate::disk::Disk;
use seekwell_sys::{View, classify, sudo};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What can go wrong with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Risk {
    /// Safe and put back at once.
    A,
    /// May cost performance or latency; can be put back.
    B,
    /// May hang or drop the disk or the machine.
    C,
    /// May lose data.
    D,
}

impl Risk {
    /// Its letter.
    pub fn letter(self) -> char {
        match self {
            Self::A => 'A',
            Self::B => 'B',
            Self::C => 'C',
            Self::D => 'D',
        }
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::A => "safe",
            Self::B => "may cost performance",
            Self::C => "may hang or drop the disk",
            Self::D => "may lose data",
        }
    }
}

/// When a setting's turn is: those before reset those after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The scheduler: resets the number of requests and has files of its own.
    Scheduler,
    /// The number of requests: bounds what a scheduler takes.
    Requests,
    /// The scheduler's own files.
    Iosched,
    /// Everything else.
    Rest,
    /// Reset by others of the rest.
    Last,
}

/// How far a setting reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The disk alone.
    Disk,
    /// Every disk on the port or host.
    Port,
    /// Every disk on the controller.
    Controller,
    /// The whole machine.
    Machine,
}

/// How a udev rule sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Udev {
    /// An attribute below the disk's folder.
    Disk(String),
    /// An attribute of the disk's PCI function.
    Pci(String),
    /// Not at all, for this reason.
    Not(&'static str),
}

/// Looks for the places of a setting.
type Find = fn(&dyn View, &Disk, &str) -> Vec<(String, PathBuf)>;

/// One setting, or a family of them whose key ends in `.*`.
pub struct Setting {
    /// Its key.
    pub key: &'static str,
    /// What it is, in words.
    pub what: &'static str,
    /// When its turn is.
    pub stage: Stage,
    /// Writing waits for every request in flight.
    pub freezes: bool,
    /// Keys that writing this one may change too; `iosched.*` means all of those.
    pub resets: &'static [&'static str],
    /// How far it reaches.
    pub scope: Scope,
    /// What putting it back does not bring back; `None` when it is as before.
    pub residue: Option<&'static str>,
    /// What can go wrong with this value.
    pub risk: fn(&str) -> Risk,
    /// Every place it has for this disk, with its key in full; given the key.
    pub find: Find,
    /// What the attribute takes.
    pub values: fn(&dyn View, &Disk, &Path) -> Values,
    /// How a rule sets it, given its key in full.
    pub udev: fn(&str) -> Udev,
}

impl Setting {
    /// A switch of the disk alone, from which the tables take what they do not say.
    const PLAIN: Self = Self {
        key: "",
        what: "",
        stage: Stage::Rest,
        freezes: false,
        resets: &[],
        scope: Scope::Disk,
        residue: None,
        risk: always_b,
        find: |_, _, _| Vec::new(),
        values: switch,
        udev: |_| Udev::Not("no rule is written for it"),
    };
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setting").field("key", &self.key).finish_non_exhaustive()
    }
}

/// A setting of one disk.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its key in full.
    pub key: String,
    /// Where it lives.
    pub path: PathBuf,
    /// What it is.
    pub setting: &'static Setting,
}

/// Why a key or value is not for this disk.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// No setting has this name.
    #[error("there is no setting {key}{}", did_you_mean(near.as_ref()))]
    Unknown {
        /// As it was typed.
        key: String,
        /// The most similar key.
        near: Option<String>,
    },
    /// The setting exists, but not for this disk.
    #[error("{disk} has no {key}: {why}")]
    Absent {
        /// The key.
        key: String,
        /// The disk.
        disk: String,
        /// Why, as far as it is known.
        why: &'static str,
    },
    /// The value is not one it takes.
    #[error("{key}={value}: {problem}")]
    Value {
        /// The key.
        key: String,
        /// As it was typed.
        value: String,
        /// What is wrong with it, with what would be right.
        problem: ValueProblem,
    },
    /// The driver does not let it be written.
    #[error(
        "{key} is read-only for this disk: its driver has no way to change it ({})", path.display()
    )]
    ReadOnly {
        /// The key.
        key: String,
        /// Where it lives.
        path: PathBuf,
    },
    /// This user may not write it.
    #[error("{key} is {present}, and this user may not change it{}", sudo())]
    Denied {
        /// The key.
        key: String,
        /// Its value now.
        present: String,
    },
    /// The value it has now could not be put back.
    #[error("{key} is {present} now, and that could not be put back: {why}")]
    NotReversible {
        /// The key.
        key: String,
        /// Its value now.
        present: String,
        /// Why.
        why: String,
    },
    /// One key twice.
    #[error("{key} is given twice")]
    Twice {
        /// The key.
        key: String,
    },
    /// What was typed is no `KEY=VALUE`.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A classic switch that today's kernel does not honour.
    #[error(transparent)]
    Classic(#[from] hdparm::Refused),
}

classify!(SettingError {
    Usage: Unknown, Value, Twice, Request;
    Refused: Absent, ReadOnly, Denied, NotReversible, Classic;
});

/// Whether a key is a setting's, or one of a family such as `iosched.*`. Whether a disk has it is
/// known when the disk is looked at.
pub fn is_key(key: &str) -> bool {
    registry().any(|s| match s.key.strip_suffix('*') {
        Some(stem) => key.starts_with(stem) || key == stem.trim_end_matches('.'),
        None => s.key == key,
    })
}

/// Every setting there is.
pub fn registry() -> impl Iterator<Item = &'static Setting> {
    let families = [
        queue::SETTINGS,
        iosched::SETTINGS,
        device::SETTINGS,
        cache::SETTINGS,
        drive::SETTINGS,
        nvme::SETTINGS,
        power::SETTINGS,
        irq::SETTINGS,
        vm::SETTINGS,
    ];
    families.into_iter().flatten()
}

/// Every attribute this disk has.
pub fn attributes(view: &dyn View, disk: &Disk) -> Vec<Attribute> {
    registry()
        .flat_map(|setting| {
            let found = (setting.find)(view, disk, setting.key);
            found.into_iter().map(move |(key, path)| Attribute { key, path, setting })
        })
        .collect()
}

/// The attribute with this key. `scheduler` is the one that will be in use when the attribute is
/// written, where that is not the present one: its files are not there yet.
///
/// # Errors
/// [`SettingError::Unknown`] with the nearest key, or [`SettingError::Absent`].
pub fn find(
    view: &dyn View,
    disk: &Disk,
    key: &str,
    scheduler: Option<&str>,
) -> Result<Attribute, SettingError> {
    let present = attributes(view, disk);
    if let Some(name) = key.strip_prefix("iosched.")
        && let Some(scheduler) = scheduler
    {
        return iosched::later(disk, name, scheduler);
    }
    if let Some(found) = present.iter().find(|a| a.key == key) {
        return Ok(found.clone());
    }
    let family = |s: &&Setting| {
        s.key == key || s.key.strip_suffix('*').is_some_and(|stem| key.starts_with(stem))
    };
    // A key with a number in it, given without: clear when there is only one.
    let stem = format!("{key}.");
    let mut numbered = present.iter().filter(|a| a.key.starts_with(&stem));
    if let (Some(only), None) = (numbered.next(), numbered.next()) {
        return Ok(only.clone());
    }
    let known = registry().find(family);
    match known {
        Some(setting) if !setting.key.ends_with('*') || !has_family(&present, setting) => {
            let (key, disk) = (key.to_owned(), disk.identity.name.clone());
            Err(SettingError::Absent { key, disk, why: why_absent(setting.key) })
        }
        _ => {
            let keys = present.iter().map(|a| a.key.as_str()).chain(registry().map(|s| s.key));
            Err(SettingError::Unknown { key: key.to_owned(), near: nearest(key, keys) })
        }
    }
}

fn has_family(present: &[Attribute], setting: &Setting) -> bool {
    present.iter().any(|a| std::ptr::eq(a.setting, setting))
}

fn why_absent(key: &str) -> &'static str {
    match key {
        "queue_depth" | "timeout" => "only SCSI and ATA disks have it",
        "link_power" => "its port's driver offers no link power management",
        "cache_type" | "provisioning_mode" => "it is no SCSI or ATA disk",
        "look_ahead" | "apm" | "acoustic" => "it is no ATA disk, or the drive does not offer it",
        "io_32bit" => "its controller moves the data itself, so there is no width to choose",
        key if key.starts_with("nvme.") => {
            "it is no NVMe disk, or its controller does not offer it"
        }
        "pm" | "aspm.*" => "its controller is no PCI device with this attribute",
        "iosched.*" => "the scheduler in use has no parameters",
        "irq_affinity.*" => "its controller shows no interrupts of its own",
        "wbt_lat_usec" => "the kernel is built without writeback throttling, or it is off for it",
        _ => "its driver or this kernel does not offer it",
    }
}

/// The most similar of `words`, when one is similar at all; else one that contains what was given.
fn nearest<'a>(given: &str, words: impl Iterator<Item = &'a str>) -> Option<String> {
    let words: Vec<&str> = words.filter(|word| !word.ends_with('*')).collect();
    let similar = seekwell_sys::nearest(given, words.iter().copied()).into_iter().next();
    let contains = |word: &&str| given.len() > 2 && word.contains(given);
    similar.or_else(|| words.into_iter().find(contains)).map(str::to_owned)
}

fn did_you_mean(near: Option<&String>) -> String {
    near.map(|n| format!("; did you mean {n}?")).unwrap_or_default()
}

// What most settings of a family have in common.

fn always_a(_: &str) -> Risk {
    Risk::A
}

fn always_b(_: &str) -> Risk {
    Risk::B
}

fn always_c(_: &str) -> Risk {
    Risk::C
}

fn always_d(_: &str) -> Risk {
    Risk::D
}

fn switch(_: &dyn View, _: &Disk, _: &Path) -> Values {
    Values::number(0, 1)
}

/// The file, when it is there.
fn one(view: &dyn View, key: &str, path: PathBuf) -> Vec<(String, PathBuf)> {
    if view.exists(&path) { vec![(key.to_owned(), path)] } else { Vec::new() }
}

#[cfg(test)]
pub(crate) mod tests;
