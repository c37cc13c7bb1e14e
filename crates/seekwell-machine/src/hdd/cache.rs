//! The segments that keep read data.

use super::params::Cache;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Segment {
    /// First sector held.
    pub start: u64,
    /// The sector after the last one held; equal to `start` when empty.
    pub end: u64,
    /// It came from the host, not from the medium.
    pub written: bool,
    used: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hit {
    /// Everything, in this segment.
    Full(usize),
    /// The beginning, in this segment.
    Partial(usize),
    /// Not its first sector.
    None,
}

#[derive(Debug)]
pub(super) struct Segments {
    all: Vec<Segment>,
    size: u64,
    enabled: bool,
    written_hits: bool,
    uses: u64,
}

impl Segments {
    pub fn new(params: &Cache) -> Self {
        Self {
            all: vec![Segment::default(); params.segments as usize],
            size: u64::from(params.segment_sectors),
            enabled: params.enabled,
            written_hits: params.hits_on_written,
            uses: 0,
        }
    }

    /// Sectors of a segment.
    pub const fn size(&self) -> u64 {
        self.size
    }

    pub fn get(&self, index: usize) -> &Segment {
        &self.all[index]
    }

    /// What of `start..end` is held.
    pub fn look(&self, start: u64, end: u64) -> Hit {
        let mut best = Hit::None;
        let mut held = 0;
        if !self.enabled {
            return best;
        }
        for (index, segment) in self.all.iter().enumerate() {
            let begins = segment.start <= start && start < segment.end;
            if !begins || (segment.written && !self.written_hits) {
                continue;
            }
            if segment.end >= end {
                return Hit::Full(index);
            }
            if segment.end - start > held {
                held = segment.end - start;
                best = Hit::Partial(index);
            }
        }
        best
    }

    /// The segment whose next sector is `sector`.
    pub fn ends_at(&self, index: usize, sector: u64) -> bool {
        self.enabled && self.all[index].end == sector
    }

    /// Notes that a segment was of use.
    pub fn touch(&mut self, index: usize) {
        self.uses += 1;
        self.all[index].used = self.uses;
    }

    /// Takes a segment for something new that begins at `sector`: an empty one, or the one not of
    /// use for longest; `spare` only if there is no other.
    pub fn take(&mut self, sector: u64, spare: Option<usize>) -> usize {
        let mut chosen = (u64::MAX, 0);
        for (index, segment) in self.all.iter().enumerate() {
            let used = if segment.end > segment.start { segment.used } else { 0 };
            if used < chosen.0 && Some(index) != spare {
                chosen = (used, index);
            }
        }
        let chosen = if chosen.0 == u64::MAX { spare.unwrap_or(0) } else { chosen.1 };
        self.all[chosen] = Segment { start: sector, end: sector, written: false, used: 0 };
        self.touch(chosen);
        chosen
    }

    /// Extends a segment to `end`; what does not fit leaves it at its beginning.
    pub fn extend(&mut self, index: usize, end: u64) {
        let size = self.size;
        let segment = &mut self.all[index];
        if end > segment.end {
            segment.end = end;
            segment.start = segment.start.max(end.saturating_sub(size));
        }
    }

    /// Notes that a segment also holds what lies before it, from `start` on.
    pub fn extend_down(&mut self, index: usize, start: u64) {
        let segment = &mut self.all[index];
        segment.start = segment.start.min(start).max(segment.end.saturating_sub(self.size));
    }

    /// Notes that `start..end` was written: what else held a part of it is forgotten.
    pub fn forget(&mut self, start: u64, end: u64, except: Option<usize>) {
        for (index, segment) in self.all.iter_mut().enumerate() {
            if Some(index) != except && segment.start < end && start < segment.end {
                segment.end = segment.start;
            }
        }
    }

    /// Puts written data into a segment: into `joined`, whose data it continues, or into a new one.
    pub fn keep_written(&mut self, start: u64, end: u64) {
        let joined = self.all.iter().position(|s| s.written && s.end == start && s.start < s.end);
        let index = joined.unwrap_or_else(|| self.take(start, None));
        self.all[index].written = true;
        self.extend(index, end);
        self.touch(index);
        self.forget(start, end, Some(index));
    }
}
