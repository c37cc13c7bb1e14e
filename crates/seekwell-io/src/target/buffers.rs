//! One page-aligned region that holds a buffer for each slot.

use super::TargetError;
use crate::request::{Op, Tagged};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ptr::NonNull;

/// Buffers are this far apart at least, so that none shares a page with another.
const PAGE: usize = 4096;

/// The region. The kernel reads and writes a slot while a request of it is outstanding, so
/// references into it are made only for slots that are not.
#[derive(Debug)]
pub struct Buffers {
    base: NonNull<u8>,
    stride: usize,
    slots: u32,
}

// SAFETY: the region belongs to this value alone; a slot is touched only by who holds its tag.
unsafe impl Send for Buffers {}
// SAFETY: as above; shared references hand out pointers and nothing else.
unsafe impl Sync for Buffers {}

impl Buffers {
    /// `slots` buffers of `bytes` each, every one handed to `fill` once.
    ///
    /// # Errors
    /// [`TargetError::Setup`] when there is no memory for it.
    pub fn new(
        slots: u32,
        bytes: u32,
        mut fill: impl FnMut(&mut [u8]),
    ) -> Result<Self, TargetError> {
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
        let mut buffers = Self { base, stride, slots };
        (0..slots).for_each(|slot| fill(buffers.get(slot)));
        Ok(buffers)
    }

    /// Where a slot's buffer begins.
    #[inline]
    pub fn of(&self, slot: u32) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: below `slots`, so inside the mapping.
        unsafe { self.base.as_ptr().add(slot as usize * self.stride) }
    }

    /// A slot's whole buffer. The slot must not be outstanding.
    #[inline]
    pub fn get(&mut self, slot: u32) -> &mut [u8] {
        // SAFETY: `of` checks the slot, whose `stride` bytes are mapped, initialised and, because
        // nothing of the slot is outstanding, not accessed elsewhere while this is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.of(slot), self.stride) }
    }

    /// What a request that is about to be submitted sends: nothing unless it writes.
    #[inline]
    pub fn sent(&mut self, tagged: &Tagged) -> &mut [u8] {
        let len = if tagged.request.op == Op::Write { tagged.request.len as usize } else { 0 };
        &mut self.get(tagged.slot)[..len]
    }

    /// The buffer of each slot, for registration: if one large buffer were registered, Linux would
    /// count everything after a request's part of it against the segment limit of a command.
    pub fn each(&self) -> Vec<libc::iovec> {
        let one = |slot| libc::iovec { iov_base: self.of(slot).cast(), iov_len: self.stride };
        (0..self.slots).map(one).collect()
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        let len = self.stride * self.slots as usize;
        // SAFETY: this is the mapping made in `new`; targets drop their rings first. Failure would
        // only leak it.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), len) };
    }
}
