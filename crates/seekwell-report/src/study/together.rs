//! Several targets, each alone and then all together: what is lost, and what they share.

use super::text::StudyText;
use crate::text::clean;
use crate::units::{iops, percent, rate};
use seekwell_inspect::Shared;
use seekwell_runs::together::{Comparison, Rate, Together};

pub(super) fn text(together: &Together) -> StudyText {
    let mut sentences: Vec<String> = together.workloads.iter().map(answer).collect();
    sentences.extend(together.workloads.iter().filter_map(cached));
    sentences.extend(together.shared.iter().map(|s| shared(together, s)));
    if together.shared.is_empty() {
        sentences.push("Nothing is known that they share but the processors.".to_owned());
    }
    let left_out = together.targets.iter().filter_map(|t| Some((&t.name, t.left_out.as_ref()?)));
    sentences.extend(left_out.map(|(name, why)| format!("{} is left out: {why}.", clean(name))));
    StudyText {
        title: "Alone and together".to_owned(),
        sentences,
        columns: ["workload", "target", "alone", "together", "share"].map(String::from).into(),
        words: 2,
        spare: 0,
        rows: together.workloads.iter().flat_map(rows).collect(),
        panels: Vec::new(),
    }
}

/// Large requests are shown in bytes a second, small ones in requests.
fn told(of: Rate) -> String {
    if of.bytes_per_s > 64.0 * 1024.0 * of.requests_per_s {
        format!("{} MB/s", rate(of.bytes_per_s))
    } else {
        format!("{} IOPS", iops(of.requests_per_s))
    }
}

fn share(together: Rate, alone: Rate) -> String {
    percent(together.bytes_per_s / alone.bytes_per_s)
}

fn answer(of: &Comparison) -> String {
    let title = clean(&of.title);
    let (first, rest) = title.split_at_checked(1).unwrap_or(("", &title));
    let title = first.to_uppercase() + rest;
    let rounds = of.rounds.len();
    let Some(e) = of.efficiency else {
        return format!(
            "{title}: too few rounds in which all ran ({rounds}) to compare them with each alone."
        );
    };
    let found = if e.is_less() {
        "together they reach less than the sum of the parts"
    } else if e.is_all() {
        "together they reach the sum of the parts"
    } else {
        "whether together they reach the sum of the parts is not certain"
    };
    format!(
        "{title}: {found}: {} of {}, {} ({} … {} with 95 % confidence, {rounds} rounds).",
        told(of.together),
        told(of.alone),
        percent(e.ratio),
        percent(e.low),
        percent(e.high),
    )
}

/// Where the numbers are a cache's.
fn cached(of: &Comparison) -> Option<String> {
    let reached = of.reached.filter(|reached| *reached < 0.9)?;
    let title = clean(&of.title);
    Some(format!(
        "{} of the bytes of “{title}” reached the device below; a cache served the rest.",
        percent(reached)
    ))
}

fn shared(together: &Together, part: &Shared) -> String {
    let names: Vec<String> = part.targets.iter().map(|t| clean(t)).collect();
    let through = together.workloads.iter().map(|of| of.through(part)).fold(0.0, f64::max);
    let carries = part.bytes_per_s.map_or_else(String::new, |most| {
        let of = percent(through / most);
        format!(
            ", which carries {} MB/s: {} MB/s went through it ({of})",
            rate(most),
            rate(through)
        )
    });
    format!("{} share the {}{carries}.", names.join(" and "), clean(&part.about))
}

fn rows(of: &Comparison) -> Vec<Vec<String>> {
    let row = |target: &str, alone: Rate, together: Rate| {
        let cells = [told(alone), told(together), share(together, alone)];
        [vec![clean(&of.workload), clean(target)], cells.into()].concat()
    };
    let parts = of.parts.iter().map(|part| row(&part.target, part.alone, part.together));
    let sum = (!of.parts.is_empty()).then(|| row("all", of.alone, of.together));
    parts.chain(sum).collect()
}
