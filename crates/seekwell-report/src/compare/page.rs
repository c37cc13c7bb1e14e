//! A comparison as the page shows it.

use super::rows::{Shown, change, columns, legend, notes, rows, setup, value, warnings, word};
use crate::sheet::{Banner, Course, Effect, Point, Setup, Sheet, band_of};
use crate::text::{capital, clean};
use seekwell_compare::{Against, Better, Comparison, Conclusion, MetricComparison, Rank, Role};

/// One sheet for each side after the first.
pub(crate) fn sheets(comparison: &Comparison) -> Vec<Sheet> {
    comparison.against.iter().map(|against| sheet(comparison, against)).collect()
}

fn sheet(comparison: &Comparison, against: &Against) -> Sheet {
    // The facts say what the letters stand for.
    let (names, _) = columns(against);
    let all = rows(against, Shown::All);
    let caveat = [clean(&against.caveat), legend(against, &all)];
    let caveat: Vec<String> = caveat.into_iter().filter(|text| !text.is_empty()).collect();
    Sheet {
        heading: clean(&against.heading),
        verdict: against.summary.iter().map(|s| capital(&clean(s))).collect(),
        claim: against.expectation.as_ref().map(|c| (c.holds, clean(&c.sentence))),
        banners: banners(comparison, against),
        facts: vec![
            ("A".into(), clean(&against.a)),
            ("B".into(), clean(&against.b)),
            ("Method".into(), clean(&comparison.method)),
        ],
        setup: against.setup.iter().map(difference).collect(),
        // What is said where there is no difference to list.
        setup_note: (!against.setup_known || against.setup.is_empty())
            .then(|| setup(against, Shown::All).last().cloned())
            .flatten()
            .map(sentence),
        effects: effects(against),
        caveat: caveat.join("; "),
        course: course(comparison, against, &names),
        names,
        blocks: None,
        checks: Vec::new(),
        shapes: Vec::new(),
        notes: notes(comparison, against),
    }
}

fn sentence(text: String) -> String {
    format!("{}.", capital(&text))
}

fn banners(comparison: &Comparison, against: &Against) -> Vec<Banner> {
    let told = warnings(comparison, against).into_iter();
    told.map(|(mark, text)| {
        let kind = match mark.chars().next() {
            Some('✕') => "error",
            Some('▲') => "warning",
            _ => "note",
        };
        Banner { kind, mark: mark.to_owned(), text }
    })
    .collect()
}

fn difference(d: &seekwell_compare::SetupDifference) -> Setup {
    let side = |v: &Option<String>| v.as_deref().map_or_else(|| "—".to_owned(), clean);
    let what = match &d.device {
        Some(device) => format!("{} of {device}", d.what),
        None => d.what.clone(),
    };
    Setup { what: clean(&what), a: side(&d.a), b: side(&d.b), matters: d.matters }
}

fn effects(against: &Against) -> Vec<Effect> {
    let metrics = &against.metrics;
    let several = metrics.iter().any(|m| m.group != metrics[0].group);
    metrics.iter().map(|metric| effect(metric, several)).collect()
}

fn effect(metric: &MetricComparison, several: bool) -> Effect {
    let bare = metric.title.is_empty();
    let title = if bare { &metric.group_title } else { &metric.title };
    let usual = metric.usual.as_ref();
    let judged = metric.better != Better::Neither;
    Effect {
        group: (several && !bare).then(|| clean(&metric.group_title)),
        title: clean(title),
        a: value(metric.a.median, &metric.unit),
        b: value(metric.b.median, &metric.unit),
        change: change(metric),
        word: word(metric),
        tone: tone(metric),
        main: metric.rank != Rank::Detail || metric.role == Role::Primary,
        percent: metric.change_percent,
        interval: metric.interval95_percent.map(|i| (i.low, i.high)),
        band: match usual {
            Some(usual) => Some(band_of(usual.band_percent / 100.0)),
            None => (judged && metric.interval95_percent.is_some())
                .then(|| band_of(metric.margin.fraction())),
        },
        band_is: if usual.is_some() { "usual" } else { "margin" },
    }
}

/// Faster and slower are better and worse. One run each is never either, nor is what is only to be
/// looked at.
fn tone(metric: &MetricComparison) -> &'static str {
    match metric.conclusion {
        _ if metric.role == Role::Exploratory => "open",
        Conclusion::Faster => "better",
        Conclusion::Slower => "worse",
        Conclusion::Equivalent => "same",
        _ => "open",
    }
}

/// The runs of the metric that decides, or of the first of which several runs are known.
fn course(comparison: &Comparison, against: &Against, names: &[String; 2]) -> Option<Course> {
    let metric = against
        .metrics
        .iter()
        .find(|m| m.role == Role::Primary)
        .or_else(|| against.metrics.iter().find(|m| m.rank == Rank::Headline))
        .filter(|m| m.a.n + m.b.n > 2)?;
    let mut points = Vec::new();
    for (side, (name, numbers)) in
        [(&against.a, &metric.a), (&against.b, &metric.b)].into_iter().enumerate()
    {
        let runs = comparison.sides.iter().find(|s| s.name == *name).map(|s| s.runs.as_slice());
        let runs = runs.unwrap_or(&[]);
        // Values are those of the newest runs, in order; where some run lacks one, no run can be
        // told from another.
        let known = runs.len() == numbers.values.len();
        points.extend(numbers.values.iter().enumerate().map(|(i, v)| {
            Point {
                side,
                value: Some(*v),
                text: value(*v, &metric.unit),
                started: runs
                    .get(i)
                    .filter(|_| known)
                    .and_then(|run| run.started_at.clone())
                    .unwrap_or_default(),
            }
        }));
    }
    let in_time = points.iter().all(|p| !p.started.is_empty());
    if in_time {
        points.sort_by(|x, y| x.started.cmp(&y.started));
    }
    let title = clean(&metric.full_title());
    let metric = format!("{title}, runs of {} and {}", names[0], names[1]);
    Some(Course { metric, points, block_runs: None, in_time })
}
