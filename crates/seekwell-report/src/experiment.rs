//! An experiment as the page shows it.

use crate::compare::{change_text, metric_value};
use crate::sheet::{Banner, Blocks, Course, Effect, Point, Setup, Sheet, band_of};
use crate::text::{capital, clean, when};
use seekwell_experiment::{
    ArmSpec, Checked, Claim, Conclusion, Decision, Document, Exploratory, Run, Shape, Status,
    better, default_margin, text, values,
};
use seekwell_stats::{Arm, Better, Verdict, percent};

/// The one sheet of an experiment; `state` is how it stands, if that is known.
pub(crate) fn sheet(document: &Document, state: Option<&str>) -> Sheet {
    let (a, b) = (&document.a, &document.b);
    let [label_a, label_b] = [a.label(b), b.label(a)].map(|l| clean(&l));
    let conclusion = document.conclusion.as_ref();
    let what = if document.design.aa { "Self-test" } else { "Experiment" };
    let heading = format!("{what} on {}: {label_b} against {label_a}", clean(&document.target));
    let verdict = match conclusion {
        Some(conclusion) => capital(&format!("{}.", clean(&conclusion.sentence))),
        None => clean(&text::unfinished(document)),
    };
    let limit = conclusion.and_then(|conclusion| conclusion.limit.as_deref()).map(clean);
    let setup = differences(a, b);
    let none = "Nothing: both arms are the same.".to_owned();
    Sheet {
        heading,
        verdict: [verdict].into_iter().chain(limit).collect(),
        claim: claim(document),
        banners: banners(document, state),
        facts: facts(document, [&label_a, &label_b]),
        names: ["A", "B"].map(str::to_owned),
        setup_note: setup.is_empty().then_some(none),
        setup,
        effects: effects(document),
        caveat: format!(
            "Runs in turn, in {}; medians of the runs of each arm; change with its 95 % interval. \
             The verdict is on {}; the other metrics are for orientation, in brackets",
            match document.design.shape {
                Shape::Fours => "blocks of four whose order a seeded coin decided",
                Shape::Pairs => "pairs whose order a seeded coin decided",
            },
            title(document, &document.design.metric)
        ),
        course: course(document),
        blocks: blocks(document),
        checks: conclusion.map(checks).unwrap_or_default(),
        shapes: Vec::new(),
        notes: vec![format!("Made again by: {}", clean(&text::command(&document.command)))],
    }
}

fn claim(document: &Document) -> Option<(bool, String)> {
    let holds = document.conclusion.as_ref()?.claim_holds?;
    let claim = match document.expect? {
        Claim::Faster => "B is faster",
        Claim::Slower => "B is slower",
        Claim::Equivalent => "no difference beyond the margin",
    };
    let verb = if holds { "holds" } else { "is not shown" };
    Some((holds, format!("What was expected ({claim}) {verb}.")))
}

fn banners(document: &Document, state: Option<&str>) -> Vec<Banner> {
    let mut out = Vec::new();
    let mut add = |kind, mark: &str, text: &str| {
        out.push(Banner { kind, mark: mark.to_owned(), text: clean(text) });
    };
    for left in &document.not_restored {
        let text = format!("{} to {}: {}", left.key, left.wanted, left.why);
        add("error", "✕ NOT PUT BACK", &text);
    }
    if document.conclusion.as_ref().is_some_and(|c| c.decision == Decision::Invalid) {
        add("error", "✕ INVALID", "No verdict follows from these numbers.");
    }
    let unfinished = match document.status {
        Status::Running if state == Some("running") => {
            add("note", "● RUNNING", "Its verdict is given when all blocks are made, not before.");
            return out;
        }
        Status::Running if state == Some("killed") => "This experiment was killed; it can go on.",
        Status::Running => "This experiment is not finished, or was killed.",
        Status::Waiting => "This experiment waits for a reboot into the other mode.",
        Status::Interrupted => "This experiment was stopped; it can go on.",
        Status::Complete | Status::Invalid => return out,
    };
    add("warning", "▲ INCOMPLETE", unfinished);
    out
}

fn facts(document: &Document, [label_a, label_b]: [&String; 2]) -> Vec<(String, String)> {
    let design = &document.design;
    let planned = document.planned_blocks.map_or_else(String::new, |n| format!(" of {n}"));
    let blocks = format!("{}{planned}, {} runs", document.complete_blocks(), document.runs.len());
    let words = |arm: &ArmSpec| {
        let words = arm.job.words().into_iter().map(|(key, value)| format!("{key}={value}"));
        words.collect::<Vec<_>>()
    };
    let other = words(&document.b);
    let both: Vec<String> =
        words(&document.a).into_iter().filter(|word| other.contains(word)).collect();
    let facts = [
        ("A", label_a.clone()),
        ("B", label_b.clone()),
        ("Both", both.join(" ")),
        ("Target", document.target.clone()),
        ("Metric", format!("{}, margin {}", design.metric, design.margin)),
        ("Blocks", blocks),
        ("Seed", design.seed.to_string()),
        ("Started", when(&document.started_at)),
        ("Program", format!("seekwell {}", document.tool.version)),
        ("Experiment", document.id.clone()),
    ];
    facts.into_iter().map(|(term, text)| (term.to_owned(), clean(&text))).collect()
}

fn differences(a: &ArmSpec, b: &ArmSpec) -> Vec<Setup> {
    let all = |arm: &ArmSpec| -> Vec<(String, String)> {
        let words = arm.job.words().into_iter().map(|(k, v)| (k.to_owned(), v));
        let settings = arm.settings.iter().map(|s| (s.key.clone(), s.value.clone()));
        let command = arm.command.iter().map(|c| ("command".to_owned(), c.clone()));
        let mode = arm.mode.iter().map(|m| ("mode".to_owned(), m.clone()));
        mode.chain(settings).chain(words).chain(command).collect()
    };
    let (a, b) = (all(a), all(b));
    let mut keys: Vec<&String> = a.iter().chain(&b).map(|(key, _)| key).collect();
    let mut seen = std::collections::BTreeSet::new();
    keys.retain(|key| seen.insert(*key));
    let find = |side: &[(String, String)], key: &str| {
        let found = side.iter().find(|(k, _)| k == key);
        found.map_or_else(|| "as it is".to_owned(), |(_, value)| clean(value))
    };
    let rows = keys.into_iter().map(|key| (clean(key), find(&a, key), find(&b, key)));
    let differ = rows.filter(|(_, a, b)| a != b);
    differ.map(|(what, a, b)| Setup { what, a, b, matters: true }).collect()
}

fn title(document: &Document, metric: &str) -> String {
    let workload = document.a.job.workload(u64::MAX, true, 0);
    seekwell_compare::metric_title(metric, &workload.into()).unwrap_or_else(|| clean(metric))
}

/// The runs of an arm that gave a number, and their middle.
fn middle(document: &Document, arm: Arm, metric: &str) -> String {
    let runs = document.runs.iter().filter(|r| r.arm == arm && r.invalid.is_none());
    let mut all: Vec<f64> = runs.filter_map(|r| r.values.get(metric).copied()).collect();
    all.sort_by(f64::total_cmp);
    let (half, odd) = (all.len() / 2, all.len() % 2 == 1);
    let value = match (all.is_empty(), odd) {
        (true, _) => return crate::rows::NONE.to_owned(),
        (_, true) => all[half],
        (_, false) => (all[half - 1] + all[half]) / 2.0,
    };
    metric_value(metric, value)
}

fn effects(document: &Document) -> Vec<Effect> {
    let Some(conclusion) = &document.conclusion else { return Vec::new() };
    let design = &document.design;
    let mut out = Vec::new();
    if let Some(estimate) = &conclusion.estimate {
        let interval = estimate.interval95.map(|i| (i.percent().low, i.percent().high));
        let change = percent(estimate.centre);
        let (word, tone) = verdict(conclusion);
        out.push(Effect {
            group: None,
            title: title(document, &design.metric),
            a: middle(document, Arm::A, &design.metric),
            b: middle(document, Arm::B, &design.metric),
            change: change_text(change, interval),
            word: word.to_owned(),
            tone,
            main: true,
            percent: Some(change),
            interval,
            band: Some(band_of(design.margin.fraction())),
            band_is: "margin",
        });
    }
    out.extend(conclusion.exploratory.iter().map(|e| explored(document, e)));
    out
}

fn verdict(conclusion: &Conclusion) -> (&'static str, &'static str) {
    match (conclusion.decision, &conclusion.verdict) {
        (Decision::Invalid, _) => ("invalid", "open"),
        (Decision::Decided, Some(Verdict::Faster { .. })) => ("faster", "better"),
        (Decision::Decided, Some(Verdict::Slower { .. })) => ("slower", "worse"),
        (Decision::Decided, Some(Verdict::Equivalent { .. })) => ("no difference", "same"),
        _ => ("undecided", "open"),
    }
}

fn explored(document: &Document, e: &Exploratory) -> Effect {
    let interval = e.interval95.map(|i| (i.low, i.high));
    let apart = e.adjusted_p < 0.05;
    let improved = (e.percent > 0.0) == (better(&e.metric) == Better::Higher);
    let word = match (apart, improved) {
        (false, _) => "(undecided)",
        (true, true) => "(better)",
        (true, false) => "(worse)",
    };
    Effect {
        group: None,
        title: title(document, &e.metric),
        a: middle(document, Arm::A, &e.metric),
        b: middle(document, Arm::B, &e.metric),
        change: change_text(e.percent, interval),
        word: word.to_owned(),
        tone: "open",
        main: false,
        percent: Some(e.percent),
        interval,
        band: Some(band_of(default_margin(&e.metric).fraction())),
        band_is: "margin",
    }
}

/// The runs in time; like the blocks, once there is a conclusion.
fn course(document: &Document) -> Option<Course> {
    document.conclusion.as_ref()?;
    let metric = &document.design.metric;
    let point = |run: &Run| {
        let value = run.values.get(metric).copied().filter(|_| run.invalid.is_none());
        let text = match (&run.invalid, value) {
            (Some(why), _) => clean(why),
            (None, Some(value)) => metric_value(metric, value),
            (None, None) => crate::rows::NONE.to_owned(),
        };
        let side = usize::from(run.arm == Arm::B);
        Point { side, value, text, started: run.started_at.clone() }
    };
    (!document.runs.is_empty()).then(|| Course {
        metric: title(document, metric),
        points: document.runs.iter().map(point).collect(),
        block_runs: Some(document.design.shape.runs()),
        in_time: true,
    })
}

/// The changes of blocks; only once there is a conclusion, so that the experiment is not stopped
/// early.
fn blocks(document: &Document) -> Option<Blocks> {
    let conclusion = document.conclusion.as_ref()?;
    let each = values(document, &document.design.metric);
    let estimate = conclusion.estimate.as_ref();
    Some(Blocks {
        each: each
            .into_iter()
            .enumerate()
            .map(|(i, d)| (document.design.order_text(i as u32), d.map(percent)))
            .collect(),
        interval: estimate.and_then(|e| e.interval95).map(|i| (i.percent().low, i.percent().high)),
        margin: band_of(document.design.margin.fraction()),
    })
}

fn checks(conclusion: &Conclusion) -> Vec<(String, String)> {
    let word = |checked| match checked {
        Checked::Passed => "✓ passed",
        Checked::Warning => "▲ warning",
        Checked::Failed => "✕ failed",
        Checked::NotJudged => "– not judged",
    };
    let all = conclusion.checks.iter();
    all.map(|c| (word(c.checked).to_owned(), clean(&c.text))).collect()
}
