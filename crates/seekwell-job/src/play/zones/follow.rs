//! The zones of a file as one clone uses them, with the resets and finishes that this takes.

use super::{Asker, Step, Zones};
use seekwell_access::{Opened, Zone, ZoneChange};
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How long a change of a zone takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// It is done, and took this long.
    Took(Nanos),
    /// It will be done after this long, on the clock of the run.
    WillTake(Nanos),
}

/// Resets and finishes the zones of a device.
pub trait ChangeZones: fmt::Debug + Send + Sync {
    /// Changes one zone that has no outstanding requests.
    ///
    /// # Errors
    /// The kernel's error.
    fn change(&self, zone: &Zone, change: ZoneChange) -> io::Result<Takes>;
}

impl ChangeZones for Opened {
    fn change(&self, zone: &Zone, change: ZoneChange) -> io::Result<Takes> {
        let Self::WritableDevice(device) = self else {
            unreachable!("only writes change zones, and they only go to writable devices")
        };
        let begun = Instant::now();
        device.change_zone(zone, change)?;
        Ok(Takes::Took(begun.elapsed().into()))
    }
}

/// How long resets and finishes took.
#[derive(Debug, Clone, Default)]
pub struct ChangeTimes {
    /// Of zones that were reset.
    pub resets: Histogram,
    /// Of zones that were finished.
    pub finishes: Histogram,
}

impl ChangeTimes {
    /// Those of one command.
    const fn of_mut(&mut self, change: ZoneChange) -> &mut Histogram {
        match change {
            ZoneChange::Reset => &mut self.resets,
            ZoneChange::Finish => &mut self.finishes,
        }
    }

    /// Adds those of others.
    pub fn merge(&mut self, other: &Self) {
        self.resets.merge(&other.resets);
        self.finishes.merge(&other.finishes);
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

/// A change of a zone that is not known to be done.
#[derive(Debug, Clone, Copy)]
struct Changing {
    zone: usize,
    change: ZoneChange,
    /// A [`Collecting`] asked for it.
    by_rule: bool,
    end: Nanos,
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
    /// Writes since a zone was last reset by that rule.
    since: u64,
    times: ChangeTimes,
    /// The change that it waits for.
    changing: Option<Changing>,
    /// Offsets of outstanding reads that a reset must wait for.
    reads: Vec<u64>,
}

impl Follow {
    /// The zones of `shared`, as used by `by`.
    pub fn new(shared: Arc<SharedZones>, by: Asker, collecting: Option<Collecting>) -> Self {
        assert!(!by.range.is_empty(), "there are zones to use");
        let times = ChangeTimes::default();
        Self { shared, by, collecting, since: 0, times, changing: None, reads: Vec::new() }
    }

    /// The total capacity of its zones, in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.shared.lock().capacity_bytes(&self.by.range)
    }

    /// How long its resets and finishes took.
    pub const fn times(&self) -> &ChangeTimes {
        &self.times
    }

    /// Where a read or write goes; zones that have to be reset or finished first are.
    ///
    /// # Errors
    /// A zone could not be changed.
    pub fn place(&mut self, op: Op, wish: u64, len: u64, now: Nanos) -> Result<Placed, Unchanged> {
        loop {
            if let Some(changing) = self.changing {
                if now < changing.end {
                    return Ok(Placed::NotBefore(changing.end));
                }
                self.changing = None;
                self.changed(changing);
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
            let takes = self.shared.device.change(&changing, change).map_err(|error| {
                Unchanged { at: changing.start, change, errno: error.raw_os_error().unwrap_or(0) }
            })?;
            let (took, left) = match takes {
                Takes::Took(took) => (took, Nanos::ZERO),
                Takes::WillTake(time) => (time, time),
            };
            self.times.of_mut(change).record(took);
            self.changing = Some(Changing { zone, change, by_rule: collect, end: now + left });
        }
    }

    fn changed(&mut self, Changing { zone, change, by_rule, .. }: Changing) {
        self.shared.lock().changed(zone, change);
        if by_rule && change == ZoneChange::Reset {
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
