//! Where requests go on a zoned device: writes to write pointers, reads below them. Conventional
//! zones and those of host-aware devices take both anywhere.
//!
//! [`Zones`] tracks the zones of a device for all clones: how far each is written, whether it is
//! open and whether a write is outstanding. It decides where each request goes and does no I/O
//! itself. Only one write is outstanding per zone: of two, the kernel or the device could execute
//! the second first, which would fail. Clones ask through [`Follow`], which resets and finishes
//! zones.

mod follow;

pub use follow::{
    ChangeTimes, ChangeZones, Collecting, Follow, Placed, SharedZones, Takes, Unchanged,
};

use seekwell_access::{Zone, ZoneChange, ZoneCondition, ZoneKind};
use std::ops::Range;

/// The next step for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Issue it at byte `at` with `len` bytes, at most as many as requested.
    Go {
        /// From the start of the device.
        at: u64,
        /// At least the shortest request of the job.
        len: u64,
    },
    /// Reset or finish this zone first, then call [`Zones::changed`] and ask again.
    Change {
        /// Its number.
        zone: usize,
        /// The command for it.
        change: ZoneChange,
    },
    /// Ask again after a write has completed.
    Wait,
    /// No place is left from the wished one on.
    Through,
}

/// The clone that asks.
#[derive(Debug, Clone)]
pub struct Asker {
    /// Its number among all clones of the run.
    pub clone: u32,
    /// The zones that it uses.
    pub range: Range<usize>,
    /// Whether its accesses are random; otherwise they are sequential.
    pub random: bool,
    /// Its shortest request, in bytes.
    pub shortest: u64,
    /// Whether it reads beyond write pointers.
    pub beyond: bool,
    /// How many of the open zones it may have opened itself.
    pub most_open: usize,
}

/// A write or a change that is outstanding in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Busy {
    /// The end of what can be read meanwhile.
    from: u64,
    /// The clone that waits for it.
    by: u32,
}

#[derive(Debug, Clone, Copy)]
struct State {
    zone: Zone,
    busy: Option<Busy>,
    /// Outstanding reads; the zone is neither reset nor finished before they complete.
    reads: u32,
    /// While it counts as open: the clone that wrote to it first.
    opened_by: Option<u32>,
}

impl State {
    fn has_pointer(&self) -> bool {
        self.zone.kind != ZoneKind::Conventional
    }

    fn is_open(&self) -> bool {
        self.opened_by.is_some()
    }

    fn room(&self) -> u64 {
        self.zone.capacity_end() - self.zone.write_pointer
    }

    fn takes_writes(&self) -> bool {
        !matches!(self.zone.condition, ZoneCondition::ReadOnly | ZoneCondition::Offline)
    }
}

/// How a zone is used: one that only prefers writes at its write pointer is a conventional one, as
/// it is for fio.
fn used(zone: Zone) -> Zone {
    if zone.kind != ZoneKind::SequentialPreferred {
        return zone;
    }
    let zone = Zone { kind: ZoneKind::Conventional, ..zone };
    match zone.condition {
        ZoneCondition::ReadOnly | ZoneCondition::Offline => zone,
        _ => Zone { condition: ZoneCondition::NoPointer, write_pointer: zone.end(), ..zone },
    }
}

/// The zones of one device.
#[derive(Debug)]
pub struct Zones {
    all: Vec<State>,
    /// The open ones, in no particular order.
    open: Vec<usize>,
    most_open: usize,
}

/// Stands for no clone: the zone was open before the run.
const NOBODY: u32 = u32::MAX;

impl Zones {
    /// The zones of a device as reported, without gaps, of which at most `most_open` may be open.
    /// If more are open already, no other is opened.
    pub fn new(zones: Vec<Zone>, most_open: Option<u32>) -> Self {
        let follow = |pair: &[Zone]| pair[0].end() == pair[1].start;
        assert!(zones.windows(2).all(follow), "zones lie one after the other");
        let state = |zone: Zone| State {
            zone,
            busy: None,
            reads: 0,
            opened_by: zone.is_active().then_some(NOBODY),
        };
        let all: Vec<State> = zones.into_iter().map(used).map(state).collect();
        let open = (0..all.len()).filter(|i| all[*i].is_open()).collect();
        let most_open = most_open.map_or(usize::MAX, |most| most.max(1) as usize);
        Self { all, open, most_open }
    }

    /// The zones that lie entirely within a part of the device.
    pub fn within(&self, part: Range<u64>) -> Range<usize> {
        let first = self.all.partition_point(|state| state.zone.start < part.start);
        let end = self.all.partition_point(|state| state.zone.end() <= part.end);
        first..end.max(first)
    }

    /// The total capacity of some zones, in bytes.
    pub fn capacity_bytes(&self, range: &Range<usize>) -> u64 {
        self.all[range.clone()].iter().map(|state| state.zone.capacity).sum()
    }

    /// A zone by its number.
    pub fn zone(&self, number: usize) -> &Zone {
        &self.all[number].zone
    }

    /// The zone of a byte, or the first of the range if the byte lies before it; `None` beyond its
    /// end.
    fn at(&self, range: &Range<usize>, byte: u64) -> Option<usize> {
        let zone = self.all.partition_point(|state| state.zone.end() <= byte);
        (zone < range.end).then_some(zone.max(range.start))
    }

    /// Where a write drawn for byte `wish` goes. For a sequential zone, the wish only selects the
    /// zone. With `collect`, the zone is reset first.
    pub fn write(&mut self, by: &Asker, wish: u64, len: u64, collect: bool) -> Step {
        assert!(len >= by.shortest && by.shortest > 0, "a request is as long as the shortest");
        let Some(wished) = self.writable(by, wish) else { return Step::Through };
        if !self.all[wished].has_pointer() {
            return self.write_anywhere(by, wished, wish, len);
        }
        let number = match self.all[wished].is_open() || self.may_open(by) {
            true => wished,
            false => match self.stand_in(by, wish) {
                Ok(number) => number,
                Err(step) => return step,
            },
        };
        let state = &self.all[number];
        assert!(state.zone.capacity >= by.shortest, "a zone holds the shortest request");
        if state.busy.is_some() {
            return Step::Wait;
        }
        if state.room() < by.shortest {
            // The unwritten rest would keep the zone open.
            let change = if state.is_open() { ZoneChange::Finish } else { ZoneChange::Reset };
            return self.change(by, number, change);
        }
        if collect && !state.zone.written().is_empty() {
            return self.change(by, number, ZoneChange::Reset);
        }
        self.begin_write(by, number, len)
    }

    fn begin_write(&mut self, by: &Asker, number: usize, len: u64) -> Step {
        let state = &mut self.all[number];
        let at = state.zone.write_pointer;
        let len = len.min(state.room() / by.shortest * by.shortest);
        state.zone.write_pointer += len;
        state.busy = Some(Busy { from: at, by: by.clone });
        if state.opened_by.is_none() {
            state.opened_by = Some(by.clone);
            self.open.push(number);
        }
        assert!(len > 0 && state.zone.write_pointer <= state.zone.capacity_end());
        Step::Go { at, len }
    }

    /// The zone for a write: the wished one, or for sequential writes the next one with room.
    fn writable(&self, by: &Asker, wish: u64) -> Option<usize> {
        let wished = self.at(&by.range, wish)?;
        let has_room = |number: &usize| {
            let state = &self.all[*number];
            let passed = wish > state.zone.start;
            state.takes_writes()
                && (by.random
                    || !passed
                    || match state.has_pointer() {
                        true => state.is_open() || state.room() >= by.shortest,
                        false => wish + by.shortest <= self.reach(&by.range, *number),
                    })
        };
        let mut rest = wished..by.range.end;
        rest.find(has_room).or_else(|| {
            let mut before = by.range.start..if by.random { wished } else { by.range.start };
            before.find(has_room)
        })
    }

    /// The end of the run of conventional zones that contains this one.
    fn reach(&self, range: &Range<usize>, number: usize) -> u64 {
        let states = &self.all[number..range.end];
        let plain = states.iter().take_while(|state| !state.has_pointer() && state.takes_writes());
        plain.last().map_or(states[0].zone.end(), |state| state.zone.end())
    }

    fn write_anywhere(&self, by: &Asker, number: usize, wish: u64, len: u64) -> Step {
        let (start, end) = (self.all[number].zone.start, self.reach(&by.range, number));
        let at = wish.max(start);
        let at = if at + by.shortest <= end { at } else { start };
        let len = len.min((end - at) / by.shortest * by.shortest);
        assert!(len >= by.shortest, "a zone holds the shortest request");
        Step::Go { at, len }
    }

    fn may_open(&self, by: &Asker) -> bool {
        let own = |number: &&usize| self.all[**number].opened_by == Some(by.clone);
        self.open.len() < self.most_open
            && (by.most_open == usize::MAX || self.open.iter().filter(own).count() < by.most_open)
    }

    /// An open zone to use because no other may be opened, or the step needed first. The choice
    /// depends on the wish, so that writes spread over the open zones.
    fn stand_in(&mut self, by: &Asker, wish: u64) -> Result<usize, Step> {
        let (first, last) = (self.zone(by.range.start).start, self.zone(by.range.end - 1).end());
        let count = self.open.len();
        let share = u128::from(wish.saturating_sub(first)) * count as u128;
        let begin = (share / u128::from(last - first)) as usize;
        let order = (0..count).map(|i| self.open[(begin + i) % count]);
        let (own, others): (Vec<usize>, Vec<usize>) = order.partition(|i| by.range.contains(i));
        let is_idle = |number: &usize| self.all[*number].busy.is_none();
        if let Some(number) = own.iter().copied().find(is_idle) {
            return Ok(number);
        }
        // Only if all open zones are outside the range: the jobs that opened them may never return.
        match others.into_iter().find(is_idle).filter(|_| own.is_empty()) {
            Some(number) => Err(self.change(by, number, ZoneChange::Finish)),
            None => Err(Step::Wait),
        }
    }

    fn change(&mut self, by: &Asker, zone: usize, change: ZoneChange) -> Step {
        let state = &mut self.all[zone];
        assert!(state.has_pointer() && state.busy.is_none(), "a zone is changed when idle");
        if state.reads > 0 {
            return Step::Wait;
        }
        state.busy = Some(Busy { from: state.zone.start, by: by.clone });
        Step::Change { zone, change }
    }

    /// Records that a zone was changed as [`Step::Change`] demanded. An open one that was reset
    /// stays open for the write that it was reset for.
    pub fn changed(&mut self, number: usize, change: ZoneChange) {
        let state = &mut self.all[number];
        let busy = state.busy.take();
        assert_eq!(busy.map(|it| it.from), Some(state.zone.start), "its change was outstanding");
        assert_eq!(state.reads, 0, "nothing was read meanwhile");
        state.zone.write_pointer = match change {
            ZoneChange::Reset => state.zone.start,
            ZoneChange::Finish => state.zone.capacity_end(),
        };
        if change == ZoneChange::Finish {
            self.close(number);
        }
    }

    /// Records that the write issued at `at` has completed.
    pub fn written(&mut self, at: u64, failed: bool) {
        let number = self.at(&(0..self.all.len()), at).expect("a write went to a zone");
        let state = &mut self.all[number];
        if !state.has_pointer() {
            return;
        }
        let busy = state.busy.take();
        assert_eq!(busy.map(|it| it.from), Some(at), "the only write of the zone is done");
        if failed {
            state.zone.write_pointer = at;
        }
        if state.room() == 0 {
            self.close(number);
        }
    }

    /// Records that the read issued at `at` has completed.
    pub fn was_read(&mut self, at: u64) {
        let number = self.at(&(0..self.all.len()), at).expect("a read went to a zone");
        let reads = &mut self.all[number].reads;
        *reads = reads.checked_sub(1).expect("each read is done once");
    }

    /// Forgets a clone that has ended, so that its unfinished requests block no other.
    fn leave(&mut self, clone: u32) {
        let left = |state: &&mut State| state.busy.is_some_and(|busy| busy.by == clone);
        self.all.iter_mut().filter(left).for_each(|state| state.busy = None);
    }

    fn close(&mut self, number: usize) {
        self.all[number].opened_by = None;
        self.open.retain(|open| *open != number);
    }

    /// Where a read drawn for byte `wish` goes: below a write pointer, unless the clone may read
    /// beyond.
    pub fn read(&mut self, by: &Asker, wish: u64, len: u64) -> Step {
        let step = self.readable(by, wish, len);
        // Reads beyond write pointers do not hold up a reset.
        if let Step::Go { at, .. } = step
            && !by.beyond
            && let Some(number) = self.at(&by.range, at)
        {
            self.all[number].reads += 1;
        }
        step
    }

    fn readable(&self, by: &Asker, wish: u64, len: u64) -> Step {
        let Some(wished) = self.at(&by.range, wish) else { return Step::Through };
        if by.beyond {
            return Step::Go { at: wish.max(self.zone(by.range.start).start), len };
        }
        let after = wished..by.range.end;
        let found = match by.random {
            false => after.into_iter().find_map(|number| self.read_on(by, number, wish, len)),
            true => {
                let before = (by.range.start..wished).rev();
                let up = after.into_iter().map(Some).chain(std::iter::repeat(None));
                let down = before.map(Some).chain(std::iter::repeat(None));
                let nearest = up.zip(down).take(by.range.len()).flat_map(|(a, b)| [a, b]);
                let mut nearest = nearest.flatten();
                nearest.find_map(|number| self.read_in(by, number, (wished, wish), len))
            }
        };
        found.unwrap_or(Step::Through)
    }

    /// The written part of a zone; from a conventional one on, all of those that follow it.
    fn readable_part(&self, range: &Range<usize>, number: usize) -> Range<u64> {
        let State { zone, busy, .. } = self.all[number];
        let end = match zone.condition {
            ZoneCondition::NoPointer => self.reach(range, number),
            _ => busy.map_or(zone.write_pointer, |busy| busy.from),
        };
        zone.start..end
    }

    /// A sequential read: at the wish, or at the start of the zone.
    fn read_on(&self, by: &Asker, number: usize, wish: u64, len: u64) -> Option<Step> {
        let Range { start, end } = self.readable_part(&by.range, number);
        let at = wish.max(start);
        let room = end.saturating_sub(at) / by.shortest * by.shortest;
        (room > 0).then_some(Step::Go { at, len: len.min(room) })
    }

    /// A random read within the written part of a zone, at a place derived from the wish.
    fn read_in(
        &self,
        by: &Asker,
        number: usize,
        (wished, wish): (usize, u64),
        len: u64,
    ) -> Option<Step> {
        let Range { start, end } = self.readable_part(&by.range, number);
        let len = len.min((end - start) / by.shortest * by.shortest);
        let inside = wish.saturating_sub(self.zone(wished).start) % (end - start - len + 1);
        let at = start + inside / by.shortest * by.shortest;
        (len > 0).then_some(Step::Go { at, len })
    }

    /// What was written at write pointers in some zones, as a share of all of their length.
    fn written_share(&self, range: &Range<usize>) -> f64 {
        let states = &self.all[range.clone()];
        let written = |state: &State| state.zone.write_pointer - state.zone.start;
        let all: u64 = states.iter().map(|state| state.zone.len).sum();
        let with_pointer = states.iter().filter(|state| state.has_pointer());
        with_pointer.map(written).sum::<u64>() as f64 / all.max(1) as f64
    }
}

#[cfg(test)]
mod tests;
