//! Requests that are done, whole or in part.

use super::table::{NONE, Piece};
use super::{Event, Pair, State};
use crate::record::{Flags, Stamp};
use seekwell_io::request::Op;

/// The errno of what would have had to wait.
const EAGAIN: u16 = 11;

impl Pair {
    pub(super) fn complete(&mut self, event: &Event) {
        self.seen.complete = true;
        if event.op == Op::Flush {
            self.complete_flush(event);
            return;
        }
        if event.error == EAGAIN && self.refuse(event) {
            return;
        }
        let Some(lead) = self.under_way(event) else {
            self.complete_elsewhere(event);
            return;
        };
        let whole = self.table.piece(lead).whole;
        if event.len >= whole || event.op == Op::Discard {
            self.table.unlink(lead);
            let mut at = lead;
            while at != NONE {
                let next = self.table.piece(at).next;
                self.end_piece(at, event);
                at = next;
            }
        } else {
            self.complete_part(lead, whole, event);
        }
    }

    /// A bio that was not to wait (NOWAIT) ends at once if there is no tag for it, and comes
    /// again: the device never got it.
    fn refuse(&mut self, event: &Event) -> bool {
        let queued = |p: &Piece| !p.issued && p.op == event.op && p.len == event.len && !p.cut;
        let Some(at) = self.table.find_newest(event.device, event.offset, queued) else {
            return false;
        };
        let owner = self.table.piece(at).owner;
        self.table.unlink(at);
        self.table.release(at);
        self.void(owner);
        self.refused += 1;
        true
    }

    /// The request that begins where the completion does: best the one of that size.
    fn under_way(&self, event: &Event) -> Option<u32> {
        let same = |p: &Piece| p.issued && p.op == event.op && p.whole == event.len;
        let any = |p: &Piece| p.issued && p.op == event.op && event.len > 0;
        let exact = self.table.find(event.device, event.offset, same);
        exact.or_else(|| self.table.find(event.device, event.offset, any))
    }

    /// Parts complete from the front.
    fn complete_part(&mut self, lead: u32, whole: u32, event: &Event) {
        assert!(event.len < whole, "something is left to complete");
        self.table.unlink(lead);
        let (mut at, mut done) = (lead, event.len);
        while at != NONE {
            let piece = self.table.piece_mut(at);
            if piece.len > done {
                piece.len -= done;
                piece.offset = piece.offset.saturating_add(u64::from(done));
                piece.whole = whole - event.len;
                piece.device = event.device;
                self.table.link(at);
                self.note_error(at, event);
                return;
            }
            done -= piece.len;
            let next = piece.next;
            self.end_piece(at, event);
            at = next;
        }
    }

    fn note_error(&mut self, at: u32, event: &Event) {
        let owner = self.table.piece(at).owner;
        if event.error != 0
            && let Some(slot) = self.slot(owner)
        {
            slot.record.error = event.error;
        }
    }

    fn end_piece(&mut self, at: u32, event: &Event) {
        self.note_error(at, event);
        let Piece { owner, device, issued, .. } = *self.table.piece(at);
        debug_assert!(issued, "only what the device has completes");
        self.table.release(at);
        let Some(slot) = self.slot(owner) else { return };
        slot.parts = slot.parts.saturating_sub(1);
        slot.record.completed = Stamp::at(event.at);
        if slot.parts > 0 {
            return;
        }
        if slot.flushed_apart {
            let offset = slot.record.offset;
            self.device(device).hold(offset, owner);
            self.close(owner, State::Held);
        } else {
            self.close(owner, State::Done);
        }
    }

    /// No such request was issued: it may have no place, end a flush, or never have been issued
    /// because its driver takes requests as they are queued.
    fn complete_elsewhere(&mut self, event: &Event) {
        let nowhere = event.offset == Event::NOWHERE;
        if nowhere || event.flags.has(Flags::OTHER) {
            if let Some(owner) = self.device(event.device).passed_through.pop_front() {
                self.end(owner, event);
                return;
            }
            if nowhere {
                self.orphans += 1;
                return;
            }
        }
        if event.len == 0 && self.end_of_flushed(event) {
            return;
        }
        let found = if self.device(event.device).issues {
            None
        } else {
            self.gather(event.device, event).or_else(|| self.gather_from_strays(event))
        };
        let Some(lead) = found else {
            if event.len == 0 {
                self.empty += 1;
            } else {
                self.orphans += 1;
            }
            return;
        };
        self.unissued.retain(|&unissued_device| unissued_device != event.device);
        self.table.unlink(lead);
        let mut at = lead;
        while at != NONE {
            let next = self.table.piece(at).next;
            self.end_piece(at, event);
            at = next;
        }
    }

    /// Marks a request done.
    pub(super) fn end(&mut self, owner: u64, event: &Event) {
        if let Some(slot) = self.slot(owner) {
            slot.record.completed = Stamp::at(event.at);
            slot.record.error = event.error;
        }
        self.close(owner, State::Done);
    }
}
