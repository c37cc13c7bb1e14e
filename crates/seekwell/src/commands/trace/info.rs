//! `seekwell trace info`: what is known of a trace. Our own store says it without being read; any
//! other format is counted once through.

use crate::Ended;
use crate::cli::trace::Info;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use seekwell_io::request::Op;
use seekwell_io::units::round_time;
use seekwell_report::clean;
use seekwell_trace::formats::{self, Doubt, Format, Reading};
use seekwell_trace::source::{About, Tables, each_batch};
use seekwell_trace::store::{self, Contents, Count, Summary};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

struct Known {
    about: About,
    tables: Tables,
    summary: Summary,
    /// Format of the file itself.
    format: &'static Format,
    /// Whether damage to the file would be noticed.
    has_checksums: bool,
}

pub fn run(args: &Info, context: &Context) -> Ended {
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let Some(known) = look(&args.file, &args.reading.how(), context)? else {
        return Ok(Exit::Interrupted);
    };
    if context.json {
        context.print_json(&document(&args.file, &known))?;
    } else {
        context.print(&text(&args.file, &known, context))?;
    }
    Ok(Exit::Done)
}

fn look(path: &Path, how: &Reading, context: &Context) -> Result<Option<Known>, CommandError> {
    if let Some(contents) = formats::contents(path, how, &context.control)? {
        let Contents { about, tables, summary, has_checksums } = contents;
        let format = &store::FORMAT;
        return Ok(Some(Known { about, tables, summary, format, has_checksums }));
    }
    let mut source = formats::open(path, how, &context.control)?;
    let line = Line::plain(context.progress);
    let mut summary = Summary::default();
    let whole = each_batch(&mut *source, |batch| {
        summary.add(batch);
        line.say(&format!("{} requests counted", summary.requests));
        !context.control.stop.load(Relaxed)
    })?;
    line.clear();
    if !whole {
        return Ok(None);
    }
    let format = Format::named(&source.about().format).expect("sources name their format");
    let (about, tables) = (source.about().clone(), source.tables().clone());
    Ok(Some(Known { about, tables, summary, format, has_checksums: false }))
}

fn document(path: &Path, known: &Known) -> serde_json::Value {
    let Known { about, tables, summary, format, has_checksums } = known;
    let by_op = |counts: [Count; 4]| {
        let entry = |op: Op| (op.name().to_owned(), json!(counts[op as usize]));
        Op::ALL.into_iter().map(entry).collect::<serde_json::Map<_, _>>()
    };
    let devices: Vec<_> = tables
        .devices
        .iter()
        .enumerate()
        .map(|(i, device)| {
            let counts = summary.devices.get(i).copied().unwrap_or_default();
            json!({
                "name": device.name,
                "size_bytes": device.size_bytes,
                "model": device.model,
                "serial": device.serial,
                "end_bytes": counts.end_bytes,
                "by_operation": by_op(counts.by_op),
            })
        })
        .collect();
    json!({
        "schema": "seekwell/trace-info/1",
        "file": path.display().to_string(),
        "format": format.name,
        "has_checksums": has_checksums,
        "about": about,
        "complete": about.complete(),
        "requests": summary.requests,
        "requests_at_device": summary.at_device(),
        "requests_other": summary.other,
        "requests_with_completion": summary.completed,
        "first_ns": summary.first_ns,
        "last_ns": summary.last_ns,
        "span_ns": summary.span_ns(),
        "by_operation": by_op(summary.by_op()),
        "devices": devices,
        "processes": tables.processes.iter().skip(1).collect::<Vec<_>>(),
    })
}

fn text(path: &Path, known: &Known, context: &Context) -> String {
    let Known { about, tables, summary, format, has_checksums } = known;
    let mut out = String::new();
    let mut say = |what: &str, value: String| {
        writeln!(out, "{what:<12} {}", clean(&value)).expect("memory takes it");
    };
    say("file", path.display().to_string());
    let origin = if about.format == format.name {
        String::new()
    } else {
        format!(", from {}", about.format)
    };
    say("format", format!("{}{origin}", format.name));
    let optional = [("host", &about.host), ("kernel", &about.kernel), ("command", &about.command)];
    for (what, value) in optional {
        if let Some(value) = value {
            say(what, value.clone());
        }
    }
    if let Some(ns) = about.recording_cost_ns_per_request {
        say("recording", format!("cost {ns} ns of CPU a request"));
    }
    if let Some(ns) = about.time_step_ns {
        say("times", format!("in steps of {}: too coarse to replay them", round_time(ns)));
    }
    let at_device = match summary.at_device() {
        same if same == summary.requests => String::new(),
        other => format!(", {other} at the device"),
    };
    say("requests", format!("{}{at_device}", summary.requests));
    if let Some(span) = summary.span_ns() {
        say("span", format!("{:.3} s", span as f64 / 1e9));
    }
    say("completions", format!("{} known", summary.completed));
    if **format == store::FORMAT && !has_checksums {
        let command = "trace convert writes it with them";
        say("note", format!("an older file without checksums: damage goes unnoticed; {command}"));
    }
    for warning in warnings(about, summary) {
        say("note", warning);
    }
    out.push('\n');
    out.push_str(&devices(tables, summary, context));
    out
}

fn warnings(about: &About, summary: &Summary) -> Vec<String> {
    let losses = &about.losses;
    let doubt = Doubt::of(about, summary.requests, summary.span_ns());
    let sure = [
        (about.cut_short, "incomplete: the recording was ended from outside".to_owned()),
        (losses.lost_events > 0, format!("incomplete: {} events were lost", losses.lost_events)),
        (losses.unfinished > 0, format!("the end of {} requests was not seen", losses.unfinished)),
        (losses.orphans > 0, format!("{} completions belong to no request", losses.orphans)),
        (losses.moved > 0, format!("{} requests stood too late and were moved", losses.moved)),
        (summary.other > 0, format!("{} are counted and never replayed", summary.other)),
    ];
    let sure = sure.into_iter().filter_map(|(holds, text)| holds.then_some(text));
    sure.chain(doubt.map(|doubt| doubt.to_string())).collect()
}

fn devices(tables: &Tables, summary: &Summary, context: &Context) -> String {
    let rows = tables.devices.iter().enumerate().map(|(i, device)| {
        let counts = summary.devices.get(i).copied().unwrap_or_default();
        let mut row = vec![clean(&device.name)];
        row.extend(Op::ALL.map(|op| counts.by_op[op as usize].requests.to_string()));
        let mib = |op: Op| format!("{:.1}", counts.by_op[op as usize].bytes as f64 / 1_048_576.0);
        row.extend([mib(Op::Read), mib(Op::Write)]);
        row
    });
    let header = ["device", "reads", "writes", "flushes", "discards", "MiB read", "MiB written"];
    seekwell_report::table(&header, rows, context.width)
}
