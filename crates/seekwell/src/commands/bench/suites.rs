//! `seekwell bench --suite list`: what each suite does, how long it takes, what it writes, where
//! its definition comes from and what can be set.

use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_report::wrap;
use seekwell_suites::{Suite, Tunable, suites};
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
        "tunables": suite.tunables.iter().map(tunable).collect::<Vec<_>>(),
    })
}

/// What a suite is, how long it takes and what it writes.
fn short(suite: &Suite, width: usize) -> String {
    let [quick, full] = suite.takes;
    let mut lines = wrap(&format!("{}: {}", suite.name, suite.title), width, "", "  ");
    let about = format!("{full} (--quick: {quick}), writes {}", suite.writes);
    lines.extend(wrap(&about, width, "  ", "  "));
    lines.join("\n") + "\n"
}

fn text(suite: &Suite, width: usize) -> String {
    let mut lines = wrap(&format!("{}: {}", suite.name, suite.title), width, "", "  ");
    lines.extend(wrap(suite.does, width, "  ", "  "));
    let [quick, full] = suite.takes;
    let about = [
        format!("takes {full}; --quick {quick}"),
        format!("writes {}", suite.writes),
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
