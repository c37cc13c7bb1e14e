//! In what a host differs from most of its group.

use super::gather::FACTS;
use super::{Difference, Group, Member};
use std::collections::BTreeMap;

/// The most values of others that a sentence names.
const NAMED: usize = 3;

/// Facts of which more than half of the group have one value, and this member another, and findings
/// that less than half of the group have.
pub fn of(member: usize, group: &Group, members: &[Member]) -> Vec<Difference> {
    let this = &members[member];
    let all = || group.members.iter().map(|at| &members[*at]);
    let n = group.members.len();
    let fact = |(_, name, words): &(_, &str, &str)| {
        let mut counts: BTreeMap<Option<&String>, usize> = BTreeMap::new();
        all().for_each(|m| *counts.entry(m.facts.get(*name)).or_default() += 1);
        let value = this.facts.get(*name);
        let hosts = counts.remove(&value)?;
        let mut others: Vec<(String, usize)> =
            counts.into_iter().filter_map(|(value, count)| Some((value?.clone(), count))).collect();
        others.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        (2 * others.first()?.1 > n).then(|| Difference {
            sentence: sentence(name, words, value, (hosts, n), &others),
            fact: (*name).to_owned(),
            value: value.cloned(),
            hosts,
            of: n,
            others,
        })
    };
    let finding = |(id, title): (&String, &String)| {
        let hosts = all().filter(|m| m.findings.contains_key(id)).count();
        (2 * hosts < n).then(|| Difference {
            fact: "finding".to_owned(),
            value: Some(format!("{id}: {title}")),
            hosts,
            of: n,
            others: Vec::new(),
            sentence: format!("finding {id}, {title}: {}", which(hosts, n)),
        })
    };
    let facts = FACTS.iter().filter_map(fact);
    let mut found: Vec<_> = facts.chain(this.findings.iter().filter_map(finding)).collect();
    found.sort_by_key(|difference| difference.hosts);
    found
}

fn which(hosts: usize, of: usize) -> String {
    match hosts {
        1 => format!("the only one of {of}"),
        hosts => format!("one of {hosts} of {of}"),
    }
}

fn sentence(
    fact: &str,
    words: &str,
    value: Option<&String>,
    (hosts, of): (usize, usize),
    others: &[(String, usize)],
) -> String {
    let which = which(hosts, of);
    let this = match value {
        Some(value) if fact == "link" => format!("{which} at {value}"),
        Some(value) => format!("{which} with {value}"),
        None => format!("{which} where it is not known"),
    };
    let said = match others {
        [(only, _)] => only.clone(),
        several => {
            let named = several.iter().take(NAMED);
            let named = named.map(|(value, count)| format!("{value} ({count})"));
            let more = if several.len() > NAMED { ", …" } else { "" };
            named.collect::<Vec<_>>().join(", ") + more
        }
    };
    format!("{words}: {this}; the others: {said}")
}
