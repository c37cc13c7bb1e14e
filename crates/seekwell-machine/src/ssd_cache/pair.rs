//! Two parts behind one: gives each no more than it takes at once and says whose piece is done.

use crate::part::{Command, Done, Part};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::VecDeque;

/// Which part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The SSD.
    Fast,
    /// What it is in front of.
    Slow,
}

/// What a part is to do for somebody.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    /// Which part.
    pub side: Side,
    /// What to do.
    pub op: Op,
    /// First byte on that part.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// Durable when done.
    pub durable: bool,
}

/// Two parts, and what they do for owners of type `O`.
#[derive(Debug)]
pub struct Pair<F, S, O> {
    fast: Lane<F>,
    slow: Lane<S>,
    owners: Vec<O>,
    free: Vec<u32>,
    done: Vec<Done>,
    /// Pieces joined so far that no part has been given.
    run: Option<Piece>,
    /// What came of the pieces before it.
    joined: u32,
}

/// A part with what waits for it.
#[derive(Debug)]
struct Lane<P> {
    part: P,
    outstanding: u32,
    waiting: VecDeque<Command>,
}

impl<P: Part> Lane<P> {
    const fn new(part: P) -> Self {
        Self { part, outstanding: 0, waiting: VecDeque::new() }
    }

    fn give(&mut self, command: Command, now: Nanos) {
        if self.outstanding < self.part.depth() {
            self.outstanding += 1;
            self.part.submit(command, now);
        } else {
            self.waiting.push_back(command);
        }
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        let before = done.len();
        self.part.advance(now, done);
        self.outstanding -= (done.len() - before) as u32;
        while self.outstanding < self.part.depth()
            && let Some(command) = self.waiting.pop_front()
        {
            self.outstanding += 1;
            self.part.submit(command, now);
        }
    }
}

impl<F: Part, S: Part, O: Copy> Pair<F, S, O> {
    /// Two idle parts.
    pub fn new(fast: F, slow: S) -> Self {
        Self {
            fast: Lane::new(fast),
            slow: Lane::new(slow),
            owners: Vec::new(),
            free: Vec::new(),
            done: Vec::new(),
            run: None,
            joined: 0,
        }
    }

    /// The SSD.
    pub const fn fast(&self) -> &F {
        &self.fast.part
    }

    /// What it is in front of.
    pub const fn slow(&self) -> &S {
        &self.slow.part
    }

    /// Has a part do something for an owner.
    pub fn give(&mut self, piece: Piece, owner: O, now: Nanos) {
        let tag = match self.free.pop() {
            Some(tag) => {
                self.owners[tag as usize] = owner;
                tag
            }
            None => {
                self.owners.push(owner);
                (self.owners.len() - 1) as u32
            }
        };
        let Piece { side, op, offset, len, durable } = piece;
        let command = Command { tag, op, offset, len, durable };
        match side {
            Side::Fast => self.fast.give(command, now),
            Side::Slow => self.slow.give(command, now),
        }
    }

    /// The same for one of a command's pieces, in their order: neighbours are done as one.
    pub fn join(&mut self, piece: Piece, owner: O, now: Nanos) {
        match &mut self.run {
            Some(run)
                if run.side == piece.side && run.offset + u64::from(run.len) == piece.offset =>
            {
                run.len += piece.len;
            }
            _ => {
                if let Some(whole) = self.run.replace(piece) {
                    self.joined += 1;
                    self.give(whole, owner, now);
                }
            }
        }
    }

    /// There are no more pieces to join. How many were given to a part.
    pub fn end_joined(&mut self, owner: O, now: Nanos) -> u32 {
        if let Some(last) = self.run.take() {
            self.joined += 1;
            self.give(last, owner, now);
        }
        std::mem::take(&mut self.joined)
    }

    /// The earliest time at which something happens in either.
    pub fn next(&self) -> Nanos {
        self.fast.part.next().min(self.slow.part.next())
    }

    /// Does what happens at `now`, which is no later than [`Self::next`].
    pub fn advance(&mut self, now: Nanos, out: &mut Vec<(O, Done)>) {
        self.fast.advance(now, &mut self.done);
        self.slow.advance(now, &mut self.done);
        for done in self.done.drain(..) {
            out.push((self.owners[done.tag as usize], done));
            self.free.push(done.tag);
        }
    }
}
