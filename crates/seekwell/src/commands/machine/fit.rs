//! `seekwell machine fit`: a description of the disk that was measured.

use crate::Ended;
use crate::cli::machine::Fit;
use crate::commands::{begin_output, write_output};
use crate::context::Context;
use crate::exit::Exit;
use seekwell_inspect::{Device, Fact, Inspection};
use seekwell_machine::Model;
use seekwell_machine::fit::{Facts, Fitted, Observed, Row, fit};
use seekwell_machine::library::Shelf;
use seekwell_machine::link::SataSpeed;
use seekwell_report::units::{capacity, iops};
use seekwell_runs::{Medium, OpSummary, Phase, RunDocument};
use seekwell_stats::signed;
use serde_json::{Value, json};

pub fn run(args: &Fit, context: &Context) -> Ended {
    let output = begin_output(&args.output, args.replace, context)?;
    let (document, _) = context.store()?.load(&args.run)?;
    let observed: Vec<Observed> = document.phases.iter().filter_map(observed).collect();
    let facts = facts(&document, &observed);
    let fitted = fit(&facts, &observed, &args.on_depths)?;
    let file = args.output.display().to_string();
    // What cannot be read back must not be written.
    let model = Model::read(&file, &fitted.toml, &[], &Shelf::default())?;
    write_output(output, &fitted.toml)?;
    if context.json {
        context.print_json(&described(&document, &file, &fitted))?;
    } else {
        context.print(&text(&file, &model, &fitted, context.width))?;
    }
    Ok(Exit::Done)
}

/// What a phase gave, where it drew requests and every one of its numbers is there.
fn observed(phase: &Phase) -> Option<Observed> {
    let workload = phase.workload.drawn()?.clone();
    let rates: Vec<_> = ["read", "write"]
        .iter()
        .filter_map(|op| phase.metrics.get(&format!("{op}.requests_per_s")))
        .collect();
    let requests_per_s: f64 = rates.iter().map(|s| s.median).sum();
    let width: f64 = rates.iter().map(|s| s.high - s.low).sum();
    let reads: Vec<&OpSummary> = phase
        .repeats
        .iter()
        .filter(|r| r.invalid.is_none())
        .filter_map(|r| r.ops.get("read"))
        .collect();
    let median = |name: &str| phase.median(&format!("read.latency_ns_{name}"));
    let shortest = reads.iter().map(|op| op.latency.ns_min as f64).reduce(f64::min);
    let points = [
        (0.0, shortest),
        (0.5, median("p50")),
        (0.9, median("p90")),
        (0.99, median("p99")),
        (0.999, median("p99_9")),
        (1.0, median("max")),
    ];
    let mut read_times: Vec<(f64, f64)> = Vec::new();
    for (share, ns) in points {
        let Some(ns) = ns else { continue };
        let before = read_times.last().map_or(0.0, |(_, ns)| *ns);
        read_times.push((share, ns.max(before)));
    }
    (requests_per_s > 0.0).then(|| Observed {
        phase: phase.name.clone(),
        workload,
        requests_per_s,
        spread_percent: 50.0 * width / requests_per_s,
        read_times,
        read_ns_mean: median("mean"),
    })
}

/// What inspection and the measurement itself tell of the disk.
fn facts(document: &RunDocument, observed: &[Observed]) -> Facts {
    let reached = observed.iter().map(|o| o.workload.offset_bytes + o.workload.region_bytes);
    let disk = disk_under(&document.inspection);
    let known = disk.and_then(|d| d.size_bytes.as_ref()).map(|f| f.value);
    let size = match &document.medium {
        Some(Medium::Machine { size_bytes, .. }) => Some(*size_bytes),
        _ => known,
    };
    let queue = disk.map(|d| &d.queue);
    let detail = disk.map(|d| &d.detail);
    let ata = detail.and_then(|d| d.ata.as_ref());
    let identify = detail.and_then(|d| d.identify.as_ref());
    let told = identify.and_then(|i| i.value.rotation_rpm).map(u64::from);
    let page = detail.and_then(|d| d.scsi.as_ref()).and_then(|s| s.rotation_rpm.as_ref());
    // 1 stands for a drive that does not rotate.
    let rpm = told.or(page.map(|f| f.value)).filter(|rpm| *rpm > 1).map(|rpm| rpm as f64);
    let sector = queue.and_then(|q| q.logical_block_bytes.as_ref()).map(|f| f.value);
    Facts {
        title: title(document, disk),
        capacity_bytes: size.unwrap_or(0).max(reached.max().unwrap_or(0)),
        sector_bytes: sector.and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(512),
        rotational: queue.and_then(|q| q.rotational.as_ref()).map(|f| f.value),
        rpm,
        depth: queue.and_then(|q| q.queue_depth.as_ref()).and_then(|f| u32::try_from(f.value).ok()),
        link: ata.and_then(|a| a.link_speed.as_ref()).and_then(speed),
    }
}

/// The one disk the measured device stands on, where it is one.
fn disk_under(inspection: &Inspection) -> Option<&Device> {
    let mut device = inspection.device.as_ref()?;
    while let [below] = device.below.as_slice() {
        device = below;
    }
    Some(device)
}

fn title(document: &RunDocument, disk: Option<&Device>) -> String {
    let model = disk.and_then(|d| d.model.as_ref()).map(|f| f.value.trim().to_owned());
    let name = match &document.medium {
        Some(Medium::Machine { title, .. }) => Some(title.clone()),
        _ => model.filter(|m| !m.is_empty()).or_else(|| disk.map(|d| d.name.clone())),
    };
    let name = name.unwrap_or_else(|| document.inspection.target.clone());
    format!("{name}, fitted to {}", document.id)
}

/// A speed as the kernel words it: `6.0 Gbps`.
fn speed(fact: &Fact<String>) -> Option<SataSpeed> {
    match fact.value.trim() {
        "1.5 Gbps" => Some(SataSpeed::Gbps1_5),
        "3.0 Gbps" => Some(SataSpeed::Gbps3),
        "6.0 Gbps" => Some(SataSpeed::Gbps6),
        _ => None,
    }
}

fn text(file: &str, model: &Model, fitted: &Fitted, width: usize) -> String {
    let rows = fitted.rows.iter().map(|row| {
        let kind = if row.fitted { "fitted" } else { "predicted" };
        vec![
            row.phase.clone(),
            iops(row.measured_per_s),
            iops(row.modelled_per_s),
            format!("{} %", signed(row.error_percent(), 1)),
            kind.to_owned(),
        ]
    });
    let header = ["phase", "measured/s", "modelled/s", "error", ""];
    let table = seekwell_report::table(&header, rows, width);
    let kind = match fitted.kind {
        "hdd" => "a hard drive",
        _ => "a flow-equivalent drive",
    };
    let said = format!(
        "{file}: {}, {}, {kind}. Off by {:.1} % in the mean of what it was fitted to; figures \
         modelled with it are shown with ± {:.1} %, high percentiles with ± {:.1} %.",
        model.title(),
        capacity(model.capacity()),
        fitted.mean_error_percent,
        fitted.error_percent,
        fitted.tail_error_percent,
    );
    let said = seekwell_report::wrap(&said, width, "", "").join("\n");
    format!("{table}\n{said}\n")
}

fn described(document: &RunDocument, file: &str, fitted: &Fitted) -> Value {
    let row = |row: &Row| {
        json!({
            "phase": row.phase,
            "measured_per_s": row.measured_per_s,
            "modelled_per_s": row.modelled_per_s,
            "error_percent": row.error_percent(),
            "p99_error_percent": row.p99_error_percent,
            "fitted": row.fitted,
        })
    };
    json!({
        "schema": "seekwell/machine-fit/1",
        "run": document.id,
        "file": file,
        "kind": fitted.kind,
        "mean_error_percent": fitted.mean_error_percent,
        "model_error_percent": fitted.error_percent,
        "model_tail_error_percent": fitted.tail_error_percent,
        "rows": fitted.rows.iter().map(row).collect::<Vec<_>>(),
    })
}
