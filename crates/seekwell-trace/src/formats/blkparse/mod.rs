//! What `blkparse` prints by default (blkparse(1), OUTPUT DESCRIPTION AND FORMATTING):
//! `maj,min cpu sequence seconds.nanoseconds pid action rwbs` and then what the action calls for,
//! mostly `sector + sectors [process]`, or `[error]` for completions. A summary ends it. With `-f`
//! it can print anything at all; that is refused, since nothing says what a field would mean.

mod columns;

use super::cursor::Cursor;
use super::digits;
use super::events::Pairing;
use super::format::{Certainty, Format, Holds, Opened, Reader, Sample};
use super::input::Input;
use super::text::{LineFormat, TextSource, Wrong};
use crate::pair::{Event, EventKind, rwbs};
use crate::record::{Flags, Record};
use crate::source::{About, Capture, Clock, Tables};
use columns::Head;
use seekwell_io::units::Nanos;

const HEADER: &str = "a line of blkparse's default format: \
    major,minor cpu sequence seconds.nanoseconds pid action rwbs";

/// The format.
pub const FORMAT: Format = Format {
    name: "blkparse",
    description: "text that blkparse prints",
    holds: Holds::EVERYTHING,
    reader: Reader::Stream(open),
    writer: None,
    ending: None,
    looks_like,
    locate: None,
    unit: None,
};

fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    sample.by_lines(|line| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
        let (device, cpu) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_device = device.contains(&b',') && device.split(|&b| b == b',').all(is_number);
        is_device && is_number(cpu) && words.count() >= 4
    })
}

fn open(input: Input) -> Opened {
    let about = About::new(FORMAT.name, Clock::Start, Capture::Both);
    Ok(Box::new(TextSource::new(input, Blkparse::new(), about)))
}

struct Blkparse {
    pairing: Pairing,
    /// The first eight bytes of the device named last, and its number.
    last_device: Option<(u64, u32)>,
    /// Only totals follow.
    summary: bool,
}

impl Blkparse {
    fn new() -> Self {
        Self { pairing: Pairing::new(), last_device: None, summary: false }
    }
}

/// The part of a line that all actions share, whatever its widths.
#[inline(never)]
fn head(line: &[u8]) -> Option<Head<'_>> {
    let mut cursor = Cursor::new(line);
    cursor.blanks();
    let device = cursor.word();
    cursor.blanks();
    let (cpu, _) = cursor.number()?;
    cursor.blanks();
    cursor.number()?;
    cursor.blanks();
    let at = cursor.seconds()?;
    cursor.blanks();
    let (pid, _) = cursor.number()?;
    cursor.blanks();
    let action = cursor.word();
    cursor.blanks();
    let letters = cursor.word();
    cursor.blanks();
    if letters.is_empty() {
        return None;
    }
    let len = line.len() - cursor.rest().len();
    Some(Head { device, cpu: cpu as u16, at: Nanos(at), pid: pid as u32, action, letters, len })
}

/// Whether a line belongs to the totals, such as `CPU0 (8,0):` or `Total (8,0):`.
fn begins_summary(line: &[u8]) -> bool {
    let name = line.strip_prefix(b"CPU").or_else(|| line.strip_prefix(b"Total"));
    name.is_some_and(|rest| rest.ends_with(b":") && rest.contains(&b'('))
}

impl LineFormat for Blkparse {
    const NAME: &'static str = FORMAT.name;

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        about: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        let Some(head) = columns::head(line).or_else(|| head(line)) else {
            return self.other(line);
        };
        let kind = match head.action {
            b"Q" => EventKind::Queue,
            b"D" => EventKind::Issue,
            b"C" => EventKind::Complete,
            b"M" | b"F" => EventKind::Merge,
            b"X" => EventKind::Split,
            b"R" => EventKind::Requeue,
            b"G" | b"I" | b"P" | b"U" | b"UT" | b"S" | b"B" | b"A" | b"T" | b"m" | b"ZP"
            | b"ZU" => return Ok(()),
            other => return Err(Wrong::new("an action that blkparse knows", other)),
        };
        let Some(device) = self.device(head.device, tables)? else { return self.other(line) };
        let mut event = Event {
            at: head.at,
            offset: 0,
            len: 0,
            device,
            pid: head.pid,
            process: 0,
            cpu: head.cpu,
            error: 0,
            flags: Flags(0),
            op: seekwell_io::request::Op::Read,
            kind,
        };
        let mut cursor = Cursor::new(line);
        cursor.step(head.len);
        let after = cursor.rest();
        match kind {
            EventKind::Split => cursor.halves().map(|(offset, len)| {
                (event.offset, event.len) = (offset, len);
                cursor.blanks();
            }),
            _ => place(&mut cursor, &mut event),
        }
        .ok_or_else(|| Wrong::new("sector + sectors as this action has them", after))?;
        let (op, flags) = rwbs::parse(head.letters, event.len == 0)
            .ok_or_else(|| Wrong::new("letters for what a request does", head.letters))?;
        (event.op, event.flags) = (op, event.flags | flags);
        let last = cursor.bracketed().ok_or_else(|| Wrong::new("[…] at the end", after))?;
        self.pairing.bracket(&mut event, last, tables)?;
        self.pairing.push(&event, about, out);
        Ok(())
    }

    fn end(&mut self, about: &mut About, out: &mut Vec<Record>) {
        self.pairing.end(about, out);
    }
}

impl Blkparse {
    /// The number of a device, blanks around its name left out; `None` if it is no `major,minor`.
    #[inline(always)]
    fn device(&mut self, text: &[u8], tables: &mut Tables) -> Result<Option<u32>, Wrong> {
        let word = digits::word(text, 0);
        if let Some((last, number)) = self.last_device
            && word == last
            && text.len() <= 8
        {
            return Ok(Some(number));
        }
        let name = text.trim_ascii();
        let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
        let mut parts = name.splitn(2, |b| *b == b',');
        if !parts.next().is_some_and(is_number) || !parts.next().is_some_and(is_number) {
            return Ok(None);
        }
        let number = self.pairing.devices.device(name, tables)?;
        if text.len() <= 8 {
            self.last_device = Some((word, number));
        }
        Ok(Some(number))
    }

    #[cold]
    fn other(&mut self, line: &[u8]) -> Result<(), Wrong> {
        self.summary |= begins_summary(line);
        // What it says of itself, and prints behind the events though it came before them.
        if self.summary || line.starts_with(b"Input file ") {
            return Ok(());
        }
        Err(Wrong::new(HEADER, line))
    }
}

/// `sector + sectors`, then perhaps `(elapsed)`; or `bytes (command)`, without a place, for what
/// was passed through.
#[inline(always)]
fn place(cursor: &mut Cursor<'_>, event: &mut Event) -> Option<()> {
    let mut ahead = *cursor;
    if let Some((offset, len)) = ahead.range() {
        *cursor = ahead;
        (event.offset, event.len) = (offset, len);
    } else {
        event.flags = Flags::OTHER;
        event.offset = Event::NOWHERE;
        if let Some((len, _)) = cursor.number() {
            event.len = u32::try_from(len).ok()?;
            cursor.blanks();
        }
        if !matches!(cursor.rest().first(), Some(b'(' | b'[')) {
            return None;
        }
    }
    cursor.blanks();
    if !cursor.parenthesis() {
        return None;
    }
    cursor.blanks();
    Some(())
}

#[cfg(test)]
pub(super) mod tests;
