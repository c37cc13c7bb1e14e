//! What the formats share that record events instead of requests.

use super::cursor::Cursor;
use super::names::Names;
use super::text::Wrong;
use crate::pair::{Event, EventKind, Pair};
use crate::record::Record;
use crate::source::{About, Tables};

/// Pairs events and keeps the trace's description up to date.
pub(super) struct Pairing {
    /// Where requests are put together.
    pub pair: Pair,
    /// Numbers of devices.
    pub devices: Names,
    /// Numbers of processes.
    pub processes: Names,
    /// Events that the input itself says are missing.
    pub lost_events: u64,
}

impl Pairing {
    pub fn new() -> Self {
        Self {
            pair: Pair::new(),
            devices: Names::default(),
            processes: Names::default(),
            lost_events: 0,
        }
    }

    #[inline]
    pub fn push(&mut self, event: &Event, about: &mut About, out: &mut Vec<Record>) {
        let before = out.len();
        self.pair.push(event, out);
        if out.len() > before {
            about.capture = self.pair.capture();
        }
    }

    /// Takes what stands in brackets at the end of an event: who wanted it, or how it ended.
    #[inline]
    pub fn bracket(
        &mut self,
        event: &mut Event,
        text: &[u8],
        tables: &mut Tables,
    ) -> Result<(), Wrong> {
        match event.kind {
            EventKind::Complete if text == b"0" => {}
            EventKind::Complete => {
                event.error = errno(text).ok_or_else(|| Wrong::new("[error]", text))?;
            }
            EventKind::Queue | EventKind::Issue => {
                event.process = self.processes.process(text, tables)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// At the end of the input, however it came.
    pub fn end(&mut self, about: &mut About, out: &mut Vec<Record>) {
        self.pair.finish(out);
        about.capture = self.pair.capture();
        about.losses = self.pair.losses();
        about.losses.lost_events = self.lost_events;
    }
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
