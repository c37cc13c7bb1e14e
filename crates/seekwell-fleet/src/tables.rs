//! The tables, and what a run gives for them.

use crate::table::{Cell, Column, Kind, Row, Table};
use Kind::{Bool, Int, Ints, Real, Text, Time};
use jiff::Timestamp;
use seekwell_inspect::facts::PciFunction;
use seekwell_inspect::{Device, Fact, Inspection};
use seekwell_io::histogram::Histogram;
use seekwell_runs::{Detail, Medium, RunDocument};

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

pub const RUNS: Table = Table {
    name: "runs",
    key: 2,
    columns: &[
        column("host", Text),
        column("run", Text),
        column("kind", Text),
        column("status", Text),
        column("label", Text),
        column("modelled", Bool),
        column("started_at", Time),
        column("ended_at", Time),
        column("target", Text),
        column("medium_bytes", Int),
        column("engine", Text),
        column("version", Text),
        column("git_commit", Text),
        column("kernel", Text),
        column("cpu_model", Text),
        column("cpus", Int),
        column("memory_bytes", Int),
        column("virtualization", Text),
        column("invalid", Text),
    ],
};

pub const DISKS: Table = Table {
    name: "disks",
    key: 3,
    columns: &[
        column("host", Text),
        column("run", Text),
        column("position", Int),
        column("name", Text),
        column("model", Text),
        column("firmware", Text),
        column("serial", Text),
        column("wwn", Text),
        column("transport", Text),
        column("driver", Text),
        column("pci", Text),
        column("mode", Text),
        column("link", Text),
        column("size_bytes", Int),
        column("queue_depth", Int),
        column("scheduler", Text),
        column("write_cache", Text),
        column("rotational", Bool),
        column("logical_block_bytes", Int),
    ],
};

pub const METRICS: Table = Table {
    name: "metrics",
    key: 4,
    columns: &[
        column("host", Text),
        column("run", Text),
        column("phase", Text),
        column("metric", Text),
        column("median", Real),
        column("low", Real),
        column("high", Real),
        column("repeats", Int),
    ],
};

const HISTOGRAMS: Table = Table {
    name: "histograms",
    key: 6,
    columns: &[
        column("host", Text),
        column("run", Text),
        column("phase", Text),
        column("repeat", Int),
        column("op", Text),
        column("time", Text),
        column("valid", Bool),
        column("ns", Ints),
        column("counts", Ints),
    ],
};

pub const FINDINGS: Table = Table {
    name: "findings",
    key: 3,
    columns: &[
        column("host", Text),
        column("run", Text),
        column("position", Int),
        column("finding", Text),
        column("severity", Text),
        column("title", Text),
        column("remedy", Text),
    ],
};

/// All tables; `runs` comes last, for a run is there once its row is.
pub const fn tables() -> [Table; 5] {
    [DISKS, METRICS, HISTOGRAMS, FINDINGS, RUNS]
}

/// The rows of a run, by table, in the order of [`tables()`].
pub fn rows(run: &RunDocument, detail: &Detail) -> [Vec<Row>; 5] {
    let of = Of { host: run.inspection.host.label(), run: &run.id };
    let all = [
        disks(&of, run),
        metrics(&of, run),
        histograms(&of, run, detail),
        findings(&of, run),
        vec![of.row([
            run.kind.name().into(),
            run.status.name().into(),
            run.label.clone().into(),
            run.modelled.into(),
            time(&run.started_at),
            run.ended_at.as_deref().map_or(Cell::Missing, time),
            run.inspection.path.as_str().into(),
            run.medium.as_ref().and_then(medium_bytes).into(),
            run.engine.name.as_str().into(),
            run.tool.version.as_str().into(),
            run.tool.git_commit.clone().into(),
            text(run.inspection.host.kernel.as_ref()),
            text(run.inspection.host.cpu_model.as_ref()),
            number(run.inspection.host.cpus.as_ref()),
            number(run.inspection.host.memory_bytes.as_ref()),
            text(run.inspection.host.virtualization.as_ref()),
            (!run.invalid.is_empty()).then(|| run.invalid.join("; ")).into(),
        ])],
    ];
    for (table, rows) in tables().iter().zip(&all) {
        for row in rows {
            assert_eq!(row.len(), table.columns.len(), "{}: a value for each column", table.name);
            let fits = row.iter().zip(table.columns).all(|(cell, c)| cell.fits(c.kind));
            assert!(fits, "{}: {row:?}", table.name);
        }
    }
    all
}

/// Whose the rows are.
struct Of<'a> {
    host: &'a str,
    run: &'a str,
}

impl Of<'_> {
    fn row(&self, cells: impl IntoIterator<Item = Cell>) -> Row {
        [self.host.into(), self.run.into()].into_iter().chain(cells).collect()
    }
}

fn disks(of: &Of<'_>, run: &RunDocument) -> Vec<Row> {
    let disk = |(position, disk): (usize, &&Device)| {
        let queue = &disk.queue;
        of.row([
            (position as u64).into(),
            disk.name.as_str().into(),
            text(disk.model.as_ref()),
            text(disk.firmware.as_ref()),
            text(disk.serial.as_ref()),
            text(disk.wwn.as_ref()),
            text(disk.transport.as_ref()),
            text(disk.driver.as_ref()),
            text(disk.pci.as_ref()),
            disk.detail.controller().map(PciFunction::words).into(),
            disk.link().map(|link| link.words).into(),
            number(disk.size_bytes.as_ref()),
            number(queue.queue_depth.as_ref()),
            text(queue.scheduler.as_ref()),
            text(queue.write_cache.as_ref()),
            queue.rotational.as_ref().map(|fact| fact.value).into(),
            number(queue.logical_block_bytes.as_ref()),
        ])
    };
    let disks: Vec<&Device> = run.inspections().flat_map(Inspection::disks).collect();
    disks.iter().enumerate().map(disk).collect()
}

fn metrics(of: &Of<'_>, run: &RunDocument) -> Vec<Row> {
    let phases = run.phases.iter();
    phases
        .flat_map(|phase| {
            phase.metrics.iter().map(|(metric, spread)| (&phase.name, metric, spread))
        })
        .map(|(phase, metric, s)| {
            of.row([
                phase.as_str().into(),
                metric.as_str().into(),
                s.median.into(),
                s.low.into(),
                s.high.into(),
                s.n.into(),
            ])
        })
        .collect()
}

fn histograms(of: &Of<'_>, run: &RunDocument, detail: &Detail) -> Vec<Row> {
    let mut rows = Vec::new();
    for repeat in &detail.repeats {
        let kept = run.phase(&repeat.phase).and_then(|p| p.repeats.get(repeat.repeat as usize));
        let valid = kept.is_some_and(|kept| kept.invalid.is_none());
        for (time, bins) in [("latency", &repeat.latency_bins), ("response", &repeat.response_bins)]
        {
            for (op, bins) in bins {
                let ns = bins.iter().map(|(bin, _)| Histogram::middle_of(*bin as usize) as i64);
                let counts = bins.iter().map(|(_, n)| i64::try_from(*n).unwrap_or(i64::MAX));
                rows.push(of.row([
                    repeat.phase.as_str().into(),
                    repeat.repeat.into(),
                    op.as_str().into(),
                    time.into(),
                    valid.into(),
                    Cell::Ints(ns.collect()),
                    Cell::Ints(counts.collect()),
                ]));
            }
        }
    }
    rows
}

fn findings(of: &Of<'_>, run: &RunDocument) -> Vec<Row> {
    let all = run.findings.iter().enumerate();
    all.map(|(position, finding)| {
        of.row([
            (position as u64).into(),
            finding.id.as_str().into(),
            finding.severity.name().into(),
            finding.title.as_str().into(),
            finding.remedy.as_str().into(),
        ])
    })
    .collect()
}

fn medium_bytes(medium: &Medium) -> Option<u64> {
    match medium {
        Medium::TemporaryFile { size_bytes, .. }
        | Medium::ReadOnly { size_bytes, .. }
        | Medium::Destroyed { size_bytes, .. }
        | Medium::Machine { size_bytes, .. } => Some(*size_bytes),
        Medium::Null => None,
    }
}

fn text(fact: Option<&Fact<String>>) -> Cell {
    fact.map(|fact| fact.value.as_str()).into()
}

fn number(fact: Option<&Fact<u64>>) -> Cell {
    fact.map_or(Cell::Missing, |fact| fact.value.into())
}

fn time(rfc3339: &str) -> Cell {
    rfc3339.parse::<Timestamp>().map_or(Cell::Missing, |at| Cell::Time(at.as_microsecond()))
}
