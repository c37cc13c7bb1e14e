//! Files and block devices through io_uring: registered files and buffers, one `io_uring_enter` to
//! submit and to reap, request slot = buffer slot = user data.

use super::buffers::Buffers;
use super::payload::{Payload, Stamped};
use super::{Target, TargetError, Until, nowait};
use crate::clock::Clock;
use crate::measurement::Issuer;
use crate::request::{Completion, Flags, Op, Tagged};
use crate::units::Nanos;
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use std::os::fd::{AsRawFd, BorrowedFd};

/// A ring on open files, by default one. Must stay on the thread that made it.
pub struct Uring<P = Stamped> {
    // Dropped in this order: the kernel lets go of the buffers before they are unmapped.
    ring: IoUring,
    buffers: Buffers,
    payload: P,
    registered_buffers: bool,
    /// How a request on each file is begun.
    begin: Vec<squeue::Flags>,
    flags: Flags,
    clock: Clock,
    syscalls: u64,
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
        mut payload: P,
    ) -> Result<Self, TargetError> {
        let buffers = Buffers::new(depth, max_bytes, |buffer| payload.begin(buffer))?;
        let flags = payload.flags();
        let begin = files.iter().map(|file| match !flags.polled && nowait::is_refused(*file) {
            true => squeue::Flags::ASYNC,
            false => squeue::Flags::empty(),
        });
        let begin = begin.collect();
        let ring = build(depth, flags.polled)?;
        let files: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        let setup = |what| {
            move |e: std::io::Error| TargetError::Setup {
                what,
                errno: e.raw_os_error().unwrap_or(0),
            }
        };
        ring.submitter()
            .register_files(&files)
            .map_err(setup("registering files with io_uring"))?;
        let (base, len) = buffers.region();
        let iovec = libc::iovec { iov_base: base, iov_len: len };
        // SAFETY: the region outlives the ring (field order) and is not unmapped or moved before.
        let registered = unsafe { ring.submitter().register_buffers(&[iovec]) };
        // Refused where the buffers exceed RLIMIT_MEMLOCK: the ring works without registering them.
        // The kernel takes atomic writes only from buffers that are not registered.
        let registered_buffers = registered.is_ok() && !flags.atomic;
        let clock = Clock::real();
        Ok(Self { ring, buffers, payload, registered_buffers, begin, flags, clock, syscalls: 0 })
    }

    /// What requests carry.
    pub fn payload(&mut self) -> &mut P {
        &mut self.payload
    }

    fn entry(&self, tagged: &Tagged) -> squeue::Entry {
        let request = &tagged.request;
        let (buffer, len) = (self.buffers.of(tagged.slot), request.len);
        let (number, at) = self.payload.place(request);
        let (file, flags) = (Fixed(number), self.flags.of(request));
        let entry = match (request.op, self.registered_buffers) {
            (Op::Read, true) => {
                opcode::ReadFixed::new(file, buffer, len, 0).offset(at).rw_flags(flags).build()
            }
            (Op::Read, false) => {
                opcode::Read::new(file, buffer, len).offset(at).rw_flags(flags).build()
            }
            (Op::Write, true) => {
                opcode::WriteFixed::new(file, buffer, len, 0).offset(at).rw_flags(flags).build()
            }
            (Op::Write, false) => {
                opcode::Write::new(file, buffer, len).offset(at).rw_flags(flags).build()
            }
            (Op::Flush, _) if self.payload.data_only(request) => {
                opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build()
            }
            (Op::Flush, _) => opcode::Fsync::new(file).build(),
            (Op::Discard, _) => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                opcode::Fallocate::new(file, u64::from(len)).offset(at).mode(mode).build()
            }
        };
        entry.flags(self.begin[number as usize]).user_data(u64::from(tagged.slot))
    }

    #[inline]
    fn collect(&mut self, now: Nanos, out: &mut Vec<Completion>) {
        let (payload, buffers) = (&mut self.payload, &mut self.buffers);
        out.extend(self.ring.completion().map(|entry| {
            let mut completion = complete(&entry, now);
            if P::LOOKS {
                let buffer = buffers.get(completion.slot);
                completion.result = payload.done(completion.slot, buffer, completion.result);
            }
            completion
        }));
    }

    fn enter(&mut self, want: usize, wait: Nanos) -> Result<(), TargetError> {
        self.syscalls += 1;
        let timeout = Timespec::from(std::time::Duration::from(wait));
        let args = SubmitArgs::new().timespec(&timeout);
        match self.ring.submitter().submit_with_args(want, &args) {
            Ok(_) => Ok(()),
            Err(e) => match e.raw_os_error() {
                // Time is over, a signal came, or the kernel wants completions reaped first.
                Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
                errno => Err(TargetError::Io { what: "io_uring_enter", errno: errno.unwrap_or(0) }),
            },
        }
    }
}

/// Builds a ring with the cheapest completion delivery the kernel has: deferred task work (6.1),
/// then cooperative (5.19), then plain.
fn build(depth: u32, polled: bool) -> Result<IoUring, TargetError> {
    let entries = depth.next_power_of_two().max(2);
    let plain = || {
        let mut builder = IoUring::builder();
        if polled {
            builder.setup_iopoll();
        }
        builder
    };
    let newest = plain()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_coop_taskrun()
        .build(entries)
        .or_else(|_| plain().setup_coop_taskrun().build(entries));
    newest.or_else(|_| plain().build(entries)).map_err(|e| {
        let errno = e.raw_os_error().unwrap_or(0);
        match errno {
            libc::ENOSYS | libc::EPERM | libc::EACCES | libc::ENOMEM => {
                TargetError::RingRefused { errno }
            }
            _ => TargetError::Setup { what: "io_uring_setup", errno },
        }
    })
}

impl<P: Payload> Target for Uring<P> {
    #[inline]
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        for tagged in batch {
            self.payload.prepare(tagged, self.buffers.sent(tagged));
            let entry = self.entry(tagged);
            // SAFETY: buffer and file outlive the ring, and the slot is not used again before its
            // completion was reaped.
            let pushed = unsafe { self.ring.submission().push(&entry) };
            assert!(pushed.is_ok(), "the ring holds as many requests as there are slots");
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        let first = out.len();
        if until.completions == 0 {
            self.syscalls += 1;
            match self.ring.submit() {
                Ok(_) => {}
                Err(e) if matches!(e.raw_os_error(), Some(libc::EBUSY | libc::EAGAIN)) => {}
                Err(e) => {
                    let errno = e.raw_os_error().unwrap_or(0);
                    return Err(TargetError::Io { what: "io_uring_enter", errno });
                }
            }
            let now = self.clock.now();
            self.collect(now, out);
            return Ok(());
        }
        let mut now = self.clock.now();
        loop {
            let have = (out.len() - first) as u32;
            self.enter((until.completions - have) as usize, until.deadline.since(now))?;
            now = self.clock.now();
            self.collect(now, out);
            if (out.len() - first) as u32 >= until.completions || now >= until.deadline {
                return Ok(());
            }
        }
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn syscalls(&self) -> u64 {
        self.syscalls
    }

    fn issuer(&self) -> Option<Issuer> {
        let handed_over = self.begin.iter().any(|flags| flags.contains(squeue::Flags::ASYNC));
        Some(if handed_over { Issuer::RingWorkers } else { Issuer::Ring })
    }
}

#[inline]
fn complete(entry: &cqueue::Entry, at: Nanos) -> Completion {
    let result = entry.result();
    let result = u32::try_from(result).map_err(|_| -result);
    Completion { slot: entry.user_data() as u32, result, at }
}
