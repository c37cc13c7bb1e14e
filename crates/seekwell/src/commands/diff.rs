//! `seekwell diff`: what differs between two machines, or one at two times.

use crate::Ended;
use crate::cli::Diff;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_inspect::diff::{Change, diff_all};
use seekwell_inspect::{Inspection, Target, all_disks, inspect, saved, text};
use seekwell_sys::{Bundle, MAX_FILE, SnapshotError, read_file, text_path};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What is compared, by name, and how it differs.
#[derive(Serialize)]
struct Differences<'a> {
    schema: &'static str,
    before: String,
    after: String,
    changes: &'a [Change],
}

pub fn run(args: &Diff, context: &Context) -> Ended {
    let before = load(&args.before, context)?;
    let after = load(&args.after, context)?;
    // This machine is compared in the disks the other side is of.
    let (before, after) = match (before, after) {
        (None, None) => (live(&[], context), live(&[], context)),
        (None, Some(after)) => (live(&after, context), after),
        (Some(before), None) => {
            let after = live(&before, context);
            (before, after)
        }
        (Some(before), Some(after)) => (before, after),
    };
    let changes = diff_all(&before, &after);
    if context.json {
        context.print_json(&Differences {
            schema: "seekwell/diff/1",
            before: args.before.display().to_string(),
            after: args.after.display().to_string(),
            changes: &changes,
        })?;
    } else {
        context.print(&shown(&changes, args.verbose, context.width))?;
    }
    Ok(Exit::Done)
}

/// The inspections in or of a path; `None` for this machine.
fn load(path: &Path, context: &Context) -> Result<Option<Vec<Inspection>>, CommandError> {
    if path == Path::new("-") {
        return Ok(None);
    }
    if path.is_dir() {
        match saved::open(path) {
            Ok(bundle) => {
                super::snapshot::note_unused(path, context);
                return Ok(Some(saved::inspections(&bundle)));
            }
            // Then it is a directory to inspect.
            Err(SnapshotError::NotOne { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if !path.is_file() {
        let target = Target::resolve(&context.view, path)?;
        return Ok(Some(vec![inspect(&context.view, &target)]));
    }
    let content = read_file(path, MAX_FILE)
        .map_err(|source| CommandError::Read { path: path.to_path_buf(), source })?;
    let name = path.display().to_string();
    if Bundle::begins(&content) {
        return Ok(Some(saved::inspections(&Bundle::parse(&name, &content)?)));
    }
    let printed = text::inspections(&name, &String::from_utf8_lossy(&content), None);
    if !printed.is_empty() {
        return Ok(Some(printed));
    }
    let document = documents(&content);
    document.map(Some).map_err(|why| CommandError::NoInspection { path: path.to_path_buf(), why })
}

fn documents(content: &[u8]) -> Result<Vec<Inspection>, String> {
    if !content.trim_ascii_start().starts_with(b"{") {
        return Err("it is neither a snapshot nor JSON nor the text of lspci -vvnn".to_owned());
    }
    let wrong = |e: serde_json::Error| e.to_string();
    let Head { schema } = serde_json::from_slice(content).map_err(wrong)?;
    match schema.as_str() {
        "seekwell/inspect-list/1" => {
            serde_json::from_slice(content).map(|List { inspections }| inspections).map_err(wrong)
        }
        Inspection::SCHEMA => serde_json::from_slice(content).map(|one| vec![one]).map_err(wrong),
        other => Err(format!("its schema is {other:?}")),
    }
}

#[derive(Deserialize)]
struct Head {
    schema: String,
}

#[derive(Deserialize)]
struct List {
    inspections: Vec<Inspection>,
}

/// This machine in the targets of `like`, as far as they are here; every disk if none is.
fn live(like: &[Inspection], context: &Context) -> Vec<Inspection> {
    let view = &context.view;
    let same = like.iter().filter_map(|i| Target::resolve(view, text_path(&i.target)).ok());
    let mut targets: Vec<Target> = same.collect();
    if targets.is_empty() {
        targets = all_disks(view);
    }
    targets.iter().map(|target| inspect(view, target)).collect()
}

fn shown(changes: &[Change], verbose: bool, width: usize) -> String {
    if changes.is_empty() {
        return "no difference in how disks are attached and set up\n".to_owned();
    }
    let text = |side: &Option<String>| side.clone().unwrap_or_else(|| "—".to_owned());
    let row = |c: &Change| {
        let mut row = vec![text(&c.device), c.what.clone(), text(&c.before), text(&c.after)];
        if verbose {
            row.push(c.from_after.clone().or_else(|| c.from_before.clone()).unwrap_or_default());
        }
        row
    };
    let mut header = vec!["device", "what", "before", "after"];
    if verbose {
        header.push("read from");
    }
    let (matter, rest): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|c| c.matters);
    let mut page = String::new();
    if verbose {
        page += &seekwell_report::table(&header, changes.iter().map(row), width);
        return page;
    }
    if matter.is_empty() {
        page += "no difference that matters\n";
    } else {
        page += &seekwell_report::table(&header, matter.into_iter().map(row), width);
    }
    if !rest.is_empty() {
        let mut names: Vec<&str> = rest.iter().map(|c| c.what.as_str()).collect();
        names.dedup();
        page += &format!("also different, names and places (-v): {}\n", names.join(", "));
    }
    page
}
