//! Every option that fio 3.42 knows, and what this program does with it.

mod engines;
mod table;

use std::collections::BTreeMap;
use std::sync::OnceLock;
use table::Group;

/// What an option takes after `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing, 0 or 1.
    Flag,
    /// A value.
    Value,
    /// Up to three values with commas: for reads, writes, discards.
    Triple,
}

/// What this program does with an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Done.
    Done,
    /// Taken with a warning: it cannot make a difference here, for this reason.
    Inert(&'static str),
    /// Not taken, for this reason.
    Refused(&'static str),
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Its name in results.
    pub name: &'static str,
    /// Its other names.
    pub aliases: Vec<&'static str>,
    /// What it takes.
    pub takes: Takes,
    /// What is done with it.
    pub tier: Tier,
    /// The engines that have it, by fio's names; empty for all.
    pub engines: &'static [&'static str],
}

/// Every option, in no particular order.
pub fn specs() -> impl Iterator<Item = &'static Spec> {
    static SPECS: OnceLock<Vec<Spec>> = OnceLock::new();
    let all = || {
        let spec = |group: &Group, names: &'static str| {
            let mut names = names.split('=');
            let (takes, tier, engines) = (group.takes, group.tier, group.engines);
            Spec { name: names.next()?, aliases: names.collect(), takes, tier, engines }.into()
        };
        let one = |group: &'static Group| {
            group.names.split_ascii_whitespace().filter_map(move |names| spec(group, names))
        };
        table::GROUPS.iter().flat_map(one).collect()
    };
    SPECS.get_or_init(all).iter()
}

/// The option of a name or an alias.
pub fn find(name: &str) -> Option<&'static Spec> {
    static NAMES: OnceLock<BTreeMap<&'static str, &'static Spec>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let names = |s: &'static Spec| s.aliases.iter().chain([&s.name]).map(move |n| (*n, s));
        specs().flat_map(names).collect()
    });
    names.get(name).copied()
}

/// Names near to one that there is not: at most three, the nearest first.
pub(crate) fn near(name: &str) -> Vec<&'static str> {
    let all = specs().flat_map(|s| s.aliases.iter().chain([&s.name]).copied());
    let mut near = seekwell_sys::nearest(name, all);
    near.truncate(3);
    near
}

/// Finds an engine of fio's by its name.
pub(crate) use engines::{Found, engine};

/// Why an option of fio's command line cannot stand among those of jobs; `None` if it is not one.
pub(crate) fn command_option(name: &str) -> Option<&'static str> {
    engines::COMMAND.split_ascii_whitespace().any(|known| known == name).then_some(
        "an option of the fio command, not of a job; see `seekwell bench --help` for its like",
    )
}
