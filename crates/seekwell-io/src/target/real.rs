//! The one choice of how requests reach real files and devices.

use super::{
    Engine, Null, Passthrough, Payload, Stamped, Target, TargetError, Threads, Until, Uring,
};
use crate::measurement::Issuer;
use crate::request::{Completion, Op, Request, Tagged};
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
    /// Past the block layer.
    Passthrough(Box<Passthrough<P>>),
}

impl<P: Payload> Real<P> {
    /// For `depth` requests of up to `max_bytes` on `files`, in the payload's numbers; without any,
    /// requests go nowhere. [`Engine::Auto`] takes system calls where a ring is refused; at depth 1,
    /// where a ring adds a wake-up to each request; and where a ring would hand each request to a
    /// thread of the kernel and one thread that makes them itself gets more done, which is tried.
    ///
    /// # Errors
    /// [`TargetError`] when it cannot be set up.
    pub fn open(
        engine: Engine,
        files: &[BorrowedFd<'_>],
        (depth, max_bytes): (u32, u32),
        payload: impl Fn() -> P,
    ) -> Result<Self, TargetError> {
        let Some(first) = files.first() else { return Ok(Self::Null(Null::new())) };
        if engine == Engine::IoUringCmd {
            let ring = Passthrough::with(files, depth, max_bytes, payload())?;
            return Ok(Self::Passthrough(Box::new(ring)));
        }
        let flags = payload().flags();
        files.iter().try_for_each(|file| flags.check(*file, max_bytes))?;
        let engine = match engine {
            Engine::Auto if flags.polled => Engine::IoUring,
            Engine::Threads if flags.polled => return Err(TargetError::NoRingToPoll),
            engine => engine,
        };
        let prompt = || Uring::hands_over(*first) && Threads::is_prompt(*first);
        if engine == Engine::Auto && (depth == 1 || prompt() && calls_win(*first, depth)) {
            return Ok(Self::Threads(Threads::calls(files, depth, max_bytes, payload())?));
        }
        if engine != Engine::Threads {
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
            Self::Passthrough(ring) => Some(ring.payload()),
        }
    }
}

/// What is read to try a way of making requests.
const BLOCK: u32 = 4096;
/// How long each is tried.
const TRIAL: Nanos = Nanos::from_millis(5);

/// Whether one thread that makes each request itself gets more of them done than a ring that is
/// served by threads of the kernel. Devices that are memory are busy with a request only within
/// the call that makes it: then it depends on the processors that are free.
fn calls_win(file: BorrowedFd<'_>, depth: u32) -> bool {
    let ring = Uring::new(file, depth, BLOCK, 0).map(|mut ring| reads_done(&mut ring, depth));
    let payload = Stamped::new(0);
    let calls =
        Threads::calls(&[file], depth, BLOCK, payload).map(|mut c| reads_done(&mut c, depth));
    matches!((calls, ring), (Ok(Ok(calls)), Ok(Ok(ring))) if calls > ring)
}

/// How many reads are done in [`TRIAL`], each slot reading a block of its own.
fn reads_done(target: &mut impl Target, depth: u32) -> Result<usize, TargetError> {
    let read = |slot| {
        let offset = u64::from(slot) * u64::from(BLOCK);
        let (wanted, id, durable) = (None, 0, false);
        Tagged {
            slot,
            request: Request { op: Op::Read, offset, len: BLOCK, wanted, id, durable, queue: 0 },
        }
    };
    let (mut free, mut done, mut out) = ((0..depth).collect::<Vec<_>>(), 0, Vec::new());
    let end = target.now() + TRIAL;
    while target.now() < end || free.len() < depth as usize {
        if target.now() < end {
            let batch: Vec<Tagged> = free.drain(..).map(read).collect();
            target.submit(&batch)?;
        }
        let until = Until { completions: 1, deadline: target.now() + TRIAL };
        target.reap(until, &mut out)?;
        done += out.iter().filter(|done| done.result.is_ok() && done.at < end).count();
        free.extend(out.drain(..).map(|completion| completion.slot));
    }
    Ok(done)
}

impl<P: Payload> Target for Real<P> {
    #[inline]
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        match self {
            Self::Null(null) => null.submit(batch),
            Self::Uring(ring) => ring.submit(batch),
            Self::Threads(threads) => threads.submit(batch),
            Self::Passthrough(ring) => ring.submit(batch),
        }
    }

    #[inline]
    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        match self {
            Self::Null(null) => null.reap(until, out),
            Self::Uring(ring) => ring.reap(until, out),
            Self::Threads(threads) => threads.reap(until, out),
            Self::Passthrough(ring) => ring.reap(until, out),
        }
    }

    #[inline]
    fn now(&self) -> Nanos {
        match self {
            Self::Null(null) => null.now(),
            Self::Uring(ring) => ring.now(),
            Self::Threads(threads) => threads.now(),
            Self::Passthrough(ring) => ring.now(),
        }
    }

    fn syscalls(&self) -> u64 {
        match self {
            Self::Null(null) => null.syscalls(),
            Self::Uring(ring) => ring.syscalls(),
            Self::Threads(threads) => threads.syscalls(),
            Self::Passthrough(ring) => ring.syscalls(),
        }
    }

    fn issuer(&self) -> Option<Issuer> {
        match self {
            Self::Null(null) => null.issuer(),
            Self::Uring(ring) => ring.issuer(),
            Self::Threads(threads) => threads.issuer(),
            Self::Passthrough(ring) => ring.issuer(),
        }
    }
}
