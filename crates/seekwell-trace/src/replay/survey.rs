//! One pass over a trace before it is played: what it will need.

use super::time::Moment;
use crate::error::TraceError;
use crate::record::{Flags, Record};
use crate::source::{TraceSource, each_batch};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// What a trace asks of one device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceSurvey {
    /// Requests by [`Op`] number.
    pub requests: [u64; 4],
    /// First byte after the highest request.
    pub end_bytes: u64,
    /// Longest read or write in bytes: what a buffer must hold.
    pub longest_bytes: u32,
    /// Requests with an end, without which nothing is known of depth and dependencies.
    pub with_completion: u64,
}

impl DeviceSurvey {
    /// Requests of all kinds.
    pub fn total(&self) -> u64 {
        self.requests.iter().sum()
    }
}

/// What a trace asks of its target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// By number of the device.
    pub devices: Vec<DeviceSurvey>,
    /// Time of the first request on the trace's clock.
    pub first: Nanos,
    /// Time of the last.
    pub last: Nanos,
    /// Requests without any time.
    pub untimed: u64,
    /// Records that are no replayable request (zone commands, passthrough).
    pub other: u64,
    /// Requests that were merged with others or split before the device got them.
    pub bios: u64,
}

impl Survey {
    /// From the first request to the last.
    pub fn span(&self) -> Nanos {
        self.last.since(self.first)
    }

    /// Requests of all devices.
    pub fn total(&self) -> u64 {
        self.devices.iter().map(DeviceSurvey::total).sum()
    }

    fn add(&mut self, record: &Record, moment: Moment) {
        if record.flags.has(Flags::OTHER) {
            self.other += 1;
            return;
        }
        if !record.reached_device() {
            self.bios += 1;
            return;
        }
        let index = record.device as usize;
        if self.devices.len() <= index {
            self.devices.resize(index + 1, DeviceSurvey::default());
        }
        let device = &mut self.devices[index];
        device.requests[record.op as usize] += 1;
        if record.op != Op::Flush {
            device.end_bytes = device.end_bytes.max(record.end());
        }
        if matches!(record.op, Op::Read | Op::Write) {
            device.longest_bytes = device.longest_bytes.max(record.len);
        }
        device.with_completion += u64::from(record.completed.get().is_some());
        match moment.of(record).get() {
            Some(at) => {
                self.first = self.first.min(at);
                self.last = self.last.max(at);
            }
            None => self.untimed += 1,
        }
    }
}

/// Reads a trace to its end.
///
/// # Errors
/// What the source finds wrong.
pub fn survey(source: &mut dyn TraceSource, moment: Moment) -> Result<Survey, TraceError> {
    let mut survey = Survey { first: Nanos::MAX, ..Survey::default() };
    each_batch(source, |batch| {
        batch.iter().for_each(|record| survey.add(record, moment));
        true
    })?;
    survey.first = survey.first.min(survey.last);
    Ok(survey)
}
