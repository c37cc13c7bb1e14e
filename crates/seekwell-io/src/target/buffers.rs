//! One page-aligned region that holds a buffer for each slot.

use super::TargetError;
use crate::request::{Op, Tagged};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ptr::NonNull;

/// Buffers are this far apart at least, so that none shares a page with another.
const PAGE: usize = 4096;

/// The region. The kernel reads and writes it while requests are outstanding, so no reference into
/// it is ever made: only pointers.
#[derive(Debug)]
pub struct Buffers {
    base: NonNull<u8>,
    stride: usize,
    slots: u32,
    stamp: u64,
}

// SAFETY: the region belongs to this value alone; a slot is touched only by who holds its tag.
unsafe impl Send for Buffers {}
// SAFETY: as above; shared references hand out pointers and nothing else.
unsafe impl Sync for Buffers {}

impl Buffers {
    /// `slots` buffers of `bytes` each, filled with data that does not compress.
    ///
    /// # Errors
    /// [`TargetError::Setup`] when there is no memory for it.
    pub fn new(slots: u32, bytes: u32, seed: u64) -> Result<Self, TargetError> {
        let stride = (bytes.max(1) as usize).next_multiple_of(PAGE);
        let len = stride * slots as usize;
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a new anonymous mapping at an address the kernel chooses overlaps nothing.
        let base =
            unsafe { mmap_anonymous(std::ptr::null_mut(), len, prot, flags) }.map_err(|e| {
                TargetError::Setup { what: "mapping I/O buffers", errno: e.raw_os_error() }
            })?;
        let base = NonNull::new(base.cast::<u8>()).expect("mmap does not return null");
        // SAFETY: the mapping is `len` bytes, writable, and nothing else refers to it yet.
        let all = unsafe { std::slice::from_raw_parts_mut(base.as_ptr(), len) };
        Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(all);
        Ok(Self { base, stride, slots, stamp: seed })
    }

    /// Where a slot's buffer begins.
    #[inline]
    pub fn of(&self, slot: u32) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: below `slots`, so inside the mapping.
        unsafe { self.base.as_ptr().add(slot as usize * self.stride) }
    }

    /// The whole region, for registration with the kernel.
    pub fn region(&self) -> (*mut c_void, usize) {
        (self.base.as_ptr().cast(), self.stride * self.slots as usize)
    }

    /// Marks every page of a write, so that no two writes hold the same data and nothing that
    /// removes duplicates makes them look cheap.
    #[inline]
    pub fn prepare(&mut self, tagged: &Tagged) {
        if tagged.request.op != Op::Write {
            return;
        }
        let start = self.of(tagged.slot);
        for page in (0..tagged.request.len as usize).step_by(PAGE) {
            self.stamp = self.stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
            // SAFETY: `page` is a multiple of the page size below the slot's length, so the eight
            // bytes lie in the slot, which no outstanding request uses.
            unsafe { start.add(page).cast::<u64>().write_unaligned(self.stamp) };
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        let (base, len) = self.region();
        // SAFETY: this is the mapping made in `new`; targets drop their rings first. Failure would
        // only leak it.
        let _ = unsafe { munmap(base, len) };
    }
}
