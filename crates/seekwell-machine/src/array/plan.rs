//! What a command is on the members.

use super::layout::{Layout, Piece};
use super::params::ParityUpdate;
use super::stripes::{Extent, StripeWrite, Update};
use crate::part::Command;
use seekwell_io::request::Op;

/// The accesses of a command that can go at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// Everything that needs no old data, and the reads of old data.
    First,
    Second,
}

/// How much a round is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Accesses to members.
    pub accesses: u64,
    /// Bytes of them all.
    pub bytes: u64,
}

/// The rules by which commands become accesses.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Where what lies.
    pub layout: Layout,
    /// How new parity is found.
    pub parity_update: ParityUpdate,
    /// A member that failed.
    pub failed: Option<u32>,
}

impl Plan {
    /// Whether the command changes parity.
    pub const fn changes_parity(&self, command: &Command) -> bool {
        matches!(command.op, Op::Write) && self.layout.has_parity() && command.len > 0
    }

    /// Calls `each` with every access of a round. Of what is read and lies on several members it
    /// names only the first.
    pub fn each(&self, command: &Command, round: Round, mut each: impl FnMut(Op, Extent)) {
        if command.op == Op::Read {
            return self.reads(command, |extent| each(Op::Read, extent));
        }
        let each = |op, extent: Extent| {
            if Some(extent.member) != self.failed {
                each(op, extent);
            }
        };
        if self.changes_parity(command) {
            self.parity_writes(command, round, each);
        } else {
            self.on_all(command, each);
        }
    }

    /// What is read: from where it lies or, where that failed, from all others.
    fn reads(&self, command: &Command, mut each: impl FnMut(Extent)) {
        for piece in self.layout.pieces(command.offset, command.len) {
            let extent = self.copy(&piece, 0);
            if !self.layout.has_parity() || Some(extent.member) != self.failed {
                each(extent);
                continue;
            }
            for member in (0..self.layout.members()).filter(|&other| other != extent.member) {
                each(Extent { member, ..extent });
            }
        }
    }

    fn parity_writes(&self, command: &Command, round: Round, mut each: impl FnMut(Op, Extent)) {
        for stripe in StripeWrite::cut(&self.layout, command.offset, command.len) {
            let update = stripe.update(&self.layout, self.parity_update, self.failed);
            if (update == Update::Full) == (round == Round::First) {
                stripe.writes(&self.layout, |extent| each(Op::Write, extent));
            } else if round == Round::First {
                stripe.reads(&self.layout, update, |extent| each(Op::Read, extent));
            }
        }
    }

    /// What goes to all copies, and flushes to all members.
    fn on_all(&self, command: &Command, mut each: impl FnMut(Op, Extent)) {
        let Command { op, offset, len, .. } = *command;
        match op {
            Op::Flush => {
                for member in 0..self.layout.members() {
                    each(op, Extent { member, offset: 0, len: 0 });
                }
            }
            // A controller cannot forget a range and keep the parity right.
            Op::Discard if self.layout.has_parity() => {}
            Op::Read | Op::Write | Op::Discard => {
                for piece in self.layout.pieces(offset, len) {
                    for copy in 0..self.layout.copies() {
                        each(op, self.copy(&piece, copy));
                    }
                }
            }
        }
    }

    /// Where a copy of a piece lies.
    pub fn copy(&self, piece: &Piece, copy: u32) -> Extent {
        Extent {
            member: self.layout.member(piece.stripe, piece.column) + copy,
            offset: self.layout.on_member(piece.stripe, piece.from),
            len: piece.len,
        }
    }

    /// How much a round is.
    pub fn tally(&self, command: &Command, round: Round) -> Tally {
        let mut tally = Tally::default();
        self.each(command, round, |_, extent| {
            tally.accesses += 1;
            tally.bytes += u64::from(extent.len);
        });
        tally
    }
}
