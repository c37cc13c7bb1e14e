//! The one choice of how requests reach real files and devices.

use super::{Engine, Null, Payload, Stamped, Target, TargetError, Threads, Until, Uring};
use crate::request::{Completion, Tagged};
use crate::units::Nanos;
use std::os::fd::BorrowedFd;

/// Files and devices, or nowhere. Must stay on the thread that made it.
pub enum Real<P = Stamped> {
    /// Nowhere.
    Null(Null),
    /// Through a ring.
    Uring(Box<Uring<P>>),
    /// Through system calls.
    Threads(Threads<P>),
}

impl<P: Payload> Real<P> {
    /// For `depth` requests of up to `max_bytes` on `files`, in the payload's numbers; without any,
    /// requests go nowhere. [`Engine::Auto`] takes plain system calls where a ring is refused, and at
    /// depth 1 where `commits` flush or the device cannot be asked without waiting.
    ///
    /// # Errors
    /// [`TargetError`] when it cannot be set up.
    pub fn open(
        engine: Engine,
        files: &[BorrowedFd<'_>],
        (depth, max_bytes): (u32, u32),
        commits: bool,
        payload: impl Fn() -> P,
    ) -> Result<Self, TargetError> {
        let Some(first) = files.first() else { return Ok(Self::Null(Null::new())) };
        let plain = match engine {
            Engine::Auto => depth == 1 && (commits || Uring::hands_over(*first)),
            Engine::IoUring => false,
            Engine::Threads => true,
        };
        if !plain {
            match Uring::with(files, depth, max_bytes, payload()) {
                Err(TargetError::RingRefused { .. }) if engine == Engine::Auto => {}
                ring => return Ok(Self::Uring(Box::new(ring?))),
            }
        }
        Ok(Self::Threads(Threads::with(files, depth, max_bytes, payload())?))
    }

    /// What requests carry, where they carry anything.
    pub fn payload(&mut self) -> Option<&mut P> {
        match self {
            Self::Null(_) => None,
            Self::Uring(ring) => Some(ring.payload()),
            Self::Threads(threads) => Some(threads.payload()),
        }
    }
}

impl<P: Payload> Target for Real<P> {
    #[inline]
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        match self {
            Self::Null(null) => null.submit(batch),
            Self::Uring(ring) => ring.submit(batch),
            Self::Threads(threads) => threads.submit(batch),
        }
    }

    #[inline]
    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        match self {
            Self::Null(null) => null.reap(until, out),
            Self::Uring(ring) => ring.reap(until, out),
            Self::Threads(threads) => threads.reap(until, out),
        }
    }

    #[inline]
    fn now(&self) -> Nanos {
        match self {
            Self::Null(null) => null.now(),
            Self::Uring(ring) => ring.now(),
            Self::Threads(threads) => threads.now(),
        }
    }

    fn syscalls(&self) -> u64 {
        match self {
            Self::Null(null) => null.syscalls(),
            Self::Uring(ring) => ring.syscalls(),
            Self::Threads(threads) => threads.syscalls(),
        }
    }
}
