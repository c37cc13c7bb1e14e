//! What can be counted of a trace while it goes by, so that nothing has to be read again to say it.

use crate::record::Record;
use seekwell_io::request::Op;
use serde::{Deserialize, Serialize};

/// How many, and how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Count {
    fn add(&mut self, bytes: u32) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(u64::from(bytes));
    }
}

/// One device's requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSummary {
    /// By operation, in the order of [`Op::ALL`].
    pub by_op: [Count; 4],
    /// Highest byte touched, plus one.
    pub end_bytes: u64,
}

/// Counts of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Requests, as they were asked for.
    pub requests: u64,
    /// Of them, those that the device got merged with others or split.
    #[serde(default)]
    pub bios: u64,
    /// Requests that the device got of those.
    #[serde(default)]
    pub made_of_bios: u64,
    /// Those that only the counts know: no bytes, blank operations, passthrough.
    pub other: u64,
    /// Earliest arrival, in nanoseconds on the trace's clock.
    pub first_ns: Option<u64>,
    /// Latest arrival.
    pub last_ns: Option<u64>,
    /// Requests with a known completion.
    pub completed: u64,
    /// Set when the records are not in the order of arrival.
    pub is_disordered: bool,
    /// By device, in the order of [`crate::source::Tables::devices`].
    pub devices: Vec<DeviceSummary>,
}

impl Summary {
    /// Counts more records.
    pub fn add(&mut self, records: &[Record]) {
        for r in records {
            let at = r.arrival().get().map(|t| t.0);
            if !r.was_asked_for() {
                self.made_of_bios += 1;
                self.is_disordered |= self.last_ns.is_some_and(|last| at < Some(last));
                self.last_ns = self.last_ns.max(at);
                continue;
            }
            self.requests += 1;
            self.bios += u64::from(!r.reached_device());
            self.other += u64::from(r.flags.has(crate::record::Flags::OTHER));
            self.completed += u64::from(r.completed.get().is_some());
            if let Some(at) = at {
                self.is_disordered |= self.last_ns.is_some_and(|last| at < last);
                self.first_ns = Some(self.first_ns.map_or(at, |first| first.min(at)));
                self.last_ns = self.last_ns.max(Some(at));
            } else {
                self.is_disordered |= self.last_ns.is_some();
            }
            let device = r.device as usize;
            // Numbers beyond the table are refused where records come in.
            if self.devices.len() <= device {
                self.devices.resize(device + 1, DeviceSummary::default());
            }
            let device = &mut self.devices[device];
            device.by_op[r.op as usize].add(r.len);
            device.end_bytes = device.end_bytes.max(r.end());
        }
    }

    /// Records: what was asked for, and what the device made of it.
    pub fn records(&self) -> u64 {
        self.requests + self.made_of_bios
    }

    /// Requests that the devices got.
    pub fn at_device(&self) -> u64 {
        self.records() - self.bios
    }

    /// All devices' counts together, in the order of [`Op::ALL`].
    pub fn by_op(&self) -> [Count; 4] {
        Op::ALL.map(|op| {
            self.devices.iter().map(|d| d.by_op[op as usize]).fold(Count::default(), |a, b| Count {
                requests: a.requests + b.requests,
                bytes: a.bytes.saturating_add(b.bytes),
            })
        })
    }

    /// From the first arrival to the last, in nanoseconds.
    pub fn span_ns(&self) -> Option<u64> {
        Some(self.last_ns? - self.first_ns?)
    }
}
