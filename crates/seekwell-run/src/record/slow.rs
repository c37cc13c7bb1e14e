//! Requests that took long, picked out of a recording as it goes on.

use jiff::Timestamp;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_trace::capture::Recording;
use seekwell_trace::record::{Record, Stamp};
use seekwell_trace::source::{Tables, TraceSource};
use serde::Serialize;

/// Picks requests by their response time.
#[derive(Debug, Clone, Copy)]
pub struct Slowest {
    least: Nanos,
    unix_ns_at_zero: i64,
}

/// A request that took long: `seekwell/slow/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slow {
    schema: &'static str,
    /// When it completed.
    pub time: String,
    /// Name of the task that queued it; empty if unknown.
    pub process: String,
    /// That task.
    pub pid: u32,
    /// The disk.
    pub device: String,
    /// What it did.
    pub op: Op,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u32,
    /// Until it was given to the driver, if there is a request queue.
    pub queue_ns: Option<u64>,
    /// From then on.
    pub device_ns: Option<u64>,
    /// The whole response time.
    pub total_ns: u64,
    /// Errno it ended with.
    pub errno: u16,
}

/// How long a request took, from its arrival to its end.
pub fn response(record: &Record) -> Option<Nanos> {
    span(record.arrival(), record.completed)
}

pub(crate) fn span(from: Stamp, to: Stamp) -> Option<Nanos> {
    to.get()?.0.checked_sub(from.get()?.0).map(Nanos)
}

impl Slowest {
    /// Requests of a recording that take at least this long.
    pub fn of(recording: &Recording, least: Nanos) -> Self {
        Self { least, unix_ns_at_zero: recording.about().unix_ns_at_zero.unwrap_or(0) }
    }

    /// Those among these records; a request that was merged or split counts as it was asked for.
    pub fn among<'a>(
        &self,
        records: &'a [Record],
        tables: &'a Tables,
    ) -> impl Iterator<Item = Slow> + 'a {
        let Self { least, unix_ns_at_zero } = *self;
        records.iter().filter(|record| record.was_asked_for()).filter_map(move |record| {
            let total = response(record).filter(|total| *total >= least)?;
            let ns = |from, to| span(from, to).map(|span| span.0);
            Some(Slow {
                schema: "seekwell/slow/1",
                time: format!("{:.6}", wall(unix_ns_at_zero, record.completed.get()?)),
                process: tables.processes.get(record.process as usize)?.clone(),
                pid: record.pid,
                device: tables.devices.get(record.device as usize)?.name.clone(),
                op: record.op,
                offset_bytes: record.offset,
                length_bytes: record.len,
                queue_ns: ns(record.queued, record.issued),
                device_ns: ns(record.issued, record.completed),
                total_ns: total.0,
                errno: record.error,
            })
        })
    }
}

/// A time on the clock of a recording as a date.
fn wall(unix_ns_at_zero: i64, at: Nanos) -> Timestamp {
    let us = (i128::from(unix_ns_at_zero) + i128::from(at.0)) / 1000;
    let us = i64::try_from(us).ok().and_then(|us| Timestamp::from_microsecond(us).ok());
    us.unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_trace::record::Flags;
    use seekwell_trace::source::Device;

    #[test]
    fn a_request_is_slow_from_the_given_time_on_and_as_it_was_asked_for() {
        let device = Device { name: "sda".into(), ..Device::default() };
        let processes = vec![String::new(), "db".into()];
        let tables = Tables { devices: vec![device], processes };
        let record = |took: u64, flags| Record {
            queued: Stamp::at(Nanos(1_000)),
            issued: Stamp::at(Nanos(1_400)),
            completed: Stamp::at(Nanos(1_000 + took)),
            pid: 7,
            process: 1,
            flags,
            ..Record::new(Op::Write, 4096, 512)
        };
        let records = [
            record(999, Flags(0)),
            record(1_000, Flags::BIO),
            record(5_000, Flags::REQUEST),
            Record { completed: Stamp::NONE, ..record(9, Flags(0)) },
        ];
        let slowest = Slowest { least: Nanos(1_000), unix_ns_at_zero: 1_000_000 };
        let slow: Vec<Slow> = slowest.among(&records, &tables).collect();
        let [slow] = &slow[..] else { panic!("{slow:?}") };
        assert_eq!((slow.queue_ns, slow.device_ns, slow.total_ns), (Some(400), Some(600), 1_000));
        assert_eq!((slow.process.as_str(), slow.pid, slow.device.as_str()), ("db", 7, "sda"));
        assert_eq!(slow.time, "1970-01-01T00:00:00.001002Z");
    }
}
