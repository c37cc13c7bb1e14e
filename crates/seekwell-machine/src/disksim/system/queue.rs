//! A `disksim_ioqueue` block.

use super::super::error::DisksimError;
use super::super::keys::{Keys, number, unsupported, whole};
use super::super::tree::{Block, Parameter};
use crate::driver::{Policy, QueueParams};
use seekwell_io::units::Nanos;

/// Sectors of what is joined, of which the bytes are counted in 32 bits.
const MOST_JOINED: u32 = 1 << 22;

pub(super) fn read(block: &Block) -> Result<QueueParams, DisksimError> {
    let keys = Keys::new(block);
    let zero = ["Write initiation delay", "Read initiation delay", "Overlapping request scheme"];
    keys.zero(&zero)?;
    let scheme = keys.need("Sequential stream scheme")?;
    let joins = whole(scheme)?;
    if joins > 3 {
        return Err(unsupported(scheme));
    }
    let urgent = switched(&keys, "Scheduling priority scheme")?;
    let late = switched(&keys, "Scheduling timeout scheme")?;
    let seconds = keys.number("Timeout time/weight")?;
    let after = Nanos::from_secs_f64(seconds.clamp(0.0, 1e6));
    let of = |key| keys.need(key).and_then(policy);
    Ok(QueueParams {
        policy: of("Scheduling policy")?,
        urgent: urgent.then(|| of("Priority scheduling")).transpose()?,
        late: late.then(|| of("Timeout scheduling")).transpose()?.map(|order| (after, order)),
        joins_reads: joins & 1 != 0,
        joins_writes: joins & 2 != 0,
        most_joined: u64::from(keys.count("Maximum concat size")?.min(MOST_JOINED)),
    })
}

/// A scheme that is off or the only one known.
fn switched(keys: &Keys<'_>, key: &'static str) -> Result<bool, DisksimError> {
    let parameter = keys.need(key)?;
    match number(parameter)? {
        0.0 => Ok(false),
        1.0 => Ok(true),
        _ => Err(unsupported(parameter)),
    }
}

fn policy(parameter: &Parameter) -> Result<Policy, DisksimError> {
    match whole(parameter)? {
        1 => Ok(Policy::Fcfs),
        2 => Ok(Policy::Look),
        3 => Ok(Policy::CLook),
        4 => Ok(Policy::Sstf),
        _ => Err(unsupported(parameter)),
    }
}
