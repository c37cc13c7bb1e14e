//! What a setting is made of.

use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Risk {
    /// Safe and put back at once.
    A,
    /// May cost performance or latency; can be put back.
    B,
    /// May hang or drop the disk or the machine.
    C,
    D,
}

impl Risk {
    pub fn letter(self) -> char {
        match self {
            Self::A => 'A',
            Self::B => 'B',
            Self::C => 'C',
            Self::D => 'D',
        }
    }

    pub fn meaning(self) -> &'static str {
        match self {
            Self::A => "safe",
            Self::B => "may cost performance",
            Self::C => "may hang or drop the disk",
            Self::D => "may lose data",
        }
    }
}

/// A setting's place in the order of writes: earlier ones reset later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The scheduler: resets the number of requests and has files of its own.
    Scheduler,
    /// The number of requests: bounds what a scheduler takes.
    Requests,
    Iosched,
    /// Everything else.
    Rest,
    /// Reset by others of the rest.
    Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    Disk,
    /// Every disk on the port or host.
    Port,
    /// Every disk on the controller.
    Controller,
    Machine,
}

/// How a udev rule sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Udev {
    /// An attribute below the disk's folder.
    Disk(String),
    /// An attribute of the disk's PCI function.
    Pci(String),
    /// The disk's line of a file with this name, by a command.
    Line(String),
    /// Not at all, for this reason.
    Not(&'static str),
}

/// Looks for the places of a setting.
type Find = fn(&dyn View, &Disk, &str) -> Vec<(String, PathBuf)>;

/// One setting, or a family of them whose key ends in `.*`.
pub struct Setting {
    pub key: &'static str,
    /// What it is, in words.
    pub what: &'static str,
    pub stage: Stage,
    pub freezes: bool,
    /// Keys that writing this one may change too; `iosched.*` means all of those.
    pub resets: &'static [&'static str],
    pub scope: Scope,
    /// What putting it back does not bring back; `None` when it is as before.
    pub residue: Option<&'static str>,
    /// What can go wrong with this value.
    pub risk: fn(&str) -> Risk,
    /// Every place it has for this disk, with its key in full; given the key.
    pub find: Find,
    pub values: fn(&dyn View, &Disk, &Path) -> Values,
    /// How a rule sets it, given its key in full.
    pub udev: fn(&str) -> Udev,
}

impl Setting {
    /// A switch of the disk alone, from which the tables take what they do not say.
    pub(super) const PLAIN: Self = Self {
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

#[derive(Debug, Clone)]
pub struct Attribute {
    pub key: String,
    pub path: PathBuf,
    pub setting: &'static Setting,
}

// What most settings of a family have in common.

pub(super) fn always_a(_: &str) -> Risk {
    Risk::A
}

pub(super) fn always_b(_: &str) -> Risk {
    Risk::B
}

pub(super) fn always_c(_: &str) -> Risk {
    Risk::C
}

pub(super) fn always_d(_: &str) -> Risk {
    Risk::D
}

fn switch(_: &dyn View, _: &Disk, _: &Path) -> Values {
    Values::number(0, 1)
}

/// The file, when it is there.
pub(super) fn one(view: &dyn View, key: &str, path: PathBuf) -> Vec<(String, PathBuf)> {
    if view.exists(&path) { vec![(key.to_owned(), path)] } else { Vec::new() }
}
