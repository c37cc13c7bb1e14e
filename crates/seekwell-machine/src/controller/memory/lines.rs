//! The lines of a controller's memory: what they hold, and who is using them.

use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    /// Of each sector, whether it is here.
    valid: Vec<bool>,
    /// Of each sector, whether the drive does not have it yet.
    dirty: Vec<bool>,
    /// Who has it for itself.
    writer: Option<u32>,
    /// How many share it.
    readers: u32,
    /// When it was last of use; `None` until it first was.
    used: Option<u64>,
}

/// All lines, each by its number: its first sector divided by the sectors of a line.
#[derive(Debug)]
pub(super) struct Lines {
    held: HashMap<u64, Line>,
    /// Numbers of lines by when they were last of use.
    order: BTreeMap<u64, u64>,
    uses: u64,
    most: usize,
    size: u64,
}

/// What became of making room for a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Room {
    Made,
    /// These ranges of sectors must be written first.
    After(Vec<(u64, u64)>),
    None,
}

impl Lines {
    pub fn new(most: usize, size: u64) -> Self {
        Self { held: HashMap::new(), order: BTreeMap::new(), uses: 0, most, size }
    }

    /// Sectors of a line.
    pub const fn size(&self) -> u64 {
        self.size
    }

    pub fn holds(&self, number: u64) -> bool {
        self.held.contains_key(&number)
    }

    /// Makes room for a line and puts it there, empty, or says what has to be written first. The
    /// least recently used line goes, of those not in use.
    pub fn allocate(&mut self, number: u64, cluster: u64) -> Room {
        if self.held.len() >= self.most {
            let unused = |line: &u64| {
                let line = &self.held[line];
                line.writer.is_none() && line.readers == 0
            };
            let found = self.order.values().copied().find(unused);
            let Some(victim) = found else { return Room::None };
            if self.held[&victim].dirty.contains(&true) {
                return Room::After(self.clean(victim, cluster));
            }
            if let Some(used) = self.held.remove(&victim).and_then(|line| line.used) {
                self.order.remove(&used);
            }
        }
        let sectors = self.size as usize;
        let (valid, dirty) = (vec![false; sectors], vec![false; sectors]);
        let before = self.held.insert(number, Line { valid, dirty, ..Line::default() });
        debug_assert!(before.is_none(), "line {number} is in memory already");
        debug_assert!(self.held.len() <= self.most, "more lines than memory has");
        Room::Made
    }

    /// Whether all of a range within a line is here.
    pub fn is_valid(&self, from: u64, to: u64) -> bool {
        self.first(from, to, false).is_none()
    }

    /// The first sector of a range that is here, or that is not.
    pub fn first(&self, from: u64, to: u64, valid: bool) -> Option<u64> {
        (from..to).find(|&sector| self.state(sector).0 == valid)
    }

    /// Whether a sector is here, and whether the drive lacks it.
    fn state(&self, sector: u64) -> (bool, bool) {
        let (number, at) = (sector / self.size, (sector % self.size) as usize);
        self.held.get(&number).map_or((false, false), |line| (line.valid[at], line.dirty[at]))
    }

    /// Notes that a range is here, and whether the drive has it.
    pub fn fill(&mut self, from: u64, to: u64, dirty: bool) {
        for sector in from..to {
            let (number, at) = (sector / self.size, (sector % self.size) as usize);
            if let Some(line) = self.held.get_mut(&number) {
                line.valid[at] = true;
                line.dirty[at] |= dirty;
            }
        }
    }

    /// Takes a line for its own use, or to share; whether it could be had.
    pub fn lock(&mut self, number: u64, user: u32, alone: bool) -> bool {
        let Some(line) = self.held.get_mut(&number) else { return false };
        if line.writer == Some(user) {
            return true;
        }
        let free = line.writer.is_none() && (!alone || line.readers == 0);
        if free && alone {
            line.writer = Some(user);
        } else if free {
            line.readers += 1;
        }
        debug_assert!(line.writer.is_none() || line.readers == 0, "line {number} has two owners");
        free
    }

    /// Gives up what [`Lines::lock`] gave.
    pub fn unlock(&mut self, number: u64, user: u32) {
        if let Some(line) = self.held.get_mut(&number) {
            if line.writer == Some(user) {
                line.writer = None;
            } else {
                debug_assert!(line.readers > 0, "line {number} is unlocked that nobody holds");
                line.readers -= 1;
            }
        }
    }

    /// Notes that a line was of use.
    pub fn touch(&mut self, number: u64) {
        if let Some(line) = self.held.get_mut(&number) {
            if let Some(used) = line.used {
                self.order.remove(&used);
            }
            self.uses += 1;
            line.used = Some(self.uses);
            self.order.insert(self.uses, number);
        }
    }

    /// What to write for a line to be clean: runs of what is here from a dirty sector to a dirty
    /// one, with what adjoins in other lines, up to `cluster` lines. Their sectors count as clean,
    /// and their lines are shared until [`Lines::release`].
    fn clean(&mut self, number: u64, cluster: u64) -> Vec<(u64, u64)> {
        let (start, end) = (number * self.size, (number + 1) * self.size);
        let mut runs = Vec::new();
        let mut at = start;
        while let Some(from) = (at..end).find(|&sector| self.state(sector).1) {
            let stop = self.first(from, end, false).unwrap_or(end);
            let last = (from..stop).rfind(|&sector| self.state(sector).1).unwrap_or(from);
            runs.push((from, last + 1));
            at = stop;
        }
        let mut spare = cluster.saturating_sub(1);
        if let Some(first) = runs.first_mut().filter(|(from, _)| *from == start) {
            first.0 = self.reach(first.0, &mut spare, false);
        }
        if let Some(last) = runs.last_mut().filter(|(_, to)| *to == end) {
            last.1 = self.reach(last.1, &mut spare, true);
        }
        for &(from, to) in &runs {
            for sector in from..to {
                let (number, at) = (sector / self.size, (sector % self.size) as usize);
                if let Some(line) = self.held.get_mut(&number) {
                    line.dirty[at] = false;
                }
            }
            for number in self.numbers(from, to) {
                if let Some(line) = self.held.get_mut(&number) {
                    line.readers += 1;
                }
            }
        }
        runs
    }

    /// How far a run that ends where a line does goes on in the lines beyond: to the last dirty
    /// sector before one that is not here or is in use.
    fn reach(&self, edge: u64, spare: &mut u64, upwards: bool) -> u64 {
        let mut best = edge;
        let mut at = edge;
        while *spare > 0 {
            let Some(number) =
                (if upwards { Some(at / self.size) } else { (at / self.size).checked_sub(1) })
            else {
                return best;
            };
            let free = |line: &Line| line.writer.is_none();
            if !self.held.get(&number).is_some_and(free) {
                return best;
            }
            *spare -= 1;
            for _ in 0..self.size {
                let sector = if upwards { at } else { at - 1 };
                let (valid, dirty) = self.state(sector);
                if !valid {
                    return best;
                }
                at = if upwards { at + 1 } else { at - 1 };
                best = if dirty { at } else { best };
            }
            if best != at {
                return best;
            }
        }
        best
    }

    /// Ends the sharing of the lines of a range that was written.
    pub fn release(&mut self, from: u64, to: u64) {
        for number in self.numbers(from, to) {
            self.unlock(number, u32::MAX);
        }
    }

    /// Numbers of the lines of a range.
    pub const fn numbers(&self, from: u64, to: u64) -> std::ops::Range<u64> {
        from / self.size..to.div_ceil(self.size)
    }
}
