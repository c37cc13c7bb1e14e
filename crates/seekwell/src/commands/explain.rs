//! `seekwell inspect --explain ID`: the page of a finding.

use crate::Ended;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_inspect::rules;
use serde_json::json;

pub fn run(id: &str, context: &Context) -> Ended {
    let id = id.trim();
    if let Some(rule) = rules::explain_rule(id) {
        if context.json {
            context.print_json(&json!({
                "schema": "seekwell/rule/1",
                "id": rule.id,
                "about": rule.about,
                "means": rule.means,
                "known": rule.known,
                "why": rule.why,
                "fix": rule.fix,
                "tune": rule.tune,
            }))?;
        } else {
            context.print(&seekwell_report::prose(&rule.page(), context.width))?;
        }
        return Ok(Exit::Done);
    }
    let measured = seekwell_checkup::explain::RULES.iter().copied().flatten();
    if let Some(rule) = measured.clone().find(|r| r.id.eq_ignore_ascii_case(id)) {
        let from = "It follows from measurements: seekwell checkup shows the evidence, why it \
                    matters and what to do.";
        if context.json {
            context.print_json(
                &json!({"schema": "seekwell/rule/1", "id": rule.id, "about": rule.about}),
            )?;
        } else {
            let page = format!("{}: {}\n\n{from}\n", rule.id, rule.about);
            context.print(&seekwell_report::prose(&page, context.width))?;
        }
        return Ok(Exit::Done);
    }
    let theme = id.rsplit_once('-').map_or(id, |(theme, _)| theme).to_ascii_uppercase();
    let known = rules::rules().map(|r| r.id).chain(measured.map(|r| r.id));
    let near = known.filter(|k| k.starts_with(&theme)).map(str::to_owned).collect();
    Err(CommandError::NoSuchRule { id: id.to_owned(), near })
}
