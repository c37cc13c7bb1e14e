//! `seekwell runs`: what is kept.

use super::hand_on::hand_on;
use crate::Ended;
use crate::cli::RunsCommand;
use crate::context::Context;
use crate::exit::Exit;
use seekwell_fleet::Export;
use seekwell_runs::{Filter, Listing, RunEntry, Store};
use serde_json::json;
use std::path::Path;

pub fn run(command: &RunsCommand, context: &Context) -> Ended {
    match command {
        RunsCommand::List { limit, label, host, from } => {
            let (label, host) = (label.clone(), host.clone());
            let filter = Filter { limit: *limit, label, host, ..Filter::default() };
            let runs = context.runs(from.store.as_deref())?;
            list(&runs.list(&filter)?, from.store.is_some(), context)
        }
        RunsCommand::Show { run, from } => {
            let (document, _) = context.runs(from.store.as_deref())?.load(run)?;
            if context.json {
                context.print_json(&document)?;
            } else {
                let text = seekwell_report::terminal(&document, context.width, context.style);
                context.print(&text)?;
            }
            Ok(Exit::Done)
        }
        RunsCommand::Remove { runs } => {
            let store = context.store()?;
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
        RunsCommand::Trend(args) => super::trend::run(args, context),
        RunsCommand::Export { dir } => export(dir, &context.store()?, context),
        RunsCommand::Push(args) => super::push::run(args, &context.store()?, context),
        RunsCommand::Reindex => {
            let (count, unreadable) = context.store()?.reindex()?;
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
    let there = export.there().clone();
    let known = |host: &str, id: &str| there.contains(&[host.to_owned(), id.to_owned()]);
    let done = hand_on(store, context, known, |run, detail| Ok(export.add(run, detail)?))?;
    export.finish()?;
    if context.json {
        context.print_json(&json!({
            "schema": "seekwell/export/1", "exported": done.given, "already_there": done.known,
            "still_running": done.running, "left_out": done.left_out,
        }))?;
    } else {
        context.print(&done.sentence(done.given, "exported"))?;
    }
    Ok(Exit::Done)
}

/// `hosts` says whether runs of several hosts are kept together.
fn list(listing: &Listing, hosts: bool, context: &Context) -> Ended {
    if context.json {
        let runs: Vec<_> = listing.runs.iter().map(entry).collect();
        context.print_json(&json!({"schema": "seekwell/runs/1", "runs": runs}))?;
    } else {
        let mut header = vec!["run", "host", "state", "target", "label"];
        let mut rows: Vec<Vec<String>> = Vec::new();
        for run in &listing.runs {
            let invalid = if run.invalid { ", invalid" } else { "" };
            let state = format!("{}{invalid}", run.state.name());
            let label = run.label.clone().unwrap_or_default();
            rows.push(vec![run.id.clone(), run.host.clone(), state, run.target.clone(), label]);
        }
        if !hosts {
            header.remove(1);
            rows.iter_mut().for_each(|row| drop(row.remove(1)));
        }
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
        "host": run.host,
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
