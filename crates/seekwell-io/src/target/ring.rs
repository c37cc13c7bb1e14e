//! An io_uring ring: registered files and buffers, one `io_uring_enter` to submit and to reap,
//! request slot = buffer slot = user data. What its entries do is a [`Kind`].

use super::buffers::Buffers;
use super::payload::{Payload, Stamped};
use super::{Target, TargetError, Until};
use crate::clock::Clock;
use crate::failure::FailureKind;
use crate::measurement::Issuer;
use crate::request::{Completion, Tagged};
use crate::units::Nanos;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, squeue};
use std::os::fd::{AsRawFd, BorrowedFd};

/// A request to be submitted.
pub struct Asked<'r> {
    /// The request and its tag.
    pub tagged: &'r Tagged,
    /// The number of its file.
    pub file: u32,
    /// The offset in that file, in bytes.
    pub at: u64,
    /// Whether a flush may leave the file's metadata alone (`fdatasync`).
    pub data_only: bool,
    /// Its buffer, which belongs to the kernel until the request completes.
    pub buffer: *mut u8,
    /// The buffer's index, if it is registered.
    pub registered: Option<u16>,
}

/// What the entries of a ring do.
pub trait Kind {
    /// The type of submissions.
    type Entry: squeue::EntryMarker;
    /// The type of completions.
    type Done: cqueue::EntryMarker;

    /// The entry for a request; `None` if it cannot be expressed, because it is not made of whole
    /// blocks.
    fn entry(&mut self, asked: &Asked<'_>) -> Option<Self::Entry>;

    /// The slot of a completed request and its result.
    fn done(&self, entry: &Self::Done) -> (u32, Result<u32, FailureKind>);

    /// Whether requests can use registered buffers; `newest` says whether the ring has the setup
    /// of Linux 6.1.
    fn may_register(&self, newest: bool) -> bool;

    /// Who issues the requests.
    fn issuer(&self) -> Issuer;
}

/// A ring on open files. Must stay on the thread that made it.
pub struct Ring<K: Kind, P = Stamped> {
    // Dropped in this order: the ring releases the buffers before they are unmapped.
    ring: IoUring<K::Entry, K::Done>,
    buffers: Buffers,
    kind: K,
    payload: P,
    registered: bool,
    /// Slots of requests without an entry.
    refused: Vec<u32>,
    clock: Clock,
    syscalls: u64,
}

impl<K: Kind, P: Payload> Ring<K, P> {
    /// A ring for `depth` requests of up to `max_bytes` on `files`, in the payload's numbers.
    ///
    /// # Errors
    /// [`TargetError::RingRefused`] where the kernel does not give this process a ring at all;
    /// [`TargetError::Setup`].
    pub(super) fn of(
        kind: K,
        files: &[BorrowedFd<'_>],
        (depth, max_bytes): (u32, u32),
        mut payload: P,
    ) -> Result<Self, TargetError> {
        let buffers = Buffers::new(depth, max_bytes, |buffer| payload.begin(buffer))?;
        let (ring, newest) = build::<K>(depth, payload.flags().polled)?;
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
        // SAFETY: buffers outlive the ring (field order) and are not unmapped or moved before.
        let registered = unsafe { ring.submitter().register_buffers(&buffers.each()) };
        // Refused where the buffers exceed RLIMIT_MEMLOCK: the ring works without registering them.
        let registered = registered.is_ok() && kind.may_register(newest);
        let clock = Clock::real();
        let (refused, syscalls) = (Vec::new(), 0);
        Ok(Self { ring, buffers, kind, payload, registered, refused, clock, syscalls })
    }

    /// What requests carry.
    pub fn payload(&mut self) -> &mut P {
        &mut self.payload
    }

    #[inline]
    fn collect(&mut self, at: Nanos, out: &mut Vec<Completion>) {
        let (payload, buffers, kind) = (&mut self.payload, &mut self.buffers, &self.kind);
        out.extend(self.ring.completion().map(|entry| {
            let (slot, mut result) = kind.done(&entry);
            if P::LOOKS {
                result = payload.done(slot, buffers.get(slot), result);
            }
            Completion { slot, result, at }
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
/// then cooperative (5.19), then plain. Also returns whether it was the first.
#[allow(clippy::type_complexity, reason = "a ring has two types of entries")]
fn build<K: Kind>(
    depth: u32,
    polled: bool,
) -> Result<(IoUring<K::Entry, K::Done>, bool), TargetError> {
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
        .map(|ring| (ring, true));
    let older = |ring| (ring, false);
    let newest = newest.or_else(|_| plain().setup_coop_taskrun().build(entries).map(older));
    newest.or_else(|_| plain().build(entries).map(older)).map_err(|e| {
        let errno = e.raw_os_error().unwrap_or(0);
        match errno {
            libc::ENOSYS | libc::EPERM | libc::EACCES | libc::ENOMEM => {
                TargetError::RingRefused { errno }
            }
            _ => TargetError::Setup { what: "io_uring_setup", errno },
        }
    })
}

impl<K: Kind, P: Payload> Target for Ring<K, P> {
    #[inline]
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        for tagged in batch {
            self.payload.prepare(tagged, self.buffers.sent(tagged));
            let (file, at) = self.payload.place(&tagged.request);
            let data_only = self.payload.data_only(&tagged.request);
            let buffer = self.buffers.of(tagged.slot);
            let registered = self.registered.then_some(tagged.slot as u16);
            let asked = Asked { tagged, file, at, data_only, buffer, registered };
            let Some(entry) = self.kind.entry(&asked) else {
                self.refused.push(tagged.slot);
                continue;
            };
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
        if !self.refused.is_empty() {
            let (at, result) = (self.clock.now(), Err(FailureKind::Errno { errno: libc::EINVAL }));
            out.extend(self.refused.drain(..).map(|slot| Completion { slot, result, at }));
        }
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
            let want = until.completions.saturating_sub(have);
            self.enter(want as usize, until.deadline.since(now))?;
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
        Some(self.kind.issuer())
    }
}
