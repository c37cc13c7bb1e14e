//! The commands of whoever holds a cache, each in pieces.

use crate::part::{Command, Done};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// A command with pieces outstanding.
#[derive(Debug, Clone, Copy)]
pub struct HostCommand {
    /// As it was given.
    pub command: Command,
    /// Pieces that are not done.
    pub left: u32,
    /// A read whose data may be kept: no write crossed it.
    pub current: bool,
    ready: Nanos,
}

/// All of them, by a number each.
#[derive(Debug, Default)]
pub struct HostCommands {
    all: Vec<Option<HostCommand>>,
    free: Vec<u32>,
}

impl HostCommands {
    /// Begins a command of `left` pieces. Reads and writes that cross one another say so: which of
    /// them the medium does first is not known, so what the read brings is not kept.
    pub fn begin(&mut self, command: Command) -> u32 {
        let mut current = true;
        for other in self.all.iter_mut().flatten() {
            let apart = command.offset >= other.command.offset + u64::from(other.command.len)
                || other.command.offset >= command.offset + u64::from(command.len);
            if !apart && command.op.destroys() {
                other.current = false;
            }
            if !apart && other.command.op.destroys() {
                current = false;
            }
        }
        let it = HostCommand { command, left: 0, current, ready: Nanos::MAX };
        let number = self.free.pop().unwrap_or(self.all.len() as u32);
        if number as usize == self.all.len() {
            self.all.push(Some(it));
        } else {
            self.all[number as usize] = Some(it);
        }
        number
    }

    /// It has so many more pieces.
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
        let whole = *it;
        self.all[number as usize] = None;
        self.free.push(number);
        let ready = if whole.command.op == Op::Read { whole.ready } else { piece.at };
        Some((whole, Done { tag: whole.command.tag, ready, at: piece.at }))
    }
}
