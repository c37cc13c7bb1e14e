//! Requests that are not counted yet. Those of few devices are held together until there is a batch
//! of them, which is then counted device by device: neither it nor what is remembered of so few
//! devices leaves the cache meanwhile.

use crate::record::Record;
use crate::source::BATCH;
use seekwell_io::request::Op;

/// Devices of a group.
const TOGETHER: usize = 64;
/// Records held of all devices (14 MiB).
const MOST_HELD: usize = 1 << 18;

/// What is held, by groups of devices.
#[derive(Debug, Default)]
pub(super) struct Held {
    groups: Vec<Vec<Record>>,
    /// The most records of a group.
    most: usize,
    sorted: Vec<Record>,
}

impl Held {
    /// Prepares for this number of devices, and divides the records held among their groups.
    pub fn make_room(&mut self, devices: usize) {
        self.groups.resize(devices.div_ceil(TOGETHER), Vec::new());
        self.most = BATCH.min(MOST_HELD / self.groups.len().max(1)).max(1);
    }

    pub const fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Holds a record. Returns its group if that is full and is to be counted.
    #[inline]
    pub fn push(&mut self, record: Record) -> Option<usize> {
        let group = record.device as usize / TOGETHER;
        let held = &mut self.groups[group];
        held.push(record);
        (held.len() >= self.most).then_some(group)
    }

    /// Takes the records of a group, sorted by device, those of a device in their order.
    pub fn take(&mut self, group: usize) -> Vec<Record> {
        let place = |record: &Record| record.device as usize % TOGETHER;
        let (records, mut sorted) = (&mut self.groups[group], std::mem::take(&mut self.sorted));
        let mut next = [0; TOGETHER + 1];
        records.iter().for_each(|record| next[place(record) + 1] += 1);
        for device in 0..TOGETHER {
            next[device + 1] += next[device];
        }
        sorted.resize(records.len(), Record::new(Op::Read, 0, 0));
        for record in records.drain(..) {
            let at = &mut next[place(&record)];
            sorted[*at] = record;
            *at += 1;
        }
        sorted
    }

    /// Returns the memory of taken records.
    pub fn give_back(&mut self, sorted: Vec<Record>) {
        self.sorted = sorted;
    }
}
