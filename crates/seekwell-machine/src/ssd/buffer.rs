//! Written data between its acknowledgement and the flash.

use std::collections::VecDeque;

/// A piece of the log that a die programs at once.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Mapping units of host data in it.
    held: u32,
    programmed: bool,
}

/// The buffer: how full it is, the pieces of log that are on their way, and who waits.
#[derive(Debug)]
pub struct Buffer {
    capacity: u32,
    used: u32,
    /// Mapping units of log a die programs at once.
    piece_units: u32,
    /// Units and, of those, units of host data in the piece that is being gathered.
    gathered: u32,
    gathered_host: u32,
    /// Pieces from `first` on; those before it are all in flash.
    pieces: VecDeque<Piece>,
    first: u64,
    /// Commands that are done when all pieces before a number are in flash.
    waiters: Vec<(u64, u32)>,
    recent: Recent,
}

impl Buffer {
    /// An empty one.
    pub fn new(capacity_units: u32, piece_units: u32) -> Self {
        Self {
            capacity: capacity_units,
            used: 0,
            piece_units,
            gathered: 0,
            gathered_host: 0,
            pieces: VecDeque::new(),
            first: 0,
            waiters: Vec::new(),
            recent: Recent::new(capacity_units),
        }
    }

    /// Units it still has room for.
    pub const fn room(&self) -> u32 {
        self.capacity - self.used
    }

    /// Takes a unit of host data. Returns the number of the piece that is full now, if one is.
    pub fn take(&mut self, unit: u64) -> Option<u64> {
        self.used += 1;
        self.gathered_host += 1;
        self.recent.note(unit, self.next_piece());
        self.gather()
    }

    /// Adds a unit of log that holds no host data, as [`Self::take`].
    pub fn gather(&mut self) -> Option<u64> {
        self.gathered += 1;
        (self.gathered == self.piece_units).then(|| self.close())
    }

    /// Units that the piece being gathered lacks; 0 if none is being gathered.
    pub const fn lacking(&self) -> u32 {
        if self.gathered == 0 { 0 } else { self.piece_units - self.gathered }
    }

    /// Number of the piece being gathered.
    pub fn next_piece(&self) -> u64 {
        self.first + self.pieces.len() as u64
    }

    /// Whether a unit's data is still here.
    pub fn holds(&self, unit: u64) -> bool {
        self.used > 0 && self.recent.piece(unit).is_some_and(|piece| !self.in_flash(piece))
    }

    /// A command is done once all pieces before `piece` are in flash. False if they are.
    pub fn wait(&mut self, piece: u64, command: u32) -> bool {
        let must = self.first < piece;
        if must {
            self.waiters.push((piece, command));
        }
        must
    }

    /// A piece is in flash. Returns whether anything before which somebody waits is.
    pub fn programmed(&mut self, piece: u64) {
        let it = &mut self.pieces[(piece - self.first) as usize];
        it.programmed = true;
        self.used -= it.held;
        while self.pieces.front().is_some_and(|piece| piece.programmed) {
            self.pieces.pop_front();
            self.first += 1;
        }
    }

    /// A command that waits no longer.
    pub fn released(&mut self) -> Option<u32> {
        let at = self.waiters.iter().position(|(piece, _)| *piece <= self.first)?;
        Some(self.waiters.remove(at).1)
    }

    fn close(&mut self) -> u64 {
        let number = self.next_piece();
        self.pieces.push_back(Piece { held: self.gathered_host, programmed: false });
        (self.gathered, self.gathered_host) = (0, 0);
        number
    }

    fn in_flash(&self, piece: u64) -> bool {
        match piece.checked_sub(self.first) {
            None => true,
            Some(index) => self.pieces.get(index as usize).is_some_and(|piece| piece.programmed),
        }
    }
}

/// Which piece of log a unit went to last. A table of fixed size, twice the buffer's: a unit that
/// falls into another's place makes that one be read from flash.
#[derive(Debug)]
struct Recent {
    slots: Vec<(u64, u64)>,
}

impl Recent {
    fn new(units: u32) -> Self {
        Self { slots: vec![(u64::MAX, 0); (2 * units as usize).next_power_of_two()] }
    }

    fn index(&self, unit: u64) -> usize {
        super::scramble(unit) as usize & (self.slots.len() - 1)
    }

    fn note(&mut self, unit: u64, piece: u64) {
        let index = self.index(unit);
        self.slots[index] = (unit, piece);
    }

    fn piece(&self, unit: u64) -> Option<u64> {
        let (noted, piece) = self.slots[self.index(unit)];
        (noted == unit).then_some(piece)
    }
}
