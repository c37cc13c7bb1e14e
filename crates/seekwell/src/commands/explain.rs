//! `seekwell inspect --explain ID`: the page of a finding.

use crate::Ended;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use serde_json::json;

pub fn run(id: &str, context: &Context) -> Ended {
    let id = id.trim();
    if let Some(rule) = seekwell_explain::rule(id) {
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
    let known = seekwell_explain::rules().map(|r| r.id);
    let near = known.filter(|k| theme.as_ref().is_some_and(|theme| k.starts_with(theme.as_str())));
    let near = near.map(str::to_owned).collect();
    Err(CommandError::NoSuchRule { id: id.to_owned(), near })
}
