//! One file per command.

pub mod bench;
pub mod calibrate;
pub mod checkup;
pub mod compare;
pub mod diff;
pub mod experiment;
pub mod explain;
pub mod fit_for;
pub mod fleet;
pub mod format;
mod hand_on;
pub mod inspect;
pub mod ledger;
pub mod machine;
pub mod push;
pub mod record;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod runs;
pub mod serve;
mod snapshot;
pub mod top;
pub mod trace;
mod trend;
pub mod tune;
mod watch;

use crate::Ended;
use crate::cli::Force;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_access::{OutputFile, folder_of};
use seekwell_runs::{Detail, RunDocument};
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Shows a finished run the way the switches say.
fn show(
    context: &Context,
    ended: &(RunDocument, Detail, Exit),
    page: Option<OutputFile>,
) -> Result<Exit, CommandError> {
    let (document, detail, exit) = ended;
    if let Some(page) = page {
        let run = [(document.clone(), detail.clone())];
        write_page(page, &seekwell_report::html(&run)?, context)?;
    }
    if context.json {
        context.print_json(document)?;
    } else {
        context.print(&seekwell_report::terminal(document, context.width, context.style))?;
    }
    Ok(*exit)
}

/// Lists what is built in, by name and title: the document `seekwell/NAME/1`.
fn list(context: &Context, of: &str, column: &str, rows: &[(&str, String)]) -> Ended {
    if context.json {
        let entry = |(name, title): &(&str, String)| json!({ "name": name, "title": title });
        let entries: Vec<_> = rows.iter().map(entry).collect();
        context.print_json(&json!({ "schema": format!("seekwell/{of}/1"), of: entries }))?;
        return Ok(Exit::Done);
    }
    let rows = rows.iter().map(|(name, title)| vec![(*name).to_owned(), title.clone()]);
    context.print(&seekwell_report::table(&[column, "what it is"], rows, context.width))?;
    Ok(Exit::Done)
}

/// Begins an output, before anything is measured that would be lost if it could not be written.
fn begin_output(
    path: &Path,
    replace: Force,
    context: &Context,
) -> Result<OutputFile, CommandError> {
    let output = OutputFile::create(path, replace.force)?;
    context.sweep(folder_of(path));
    Ok(output)
}

/// The same where one was asked for.
fn begin_asked(
    path: Option<&Path>,
    replace: Force,
    context: &Context,
) -> Result<Option<OutputFile>, CommandError> {
    path.map(|path| begin_output(path, replace, context)).transpose()
}

/// Whether an output can be written later.
fn check_output(path: &Path, replace: Force, context: &Context) -> Result<(), CommandError> {
    begin_output(path, replace, context).map(drop)
}

fn write_output(output: OutputFile, text: &str) -> Result<(), CommandError> {
    Ok(output.filled(|out| out.write_all(text.as_bytes()))?.finish()?)
}

/// Writes a page and says where it is.
fn write_page(page: OutputFile, html: &str, context: &Context) -> Result<(), CommandError> {
    let path = page.path().to_owned();
    write_output(page, html)?;
    context.note(&format!("the page is {}", path.display()));
    Ok(())
}
