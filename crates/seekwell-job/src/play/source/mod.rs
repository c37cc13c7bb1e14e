//! The requests of one clone of a job.
//!
//! What decides them is in parts: [`draw`] says which kind, how long and in which file, [`walk`]
//! where in the file, [`pace`] when, [`search`] how many at once, and [`written`] remembers what is
//! to be read back. Here they are put together under the bounds of the job.

pub mod back;
pub mod draw;
pub mod failure;
pub mod pace;
mod place;
mod precondition;
pub mod search;
pub mod walk;
pub mod written;

use super::address::Address;
use super::ramp::Ramp;
use super::zones::{ChangeTimes, Follow, Unchanged};
use crate::job::{By, Errors, Job, Kind, ThinkAt};
use draw::{Kinds, Picker, Sizes};
use pace::{Floor, FlowShare, Pacer, Think, TooSlow};
use place::Wish;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use search::DepthSearch;
use seekwell_io::measurement::Failure;
use seekwell_io::request::{Completion, Op, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use walk::{Region, Walk};
use written::{Piece, Written, unit};

/// `id` of a flush that may leave the file's times alone (fdatasync).
pub const DATA_ONLY: u32 = 1;
/// `id` of a read that is checked although this clone did not write it.
pub const ANY_SEQUENCE: u32 = u32::MAX;

/// Why a clone ended before its work was done, beside time, signals and failed requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It was slower than `rate_min` or `rate_iops_min` allow.
    Slow(TooSlow),
    /// A request took longer than `max_latency`.
    Late {
        /// Which request.
        op: Op,
        /// How long it took.
        took: Nanos,
    },
    /// A zone could not be reset or finished.
    Zone(Unchanged),
}

/// How much is left to do.
#[derive(Debug)]
struct Quota {
    loop_bytes: u64,
    left: u64,
    loops: u64,
    requests: u64,
    /// A pass over its zones ends a loop, whatever its size.
    by_pass: bool,
}

/// Blocks that are read back while others are still being written (`verify_backlog`).
#[derive(Debug)]
struct Backlog {
    waiting: VecDeque<Piece>,
    every: usize,
    batch: usize,
    /// Still to be read in this round.
    to_read: usize,
    reading: u32,
}

/// Syncs in between.
#[derive(Debug, Default)]
struct Syncs {
    fsync_every: u32,
    fdatasync_every: u32,
    since_fsync: u32,
    since_fdatasync: u32,
    first_unflushed: Option<Nanos>,
    last_address: u64,
}

/// Everything that a clone is made of.
pub struct Setup<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its part of each of its files.
    pub regions: Vec<Region>,
    /// The zones of each file, if they are followed; otherwise empty.
    pub zones: Vec<Follow>,
    /// Bytes to transfer in each loop.
    pub loop_bytes: u64,
    /// Requests it may keep outstanding.
    pub depth: u32,
    /// Of all that is drawn.
    pub seed: u64,
    /// Its part of a flow.
    pub flow: Option<FlowShare>,
    /// What it does before it is measured.
    pub ramp: Ramp,
    /// Set when another job's end ends it.
    pub ends: Arc<AtomicBool>,
}

/// Draws the requests of one clone.
pub struct JobSource {
    rng: Xoshiro256PlusPlus,
    address: Address,
    kinds: Kinds,
    sizes: By<Sizes>,
    walks: Vec<Walk>,
    zones: Vec<Follow>,
    /// A request that waits for a zone.
    wished: Option<Wish>,
    /// Whether a request was placed since the zones last had no place for one.
    placed: bool,
    picker: Picker,
    quota: Quota,
    syncs: Syncs,
    pacer: Option<Pacer>,
    think: Option<Think>,
    flow: Option<FlowShare>,
    search: Option<DepthSearch>,
    floor: Option<Floor>,
    max_latency: By<Option<Nanos>>,
    errors: Errors,
    backlog: Option<Backlog>,
    written: Option<Written>,
    /// Reads of what this clone did not write are checked.
    checks_reads: bool,
    /// A kind that was drawn and has to wait for its rate.
    drawn: Option<Op>,
    /// A request that overlaps one outstanding and waits for it.
    held: Option<Request>,
    /// What is outstanding, where overlaps matter.
    in_flight: Option<Vec<(u64, u64)>>,
    /// Discarded blocks that are to be written.
    trimmed: VecDeque<Piece>,
    trims_first: bool,
    sequence: u32,
    outstanding: u32,
    /// None once it is over.
    ramp: Option<Ramp>,
    /// Turns of an empty loop after each request.
    thinkcycles: u32,
    ends: Arc<AtomicBool>,
    cut: Option<Cut>,
}

impl JobSource {
    /// The source of one clone.
    pub fn new(setup: Setup<'_>) -> Self {
        let Setup { job, regions, zones, loop_bytes, depth, seed, flow, ramp, ends } = setup;
        assert!(zones.is_empty() || zones.len() == regions.len(), "all files have zones, or none");
        let remembers = job.remembers();
        let address = Address::new(regions.len());
        let walk = |(i, region): (usize, &Region)| {
            let step = 0x5851_f42d_4c95_7f2d_u64.wrapping_mul(i as u64 + 1);
            Walk::new(job, *region, seed.wrapping_add(step))
        };
        let walks: Vec<Walk> = regions.iter().enumerate().map(walk).collect();
        let verify = job.verify.as_ref();
        let backlog = verify.filter(|_| remembers).and_then(|v| {
            let every = usize::try_from(v.backlog?).unwrap_or(usize::MAX).clamp(1, 1 << 20);
            let batch = v.backlog_batch.map_or(every, |n| (n as usize).clamp(1, every));
            let waiting = VecDeque::with_capacity(every + depth as usize);
            Some(Backlog { waiting, every, batch, to_read: 0, reading: 0 })
        });
        // Two writes of a block at the same time leave either; there is no way to know which.
        let orders = job.engine.serialize_overlap || (remembers && depth > 1);
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            address,
            kinds: Kinds::new(job.access.kind, job.access.read_percent),
            sizes: job.blocks.map(|blocks| Sizes::new(blocks, job.unaligned)),
            picker: Picker::new(job.files.service, walks.len()),
            walks,
            zones,
            wished: None,
            placed: false,
            quota: Quota {
                loop_bytes,
                left: loop_bytes,
                loops: match job.timing.time_based {
                    true => u64::MAX,
                    false => u64::from(job.extent.loops.max(1)) - 1,
                },
                requests: job.extent.number_ios.unwrap_or(u64::MAX),
                by_pass: job.extent.io_size.is_none(),
            },
            syncs: Syncs {
                fsync_every: job.durability.fsync_every,
                fdatasync_every: job.durability.fdatasync_every,
                ..Syncs::default()
            },
            pacer: Pacer::new(job),
            think: job.thinktime.map(Think::new),
            flow,
            search: job.latency_target.map(|target| DepthSearch::new(target, depth)),
            floor: Floor::new(job),
            max_latency: job.max_latency,
            errors: job.errors.clone(),
            backlog,
            written: remembers.then(|| Written::new(address, &regions, unit(job))),
            checks_reads: verify.is_some() && job.access.kind == Kind::Read,
            drawn: None,
            held: None,
            in_flight: orders.then(|| Vec::with_capacity(depth as usize)),
            trimmed: VecDeque::with_capacity(depth as usize),
            trims_first: job.access.kind == Kind::TrimWrite,
            sequence: 0,
            outstanding: 0,
            ramp: (job.timing.ramp > Nanos::ZERO || job.timing.ramp_bytes > 0).then_some(ramp),
            thinkcycles: job.thinkcycles,
            ends,
            cut: None,
        }
    }

    /// Why it ended early, if it did.
    pub const fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// The depth that `latency_target` found: 0 if none met the target.
    pub fn found_depth(&self) -> Option<Option<u32>> {
        self.search.as_ref().map(DepthSearch::found)
    }

    /// How long its resets and finishes of zones took, if it follows zones.
    pub fn zone_times(&self) -> Option<ChangeTimes> {
        let mut of_files = self.zones.iter().map(Follow::times);
        let first = of_files.next()?.clone();
        Some(of_files.fold(first, |mut sum, more| {
            sum.merge(more);
            sum
        }))
    }

    /// What was written and not yet read back.
    pub fn into_written(self) -> Option<Written> {
        self.written
    }

    /// Whether nothing more is to be begun.
    fn is_over(&mut self, now: Nanos) -> bool {
        if self.cut.is_none()
            && let Some(slow) = self.floor.as_mut().and_then(|floor| floor.look(now))
        {
            self.cut = Some(Cut::Slow(slow));
        }
        self.cut.is_some()
            || self.ends.load(Relaxed)
            || self.search.as_ref().is_some_and(DepthSearch::is_over)
    }

    /// What was handed out before measuring began does not count towards the end.
    fn begin(&mut self, now: Nanos) {
        if self.ramp.as_mut().is_some_and(|ramp| ramp.is_over(now)) {
            self.ramp = None;
            self.quota.left = self.quota.loop_bytes;
        }
    }

    /// The next sync, if one is due.
    fn sync(&mut self) -> Option<Request> {
        let syncs = &mut self.syncs;
        let due = |every: u32, since: u32| every > 0 && since >= every;
        let id = if due(syncs.fsync_every, syncs.since_fsync) {
            syncs.since_fsync = 0;
            0
        } else if due(syncs.fdatasync_every, syncs.since_fdatasync) {
            DATA_ONLY
        } else {
            return None;
        };
        syncs.since_fdatasync = 0;
        let wanted = syncs.first_unflushed.take();
        let offset = syncs.last_address;
        Some(Request { op: Op::Flush, offset, len: 0, wanted, id, durable: false, queue: 0 })
    }

    /// Reads back what is due, while nothing is written.
    fn backlog(&mut self) -> Option<Next> {
        let (backlog, written) = (self.backlog.as_mut()?, self.written.as_mut()?);
        if backlog.to_read == 0 && backlog.waiting.len() >= backlog.every {
            backlog.to_read = backlog.batch;
        }
        while backlog.to_read > 0 {
            if self.outstanding > backlog.reading {
                return Some(Next::NotBefore(Nanos::MAX));
            }
            backlog.to_read -= 1;
            let Some(piece) = backlog.waiting.pop_front() else {
                backlog.to_read = 0;
                break;
            };
            if written.holds(piece) {
                written.forget(piece);
                backlog.reading += 1;
                return Some(Next::Request(Request {
                    op: Op::Read,
                    offset: piece.address,
                    len: piece.len,
                    wanted: None,
                    id: piece.sequence,
                    durable: false,
                    queue: 0,
                }));
            }
        }
        (backlog.reading > 0).then_some(Next::NotBefore(Nanos::MAX))
    }

    /// Until when nothing may be issued.
    fn wait(&mut self, now: Nanos) -> Option<Nanos> {
        if let Some(think) = &mut self.think
            && let Some(at) = think.wait(now, self.outstanding, self.pacer.as_mut())
        {
            return Some(at);
        }
        if self.search.as_ref().is_some_and(|search| self.outstanding >= search.depth()) {
            return Some(Nanos::MAX);
        }
        self.flow.as_ref()?.wait(now)
    }

    /// The kind of the next request and when it was due, or when it will be.
    fn kind(&mut self, now: Nanos) -> Result<(Op, Option<Nanos>), Nanos> {
        let op = match self.drawn.take() {
            Some(op) => op,
            None => self.kinds.draw(&mut self.rng),
        };
        let Some(pacer) = &mut self.pacer else { return Ok((op, None)) };
        let due = pacer.due(op, now);
        let Some(early) = due.filter(|at| *at > now) else { return Ok((op, due)) };
        // Ahead in one direction: the other goes first, if it is bounded too and behind.
        if let Some(other) = self.kinds.other(op)
            && let Some(at) = pacer.due(other, now)
        {
            if at <= now {
                return Ok((other, Some(at)));
            }
            if at < early {
                self.drawn = Some(other);
                return Err(at);
            }
        }
        self.drawn = Some(op);
        Err(early)
    }

    /// Counts a request towards the end. False when there is nothing left to count towards.
    fn has_quota(&mut self) -> bool {
        if self.quota.requests == 0 {
            return false;
        }
        if self.quota.left == 0 {
            if self.quota.loops == 0 {
                return false;
            }
            self.quota.loops -= 1;
            self.quota.left = self.quota.loop_bytes;
            self.walks.iter_mut().for_each(Walk::begin_again);
        }
        true
    }

    /// A drawn request becomes one that is issued.
    fn issue(&mut self, op: Op, address: u64, len: u32, due: Option<Nanos>, now: Nanos) -> Request {
        let mut id = 0;
        match op {
            Op::Write => {
                self.sequence = self.sequence.wrapping_add(1).clamp(1, ANY_SEQUENCE - 1);
                id = self.sequence;
                self.syncs.last_address = address;
                self.syncs.first_unflushed.get_or_insert(now);
                self.syncs.since_fsync += 1;
                self.syncs.since_fdatasync += 1;
            }
            Op::Read if self.checks_reads => id = ANY_SEQUENCE,
            Op::Read | Op::Flush | Op::Discard => {}
        }
        Request { op, offset: address, len, wanted: due, id, durable: false, queue: 0 }
    }

    /// Hands a request out, or holds it back while something that it overlaps is outstanding.
    fn hand_out(&mut self, request: Request) -> Next {
        let (start, end) = (request.offset, request.offset + u64::from(request.len));
        if let Some(in_flight) = &mut self.in_flight {
            if in_flight.iter().any(|(from, to)| start < *to && *from < end) {
                self.held = Some(request);
                return Next::NotBefore(Nanos::MAX);
            }
            in_flight.push((start, end));
        }
        if request.op == Op::Write
            && let Some(written) = &mut self.written
        {
            written.add(Piece { address: start, len: request.len, sequence: request.id });
        }
        Next::Request(request)
    }

    fn draw(&mut self, now: Nanos) -> Next {
        if let Some(piece) = self.trimmed.pop_front() {
            let request = self.issue(Op::Write, piece.address, piece.len, None, now);
            return self.hand_out(request);
        }
        if !self.has_quota() {
            let more = self.trims_first && self.outstanding > 0;
            return if more { Next::NotBefore(Nanos::MAX) } else { Next::Done };
        }
        let (op, due) = match self.kind(now) {
            Ok(kind) => kind,
            Err(at) => return Next::NotBefore(at),
        };
        let len = self.sizes.of(op).draw(&mut self.rng);
        match self.place(op, len) {
            Some((address, len)) => self.settle(Wish { op, address, len, due }, now),
            None => self.pass_over(op, now),
        }
    }
}

impl Source for JobSource {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        self.begin(now);
        if self.is_over(now) {
            return Next::Done;
        }
        if let Some(next) = self.backlog() {
            return next;
        }
        if let Some(sync) = self.sync() {
            return Next::Request(sync);
        }
        if let Some(request) = self.held.take() {
            return self.hand_out(request);
        }
        if let Some(wish) = self.wished.take() {
            return self.settle(wish, now);
        }
        if let Some(at) = self.wait(now) {
            return Next::NotBefore(at);
        }
        self.draw(now)
    }

    #[inline]
    fn submitted(&mut self, _: &Request, _: Nanos) {
        self.outstanding += 1;
    }

    #[inline]
    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        self.outstanding -= 1;
        let (op, latency) = (request.op, completion.at.since(submitted));
        if op == Op::Flush {
            return;
        }
        let (file, at) = self.address.split(request.offset);
        if let Some(zones) = self.zones.get_mut(file as usize) {
            zones.done(op, at, completion.result.is_err());
        }
        if let Some(in_flight) = &mut self.in_flight
            && let Some(i) = in_flight.iter().position(|(from, _)| *from == request.offset)
        {
            in_flight.swap_remove(i);
        }
        let piece = Piece { address: request.offset, len: request.len, sequence: request.id };
        match op {
            Op::Discard if self.trims_first => self.trimmed.push_back(piece),
            Op::Write => {
                if let Some(backlog) = &mut self.backlog {
                    backlog.waiting.push_back(piece);
                }
            }
            Op::Read if request.id > 0 && request.id != ANY_SEQUENCE => {
                if let Some(backlog) = &mut self.backlog {
                    backlog.reading -= 1;
                }
            }
            Op::Read | Op::Flush | Op::Discard => {}
        }
        for turn in 0..self.thinkcycles {
            std::hint::black_box(turn);
        }
        if let Some(think) = &mut self.think {
            think.count(ThinkAt::Complete);
        }
        if let Some(floor) = &mut self.floor {
            floor.completed(op, request.len);
        }
        if let Some(search) = &mut self.search {
            search.completed(latency, completion.at);
        }
        if self.max_latency.of(op).is_some_and(|most| latency > most) && self.cut.is_none() {
            self.cut = Some(Cut::Late { op, took: latency });
        }
    }

    fn tolerates(&mut self, failure: &Failure) -> bool {
        failure::tolerates(&self.errors, failure)
    }
}

#[cfg(test)]
mod tests;
