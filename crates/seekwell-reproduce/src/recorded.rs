//! What a recording shows of itself.

use crate::row::Property;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_trace::error::TraceError;
use seekwell_trace::shipped::Shipped;
use seekwell_trace::source::each_batch;

pub fn recorded(trace: Shipped, property: Property) -> Result<f64, TraceError> {
    let mut source = trace.open()?;
    let (mut first, mut last) = (Nanos::MAX, Nanos::ZERO);
    let (mut waited_s, mut bytes, mut read) = (0.0, 0_u64, 0_u64);
    each_batch(&mut *source, |batch| {
        for record in batch {
            let len = u64::from(record.len);
            bytes += if matches!(record.op, Op::Read | Op::Write) { len } else { 0 };
            read += if record.op == Op::Read { len } else { 0 };
            if let (Some(from), Some(to)) = (record.queued.get(), record.completed.get()) {
                (first, last) = (first.min(from), last.max(to));
                waited_s += to.since(from).as_secs_f64();
            }
        }
        true
    })?;
    let seconds = last.since(first).as_secs_f64();
    Ok(match property {
        // Little's law: requests under way are what waits in a second.
        Property::Queue => waited_s / seconds,
        Property::ReadPercent => 100.0 * read as f64 / bytes as f64,
        Property::MegabytesPerSecond => bytes as f64 / 1e6 / seconds,
    })
}
