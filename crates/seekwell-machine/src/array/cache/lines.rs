//! The memory of a cache: lines, which sectors of each are valid or dirty, and who is given up
//! next.

use std::collections::{BTreeMap, BTreeSet};

/// What is kept and written is sectors.
pub const SECTOR_BYTES: u64 = 512;

/// The most sectors of a line: bits of a mask.
pub const MOST_SECTORS: u64 = 128;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Line {
    number: u64,
    valid: u128,
    /// Of these, sectors that are newer than below.
    dirty: u128,
    leaving: bool,
    /// Neighbours in the order of last use, where it may be given up.
    newer: u32,
    older: u32,
}

impl Line {
    /// Whether it may not be given up.
    const fn held(&self) -> bool {
        self.dirty != 0 || self.leaving
    }
}

/// All lines.
///
/// Each is unused, in the order of last use (clean, the oldest is given up first), or held: dirty
/// or being written below.
#[derive(Debug)]
pub struct Lines {
    line_bytes: u64,
    lines: Vec<Line>,
    most: u32,
    index: BTreeMap<u64, u32>,
    newest: u32,
    oldest: u32,
    held: u32,
    /// Numbers of dirty lines that are not being written.
    dirty: BTreeSet<u64>,
}

/// The sectors of a range, line by line: the line's number and a mask.
fn spans(line_bytes: u64, offset: u64, len: u64) -> impl Iterator<Item = (u64, u128)> {
    let (first, end) = (offset / SECTOR_BYTES, (offset + len).div_ceil(SECTOR_BYTES));
    let per_line = line_bytes / SECTOR_BYTES;
    let numbers = first / per_line..end.div_ceil(per_line);
    numbers.filter(move |_| len > 0).map(move |number| {
        let start = number * per_line;
        let (from, to) = (first.max(start) - start, end.min(start + per_line) - start);
        (number, (u128::MAX >> (128 - (to - from))) << from)
    })
}

impl Lines {
    /// An empty memory of that many lines.
    pub const fn new(line_bytes: u64, most: u32) -> Self {
        Self {
            line_bytes,
            lines: Vec::new(),
            most,
            index: BTreeMap::new(),
            newest: NONE,
            oldest: NONE,
            held: 0,
            dirty: BTreeSet::new(),
        }
    }

    /// Lines that are dirty or being written below.
    pub const fn held(&self) -> u32 {
        self.held
    }

    /// Whether there is something to write below that is not being written.
    pub fn has_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Lines that a range touches.
    pub fn touched(&self, offset: u64, len: u32) -> u64 {
        spans(self.line_bytes, offset, u64::from(len)).count() as u64
    }

    /// Lines that writing a range would add to those held.
    pub fn would_hold(&self, offset: u64, len: u32) -> u64 {
        let held = |number: &u64| {
            self.index.get(number).is_some_and(|line| self.lines[*line as usize].held())
        };
        let spans = spans(self.line_bytes, offset, u64::from(len));
        spans.filter(|(number, _)| !held(number)).count() as u64
    }

    /// The smallest range that contains all of a range that is not here; `None` if all of it is.
    pub fn missing(&self, offset: u64, len: u32) -> Option<(u64, u32)> {
        let mut hull: Option<(u64, u64)> = None;
        for (number, mask) in spans(self.line_bytes, offset, u64::from(len)) {
            let valid = self.index.get(&number).map_or(0, |line| self.lines[*line as usize].valid);
            let lack = mask & !valid;
            if lack != 0 {
                let start = number * self.line_bytes;
                let from = start + u64::from(lack.trailing_zeros()) * SECTOR_BYTES;
                let to = start + u64::from(128 - lack.leading_zeros()) * SECTOR_BYTES;
                hull = Some((hull.map_or(from, |(first, _)| first), to));
            }
        }
        hull.map(|(from, to)| (from, (to - from) as u32))
    }

    /// Makes the lines of a range the last used.
    pub fn touch(&mut self, offset: u64, len: u32) {
        for (number, _) in spans(self.line_bytes, offset, u64::from(len)) {
            if let Some(&line) = self.index.get(&number)
                && !self.lines[line as usize].held()
            {
                self.unlink(line);
                self.link(line);
            }
        }
    }

    /// Takes written data; there must be room for [`Self::would_hold`] more held lines.
    pub fn write(&mut self, offset: u64, len: u32) {
        debug_assert!(u64::from(self.held) + self.would_hold(offset, len) <= self.most.into());
        for (number, mask) in spans(self.line_bytes, offset, u64::from(len)) {
            let Some(line) = self.obtain(number) else { return };
            let entry = &mut self.lines[line as usize];
            let was_held = entry.held();
            entry.valid |= mask;
            entry.dirty |= mask;
            if !entry.leaving {
                self.dirty.insert(number);
            }
            if !was_held {
                self.unlink(line);
                self.held += 1;
            }
        }
    }

    /// Takes data read from below, as far as lines may be given up for it.
    pub fn fill(&mut self, offset: u64, len: u32) {
        for (number, mask) in spans(self.line_bytes, offset, u64::from(len)) {
            let Some(line) = self.obtain(number) else { return };
            self.lines[line as usize].valid |= mask;
        }
        self.touch(offset, len);
    }

    /// Drops what is here of a range.
    pub fn forget(&mut self, offset: u64, len: u32) {
        let mut spans = spans(self.line_bytes, offset, u64::from(len));
        let (Some((first, mask)), last) = (spans.next(), spans.last()) else { return };
        let (last, last_mask) = last.unwrap_or((first, mask));
        let lines: Vec<u32> = self.index.range(first..=last).map(|(_, line)| *line).collect();
        for line in lines {
            let entry = &mut self.lines[line as usize];
            let was_held = entry.held();
            let mut gone = if entry.number == first { mask } else { u128::MAX };
            if entry.number == last {
                gone &= last_mask;
            }
            entry.valid &= !gone;
            entry.dirty &= !gone;
            if entry.dirty == 0 {
                let (number, held) = (entry.number, entry.held());
                self.dirty.remove(&number);
                if was_held && !held {
                    self.release(line);
                }
            }
        }
    }

    /// Begins to write below: the first dirty range at or after a line, or from the lowest, as long
    /// as it is contiguous and up to the next multiple of `most` bytes. Returns offset and length.
    pub fn destage(&mut self, from_line: u64, most: u32) -> Option<(u64, u32)> {
        let upwards = self.dirty.range(from_line..).next();
        let mut number = *upwards.or_else(|| self.dirty.first())?;
        let mut bit = self.entry(number)?.dirty.trailing_zeros();
        let offset = number * self.line_bytes + u64::from(bit) * SECTOR_BYTES;
        let most = u64::from(most) / SECTOR_BYTES;
        let mut left = (most - offset / SECTOR_BYTES % most) as u32;
        let sectors = self.sectors();
        while left > 0
            && self.dirty.contains(&number)
            && let Some(entry) = self.entry(number)
        {
            let run = (entry.dirty >> bit).trailing_ones().min(left);
            if run == 0 {
                break;
            }
            entry.dirty &= !((u128::MAX >> (128 - run)) << bit);
            entry.leaving = true;
            self.dirty.remove(&number);
            left -= run;
            bit += run;
            if bit < sectors {
                break;
            }
            (number, bit) = (number + 1, 0);
        }
        let end = number * self.line_bytes + u64::from(bit) * SECTOR_BYTES;
        Some((offset, (end - offset) as u32))
    }

    /// What was begun with [`Self::destage`] is written.
    pub fn destaged(&mut self, offset: u64, len: u32) {
        for (number, _) in spans(self.line_bytes, offset, u64::from(len)) {
            let Some(&line) = self.index.get(&number) else { continue };
            let entry = &mut self.lines[line as usize];
            debug_assert!(entry.leaving, "line {number} is written that was not destaged");
            entry.leaving = false;
            if entry.dirty == 0 {
                self.release(line);
            } else {
                self.dirty.insert(number);
            }
        }
    }

    const fn sectors(&self) -> u32 {
        (self.line_bytes / SECTOR_BYTES) as u32
    }

    fn entry(&mut self, number: u64) -> Option<&mut Line> {
        self.index.get(&number).map(|line| &mut self.lines[*line as usize])
    }

    /// A line is no longer held.
    fn release(&mut self, line: u32) {
        debug_assert!(!self.lines[line as usize].held(), "a held line is in the order of use");
        self.held -= 1;
        self.link(line);
    }

    /// The line with that number: there already, unused, or the one used longest ago.
    fn obtain(&mut self, number: u64) -> Option<u32> {
        if let Some(&line) = self.index.get(&number) {
            return Some(line);
        }
        let new = Line { number, valid: 0, dirty: 0, leaving: false, newer: NONE, older: NONE };
        let line = if (self.lines.len() as u32) < self.most {
            self.lines.push(new);
            self.lines.len() as u32 - 1
        } else {
            let line = self.oldest;
            let old = self.lines.get(line as usize)?.number;
            debug_assert!(!self.lines[line as usize].held(), "line {old} is held and given up");
            self.unlink(line);
            self.index.remove(&old);
            self.lines[line as usize] = new;
            line
        };
        self.index.insert(number, line);
        self.link(line);
        Some(line)
    }

    /// Puts a line at the newer end.
    fn link(&mut self, line: u32) {
        let older = std::mem::replace(&mut self.newest, line);
        let entry = &mut self.lines[line as usize];
        (entry.newer, entry.older) = (NONE, older);
        match self.lines.get_mut(older as usize) {
            Some(neighbour) => neighbour.newer = line,
            None => self.oldest = line,
        }
    }

    /// Takes a line out of the order of last use.
    fn unlink(&mut self, line: u32) {
        let Line { newer, older, .. } = self.lines[line as usize];
        match self.lines.get_mut(newer as usize) {
            Some(neighbour) => neighbour.older = older,
            None => self.newest = older,
        }
        match self.lines.get_mut(older as usize) {
            Some(neighbour) => neighbour.newer = newer,
            None => self.oldest = newer,
        }
    }
}
