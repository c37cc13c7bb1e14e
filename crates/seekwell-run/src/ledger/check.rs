//! Whether a device still holds what it acknowledged.

use super::file::Ledger;
use super::plan::{Found, Plan};
use super::{LedgerRunError, sectors_fit, transfer};
use crate::{Host, RunError, Watcher};
use seekwell_access::{OpenedKind, open_read_only};
use seekwell_io::failure::FailureKind;
use seekwell_io::measurement::{Failure, Stopped};
use seekwell_io::request::{Op, Request, Tagged};
use seekwell_io::target::Payload;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use serde::Serialize;
use std::cell::RefCell;
use std::os::fd::AsFd;
use std::path::Path;

/// Blocks that are read at once.
const DEPTH: u32 = 32;
/// Losses that are described; the others are counted.
const DESCRIBED: usize = 16;

/// What became of a block that was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It holds the acknowledged write, or a later one.
    Kept,
    /// It holds older data.
    Missing,
    /// Some of its sectors hold older data.
    Torn,
    /// A sector holds data that was never written there.
    Damaged,
    /// It cannot be read.
    Unreadable,
}

/// An acknowledged block that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// The acknowledged write, numbered from 1.
    pub write: u32,
    /// The earlier write of this ledger that is there instead, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<u32>,
    /// What became of it.
    pub fate: Fate,
}

/// What a device holds of a ledger's writes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Checked {
    /// Blocks whose last acknowledged write is known.
    pub acknowledged_blocks: u64,
    /// Those that hold older data.
    pub missing: u64,
    /// Those of which some sectors do.
    pub torn: u64,
    /// Those with data that was never written there.
    pub damaged: u64,
    /// Those that cannot be read.
    pub unreadable: u64,
    /// How many of these were acknowledged before a batch was issued that is on the device, at
    /// least in part.
    pub reordered: u64,
    /// Blocks with part of a later write that was never acknowledged, which a device may leave.
    pub torn_under_way: u64,
    /// Whether anything of this ledger is on the device.
    pub found_any: bool,
    /// The first losses, in the order of the device.
    pub losses: Vec<Loss>,
}

impl Checked {
    /// Acknowledged blocks that are not there.
    pub const fn lost(&self) -> u64 {
        self.missing + self.torn + self.damaged + self.unreadable
    }
}

/// Reads what a ledger acknowledges. The device is opened read-only.
///
/// # Errors
/// For a device that is not there or too small, and when reading was stopped.
pub fn check(
    host: Host<'_>,
    watcher: &impl Watcher,
    on: &Path,
    ledger: &Ledger,
) -> Result<Checked, RunError> {
    let device = open_read_only(on)?;
    let plan = ledger.plan;
    let path = || on.to_path_buf();
    if !matches!(device.kind, OpenedKind::BlockDevice { .. }) {
        return Err(LedgerRunError::NoDevice { path: path(), what: "file" }.into());
    }
    let (needed, holds) = (plan.bytes(), device.size_bytes);
    if holds < needed {
        return Err(LedgerRunError::OtherDevice { path: path(), needed, holds }.into());
    }
    sectors_fit(&plan, device.logical_block_bytes)?;
    watcher.doing("reading what was acknowledged");
    let tally = RefCell::new(Tally::new(ledger));
    let gather = Gather { tally: &tally, slots: [0; DEPTH as usize] };
    let mut blocks = Blocks { plan, next: 0 };
    let time = Nanos::ZERO;
    let measured = transfer(&mut blocks, &gather, (&plan, DEPTH), device.as_fd(), time, host)?;
    if measured.stopped != Stopped::Finished {
        return Err(LedgerRunError::Stopped.into());
    }
    Ok(tally.into_inner().finish())
}

/// Each block once.
struct Blocks {
    plan: Plan,
    next: u32,
}

impl Source for Blocks {
    fn next(&mut self, _now: Nanos) -> Next {
        let (block, len) = (self.next, self.plan.block_bytes);
        if block == self.plan.blocks {
            return Next::Done;
        }
        self.next += 1;
        let offset = u64::from(block) * u64::from(len);
        let (wanted, durable, queue) = (None, false, 0);
        Next::Request(Request { op: Op::Read, offset, len, wanted, id: block, durable, queue })
    }

    fn tolerates(&mut self, _failure: &Failure) -> bool {
        true
    }
}

/// Passes the data of reads to the tally.
#[derive(Clone)]
struct Gather<'a> {
    tally: &'a RefCell<Tally>,
    /// The block that each slot reads.
    slots: [u32; DEPTH as usize],
}

impl Payload for Gather<'_> {
    const LOOKS: bool = true;

    fn place(&self, request: &Request) -> (u32, u64) {
        (0, request.offset)
    }

    fn begin(&mut self, _buffer: &mut [u8]) {}

    fn prepare(&mut self, tagged: &Tagged, _buffer: &mut [u8]) {
        self.slots[tagged.slot as usize] = tagged.request.id;
    }

    fn done(
        &mut self,
        slot: u32,
        buffer: &mut [u8],
        result: Result<u32, FailureKind>,
    ) -> Result<u32, FailureKind> {
        let data = match result {
            Ok(len) => buffer.get(..len as usize),
            Err(_) => None,
        };
        self.tally.borrow_mut().block(self.slots[slot as usize], data);
        result
    }
}

/// What was found so far.
pub(super) struct Tally {
    plan: Plan,
    acknowledged: u32,
    /// The last acknowledged write of each block; 0 if it has none.
    due: Vec<u32>,
    /// The latest write of which a sector was found.
    latest: u32,
    /// The acknowledged writes that are lost.
    lost: Vec<u32>,
    checked: Checked,
}

impl Tally {
    pub(super) fn new(ledger: &Ledger) -> Self {
        let (plan, acknowledged) = (ledger.plan, ledger.acknowledged);
        let mut due = vec![0; plan.blocks as usize];
        (1..=acknowledged).for_each(|write| due[plan.block_of(write) as usize] = write);
        Self { plan, acknowledged, due, latest: 0, lost: Vec::new(), checked: Checked::default() }
    }

    /// Looks at a block; without data if it cannot be read.
    pub(super) fn block(&mut self, block: u32, data: Option<&[u8]>) {
        let due = self.due[block as usize];
        self.checked.acknowledged_blocks += u64::from(due > 0);
        let (mut oldest, mut newest, mut damaged) = (u32::MAX, 0, false);
        for found in data.into_iter().flat_map(|data| self.plan.found(block, data)) {
            let write = match found {
                Found::Write(write) => write,
                Found::Other => 0,
                Found::Damaged => {
                    damaged = true;
                    continue;
                }
            };
            (oldest, newest) = (oldest.min(write), newest.max(write));
        }
        self.checked.found_any |= damaged || newest > 0;
        self.latest = self.latest.max(newest);
        let fate = match data {
            _ if due == 0 => Fate::Kept,
            None => Fate::Unreadable,
            Some(_) if oldest < due && newest < due => Fate::Missing,
            Some(_) if oldest < due => Fate::Torn,
            Some(_) if damaged && !self.was_under_way(block) => Fate::Damaged,
            Some(_) => {
                self.checked.torn_under_way += u64::from(damaged || oldest < newest);
                Fate::Kept
            }
        };
        self.count(block, fate, Some(oldest).filter(|write| (1..due).contains(write)));
    }

    /// Whether the batch after the last acknowledged one writes to a block.
    fn was_under_way(&self, block: u32) -> bool {
        let next =
            self.acknowledged.saturating_add(1)..=self.acknowledged.saturating_add(self.plan.batch);
        next.into_iter().any(|write| self.plan.block_of(write) == block)
    }

    fn count(&mut self, block: u32, fate: Fate, found: Option<u32>) {
        let checked = &mut self.checked;
        match fate {
            Fate::Kept => return,
            Fate::Missing => checked.missing += 1,
            Fate::Torn => checked.torn += 1,
            Fate::Damaged => checked.damaged += 1,
            Fate::Unreadable => checked.unreadable += 1,
        }
        let write = self.due[block as usize];
        self.lost.push(write);
        let offset = u64::from(block) * u64::from(self.plan.block_bytes);
        checked.losses.push(Loss { offset, write, found, fate });
        // Reads complete in any order.
        if checked.losses.len() > 2 * DESCRIBED {
            sort(&mut checked.losses);
        }
    }

    pub(super) fn finish(mut self) -> Checked {
        sort(&mut self.checked.losses);
        let after = |write: &&u32| self.plan.batch_of(**write) < self.plan.batch_of(self.latest);
        if self.latest > 0 {
            self.checked.reordered = self.lost.iter().filter(after).count() as u64;
        }
        self.checked
    }
}

/// The first losses in the order of the device.
fn sort(losses: &mut Vec<Loss>) {
    losses.sort_by_key(|loss| loss.offset);
    losses.truncate(DESCRIBED);
}
