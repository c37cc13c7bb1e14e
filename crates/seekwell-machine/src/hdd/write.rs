//! Writes: into the buffer, to the medium, and from the buffer to the medium.

use super::Hdd;
use super::buffer::{Extent, Room};
use super::cache::Hit;
use super::mechanics::{Access, Cursor, Mechanics};
use super::order::Waiting;

/// When the host's data is in the buffer.
#[derive(Debug, Clone, Copy)]
struct Data {
    /// As much of it as must be there before the medium is written.
    begin: u64,
    end: u64,
}

impl Hdd {
    /// Data of `sectors` sectors crosses from `begin` on.
    fn receive(&mut self, begin: u64, sectors: u64) -> Data {
        let Some(interface) = self.params.interface else { return Data { begin, end: begin } };
        let begin = begin.max(self.interface_free);
        let end = begin + sectors * interface.write_sector_ns;
        self.interface_free = end;
        let first = sectors.min(u64::from(self.params.write.start_sectors));
        Data { begin: begin + first * interface.write_sector_ns, end }
    }

    fn note_written(&mut self, start: u64, end: u64) {
        if self.params.write.takes_segment {
            self.segments.keep_written(start, end);
        } else {
            self.segments.forget(start, end, None);
        }
    }

    /// A write that is done when its data is in the buffer.
    pub(super) fn write_to_buffer(&mut self, next: &Waiting, room: Room, now: u64, waited: bool) {
        let overhead = &self.params.overhead;
        let command = next.arrived + overhead.write_hit.after(self.last_read);
        let preparation = overhead.data_preparation.0;
        let begin = if waited {
            let known = command + overhead.write_disconnect.0;
            now.max(known) + overhead.reselect.0 + preparation
        } else {
            command + preparation
        };
        let done = overhead.write_done.0;
        if self.arm.free <= now && self.waiting.is_empty() {
            self.stop_reading_ahead(now);
        }
        let data = self.receive(begin, next.sectors());
        let extent = Extent {
            start: next.start,
            end: next.end,
            eligible: command.max(now),
            data_begin: data.begin,
            data_end: data.end,
            joins: false,
        };
        self.dirty.accept(room, extent);
        self.note_written(next.start, next.end);
        self.last_read = false;
        self.finish(next.tag, data.end + done, data.end + done);
    }

    /// A write that is done when it is on the medium.
    pub(super) fn write_through(&mut self, next: &Waiting, now: u64, waited: bool) {
        let overhead = &self.params.overhead;
        let command = next.arrived + overhead.write_miss.after(self.last_read);
        let turn = if waited { 0 } else { overhead.turnaround.0 };
        let begin = if waited {
            now.max(command + overhead.write_disconnect.0) + overhead.reselect.0
        } else {
            command
        };
        let (preparation, done) = (overhead.data_preparation.0, overhead.write_done.0);
        let (reselect, disconnect) = (overhead.reselect.0, overhead.write_disconnect.0);
        self.stop_reading_ahead(now);
        let data = self.receive(begin + preparation, next.sectors());
        let start = command.max(now).max(self.arm.free + turn);
        let cursor = self.cursor(next.start, start);
        let cursor = self.complete_edges(cursor, next.end);
        let end = self.physical_end(next.end);
        let after = self.to_medium(cursor, end, data, true);
        let given_up = if self.params.interface.is_some() { data.end + disconnect } else { 0 };
        let at = after.at.max(given_up) + reselect + done;
        self.arm.position = after.position;
        self.arm.free = if self.params.queue.preseek { after.at } else { at };
        self.dirty.forget(next.start, next.end);
        self.note_written(next.start, next.end);
        self.last_read = false;
        self.finish(next.tag, at, at);
    }

    /// Writes the range of the buffer that can be reached soonest, beginning at `begin`.
    pub(super) fn write_back(&mut self, begin: u64) {
        if self.dirty.waiting.is_empty() {
            return;
        }
        self.stop_reading_ahead(begin);
        let overhead = self.params.write.destage_overhead.0;
        let (index, _) = self.next_extent(begin.max(self.arm.free) + overhead);
        let extent = self.dirty.begin(index);
        let start = begin.max(extent.eligible) + overhead;
        let cursor = self.cursor(extent.start, start);
        let data = Data { begin: extent.data_begin, end: extent.data_end };
        let cursor = self.complete_edges(cursor, extent.end);
        let end = self.physical_end(extent.end);
        let after = self.to_medium(cursor, end, data, !extent.joins);
        self.arm.position = after.position;
        self.arm.free = after.at;
    }

    /// The end of the physical sector in which a write that ends at `end` ends.
    fn physical_end(&self, end: u64) -> u64 {
        let all = self.mechanics.geometry.sectors();
        end.next_multiple_of(self.params.physical_sectors()).min(all)
    }

    /// Reads the physical sectors of which a write from the cursor's sector to `end` covers only a
    /// part, unless they are in the cache. Gives the cursor from which all of them are written.
    fn complete_edges(&self, cursor: Cursor, end: u64) -> Cursor {
        let per_physical = self.params.physical_sectors();
        let first = cursor.sector - cursor.sector % per_physical;
        let last = (end - 1) - (end - 1) % per_physical;
        let access = Access { write: false, zero_latency: false };
        let mut moved = cursor;
        for (edge, in_part) in [
            (first, first < cursor.sector || (first == last && end < self.physical_end(end))),
            (last, first < last && end < self.physical_end(end)),
        ] {
            let edge_end = self.physical_end(edge + 1);
            if !in_part || matches!(self.segments.look(edge, edge_end), Hit::Full(_)) {
                continue;
            }
            moved.sector = edge;
            while moved.sector < edge_end {
                let stretch = self.mechanics.stretch(&moved, edge_end - moved.sector, access);
                moved = Mechanics::after(&stretch);
            }
        }
        Cursor { sector: first, ..moved }
    }

    /// Writes from the cursor's sector to `end`, no sector before the buffer has it. Gives where
    /// that leaves the arm.
    fn to_medium(&self, cursor: Cursor, end: u64, data: Data, apart: bool) -> Cursor {
        let access = Access { write: true, zero_latency: self.params.cache.zero_latency_write };
        let mut cursor = cursor;
        if apart {
            let least = self.params.write.min_positioning.0;
            let spot = self.mechanics.stretch(&cursor, 1, access);
            cursor.at += least.saturating_sub(spot.settled - cursor.at);
        }
        let mut lacking = data.begin;
        while cursor.sector < end {
            let most = end - cursor.sector;
            let mut stretch = self.mechanics.stretch(&cursor, most, access);
            if u64::from(stretch.count) == most {
                lacking = lacking.max(data.end.saturating_sub(stretch.end - stretch.begin));
            }
            let late = lacking.saturating_sub(stretch.begin);
            let turns = late.div_ceil(self.mechanics.period) * self.mechanics.period;
            stretch.begin += turns;
            stretch.end += turns;
            cursor = Mechanics::after(&stretch);
        }
        cursor
    }
}
