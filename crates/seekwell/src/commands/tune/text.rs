//! Documents of `seekwell tune` for people.

use seekwell_experiment::text::command;
use seekwell_io::units::{Nanos, three_digits};
use seekwell_run::tuning::{IocostDocument, Measured};
use seekwell_stats::signed;
use seekwell_tune::Plan;
use seekwell_tune::apply::Difference;
use seekwell_tune::conflict::Other;
use seekwell_tune::journal::Phase;
use seekwell_tune::trial::{Begun, Kept, TrialStatus, Undone};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A span as a person would say it.
fn span(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{:.1} s", ms as f64 / 1e3),
        10_000..180_000 => format!("{} s", ms / 1000),
        _ => format!("{} min", ms / 60_000),
    }
}

/// Rows of `key  was → is`, the keys in one column.
fn rows(out: &mut String, differences: &[Difference]) {
    let width = differences.iter().map(|d| d.key.len()).max().unwrap_or(0);
    for d in differences {
        let was = if d.was.is_empty() { "(new)" } else { &d.was };
        let _ = writeln!(out, "  {:width$}  {was} → {}", d.key, d.is);
    }
}

fn other_rows(out: &mut String, others: &[Other]) {
    if !others.is_empty() {
        out.push_str("Set elsewhere too, which may win later:\n");
    }
    for other in others {
        let _ = writeln!(out, "  {} ({}): {}", other.who, other.from, other.says);
    }
}

pub fn begun_text(begun: &Begun, target: &Path) -> String {
    let mut out = format!("{}: set and read back\n", begun.disk.name);
    rows(&mut out, &begun.changed);
    if !begun.side_effects.is_empty() {
        out.push_str("Changed with it:\n");
        rows(&mut out, &begun.side_effects);
    }
    other_rows(&mut out, &begun.others);
    let target = target.display();
    let _ = writeln!(
        out,
        "Put back by itself in {}, unless you say\n  seekwell tune keep {target}\nTo put it back \
         now:\n  seekwell tune undo {target}",
        span(begun.for_ms)
    );
    out
}

pub fn kept_text(kept: &Kept) -> String {
    let until = if kept.rule.is_some() { "and after every boot" } else { "until the next boot" };
    let mut out = format!("{}: kept {until}\n", kept.disk.name);
    rows(&mut out, &kept.changed);
    if let Some(rule) = &kept.rule {
        let _ = writeln!(out, "The rule is {}", rule.display());
    }
    other_rows(&mut out, &kept.others);
    out
}

/// What was put back.
pub fn undone_text(undone: &Undone) -> String {
    let outcome = &undone.outcome;
    let mut out = String::new();
    if undone.gone {
        let _ = writeln!(
            out,
            "{}: the disk is gone; its trial is cleared, and nothing was written",
            undone.disk.name
        );
    } else if outcome.complete() {
        let _ = writeln!(out, "{}: everything is as it was", undone.disk.name);
    } else {
        let _ = writeln!(out, "{}: not everything could be put back", undone.disk.name);
    }
    if !outcome.restored.is_empty() {
        let _ = writeln!(out, "  put back and read back: {}", outcome.restored.join(", "));
    }
    for left in &outcome.left {
        let _ = writeln!(out, "  {} should be {}: {}", left.key, left.wanted, left.error);
    }
    if !outcome.left.is_empty() {
        out.push_str("  Nothing of it survives a reboot, which is the last way to put it back.\n");
    }
    if !outcome.foreign.is_empty() {
        out.push_str("Changed by someone else in the meantime, and left alone:\n");
        rows(&mut out, &outcome.foreign);
    }
    if let Some(rule) = &undone.rule_removed {
        let _ = writeln!(out, "Removed {}", rule.display());
    }
    for note in &undone.notes {
        let _ = writeln!(out, "  {note}");
    }
    out
}

/// Every trial there is word of.
pub fn status_text(all: &[TrialStatus], rules: &[PathBuf]) -> String {
    let mut out = String::new();
    if all.is_empty() {
        out.push_str("Nothing was tried since the last boot.\n");
    }
    for trial in all {
        let name = &trial.disk.name;
        let _ = match (trial.phase, trial.guarded, trial.gone) {
            (Phase::Ended, ..) if trial.left.is_empty() => writeln!(out, "{name}: as it was"),
            (.., true) => {
                writeln!(out, "{name}: the disk is gone; `seekwell tune undo` clears its trial")
            }
            (Phase::Trying, true, _) => match trial.remaining_ms {
                Some(left) => writeln!(out, "{name}: on trial, put back in {}", span(left)),
                None => writeln!(out, "{name}: on trial, and its guard does not answer now"),
            },
            (Phase::Applying | Phase::RollingBack, true, _) => {
                writeln!(out, "{name}: being changed")
            }
            (Phase::Kept, ..) if trial.rule.is_some() => {
                writeln!(out, "{name}: kept, and set again after every boot")
            }
            (Phase::Kept, ..) => writeln!(out, "{name}: kept until the next boot"),
            (Phase::Ended, ..) => {
                writeln!(out, "{name}: not put back: {}", trial.left.join(", "))
            }
            (_, false, _) => writeln!(
                out,
                "{name}: cut off, its guard is dead; `seekwell tune undo /dev/{name}` puts it back"
            ),
        };
        rows(&mut out, &trial.changed);
        if let Some(reason) = &trial.ended_because {
            let _ = writeln!(out, "  put back because {reason}");
        }
        for note in &trial.notes {
            let _ = writeln!(out, "  {note}");
        }
        other_rows(&mut out, &trial.others);
    }
    if !rules.is_empty() {
        out.push_str("Set at every boot, by rules of this program:\n");
    }
    for rule in rules {
        let _ = writeln!(out, "  {}", rule.display());
    }
    out
}

/// What could be changed.
pub fn plan_text(plan: &Plan, target: &Path) -> String {
    let mut out = format!("{}\n", plan.disk.name);
    if let Some(by) = &plan.in_use {
        let _ = writeln!(out, "In use: {by}");
    }
    out.push_str(if plan.proposals.is_empty() {
        "\nNothing stands out as worth a try.\n"
    } else {
        "\nWorth a try (only measuring shows whether it helps):\n"
    });
    for p in &plan.proposals {
        let _ = writeln!(
            out,
            "  {}: {} → {}   risk {}, {}\n    {}\n    seekwell tune try {} {}={}",
            p.key,
            p.current,
            p.proposed,
            p.risk.letter(),
            p.risk.meaning(),
            p.why,
            target.display(),
            p.key,
            p.proposed
        );
        for other in &p.others {
            let _ = writeln!(out, "    set by {} too: {} ({})", other.who, other.says, other.from);
        }
    }
    for advice in &plan.advice {
        let _ = writeln!(out, "\n{}\n  {}\n  {}", advice.title, advice.why, advice.exactly);
    }
    out.push_str(
        "\nEvery setting (risk A safe, B may cost performance, C may hang, D may lose data):\n",
    );
    let width = plan.settings.iter().map(|s| s.key.len()).max().unwrap_or(0);
    for s in &plan.settings {
        let current = s.current.as_deref().unwrap_or("?");
        let _ = writeln!(
            out,
            "  {}  {:width$}  {current}   [{}]\n     {}",
            s.risk.letter(),
            s.key,
            s.takes,
            s.what
        );
    }
    out
}

/// The numbers of the io.cost model.
pub fn iocost_text(document: &IocostDocument) -> String {
    let disk = document.disk.as_ref();
    let name = disk.map_or(&document.target, |disk| &disk.name);
    let seconds = document.runtime_ns.as_secs_f64();
    let mut out = format!("{name}: sustained rates, {seconds:.0} s each\n");
    for run in &document.runs {
        let unit = match run.name {
            "rlat" | "wlat" => "µs: the 95th percentile at half of that rate",
            "rbps" | "wbps" => "bytes/s",
            _ => "requests/s",
        };
        let _ = writeln!(out, "  {:<9}  {:>12} {unit}", run.name, run.value);
    }
    if !document.runs.iter().any(|run| run.name == "wbps") {
        out.push_str(
            "Writes were not measured, and the kernel takes its defaults for them: give --destroy \
             SERIAL, or a directory on the disk.\n",
        );
    }
    if let Some(words) = &document.prepare_command {
        let was = document.influences.iter().map(|i| format!("{}={}", i.key, i.is));
        let _ = writeln!(
            out,
            "Nothing was changed to measure, so the rates are also those of {}. The kernel defines \
             them under other settings. To measure so, begin this trial, measure again, and end it \
             with `seekwell tune undo`:\n  {}",
            was.collect::<Vec<_>>().join(", "),
            command(words)
        );
    }
    let number = disk.map_or(String::new(), |disk| format!("{} ", disk.dev));
    let _ = writeln!(out, "\nio.cost.model\n  {number}{}", document.model);
    let _ = writeln!(out, "io.cost.qos\n  {number}{}", document.qos);
    out.push_str(
        "Groups share the disk by io.weight. While more than 5 % of reads or writes take longer \
         than rlat or wlat, the kernel scales the model's rates down, to min at least: a higher \
         latency or a higher min keeps throughput, a lower one keeps latency.\n",
    );
    if let Some(words) = &document.try_command {
        let (tune, settings) = words.split_at(words.len().saturating_sub(2));
        let _ = writeln!(
            out,
            "To try both:\n  {} \\\n    {}",
            command(tune),
            settings.join(" \\\n    ")
        );
    }
    out
}

/// Both runs of a measured trial.
pub fn measured_text(measured: &Measured) -> String {
    let mut out = String::from("One run each, before and under the setting: no verdict\n");
    let shown = |name: &&String| {
        let ends = ["requests_per_s", "latency_ns_p50", "latency_ns_p99"];
        ends.iter().any(|end| name.ends_with(end))
    };
    for name in measured.before.keys().filter(shown) {
        let (before, under) = (measured.before[name], measured.under.get(name));
        let Some(under) = under else { continue };
        let value = |x: f64| match name.contains("_ns_") {
            true => Nanos(x.max(0.0) as u64).to_string(),
            false => three_digits(x),
        };
        let change = match before {
            b if b > 0.0 => format!("  ({} %)", signed((under / b - 1.0) * 100.0, 1)),
            _ => String::new(),
        };
        let _ = writeln!(out, "  {name}  {} → {}{change}", value(before), value(*under));
    }
    let _ = writeln!(out, "For a verdict:\n  {}", command(&measured.verdict_command));
    out
}
