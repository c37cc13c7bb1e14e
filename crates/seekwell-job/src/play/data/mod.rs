//! What the writes of a clone hold, and whether its reads bring that back.

pub mod header;
mod repeated;
pub mod sum;

use super::address::Address;
use super::source::failure::MISMATCH;
use super::source::{ANY_SEQUENCE, DATA_ONLY};
use crate::job::{Buffers, Checksum, Contents, Job, Pattern, Verify};
use header::{Difference, Header, hex};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use repeated::Repeated;
use seekwell_io::failure::FailureKind;
use seekwell_io::request::{Flags, Op, Request, Tagged};
use seekwell_io::target::{Payload, Stamped};
use seekwell_sys::mark;

/// So many differences are kept of a clone; the others are counted.
pub const KEPT: usize = 16;

/// A block that did not verify.
#[derive(Debug, Clone)]
pub struct Bad {
    /// Where, in the clone's own numbers.
    pub address: u64,
    /// Its length.
    pub len: u32,
    /// How it differs.
    pub difference: Difference,
    /// What was read and, if it is known, what had been written; only where a dump was asked for.
    pub data: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

/// The data of one clone.
pub struct Data {
    address: Address,
    buffers: Buffers,
    verify: Option<Verify>,
    clone: u16,
    flags: Flags,
    /// Numbers of requests are a trace's, and say nothing of flushes.
    replays: bool,
    seed: u64,
    random: Xoshiro256PlusPlus,
    repeated: Option<Repeated>,
    stamped: Stamped,
    /// What each slot was last submitted with.
    slots: Vec<Option<Request>>,
    /// The first blocks that did not verify.
    pub bad: Vec<Bad>,
    /// How many did not.
    pub bad_count: u64,
    /// How many were checked.
    pub checked: u64,
}

impl Data {
    /// For `depth` slots of one clone. `seeds` are those of the clones whose data it repeats, its
    /// own among them.
    pub fn new(
        job: &Job,
        address: Address,
        depth: u32,
        (clone, seed): (u32, u64),
        seeds: &[u64],
    ) -> Self {
        Self {
            address,
            buffers: job.buffers.clone(),
            verify: job.verify.clone().filter(|v| v.checksum != Checksum::Null),
            clone: (clone + 1) as u16,
            flags: job.engine.flags,
            replays: job.replay.is_some(),
            seed,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            repeated: job.buffers.dedupe.map(|rule| Repeated::new(rule, seed, seeds)),
            stamped: Stamped::new(seed),
            slots: vec![None; depth as usize],
            bad: Vec::new(),
            bad_count: 0,
            checked: 0,
        }
    }

    /// What a write holds if it is verified: the same for the same place and number, so that it
    /// can be made again for comparison.
    fn fill_verified(&self, verify: &Verify, request: &Request, buffer: &mut [u8]) {
        let (_, offset) = self.address.split(request.offset);
        if verify.checksum == Checksum::Pattern {
            if let Some(pattern) = &verify.pattern {
                verify.fill(pattern, buffer, offset);
            }
            return;
        }
        let seed = self.seed_of(request);
        match &verify.pattern {
            Some(pattern) => verify.fill(pattern, buffer, offset),
            None => Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(buffer),
        }
        let step = verify.interval_bytes.unwrap_or(request.len).max(1);
        let mut at = offset;
        for block in buffer.chunks_mut(step as usize) {
            let (clone, sequence) = (self.clone, request.id as u16);
            let header = Header { offset: at, seed, clone, sequence };
            header::write(verify.checksum, &header, block);
            swap_head(verify, block);
            at += u64::from(step);
        }
    }

    /// What the data of a verified write are drawn from.
    fn seed_of(&self, write: &Request) -> u64 {
        self.seed ^ (u64::from(write.id) << 32) ^ write.offset
    }

    fn check(&mut self, request: &Request, buffer: &mut [u8]) -> Result<(), ()> {
        let Some(verify) = self.verify.take() else { return Ok(()) };
        self.checked += 1;
        let (_, offset) = self.address.split(request.offset);
        let mut fine = Ok(());
        if let (Checksum::Pattern, Some(pattern)) = (verify.checksum, &verify.pattern) {
            if let Err(difference) = check_pattern(&verify, pattern, offset, buffer) {
                self.note(&verify, request, (request.offset, buffer), difference);
                fine = Err(());
            }
        } else if verify.checksum != Checksum::Pattern {
            let is_known = verify.sequence && request.id != ANY_SEQUENCE;
            let sequence = is_known.then_some(request.id as u16);
            let seed = (is_known && verify.header_seed).then(|| self.seed_of(request));
            let step = verify.interval_bytes.unwrap_or(request.len).max(1);
            let mut done = 0;
            for block in buffer.chunks_mut(step as usize) {
                swap_head(&verify, block);
                let found = header::check(verify.checksum, offset + done, (sequence, seed), block);
                if let Err(difference) = found {
                    swap_head(&verify, block);
                    self.note(&verify, request, (request.offset + done, block), difference);
                    fine = Err(());
                }
                done += u64::from(step);
            }
        }
        self.verify = Some(verify);
        fine
    }

    #[cold]
    fn note(
        &mut self,
        verify: &Verify,
        request: &Request,
        (address, block): (u64, &[u8]),
        difference: Difference,
    ) {
        self.bad_count += 1;
        if self.bad.len() >= KEPT {
            return;
        }
        let data = verify.dump.then(|| {
            let expected = (request.id != ANY_SEQUENCE).then(|| {
                let mut whole = vec![0; request.len as usize];
                self.fill_verified(verify, request, &mut whole);
                let first = (address - request.offset) as usize;
                whole[first..first + block.len()].to_vec()
            });
            (block.to_vec(), expected)
        });
        self.bad.push(Bad { address, len: block.len() as u32, difference, data });
    }

    /// Random bytes, or some that were written before, with the share that was asked for given over
    /// to zeroes or the pattern. Where a share was asked for it is exact, and so nothing is marked.
    fn refill(&mut self, buffer: &mut [u8], offset: u64) {
        let mut repeated = self.repeated.as_mut().map(Repeated::next);
        let deduped = repeated.is_some();
        let random = repeated.as_mut().unwrap_or(&mut self.random);
        let filler = match &self.buffers.contents {
            Contents::Pattern(pattern) => Some(pattern),
            Contents::Random | Contents::Zero => None,
        };
        let Some(percent) = self.buffers.compress_percent else {
            match filler {
                Some(pattern) if !deduped => pattern.fill(buffer, offset),
                _ => {
                    random.fill_bytes(buffer);
                    mark::put(buffer);
                }
            }
            return;
        };
        let chunk = match self.buffers.compress_chunk_bytes {
            0 => buffer.len().max(1),
            bytes => bytes as usize,
        };
        for part in buffer.chunks_mut(chunk) {
            let drawn = part.len() - part.len() * usize::from(percent.min(100)) / 100;
            let (drawn, rest) = part.split_at_mut(drawn);
            random.fill_bytes(drawn);
            match filler {
                Some(pattern) => pattern.fill(rest, offset),
                None => rest.fill(0),
            }
        }
    }
}

impl Payload for Data {
    const LOOKS: bool = true;

    #[inline]
    fn place(&self, request: &Request) -> (u32, u64) {
        self.address.split(request.offset)
    }

    #[inline]
    fn data_only(&self, flush: &Request) -> bool {
        !self.replays && flush.id == DATA_ONLY
    }

    #[inline]
    fn flags(&self) -> Flags {
        self.flags
    }

    fn begin(&mut self, buffer: &mut [u8]) {
        match &self.buffers.contents {
            Contents::Zero => buffer.fill(0),
            Contents::Pattern(pattern) => pattern.fill(buffer, 0),
            Contents::Random => self.stamped.begin(buffer),
        }
    }

    #[inline]
    fn prepare(&mut self, tagged: &Tagged, buffer: &mut [u8]) {
        let request = &tagged.request;
        self.slots[tagged.slot as usize] = Some(*request);
        self.stamped.keep_marked(tagged, buffer);
        if request.op != Op::Write {
            return;
        }
        if let Some(verify) = &self.verify {
            return self.fill_verified(verify, request, buffer);
        }
        let placed = matches!(&self.buffers.contents, Contents::Pattern(p) if p.has_offset());
        let deduped = self.repeated.is_some();
        if self.buffers.refill || placed || deduped || self.buffers.compress_percent.is_some() {
            let (_, offset) = self.address.split(request.offset);
            if deduped || self.buffers.contents != Contents::Zero {
                self.refill(buffer, offset);
            }
        } else if self.buffers.scramble && self.buffers.contents == Contents::Random {
            self.stamped.stamp(buffer);
        }
    }

    #[inline]
    fn done(
        &mut self,
        slot: u32,
        buffer: &mut [u8],
        result: Result<u32, FailureKind>,
    ) -> Result<u32, FailureKind> {
        let Some(request) = self.slots[slot as usize] else { return result };
        let whole = result == Ok(request.len);
        if request.op != Op::Read || request.id == 0 || !whole {
            return result;
        }
        match self.check(&request, &mut buffer[..request.len as usize]) {
            Ok(()) => result,
            Err(()) => Err(FailureKind::Errno { errno: MISMATCH }),
        }
    }
}

/// Exchanges the header with what is at the place in the block where it is to be.
fn swap_head(verify: &Verify, block: &mut [u8]) {
    let (at, len) = (verify.offset_bytes as usize, header::len(verify.checksum));
    if at >= len && at + len <= block.len() {
        let (head, rest) = block.split_at_mut(at);
        head[..len].swap_with_slice(&mut rest[..len]);
    }
}

fn check_pattern(
    verify: &Verify,
    pattern: &Pattern,
    offset: u64,
    buffer: &[u8],
) -> Result<(), Difference> {
    let mut expected = vec![0; buffer.len()];
    verify.fill(pattern, &mut expected, offset);
    let Some(at) = buffer.iter().zip(&expected).position(|(a, b)| a != b) else { return Ok(()) };
    let end = (at + 8).min(buffer.len());
    Err(Difference {
        what: "pattern",
        at: Some(at),
        expected: hex(&expected[at..end]),
        found: hex(&buffer[at..end]),
    })
}
