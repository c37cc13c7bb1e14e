//! What a write to a stripe with parity takes, and which stripes are being written.

use super::layout::Layout;
use super::params::ParityUpdate;

/// A contiguous write within one stripe that has parity.
#[derive(Debug, Clone, Copy)]
pub struct StripeWrite {
    stripe: u64,
    /// First and last data unit it touches.
    first: u32,
    last: u32,
    /// First byte within the first unit.
    from: u64,
    /// End within the last unit.
    to: u64,
    /// The part of the parity unit that changes.
    parity: (u64, u64),
    columns: u32,
    unit: u64,
}

/// How the new parity is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Without anything old: all data of the stripe is new, or its parity is on a member that
    /// failed.
    Full,
    /// From the old data and the old parity.
    ReadModifyWrite,
    /// From the data that does not change.
    Reconstruct,
    /// From everything that is left, as some of what does not change is on a member that failed.
    Rebuild,
}

/// A contiguous range on a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Which member.
    pub member: u32,
    /// First byte there.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

impl StripeWrite {
    /// A write of the array, cut where stripes end.
    pub fn cut(layout: &Layout, offset: u64, len: u32) -> impl Iterator<Item = Self> + use<> {
        let (unit, columns) = (layout.unit(), layout.columns());
        let width = unit * u64::from(columns);
        let (mut at, end) = (offset, offset + u64::from(len));
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let stripe = at / width;
            let (start, stop) =
                (at - stripe * width, end.min((stripe + 1) * width) - stripe * width);
            at = stripe * width + stop;
            let (first, last) = ((start / unit) as u32, ((stop - 1) / unit) as u32);
            let (from, to) = (start % unit, (stop - 1) % unit + 1);
            let parity = if first == last { (from, to) } else { (0, unit) };
            Some(Self { stripe, first, last, from, to, parity, columns, unit })
        })
    }

    /// The written range within a touched unit.
    fn within(&self, column: u32) -> (u64, u64) {
        let from = if column == self.first { self.from } else { 0 };
        let to = if column == self.last { self.to } else { self.unit };
        (from, to)
    }

    const fn touched(&self) -> u32 {
        self.last - self.first + 1
    }

    /// Calls `each` with the unchanged ranges that parity covers.
    fn unchanged(&self, mut each: impl FnMut(u32, (u64, u64))) {
        for column in 0..self.columns {
            if column < self.first || column > self.last {
                each(column, self.parity);
                continue;
            }
            let (from, to) = self.within(column);
            if from > self.parity.0 {
                each(column, (self.parity.0, from));
            }
            if to < self.parity.1 {
                each(column, (to, self.parity.1));
            }
        }
    }

    /// How the parity is found: by the fewer reads, or as the threshold says, or as the failure of
    /// a member leaves no choice.
    pub fn update(&self, layout: &Layout, rule: ParityUpdate, failed: Option<u32>) -> Update {
        let mut reconstruct = 0;
        self.unchanged(|_, _| reconstruct += 1);
        if reconstruct == 0 {
            return Update::Full;
        }
        if let Some(member) = failed {
            return match layout.column(self.stripe, member) {
                None => Update::Full,
                Some(column) if column < self.first || column > self.last => {
                    Update::ReadModifyWrite
                }
                Some(column) if self.within(column) == self.parity => Update::Reconstruct,
                Some(_) => Update::Rebuild,
            };
        }
        let modify = match rule {
            ParityUpdate::FewestReads => self.touched() + 1 < reconstruct,
            ParityUpdate::Threshold { percent } => {
                self.touched() < (self.columns + 1) * percent / 100
            }
        };
        if modify { Update::ReadModifyWrite } else { Update::Reconstruct }
    }

    /// Calls `each` with what has to be read first; of a rebuild with what is on the failed member
    /// as well.
    pub fn reads(&self, layout: &Layout, update: Update, mut each: impl FnMut(Extent)) {
        match update {
            Update::Full => {}
            Update::ReadModifyWrite => self.writes(layout, each),
            Update::Reconstruct => {
                self.unchanged(|column, range| each(self.data(layout, column, range)));
            }
            Update::Rebuild => {
                for member in 0..layout.members() {
                    each(self.extent(layout, member, self.parity));
                }
            }
        }
    }

    /// Calls `each` with what is written: data and parity.
    pub fn writes(&self, layout: &Layout, mut each: impl FnMut(Extent)) {
        for column in self.first..=self.last {
            each(self.data(layout, column, self.within(column)));
        }
        each(self.extent(layout, layout.parity(self.stripe), self.parity));
    }

    fn data(&self, layout: &Layout, column: u32, range: (u64, u64)) -> Extent {
        self.extent(layout, layout.member(self.stripe, column), range)
    }

    fn extent(&self, layout: &Layout, member: u32, (from, to): (u64, u64)) -> Extent {
        Extent { member, offset: layout.on_member(self.stripe, from), len: (to - from) as u32 }
    }
}

/// Stripes whose parity is being changed, and who waits for them: the parity of a stripe is right
/// only if one write changes it at a time.
#[derive(Debug, Default)]
pub struct StripeLocks {
    held: Vec<Claim>,
    waiting: Vec<Claim>,
}

/// A job's range of stripes, ends included.
#[derive(Debug, Clone, Copy)]
struct Claim {
    job: u32,
    first: u64,
    last: u64,
}

impl Claim {
    const fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl StripeLocks {
    /// Claims the stripes for a job: at once, or when those before it release them.
    pub fn claim(&mut self, job: u32, first: u64, last: u64) -> bool {
        let claim = Claim { job, first, last };
        let free = !self.held.iter().chain(&self.waiting).any(|other| other.overlaps(&claim));
        let list = if free { &mut self.held } else { &mut self.waiting };
        list.push(claim);
        free
    }

    /// Releases what a job holds.
    pub fn release(&mut self, job: u32) {
        self.held.retain(|claim| claim.job != job);
    }

    /// Gives the first of those that wait, and need wait no longer, its stripes.
    pub fn grant(&mut self) -> Option<u32> {
        let free = |index: &usize| {
            let before = self.held.iter().chain(&self.waiting[..*index]);
            before.into_iter().all(|other| !other.overlaps(&self.waiting[*index]))
        };
        let claim = self.waiting.remove((0..self.waiting.len()).find(free)?);
        self.held.push(claim);
        Some(claim.job)
    }
}
