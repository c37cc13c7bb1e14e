//! Turns the kernel's counts into the figures of each interval.

use super::document::{Disk, Seen};
use super::ended::{Depth, Ended, Held, Moved, Usage, busiest_first, leading};
use crate::record::{in_flight, whole};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_sys::{DevId, DiskCounters, View};
use seekwell_trace::bpf::BpfError;
use seekwell_trace::capture::Recorded;
use seekwell_trace::count::{self, Counting, Outstanding, Place, Slot, Totals};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// If nothing is in flight on its disk, the completion of a request this old was missed.
const LOST: Nanos = Nanos(10_000_000_000);
/// The same for a request that was issued. A requeue delays it too, but not for as long.
const LOST_ISSUED: Nanos = Nanos(1_000_000_000);

/// Disks whose requests are counted.
#[derive(Debug)]
pub struct Counter {
    counting: Counting,
    disks: Vec<Counted>,
    /// All other disks too, including those attached later.
    others: bool,
    /// Processes shown for each disk, by bytes and by time waited.
    most: usize,
    begun: Nanos,
    missed: u64,
}

/// Time with any request outstanding, as the kernel counts it.
#[derive(Debug, Clone, Copy)]
struct Busy {
    /// When it was read: on a busy machine, well after the interval ended.
    at: Nanos,
    ms: u64,
}

impl Busy {
    fn read(dev: Option<DevId>, view: &dyn View) -> Option<Self> {
        let ms = DiskCounters::read(view, dev?).ok()?.busy_ms;
        Some(Self { at: count::now(), ms })
    }

    /// The share of the time between two readings.
    fn share_since(self, then: Self) -> f64 {
        let passed = self.at.since(then.at).0.max(1) as f64;
        (self.ms.wrapping_sub(then.ms) as f64 * 1e6 / passed).min(1.0)
    }
}

#[derive(Debug)]
struct Counted {
    name: String,
    /// Its device number; that of the partition if only a partition is counted.
    dev: Option<DevId>,
    /// The totals at the end of the previous interval.
    totals: Totals,
    busy: Option<Busy>,
    area: u128,
    seen: Option<Seen>,
    held: Held,
}

impl Counter {
    /// Starts counting on these disks, and on all others if `others` is set.
    ///
    /// # Errors
    /// [`BpfError`] if the kernel cannot count.
    pub fn start(
        mut disks: Vec<Recorded>,
        others: bool,
        most: usize,
        view: &dyn View,
    ) -> Result<Self, BpfError> {
        if others {
            let there = there(view);
            let known = |disk: &Recorded| disks.iter().any(|other| place(other) == place(disk));
            let new: Vec<Recorded> = there.into_iter().filter(|disk| !known(disk)).collect();
            disks.extend(new);
        }
        let places: Vec<Place> = disks.iter().map(place).collect();
        let counting = Counting::start(&places)?;
        let disks = disks.iter().map(|disk| Counted::new(&disk.device.name, view)).collect();
        Ok(Self { counting, disks, others, most, begun: count::now(), missed: 0 })
    }

    /// When the current interval began.
    pub const fn begun(&self) -> Nanos {
        self.begun
    }

    /// Ends the interval and begins the next. Returns how many requests could not be counted, and
    /// the disks that had requests or were named, the busiest first.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn end(&mut self, view: &dyn View) -> Result<(u64, Vec<Disk>), BpfError> {
        let outstanding = self.counting.outstanding();
        let until = count::now();
        let mut waiting: HashMap<Slot, Vec<Outstanding>> = HashMap::new();
        for request in outstanding {
            waiting.entry(request.slot).or_default().push(request);
        }
        let mut users: HashMap<Slot, HashMap<(u32, String), Usage>> = HashMap::new();
        for used in self.counting.take_usage()? {
            let name = view.text(Path::new(&format!("/proc/{}/comm", used.pid)));
            let name = name.map_or(used.name, |name| name.trim().to_owned());
            let usage =
                Usage { requests: used.requests, bytes: used.bytes, waited_ns: used.waited_ns };
            users.entry(used.slot).or_default().entry((used.pid, name)).or_default().add(usage);
        }
        let mut shown = Vec::new();
        for (slot, counted) in self.counting.slots().zip(&mut self.disks) {
            let folder = folder(&counted.name);
            let mut waiting = waiting.remove(&slot).unwrap_or_default();
            let lost = |request: &Outstanding| {
                let allowed = if request.issued { LOST_ISSUED } else { LOST };
                until.since(request.since) > allowed
            };
            if waiting.iter().any(lost) && in_flight(view, &folder) == 0 {
                waiting.extract_if(.., |request| lost(request)).for_each(|request| {
                    self.counting.forget(&request);
                });
            }
            let totals = self.counting.totals(slot);
            let mut disk = counted.figures(totals, &waiting, (self.begun, until), view);
            counted.held.add_to(&mut disk, until, &folder, view);
            disk.processes = leading(users.remove(&slot).unwrap_or_default(), self.most);
            let named = !self.others && view.exists(&folder);
            if counted.seen.is_some() || disk.outstanding > 0 || named {
                shown.push(disk);
            }
        }
        self.begun = until;
        if self.others {
            self.add_new(view)?;
        }
        busiest_first(&mut shown);
        let missed = self.counting.missed();
        let new = missed.saturating_sub(std::mem::replace(&mut self.missed, missed));
        Ok((new, shown))
    }

    /// Starts counting on disks that were attached since.
    fn add_new(&mut self, view: &dyn View) -> Result<(), BpfError> {
        for disk in there(view) {
            let known = self.counting.counts(place(&disk).disk);
            if !known && self.counting.add(place(&disk))?.is_some() {
                self.disks.push(Counted::new(&disk.device.name, view));
            }
        }
        Ok(())
    }
}

impl Counted {
    fn new(name: &str, view: &dyn View) -> Self {
        let dev = view.text(&folder(name).join("dev")).ok();
        let dev: Option<DevId> = dev.and_then(|text| text.trim().parse().ok());
        Self {
            name: name.to_owned(),
            dev,
            totals: Totals::default(),
            busy: Busy::read(dev, view),
            area: 0,
            seen: None,
            held: Held::default(),
        }
    }

    fn figures(
        &mut self,
        totals: Totals,
        waiting: &[Outstanding],
        (begun, until): (Nanos, Nanos),
        view: &dyn View,
    ) -> Disk {
        let new = totals.since(&self.totals);
        let moved = Op::ALL.map(|op| {
            let response = new.response(op);
            Moved { requests: response.count(), bytes: new.bytes(op), response }
        });
        let (queue, device) = (new.queue(), new.device());
        if device.count() > 0 {
            self.seen = Some(Seen::Requests);
        } else if self.seen.is_none() && moved.iter().any(|moved| moved.requests > 0) {
            self.seen = Some(Seen::Bios);
        }
        // Time outstanding, summed over all requests so far: its growth is the mean depth.
        let ages = waiting.iter().map(|request| until.since(request.since));
        let ended: u128 = Op::ALL.iter().map(|op| totals.response(*op).sum_ns()).sum();
        let area = ended + ages.clone().map(|age| u128::from(age.0)).sum::<u128>();
        let length = until.since(begun).0.max(1) as f64;
        let grown = area.saturating_sub(self.area) as f64;
        let busy = Busy::read(self.dev, view);
        let depth = Depth {
            mean: grown / length,
            max: None,
            busy_share: busy.zip(self.busy).map_or(0.0, |(now, then)| now.share_since(then)),
            outstanding: waiting.len() as u64,
            oldest_ns: ages.map(|age| age.0).max(),
        };
        (self.totals, self.area, self.busy) = (totals, area, busy);
        let ended = Ended { seen: self.seen, moved, failed: new.failed(), queue, device };
        ended.figures(&self.name, until.since(begun).as_secs_f64(), depth)
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new("/sys/class/block").join(name)
}

const fn place(disk: &Recorded) -> Place {
    Place { disk: (disk.major, disk.minor), part: disk.part }
}

/// The disks with a size above zero.
fn there(view: &dyn View) -> Vec<Recorded> {
    let names = view.list(Path::new("/sys/block")).unwrap_or_default();
    let one = |name: &String| {
        let size = view.number(&folder(name).join("size")).ok();
        size.filter(|size| *size > 0).and_then(|_| whole(view, name))
    };
    names.iter().filter_map(one).collect()
}
