//! Reads: from the cache, from the medium, and ahead.

use super::Hdd;
use super::cache::Hit;
use super::mechanics::{Access, Cursor, Mechanics, Stretch};
use super::order::Waiting;
use super::params::{Interface, ReadAhead};

#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    segment: usize,
    /// The sector at which it ends.
    limit: u64,
    /// How far it has come, in whole tracks.
    cursor: Cursor,
}

/// Data on its way to the host while the medium gives it: when the last of it has crossed.
#[derive(Debug)]
struct Crossing {
    /// Nanoseconds of a sector on the interface.
    per_sector: u64,
    total: u64,
    /// Sectors that must be in the buffer before it begins.
    watermark: u64,
    /// From giving the interface up to having it again.
    delay: u64,
    seen: u64,
    /// When the first sector was in the buffer.
    ready: u64,
    /// The earliest end that what was seen so far allows.
    end: u64,
    /// The earliest beginning known so far.
    begin: u64,
    /// Whether the interface is given up whenever the buffer is empty.
    in_bursts: bool,
    /// What was seen after [`Crossing::held`], where data cross in bursts.
    seen_in: Vec<Stretch>,
}

impl Crossing {
    /// The host cannot have it all before `begin` plus the time to cross.
    fn begins(&mut self, begin: u64) {
        self.begin = self.begin.max(begin);
        self.end = self.end.max(begin + self.total * self.per_sector);
    }

    /// Sectors already in the buffer.
    fn held(&mut self, sectors: u64, at: u64) {
        self.seen = sectors;
        self.ready = at;
    }

    fn sectors(&mut self, stretch: &Stretch) {
        let count = u64::from(stretch.count);
        for nth in [0, stretch.late.saturating_sub(1), stretch.count - 1] {
            let after = self.total - (self.seen + u64::from(nth));
            self.end = self.end.max(stretch.passed(nth) + after * self.per_sector);
        }
        if self.seen == 0 {
            self.ready = stretch.passed(0);
        }
        if self.seen < self.watermark && self.watermark <= self.seen + count {
            let nth = (self.watermark - self.seen - 1) as u32;
            self.begins(stretch.passed(nth) + self.delay);
        }
        self.seen += count;
        if self.in_bursts {
            self.seen_in.push(*stretch);
        }
    }

    /// How many sectors are in the buffer at a time not before those held from the first on are.
    fn there(&self, at: u64) -> u64 {
        let missing = |stretch: &Stretch| u64::from(stretch.count - stretch.by(at));
        self.total - self.seen_in.iter().map(missing).sum::<u64>()
    }

    /// When the sector is in the buffer that `left` others come after.
    fn passed(&self, mut left: u64) -> u64 {
        for stretch in self.seen_in.iter().rev() {
            match u64::from(stretch.count) {
                count if left < count => return stretch.passed((count - left - 1) as u32),
                count => left -= count,
            }
        }
        0
    }

    /// When the last sector has crossed if the interface is given up whenever the buffer is empty,
    /// and taken again with as much there as the watermark asks for, or all that is left.
    fn end_in_bursts(&self) -> u64 {
        let (mut at, mut crossed) = (self.begin, 0);
        while crossed < self.total {
            let mut there = self.there(at);
            if there <= crossed {
                let wanted = (crossed + self.watermark.max(1)).min(self.total);
                at = at.max(self.passed(self.total - wanted)) + self.delay;
                there = self.there(at).max(wanted);
            }
            at += (there - crossed) * self.per_sector;
            crossed = there;
        }
        at
    }
}

impl Crossing {
    /// When a segment of `size` sectors has room for the read's `nth` sector, as far as it is known
    /// when those before it have passed.
    fn room_at(&self, nth: u64, size: u64) -> u64 {
        let (crossed, per_sector) = ((nth + 1).saturating_sub(size), self.per_sector);
        if crossed == 0 { 0 } else { self.end.saturating_sub((self.total - crossed) * per_sector) }
    }
}

impl Hdd {
    pub(super) fn read_ahead_until(&mut self, now: u64) {
        let Some(mut ahead) = self.ahead else { return };
        let access = Access { write: false, zero_latency: false };
        while ahead.cursor.sector < ahead.limit {
            if now <= ahead.cursor.at {
                self.ahead = Some(ahead);
                return;
            }
            let most = ahead.limit - ahead.cursor.sector;
            let stretch = self.mechanics.stretch(&ahead.cursor, most, access);
            self.segments.extend(ahead.segment, stretch.sector + u64::from(stretch.by(now)));
            if now < stretch.end {
                self.ahead = Some(ahead);
                return;
            }
            ahead.cursor = Mechanics::after(&stretch);
        }
        self.arm.position = ahead.cursor.position;
        self.ahead = None;
    }

    /// Ends reading ahead: the arm is free as soon as it can leave.
    pub(super) fn stop_reading_ahead(&mut self, now: u64) {
        self.read_ahead_until(now);
        let Some(ahead) = self.ahead.take() else { return };
        self.arm.position = ahead.cursor.position;
        if now <= ahead.cursor.at {
            return;
        }
        let access = Access { write: false, zero_latency: false };
        let most = ahead.limit - ahead.cursor.sector;
        let stretch = self.mechanics.stretch(&ahead.cursor, most, access);
        self.arm.position = stretch.position;
        let left = stretch.leave(now, self.params.cache.stop_within_sector);
        self.arm.free = self.arm.free.max(left);
    }

    fn crossing(&self, total: u64) -> Crossing {
        let interface = self.params.interface.unwrap_or(Interface::new(0, 0));
        let overhead = &self.params.overhead;
        let watermark = interface.mark(interface.read_watermark, total, self.segments.size());
        let delay = overhead.reselect.0 + overhead.data_preparation.0;
        Crossing {
            per_sector: interface.read_sector_ns,
            total,
            watermark,
            delay,
            seen: 0,
            ready: 0,
            end: 0,
            begin: 0,
            in_bursts: !interface.holds_for_read && (watermark > 1 || delay > 0),
            seen_in: Vec::new(),
        }
    }

    /// Ends a read whose data has crossed, one after another if there is an interface.
    fn end_read(&mut self, next: &Waiting, crossing: &Crossing) -> u64 {
        let mut end = crossing.end;
        if !crossing.seen_in.is_empty() {
            end = end.max(crossing.end_in_bursts());
        }
        if crossing.per_sector > 0 {
            end = end.max(self.interface_free + crossing.total * crossing.per_sector);
            self.interface_free = end;
        }
        let done = self.params.overhead.read_done.0;
        self.finish(next.tag, crossing.ready + done, end + done);
        self.last_read = true;
        end + done
    }

    /// When data that is in the buffer can begin to cross.
    fn hit_begins(&self, next: &Waiting, now: u64, waited: bool) -> u64 {
        let overhead = &self.params.overhead;
        let preparation = overhead.data_preparation.0;
        if waited {
            let known = next.arrived
                + overhead.read_miss.after(self.last_read)
                + overhead.read_disconnect.after(self.last_read);
            return now.max(known) + overhead.reselect.0 + preparation;
        }
        now + overhead.read_hit.after(self.last_read) + preparation
    }

    /// A read of data that is all in the buffer, without the arm.
    pub(super) fn read_held(&mut self, next: &Waiting, now: u64, waited: bool) {
        let begin = self.hit_begins(next, now, waited);
        let mut crossing = self.crossing(next.sectors());
        crossing.held(next.sectors(), begin);
        crossing.begins(begin);
        self.end_read(next, &crossing);
    }

    /// A read with the arm free for it: at its arrival, or after it `waited`.
    pub(super) fn read(&mut self, next: &Waiting, now: u64, waited: bool) {
        self.read_ahead_until(now);
        match self.segments.look(next.start, next.end) {
            Hit::Full(segment) => self.read_hit(next, segment, now, waited),
            Hit::Partial(segment) => self.read_rest(next, segment, now, waited),
            Hit::None => {
                let joined = self.ahead.filter(|ahead| {
                    self.params.cache.join_at_edge
                        && self.segments.ends_at(ahead.segment, next.start)
                });
                match joined {
                    Some(ahead) => self.read_rest(next, ahead.segment, now, waited),
                    None => self.read_miss(next, now, waited),
                }
            }
        }
    }

    fn read_hit(&mut self, next: &Waiting, segment: usize, now: u64, waited: bool) {
        let free = now + self.params.overhead.read_miss.after(self.last_read);
        self.read_held(next, now, waited);
        self.segments.touch(segment);
        let limit = self.ahead_limit(segment, next.end);
        if let Some(ahead) = self.ahead.as_mut().filter(|ahead| ahead.segment == segment) {
            ahead.limit = ahead.limit.max(limit);
            return;
        }
        self.stop_reading_ahead(now);
        let end = self.segments.get(segment).end;
        let written = self.segments.get(segment).written;
        if self.params.cache.ahead_on_hit && !written && end < limit {
            let cursor = self.cursor(end, free);
            self.ahead = Some(Ahead { segment, limit, cursor });
        }
    }

    /// A read of which the segment holds the beginning, or is about to.
    fn read_rest(&mut self, next: &Waiting, segment: usize, now: u64, waited: bool) {
        let mut crossing = self.crossing(next.sectors());
        let held = self.segments.get(segment).end;
        let there = held.saturating_sub(next.start);
        let at_once = self.params.cache.part_at_once || there >= crossing.watermark;
        let begin = if at_once {
            self.hit_begins(next, now, waited)
        } else {
            let (overhead, last_read) = (&self.params.overhead, self.last_read);
            let command = overhead.read_miss.after(last_read);
            next.arrived + command + overhead.read_disconnect.after(last_read)
        };
        crossing.begins(begin);
        let going = self.ahead.take_if(|ahead| ahead.segment == segment);
        let cursor = match going {
            Some(ahead) => ahead.cursor,
            None => {
                self.stop_reading_ahead(now);
                let start = now + self.params.overhead.read_miss.after(self.last_read);
                self.cursor(held, start)
            }
        };
        if at_once {
            crossing.watermark = 0;
        }
        crossing.held(cursor.sector.saturating_sub(next.start), begin);
        let after = self.pass(&mut crossing, cursor, next);
        crossing.ready = begin;
        self.arrive(after, next, segment);
        self.finish_medium(next, &crossing, segment);
    }

    /// The next sectors of a read, no more than find room in the segment as they pass. A sector
    /// that finds none is waited for until it comes round again.
    fn next_sectors(
        &self,
        crossing: &Crossing,
        cursor: &mut Cursor,
        next: &Waiting,
        access: Access,
    ) -> Stretch {
        let (size, left) = (self.segments.size(), next.end - cursor.sector);
        if crossing.per_sector == 0 || crossing.total <= size || cursor.sector < next.start {
            return self.mechanics.stretch(cursor, left, access);
        }
        loop {
            // What makes room for the next `size` sectors has passed already.
            let stretch = self.mechanics.stretch(cursor, left.min(size), access);
            let slack = if self.params.cache.room_at_begin { 0 } else { stretch.sector_ns() };
            let fits = |nth: u32| {
                let begins = if nth == 0 { stretch.begin } else { stretch.passed(nth - 1) };
                crossing.room_at(crossing.seen + u64::from(nth), size) <= begins + slack
            };
            match (0..stretch.count).take_while(|nth| fits(*nth)).count() as u64 {
                0 => {
                    cursor.position = stretch.position;
                    let room = crossing.room_at(crossing.seen, size).saturating_sub(slack);
                    cursor.at = stretch.settled.max(room);
                }
                count if count < u64::from(stretch.count) => {
                    return self.mechanics.stretch(cursor, count, access);
                }
                _ => return stretch,
            }
        }
    }

    /// Goes on to the read's end from a cursor that may have begun its track before the read's
    /// first sector, at a time that may be past.
    fn pass(&self, crossing: &mut Crossing, cursor: Cursor, next: &Waiting) -> Cursor {
        let access = Access { write: false, zero_latency: false };
        let mut cursor = cursor;
        while cursor.sector < next.end {
            let stretch = self.next_sectors(crossing, &mut cursor, next, access);
            let first = next.start.saturating_sub(stretch.sector).min(u64::from(stretch.count));
            let first = first as u32;
            if first < stretch.count {
                let begin = if first == 0 { stretch.begin } else { stretch.passed(first - 1) };
                let count = stretch.count - first;
                crossing.sectors(&Stretch { count, late: count, begin, ..stretch });
            }
            cursor = Mechanics::after(&stretch);
        }
        cursor
    }

    fn read_miss(&mut self, next: &Waiting, now: u64, waited: bool) {
        let overhead = &self.params.overhead;
        let command = next.arrived + overhead.read_miss.after(self.last_read);
        let disconnected = command + overhead.read_disconnect.after(self.last_read);
        let turn = if waited { 0 } else { overhead.turnaround.0 };
        let spare = self.ahead.map(|ahead| ahead.segment);
        self.stop_reading_ahead(now);
        let segment = self.segments.take(next.start, spare);
        let start = command.max(now).max(self.arm.free + turn);
        let mut crossing = self.crossing(next.sectors());
        crossing.begins(disconnected);
        let cursor = self.cursor(next.start, start);
        self.collect(&mut crossing, cursor, next, segment);
        self.finish_medium(next, &crossing, segment);
    }

    /// Collects the sectors from the cursor to the end of the read from the medium.
    fn collect(&mut self, crossing: &mut Crossing, cursor: Cursor, next: &Waiting, segment: usize) {
        let keeps = self.params.cache.keep_passing;
        let zero_latency = self.params.cache.zero_latency_read || keeps;
        let access = Access { write: false, zero_latency };
        let mut cursor = cursor;
        while cursor.sector < next.end {
            let stretch = self.next_sectors(crossing, &mut cursor, next, access);
            crossing.sectors(&stretch);
            if keeps && cursor.sector == next.start {
                let passed = self.passed_before(&stretch);
                self.segments.extend_down(segment, next.start - passed);
            }
            cursor = Mechanics::after(&stretch);
        }
        self.arrive(cursor, next, segment);
    }

    /// How many sectors of the track passed under the head before the first wanted one.
    fn passed_before(&self, stretch: &Stretch) -> u64 {
        let spot = self.mechanics.geometry.locate(stretch.sector);
        let turn = u64::from(spot.sectors_per_track);
        let passed = (stretch.begin - stretch.settled) * turn / self.mechanics.period;
        passed.min(self.mechanics.geometry.before(stretch.sector))
    }

    /// Notes what the segment holds after a read, and reads on.
    fn arrive(&mut self, cursor: Cursor, next: &Waiting, segment: usize) {
        self.segments.extend(segment, next.end);
        self.segments.touch(segment);
        self.arm.position = cursor.position;
        self.arm.free = cursor.at;
        let pressed = self.params.queue.preseek && !self.waiting.is_empty();
        if pressed && self.params.cache.min_ahead == 0 {
            return;
        }
        let limit = self.ahead_limit(segment, next.end);
        let mut cursor = cursor;
        let least = (next.end + u64::from(self.params.cache.min_ahead)).min(limit);
        let access = Access { write: false, zero_latency: false };
        while cursor.sector < least {
            let stretch = self.mechanics.stretch(&cursor, least - cursor.sector, access);
            cursor = Mechanics::after(&stretch);
            self.segments.extend(segment, cursor.sector);
        }
        self.arm.position = cursor.position;
        self.arm.free = cursor.at;
        if cursor.sector < limit && !pressed {
            self.ahead = Some(Ahead { segment, limit, cursor });
        }
    }

    fn finish_medium(&mut self, next: &Waiting, crossing: &Crossing, segment: usize) {
        let at = self.end_read(next, crossing);
        if !self.params.queue.preseek {
            self.arm.free = self.arm.free.max(at);
        }
        if !self.params.cache.enabled {
            self.segments.forget(0, u64::MAX, self.ahead.map(|_| segment));
        }
    }

    /// The sector at which reading ahead ends after a read that ended at `end`.
    fn ahead_limit(&self, segment: usize, end: u64) -> u64 {
        let cache = &self.params.cache;
        let geometry = &self.mechanics.geometry;
        let all = geometry.sectors();
        let track_end = |sector: u64| sector + u64::from(geometry.locate(sector).left);
        let held = self.segments.get(segment);
        let far = match cache.read_ahead {
            ReadAhead::None => return end,
            _ if end >= all => return end,
            ReadAhead::Track => track_end(end - 1),
            ReadAhead::Cylinder => {
                let cylinder = geometry.locate(end - 1).cylinder;
                let mut far = track_end(end - 1);
                while far < all && geometry.locate(far).cylinder == cylinder {
                    far = track_end(far);
                }
                far
            }
            ReadAhead::Segment if cache.ahead_over_requested => end + self.segments.size(),
            ReadAhead::Segment => held.start + self.segments.size(),
            ReadAhead::NextTrack => {
                let far = track_end(end);
                let streams = held.start < end - geometry.before(end);
                if streams && far < all { track_end(far) } else { far }
            }
        };
        let most = if cache.max_ahead > 0 { end + u64::from(cache.max_ahead) } else { u64::MAX };
        far.min(most).min(all).max(end)
    }
}
