//! Data that has been accepted and is not yet on the medium.

use super::params::WriteBuffer;

/// A contiguous range of unwritten sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// First sector.
    pub start: u64,
    /// The sector after the last.
    pub end: u64,
    /// When the arm may begin to move for it.
    pub eligible: u64,
    /// When as much of it is in the buffer as must be before the medium is written.
    pub data_begin: u64,
    /// When its last sector is in the buffer.
    pub data_end: u64,
    /// It continues the range that is being written, and shares its room.
    pub joins: bool,
}

/// What accepting a write does to the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// It becomes part of this extent.
    With(usize),
    /// It continues what is being written.
    Joins,
    /// It gets room of its own.
    Own,
    /// It finds no room.
    None,
}

#[derive(Debug)]
pub(super) struct Dirty {
    /// Ranges that wait, in the order of their first write.
    pub waiting: Vec<Extent>,
    /// The range the arm is writing.
    pub current: Option<Extent>,
    extents: usize,
    extent_sectors: u64,
    combine: bool,
}

impl Dirty {
    pub fn new(params: &WriteBuffer) -> Self {
        Self {
            waiting: Vec::new(),
            current: None,
            extents: params.extents as usize,
            extent_sectors: u64::from(params.extent_sectors),
            combine: params.combine,
        }
    }

    /// Whether everything accepted is on the medium.
    pub const fn is_clean(&self) -> bool {
        self.waiting.is_empty() && self.current.is_none()
    }

    /// Whether a range of that many sectors can ever be buffered.
    pub const fn fits(&self, sectors: u64) -> bool {
        sectors <= self.extent_sectors
    }

    /// Whether unwritten data lies within `start..end`.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        let meets = |extent: &Extent| extent.start < end && start < extent.end;
        self.waiting.iter().any(meets) || self.current.as_ref().is_some_and(meets)
    }

    /// Whether all of `start..end` lies in one range of unwritten data.
    pub fn holds(&self, start: u64, end: u64) -> bool {
        let covers = |extent: &Extent| extent.start <= start && end <= extent.end;
        self.waiting.iter().any(covers) || self.current.as_ref().is_some_and(covers)
    }

    /// Where a write of `start..end` finds room.
    pub fn room(&self, start: u64, end: u64) -> Room {
        if let Some(current) = &self.current
            && current.start < end
            && start < current.end
        {
            return Room::None;
        }
        let mut near = self.waiting.iter().enumerate().filter(|(_, extent)| {
            let overlaps = extent.start < end && start < extent.end;
            let touches = extent.end == start || (extent.start == end && !extent.joins);
            overlaps || (touches && self.combine)
        });
        match (near.next(), near.next()) {
            (Some((index, extent)), None) => {
                let together = extent.end.max(end) - extent.start.min(start);
                let before = extent.joins && start < extent.start;
                if together <= self.extent_sectors && !before {
                    Room::With(index)
                } else {
                    Room::None
                }
            }
            (Some(_), Some(_)) => Room::None,
            (None, _) => self.new_room(start, end),
        }
    }

    fn new_room(&self, start: u64, end: u64) -> Room {
        if self.combine
            && self.current.is_some_and(|current| {
                current.end == start && end - current.start <= self.extent_sectors
            })
        {
            return Room::Joins;
        }
        let own = self.waiting.iter().filter(|extent| !extent.joins).count();
        if own + usize::from(self.current.is_some()) < self.extents {
            Room::Own
        } else {
            Room::None
        }
    }

    /// Puts a write into the room that was found for it.
    pub fn accept(&mut self, room: Room, extent: Extent) {
        match room {
            Room::With(index) => {
                let held = &mut self.waiting[index];
                if extent.start < held.start {
                    held.data_begin = extent.data_begin;
                }
                held.start = held.start.min(extent.start);
                held.end = held.end.max(extent.end);
                held.data_end = held.data_end.max(extent.data_end);
                held.eligible = held.eligible.min(extent.eligible);
            }
            Room::Joins => self.waiting.push(Extent { joins: true, ..extent }),
            Room::Own | Room::None => self.waiting.push(extent),
        }
    }

    /// Takes out a range to write it.
    pub fn begin(&mut self, index: usize) -> Extent {
        let extent = self.waiting.remove(index);
        self.current = Some(extent);
        extent
    }

    /// Notes that the range being written is on the medium.
    pub fn finish(&mut self) {
        if self.current.take().is_some() {
            for extent in &mut self.waiting {
                extent.joins = false;
            }
        }
    }

    /// Forgets what lies wholly within `start..end`, which was written past the buffer.
    pub fn forget(&mut self, start: u64, end: u64) {
        self.waiting.retain(|extent| extent.start < start || extent.end > end);
    }
}
