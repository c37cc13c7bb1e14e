//! `seekwell flush-ledger`: whether a disk keeps what it says is durable when its power is cut.

use crate::Ended;
use crate::cli::ledger::{Check, LedgerCommand, Write};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::session::heed_signals;
use seekwell_io::units::{Nanos, bytes, count, requests_per_s, time};
use seekwell_report::wrap;
use seekwell_run::RunError;
use seekwell_run::ledger::{
    self, Checked, Durable, Ended as Why, Fate, Ledger, LedgerRunError, Loss, Writing, Written,
};
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, IsTerminal};
use std::os::fd::AsFd;
use std::sync::Arc;

/// Losses that are printed; the document has more.
const PRINTED: usize = 4;

pub fn run(command: &LedgerCommand, context: &Context) -> Ended {
    match command {
        LedgerCommand::Write(args) => write(args, context),
        LedgerCommand::Check(args) => check(args, context),
    }
}

fn write(args: &Write, context: &Context) -> Ended {
    let out = std::io::stdout();
    if out.is_terminal() {
        return Err(CommandError::LedgerToTerminal { device: args.device.clone() });
    }
    let out = out.as_fd().try_clone_to_owned().map_err(CommandError::Output)?;
    heed_signals(context)?;
    let line = Line::new(context.progress, Arc::clone(&context.control));
    let writing = Writing {
        on: &args.device,
        destroy: args.destroy.consent(),
        size_bytes: args.size,
        block_bytes: args.bs,
        batch: args.iodepth,
        durable: if args.fua { Durable::Fua } else { Durable::Flush },
        runtime: args.runtime.unwrap_or(Nanos::ZERO),
    };
    let written = ledger::write(context.host(), &line, &writing, out);
    line.clear();
    let written = written?;
    context.note(&ending(&written));
    context.note(&format!(
        "to check what is there: seekwell flush-ledger check {}",
        args.device.display()
    ));
    Ok(match written.ended {
        Why::Interrupted => Exit::Interrupted,
        Why::Finished | Why::Failed(_) | Why::Stalled => Exit::Done,
    })
}

/// How writing ended, and what it did until then.
fn ending(written: &Written) -> String {
    let why = match written.ended {
        Why::Finished => "done".to_owned(),
        Why::Interrupted => "stopped".to_owned(),
        Why::Failed(failure) => format!("a {} failed ({})", failure.op.name(), failure.kind),
        Why::Stalled => "the device stopped answering".to_owned(),
    };
    let rate = f64::from(written.acknowledged) / written.elapsed.as_secs_f64();
    format!(
        "{why} after {}: {} writes acknowledged as durable ({}), {} at a time",
        time(written.elapsed.0 as f64),
        count(f64::from(written.acknowledged)),
        requests_per_s(rate),
        written.acknowledged / written.acknowledgements.max(1),
    )
}

/// What is found of a ledger, as a document.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    device: String,
    /// The device's name when the ledger was written.
    written_as: &'a str,
    acknowledged_writes: u32,
    acknowledgements: u32,
    #[serde(flatten)]
    plan: &'a ledger::Plan,
    kept: bool,
    #[serde(flatten)]
    checked: &'a Checked,
}

fn check(args: &Check, context: &Context) -> Ended {
    let read = |error| RunError::from(LedgerRunError::Read(error));
    let ledger = match &args.ledger {
        Some(path) => {
            let file = File::open(path);
            let file = file.map_err(|source| RunError::Read { path: path.clone(), source })?;
            Ledger::read(BufReader::new(file))
        }
        None if std::io::stdin().is_terminal() => return Err(CommandError::LedgerFromTerminal),
        None => Ledger::read(std::io::stdin().lock()),
    };
    let ledger = ledger.map_err(read)?;
    heed_signals(context)?;
    let line = Line::new(context.progress, Arc::clone(&context.control));
    let checked = ledger::check(context.host(), &line, &args.device, &ledger);
    line.clear();
    let checked = checked?;
    let kept = checked.lost() == 0;
    if context.json {
        context.print_json(&Document {
            schema: "seekwell/flush-check/1",
            device: args.device.display().to_string(),
            written_as: &ledger.device,
            acknowledged_writes: ledger.acknowledged,
            acknowledgements: ledger.acknowledgements,
            plan: &ledger.plan,
            kept,
            checked: &checked,
        })?;
    } else {
        context.print(&text(args, &ledger, &checked, context.width))?;
    }
    Ok(if kept { Exit::Done } else { Exit::NotShown })
}

fn text(args: &Check, ledger: &Ledger, checked: &Checked, width: usize) -> String {
    let device = args.device.display();
    let by = match ledger.plan.durable {
        Durable::Flush => "flushes",
        Durable::Fua => "batches of FUA writes",
    };
    let of = format!(
        "{} blocks of {} that {} {by} acknowledged",
        count(checked.acknowledged_blocks as f64),
        bytes(ledger.plan.block_bytes.into()),
        count(f64::from(ledger.acknowledgements)),
    );
    let verdict = match checked.lost() {
        0 if checked.acknowledged_blocks == 0 => {
            format!("NOTHING TO CHECK: the ledger has no acknowledgement of {device}.")
        }
        0 => format!("KEPT: {device} holds all {of}."),
        lost => format!("LOST: {device} does not hold {} of the {of}.", count(lost as f64)),
    };
    let mut lines = wrap(&verdict, width, "", "");
    let mut point = |text: &str| lines.extend(wrap(text, width, "- ", "  "));
    let kinds = [
        (checked.missing, "hold older data"),
        (checked.torn, "are torn: some sectors hold older data"),
        (checked.damaged, "are damaged: a sector holds data that was never written there"),
        (checked.unreadable, "cannot be read"),
    ];
    for (blocks, what) in kinds.into_iter().filter(|(blocks, _)| *blocks > 0) {
        point(&format!("{} {what}", count(blocks as f64)));
    }
    if checked.reordered > 0 {
        point(&format!(
            "{} were acknowledged before later writes were issued that are on the disk: after a \
             power cut, a journal or log on it has holes",
            count(checked.reordered as f64)
        ));
    }
    if checked.torn_under_way > 0 {
        point(&format!(
            "{} hold parts of a later write that was never acknowledged, which a disk may do",
            count(checked.torn_under_way as f64)
        ));
    }
    if checked.lost() > 0 && !checked.found_any {
        point(
            "nothing of this ledger is on the device: either it kept nothing, or the ledger is of \
             another device or run",
        );
    }
    checked.losses.iter().take(PRINTED).for_each(|loss| point(&sentence(loss)));
    lines.join("\n") + "\n"
}

fn sentence(loss: &Loss) -> String {
    let found = match (loss.fate, loss.found) {
        (Fate::Unreadable, _) => "cannot be read".to_owned(),
        (Fate::Damaged, _) => "is damaged".to_owned(),
        (Fate::Torn, _) => "is there in part".to_owned(),
        (_, Some(write)) => format!("is missing; write {write} is there"),
        (_, None) => "is missing".to_owned(),
    };
    format!("write {} at byte {} {found}", loss.write, loss.offset)
}
