//! What follows from the runs: gates first, then one verdict.

use crate::conclusion::{Check, Checked, Conclusion, Decision, Exploratory};
use crate::design::Shape;
use crate::document::{Document, Run};
use crate::error::in_words;
use crate::resume::changes;
use crate::steady::{SHORTEST_JUDGED, judge};
use seekwell_inspect::diff::Change;
use seekwell_runs::Repeat;
use seekwell_runs::limits::PhaseLimit;
use seekwell_stats::{
    Arm, BLOCKS_PILOT, Block, Estimate, Gate, Interval, METHOD, Pair, Severity, Traffic, Verdict,
    estimate, gates, holm, percent, signed, verdict,
};

/// The complete blocks of a metric in time; `None` for one that lacks a value. A pair is a block
/// whose two runs stand for both of their arm, which has the same log ratio.
pub fn blocks(document: &Document, metric: &str) -> Vec<Option<Block>> {
    let size = document.design.shape.runs() as usize;
    let chunks = document.runs.chunks_exact(size);
    chunks.map(|runs| block(document, runs, metric)).collect()
}

fn block(document: &Document, runs: &[Run], metric: &str) -> Option<Block> {
    let order = document.design.order(runs.first()?.block);
    let of = |arm: Arm| -> Option<Vec<f64>> {
        let own = runs.iter().filter(|r| r.arm == arm);
        own.map(|r| r.values.get(metric).copied().filter(|_| r.invalid.is_none())).collect()
    };
    let (a, b) = (of(Arm::A)?, of(Arm::B)?);
    match (document.design.shape, a.as_slice(), b.as_slice()) {
        (Shape::Fours, [a0, a1], [b0, b1]) => Some(Block { order, a: [*a0, *a1], b: [*b0, *b1] }),
        (Shape::Pairs, [a], [b]) => Some(Block { order, a: [*a, *a], b: [*b, *b] }),
        _ => None,
    }
}

fn value(document: &Document, block: &Block) -> Option<f64> {
    match document.design.shape {
        Shape::Fours => block.value(),
        Shape::Pairs => Pair { order: block.order, a: block.a[0], b: block.b[0] }.value(),
    }
}

/// Log ratio of each complete block; `None` if it has none.
pub fn values(document: &Document, metric: &str) -> Vec<Option<f64>> {
    let of = |b: Option<Block>| b.and_then(|b| value(document, &b));
    blocks(document, metric).into_iter().map(of).collect()
}

/// Log ratios of the complete blocks that have one.
pub(crate) fn block_values(document: &Document, metric: &str) -> Vec<f64> {
    values(document, metric).into_iter().flatten().collect()
}

/// Gates and verdict of an experiment as far as it has come.
pub fn conclude(document: &Document) -> Conclusion {
    let design = &document.design;
    let checks = checks(document);
    let d = values(document, &design.metric);
    let whole: Vec<f64> = d.iter().copied().flatten().collect();
    let failed = checks.iter().find(|c| c.checked == Checked::Failed);
    let (decision, sentence, verdict) = match (&document.invalid, failed) {
        (Some(why), _) => (Decision::Invalid, invalid(why), None),
        (None, Some(check)) => (Decision::Invalid, invalid(&check.text), None),
        (None, None) => decide(document, verdict(&whole, design.margin, design.better)),
    };
    let claim_holds = document.expect.map(|claim| verdict.as_ref().is_some_and(|v| claim.is(v)));
    Conclusion {
        method: METHOD.to_owned(),
        decision,
        sentence,
        limit: limit(document, decision),
        verdict,
        estimate: estimate(&whole),
        d,
        checks,
        exploratory: exploratory(document),
        claim_holds,
    }
}

/// What limited the arms, where all runs of each say the same.
fn limit(document: &Document, decision: Decision) -> Option<String> {
    let of = |arm: Arm| {
        let mut all = document.runs.iter().filter(|r| r.arm == arm).map(|r| r.limit.as_ref());
        let first = all.next()??;
        let same = |limit: Option<&PhaseLimit>| limit.is_some_and(|limit| limit.by == first.by);
        (first.is_known() && all.all(same)).then_some((first.by, first.name.as_str()))
    };
    let ((a, before), (b, after)) = (of(Arm::A)?, of(Arm::B)?);
    if decision == Decision::Invalid {
        return None;
    }
    Some(if a != b {
        format!("The change moved the limit from {before} to {after}.")
    } else if before != after {
        format!("A is limited by {before}, B by {after}.")
    } else {
        format!("Both arms are limited by {after}.")
    })
}

fn invalid(why: &str) -> String {
    format!("invalid, because {why}")
}

/// The verdict as an answer. Of two arms that are the same it is never said that one is faster:
/// where the numbers say so, chance (one time in twenty) or the machine has failed the test.
fn decide(document: &Document, verdict: Verdict) -> (Decision, String, Option<Verdict>) {
    let sentence = verdict.to_string();
    match &verdict {
        Verdict::Faster { percent, low, high, below_margin, margin, sample }
        | Verdict::Slower { percent, low, high, below_margin, margin, sample }
            if document.design.aa =>
        {
            if *below_margin {
                let sentence = format!(
                    "no difference within {margin} (95 % CI {}…{} %), {sample}",
                    signed(*low, 2),
                    signed(*high, 2)
                );
                return (Decision::Decided, sentence, Some(verdict));
            }
            let why = format!(
                "the same thing measured as both arms came out {} % apart (95 % CI {}…{} %), \
                 {sample}; chance does that once in twenty times: repeat this self-test, and do \
                 not trust this machine's results if it happens again",
                signed(*percent, 1),
                signed(*low, 1),
                signed(*high, 1)
            );
            (Decision::Invalid, invalid(&why), Some(verdict))
        }
        Verdict::Invalid { .. } => (Decision::Invalid, sentence, Some(verdict)),
        v if v.is_decided() => (Decision::Decided, sentence, Some(verdict)),
        _ => (Decision::Undecided, sentence, Some(verdict)),
    }
}

fn checks(document: &Document) -> Vec<Check> {
    let mut all =
        vec![errors(document), condition(document), environment(document), enough(document)];
    all.extend(others(document));
    all.extend(of_blocks(document));
    all.push(steady(document));
    all.extend(sessions(document));
    all.extend(skewed(document));
    all
}

fn check(name: &str, checked: Checked, text: impl Into<String>) -> Check {
    Check { name: name.to_owned(), checked, text: text.into(), gate: None }
}

fn closed(name: &str, gate: Gate) -> Check {
    let checked = match gate.severity() {
        Severity::Warning => Checked::Warning,
        Severity::Invalid => Checked::Failed,
    };
    Check { name: name.to_owned(), checked, text: gate.to_string(), gate: Some(gate) }
}

fn errors(document: &Document) -> Check {
    let count: u64 = document.runs.iter().map(|r| r.failed).sum();
    if count > 0 {
        return closed("errors", Gate::Errors { count });
    }
    let spoilt = |r: &&Run| r.condition.trouble.is_none();
    let bad =
        document.runs.iter().filter(spoilt).find_map(|r| Some((r.index, r.invalid.as_ref()?)));
    match bad {
        Some((index, why)) => {
            check("errors", Checked::Failed, format!("run {} is not valid: {why}", index + 1))
        }
        None => check("errors", Checked::Passed, "no request failed, every run is valid"),
    }
}

/// Whether machine and disk behaved normally during every run.
fn condition(document: &Document) -> Check {
    let spoilt = document.runs.iter().find_map(|r| Some((r.index, r.condition.trouble.as_ref()?)));
    if let Some((index, why)) = spoilt {
        return closed("condition", Gate::Throttled { what: format!("run {}, {why}", index + 1) });
    }
    if document.runs.iter().all(|r| r.condition.is_blind()) {
        let text = "this machine does not report whether disk or CPU are too hot or throttled";
        return check("condition", Checked::NotJudged, text);
    }
    let text = "neither disk nor CPU was too hot or throttled, and no error counter grew";
    check("condition", Checked::Passed, text)
}

/// How much of the processors other programs had during the runs, if that is known.
fn others(document: &Document) -> Option<Check> {
    let share = |r: &Run| r.condition.other_programs_percent;
    let shares = document.runs.iter().filter_map(|r| Some((share(r)?, r.index)));
    let (most, index) = shares.reduce(|x, y| if y.0 > x.0 { y } else { x })?;
    if most < Repeat::OTHERS_MATTER {
        let text = format!("other programs had at most {most:.0} % of all processors");
        return Some(check("other-programs", Checked::Passed, text));
    }
    let mean = |arm: Arm| {
        let own = document.runs.iter().filter(|r| r.arm == arm).filter_map(share);
        let (sum, runs) = own.fold((0.0, 0.0), |(sum, runs), x| (sum + x, runs + 1.0));
        sum / f64::max(runs, 1.0)
    };
    let text = format!(
        "other programs had up to {most:.0} % of all processors (run {}), on average {:.0} % in \
         runs of A and {:.0} % in runs of B: stop them and measure again",
        index + 1,
        mean(Arm::A),
        mean(Arm::B)
    );
    Some(check("other-programs", Checked::Warning, text))
}

/// Whether the target was the same in all sessions of a mode, before and after.
fn environment(document: &Document) -> Check {
    let mut found: Vec<Change> = Vec::new();
    for (i, session) in document.sessions.iter().enumerate() {
        found.extend(session.after.iter().flat_map(|after| changes(&session.before, after)));
        let same = document.sessions[..i].iter().find(|s| s.mode == session.mode);
        found.extend(same.into_iter().flat_map(|s| changes(&s.before, &session.before)));
    }
    found.dedup();
    if found.is_empty() {
        let text = "the target was attached and set up the same before and after";
        return check("environment", Checked::Passed, text);
    }
    closed("environment", Gate::EnvironmentChanged { what: in_words(&found) })
}

fn enough(document: &Document) -> Check {
    let have = document.complete_blocks();
    match document.planned_blocks {
        Some(planned) if have >= planned => {
            check("blocks", Checked::Passed, format!("all {planned} planned blocks are complete"))
        }
        _ if have < BLOCKS_PILOT => closed("blocks", Gate::TooFewBlocks { have }),
        _ => check("blocks", Checked::Warning, format!("{have} blocks, fewer than planned")),
    }
}

/// What the blocks themselves show.
fn of_blocks(document: &Document) -> Vec<Check> {
    let blocks: Vec<Block> =
        blocks(document, &document.design.metric).into_iter().flatten().collect();
    let pairs = document.design.shape == Shape::Pairs;
    let found = gates(&blocks, document.design.margin);
    let pick = |wanted: fn(&Gate) -> bool| found.iter().find(|g| wanted(g)).cloned();
    let one = |name: &str, gate: Option<Gate>, fine: &str| {
        gate.map_or_else(|| check(name, Checked::Passed, fine), |gate| closed(name, gate))
    };
    let mut all = vec![
        one(
            "trend",
            pick(|g| matches!(g, Gate::Trend(_) | Gate::NotANumber { .. })),
            "the difference did not drift during the experiment",
        ),
        one(
            "neighbours",
            pick(|g| matches!(g, Gate::Autocorrelated { .. })),
            "neighbouring blocks do not resemble each other",
        ),
    ];
    if !pairs {
        all.push(one(
            "carry-over",
            pick(|g| matches!(g, Gate::CarryOver(_))),
            "no arm depends on which arm ran before",
        ));
    }
    all
}

fn steady(document: &Document) -> Check {
    let mut judged = 0;
    for arm in [Arm::A, Arm::B] {
        let options = &document.arm(arm).job;
        let traffic = if options.writes() { Traffic::Writes } else { Traffic::Reads };
        let Some(found) = judge(&document.runs, arm, traffic) else { continue };
        judged += 1;
        if !found.settled {
            let run = document.runs.iter().find(|r| r.arm == arm).map_or(0, |r| r.index);
            let mut check = closed("steady", Gate::NotSteady { run });
            check.text = format!(
                "the runs of {arm:?} do not settle: over them the rate moves by {:.1} % and is up \
                 to {:.1} % from its mean; let them settle first with --ramp_time",
                found.excursion * 100.0,
                found.deviation * 100.0
            );
            return check;
        }
    }
    if judged == 2 {
        return check("steady", Checked::Passed, "the rate is steady within the runs of both arms");
    }
    let text =
        format!("runs below {SHORTEST_JUDGED} are too short to see whether the disk settles");
    check("steady", Checked::NotJudged, text)
}

fn sessions(document: &Document) -> Option<Check> {
    let (sessions, gone) = (document.sessions.len(), document.discarded.len());
    if document.design.reboot_between || sessions < 2 {
        return None;
    }
    let mut boots: Vec<&str> = document.sessions.iter().map(|s| s.boot_id.as_str()).collect();
    boots.sort_unstable();
    boots.dedup();
    let rebooted = if boots.len() > 1 { ", with a reboot in between" } else { "" };
    let text = format!(
        "made in {sessions} sessions{rebooted}; {gone} runs of interrupted blocks do not count"
    );
    let checked = if boots.len() > 1 { Checked::Warning } else { Checked::Passed };
    Some(check("sessions", checked, text))
}

fn skewed(document: &Document) -> Option<Check> {
    let skew = estimate(&block_values(document, &document.design.metric))?.skew?;
    let text = format!(
        "a few blocks skew the mean: typical block {} %, mean {} %",
        signed(skew.typical, 1),
        signed(skew.mean, 1)
    );
    Some(check("skew", Checked::Warning, text))
}

/// The metrics that every run has, beside the one of the verdict.
fn exploratory(document: &Document) -> Vec<Exploratory> {
    let design = &document.design;
    let Some(first) = document.runs.first() else { return Vec::new() };
    let wanted = |name: &&String| {
        **name != design.metric && !name.ends_with("_max") && *name != "device_share"
    };
    let found: Vec<(String, Estimate)> = first
        .values
        .keys()
        .filter(wanted)
        .filter_map(|name| {
            let d: Option<Vec<f64>> = values(document, name).into_iter().collect();
            Some((name.clone(), estimate(&d?)?))
        })
        .collect();
    let tests: Vec<(usize, f64)> = found.iter().enumerate().map(|(i, (_, e))| (i, e.p)).collect();
    holm(&tests)
        .into_iter()
        .map(|adjusted| {
            let (metric, e) = &found[adjusted.name];
            Exploratory {
                metric: metric.clone(),
                percent: percent(e.centre),
                interval95: e.interval95.map(Interval::percent),
                adjusted_p: adjusted.adjusted,
            }
        })
        .collect()
}
