//! Pages read ahead of a sequential reader, in the drive's memory or on their way there.

use seekwell_io::units::Nanos;

/// Where a page read ahead is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// It was not, or is no longer kept.
    Unknown,
    /// On its way; the reader waits.
    Coming,
    /// In memory from then on.
    Here(Nanos),
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    page: u64,
    state: Ahead,
    /// First command that waits for it.
    first: u32,
}

const NOBODY: u32 = u32::MAX;

/// A table by page number; a page that falls into the place of another is not kept.
#[derive(Debug)]
pub struct ReadAhead {
    entries: Vec<Entry>,
    /// Commands that wait, each with the next that waits for the same page; those not in use are
    /// chained from `free`.
    waiters: Vec<(u32, u32)>,
    free: u32,
    pages: u64,
}

impl ReadAhead {
    /// Keeps `pages` ahead of each of `streams` readers; 0 keeps none.
    pub fn new(pages: u64, streams: u64) -> Self {
        let entry = Entry { page: u64::MAX, state: Ahead::Unknown, first: NOBODY };
        let size = (2 * streams * pages).next_power_of_two() as usize;
        Self { entries: vec![entry; size], waiters: Vec::new(), free: NOBODY, pages }
    }

    /// Pages kept ahead of each reader.
    pub const fn pages(&self) -> u64 {
        self.pages
    }

    /// Notes that a page is on its way. False if it is already, or its place is taken by one that
    /// is.
    pub fn fetch(&mut self, page: u64) -> bool {
        let entry = self.entry(page);
        if entry.state == Ahead::Coming || (entry.page == page && entry.state != Ahead::Unknown) {
            return false;
        }
        *entry = Entry { page, state: Ahead::Coming, first: NOBODY };
        true
    }

    /// A command wants a page; with `last` it is the last one to. It is noted as waiting if the
    /// page is on its way.
    pub fn want(&mut self, page: u64, last: bool, command: u32) -> Ahead {
        let free = self.free;
        let known = self.waiters.len() as u32;
        let entry = self.entry(page);
        if entry.page != page {
            return Ahead::Unknown;
        }
        let state = entry.state;
        match state {
            Ahead::Here(_) if last => entry.state = Ahead::Unknown,
            Ahead::Coming => {
                let next = entry.first;
                let index = if free == NOBODY { known } else { free };
                entry.first = index;
                if free == NOBODY {
                    self.waiters.push((command, next));
                } else {
                    self.free = self.waiters[free as usize].1;
                    self.waiters[free as usize] = (command, next);
                }
            }
            _ => {}
        }
        state
    }

    /// A page that was on its way is in memory from `at` on.
    pub fn here(&mut self, page: u64, at: Nanos) {
        let entry = self.entry(page);
        debug_assert!(entry.page == page && entry.state == Ahead::Coming);
        entry.state = Ahead::Here(at);
    }

    /// A command that waited for a page that is here now.
    pub fn served(&mut self, page: u64) -> Option<u32> {
        let index = self.entry(page).first;
        let (command, next) = *self.waiters.get(index as usize)?;
        self.entry(page).first = next;
        self.waiters[index as usize].1 = self.free;
        self.free = index;
        Some(command)
    }

    /// A page is written over: what was read ahead is of no use.
    pub fn forget(&mut self, page: u64) {
        let entry = self.entry(page);
        if entry.page == page && entry.state != Ahead::Coming {
            entry.state = Ahead::Unknown;
        }
    }

    fn entry(&mut self, page: u64) -> &mut Entry {
        let index = page as usize & (self.entries.len() - 1);
        &mut self.entries[index]
    }
}
