//! Requests on their way down: queued, merged, split, issued, given back.

use super::device::MOST_PENDING;
use super::table::{NONE, Piece};
use super::{Event, Pair, Slot, record_of};
use crate::record::{Flags, Record, Stamp};
use seekwell_io::request::Op;

/// What a request promises about durability.
const DURABLE: u16 = Flags::PREFLUSH.0 | Flags::FUA.0;

impl Pair {
    pub(super) fn queue(&mut self, event: &Event) {
        self.seen.queue = true;
        if self.seen.split && self.is_the_rest_of_a_split(event) {
            return;
        }
        let device = self.device(event.device);
        if !device.queues {
            device.queues = true;
            if !device.issues {
                self.unissued.push(event.device);
            }
        }
        let record = Record { queued: Stamp::at(event.at), ..record_of(event) };
        let owner = self.open(record, 1);
        if event.op == Op::Flush {
            self.device(event.device).waiting.push_back(owner);
        } else {
            self.table.insert(Piece::queued(
                owner,
                event.device,
                event.offset,
                event.len,
                event.op,
            ));
        }
    }

    /// Kernels before 4.10 queue what a split leaves over once more, visibly.
    fn is_the_rest_of_a_split(&self, event: &Event) -> bool {
        let same = |p: &Piece| p.cut && !p.issued && p.len == event.len && p.op == event.op;
        self.table.find(event.device, event.offset, same).is_some()
    }

    /// Ordinary merges show in what is issued. A discard of several ranges does not: the ranges
    /// have nothing in common but that they were merged.
    pub(super) fn merge(&mut self, event: &Event) {
        if event.op == Op::Discard {
            let merged = &mut self.device(event.device).merged_discards;
            if merged.len() >= MOST_PENDING {
                merged.pop_front();
            }
            merged.push_back(event.offset);
        }
    }

    pub(super) fn split(&mut self, event: &Event) {
        self.seen.split = true;
        let longer = |p: &Piece| !p.issued && p.len > event.len && self.is_live(p.owner);
        if event.len > 0
            && let Some(at) = self.table.find(event.device, event.offset, longer)
        {
            self.cut(at, event.len);
        }
    }

    fn cut(&mut self, at: u32, front: u32) {
        let piece = *self.table.piece(at);
        assert!(!piece.issued, "what the device has is not split");
        assert!(0 < front && front < piece.len, "both parts of a split hold something");
        let offset = piece.offset.saturating_add(u64::from(front));
        let len = piece.len - front;
        let rest = Piece { cut: true, ..piece };
        let rest = Piece { offset, len, whole: len, next: NONE, ..rest };
        self.table.insert(rest);
        let first = self.table.piece_mut(at);
        first.len = front;
        first.whole = front;
        if let Some(slot) = self.slot(piece.owner) {
            slot.parts += 1;
        }
    }

    /// Finds what was queued of a range and links it into one request.
    pub(super) fn gather(&mut self, device: u32, event: &Event) -> Option<u32> {
        let (mut offset, mut left) = (event.offset, event.len);
        let (mut lead, mut last) = (None, NONE);
        loop {
            let fits = |p: &Piece| {
                !p.issued
                    && p.op == event.op
                    && (p.len == 0) == (left == 0)
                    && self.is_live(p.owner)
            };
            let Some(at) = self.table.find(device, offset, fits) else { break };
            if self.table.piece(at).len > left {
                self.cut(at, left);
            }
            if lead.is_none() {
                lead = Some(at);
            } else {
                self.table.unlink(at);
                self.table.piece_mut(last).next = at;
            }
            let piece = self.table.piece_mut(at);
            debug_assert!(!piece.issued && piece.len <= left);
            piece.issued = true;
            last = at;
            left -= piece.len;
            offset = offset.saturating_add(u64::from(piece.len));
            if left == 0 {
                break;
            }
        }
        if let Some(lead) = lead {
            if event.op == Op::Discard && left > 0 {
                self.gather_discards(device, last, left);
            }
            self.table.piece_mut(lead).whole = event.len;
        }
        lead
    }

    fn gather_discards(&mut self, device: u32, mut last: u32, mut left: u32) {
        while left > 0
            && let Some(&offset) = self.device(device).merged_discards.front()
        {
            let fits = |p: &Piece| !p.issued && p.op == Op::Discard;
            let found = self.table.find(device, offset, fits);
            if found.is_some_and(|at| self.table.piece(at).len > left) {
                return;
            }
            self.device(device).merged_discards.pop_front();
            let Some(at) = found else { continue };
            self.table.unlink(at);
            self.table.piece_mut(last).next = at;
            let piece = self.table.piece_mut(at);
            debug_assert!(!piece.issued && piece.len <= left);
            piece.issued = true;
            left -= piece.len;
            last = at;
        }
    }

    pub(super) fn issue(&mut self, event: &Event) {
        self.seen.issue = true;
        let device = self.device(event.device);
        if !device.issues {
            device.issues = true;
            self.unissued.retain(|&unissued_device| unissued_device != event.device);
        }
        if event.op == Op::Flush {
            self.issue_flush(event);
            return;
        }
        let found = self.gather(event.device, event).or_else(|| self.gather_from_strays(event));
        let Some(lead) = found else {
            self.issue_unqueued(event);
            return;
        };
        let mut by = None;
        let mut alone = false;
        let (mut at, mut last) = (lead, lead);
        while at != NONE {
            let Piece { owner, next, len, .. } = *self.table.piece(at);
            if let Some(slot) = self.slot(owner) {
                let record = &mut slot.record;
                record.issued = record.issued.or(Stamp::at(event.at));
                record.device = event.device;
                // What the driver does not do itself, flushes around the request do.
                slot.flushed_apart |= record.flags.0 & DURABLE & !event.flags.0 != 0;
                alone = at == lead && next == NONE && len == record.len && !slot.flushed_apart;
                record.flags = record.flags.without(Flags::BIO);
                by.get_or_insert(*record);
                if !alone {
                    record.flags = record.flags | Flags::BIO;
                }
            }
            (last, at) = (at, next);
        }
        // The ranges of a discard need not be one behind the other: no one request names them all.
        let ranges = event.op == Op::Discard && last != lead;
        if !alone
            && !ranges
            && let Some(by) = by
        {
            let owner = self.open(request_of(event, &by), 1);
            let end = event.offset.saturating_add(u64::from(event.len));
            let piece = Piece::queued(owner, event.device, end, 0, event.op);
            let tail = self.table.insert(Piece { issued: true, ..piece });
            self.table.unlink(tail);
            self.table.piece_mut(last).next = tail;
        }
    }

    fn issue_unqueued(&mut self, event: &Event) {
        let record = Record { issued: Stamp::at(event.at), ..record_of(event) };
        let owner = self.open(record, 1);
        if event.flags.has(Flags::OTHER) {
            self.device(event.device).passed_through.push_back(owner);
            return;
        }
        let piece = Piece::queued(owner, event.device, event.offset, event.len, event.op);
        self.table.insert(Piece { issued: true, ..piece });
    }

    /// Requests queued on a partition are issued on its disk, at the place they were queued for.
    pub(super) fn gather_from_strays(&mut self, event: &Event) -> Option<u32> {
        for index in 0..self.unissued.len() {
            let device = self.unissued[index];
            let Some(lead) = self.gather(device, event) else { continue };
            self.table.unlink(lead);
            self.table.piece_mut(lead).device = event.device;
            self.table.link(lead);
            return Some(lead);
        }
        None
    }

    pub(super) fn requeue(&mut self, event: &Event) {
        if event.op == Op::Flush {
            self.requeue_flush(event.device);
            return;
        }
        let issued = |p: &Piece| p.issued && p.op == event.op;
        let Some(lead) = self.table.find(event.device, event.offset, issued) else {
            if let Some(owner) = self.device(event.device).passed_through.pop_back() {
                self.void(owner);
            }
            return;
        };
        let mut at = lead;
        while at != NONE {
            let Piece { owner, next, len, .. } = *self.table.piece(at);
            if at == lead {
                self.table.unlink(at);
            }
            let was_queued = |slot: &&mut Slot| slot.record.queued != Stamp::NONE;
            if let Some(slot) = self.slot(owner).filter(was_queued) {
                slot.record.issued = Stamp::NONE;
                slot.record.flags = slot.record.flags.without(Flags::BIO);
                let piece = self.table.piece_mut(at);
                (piece.issued, piece.whole, piece.next) = (false, len, NONE);
                piece.device = event.device;
                self.table.link(at);
            } else {
                self.void(owner);
                self.table.release(at);
            }
            at = next;
        }
    }
}

/// The request as the device got it, made by the process that queued its first piece.
fn request_of(event: &Event, by: &Record) -> Record {
    Record {
        issued: Stamp::at(event.at),
        pid: by.pid,
        process: by.process,
        cpu: by.cpu,
        flags: event.flags | Flags::REQUEST,
        ..record_of(event)
    }
}
