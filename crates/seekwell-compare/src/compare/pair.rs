//! Which workload of one side belongs to which of the other, and whether they are one workload.

use crate::document::FieldDifference;
use crate::error::CompareError;
use crate::model::{Group, Side};
use std::collections::BTreeMap;

/// A workload that both sides have, by its name on either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub a: String,
    pub b: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Paired {
    /// In the order of A.
    pub pairs: Vec<Pair>,
    /// Fields that differ in spite of the pairing.
    pub differences: Vec<FieldDifference>,
    pub only_in_a: Vec<String>,
    pub only_in_b: Vec<String>,
}

/// The first group of each name, in the order of appearance.
fn groups(side: &Side) -> Vec<&Group> {
    let mut out: Vec<&Group> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for group in side.runs.iter().flat_map(|r| &r.groups) {
        if seen.insert(group.name.as_str()) {
            out.push(group);
        }
    }
    out
}

/// Fields in which runs of one side differ, for each workload that has several runs.
pub fn mixed(side: &Side) -> Vec<FieldDifference> {
    let mut first: BTreeMap<&str, &Group> = BTreeMap::new();
    let mut found: Vec<FieldDifference> = Vec::new();
    for group in side.runs.iter().flat_map(|r| &r.groups) {
        let before = *first.entry(&group.name).or_insert(group);
        for difference in fields(before, group) {
            let known =
                |d: &&FieldDifference| d.group == difference.group && d.field == difference.field;
            if !found.iter().any(|d| known(&d)) {
                found.push(difference);
            }
        }
    }
    found
}

fn fields(a: &Group, b: &Group) -> Vec<FieldDifference> {
    let mut names: Vec<&String> = a.identity.keys().chain(b.identity.keys()).collect();
    names.sort();
    names.dedup();
    let value = |group: &Group, field: &String| group.identity.get(field).cloned();
    let all = names.into_iter().map(|field| FieldDifference {
        group: a.name.clone(),
        field: field.clone(),
        a: value(a, field),
        b: value(b, field),
    });
    all.filter(|d| d.a != d.b).collect()
}

/// Pairs workloads by name, then those left over that are equal, then, if nothing was found, the
/// only one with the only one.
///
/// # Errors
/// [`CompareError::NothingInCommon`] when there is no pair, [`CompareError::DifferentWorkloads`]
/// when pairs differ and `force` does not overrule it.
pub fn pair(a: &Side, b: &Side, force: bool) -> Result<Paired, CompareError> {
    for side in [a, b] {
        let differences = mixed(side);
        if !differences.is_empty() && !force {
            let side = side.name.clone();
            return Err(CompareError::MixedWorkloads { side, differences });
        }
    }
    let (of_a, of_b) = (groups(a), groups(b));
    let mut taken: Vec<bool> = vec![false; of_b.len()];
    let mut paired: Vec<Option<usize>> = vec![None; of_a.len()];
    let by_name: BTreeMap<&str, usize> =
        of_b.iter().enumerate().map(|(i, g)| (g.name.as_str(), i)).collect();
    for (i, group) in of_a.iter().enumerate() {
        paired[i] = by_name.get(group.name.as_str()).copied();
        paired[i].into_iter().for_each(|at| taken[at] = true);
    }
    for (i, group) in of_a.iter().enumerate() {
        if paired[i].is_some() {
            continue;
        }
        let equal = |j: &usize| {
            !taken[*j] && !group.identity.is_empty() && of_b[*j].identity == group.identity
        };
        paired[i] = (0..of_b.len()).find(equal);
        paired[i].into_iter().for_each(|at| taken[at] = true);
    }
    if paired.iter().all(Option::is_none) && of_a.len() == 1 && of_b.len() == 1 {
        (paired[0], taken[0]) = (Some(0), true);
    }
    let mut out = Paired::default();
    for (group, at) in of_a.iter().zip(&paired) {
        match at {
            Some(at) => {
                out.differences.extend(fields(group, of_b[*at]));
                out.pairs.push(Pair { a: group.name.clone(), b: of_b[*at].name.clone() });
            }
            None => out.only_in_a.push(group.name.clone()),
        }
    }
    let rest = of_b.iter().zip(&taken).filter(|(_, taken)| !**taken);
    out.only_in_b = rest.map(|(g, _)| g.name.clone()).collect();
    let (name_a, name_b) = (a.name.clone(), b.name.clone());
    if out.pairs.is_empty() {
        let (groups_a, groups_b) = (out.only_in_a, out.only_in_b);
        return Err(CompareError::NothingInCommon { a: name_a, b: name_b, groups_a, groups_b });
    }
    if !out.differences.is_empty() && !force {
        let differences = out.differences;
        return Err(CompareError::DifferentWorkloads { a: name_a, b: name_b, differences });
    }
    Ok(out)
}
