//! The numbers of both sides, metric by metric, and what may be concluded of each.

use super::bands;
use super::pair::Pair;
use crate::document::{Conclusion, MetricComparison, Numbers, Role, Usual};
use crate::model::{Better, Class, Group, Rank, Side, Value};
use seekwell_stats::{self as stats, Design, Margin, Verdict};

/// Values of every metric that both sides have, in the order of A, not judged yet.
pub(super) fn numbers(a: &Side, b: &Side, pairs: &[Pair]) -> Vec<MetricComparison> {
    let mut out = Vec::new();
    for pair in pairs {
        let (of_a, of_b) = (groups(a, &pair.a), groups(b, &pair.b));
        let Some(first) = of_a.first() else { continue };
        let mut names: Vec<&str> = Vec::new();
        for value in of_a.iter().flat_map(|g| &g.values) {
            if !names.contains(&value.metric.as_str()) {
                names.push(&value.metric);
            }
        }
        let mut found: Vec<MetricComparison> =
            names.into_iter().filter_map(|name| metric(first, name, &of_a, &of_b)).collect();
        found.sort_by_key(|m| m.rank);
        out.extend(found);
    }
    out
}

fn groups<'a>(side: &'a Side, name: &str) -> Vec<&'a Group> {
    side.runs.iter().filter_map(|r| r.groups.iter().find(|g| g.name == name)).collect()
}

fn metric(group: &Group, name: &str, of_a: &[&Group], of_b: &[&Group]) -> Option<MetricComparison> {
    let values = |groups: &[&Group]| -> Vec<f64> {
        groups.iter().filter_map(|g| Some(g.value(name)?.value)).collect()
    };
    let known = of_a.iter().find_map(|g| g.value(name))?;
    let (a, b) = (values(of_a), values(of_b));
    let other = of_b.iter().find_map(|g| g.value(name))?;
    let invalid = of_a.iter().chain(of_b).find_map(|g| g.invalid.clone());
    let one_each = a.len() == 1 && b.len() == 1;
    let change = change(&a, &b);
    Some(MetricComparison {
        group: group.name.clone(),
        group_title: group.title.clone(),
        metric: name.to_owned(),
        title: known.title.clone(),
        family: known.family.clone(),
        unit: known.unit.clone(),
        better: known.better,
        class: known.class,
        rank: known.rank,
        a: summed(a)?,
        b: summed(b)?,
        change_percent: change,
        interval95_percent: None,
        p: None,
        p_adjusted: None,
        role: Role::Exploratory,
        margin: margin_of(known.class),
        verdict: None,
        conclusion: if invalid.is_some() { Conclusion::Invalid } else { Conclusion::NotJudged },
        sentence: invalid.map(|why| format!("invalid, because {why}")).unwrap_or_default(),
        usual: change.filter(|_| one_each).and_then(|c| usual(c, known, other)),
    })
}

/// Change of the medians in percent of A, where a ratio has a meaning.
fn change(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (median(a)?, median(b)?);
    let change = (b / a - 1.0) * 100.0;
    (a > 0.0 && b >= 0.0 && change.is_finite()).then_some(change)
}

fn median(values: &[f64]) -> Option<f64> {
    seekwell_runs::Spread::of(values).map(|s| s.median)
}

fn summed(values: Vec<f64>) -> Option<Numbers> {
    let spread = seekwell_runs::Spread::of(&values)?;
    let (median, low, high) = (spread.median, spread.low, spread.high);
    Some(Numbers { n: values.len(), median, low, high, values })
}

fn usual(change: f64, a: &Value, b: &Value) -> Option<Usual> {
    let band = bands::band(a.class)?;
    // Repeats inside the runs that reach into each other are not apart, whatever the medians say.
    let apart = match (a.repeats, b.repeats) {
        (Some((low_a, high_a)), Some((low_b, high_b))) => high_a < low_b || high_b < low_a,
        _ => true,
    };
    let beyond = apart && bands::beyond(change, band);
    Some(Usual { band_percent: band * 100.0, basis: bands::BASIS.into(), beyond })
}

/// ±5 % for latencies, whose quantiles scatter more; ±2 % for all else.
fn margin_of(class: Class) -> Margin {
    match class {
        Class::TailLatency | Class::TypicalLatency | Class::Maximum => Margin::P99,
        _ => Margin::THROUGHPUT,
    }
}

/// Gives every metric its role, its verdict and its sentence; `name` is the name of B.
pub(super) fn judge(
    metrics: &mut [MetricComparison],
    primary: Option<usize>,
    margin: Option<Margin>,
    name: &str,
) {
    for (i, metric) in metrics.iter_mut().enumerate() {
        metric.role = match () {
            () if Some(i) == primary => Role::Primary,
            () if metric.rank == Rank::Headline && metric.better != Better::Neither => {
                Role::Adjusted
            }
            () => Role::Exploratory,
        };
        metric.margin = margin.unwrap_or(metric.margin);
        if metric.conclusion != Conclusion::Invalid {
            test(metric);
        }
    }
    adjust(metrics);
    for metric in metrics.iter_mut().filter(|m| m.sentence.is_empty()) {
        metric.sentence = sentence(metric, name);
    }
}

fn test(metric: &mut MetricComparison) {
    let better = match metric.better {
        Better::Higher => stats::Better::Higher,
        Better::Lower => stats::Better::Lower,
        Better::Neither => return,
    };
    let Some(found) =
        stats::compare_groups(&metric.a.values, &metric.b.values, metric.margin, better)
    else {
        return;
    };
    metric.conclusion = match &found.verdict {
        Verdict::Faster { .. } => Conclusion::Faster,
        Verdict::Slower { .. } => Conclusion::Slower,
        Verdict::Equivalent { .. } => Conclusion::Equivalent,
        Verdict::Undecided { .. } => Conclusion::Undecided,
        Verdict::Invalid { .. } => Conclusion::Invalid,
        Verdict::TooFew { .. } if found.design == Design::OneEach => Conclusion::OneEach,
        Verdict::TooFew { .. } => Conclusion::TooFew,
    };
    metric.change_percent = found.percent.filter(|p| p.is_finite()).or(metric.change_percent);
    metric.interval95_percent =
        found.interval95.filter(|i| i.low.is_finite() && i.high.is_finite());
    metric.p = found.p;
    metric.verdict = Some(found.verdict);
}

/// Holm's adjustment over the headlines that are not the primary metric. A verdict that does not
/// stand beside the others is taken back.
fn adjust(metrics: &mut [MetricComparison]) {
    let tests: Vec<(usize, f64)> = metrics
        .iter()
        .enumerate()
        .filter(|(_, m)| m.role == Role::Adjusted)
        .filter_map(|(i, m)| Some((i, m.p?)))
        .collect();
    for found in stats::holm(&tests) {
        let metric = &mut metrics[found.name];
        metric.p_adjusted = Some(found.adjusted);
        let shown = matches!(metric.conclusion, Conclusion::Faster | Conclusion::Slower);
        if shown && found.adjusted > 0.05 {
            metric.conclusion = Conclusion::Undecided;
            metric.sentence = format!(
                "undecided: significant by itself, but not among {} metrics (p {:.3}, adjusted \
                 {:.3})",
                tests.len(),
                found.p,
                found.adjusted
            );
        }
    }
}

fn sentence(metric: &MetricComparison, name: &str) -> String {
    let Some(verdict) = &metric.verdict else {
        return "not judged: it only explains other metrics".to_owned();
    };
    let text = verdict.to_string();
    match text.strip_prefix("B is ") {
        Some(rest) => format!("{name} is {rest}"),
        None => text,
    }
}

/// Takes the verdict back: the workloads differ.
pub(super) fn disqualify(metric: &mut MetricComparison) {
    if metric.conclusion == Conclusion::NotJudged {
        return;
    }
    metric.conclusion = Conclusion::Invalid;
    metric.verdict = None;
    metric.usual = None;
    metric.sentence = "no verdict: the workloads are not the same".to_owned();
}

/// Whether a change beyond the margin is ruled out, be there a smaller one or none.
pub(super) fn within_margin(metric: &MetricComparison) -> bool {
    let below = matches!(
        metric.verdict,
        Some(
            Verdict::Faster { below_margin: true, .. } | Verdict::Slower { below_margin: true, .. }
        )
    );
    let judged = matches!(metric.conclusion, Conclusion::Faster | Conclusion::Slower);
    metric.conclusion == Conclusion::Equivalent || (judged && below)
}
