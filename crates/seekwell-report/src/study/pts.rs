//! SNIA's Performance Test Specification: how steady each test was, and its table in the form that
//! the specification gives it.

use super::plot::{Panel, Unit};
use super::text::StudyText;
use crate::rows::NONE;
use crate::text::clean;
use crate::units::{bytes_per_s, exact, iops, time};
use seekwell_runs::{
    Measure, Pts, PtsCell, PtsFound, PtsKind, PtsSeries, PtsTest, RunDocument, Skipped, Status,
};
use std::collections::BTreeSet;

pub(super) fn texts(document: &RunDocument, pts: &Pts) -> Vec<StudyText> {
    let results = pts.tests.iter().filter(|test| !test.series.is_empty());
    std::iter::once(overview(document, pts))
        .chain(results.map(|test| result(document, test)))
        .collect()
}

/// The summary of all tests, and their steady-state windows.
fn overview(document: &RunDocument, pts: &Pts) -> StudyText {
    let series = || pts.tests.iter().flat_map(|test| test.series.iter().map(move |s| (test, s)));
    let steady = || series().filter(|(test, _)| test.kind != PtsKind::Xsr);
    let columns = ["tracked", "rounds", "steady", "average", "range", "slope"];
    StudyText {
        title: "SNIA Performance Test Specification".to_owned(),
        sentences: sentences(document, pts),
        columns: columns.map(String::from).into(),
        words: 3,
        spare: 0,
        rows: steady().map(|(_, series)| window(series)).collect(),
        panels: steady().map(|(_, series)| rounds(series)).collect(),
    }
}

fn sentences(document: &RunDocument, pts: &Pts) -> Vec<String> {
    let headline: Vec<String> = pts.tests.iter().filter_map(headline).collect();
    let mut all = vec![match headline.is_empty() {
        true => "No test has given a number yet.".to_owned(),
        false => format!("{}.", headline.join("; ")),
    }];
    if !pts.short.is_empty() {
        let why = pts.short.join(", ");
        all.push(format!("This is a short form and no result of the specification: {why}."));
    }
    all.push(if document.modelled {
        "Each test began with a new modelled drive, in the state that its description says."
            .to_owned()
    } else {
        "The device was not purged before a test, as the specification asks: each began in the \
         state that earlier use had left."
            .to_owned()
    });
    all.push(
        "Steady are five rounds in a row whose range is at most 20 % of their average, with a \
         fitted line that moves by at most 10 % of it; tables are averages over the rounds given \
         here."
            .to_owned(),
    );
    let unsteady = |series: &&PtsSeries| series.window.is_some_and(|window| !window.steady);
    let never: Vec<&str> = pts
        .tests
        .iter()
        .filter(|test| test.finished)
        .flat_map(|test| test.series.iter().filter(unsteady))
        .map(|series| series.phase.as_str())
        .collect();
    if !never.is_empty() {
        let never = never.join(", ");
        all.push(format!("No steady state was reached by {never}: the last rounds count."));
    }
    all.extend(left_out(document, pts));
    let open = pts.tests.iter().find(|test| !test.finished);
    if let (Some(test), false) = (open, document.status == Status::Complete) {
        let (name, id) = (test.kind.name(), &document.id);
        all.push(format!("{name} is not finished: the same command with --resume {id} goes on."));
    }
    all
}

/// The cells that were not run, with the reason.
fn left_out(document: &RunDocument, pts: &Pts) -> Option<String> {
    let cells = pts.tests.iter().flat_map(|test| &test.series).flat_map(|series| &series.cells);
    let why = |cell: &PtsCell| match document.phase(&cell.phase)?.skipped.as_ref()? {
        Skipped::Because(why) => Some((cell.block_bytes, clean(why))),
        _ => None,
    };
    let known: Vec<_> = cells.filter_map(why).collect();
    let (bytes, why) = known.first()?;
    Some(format!("{} cells of {} are {why}.", known.len(), exact((*bytes).into())))
}

/// The best-known figures of a test.
fn headline(test: &PtsTest) -> Option<String> {
    let cells = &test.series.last()?.cells;
    let both = |bytes: u32, of: fn(PtsFound) -> String| {
        let found = |reads| {
            let is_it = |cell: &&PtsCell| cell.read_percent == reads && cell.block_bytes == bytes;
            cells.iter().find(is_it)?.found
        };
        Some((of(found(100)?), of(found(0)?)))
    };
    Some(match test.kind {
        PtsKind::Iops => {
            let (reads, writes) = both(4096, |found| iops(found.requests_per_s))?;
            format!("{reads} random reads and {writes} writes of 4 KiB a second")
        }
        PtsKind::Tp | PtsKind::Tp128k => {
            let bytes = cells.first()?.block_bytes;
            let (reads, writes) = both(bytes, |found| bytes_per_s(found.rate_bytes_per_s))?;
            format!("{reads} and {writes} in sequence by {}", exact(bytes.into()))
        }
        PtsKind::Latency => {
            let (reads, writes) = both(4096, |found| time(found.latency_ns_mean))?;
            format!("{reads} for a read and {writes} for a write of 4 KiB alone")
        }
        PtsKind::Dirth => {
            let most = cells.first()?;
            let (rate, demand) = (iops(most.found?.requests_per_s), most.threads * most.depth);
            format!("{rate} writes a second with {demand} outstanding")
        }
        PtsKind::Xsr => {
            let rate = |series: &PtsSeries| Some(series.cells.first()?.found?.rate_bytes_per_s);
            let rates = test.series.iter().filter_map(rate).map(bytes_per_s);
            let rates = rates.collect::<Vec<_>>().join(", ");
            format!("{rates} as the load changes and comes back")
        }
    })
}

/// How steady a series was.
fn window(series: &PtsSeries) -> Vec<String> {
    let Some(window) = series.window else {
        let done = format!("1 to {}", series.rounds.len());
        return [tracked(series), done].into_iter().chain([NONE; 4].map(String::from)).collect();
    };
    vec![
        tracked(series),
        format!("{} to {}", window.from + 1, window.from + window.rounds),
        if window.steady { "yes" } else { "no" }.to_owned(),
        unit(series.measure).write(window.mean),
        percent(window.range),
        percent(window.excursion),
    ]
}

fn tracked(series: &PtsSeries) -> String {
    let what = match series.measure {
        Measure::RequestsPerS => "IOPS",
        Measure::RateBytesPerS => "throughput",
        Measure::LatencyNsMean => "mean latency",
    };
    format!("{}: {what}", series.phase)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

const fn unit(measure: Measure) -> Unit {
    match measure {
        Measure::RequestsPerS => Unit::PerSecond,
        Measure::RateBytesPerS => Unit::BytesPerSecond,
        Measure::LatencyNsMean => Unit::Time,
    }
}

/// The tracked figure over the rounds, with the rounds that count as a line of their own.
fn rounds(series: &PtsSeries) -> Panel {
    let first = series.window.map_or(0, |window| window.from as usize);
    let of = |counts: bool| {
        let value = |(i, value): (usize, &f64)| (counts == (i >= first)).then_some(*value);
        series.rounds.iter().enumerate().map(value).collect::<Vec<_>>()
    };
    let mut lines = vec![("rounds that count".to_owned(), of(true))];
    if first > 0 {
        lines.push(("rounds before".to_owned(), of(false)));
    }
    Panel {
        title: format!("{} over rounds", tracked(series)),
        along: "round".into(),
        places: (1..=series.rounds.len()).map(|round| round.to_string()).collect(),
        lines,
        unit: unit(series.measure),
    }
}

fn result(document: &RunDocument, test: &PtsTest) -> StudyText {
    let cells = test.series.last().map_or(&[][..], |series| &series.cells);
    match test.kind {
        PtsKind::Iops => matrix("IOPS", cells, |found| iops(found.requests_per_s)),
        PtsKind::Tp | PtsKind::Tp128k => {
            matrix("Throughput", cells, |found| bytes_per_s(found.rate_bytes_per_s))
        }
        PtsKind::Latency => latency(cells),
        PtsKind::Dirth => demand(cells),
        PtsKind::Xsr => recovery(document, &test.series),
    }
}

/// Block sizes by read/write mix, smallest size and pure writes first.
fn matrix(title: &str, cells: &[PtsCell], value: fn(&PtsFound) -> String) -> StudyText {
    let sizes: BTreeSet<u32> = cells.iter().map(|cell| cell.block_bytes).collect();
    let reads: BTreeSet<u8> = cells.iter().map(|cell| cell.read_percent).collect();
    let cell = |size: u32, reads: u8| {
        let is_it = |cell: &&PtsCell| cell.block_bytes == size && cell.read_percent == reads;
        let found = cells.iter().find(is_it).and_then(|cell| cell.found);
        found.map_or_else(|| NONE.to_owned(), |found| value(&found))
    };
    let row = |size: &u32| {
        let size_and = std::iter::once(exact((*size).into()));
        size_and.chain(reads.iter().map(|reads| cell(*size, *reads))).collect()
    };
    let mixes = reads.iter().map(|reads| mix(*reads));
    StudyText {
        title: format!("{title} by size and share of reads and writes"),
        sentences: Vec::new(),
        columns: std::iter::once("size".to_owned()).chain(mixes).collect(),
        words: 1,
        spare: 0,
        rows: sizes.iter().map(row).collect(),
        panels: Vec::new(),
    }
}

/// `65/35`.
fn mix(reads: u8) -> String {
    format!("{reads}/{}", 100 - reads)
}

/// Average, 99.999 % and longest.
fn times(found: Option<&PtsFound>) -> [String; 3] {
    let Some(found) = found else { return [NONE, NONE, NONE].map(String::from) };
    let rare = found.latency_ns_p99_999.map(|ns| time(ns as f64));
    [
        time(found.latency_ns_mean),
        rare.unwrap_or_else(|| NONE.to_owned()),
        time(found.latency_ns_max as f64),
    ]
}

fn latency(cells: &[PtsCell]) -> StudyText {
    let mut sorted: Vec<&PtsCell> = cells.iter().collect();
    sorted.sort_by_key(|cell| (cell.block_bytes, cell.read_percent));
    let row = |cell: &&PtsCell| {
        let what = [exact(cell.block_bytes.into()), mix(cell.read_percent)];
        what.into_iter().chain(times(cell.found.as_ref())).collect()
    };
    let columns = ["size", "reads/writes", "average", "99.999 %", "longest"];
    StudyText {
        title: "Latency of one request at a time".to_owned(),
        sentences: Vec::new(),
        columns: columns.map(String::from).into(),
        words: 2,
        spare: 0,
        rows: sorted.iter().map(row).collect(),
        panels: Vec::new(),
    }
}

fn demand(cells: &[PtsCell]) -> StudyText {
    let outstanding = |cell: &PtsCell| cell.threads * cell.depth;
    let row = |cell: &PtsCell| {
        let what = [outstanding(cell), cell.threads, cell.depth].map(|n| n.to_string());
        let rate = cell.found.map_or_else(|| NONE.to_owned(), |f| iops(f.requests_per_s));
        what.into_iter().chain([rate]).chain(times(cell.found.as_ref())).collect()
    };
    let demands: BTreeSet<u32> = cells.iter().map(outstanding).collect();
    // Of several with as much outstanding, the one that did most.
    let best = |demand: &u32| {
        let found = cells.iter().filter(|cell| outstanding(cell) == *demand);
        found
            .filter_map(|cell| cell.found)
            .max_by(|a, b| a.requests_per_s.total_cmp(&b.requests_per_s))
    };
    let panel = |title: &str, unit, value: fn(PtsFound) -> f64| Panel {
        title: format!("{title} over outstanding"),
        along: "outstanding".into(),
        places: demands.iter().map(u32::to_string).collect(),
        lines: vec![(title.to_owned(), demands.iter().map(|d| best(d).map(value)).collect())],
        unit,
    };
    let columns = ["outstanding", "threads", "depth", "IOPS", "average", "99.999 %", "longest"];
    StudyText {
        title: "Demand intensity: writes of 4 KiB at random".to_owned(),
        sentences: Vec::new(),
        columns: columns.map(String::from).into(),
        words: 0,
        spare: 0,
        rows: cells.iter().map(row).collect(),
        panels: vec![
            panel("requests/s", Unit::PerSecond, |found| found.requests_per_s),
            panel("average latency", Unit::Time, |found| found.latency_ns_mean),
        ],
    }
}

fn recovery(document: &RunDocument, series: &[PtsSeries]) -> StudyText {
    let words = |series: &PtsSeries| {
        let title = document.phase(&series.phase).map_or("", |phase| &phase.title);
        clean(title.split(',').next().unwrap_or(title))
    };
    let row = |series: &PtsSeries| {
        let rates = &series.rounds;
        let lowest = rates.iter().copied().reduce(f64::min);
        let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        let told = |rate: Option<f64>| rate.map_or_else(|| NONE.to_owned(), bytes_per_s);
        vec![
            words(series),
            rates.len().to_string(),
            told(rates.first().copied()),
            told(lowest),
            told((!rates.is_empty()).then_some(mean)),
            told(rates.last().copied()),
        ]
    };
    let all: usize = series.iter().map(|series| series.rounds.len()).sum();
    let mut before = 0;
    let line = |series: &PtsSeries| {
        let mut values = vec![None; all];
        for rate in &series.rounds {
            values[before] = Some(*rate);
            before += 1;
        }
        (words(series), values)
    };
    let columns = ["load", "cells", "first", "lowest", "average", "last"];
    StudyText {
        title: "Cross-stimulus recovery".to_owned(),
        sentences: Vec::new(),
        columns: columns.map(String::from).into(),
        words: 1,
        spare: 0,
        rows: series.iter().map(row).collect(),
        panels: vec![Panel {
            title: "write rate over cells".to_owned(),
            along: "cell".into(),
            places: (1..=all).map(|cell| cell.to_string()).collect(),
            lines: series.iter().map(line).collect(),
            unit: Unit::BytesPerSecond,
        }],
    }
}
