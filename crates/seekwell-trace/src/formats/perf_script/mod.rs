//! Block events as text: what `perf script` and `trace-cmd report` print, and the file `trace` of
//! tracefs, which differ in the columns before the event's name:
//! `fio 24298 [001] 1817.223500: block:block_rq_issue: 7,0 WS 4096 () 0 + 8 be,0,4 [fio]`.
//!
//! What follows the name is what the kernel's own format says (include/trace/events/block.h); the
//! priority (`be,0,4`) came with Linux 6.11.

use super::cursor::Cursor;
use super::events::Pairing;
use super::format::{Certainty, Format, Holds, Opened, Reader, Sample};
use super::input::Input;
use super::text::{LineFormat, TextSource, Wrong};
use crate::pair::{Event, EventKind, rwbs};
use crate::record::Record;
use crate::source::{About, Capture, Clock, Tables};
use memchr::memmem;
use seekwell_io::units::Nanos;

/// The format.
pub const FORMAT: Format = Format {
    name: "perf-script",
    description: "text that perf script prints of block events",
    holds: Holds::EVERYTHING,
    reader: Reader::Stream(open),
    writer: None,
    ending: None,
    looks_like,
    locate: None,
    unit: None,
};

fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    Certainty::Event.when(sample.lines().any(names_an_event))
}

/// `task pid [cpu] time: block:block_rq_issue: …`, or without `block:` from tracefs.
fn names_an_event(line: &[u8]) -> bool {
    line.split(u8::is_ascii_whitespace).any(|word| {
        let word = word.strip_prefix(b"block:").unwrap_or(word);
        word.starts_with(b"block_") && word.ends_with(b":") && word.len() > 7
    })
}

fn open(input: Input) -> Opened {
    let about = About::new(FORMAT.name, Clock::Monotonic, Capture::Both);
    Ok(Box::new(TextSource::new(input, PerfScript { pairing: Pairing::new() }, about)))
}

struct PerfScript {
    pairing: Pairing,
}

/// What a line begins with, and what comes after the event's name.
struct Head<'a> {
    cpu: u16,
    at: Nanos,
    pid: u32,
    name: &'a [u8],
    body: &'a [u8],
}

/// Splits `… comm pid [cpu] flags time: system:event: body`. The process's name may contain
/// anything, so it is read backwards from the CPU.
fn head(line: &[u8]) -> Option<Head<'_>> {
    let (open, cpu, rest) = cpu_column(line)?;
    let mut cursor = Cursor::new(rest);
    let at = loop {
        cursor.blanks();
        let mut ahead = cursor;
        if let Some(at) = ahead.seconds()
            && ahead.takes(b':')
        {
            cursor = ahead;
            break at;
        }
        if cursor.word().is_empty() {
            return None;
        }
    };
    cursor.blanks();
    let name = cursor.word().strip_suffix(b":")?;
    let name = name.strip_prefix(b"block:").unwrap_or(name);
    cursor.blanks();
    let before = line[..open].trim_ascii_end();
    let digits = before.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let pid = Cursor::new(&before[before.len() - digits..]).number().map_or(0, |(pid, _)| pid);
    Some(Head { cpu, at: Nanos(at), pid: pid as u32, name, body: cursor.rest() })
}

/// The first `[digits]`, its place, and what follows it.
fn cpu_column(line: &[u8]) -> Option<(usize, u16, &[u8])> {
    for open in memchr::memchr_iter(b'[', line) {
        let mut cursor = Cursor::new(&line[open + 1..]);
        if let Some((cpu, _)) = cursor.number()
            && cursor.takes(b']')
            && cursor.rest().first() == Some(&b' ')
        {
            return Some((open, cpu as u16, cursor.rest()));
        }
    }
    None
}

fn kind_of(name: &[u8]) -> Option<EventKind> {
    Some(match name {
        b"block_bio_queue" => EventKind::Queue,
        b"block_bio_backmerge" | b"block_bio_frontmerge" | b"block_rq_merge" => EventKind::Merge,
        b"block_split" => EventKind::Split,
        b"block_rq_issue" => EventKind::Issue,
        b"block_rq_requeue" => EventKind::Requeue,
        b"block_rq_complete" | b"block_bio_complete" => EventKind::Complete,
        _ => return None,
    })
}

impl LineFormat for PerfScript {
    const NAME: &'static str = FORMAT.name;

    fn line(
        &mut self,
        line: &[u8],
        about: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        if line.starts_with(b"#") || line.starts_with(b"cpus=") {
            return Ok(());
        }
        let Some(head) = head(line) else { return self.other(line) };
        let Some(kind) = kind_of(head.name) else { return Ok(()) };
        let wrong = || Wrong::new("a block event as the kernel prints it", head.body);
        let mut event = body(&head, kind, tables, &mut self.pairing)?;
        let last = Cursor::new(head.body).bracketed_last().ok_or_else(wrong)?;
        self.pairing.bracket(&mut event, last, tables)?;
        self.pairing.push(&event, about, out);
        Ok(())
    }

    fn end(&mut self, about: &mut About, out: &mut Vec<Record>) {
        self.pairing.end(about, out);
    }
}

impl PerfScript {
    /// `CPU:1 [LOST 57 EVENTS]` in the kernel's file, `PERF_RECORD_LOST lost 57` in perf's.
    fn other(&mut self, line: &[u8]) -> Result<(), Wrong> {
        for marker in [&b"[LOST "[..], b"PERF_RECORD_LOST lost ", b"EVENTS DROPPED"] {
            let Some(at) = memmem::find(line, marker) else { continue };
            let number = Cursor::new(&line[at + marker.len()..]).number();
            self.pairing.lost_events += number.map_or(1, |(lost, _)| lost);
            return Ok(());
        }
        Err(Wrong::new("process pid [cpu] seconds: event: …", line))
    }
}

/// `major,minor rwbs [bytes] [(command)] sector + sectors …`.
fn body(
    head: &Head<'_>,
    kind: EventKind,
    tables: &mut Tables,
    pairing: &mut Pairing,
) -> Result<Event, Wrong> {
    let wrong = || Wrong::new("a block event as the kernel prints it", head.body);
    let mut cursor = Cursor::new(head.body);
    let device = pairing.devices.device(cursor.word(), tables)?;
    cursor.blanks();
    let letters = cursor.word();
    cursor.blanks();
    // The length in bytes, which stands before the command and is more exact than the sectors.
    let mut ahead = cursor;
    let exact = ahead.number();
    ahead.blanks();
    let exact = exact.filter(|_| ahead.rest().first() == Some(&b'('));
    if exact.is_some() {
        cursor = ahead;
    }
    if !cursor.parenthesis() {
        return Err(wrong());
    }
    cursor.blanks();
    let (offset, len) = if kind == EventKind::Split {
        cursor.halves().ok_or_else(wrong)?
    } else {
        cursor.range().ok_or_else(wrong)?
    };
    let len = exact.and_then(|(n, _)| u32::try_from(n).ok()).unwrap_or(len);
    let (op, flags) = rwbs::parse(letters, len == 0).ok_or_else(wrong)?;
    Ok(Event {
        at: head.at,
        offset,
        len,
        device,
        pid: head.pid,
        process: 0,
        cpu: head.cpu,
        error: 0,
        flags,
        op,
        kind,
    })
}

#[cfg(test)]
mod tests;
