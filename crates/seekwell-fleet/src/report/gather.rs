//! Members and groups from rows.

use super::{Attempt, Group, Headline, Member, Value, spread_percent};
use crate::table::{Cell, Row, Table};
use crate::tables::{DISKS, FINDINGS, METRICS, RUNS, tables};
use seekwell_compare::Unit;
use seekwell_io::request::Op;
use seekwell_runs::RunEntry;
use seekwell_stats::{Middle, percent};
use std::collections::BTreeMap;

/// Blocks of this size or more are spoken of in bytes a second, smaller ones in requests.
const LARGE_BLOCK: f64 = 65536.0;
/// What a host can differ in, in the order in which it is shown.
pub const FACTS: [(Table, &str, &str); 14] = [
    (DISKS, "link", "link"),
    (DISKS, "mode", "controller mode"),
    (DISKS, "driver", "driver"),
    (DISKS, "transport", "transport"),
    (DISKS, "queue_depth", "queue depth"),
    (DISKS, "scheduler", "scheduler"),
    (DISKS, "write_cache", "write cache"),
    (DISKS, "logical_block_bytes", "logical block size"),
    (RUNS, "kernel", "kernel"),
    (RUNS, "version", "seekwell version"),
    (RUNS, "engine", "engine"),
    (RUNS, "cpu_model", "CPU"),
    (RUNS, "cpus", "number of CPUs"),
    (RUNS, "virtualization", "virtualization"),
];

/// A member's rates, by phase and metric.
pub type Rates = BTreeMap<(String, String), f64>;
/// Members with their values.
type ByMetric<'a> = BTreeMap<&'a str, Vec<(usize, f64)>>;

/// The rows of one run in one table.
struct Rows<'a> {
    table: Table,
    rows: Vec<&'a Row>,
}

impl<'a> Rows<'a> {
    fn at(&self, column: &str) -> usize {
        let at = self.table.columns.iter().position(|c| c.name == column);
        at.expect("a column of the table")
    }

    fn column(&self, name: &str) -> impl Iterator<Item = &'a Cell> {
        let at = self.at(name);
        self.rows.iter().map(move |row| &row[at])
    }

    /// The values of a column, each with its number if there are several rows.
    fn joined(&self, name: &str) -> Option<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for value in self.column(name).filter_map(text) {
            *counts.entry(value).or_default() += 1;
        }
        let said = counts.into_iter().map(|(value, count)| match count {
            1 => value,
            count => format!("{count} × {value}"),
        });
        Some(said.collect::<Vec<_>>().join(" + ")).filter(|said| !said.is_empty())
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = String> {
        self.column(name).map(|cell| text(cell).unwrap_or_default())
    }
}

fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Cell::Int(number) => Some(number.to_string()),
        Cell::Real(number) => Some(number.to_string()),
        Cell::Bool(value) => Some(value.to_string()),
        Cell::Missing | Cell::Time(_) | Cell::Ints(_) => None,
    }
}

/// A member for each run, and its rates.
pub fn members(runs: &[&RunEntry], rows: &[Vec<Row>; 5]) -> (Vec<Member>, Vec<Rates>) {
    let mut of_run: BTreeMap<(&str, &str), [Vec<&Row>; 5]> = BTreeMap::new();
    for (table, rows) in rows.iter().enumerate() {
        for row in rows {
            if let [Cell::Text(host), Cell::Text(run), ..] = row.as_slice() {
                of_run.entry((host, run)).or_default()[table].push(row);
            }
        }
    }
    runs.iter()
        .map(|run| {
            let mut all = of_run.remove(&(&run.host, &run.id)).unwrap_or_default();
            let mut of = |wanted: Table| {
                let at = tables().iter().position(|table| *table == wanted).expect("it is one");
                Rows { table: wanted, rows: std::mem::take(&mut all[at]) }
            };
            member(run, [of(DISKS), of(METRICS), of(FINDINGS), of(RUNS)])
        })
        .unzip()
}

fn member(run: &RunEntry, [disks, metrics, findings, runs]: [Rows<'_>; 4]) -> (Member, Rates) {
    let fact = |(table, column, _): &(Table, &str, &str)| {
        let of = if *table == DISKS { &disks } else { &runs };
        Some(((*column).to_owned(), of.joined(column)?))
    };
    let medians = metrics.column("median").map(|cell| match cell {
        Cell::Real(value) => *value,
        _ => f64::NAN,
    });
    let names = metrics.texts("phase").zip(metrics.texts("metric"));
    // What has no logarithm cannot be held against others.
    let rates = names.zip(medians).filter(|((_, metric), value)| {
        metric.ends_with("_per_s") && value.is_finite() && *value > 0.0
    });
    let member = Member {
        host: run.host.clone(),
        target: run.target.clone(),
        run: run.id.clone(),
        started_at: run.started_at.clone(),
        model: disks.joined("model"),
        firmware: disks.joined("firmware"),
        serial: disks.joined("serial"),
        facts: FACTS.iter().filter_map(fact).collect(),
        findings: findings.texts("finding").zip(findings.texts("title")).collect(),
    };
    (member, rates.collect())
}

/// Members by model and firmware, the largest group first.
pub fn groups(members: &[Member], rates: &[Rates]) -> Vec<Group> {
    let mut of: BTreeMap<(&Option<String>, &Option<String>), Vec<usize>> = BTreeMap::new();
    for (at, member) in members.iter().enumerate() {
        of.entry((&member.model, &member.firmware)).or_default().push(at);
    }
    let mut groups: Vec<Group> = of
        .into_iter()
        .map(|((model, firmware), members)| Group {
            model: model.clone(),
            firmware: firmware.clone(),
            metrics: headlines(&members, rates),
            members,
        })
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    groups
}

/// The rates of each phase: of requests those of one operation, as all are in proportion.
fn headlines(members: &[usize], rates: &[Rates]) -> Vec<Headline> {
    let mut phases: BTreeMap<&str, ByMetric<'_>> = BTreeMap::new();
    for &member in members {
        for ((phase, metric), value) in &rates[member] {
            let of_phase = phases.entry(phase).or_default();
            of_phase.entry(metric).or_default().push((member, *value));
        }
    }
    let mut found = Vec::new();
    for (phase, mut metrics) in phases {
        let requests = |op: &Op| format!("{}.requests_per_s", op.name());
        match Op::ALL.into_iter().find(|op| metrics.contains_key(requests(op).as_str())) {
            Some(op) => {
                let [requests, bytes] = ["requests_per_s", "rate_bytes_per_s"]
                    .map(|rate| metrics.remove_entry(format!("{}.{rate}", op.name()).as_str()));
                let name = op.name();
                match (requests, bytes) {
                    (Some((_, requests)), Some((metric, bytes)))
                        if bytes[0].1 >= LARGE_BLOCK * requests[0].1 =>
                    {
                        let title = format!("{name} rate");
                        found.push(headline(phase, metric, title, Unit::BytesPerSecond, bytes));
                    }
                    (Some((metric, requests)), _) => {
                        let title = format!("{name} requests");
                        found.push(headline(phase, metric, title, Unit::PerSecond, requests));
                    }
                    (None, _) => {}
                }
            }
            None => found.extend(metrics.into_iter().map(|(metric, values)| {
                let stem = |ending| metric.strip_suffix(ending);
                let (stem, unit) = match stem("_bytes_per_s") {
                    Some(stem) => (stem, Unit::BytesPerSecond),
                    None => (stem("_per_s").unwrap_or(metric), Unit::PerSecond),
                };
                headline(phase, metric, stem.replace('_', " "), unit, values)
            })),
        }
    }
    found
}

fn headline(
    phase: &str,
    metric: &str,
    title: String,
    unit: Unit,
    values: Vec<(usize, f64)>,
) -> Headline {
    let numbers: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let middle = Middle::of(&numbers).expect("rates above 0");
    let difference = |value| middle.log_ratio(value).map_or(0.0, percent);
    let value = |(member, value)| Value { member, value, percent: difference(value) };
    Headline {
        phase: phase.to_owned(),
        metric: metric.to_owned(),
        title,
        unit,
        n: numbers.len(),
        median: middle.median.exp(),
        spread_percent: spread_percent(&middle),
        limits: None,
        values: values.into_iter().map(value).collect(),
    }
}

/// Newest runs that do not count, where none that does came later.
pub fn failed(counting: &[&RunEntry], others: &[&RunEntry]) -> Vec<Attempt> {
    let of = |run: &RunEntry| (run.host.clone(), run.target.clone());
    let done: BTreeMap<_, &str> =
        counting.iter().map(|run| (of(run), run.started_at.as_str())).collect();
    let newest = |run: &&&RunEntry| done.get(&of(run)).is_none_or(|at| *at < &*run.started_at);
    let attempt = |run: &&RunEntry| Attempt {
        host: run.host.clone(),
        target: run.target.clone(),
        run: run.id.clone(),
        started_at: run.started_at.clone(),
        state: if run.invalid { "invalid".into() } else { run.state.name().into() },
    };
    others.iter().filter(newest).map(attempt).collect()
}
