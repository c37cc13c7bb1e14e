//! What requests carry: which file each goes to, what a write holds, and what is made of the data
//! that a read brought.

use crate::failure::FailureKind;
use crate::request::{Flags, Op, Request, Tagged};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_sys::mark;

/// Stands between the requests of a source and the files and buffers of a target. Its methods are
/// called on the thread that drives the target, and only while the slot is not outstanding.
pub trait Payload {
    /// Number of the file a request goes to, and the offset in that file.
    fn place(&self, request: &Request) -> (u32, u64);

    /// Whether a flush need not make the file's times durable (fdatasync).
    #[inline]
    fn data_only(&self, _flush: &Request) -> bool {
        false
    }

    /// What requests ask of the kernel; the same for all of them.
    #[inline]
    fn flags(&self) -> Flags {
        Flags::NONE
    }

    /// Fills the buffer of a slot once, when the target is made.
    fn begin(&mut self, buffer: &mut [u8]);

    /// A request is about to be submitted. A write sends `buffer`, which is as long as the request;
    /// for others it is empty.
    fn prepare(&mut self, tagged: &Tagged, buffer: &mut [u8]);

    /// A request of this slot is done. `buffer` is the slot's, whole. What is returned becomes the
    /// completion's result.
    ///
    /// # Errors
    /// How the request failed, or that what it brought is wrong.
    #[inline]
    fn done(
        &mut self,
        _slot: u32,
        _buffer: &mut [u8],
        result: Result<u32, FailureKind>,
    ) -> Result<u32, FailureKind> {
        result
    }

    /// Whether [`Payload::done`] looks at completions at all; a constant, so that targets leave the
    /// call out if it does not.
    const LOOKS: bool = false;
}

/// Stamps are this far apart.
const PAGE: usize = 4096;

/// One file, and data that does not compress: every sector bears the mark of seekwell, and every
/// page of a write is stamped, so that no two writes hold the same and nothing that removes
/// duplicates makes them look cheap.
#[derive(Debug)]
pub struct Stamped {
    stamp: u64,
    random: Xoshiro256PlusPlus,
    flags: Flags,
    /// How much of each slot's buffer a read has filled with data that bears no mark.
    unmarked_bytes: Vec<u32>,
}

impl Stamped {
    /// Data drawn from `seed`.
    pub fn new(seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { stamp: seed, random, flags: Flags::NONE, unmarked_bytes: Vec::new() }
    }

    /// The same, asking this of the kernel.
    pub fn with_flags(self, flags: Flags) -> Self {
        Self { flags, ..self }
    }

    /// Stamps every page of a buffer, in the mark of its first sector.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8]) {
        for page in buffer.chunks_mut(PAGE) {
            self.stamp = self.stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mark::stamp(page, self.stamp);
        }
    }

    /// Sees to it that a write is marked although a read went to its buffer before.
    #[inline]
    pub fn keep_marked(&mut self, tagged: &Tagged, buffer: &mut [u8]) {
        let Some(unmarked) = self.unmarked_bytes.get_mut(tagged.slot as usize) else { return };
        match tagged.request.op {
            Op::Read => *unmarked = tagged.request.len.max(*unmarked),
            Op::Write if *unmarked > 0 => {
                mark::put(buffer);
                if buffer.len() >= *unmarked as usize {
                    *unmarked = 0;
                }
            }
            _ => {}
        }
    }
}

impl Payload for Stamped {
    #[inline]
    fn place(&self, request: &Request) -> (u32, u64) {
        (0, request.offset)
    }

    fn flags(&self) -> Flags {
        self.flags
    }

    fn begin(&mut self, buffer: &mut [u8]) {
        self.random.fill_bytes(buffer);
        mark::put(buffer);
        self.unmarked_bytes.push(0);
    }

    #[inline]
    fn prepare(&mut self, tagged: &Tagged, buffer: &mut [u8]) {
        self.keep_marked(tagged, buffer);
        if tagged.request.op == Op::Write {
            self.stamp(buffer);
        }
    }
}
