//! What the phases of several targets say together.

use super::{Outside, WORKLOADS, phase_name};
use crate::ratio::typical;
use seekwell_inspect::{Shared, shared};
use seekwell_runs::together::{Comparison, Part, Rate, Target, Together};
use seekwell_runs::{Phase, PhaseId, Repeat, RunDocument, Spread};
use std::collections::BTreeMap;

/// What targets share.
pub fn shared_by(document: &RunDocument, targets: &[Target]) -> Vec<Shared> {
    let inspection = |t: &'_ Target| t.inspection.clone();
    let inspections: Vec<_> = targets
        .iter()
        .map(|t| (t.name.as_str(), inspection(t).unwrap_or_else(|| document.inspection.clone())))
        .collect();
    let named: Vec<_> = inspections.iter().map(|(name, found)| (*name, found)).collect();
    shared(&named)
}

/// The answer, with what was seen from outside of each workload.
pub fn together(
    document: &RunDocument,
    targets: Vec<Target>,
    shared: Vec<Shared>,
    outside: &[Outside],
) -> Together {
    let compare = |(number, id): (usize, PhaseId)| {
        compare(document, &targets, id, outside.get(number).unwrap_or(&Outside::NOTHING))
    };
    let workloads = WORKLOADS.into_iter().enumerate().map(compare).collect();
    Together { targets, workloads, shared }
}

/// A target's runs of one workload, in the order of the rounds.
struct Runs<'a> {
    target: &'a str,
    alone: &'a Phase,
    together: &'a Phase,
}

impl Runs<'_> {
    /// What it did in a round, alone and together, where both are valid.
    fn round(&self, round: usize) -> Option<(Rate, Rate)> {
        let of = |phase: &Phase| rate(phase.repeats.get(round).filter(|r| r.invalid.is_none())?);
        Some((of(self.alone)?, of(self.together)?))
    }
}

fn rate(repeat: &Repeat) -> Option<Rate> {
    let read = repeat.ops.get("read")?;
    let rate = Rate { requests_per_s: read.requests_per_s, bytes_per_s: read.rate_bytes_per_s };
    (rate.bytes_per_s > 0.0).then_some(rate)
}

fn compare(
    document: &RunDocument,
    targets: &[Target],
    id: PhaseId,
    outside: &Outside,
) -> Comparison {
    let runs = |target: &'_ Target| {
        let phase = |is_together| document.phase(&phase_name(&target.name, id, is_together));
        Some((phase(false)?, phase(true)?))
    };
    let runs: Vec<Runs<'_>> = targets
        .iter()
        .filter_map(|t| runs(t).map(|(alone, together)| Runs { target: &t.name, alone, together }))
        .collect();
    let took_part = rounds_that_count(&runs);
    let counted: Vec<&Runs<'_>> =
        took_part.iter().flat_map(|(members, _)| members).map(|i| &runs[*i]).collect();
    let rounds = took_part.map(|(_, rounds)| rounds).unwrap_or_default();
    let sum = |round: usize, pick: fn((Rate, Rate)) -> Rate| {
        let all = counted.iter().filter_map(|runs| runs.round(round)).map(pick);
        all.fold(Rate::default(), |a, b| Rate {
            requests_per_s: a.requests_per_s + b.requests_per_s,
            bytes_per_s: a.bytes_per_s + b.bytes_per_s,
        })
    };
    let sums = |pick| rounds.iter().map(|r| sum(*r, pick)).collect::<Vec<Rate>>();
    let (alone, together) = (sums(|(alone, _)| alone), sums(|(_, together)| together));
    let ratios: Vec<f64> =
        together.iter().zip(&alone).map(|(t, a)| t.bytes_per_s / a.bytes_per_s).collect();
    let part = |runs: &&Runs<'_>| {
        let of = |pick: fn((Rate, Rate)) -> Rate| {
            let all = rounds.iter().filter_map(|r| runs.round(*r)).map(pick);
            median(&all.collect::<Vec<_>>())
        };
        Part {
            target: runs.target.to_owned(),
            alone_phase: runs.alone.name.clone(),
            together_phase: runs.together.name.clone(),
            alone: of(|(alone, _)| alone),
            together: of(|(_, together)| together),
        }
    };
    let title = runs.first().and_then(|r| r.alone.title.split_once(": "));
    Comparison {
        workload: id.to_string(),
        title: title.map_or_else(|| id.to_string(), |(_, title)| title.to_owned()),
        parts: counted.iter().map(part).collect(),
        alone: median(&alone),
        together: median(&together),
        efficiency: typical(&ratios),
        rounds: ratios,
        reached: Spread::of(&outside.reached).map(|spread| spread.median),
        busy_percent: Spread::of(&outside.busy).map(|spread| 100.0 * spread.median),
    }
}

/// The targets that took part in most rounds, and these rounds: where one was lost on the way, the
/// rounds before or after that, whichever are more.
fn rounds_that_count(runs: &[Runs<'_>]) -> Option<(Vec<usize>, Vec<usize>)> {
    let mut sets: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    let most = runs.iter().map(|r| r.together.repeats.len()).max().unwrap_or(0);
    for round in 0..most {
        let ran = |i: &usize| runs[*i].together.repeats.get(round).is_some();
        let members: Vec<usize> = (0..runs.len()).filter(ran).collect();
        let all_valid = members.iter().all(|i| runs[*i].round(round).is_some());
        if members.len() > 1 && all_valid {
            sets.entry(members).or_default().push(round);
        }
    }
    sets.into_iter().max_by_key(|(members, rounds)| (rounds.len(), members.len()))
}

fn median(rates: &[Rate]) -> Rate {
    let of = |pick: fn(&Rate) -> f64| {
        let values: Vec<f64> = rates.iter().map(pick).collect();
        Spread::of(&values).map_or(0.0, |spread| spread.median)
    };
    Rate { requests_per_s: of(|r| r.requests_per_s), bytes_per_s: of(|r| r.bytes_per_s) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_io::measurement::Stopped;
    use seekwell_io::workload::{Pattern, Workload};
    use seekwell_runs::{Latency, OpSummary};

    /// A phase whose rounds read at these rates, in bytes a second; 0 is an invalid round.
    fn phase(name: &str, rounds: &[f64]) -> Phase {
        let repeat = |bytes_per_s: &f64| {
            let mut repeat = Repeat::new(1, Stopped::Finished);
            let read = OpSummary {
                requests: 1,
                bytes: 4096,
                requests_per_s: bytes_per_s / 4096.0,
                rate_bytes_per_s: *bytes_per_s,
                latency: Latency::default(),
                response: None,
            };
            repeat.ops.insert("read".into(), read);
            repeat.invalid = (*bytes_per_s == 0.0).then(|| "a request failed".into());
            repeat
        };
        let workload = Workload::closed(Pattern::Random, 100, 4096, 32, 1 << 30);
        let repeats = rounds.iter().map(repeat).collect();
        Phase { repeats, ..Phase::new(name, name, workload) }
    }

    type Pair = (Phase, Phase);

    fn counted(all: &[Pair]) -> Option<(Vec<usize>, Vec<usize>)> {
        fn of((alone, together): &Pair) -> Runs<'_> {
            Runs { target: "a", alone, together }
        }
        rounds_that_count(&all.iter().map(of).collect::<Vec<_>>())
    }

    fn target(alone: &[f64], together: &[f64]) -> Pair {
        (phase("alone", alone), phase("together", together))
    }

    #[test]
    fn rounds_of_one_set_of_targets_count_and_those_before_a_loss_only_where_they_are_more() {
        let whole = || target(&[100.0; 6], &[50.0; 6]);
        assert_eq!(counted(&[whole(), whole()]), Some((vec![0, 1], (0..6).collect())));
        // The third is lost in the second round: four rounds of two count and not one of three.
        let lost = target(&[100.0; 2], &[50.0, 0.0]);
        let found = counted(&[whole(), whole(), lost]);
        assert_eq!(found, Some((vec![0, 1], vec![2, 3, 4, 5])));
        assert_eq!(counted(&[whole()]), None);
        assert_eq!(counted(&[whole(), target(&[100.0; 6], &[])]), None);
    }

    #[test]
    fn the_ratio_is_the_typical_round_with_an_interval_around_it() {
        let found = typical(&[0.60, 0.61, 0.62, 0.59, 0.61, 0.60]).unwrap();
        assert!((found.ratio - 0.605).abs() < 0.006, "{found:?}");
        assert!(found.low >= 0.59 && found.high <= 0.62, "{found:?}");
        assert!(found.is_less() && !found.is_all());
        let few = typical(&[1.0, 1.01, 0.99]).unwrap();
        assert!(few.low < 0.99 && few.high > 1.01 && few.is_all(), "{few:?}");
        assert_eq!(typical(&[0.5]), None);
    }
}
