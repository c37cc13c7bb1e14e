//! Writing, with each acknowledgement recorded before the next batch starts.

use super::file::LedgerWriter;
use super::plan::{Durable, Plan};
use super::{LedgerRunError, sectors_fit, transfer};
use crate::medium::destroyed;
use crate::record::{numbers, under};
use crate::{Host, RunError, Watcher, look};
use seekwell_access::{Consent, Order, WritableDevice, by_descriptor};
use seekwell_inspect::TargetKind;
use seekwell_io::measurement::{Failure, Stopped};
use seekwell_io::request::{Completion, Op, Request, Tagged};
use seekwell_io::target::Payload;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How much is written by default.
const DEFAULT_BYTES: u64 = 1 << 30;

/// What is to be written, and where.
#[derive(Debug, Clone, Copy)]
pub struct Writing<'a> {
    /// The block device.
    pub on: &'a Path,
    /// The consent to overwrite it.
    pub destroy: Option<Consent<'a>>,
    /// How much of it is written, from its start.
    pub size_bytes: Option<u64>,
    /// The length of a write.
    pub block_bytes: u32,
    /// Writes between two flushes, outstanding together.
    pub batch: u32,
    /// What makes them durable.
    pub durable: Durable,
    /// For how long; zero: until it is stopped.
    pub runtime: Nanos,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Written {
    /// Writes that the device acknowledged as durable.
    pub acknowledged: u32,
    /// How many acknowledgements that took.
    pub acknowledgements: u32,
    /// How long it took.
    pub elapsed: Nanos,
    /// Why it ended.
    pub ended: Ended,
}

/// Why writing ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ended {
    /// The time was up, or the write numbers were used up.
    Finished,
    /// It was asked to stop.
    Interrupted,
    /// A request failed, as all do when the device loses its power.
    Failed(Failure),
    /// The device did not answer for a minute.
    Stalled,
}

/// Writes to a device and notes in a ledger what it acknowledges, until it is stopped or the
/// device fails.
///
/// # Errors
/// What the safety rules refuse, a plan that cannot be carried out, and a ledger that cannot be
/// written.
pub fn write(
    host: Host<'_>,
    watcher: &impl Watcher,
    writing: &Writing<'_>,
    ledger: OwnedFd,
) -> Result<Written, RunError> {
    let device = open(host, watcher, writing, &ledger)?;
    let plan = plan(writing, &device)?;
    sectors_fit(&plan, device.logical_block_bytes())?;
    let name = writing.on.display().to_string();
    let ledger = LedgerWriter::begin(ledger, &name, &plan).map_err(LedgerRunError::Ledger)?;
    watcher.doing("writing; cut the power whenever you like");
    let mut batches = Batches::new(plan, ledger, &host.control.stop);
    let (fill, depth) = (Fill(plan), plan.batch);
    let device = device.as_fd();
    let measured = transfer(&mut batches, &fill, (&plan, depth), device, writing.runtime, host)?;
    if let Some(error) = batches.lost {
        return Err(LedgerRunError::Ledger(error).into());
    }
    let ended = match (measured.stopped, measured.first_failure) {
        (_, Some(failure)) => Ended::Failed(failure),
        (Stopped::Stalled, None) => Ended::Stalled,
        (Stopped::Interrupted, None) => Ended::Interrupted,
        (Stopped::Finished | Stopped::Failed, None) => Ended::Finished,
    };
    let acknowledged = batches.acknowledged;
    let acknowledgements = acknowledged / plan.batch;
    Ok(Written { acknowledged, acknowledgements, elapsed: measured.elapsed, ended })
}

/// Opens the device under the safety rules and checks that the ledger is not on it.
fn open(
    host: Host<'_>,
    watcher: &impl Watcher,
    writing: &Writing<'_>,
    ledger: &OwnedFd,
) -> Result<WritableDevice, RunError> {
    let path = writing.on;
    let inspection = look(host.view, path)?;
    let what = match inspection.kind {
        TargetKind::BlockDevice => None,
        TargetKind::Directory => Some("directory"),
        TargetKind::File => Some("file"),
        TargetKind::Null => Some("target without a device"),
        TargetKind::Machine => Some("model"),
    };
    if let Some(what) = what {
        return Err(LedgerRunError::NoDevice { path: path.to_path_buf(), what }.into());
    }
    let would_write = || RunError::WouldWrite { path: path.to_path_buf(), what: "device" };
    let consent = writing.destroy.ok_or_else(would_write)?;
    let own = inspection.device.as_ref().map_or_else(Vec::new, numbers);
    if under(host.view, &by_descriptor(ledger)).iter().any(|number| own.contains(number)) {
        return Err(LedgerRunError::SameDisk { path: path.to_path_buf() }.into());
    }
    destroyed(path, consent, Order::Any, host, watcher)
}

fn plan(writing: &Writing<'_>, device: &WritableDevice) -> Result<Plan, LedgerRunError> {
    let Writing { block_bytes, batch, durable, .. } = *writing;
    let wanted = writing.size_bytes.unwrap_or(DEFAULT_BYTES.min(device.size_bytes()));
    if wanted > device.size_bytes() {
        let (asked, holds) = (wanted, device.size_bytes());
        return Err(LedgerRunError::TooLarge { asked, holds });
    }
    // No other ledger has this identity: its blocks would be taken for ours.
    let id = RandomState::new().build_hasher().finish();
    let blocks = Plan::check_blocks(wanted / u64::from(block_bytes.max(1)), batch)?;
    Ok(Plan { id, block_bytes, blocks, batch, durable }.checked()?)
}

/// Fills writes as the plan says.
#[derive(Clone, Copy)]
struct Fill(Plan);

impl Payload for Fill {
    fn place(&self, request: &Request) -> (u32, u64) {
        (0, request.offset)
    }

    fn data_only(&self, _flush: &Request) -> bool {
        true
    }

    fn begin(&mut self, _buffer: &mut [u8]) {}

    fn prepare(&mut self, tagged: &Tagged, buffer: &mut [u8]) {
        if tagged.request.op == Op::Write {
            self.0.fill(tagged.request.id, buffer);
        }
    }
}

/// The state of the current batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// This many of its writes were issued.
    Issuing(u32),
    /// All writes are done; a flush is next.
    Written,
    /// The flush was issued.
    Flushing,
}

/// Batches of writes, each made durable and acknowledged before the next.
struct Batches<'a> {
    plan: Plan,
    ledger: LedgerWriter,
    phase: Phase,
    /// Writes that were issued and are not done.
    outstanding: u32,
    acknowledged: u32,
    /// Why the ledger cannot be written.
    lost: Option<io::Error>,
    stop: &'a AtomicBool,
}

impl<'a> Batches<'a> {
    fn new(plan: Plan, ledger: LedgerWriter, stop: &'a AtomicBool) -> Self {
        let (phase, outstanding, acknowledged) = (Phase::Issuing(0), 0, 0);
        Self { plan, ledger, phase, outstanding, acknowledged, lost: None, stop }
    }

    fn request(&self, op: Op, write: u32) -> Request {
        let (block, len) = match op {
            Op::Write => (self.plan.block_of(write), self.plan.block_bytes),
            _ => (0, 0),
        };
        let offset = u64::from(block) * u64::from(self.plan.block_bytes);
        let durable = op == Op::Write && self.plan.durable == Durable::Fua;
        Request { op, offset, len, wanted: None, id: write, durable, queue: 0 }
    }

    /// The batch is durable.
    fn acknowledge(&mut self) {
        self.acknowledged += self.plan.batch;
        self.phase = Phase::Issuing(0);
        if let Err(error) = self.ledger.acknowledged(self.acknowledged) {
            self.lost = Some(error);
            self.stop.store(true, Relaxed);
        }
    }
}

impl Source for Batches<'_> {
    fn next(&mut self, _now: Nanos) -> Next {
        match self.phase {
            Phase::Issuing(0) if u32::MAX - self.acknowledged < self.plan.batch => Next::Done,
            Phase::Issuing(issued) if issued < self.plan.batch => {
                self.phase = Phase::Issuing(issued + 1);
                self.outstanding += 1;
                Next::Request(self.request(Op::Write, self.acknowledged + issued + 1))
            }
            Phase::Written => {
                self.phase = Phase::Flushing;
                Next::Request(self.request(Op::Flush, 0))
            }
            Phase::Issuing(_) | Phase::Flushing => Next::NotBefore(Nanos::MAX),
        }
    }

    fn completed(&mut self, request: &Request, _submitted: Nanos, completion: &Completion) {
        if Failure::of(request, completion).is_some() {
            return;
        }
        match (request.op, self.phase) {
            (Op::Flush, Phase::Flushing) => self.acknowledge(),
            (Op::Write, Phase::Issuing(issued)) => {
                self.outstanding -= 1;
                if issued == self.plan.batch && self.outstanding == 0 {
                    match self.plan.durable {
                        Durable::Flush => self.phase = Phase::Written,
                        Durable::Fua => self.acknowledge(),
                    }
                }
            }
            (op, phase) => panic!("a {op:?} completed while {phase:?}"),
        }
    }
}
