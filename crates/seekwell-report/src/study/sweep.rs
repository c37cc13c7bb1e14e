//! A sweep: its points as a table, rate and p99 over the first key as plots.

use super::plot::{Panel, Unit};
use super::text::StudyText;
use crate::rows::{NONE, Row, rows};
use crate::text::clean;
use seekwell_io::workload::Pace;
use seekwell_runs::{Phase, RunDocument, Sweep, Work};

pub(super) fn text(document: &RunDocument, sweep: &Sweep) -> StudyText {
    let all = rows(document);
    let of = |phase: &str| all.iter().filter(|r| r.phase == phase).collect::<Vec<&Row>>();
    let several = sweep.points.iter().any(|point| of(&point.phase).len() > 1);
    let mut columns: Vec<String> = sweep.keys.iter().map(|key| clean(key)).collect();
    if several {
        columns.push("operation".into());
    }
    let words = columns.len();
    let numbers = ["MB/s", "IOPS", "p50", "p99", "CPU ns", "req/call", "device"];
    columns.extend(numbers.map(String::from));
    let mut table = Vec::new();
    for point in &sweep.points {
        for row in of(&point.phase) {
            let mut cells: Vec<String> = point.values.iter().map(|value| clean(value)).collect();
            if several {
                cells.push(row.op.clone());
            }
            let numbers =
                [&row.rate, &row.iops, &row.p50, &row.p99, &row.cpu, &row.calls, &row.device_share];
            cells.extend(numbers.map(String::clone));
            table.push(cells);
        }
    }
    // What no row has, says nothing.
    let spare = (0..3).take_while(|i| {
        table.iter().all(|cells| cells.get(columns.len() - 1 - i).is_none_or(|c| c == NONE))
    });
    let empty = spare.count();
    columns.truncate(columns.len() - empty);
    table.iter_mut().for_each(|cells| cells.truncate(columns.len()));
    StudyText {
        title: format!(
            "Sweep of {}",
            sweep.keys.iter().map(|k| clean(k)).collect::<Vec<_>>().join(", ")
        ),
        sentences: Vec::new(),
        words,
        spare: 3 - empty,
        columns,
        rows: table,
        panels: panels(document, sweep),
    }
}

/// Rate and p99 over the values of the first key, a line for each combination of the others.
fn panels(document: &RunDocument, sweep: &Sweep) -> Vec<Panel> {
    let mut places: Vec<String> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let name = |values: &[String]| {
        let pairs = sweep.keys.iter().zip(values).skip(1);
        pairs.map(|(k, v)| format!("{}={}", clean(k), clean(v))).collect::<Vec<_>>().join(" ")
    };
    for point in &sweep.points {
        let place = point.values.first().map(|v| clean(v)).unwrap_or_default();
        for (list, entry) in [(&mut places, place), (&mut lines, name(&point.values))] {
            if !list.contains(&entry) {
                list.push(entry);
            }
        }
    }
    let draw = |metric: fn(&Phase) -> Option<f64>| {
        let one = |line: &String| {
            let value = |place: &String| {
                let is_it = |p: &&seekwell_runs::Point| {
                    p.values.first().map(|v| clean(v)).as_ref() == Some(place)
                        && name(&p.values) == *line
                };
                document.phase(&sweep.points.iter().find(is_it)?.phase).and_then(metric)
            };
            (line.clone(), places.iter().map(value).collect())
        };
        lines.iter().map(one).collect()
    };
    let along = sweep.keys.first().map(|k| clean(k)).unwrap_or_default();
    let panel = |what: &str, lines, unit| Panel {
        title: format!("{what} over {along}"),
        along: along.clone(),
        places: places.clone(),
        lines,
        unit,
    };
    vec![panel("requests/s", draw(total), Unit::PerSecond), panel("p99", draw(p99), Unit::Time)]
}

/// Reads, writes and discards a second of a phase.
fn total(phase: &Phase) -> Option<f64> {
    let of = |op: &str| phase.median(&format!("{op}.requests_per_s"));
    let sum: f64 = ["read", "write", "discard"].into_iter().filter_map(of).sum();
    (sum > 0.0).then_some(sum)
}

/// The highest 99th percentile of its operations, in nanoseconds: response time under a fixed rate,
/// else service time.
fn p99(phase: &Phase) -> Option<f64> {
    let open = matches!(&phase.workload, Work::Drawn(w) if matches!(w.pace, Pace::Open { .. }));
    let clock = if open { "response" } else { "latency" };
    let of = |op: &str| phase.median(&format!("{op}.{clock}_ns_p99"));
    ["read", "write", "discard"].into_iter().filter_map(of).reduce(f64::max)
}
