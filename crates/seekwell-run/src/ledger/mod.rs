//! A flush ledger records which writes a device acknowledged as durable, so that they can be
//! checked after its power was cut.

mod check;
mod file;
mod plan;
#[cfg(test)]
mod tests;
mod write;

pub use check::{Checked, Fate, Loss, check};
pub use file::{Ledger, LedgerError, SCHEMA};
pub use plan::{Durable, Plan, PlanError};
pub use write::{Ended, Writing, Written, write};

use crate::Host;
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::{Bounds, EngineError, run_source};
use seekwell_io::measurement::Measurement;
use seekwell_io::target::{Engine, Payload, Real};
use seekwell_io::units::Nanos;
use seekwell_io::workload::Source;
use seekwell_sys::classify;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

/// Why a ledger cannot be written or checked.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LedgerRunError {
    #[error(
        "{} is a {what}; a ledger is of a block device (a file becomes one with: losetup -f --show \
         FILE)", path.display()
    )]
    NoDevice { path: PathBuf, what: &'static str },
    #[error(
        "the ledger lies on the disk of {}, whose power is to be cut: send it to another host or \
         write it to another disk", path.display()
    )]
    SameDisk { path: PathBuf },
    #[error("{asked} bytes are asked for, and the device holds {holds}")]
    TooLarge { asked: u64, holds: u64 },
    #[error(
        "the ledger is of {needed} bytes, and {} holds {holds}: it is another device",
        path.display()
    )]
    OtherDevice { path: PathBuf, needed: u64, holds: u64 },
    #[error("blocks of {bytes} bytes are not whole sectors of {sector}; use --bs={sector}")]
    PartOfSector { bytes: u32, sector: u32 },
    #[error("stopped before all of the device was read")]
    Stopped,
    #[error("cannot write the ledger: {0}")]
    Ledger(io::Error),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Read(#[from] LedgerError),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

classify!(LedgerRunError {
    Usage: NoDevice, TooLarge, OtherDevice, PartOfSector, Plan, Read;
    Refused: SameDisk, Ledger;
    Interrupted: Stopped;
    | Self::Engine(error) => error.class(),
});

/// Runs requests of whole blocks on a device to their end.
fn transfer<P: Payload + Clone>(
    source: &mut impl Source,
    payload: &P,
    (plan, depth): (&Plan, u32),
    device: BorrowedFd<'_>,
    runtime: Nanos,
    host: Host<'_>,
) -> Result<Measurement, LedgerRunError> {
    let size = (depth, plan.block_bytes);
    let mut target =
        Real::open(Engine::Auto, &[device], size, || payload.clone()).map_err(EngineError::from)?;
    let bounds = Bounds { depth, ramp: Nanos::ZERO, runtime, spin: Nanos::ZERO };
    Ok(run_source(source, bounds, &mut target, &mut Unlimited::default(), host.control)?)
}

fn sectors_fit(plan: &Plan, sector: u32) -> Result<(), LedgerRunError> {
    let bytes = plan.block_bytes;
    bytes.is_multiple_of(sector).then_some(()).ok_or(LedgerRunError::PartOfSector { bytes, sector })
}
