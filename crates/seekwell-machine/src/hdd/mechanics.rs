//! Arm and platters: how long it takes to get somewhere and to pass over sectors there.

use super::layout::{Geometry, Spot};
use super::params::Params;
use super::seek::SeekTable;

/// Where the arm is: a cylinder and the selected head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub cylinder: u32,
    pub head: u32,
}

/// The arm about to access a sector: free from `at` on, wherever it is then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Next sector.
    pub sector: u64,
    /// When the arm is free to go there, in nanoseconds.
    pub at: u64,
    /// Where the arm is until then.
    pub position: Position,
}

/// Sectors of one track, passed over in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    /// First sector.
    pub sector: u64,
    /// How many.
    pub count: u32,
    /// When the head is on the track.
    pub settled: u64,
    /// When the first sector begins to pass.
    pub begin: u64,
    /// When the last one has passed.
    pub end: u64,
    /// How many of the sectors, from the first on, the head met only on its second way round,
    /// having landed among them. All of them unless the drive takes sectors as they come.
    pub late: u32,
    /// Where the arm is.
    pub position: Position,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    pub write: bool,
    /// Sectors are taken as they come under the head.
    pub zero_latency: bool,
}

/// Enough for times up to 2³¹ ns, so that the whole turns are wrong by one at most.
const PER_PERIOD_BITS: u32 = 40;

#[derive(Debug)]
pub(super) struct Mechanics {
    pub geometry: Geometry,
    seek: SeekTable,
    /// Nanoseconds of a revolution.
    pub period: u64,
    /// A seek over a third of the cylinders and half a revolution.
    pub mean_access: u64,
    /// The period's reciprocal, rounded down, in units of 2 to the power of −[`PER_PERIOD_BITS`].
    per_period: u64,
    head_switch: u64,
    write_settle: i64,
    margin: u64,
}

impl Mechanics {
    /// The mechanics of a drive whose parameters have been checked.
    pub fn new(params: &Params) -> Self {
        let geometry = Geometry::new(params);
        let period = (60e9 / params.rpm).round() as u64;
        let seek = SeekTable::new(&params.seek, geometry.cylinders());
        Self {
            mean_access: u64::from(seek.at(geometry.cylinders() / 3)) + period / 2,
            seek,
            geometry,
            period,
            per_period: (1 << PER_PERIOD_BITS) / period,
            head_switch: params.head_switch.0,
            write_settle: params.write_settle_ns,
            margin: params.queue.miss_margin.0,
        }
    }

    /// Time to move the arm, or select the head.
    pub fn seek(&self, from: Position, to: Position, write: bool) -> u64 {
        let distance = from.cylinder.abs_diff(to.cylinder);
        let switch = if from.head == to.head { 0 } else { self.head_switch };
        let time = u64::from(self.seek.at(distance)).max(switch);
        if write && time > 0 { time.saturating_add_signed(self.write_settle) } else { time }
    }

    /// When in a revolution a sector begins to pass, in nanoseconds after the index.
    pub fn phase(&self, spot: &Spot) -> u64 {
        let track = (u128::from(spot.track_angle) * u128::from(self.period)) >> 64;
        let phase = track as u64 + self.passing(spot, 0);
        if phase >= self.period { phase - self.period } else { phase }
    }

    /// Nanoseconds from the beginning of a track to the beginning of the `nth` sector after `spot`.
    fn passing(&self, spot: &Spot, nth: u32) -> u64 {
        let sector = u64::from(spot.sector) + u64::from(nth);
        sector * self.period / u64::from(spot.sectors_per_track)
    }

    /// Time from `now` until `phase` comes round.
    fn wait(&self, now: u64, phase: u64) -> u64 {
        let current = now % self.period;
        if phase >= current { phase - current } else { phase + self.period - current }
    }

    /// How long after now, at phase `current` of the revolution, the sector at `phase` of a track
    /// that is `seek` away begins to pass; one that would be met only just is counted as missed.
    #[inline]
    pub fn reach(&self, current: u64, seek: u64, phase: u64) -> u64 {
        let earliest = current + seek + self.margin;
        // Whole turns, or one less: a multiplication instead of a division.
        let turns = (earliest * self.per_period) >> PER_PERIOD_BITS;
        let landing = earliest - turns * self.period;
        let landing = if landing >= self.period { landing - self.period } else { landing };
        let wait = if phase >= landing { phase - landing } else { phase + self.period - landing };
        seek + self.margin + wait
    }

    /// Goes to the cursor's sector and passes over up to `most` sectors from it on, no further than
    /// the track.
    pub fn stretch(&self, cursor: &Cursor, most: u64, access: Access) -> Stretch {
        let spot = self.geometry.locate(cursor.sector);
        let position = Position { cylinder: spot.cylinder, head: spot.head };
        let settled = cursor.at + self.seek(cursor.position, position, access.write);
        let begin = settled + self.wait(settled, self.phase(&spot));
        let count = u64::from(spot.left).min(most).max(1) as u32;
        let places = self.places(cursor.sector, count, &spot);
        let length = self.passing(&spot, places) - self.passing(&spot, 0);
        let end = begin + length;
        // Landed among the sectors: those it is over or before come this time round.
        let (mut late, mut last) = (count, end);
        if access.zero_latency && begin - settled > self.period - length.min(self.period) {
            let missed = settled + self.period - begin;
            late = ((missed * u64::from(count)).div_ceil(length) as u32).min(count);
            last = begin + length * u64::from(late) / u64::from(count);
        }
        Stretch { sector: cursor.sector, count, settled, begin, end: last, late, position }
    }

    /// Places from the first of `count` sectors to after the last, slipped ones between included.
    fn places(&self, sector: u64, count: u32, spot: &Spot) -> u32 {
        if count == 1 {
            return 1;
        }
        let last = self.geometry.locate(sector + u64::from(count) - 1);
        last.sector.saturating_sub(spot.sector) + 1
    }

    /// The cursor after a stretch.
    pub const fn after(stretch: &Stretch) -> Cursor {
        Cursor {
            sector: stretch.sector + stretch.count as u64,
            at: stretch.end,
            position: stretch.position,
        }
    }
}

impl Stretch {
    /// Nanoseconds in which one of the sectors passes.
    pub const fn sector_ns(&self) -> u64 {
        let late = if self.late == 0 { 1 } else { self.late };
        (self.end - self.begin) / late as u64
    }

    /// When the `nth` sector, from 0, has passed for the time that counts for handing on in order.
    pub const fn passed(&self, nth: u32) -> u64 {
        if self.late == 0 {
            return self.begin;
        }
        let nth = if nth < self.late { nth + 1 } else { self.late };
        self.begin + (self.end - self.begin) * nth as u64 / self.late as u64
    }

    /// How many sectors have passed by `now`, in order from the first.
    pub const fn by(&self, now: u64) -> u32 {
        if now >= self.end {
            return self.count;
        }
        if now <= self.begin {
            return 0;
        }
        ((now - self.begin) * self.late as u64 / (self.end - self.begin)) as u32
    }

    /// When the arm can leave if asked at `now`, before the end: not during a seek, and after the
    /// sector it is over unless that may be cut short.
    pub fn leave(&self, now: u64, within_sector: bool) -> u64 {
        if now <= self.settled {
            return self.settled;
        }
        if within_sector || now <= self.begin {
            return now;
        }
        self.passed(self.by(now)).min(self.end)
    }
}
