//! What the formats share that tell of moments instead of requests.

use super::names::Names;
use super::text::Wrong;
use crate::pair::{Event, Pair};
use crate::record::Record;
use crate::source::{About, Capture, Tables};

/// Pairs events and keeps the trace's description up to date.
pub(super) struct Meeting {
    /// Where requests are put together.
    pub pair: Pair,
    /// Numbers of devices.
    pub devices: Names,
    /// Numbers of processes.
    pub processes: Names,
    /// Events that the input itself says are missing.
    pub lost_events: u64,
}

impl Meeting {
    pub fn new() -> Self {
        Self {
            pair: Pair::new(Capture::Both),
            devices: Names::default(),
            processes: Names::default(),
            lost_events: 0,
        }
    }

    /// The name of a process, where the event is one that shows who wanted it.
    #[inline]
    pub fn process(&mut self, name: &[u8], tables: &mut Tables) -> Result<u32, Wrong> {
        self.processes.process(name, tables)
    }

    #[inline]
    pub fn push(&mut self, event: &Event, about: &mut About, out: &mut Vec<Record>) {
        let before = out.len();
        self.pair.push(event, out);
        if out.len() > before {
            about.capture = self.pair.capture();
        }
    }

    /// At the end of the input, however it came.
    pub fn end(&mut self, about: &mut About, out: &mut Vec<Record>) {
        self.pair.finish(out);
        about.capture = self.pair.capture();
        about.losses = self.pair.losses();
        about.losses.lost_events = self.lost_events;
    }
}

/// Reads a line from left to right, several times faster than splitting it into fields.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    pub const fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline(always)]
    pub fn blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Steps over this byte, if it comes next.
    #[inline(always)]
    pub fn takes(&mut self, byte: u8) -> bool {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Digits, and how many; none where there are none or too many for 64 bits.
    #[inline(always)]
    pub fn number(&mut self) -> Option<(u64, usize)> {
        let mut value = 0_u64;
        let mut n = 0;
        while let [first, rest @ ..] = self.rest
            && first.wrapping_sub(b'0') < 10
        {
            let digit = u64::from(first - b'0');
            // 18 digits cannot overflow; only longer numbers pay for the check.
            value = if n < 18 {
                value * 10 + digit
            } else {
                value.checked_mul(10)?.checked_add(digit)?
            };
            n += 1;
            self.rest = rest;
        }
        if n == 0 { None } else { Some((value, n)) }
    }

    /// Seconds with three to nine digits after the point, in nanoseconds.
    #[inline(always)]
    pub fn seconds(&mut self) -> Option<u64> {
        let (whole, _) = self.number()?;
        if !self.takes(b'.') {
            return None;
        }
        let (fraction, digits) = self.number()?;
        let scale = match digits {
            9 => 1,
            6 => 1000,
            3..9 => 10_u64.pow(9 - digits as u32),
            _ => return None,
        };
        whole.checked_mul(1_000_000_000)?.checked_add(fraction * scale)
    }

    /// What stands before the next blank.
    #[inline(always)]
    pub fn word(&mut self) -> &'a [u8] {
        let mut n = 0;
        while n < self.rest.len() && self.rest[n] != b' ' && self.rest[n] != b'\t' {
            n += 1;
        }
        let (word, rest) = self.rest.split_at(n);
        self.rest = rest;
        word
    }

    /// Steps over `(…)`, if it comes next; false where it does not end.
    #[inline(always)]
    pub fn parenthesis(&mut self) -> bool {
        if self.rest.first() != Some(&b'(') {
            return true;
        }
        let Some(end) = memchr::memchr(b')', self.rest) else { return false };
        self.rest = &self.rest[end + 1..];
        true
    }

    /// `sector + sectors`, blanks around the plus, as bytes. What is longer than 4 GiB is cut.
    #[inline(always)]
    pub fn range(&mut self) -> Option<(u64, u32)> {
        let (sector, _) = self.number()?;
        self.blanks();
        if !self.takes(b'+') {
            return None;
        }
        self.blanks();
        let (sectors, _) = self.number()?;
        Some((Event::offset_of(sector), bytes(sectors)))
    }

    /// `sector / sector` of a split: where it begins and the bytes that stay in front. Some
    /// versions of blkparse print the lower half of the second number only; the difference needs
    /// no more.
    pub fn halves(&mut self) -> Option<(u64, u32)> {
        let (first, _) = self.number()?;
        self.blanks();
        if !self.takes(b'/') {
            return None;
        }
        self.blanks();
        let (second, _) = self.number()?;
        let front = (second as u32).wrapping_sub(first as u32);
        Some((Event::offset_of(first), bytes(u64::from(front))))
    }

    /// What stands in the `[…]` that ends the line.
    #[inline(always)]
    pub fn bracketed(&self) -> Option<&'a [u8]> {
        let inside = self.rest.trim_ascii().strip_prefix(b"[")?;
        inside.strip_suffix(b"]")
    }

    /// The same with anything before the bracket.
    pub fn bracketed_last(&self) -> Option<&'a [u8]> {
        let inside = self.rest.trim_ascii_end().strip_suffix(b"]")?;
        let start = memchr::memrchr(b'[', inside)?;
        Some(&inside[start + 1..])
    }
}

/// Sectors of 512 bytes in bytes, as far as a length can say.
#[inline(always)]
fn bytes(sectors: u64) -> u32 {
    u32::try_from(sectors.saturating_mul(512)).unwrap_or(!511)
}

/// An errno, whichever way round: -5, 5, or -5 in sixteen bits without a sign.
pub(super) fn errno(text: &[u8]) -> Option<u16> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let mut cursor = Cursor::new(digits);
    let (value, _) = cursor.number()?;
    if !cursor.rest().is_empty() {
        return None;
    }
    let value = u32::try_from(value).ok()?;
    Some(if negative { value.min(u32::from(u16::MAX)) as u16 } else { errno_of(value as u16) })
}

/// An errno that was stored in sixteen bits, mostly negative.
pub(super) const fn errno_of(stored: u16) -> u16 {
    (stored as i16).unsigned_abs()
}
