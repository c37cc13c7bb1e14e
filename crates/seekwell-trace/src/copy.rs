//! Copying a trace, or a part of it, into another format.

use crate::error::TraceError;
use crate::formats::{self, Format};
use crate::record::Record;
use crate::source::{Sink, Tables, TraceSource, Written};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::path::Path;

/// Which requests are kept. An empty list keeps all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Those that arrived this long after the first request, or later.
    pub start: Option<Nanos>,
    /// Those that arrived earlier than this after the first request.
    pub end: Option<Nanos>,
    /// Those to devices of these names.
    pub devices: Vec<String>,
    /// Those of processes with these numbers.
    pub pids: Vec<u32>,
    /// Those of processes with these names.
    pub processes: Vec<String>,
    /// These operations.
    pub ops: Vec<Op>,
}

impl Selection {
    /// Devices and processes that were named and are not in the trace.
    pub fn unknown<'a>(&'a self, tables: &Tables) -> (Vec<&'a str>, Vec<&'a str>) {
        let device = |name: &&str| !tables.devices.iter().any(|d| d.name == **name);
        let process = |name: &&str| !tables.processes.iter().any(|p| p == *name);
        (
            self.devices.iter().map(String::as_str).filter(device).collect(),
            self.processes.iter().map(String::as_str).filter(process).collect(),
        )
    }
}

/// What was copied.
#[derive(Debug, Clone)]
pub struct Copied {
    /// Requests read.
    pub read: u64,
    /// From the first arrival to the last one read.
    pub span_ns: Option<u64>,
    /// What became of those that were kept.
    pub written: Written,
}

/// Copies what is selected of a source into a new file. `go_on` is called with the number of
/// requests so far; `false` stops the copy. Nothing is left behind then, nor after an error.
///
/// # Errors
/// What the source finds wrong, or what the format or the file cannot take.
pub fn copy(
    source: &mut dyn TraceSource,
    output: &Path,
    to: &'static Format,
    replace: bool,
    selection: &Selection,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Copied>, TraceError> {
    let mut first = Vec::new();
    source.read(&mut first)?;
    // Opened after the first batch, when a format knows what its times count from.
    let mut sink = formats::create(output, to, source.about(), replace)?;
    match pour(source, first, sink.as_mut(), &mut Sieve::new(selection), go_on) {
        Ok(Some((read, span_ns))) => {
            let written = sink.finish(source.about(), source.tables())?;
            Ok(Some(Copied { read, span_ns, written }))
        }
        ended => {
            sink.discard();
            ended.map(|_| None)
        }
    }
}

/// How many requests were read and what time they span; `None` if the copy was stopped.
fn pour(
    source: &mut dyn TraceSource,
    mut batch: Vec<Record>,
    sink: &mut dyn Sink,
    sieve: &mut Sieve<'_>,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<(u64, Option<u64>)>, TraceError> {
    let (mut read, mut times) = (0, None);
    while !batch.is_empty() {
        read += batch.len() as u64;
        if let Some(last) = batch.last().and_then(|record| record.arrival().get()) {
            let first = batch.iter().find_map(|record| record.arrival().get()).unwrap_or(last);
            times = Some((times.map_or(first, |(first, _)| first), last));
        }
        if !go_on(read) {
            return Ok(None);
        }
        let ended = sieve.keep(&mut batch, source.tables());
        sink.write(&batch, source.tables())?;
        if ended {
            break;
        }
        batch.clear();
        source.read(&mut batch)?;
    }
    let span_ns = times.map(|(first, last): (Nanos, Nanos)| last.0.saturating_sub(first.0));
    Ok(Some((read, span_ns)))
}

struct Sieve<'a> {
    selection: &'a Selection,
    first: Option<Nanos>,
    /// Whether a device or process is selected, by number, as far as the tables are known.
    devices: Vec<bool>,
    processes: Vec<bool>,
}

impl<'a> Sieve<'a> {
    const fn new(selection: &'a Selection) -> Self {
        Self { selection, first: None, devices: Vec::new(), processes: Vec::new() }
    }

    /// Keeps what is selected; true when nothing later can be.
    fn keep(&mut self, batch: &mut Vec<Record>, tables: &Tables) -> bool {
        let wanted =
            |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
        for device in tables.devices.iter().skip(self.devices.len()) {
            self.devices.push(wanted(&self.selection.devices, &device.name));
        }
        for process in tables.processes.iter().skip(self.processes.len()) {
            self.processes.push(wanted(&self.selection.processes, process));
        }
        let Selection { start, end, ops, pids, .. } = self.selection;
        let mut ended = false;
        batch.retain(|r| {
            let since = r.arrival().get().map(|at| {
                let first = *self.first.get_or_insert(at);
                Nanos(at.0.saturating_sub(first.0))
            });
            let in_time = match since {
                Some(since) => {
                    let is_over = end.is_some_and(|end| since >= end);
                    ended |= is_over;
                    !is_over && start.is_none_or(|start| since >= start)
                }
                None => start.is_none() && end.is_none(),
            };
            in_time
                && (ops.is_empty() || ops.contains(&r.op))
                && (pids.is_empty() || pids.contains(&r.pid))
                && self.devices.get(r.device as usize).copied().unwrap_or(false)
                && self.processes.get(r.process as usize).copied().unwrap_or(false)
        });
        ended
    }
}
