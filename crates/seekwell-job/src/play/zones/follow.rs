//! The zones of a file as one clone uses them, with the resets and finishes that this takes.

use super::{Asker, Step, Zones};
use seekwell_access::{Opened, Zone, ZoneChange};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Resets and finishes the zones of a device.
pub trait ChangeZones: fmt::Debug + Send + Sync {
    /// Changes one zone that has no outstanding requests. Returns how much longer the change takes:
    /// nothing if it was waited for.
    ///
    /// # Errors
    /// The kernel's error.
    fn change(&self, zone: &Zone, change: ZoneChange) -> io::Result<Nanos>;
}

impl ChangeZones for Opened {
    fn change(&self, zone: &Zone, change: ZoneChange) -> io::Result<Nanos> {
        let Self::WritableDevice(device) = self else {
            unreachable!("only writes change zones, and they only go to writable devices")
        };
        device.change_zone(zone, change).map(|()| Nanos::ZERO)
    }
}

/// The zones that clones share, and their device.
#[derive(Debug)]
pub struct SharedZones {
    zones: Mutex<Zones>,
    device: Arc<dyn ChangeZones>,
}

impl SharedZones {
    /// The zones of `device`.
    pub fn new(zones: Zones, device: Arc<dyn ChangeZones>) -> Self {
        Self { zones: Mutex::new(zones), device }
    }

    /// Locks the zones.
    pub fn lock(&self) -> MutexGuard<'_, Zones> {
        self.zones.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A zone that could not be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the zone at byte {at} could not be {}: {}",
    match change {
        ZoneChange::Reset => "reset",
        ZoneChange::Finish => "finished",
    },
    io::Error::from_raw_os_error(*errno)
)]
pub struct Unchanged {
    /// Where it begins, in bytes.
    pub at: u64,
    /// The command.
    pub change: ZoneChange,
    /// The kernel's error.
    pub errno: i32,
}

/// When zones are reset although others have room.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collecting {
    /// After this many writes.
    pub every: u64,
    /// Once this share of the zones is written.
    pub from: f64,
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// To this byte, with this length.
    At(u64, u64),
    /// Unknown until a write has completed; ask again.
    Wait,
    /// Unknown before this time, when a change of a zone will be done.
    NotBefore(Nanos),
    /// Nowhere: no place is left.
    Through,
}

/// The zones of one file as one clone sees them.
#[derive(Debug)]
pub struct Follow {
    shared: Arc<SharedZones>,
    by: Asker,
    collecting: Option<Collecting>,
    /// Writes since the last reset.
    since: u64,
    resets: u64,
    /// The change that it waits for, and when that is done.
    changing: Option<(usize, ZoneChange, Nanos)>,
    /// Offsets of outstanding reads that a reset must wait for.
    reads: Vec<u64>,
}

impl Follow {
    /// The zones of `shared`, as used by `by`.
    pub fn new(shared: Arc<SharedZones>, by: Asker, collecting: Option<Collecting>) -> Self {
        assert!(!by.range.is_empty(), "there are zones to use");
        Self { shared, by, collecting, since: 0, resets: 0, changing: None, reads: Vec::new() }
    }

    /// The total capacity of its zones, in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.shared.lock().capacity_bytes(&self.by.range)
    }

    /// How many zones were reset.
    pub const fn resets(&self) -> u64 {
        self.resets
    }

    /// Where a read or write goes; zones that have to be reset or finished first are.
    ///
    /// # Errors
    /// A zone could not be changed.
    pub fn place(&mut self, op: Op, wish: u64, len: u64, now: Nanos) -> Result<Placed, Unchanged> {
        loop {
            if let Some((zone, change, end)) = self.changing {
                if now < end {
                    return Ok(Placed::NotBefore(end));
                }
                self.changing = None;
                self.changed(zone, change);
            }
            let mut zones = self.shared.lock();
            let collect = self.collecting.is_some_and(|rule| {
                self.since >= rule.every && zones.written_share(&self.by.range) >= rule.from
            });
            let step = match op {
                Op::Write => zones.write(&self.by, wish, len, collect),
                Op::Read | Op::Flush | Op::Discard => zones.read(&self.by, wish, len),
            };
            let (zone, change) = match step {
                Step::Go { at, len } => {
                    match op {
                        Op::Write => self.since += 1,
                        _ if self.by.beyond => {}
                        Op::Read | Op::Flush | Op::Discard => self.reads.push(at),
                    }
                    return Ok(Placed::At(at, len));
                }
                Step::Wait => return Ok(Placed::Wait),
                Step::Through => return Ok(Placed::Through),
                Step::Change { zone, change } => (zone, change),
            };
            let changing = *zones.zone(zone);
            // Other clones go on in other zones; this one is marked busy until it is done.
            drop(zones);
            let left = self.shared.device.change(&changing, change).map_err(|error| Unchanged {
                at: changing.start,
                change,
                errno: error.raw_os_error().unwrap_or(0),
            })?;
            self.changing = Some((zone, change, now + left));
        }
    }

    fn changed(&mut self, zone: usize, change: ZoneChange) {
        self.shared.lock().changed(zone, change);
        if change == ZoneChange::Reset {
            self.resets += 1;
            self.since = 0;
        }
    }

    /// Records that the read or write issued at `at` has completed.
    pub fn done(&mut self, op: Op, at: u64, failed: bool) {
        match op {
            Op::Write => self.shared.lock().written(at, failed),
            Op::Read => {
                if let Some(read) = self.reads.iter().position(|read| *read == at) {
                    self.reads.swap_remove(read);
                    self.shared.lock().was_read(at);
                }
            }
            Op::Flush | Op::Discard => {}
        }
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        let mut zones = self.shared.lock();
        zones.leave(self.by.clone);
        self.reads.iter().for_each(|at| zones.was_read(*at));
    }
}
