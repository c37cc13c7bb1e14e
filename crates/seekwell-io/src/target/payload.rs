//! What requests carry: which file each goes to, what a write holds, and what is made of the data
//! that a read brought.

use crate::request::{Op, Request, Tagged};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

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

    /// Fills the buffer of a slot once, when the target is made.
    fn begin(&mut self, buffer: &mut [u8]);

    /// A request is about to be submitted. A write sends `buffer`, which is as long as the request;
    /// for others it is empty.
    fn prepare(&mut self, tagged: &Tagged, buffer: &mut [u8]);

    /// A request of this slot is done. `buffer` is the slot's, whole. What is returned becomes the
    /// completion's result.
    ///
    /// # Errors
    /// The errno the request failed with, or one that says that what it brought is wrong.
    #[inline]
    fn done(
        &mut self,
        _slot: u32,
        _buffer: &mut [u8],
        result: Result<u32, i32>,
    ) -> Result<u32, i32> {
        result
    }

    /// Whether [`Payload::done`] looks at completions at all; a constant, so that targets leave the
    /// call out where it does not.
    const LOOKS: bool = false;
}

/// Pages are marked at this distance.
const PAGE: usize = 4096;

/// One file, and data that does not compress: every page of a write is marked, so that no two
/// writes hold the same and nothing that removes duplicates makes them look cheap.
#[derive(Debug)]
pub struct Stamped {
    stamp: u64,
    random: Xoshiro256PlusPlus,
}

impl Stamped {
    /// Data drawn from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { stamp: seed, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Marks every page of a buffer.
    #[inline]
    pub fn mark(&mut self, buffer: &mut [u8]) {
        for page in buffer.chunks_mut(PAGE) {
            self.stamp = self.stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let bytes = self.stamp.to_ne_bytes();
            let n = page.len().min(bytes.len());
            page[..n].copy_from_slice(&bytes[..n]);
        }
    }
}

impl Payload for Stamped {
    #[inline]
    fn place(&self, request: &Request) -> (u32, u64) {
        (0, request.offset)
    }

    fn begin(&mut self, buffer: &mut [u8]) {
        self.random.fill_bytes(buffer);
    }

    #[inline]
    fn prepare(&mut self, tagged: &Tagged, buffer: &mut [u8]) {
        if tagged.request.op == Op::Write {
            self.mark(buffer);
        }
    }
}
