//! `seekwell inspect`: how targets are attached, and what is wrong with it.

use super::format;
use crate::Ended;
use crate::asked::{ask, log_of};
use crate::cli::Inspect;
use crate::cli::format::InspectFormat;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_inspect::log::{Incident, LogFacts, LogReport};
use seekwell_inspect::saved;
use seekwell_inspect::{Inspection, TargetKind, inspect, text};
use seekwell_job::output::inspected;
use seekwell_report::{Style, clean, wrap};
use seekwell_run::{Judged, judge, live_log};
use seekwell_sys::{MAX_TEXT, SnapshotError, path_text, read_file_or_pipe};
use serde::Serialize;
use std::path::Path;

/// Several inspections as one document.
#[derive(Serialize)]
struct Inspections<'a> {
    schema: &'static str,
    inspections: &'a [Judged],
}

pub fn run(args: &Inspect, context: &Context) -> Ended {
    if let Some(id) = &args.explain {
        return match id {
            Some(id) => super::explain::page(id, context),
            None => super::explain::list(context),
        };
    }
    if args.watch {
        return super::watch::run(context);
    }
    format::check_textfile(&args.textfile, args.replace)?;
    let (found, log) = look(args, context)?;
    let log = log.as_ref();
    let before = match &args.since {
        Some(file) => saved::inspections(&saved::open(file)?),
        None => Vec::new(),
    };
    // What the log says of a disk is said there, and not again of the log.
    let mut rest = log.cloned();
    let judged = found.into_iter().map(|inspection| match inspection.device.is_some() {
        true => {
            let judged = judge(inspection, log, &before);
            let other = |incident: &Incident| !judged.incidents.contains(incident);
            rest.iter_mut().for_each(|rest| rest.incidents.retain(other));
            judged
        }
        false => judge(inspection, rest.as_ref(), &before),
    });
    let judged: Vec<Judged> = judged.collect();
    let metrics = || {
        let targets = judged.iter().map(|one| (&one.inspection, &*one.findings));
        inspected(targets, env!("CARGO_PKG_VERSION"))
    };
    format::write_textfile(&args.textfile, args.replace, metrics)?;
    if args.format == Some(InspectFormat::Openmetrics) {
        context.print(&metrics())?;
        return Ok(Exit::Done);
    }
    if context.json {
        match &judged[..] {
            [only] => context.print_json(only)?,
            several => context.print_json(&Inspections {
                schema: "seekwell/inspect-list/1",
                inspections: several,
            })?,
        }
        return Ok(Exit::Done);
    }
    if judged.is_empty() {
        context.note("there is no disk to be seen in /sys/block");
    }
    for (i, (one, same)) in alike(&judged).into_iter().enumerate() {
        let gap = if i > 0 { "\n" } else { "" };
        let mut text = show(one, args.verbose, context);
        if !same.is_empty() {
            let names: Vec<String> = same.iter().map(|other| named(&other.inspection)).collect();
            let line = format!("The same but for names: {}", names.join(", "));
            text += &format!("\n{}\n", wrap(&line, context.width, "", "  ").join("\n"));
        }
        context.print(&format!("{gap}{text}"))?;
    }
    Ok(Exit::Done)
}

/// The first of each kind of target, with those that differ from it in names alone.
fn alike(judged: &[Judged]) -> Vec<(&Judged, Vec<&Judged>)> {
    let mut kinds: Vec<(String, &Judged, Vec<&Judged>)> = Vec::new();
    for one in judged {
        let key = without_names(one);
        match kinds.iter_mut().find(|(known, ..)| *known == key) {
            Some((.., same)) => same.push(one),
            None => kinds.push((key, one, Vec::new())),
        }
    }
    kinds.into_iter().map(|(_, first, same)| (first, same)).collect()
}

/// What is shown of a target, its name and what it stands for left out.
fn without_names(one: &Judged) -> String {
    // Wide enough that a name's length moves no line.
    const WIDE: usize = 10_000;
    let style = Style { color: false };
    let text = seekwell_report::inspect(&one.inspection, WIDE, style)
        + &seekwell_report::findings(&one.findings, WIDE, style);
    let Some(device) = &one.inspection.device else { return text };
    let role = device.role.as_ref().map(|role| role.value.as_str()).filter(|r| !r.is_empty());
    role.iter().fold(text, |text, role| text.replace(role, "…")).replace(&device.name, "…")
}

fn named(inspection: &Inspection) -> String {
    let Some(device) = &inspection.device else { return clean(&inspection.target) };
    let name = clean(&device.name);
    device.role.as_ref().map_or_else(|| name.clone(), |r| format!("{name} ({})", clean(&r.value)))
}

fn show(one: &Judged, verbose: bool, context: &Context) -> String {
    let (width, style) = (context.width, context.style);
    let mut text = seekwell_report::inspect(&one.inspection, width, style);
    text.push('\n');
    text += &seekwell_report::findings(&one.findings, width, style);
    if verbose {
        text.push('\n');
        text += &seekwell_report::facts(&one.inspection, width, style);
    }
    text
}

/// What the switches say is to be looked at, and the kernel log that belongs to it.
fn look(
    args: &Inspect,
    context: &Context,
) -> Result<(Vec<Inspection>, Option<LogReport>), CommandError> {
    let named = args.log.as_deref().map(log_of).transpose()?;
    let says_nothing = |log: &&LogReport| {
        log.first.is_none() && log.incidents.is_empty() && log.facts == LogFacts::default()
    };
    if let Some(log) = named.as_ref().filter(says_nothing) {
        context.note(&format!(
            "{} has {} lines, and none of them looks like a kernel's",
            log.source, log.lines
        ));
    }
    if let (Some(log), true, None) = (&named, args.targets.is_empty(), &args.from) {
        return Ok((vec![log_alone(&log.source, log, &[])], named));
    }
    if args.save.is_some() || args.from.is_some() || args.mask {
        let (found, log) = match args.from.as_deref().map(saved::open).transpose() {
            Err(error @ SnapshotError::NoHeader { .. }) => (from_text(args, error)?, None),
            opened => super::snapshot::look(args, opened?, context)?,
        };
        args.from.iter().for_each(|from| super::snapshot::note_unused(from, context));
        let (mut found, log) = (found, named.or(log));
        if let (Some(from), Some(log)) = (&args.from, &log)
            && found.iter().all(Inspection::is_from_text)
        {
            let source = if found.is_empty() { path_text(from) } else { log.source.clone() };
            let disks = text::disks(log);
            let rest = log_alone(&source, log, &disks);
            found.extend(disks);
            found.push(rest);
        }
        return Ok((found, log));
    }
    let targets = super::snapshot::targets(&args.targets, context)?;
    let drives = context.host().drives();
    let mut found: Vec<Inspection> =
        targets.iter().map(|target| inspect(&drives, target)).collect();
    if args.probe {
        found.iter_mut().try_for_each(|inspection| ask(inspection, context))?;
    }
    let mut missing = Vec::new();
    let log = named.or_else(|| live_log(&context.view, &mut missing));
    // Once, however many disks it would have shown.
    found.iter_mut().take(1).for_each(|inspection| inspection.missing.append(&mut missing));
    Ok((found, log))
}

/// The inspection of a machine of which there is its log, called `source`, and nothing else; the
/// disks that are shown have inspections of their own.
fn log_alone(source: &str, log: &LogReport, shown: &[Inspection]) -> Inspection {
    let mut notes = vec![match shown {
        [] => "a kernel log alone: the disks it names are not visible".to_owned(),
        _ => "what the kernel log says of anything but the disks it names".to_owned(),
    }];
    let ports: Vec<&str> = shown.iter().filter_map(ata_port).collect();
    let other = log.facts.ports.iter().filter(|port| !ports.contains(&port.name.as_str()));
    notes.extend(other.filter_map(|port| {
        let speed = port.link.as_ref()?.speed.as_ref()?;
        Some(format!("the kernel log says of {}: SATA link up {speed}", port.name))
    }));
    Inspection { notes, ..Inspection::new(source, TargetKind::File) }
}

fn ata_port(inspection: &Inspection) -> Option<&str> {
    Some(&inspection.device.as_ref()?.detail.ata.as_ref()?.port)
}

/// A file that is no snapshot may be the text of `lspci -vvnn`; otherwise `error` stands.
fn from_text(args: &Inspect, error: SnapshotError) -> Result<Vec<Inspection>, CommandError> {
    let Some(path) = &args.from else { return Err(error.into()) };
    let lspci = text_of(path)?;
    let lsmod = args.lsmod.as_deref().map(text_of).transpose()?;
    let name = path.display().to_string();
    let found = text::inspections(&name, &lspci, lsmod.as_deref());
    if found.is_empty() { Err(error.into()) } else { Ok(found) }
}

/// Text of any encoding.
fn text_of(path: &Path) -> Result<String, CommandError> {
    let bytes = read_file_or_pipe(path, MAX_TEXT)
        .map_err(|source| CommandError::Read { path: path.to_path_buf(), source })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
