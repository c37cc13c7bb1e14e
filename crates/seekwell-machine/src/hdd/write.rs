//! Writes: into the buffer, to the medium, and from the buffer to the medium.

use super::Hdd;
use super::buffer::{Extent, Room};
use super::cache::Hit;
use super::mechanics::{Access, Cursor, Mechanics};
use super::order::Waiting;
use super::params::{After, Pause};

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

    /// The pause between a write and its data, where the drive makes one: before a write that finds
    /// it at rest, comes after another and does not continue it.
    fn pause(&self, next: &Waiting, waited: bool) -> Option<Pause> {
        let apart = !self.last_read && ![u64::MAX, next.start].contains(&self.last_written);
        self.params.overhead.pause.filter(|_| apart && !waited)
    }

    /// When the arm may begin to move for a write of which the command takes `command`, and when
    /// the host's data may begin to cross.
    fn accept(&self, next: &Waiting, command: After, now: u64, waited: bool) -> (u64, u64) {
        let overhead = &self.params.overhead;
        let preparation = overhead.data_preparation.0;
        let known = next.arrived + command.after(self.last_read);
        if waited {
            let begin = now.max(known + overhead.write_disconnect.0) + overhead.reselect.0;
            return (known, begin + preparation);
        }
        let Some(pause) = self.pause(next, waited) else { return (known, known + preparation) };
        let known = next.arrived + pause.command.0;
        let again = known + pause.disconnect.0 + pause.wait.0 + overhead.reselect.0;
        (known + pause.seek_delay.0, again + preparation)
    }

    /// Notes that a write is done.
    fn end_write(&mut self, next: &Waiting, at: u64) {
        self.note_written(next.start, next.end);
        self.last_read = false;
        self.last_written = next.end;
        self.finish(next.tag, at, at);
    }

    /// A write that is done when its data is in the buffer.
    pub(super) fn write_to_buffer(&mut self, next: &Waiting, room: Room, now: u64, waited: bool) {
        let overhead = &self.params.overhead;
        let (command, begin) = self.accept(next, overhead.write_hit, now, waited);
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
        self.end_write(next, data.end + done);
    }

    /// A write that is done when it is on the medium.
    pub(super) fn write_through(&mut self, next: &Waiting, now: u64, waited: bool) {
        let overhead = &self.params.overhead;
        let turn = if waited { 0 } else { overhead.turnaround.0 };
        let (command, begin) = self.accept(next, overhead.write_miss, now, waited);
        let (disconnect, reselect) = match self.pause(next, waited) {
            Some(pause) => (pause.second_disconnect.0, pause.second_reselect.0),
            None => (overhead.write_disconnect.0, overhead.reselect.0),
        };
        let done = overhead.write_done.0;
        self.stop_reading_ahead(now);
        let data = self.receive(begin, next.sectors().min(self.room_for(next)));
        let start = command.max(now).max(self.arm.free + turn);
        let cursor = self.cursor(next.start, start);
        let cursor = self.complete_edges(cursor, next.end);
        let (cursor, data) = self.receive_rest(next, cursor, data);
        let end = self.physical_end(next.end);
        let after = self.to_medium(cursor, end, data, cursor.sector <= next.start);
        let given_up = if self.params.interface.is_some() { data.end + disconnect } else { 0 };
        let at = after.at.max(given_up) + reselect + done;
        self.arm.position = after.position;
        self.arm.free = if self.params.queue.preseek { after.at } else { at };
        self.dirty.forget(next.start, next.end);
        self.end_write(next, at);
    }

    /// Sectors of a write that find room in the segment before any of them is on the medium.
    fn room_for(&self, next: &Waiting) -> u64 {
        let bounded = self.params.interface.is_some_and(|interface| interface.write_sector_ns > 0);
        if bounded { u64::from(self.params.write.extent_sectors) } else { next.sectors() }
    }

    /// Takes the data of a write that is longer than the segment, as what came before goes to the
    /// medium. Gives where that leaves the arm, and when the last of the data is there.
    fn receive_rest(&mut self, next: &Waiting, from: Cursor, first: Data) -> (Cursor, Data) {
        let (mut cursor, mut data) = (from, first);
        let (size, total) = (self.room_for(next), next.sectors());
        let Some(interface) = self.params.interface.filter(|_| size < total) else {
            return (cursor, data);
        };
        let low = interface.mark(interface.write_watermark, total, size).min(size - 1);
        let overhead = &self.params.overhead;
        let again = if interface.holds_for_write { 0 } else { overhead.reselect.0 };
        let again = again + overhead.data_preparation.0;
        let mut sent = size;
        while sent < total {
            let upto = next.start + sent - low;
            cursor = self.to_medium(cursor, upto, data, cursor.sector <= next.start);
            let more = (size - low).min(total - sent);
            let rest = self.receive(cursor.at + again, more);
            data = Data { begin: data.end, end: rest.end };
            sent += more;
        }
        (cursor, data)
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
