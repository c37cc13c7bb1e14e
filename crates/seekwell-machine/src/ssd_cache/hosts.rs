//! The commands of a cache's host, each in pieces.

use crate::part::{Command, Done};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::ops::Range;

/// A command with pieces outstanding.
#[derive(Debug, Clone)]
pub struct HostCommand {
    /// As it was given.
    pub command: Command,
    /// Pieces that are not done.
    pub left: u32,
    /// A read whose data may be kept: no write crossed it.
    pub current: bool,
    ready: Nanos,
    /// The bytes it touches in whole blocks of the cache: what is kept or made void of it.
    span: Range<u64>,
}

/// All of them, by a number each.
#[derive(Debug, Default)]
pub struct HostCommands {
    all: Vec<Option<HostCommand>>,
    free: Vec<u32>,
}

impl HostCommands {
    /// Begins a command without pieces, of a cache that keeps blocks of `block_bytes`. Reads
    /// and writes of the same blocks say so: which of them the medium does first is not known, so
    /// what the read brings is not kept.
    pub fn begin(&mut self, command: Command, block_bytes: u64) -> u32 {
        let end = command.offset + u64::from(command.len);
        let first = command.offset / block_bytes * block_bytes;
        let span = first..end.next_multiple_of(block_bytes);
        let mut current = true;
        for other in self.all.iter_mut().flatten() {
            let apart = span.start >= other.span.end || other.span.start >= span.end;
            if !apart && command.op.destroys() {
                other.current = false;
            }
            if !apart && other.command.op.destroys() {
                current = false;
            }
        }
        let it = HostCommand { command, left: 0, current, ready: Nanos::MAX, span };
        let number = self.free.pop().unwrap_or(self.all.len() as u32);
        if number as usize == self.all.len() {
            self.all.push(Some(it));
        } else {
            self.all[number as usize] = Some(it);
        }
        number
    }

    /// It has this many more pieces.
    pub fn add(&mut self, number: u32, pieces: u32) {
        if let Some(it) = &mut self.all[number as usize] {
            it.left += pieces;
        }
    }

    /// A piece is done. Returns the command with what to say of it, if it was the last.
    pub fn piece_done(&mut self, number: u32, piece: Done) -> Option<(HostCommand, Done)> {
        let it = self.all[number as usize].as_mut()?;
        it.left -= 1;
        it.ready = it.ready.min(piece.ready);
        if it.left > 0 {
            return None;
        }
        let whole = self.all[number as usize].take()?;
        self.free.push(number);
        let ready = if whole.command.op == Op::Read { whole.ready } else { piece.at };
        let done = Done { tag: whole.command.tag, ready, at: piece.at };
        Some((whole, done))
    }
}
