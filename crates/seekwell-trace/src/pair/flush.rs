//! Flushes, which have no place.
//!
//! As seen on Linux 6.18 (and in `block/blk-flush.c`): a request that wants a flush is queued
//! as `FWS` without data, or as data with the letter. The flush itself, `FF`, is one request for
//! all that wait by then. Each of those ends with an empty completion of its own, at the place of
//! its first byte, right after the flush (or after its data and the flush that follows).

use super::device::{Flight, MOST_PENDING};
use super::{Event, Pair, State, record_of};
use crate::record::{Flags, Record, Stamp};

impl Pair {
    pub(super) fn issue_flush(&mut self, event: &Event) {
        let mut served: Vec<u64> = self.device(event.device).waiting.drain(..).collect();
        if served.is_empty() {
            served = self.flushes_of_strays();
        }
        let shared = served.len() != 1;
        for &owner in &served {
            if let Some(slot) = self.slot(owner) {
                slot.record.issued = Stamp::at(event.at);
                slot.record.device = event.device;
                slot.record.flags = slot.record.flags.without(Flags::BIO);
                if shared {
                    slot.record.flags = slot.record.flags | Flags::BIO;
                }
            }
        }
        let own = shared.then(|| {
            let mut record = Record { issued: Stamp::at(event.at), ..record_of(event) };
            if self.seen.queue {
                record.flags = record.flags | Flags::REQUEST;
            }
            self.open(record, 1)
        });
        let flying = &mut self.device(event.device).flying;
        if flying.len() >= MOST_PENDING {
            flying.pop_front();
        }
        flying.push_back(Flight { own, serves: served });
    }

    fn flushes_of_strays(&mut self) -> Vec<u64> {
        let mut served = Vec::new();
        for &unissued_device in &self.unissued {
            if let Some(device) = self.devices.get_mut(unissued_device as usize) {
                served.extend(device.waiting.drain(..));
            }
        }
        served.sort_unstable();
        served
    }

    pub(super) fn requeue_flush(&mut self, device: u32) {
        let Some(flight) = self.device(device).flying.pop_back() else { return };
        if let Some(own) = flight.own {
            self.void(own);
        }
        for owner in flight.serves.into_iter().rev() {
            if let Some(slot) = self.slot(owner) {
                slot.record.issued = Stamp::NONE;
                self.device(device).waiting.push_front(owner);
            }
        }
    }

    pub(super) fn complete_flush(&mut self, event: &Event) {
        match self.device(event.device).flying.pop_front() {
            Some(flight) => {
                if let Some(own) = flight.own {
                    self.end(own, event);
                }
                // An earlier flush's requests have had their turn.
                let late: Vec<u64> = self.device(event.device).ending.drain(..).collect();
                for owner in late {
                    self.close(owner, State::Done);
                }
                for owner in flight.serves {
                    if let Some(slot) = self.slot(owner) {
                        slot.record.completed = Stamp::at(event.at);
                        slot.record.error = event.error;
                        slot.state = State::Held;
                        self.device(event.device).ending.push_back(owner);
                    }
                }
            }
            // A driver without a queue of its own ends the flush as it was queued.
            None => {
                let device = self.device(event.device);
                let waiting = if device.issues { None } else { device.waiting.pop_front() };
                match waiting {
                    Some(owner) => self.end(owner, event),
                    None => self.orphans += 1,
                }
            }
        }
    }

    /// Takes an empty completion as the end of a request with a flush in it.
    pub(super) fn end_of_flushed(&mut self, event: &Event) -> bool {
        let device = self.device(event.device);
        let held = device.held.iter().position(|&(offset, _)| offset == event.offset);
        let owner = match held {
            Some(at) => device.held.remove(at).map(|(_, owner)| owner),
            None if event.offset == 0 => device.ending.pop_front(),
            None => None,
        };
        let Some(owner) = owner else { return false };
        let error = self.slot(owner).map_or(0, |slot| slot.record.error);
        let error = if event.error == 0 { error } else { event.error };
        self.end(owner, &Event { error, ..*event });
        true
    }
}
