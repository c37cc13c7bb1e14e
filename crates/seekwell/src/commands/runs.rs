//! `seekwell runs`: what is kept.

use crate::Ended;
use crate::cli::RunsCommand;
use crate::context::Context;
use crate::exit::Exit;
use rustix::system::uname;
use seekwell_fleet::Export;
use seekwell_runs::{Filter, Listing, RunEntry, RunState, Store};
use serde_json::json;
use std::path::Path;

pub fn run(command: &RunsCommand, context: &Context) -> Ended {
    let store = context.store()?;
    match command {
        RunsCommand::List { limit, label } => {
            let filter = Filter { limit: *limit, label: label.clone(), ..Filter::default() };
            list(&store.list(&filter)?, context)
        }
        RunsCommand::Show { run } => {
            let (document, _) = store.load(run)?;
            if context.json {
                context.print_json(&document)?;
            } else {
                let text = seekwell_report::terminal(&document, context.width, context.style);
                context.print(&text)?;
            }
            Ok(Exit::Done)
        }
        RunsCommand::Remove { runs } => {
            let removed = runs.iter().map(|r| store.remove(r)).collect::<Result<Vec<_>, _>>()?;
            if context.json {
                context.print_json(
                    &json!({"schema": "seekwell/runs-removed/1", "removed": removed}),
                )?;
            } else {
                context.print(&format!("removed {}\n", removed.join(", ")))?;
            }
            Ok(Exit::Done)
        }
        RunsCommand::Trend(args) => super::trend::run(args, &store, context),
        RunsCommand::Export { dir } => export(dir, &store, context),
        RunsCommand::Reindex => {
            let (count, unreadable) = store.reindex()?;
            for (id, error) in &unreadable {
                context.note(&format!("{id} is left out: {error}"));
            }
            if context.json {
                let left_out: Vec<_> = unreadable.iter().map(|(id, _)| id).collect();
                context.print_json(
                    &json!({"schema": "seekwell/reindex/1", "runs": count, "left_out": left_out}),
                )?;
            } else {
                context.print(&format!("{count} runs indexed\n"))?;
            }
            Ok(Exit::Done)
        }
    }
}

fn export(dir: &Path, store: &Store, context: &Context) -> Ended {
    let mut export = Export::open(dir)?;
    let here = uname();
    let here = here.nodename().to_string_lossy();
    let Listing { runs, unreadable } = store.list(&Filter::default())?;
    let (mut known, mut unfinished) = (0, 0);
    for entry in runs.iter().rev() {
        if entry.state == RunState::Running {
            unfinished += 1;
        } else if export.has(&here, &entry.id) {
            known += 1;
        } else {
            let (document, detail) = store.load(&entry.id)?;
            export.add(&document, &detail)?;
        }
    }
    let done = export.finish()?;
    let (exported, known) = (done.runs, known + done.known);
    for (id, error) in &unreadable {
        context.note(&format!("{id} is left out: {error}"));
    }
    if context.json {
        let left_out: Vec<_> = unreadable.iter().map(|(id, _)| id).collect();
        context.print_json(&json!({
            "schema": "seekwell/export/1", "exported": exported, "already_there": known,
            "still_running": unfinished, "left_out": left_out,
        }))?;
    } else {
        let running =
            if unfinished > 0 { format!(", {unfinished} still running") } else { "".into() };
        context
            .print(&format!("{exported} runs exported, {known} were there already{running}\n"))?;
    }
    Ok(Exit::Done)
}

fn list(listing: &Listing, context: &Context) -> Ended {
    if context.json {
        let runs: Vec<_> = listing.runs.iter().map(entry).collect();
        context.print_json(&json!({"schema": "seekwell/runs/1", "runs": runs}))?;
    } else {
        let rows = listing.runs.iter().map(|run| {
            let invalid = if run.invalid { ", invalid" } else { "" };
            let label = run.label.clone().unwrap_or_default();
            vec![
                run.id.clone(),
                format!("{}{invalid}", run.state.name()),
                run.target.clone(),
                label,
            ]
        });
        let header = ["run", "state", "target", "label"];
        context.print(&seekwell_report::table(&header, rows, context.width))?;
    }
    for (id, error) in &listing.unreadable {
        context.note(&format!("{id} cannot be read: {error}"));
    }
    Ok(Exit::Done)
}

fn entry(run: &RunEntry) -> serde_json::Value {
    json!({
        "id": run.id,
        "kind": run.kind,
        "state": run.state.name(),
        "label": run.label,
        "modelled": run.modelled,
        "target": run.target,
        "device_model": run.device_model,
        "device_serial": run.device_serial,
        "kernel": run.kernel,
        "tool_version": run.tool_version,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "invalid": run.invalid,
        "path": run.path,
    })
}
