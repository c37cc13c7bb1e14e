//! A search for a setting, for people.

use seekwell_experiment::text::command;
use seekwell_run::tuning::{AutoDocument, AutoOutcome, Screened};
use seekwell_stats::signed;
use std::fmt::Write as _;

pub fn result(document: &AutoDocument) -> String {
    let mut out = sentence(document);
    out.push('\n');
    for left in &document.not_restored {
        let _ = writeln!(out, "Not put back: {} to {}, {}", left.key, left.wanted, left.why);
    }
    if let Some(keep) = &document.keep {
        out.push_str("Everything was put back. To have it until the next boot:\n");
        for words in keep {
            let _ = writeln!(out, "  {}", command(words));
        }
    }
    if !document.candidates.is_empty() {
        let _ = writeln!(
            out,
            "\nScreened by {} pairs of runs each, {} (p adjusted by Holm):",
            document.screening_pairs, document.goal
        );
    }
    let word = |c: &Screened| format!("{}={}", c.key, c.value);
    let width = document.candidates.iter().map(|c| word(c).chars().count()).max().unwrap_or(0);
    for candidate in &document.candidates {
        let _ = writeln!(out, "  {:width$}  {}", word(candidate), numbers(candidate));
    }
    out
}

fn sentence(document: &AutoDocument) -> String {
    let named = document.winner.map(|i| &document.candidates[i]);
    let named = named.map_or_else(String::new, |c| format!("{}={}", c.key, c.value));
    let found = document.confirmation.as_ref();
    let said = found.map_or_else(String::new, |c| c.sentence.clone());
    let id = found.map_or("", |c| c.experiment.as_str());
    match document.outcome {
        AutoOutcome::Helps => {
            format!("{named} helps, confirmed with fresh runs (experiment {id}): {said}.")
        }
        AutoOutcome::NothingHelps if named.is_empty() => {
            "Nothing here helps: no candidate gained enough to be worth confirming.".to_owned()
        }
        AutoOutcome::NothingHelps => format!(
            "Nothing here helps: {named} looked best, and fresh runs (experiment {id}) say: {said}."
        ),
        AutoOutcome::Undecided => {
            format!("Undecided: {named} looked best; fresh runs (experiment {id}) say: {said}.")
        }
        AutoOutcome::Invalid => {
            format!("{named} could not be confirmed (experiment {id}): {said}.")
        }
        AutoOutcome::NotMeasured => {
            let why = document.candidates.iter().find_map(|c| c.not_tried.as_deref());
            format!("Nothing could be measured: {}.", why.unwrap_or("no run gave a number"))
        }
        AutoOutcome::NothingToTry => {
            "Nothing here helps: this disk has no setting to try for this workload.".to_owned()
        }
        AutoOutcome::Interrupted => "Interrupted; everything was put back.".to_owned(),
    }
}

fn numbers(candidate: &Screened) -> String {
    let was = if candidate.was.is_empty() { "?" } else { &candidate.was };
    if let Some(why) = &candidate.not_tried {
        return format!("not measured: {why}");
    }
    let Some(percent) = candidate.percent else { return "not measured".to_owned() };
    let interval = candidate
        .interval95
        .map(|i| format!(" (95 % CI {}…{} %)", signed(i.low, 1), signed(i.high, 1)))
        .unwrap_or_default();
    let p = candidate.adjusted_p.map_or_else(String::new, |p| format!(", p {p:.2}"));
    format!("{} %{interval}{p}, was {was}", signed(percent, 1))
}
