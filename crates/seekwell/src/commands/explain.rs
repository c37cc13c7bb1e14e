//! `seekwell inspect --explain [ID]`: the page of a finding, or a list of all.

use crate::Ended;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_explain::{rule, rules};
use serde_json::json;

/// All findings with a line each.
pub fn list(context: &Context) -> Ended {
    if context.json {
        let rules: Vec<_> = rules().map(|r| json!({"id": r.id, "about": r.about})).collect();
        context.print_json(&json!({"schema": "seekwell/rules/1", "rules": rules}))?;
    } else {
        let lines: String = rules().map(|r| format!("{:<15}{}\n", r.id, r.about)).collect();
        context.print(&lines)?;
    }
    Ok(Exit::Done)
}

pub fn page(id: &str, context: &Context) -> Ended {
    let id = id.trim();
    if let Some(rule) = rule(id) {
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
    // SW-LINK of SW-LINK-9; a bare SW would name them all.
    let parts: Vec<&str> = id.split('-').collect();
    let theme = parts.get(..2).map(|theme| theme.join("-").to_ascii_uppercase() + "-");
    let known = rules().map(|r| r.id);
    let near = known.filter(|k| theme.as_ref().is_some_and(|theme| k.starts_with(theme.as_str())));
    let near = near.map(str::to_owned).collect();
    Err(CommandError::NoSuchRule { id: id.to_owned(), near })
}
