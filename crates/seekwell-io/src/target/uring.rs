//! Files and block devices through a ring.

use super::payload::{Payload, Stamped};
use super::ring::{Asked, Kind, Ring};
use super::{TargetError, nowait};
use crate::failure::FailureKind;
use crate::measurement::Issuer;
use crate::request::{Flags, Op};
use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{cqueue, opcode, squeue};
use std::os::fd::BorrowedFd;

/// A ring on open files, by default one. Must stay on the thread that made it.
pub type Uring<P = Stamped> = Ring<Calls, P>;

/// Entries that do what system calls do.
pub struct Calls {
    /// How a request on each file is begun.
    begin: Vec<squeue::Flags>,
    flags: Flags,
}

impl Uring {
    /// A ring for `depth` requests of up to `max_bytes` on `file`, with data drawn from `seed`.
    ///
    /// # Errors
    /// [`TargetError::RingRefused`] where the kernel does not give this process a ring at all, so
    /// that the caller can fall back on [`super::Threads`]; other variants for real failures.
    pub fn new(
        file: BorrowedFd<'_>,
        depth: u32,
        max_bytes: u32,
        seed: u64,
    ) -> Result<Self, TargetError> {
        Self::with(&[file], depth, max_bytes, Stamped::new(seed))
    }

    /// Whether a ring hands each request on `file` to a thread of the kernel, because its device
    /// cannot be asked without waiting.
    pub fn hands_over(file: BorrowedFd<'_>) -> bool {
        nowait::is_refused(file)
    }
}

impl<P: Payload> Uring<P> {
    /// A ring for `depth` requests of up to `max_bytes` on `files`, in the payload's numbers.
    ///
    /// # Errors
    /// As for [`Uring::new`].
    pub fn with(
        files: &[BorrowedFd<'_>],
        depth: u32,
        max_bytes: u32,
        payload: P,
    ) -> Result<Self, TargetError> {
        let flags = payload.flags();
        let begin = files.iter().map(|file| match !flags.polled && nowait::is_refused(*file) {
            true => squeue::Flags::ASYNC,
            false => squeue::Flags::empty(),
        });
        let calls = Calls { begin: begin.collect(), flags };
        Ring::of(calls, files, (depth, max_bytes), payload)
    }
}

impl Kind for Calls {
    type Entry = squeue::Entry;
    type Done = cqueue::Entry;

    #[inline]
    fn entry(&mut self, asked: &Asked<'_>) -> Option<squeue::Entry> {
        let Asked { tagged, file: number, at, data_only, buffer, registered } = *asked;
        let (request, len) = (&tagged.request, tagged.request.len);
        let (file, flags) = (Fixed(number), self.flags.of(request));
        let entry = match (request.op, registered) {
            (Op::Read, Some(own)) => {
                opcode::ReadFixed::new(file, buffer, len, own).offset(at).rw_flags(flags).build()
            }
            (Op::Read, None) => {
                opcode::Read::new(file, buffer, len).offset(at).rw_flags(flags).build()
            }
            (Op::Write, Some(own)) => {
                opcode::WriteFixed::new(file, buffer, len, own).offset(at).rw_flags(flags).build()
            }
            (Op::Write, None) => {
                opcode::Write::new(file, buffer, len).offset(at).rw_flags(flags).build()
            }
            (Op::Flush, _) if data_only => {
                opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build()
            }
            (Op::Flush, _) => opcode::Fsync::new(file).build(),
            (Op::Discard, _) => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                opcode::Fallocate::new(file, u64::from(len)).offset(at).mode(mode).build()
            }
        };
        Some(entry.flags(self.begin[number as usize]).user_data(u64::from(tagged.slot)))
    }

    #[inline]
    fn done(&self, entry: &cqueue::Entry) -> (u32, Result<u32, FailureKind>) {
        let result = entry.result();
        let result = u32::try_from(result).map_err(|_| FailureKind::Errno { errno: -result });
        (entry.user_data() as u32, result)
    }

    /// The kernel takes atomic writes only from buffers that are not registered.
    fn may_register(&self, _newest: bool) -> bool {
        !self.flags.atomic
    }

    fn issuer(&self) -> Issuer {
        let handed_over = self.begin.iter().any(|flags| flags.contains(squeue::Flags::ASYNC));
        if handed_over { Issuer::RingWorkers } else { Issuer::Ring }
    }
}
