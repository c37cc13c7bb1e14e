//! Rounds until the rate is steady: whether it settled, and the rounds.

use super::plot::{Panel, Unit};
use super::text::StudyText;
use crate::units::iops;
use seekwell_runs::{Steady, SteadyOutcome};

const WINDOW: u32 = 5;

pub(super) fn text(steady: &Steady) -> StudyText {
    let rounds = &steady.rounds_per_s;
    let inside = |i: usize| match steady.outcome {
        Some(SteadyOutcome::Reached { from, .. }) => (from..from + WINDOW).contains(&(i as u32)),
        _ => false,
    };
    let row = |(i, rate): (usize, &f64)| {
        let word = if inside(i) { "steady" } else { "" };
        vec![(i + 1).to_string(), word.to_owned(), iops(*rate)]
    };
    let sentence = match steady.outcome {
        Some(SteadyOutcome::Reached { from, mean_per_s }) => {
            let before = match from {
                0 => "no round came before them".to_owned(),
                1 => "the round before them does not count".to_owned(),
                n => format!("the {n} rounds before them do not count"),
            };
            format!(
                "Steady from round {} to {}: {} requests/s on average; {before}.",
                from + 1,
                from + WINDOW,
                iops(mean_per_s),
            )
        }
        Some(SteadyOutcome::NotReached) => format!(
            "Steady state was not reached in {} rounds: no five in a row were within 20 % of their \
             mean and without a trend. The numbers are of all rounds.",
            rounds.len()
        ),
        None => format!(
            "Stopped after {} rounds, before it was known whether the rate settles.",
            rounds.len()
        ),
    };
    StudyText {
        title: "Steady state".to_owned(),
        sentences: vec![sentence],
        columns: ["round", "", "requests/s"].map(String::from).into(),
        words: 2,
        spare: 0,
        rows: rounds.iter().enumerate().map(row).collect(),
        panels: vec![Panel {
            title: "requests/s over rounds".to_owned(),
            along: "round".into(),
            places: (1..=rounds.len()).map(|i| i.to_string()).collect(),
            lines: vec![("requests/s".into(), rounds.iter().map(|r| Some(*r)).collect())],
            unit: Unit::PerSecond,
        }],
    }
}
