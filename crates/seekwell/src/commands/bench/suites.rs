//! `seekwell bench --suite list`: what each suite does, how long it takes, what it writes, where
//! its definition comes from and what can be set.

use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_io::units::{Nanos, time_left};
use seekwell_report::wrap;
use seekwell_run::is_modelled;
use seekwell_run::suite::{Announced, SuiteOptions};
use seekwell_suites::load::Load;
use seekwell_suites::{Level, On, Suite, Tunable, suites};
use serde_json::{Value, json};

pub fn list(full: bool, context: &Context) -> Result<Exit, CommandError> {
    let all = suites();
    if context.json {
        let all: Vec<Value> = all.into_iter().map(document).collect();
        context.print_json(&json!({"schema": "seekwell/suites/1", "suites": all}))?;
    } else {
        let each = all.into_iter();
        let page = if full {
            each.map(|s| text(s, context.width)).collect::<Vec<_>>().join("\n")
        } else {
            let more = "--full: where each is from and what can be set";
            each.map(|s| short(s, context.width)).collect::<String>() + more + "\n"
        };
        context.print(&page)?;
    }
    Ok(Exit::Done)
}

fn document(suite: &Suite) -> Value {
    let tunable = |t: &Tunable| {
        json!({
            "name": t.name,
            "about": t.what,
            "values": t.values.words(),
            "default_quick": t.default[0],
            "default_full": t.default[1],
        })
    };
    json!({
        "name": suite.name,
        "title": suite.title,
        "about": suite.does,
        "takes_quick": suite.takes[0],
        "takes_full": suite.takes[1],
        "writes": suite.writes,
        "definition": suite.source,
        "on_model": modelled(suite),
        "tunables": suite.tunables.iter().map(tunable).collect::<Vec<_>>(),
    })
}

/// What a suite is, how long it takes and what it writes.
fn short(suite: &Suite, width: usize) -> String {
    let [quick, full] = suite.takes;
    let mut lines = wrap(&format!("{}: {}", suite.name, suite.title), width, "", "  ");
    let shorter = if quick == full { String::new() } else { format!(" (--quick: {quick})") };
    let about = format!("{full}{shorter}, writes {}", suite.writes);
    lines.extend(wrap(&about, width, "  ", "  "));
    lines.join("\n") + "\n"
}

/// What a suite will do. Real disks differ too much for a time of each step.
pub fn announced(options: &SuiteOptions<'_>, steps: &[Announced]) -> String {
    let (suite, target) = (options.suite, options.target.display());
    let modelled = is_modelled(options.target);
    let takes = if modelled {
        let round: u64 =
            steps.iter().filter_map(|step| step.takes.as_ref().ok()).map(|t| t.0).sum();
        let whole = Nanos(round.saturating_mul(u64::from(options.repeats)));
        format!("about {} in real time", time_left(whole))
    } else {
        let takes = suite.takes[usize::from(options.settings.level == Level::Full)];
        format!("takes {takes}; writes {}", suite.writes)
    };
    let step = |step: &Announced| match &step.takes {
        Err(why) => format!("  {}: not run: {why}\n", step.title),
        Ok(takes) if modelled => format!("  {}: about {}\n", step.title, time_left(*takes)),
        Ok(_) => format!("  {}\n", step.title),
    };
    format!("{} on {target}: {takes}\n", suite.name) + &steps.iter().map(step).collect::<String>()
}

/// Names of the steps that a modelled machine can play.
fn modelled(suite: &Suite) -> Vec<String> {
    let settings = suite.settings(Level::Full, &[]).ok();
    let steps = settings.map_or_else(Vec::new, |settings| (suite.steps)(&settings));
    let played = steps.into_iter().filter(|s| !matches!(s.load, Load::None { .. }));
    played.map(|step| step.name).collect()
}

fn on_model(suite: &Suite) -> String {
    match modelled(suite).as_slice() {
        _ if suite.on == On::Destroyed => "runs on a modelled machine as on a device".to_owned(),
        [] => "does not run on a modelled machine".to_owned(),
        steps => format!("on a modelled machine: {}", steps.join(", ")),
    }
}

fn text(suite: &Suite, width: usize) -> String {
    let mut lines = wrap(&format!("{}: {}", suite.name, suite.title), width, "", "  ");
    lines.extend(wrap(suite.does, width, "  ", "  "));
    let [quick, full] = suite.takes;
    let about = [
        format!("takes {full}; --quick {quick}"),
        format!("writes {}", suite.writes),
        on_model(suite),
        format!("defined by {}", suite.source),
    ];
    about.iter().for_each(|line| lines.extend(wrap(line, width, "  ", "    ")));
    for t in suite.tunables {
        let [quick, full] = t.default;
        let default =
            if quick == full { full.to_owned() } else { format!("{full}, {quick} with --quick") };
        let line = format!("{}={default}: {} ({})", t.name, t.what, t.values.words());
        lines.extend(wrap(&line, width, "    ", "      "));
    }
    lines.join("\n") + "\n"
}
