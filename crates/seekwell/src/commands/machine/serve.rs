//! `seekwell machine serve`: a modelled machine as a block device.

use crate::Ended;
use crate::cli::machine::Serve;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::signals;
use seekwell_io::request::Op;
use seekwell_nbd::{Event, Lost, OpTally, Options, Served, Server};
use seekwell_report::units::{bytes, time};
use seekwell_run::{RunError, model};
use serde_json::{Value, json};
use std::sync::Arc;

/// The operations a client can ask for, as the protocol calls them.
const OPS: [(Op, &str); 4] =
    [(Op::Read, "read"), (Op::Write, "write"), (Op::Flush, "flush"), (Op::Discard, "trim")];

pub fn run(args: &Serve, context: &Context) -> Ended {
    let machine = &args.machine;
    let model = model(&machine.machine, &machine.set)?;
    if model.zones().is_some() {
        return Err(RunError::OnlyInOrder { machine: machine.machine.clone() }.into());
    }
    let title = model.title().to_owned();
    let options = Options {
        name: machine.machine.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        data: args.data.clone(),
        memory_bytes: args.memory,
        seed: args.seed.into(),
        faults: args.fault.clone(),
        down: args.down,
        lies: args.lie_about_flush,
    };
    let server = Server::open(model, &args.nbd, options)?;
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let uri = server.place().to_string();
    if context.json {
        context.note(&uri);
    } else {
        context.print(&format!("{uri}\n"))?;
    }
    if !server.place().is_local() {
        context.note("anyone who can reach this address can read and write the modelled disk");
    }
    context.note("Ctrl-C ends it");
    let served = server.run(&context.control.stop, &mut |event| context.note(&sentence(event)))?;
    if context.json {
        context.print_json(&document(&title, &uri, &served))?;
    } else {
        context.print(&text(&title, &served, context.width))?;
    }
    Ok(Exit::Interrupted)
}

fn sentence(event: Event) -> String {
    match event {
        Event::CannotKeepUp => "this host cannot keep up with the model: requests are answered \
                                more than 10 % later than modelled"
            .to_owned(),
        Event::PowerCut(lost) => format!("power cut: {}", fate(lost)),
        Event::PowerOn => "power on".to_owned(),
        Event::HungUp(error) => format!("a client was disconnected: {error}"),
    }
}

fn fate(Lost { kept_sectors, lost_sectors }: Lost) -> String {
    let all = kept_sectors + lost_sectors;
    format!("{lost_sectors} of {all} volatile sectors were lost")
}

fn text(title: &str, served: &Served, width: usize) -> String {
    let tally = &served.tally;
    let rows = OPS.iter().filter_map(|(op, name)| {
        let OpTally { bytes: moved, errors, modelled, real } = tally.of(*op);
        Some(vec![
            (*name).to_owned(),
            real.count().to_string(),
            bytes(*moved),
            errors.to_string(),
            time(modelled.mean_ns()?),
            time(real.mean_ns()?),
        ])
    });
    let head = ["", "requests", "bytes", "errors", "modelled mean", "real mean"];
    let table = seekwell_report::table(&head, rows, width);
    let late = match tally.requests() {
        0 => "No requests were made.\n".to_owned(),
        all => format!(
            "{} of {all} requests ({:.1} %) were answered more than 1 ms or 10 % late, the latest \
             {} late.\n",
            tally.late,
            100.0 * tally.late as f64 / all as f64,
            time(tally.worst.0 as f64),
        ),
    };
    let cuts = served.cuts.iter().map(|lost| format!("Power cut: {}.\n", fate(*lost)));
    let cuts: String = cuts.collect();
    let lasted = time(served.lasted.0 as f64);
    format!("{title} (modelled), served for {lasted}\n\n{table}\n{late}{cuts}")
}

fn document(title: &str, uri: &str, served: &Served) -> Value {
    let op = |(op, name): &(Op, &str)| {
        let OpTally { bytes, errors, modelled, real } = served.tally.of(*op);
        let quantile = |q| (real.quantile(q), modelled.quantile(q));
        let (real_p99, modelled_p99) = quantile(0.99);
        json!({
            "op": name,
            "requests": real.count(),
            "bytes": bytes,
            "errors": errors,
            "modelled_ns_mean": modelled.mean_ns(),
            "modelled_ns_p99": modelled_p99.map(|t| t.0),
            "real_ns_mean": real.mean_ns(),
            "real_ns_p99": real_p99.map(|t| t.0),
        })
    };
    let cut =
        |lost: &Lost| json!({"kept_sectors": lost.kept_sectors, "lost_sectors": lost.lost_sectors});
    json!({
        "schema": "seekwell/machine-serve/1",
        "modelled": true,
        "title": title,
        "address": uri,
        "lasted_ns": served.lasted.0,
        "clients": served.clients,
        "ops": OPS.iter().map(op).collect::<Vec<_>>(),
        "late_requests": served.tally.late,
        "latest_ns": served.tally.worst.0,
        "power_cuts": served.cuts.iter().map(cut).collect::<Vec<_>>(),
    })
}
