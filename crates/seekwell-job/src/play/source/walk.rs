//! Where in one file the next request goes.

use super::precondition::Preconditioner;
use crate::job::{By, Distribution, Job, Strided};
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::request::Op;
use seekwell_io::workload::{Cover, Law, Spread, Zone, below};

/// The part of a file that a clone uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Its first byte.
    pub start: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// How offsets are drawn.
#[derive(Debug)]
enum Place {
    /// One after the other.
    Sequential,
    /// Each block once in a pass; blocks of this many bytes.
    Covered(Cover, u64),
    /// By a law for each kind; blocks may come again before all were used.
    Drawn(Box<By<Spread>>),
    /// Blocks that were named, over and over.
    Named(Box<Named>),
    /// Blocks once and some of them again, in one pass.
    Preconditioned(Box<Preconditioner>),
}

/// Blocks that a job names one by one.
#[derive(Debug)]
struct Named {
    blocks: Vec<u64>,
    /// Each time over begins as many blocks later as there are.
    moving: bool,
    index: usize,
    shift: u64,
}

impl Named {
    /// The next, among `count` blocks.
    fn next(&mut self, count: u64) -> u64 {
        let block = self.blocks[self.index].wrapping_add(self.shift) % count.max(1);
        self.index += 1;
        if self.index == self.blocks.len() {
            self.index = 0;
            self.shift += if self.moving { self.blocks.len() as u64 } else { 0 };
        }
        block
    }
}

/// Progress through strides.
#[derive(Debug, Clone, Copy)]
struct Stride {
    zones: Strided,
    /// Where the current zone begins in the region.
    start: u64,
    /// Bytes transferred in it.
    done: u64,
}

/// One file of one clone.
#[derive(Debug)]
pub struct Walk {
    region: Region,
    align: By<u64>,
    /// The shortest request of all kinds.
    shortest: u64,
    place: Place,
    stride: Option<Stride>,
    /// The walk stops at the end of the region: a sequential pass over zones.
    one_way: bool,
    skip: i64,
    draw_every: u32,
    identical: bool,
    percent_random: By<u64>,
    /// Where the next request of each kind goes if it follows the one before.
    next: By<u64>,
    /// Where the last of each kind went.
    last: By<u64>,
    /// Requests until the next draw.
    follow: u32,
    /// Bytes handed out in this pass.
    issued: u64,
    through: bool,
}

impl Walk {
    /// Over `region`, with the order and the random choices of a job.
    pub fn new(job: &Job, region: Region, seed: u64) -> Self {
        let kinds = job.makes();
        let used = [
            (kinds.read, &job.blocks.read, job.align_bytes.read),
            (kinds.write, &job.blocks.write, job.align_bytes.write),
            (kinds.trim, &job.blocks.trim, job.align_bytes.trim),
        ];
        let used = used.into_iter().filter(|(used, ..)| *used);
        let align = |align: u64| align.max(1);
        let (mut longest, mut unit) = (0, u64::MAX);
        for (_, blocks, aligned) in used {
            longest = longest.max(u64::from(blocks.max()));
            unit = unit.min(align(aligned));
        }
        let mixed = job.access.draw_every > 1
            || job.access.percent_random.iter().any(|p| *p < 100)
            || longest > unit;
        let blocks = region.bytes / unit;
        let place = match job.access.random {
            false => Place::Sequential,
            true if let Some(rule) = job.random.precondition => {
                Place::Preconditioned(Box::new(Preconditioner::new(rule, blocks, seed)))
            }
            true if let Distribution::Sequence { blocks, moving } = &job.random.distribution => {
                let blocks = blocks.clone();
                Place::Named(Box::new(Named { blocks, moving: *moving, index: 0, shift: 0 }))
            }
            true if covers(job) => Place::Covered(Cover::new(blocks, mixed, seed), unit),
            true => {
                let aligns = job.align_bytes.map(|a| align(*a));
                Place::Drawn(Box::new(spreads(job, region, aligns)))
            }
        };
        let stride = job.strided.map(|zones| Stride { zones, start: 0, done: 0 });
        let mut walk = Self {
            region,
            align: job.align_bytes.map(|a| align(*a)),
            shortest: u64::from(job.min_block()),
            place,
            stride,
            one_way: job.zoned.is_some() && !job.access.random,
            skip: if job.access.random { 0 } else { job.access.skip_bytes },
            draw_every: job.access.draw_every.max(1),
            identical: job.access.identical,
            percent_random: job.access.percent_random.map(|p| u64::from(*p)),
            next: By::all(0),
            last: By::all(0),
            follow: 0,
            issued: 0,
            through: false,
        };
        walk.begin_again();
        walk
    }

    /// Whether this pass is over: as much was handed out as the region holds, or every block once.
    #[inline]
    pub const fn is_through(&self) -> bool {
        self.through
    }

    /// Whether it stops at the end of the region.
    pub const fn is_one_pass(&self) -> bool {
        self.one_way || matches!(self.place, Place::Preconditioned(_))
    }

    /// Continues from where the last request was actually placed.
    pub fn went_to(&mut self, op: Op, offset: u64, len: u32) {
        let at = offset - self.region.start;
        *self.last.of_mut(op) = at;
        *self.next.of_mut(op) = at + u64::from(len);
    }

    /// Ends this pass.
    pub const fn end_pass(&mut self) {
        self.through = true;
    }

    /// Begins the next pass.
    pub fn begin_again(&mut self) {
        self.through = self.region.bytes < self.shortest;
        self.issued = 0;
        self.follow = 0;
        if let Place::Covered(cover, _) = &mut self.place {
            cover.begin_again();
        }
        if let Some(stride) = &mut self.stride {
            (stride.start, stride.done) = (0, 0);
        }
        // Backwards begins with the last block.
        let back = self.skip.min(0).unsigned_abs();
        self.next = By::all(if back > 0 { self.region.bytes.saturating_add(back) } else { 0 });
    }

    /// Where a request of up to `len` bytes goes, and how long it is there; none when this pass is
    /// over.
    #[inline]
    pub fn next(&mut self, op: Op, len: u32, rng: &mut Xoshiro256PlusPlus) -> Option<(u64, u32)> {
        if self.issued + self.shortest > self.region.bytes && !self.is_one_pass() {
            self.through = true;
            return None;
        }
        let wanted = u64::from(len);
        let found = match self.stride {
            Some(_) => Some(self.in_zone(op, wanted, rng)),
            None if matches!(self.place, Place::Sequential) => self.following(op, wanted),
            None => self.drawn(op, wanted, rng),
        };
        let Some((at, len)) = found else {
            self.through = true;
            return None;
        };
        self.issued += len;
        *self.last.of_mut(op) = at;
        *self.next.of_mut(op) = at + len;
        Some((self.region.start + at, len as u32))
    }

    /// The next place in order; beyond an end it goes on at the other.
    fn following(&mut self, op: Op, wanted: u64) -> Option<(u64, u64)> {
        let align = *self.align.of(op);
        let mut at = *self.next.of(op);
        if self.skip < 0 {
            let last = self.region.bytes - wanted.min(self.region.bytes);
            at = at.checked_sub(self.skip.unsigned_abs()).map_or(last, |at| at.min(last));
            at -= at % align;
        } else {
            // The start of a zone need not be a multiple of requests.
            at = if self.one_way { at } else { at.next_multiple_of(align) };
            if at > 0 {
                at = at.saturating_add(self.skip.unsigned_abs());
            }
            if at + self.shortest > self.region.bytes {
                if self.one_way {
                    return None;
                }
                at = 0;
            }
        }
        let room = self.region.bytes - at;
        (room >= self.shortest).then(|| (at, self.fitting(wanted, room)))
    }

    /// As much of `wanted` as there is room for, in steps of the shortest request.
    const fn fitting(&self, wanted: u64, room: u64) -> u64 {
        if wanted <= room { wanted } else { room - room % self.shortest }
    }

    fn drawn(&mut self, op: Op, wanted: u64, rng: &mut Xoshiro256PlusPlus) -> Option<(u64, u64)> {
        let follows = match self.follow {
            0 => {
                self.follow = self.draw_every - 1;
                let percent = *self.percent_random.of(op);
                percent < 100 && below(rng, 100) >= percent
            }
            _ => {
                self.follow -= 1;
                true
            }
        };
        if follows && self.identical && self.issued > 0 {
            let at = *self.last.of(op);
            return Some((at, self.fitting(wanted, self.region.bytes - at)));
        }
        let next = if follows { self.following(op, wanted) } else { None };
        match &mut self.place {
            Place::Covered(cover, unit) => {
                let blocks = wanted.div_ceil(*unit);
                let free = next.map(|(at, len)| (at, cover.take(at / *unit, len.div_ceil(*unit))));
                if let Some((at, free)) = free.filter(|(_, free)| *free > 0) {
                    return Some((at, wanted.min(free * *unit)));
                }
                let drawn = cover.draw(blocks)?;
                Some((drawn.block * *unit, wanted.min(drawn.blocks * *unit)))
            }
            Place::Drawn(_) if next.is_some() => next,
            Place::Drawn(spreads) => {
                let at = spreads.of(op).draw(rng) * *self.align.of(op);
                let room = self.region.bytes - at;
                Some((at, self.fitting(wanted, room)))
            }
            Place::Named(named) => {
                let at = named.next(self.region.bytes / self.shortest) * self.shortest;
                let room = self.region.bytes - at;
                Some((at, self.fitting(wanted, room)))
            }
            Place::Preconditioned(blocks) => {
                Some((blocks.next(rng)? * self.shortest, self.shortest))
            }
            Place::Sequential => next,
        }
    }

    /// Within the current stride; when as much was transferred as it takes, in the next.
    fn in_zone(&mut self, op: Op, wanted: u64, rng: &mut Xoshiro256PlusPlus) -> (u64, u64) {
        let Some(stride) = &mut self.stride else { unreachable!("only called with strides") };
        let zones = stride.zones;
        if stride.done >= zones.zone_bytes {
            stride.done = 0;
            stride.start += zones.range_bytes + zones.skip_bytes;
            if stride.start + self.shortest > self.region.bytes {
                stride.start = 0;
            }
            self.next = By::all(stride.start);
        }
        let end = (stride.start + zones.range_bytes).min(self.region.bytes);
        let align = *self.align.of(op);
        let at = if matches!(self.place, Place::Sequential) {
            let at = (*self.next.of(op)).clamp(stride.start, end).next_multiple_of(align);
            if at + wanted > end { stride.start } else { at }
        } else {
            let blocks = (end - stride.start).saturating_sub(wanted) / align + 1;
            stride.start + below(rng, blocks) * align
        };
        let len = wanted.min(end - at).max(1);
        stride.done += len;
        (at, len)
    }
}

/// Whether every block is to come once before any comes again: only if none is preferred, and
/// where requests begin no nearer to each other than they are long.
pub fn covers(job: &Job) -> bool {
    let (made, shortest) = (job.makes(), u64::from(job.min_block()));
    let aligned = made.iter().zip(job.align_bytes.iter());
    job.random.once_each
        && job.random.distribution == Distribution::Law(Law::Uniform)
        && job.strided.is_none()
        && !job.unaligned
        && aligned.into_iter().all(|(made, align)| !made || *align >= shortest)
}

/// The law of each kind of request over the offsets at which it may begin.
fn spreads(job: &Job, region: Region, align: By<u64>) -> By<Spread> {
    let one = |op: Op| {
        let align = *align.of(op);
        // The shortest request fits at the last offset; longer ones are cut there.
        let shortest = u64::from(job.blocks.of(op).min());
        let blocks = region.bytes.saturating_sub(shortest) / align + 1;
        Spread::new(&law(&job.random.distribution, op, region, align), blocks)
    };
    By { read: one(Op::Read), write: one(Op::Write), trim: one(Op::Discard) }
}

fn law(distribution: &Distribution, op: Op, region: Region, align: u64) -> Law {
    match distribution {
        Distribution::Law(law) => law.clone(),
        Distribution::Sequence { .. } => Law::Uniform,
        Distribution::Zoned(zones) => {
            let mut first = 0;
            let zone = |zone: &crate::job::Zone| {
                let bytes = match zone.size_bytes {
                    0 => (u128::from(region.bytes) * u128::from(zone.size_percent) / 100) as u64,
                    bytes => bytes,
                };
                let blocks = bytes / align;
                let zone = Zone { first, blocks, weight: u64::from(zone.access_percent) };
                first += blocks;
                zone
            };
            Law::Zoned(zones.of(op).iter().map(zone).collect())
        }
    }
}
