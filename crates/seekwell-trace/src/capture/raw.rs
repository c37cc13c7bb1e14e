//! Events as the programs in `program.rs` write them.

use super::plan::Tracepoint;
use super::process::Birth;
use crate::pair::{Event, EventKind, rwbs};
use crate::record::Flags;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// An event in the memory that a program shares with this process.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct RawEvent {
    /// Its number on its CPU, from 1. Written last: until then it is that of an earlier event.
    pub number: u64,
    pub at: u64,
    /// The first sector; for a new task, its clone flags.
    pub sector: u64,
    /// The disk, in the kernel's encoding.
    pub dev: u32,
    /// The length; for a new task, its ID.
    pub bytes: u32,
    /// Operation and flags (`bi_opf`, `cmd_flags`).
    pub flags: u32,
    pub task: u32,
    /// A [`Tracepoint`].
    pub kind: u32,
    /// A `blk_status_t`, or an errno before Linux 5.16.
    pub error: u32,
    pub name: [u8; 16],
}

/// The size of an event in bytes.
pub(super) const SIZE: usize = size_of::<RawEvent>();

// enum req_op and enum req_flag_bits of include/linux/blk_types.h.
const READ: u32 = 0;
const WRITE: u32 = 1;
const FLUSH: u32 = 2;
const DISCARD: u32 = 3;
const SECURE_ERASE: u32 = 5;
const OP_MASK: u32 = 0xff;
/// SCSI commands until 5.15, and commands of a driver.
const PASSTHROUGH: std::ops::RangeInclusive<u32> = 32..=35;
const FLAGS: [(u32, Flags); 5] = [
    (1 << 11, Flags::SYNC),
    (1 << 12, Flags::META),
    (1 << 17, Flags::FUA),
    (1 << 18, Flags::PREFLUSH),
    (1 << 19, Flags::READ_AHEAD),
];

/// The errno of each `blk_status_t` (`blk_errors` in block/blk-core.c); those after it differ
/// between kernels.
const ERRNOS: [i32; 14] = [
    0,
    libc::EOPNOTSUPP,
    libc::ETIMEDOUT,
    libc::ENOSPC,
    libc::ENOLINK,
    libc::EREMOTEIO,
    libc::EBADE,
    libc::ENODATA,
    libc::EILSEQ,
    libc::ENOMEM,
    libc::EIO,
    libc::EREMCHG,
    libc::EAGAIN,
    libc::EBUSY,
];

impl RawEvent {
    /// Reads one from its bytes; `None` if there are fewer.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        Some(Self {
            number: long(0)?,
            at: long(8)?,
            sector: long(16)?,
            dev: word(24)?,
            bytes: word(28)?,
            flags: word(32)?,
            task: word(36)?,
            kind: word(40)?,
            error: word(44)?,
            name: bytes.get(48..64)?.try_into().ok()?,
        })
    }

    /// What happened.
    pub fn kind(&self) -> Option<Tracepoint> {
        Tracepoint::ALL.into_iter().find(|kind| *kind as u32 == self.kind)
    }

    /// What the request does. Passed-through commands are `OTHER`.
    fn operation(&self) -> (Op, Flags) {
        let flags = FLAGS.into_iter().filter(|(bit, _)| self.flags & bit != 0);
        let flags = flags.fold(Flags::default(), |all, (_, flag)| all | flag);
        let (op, more) = match self.flags & OP_MASK {
            READ => (Op::Read, Flags::default()),
            WRITE => (Op::Write, Flags::default()),
            FLUSH => (Op::Flush, Flags::default()),
            DISCARD => (Op::Discard, Flags::default()),
            SECURE_ERASE => (Op::Discard, Flags::SECURE),
            op if PASSTHROUGH.contains(&op) => (Op::Read, Flags::OTHER),
            // Zone commands and write zeroes.
            _ => (Op::Write, Flags::OTHER),
        };
        rwbs::settle(op, flags | more, self.bytes < 512)
    }

    /// First sector and length as in the kernel's own trace events: issued requests without a place
    /// are at 0, and passed-through commands have no length.
    fn place(&self) -> (u64, u32) {
        let issued = matches!(self.kind(), Some(Tracepoint::Issue | Tracepoint::Requeue));
        match self.flags & OP_MASK {
            op if issued && PASSTHROUGH.contains(&op) => (0, 0),
            _ if issued && self.sector == u64::MAX => (0, self.bytes),
            _ => (self.sector, self.bytes),
        }
    }

    /// The event, given the numbers of its CPU, device and process.
    pub fn event(&self, kind: EventKind, (cpu, device, process): (u16, u32, u32)) -> Event {
        let ((op, flags), (sector, len)) = (self.operation(), self.place());
        Event {
            at: Nanos(self.at),
            offset: Event::offset_of(sector),
            len,
            device,
            pid: self.task,
            process,
            cpu,
            error: self.errno(),
            flags,
            op,
            kind,
        }
    }

    /// The new task that it is about.
    pub const fn birth(&self) -> Birth {
        let (parent, child) = (self.task, self.bytes);
        Birth { at: self.at, parent, child, clone_flags: self.sector }
    }

    /// The errno; 0 when it went well.
    fn errno(&self) -> u16 {
        let errno = match self.error.cast_signed() {
            errno @ ..0 => errno.unsigned_abs(),
            status => ERRNOS.get(status as usize).unwrap_or(&libc::EIO).unsigned_abs(),
        };
        u16::try_from(errno).unwrap_or(u16::MAX)
    }

    /// The name of the task, up to its NUL.
    pub fn name(&self) -> &[u8] {
        self.name.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_those_that_the_kernels_letters_name() {
        let of = |flags, bytes| RawEvent { flags, bytes, ..RawEvent::default() }.operation();
        for (flags, bytes, letters) in [
            (0, 4096, &b"R"[..]),
            (1 << 11 | 1, 4096, b"WS"),
            (1 << 18 | 1 << 17 | 1 << 12 | 1, 4096, b"FWFM"),
            (1 << 18 | 1 << 11 | 1, 0, b"FWS"),
            (1 << 18 | 2, 0, b"FF"),
            (1 << 19, 4096, b"RA"),
            (3, 1 << 20, b"D"),
            (5, 1 << 20, b"DE"),
            (34, 4096, b"N"),
        ] {
            let letters = rwbs::parse(letters, bytes == 0);
            assert_eq!(Some(of(flags, bytes)), letters, "{flags:x}");
        }
        assert_eq!(of(13, 0).1, Flags::OTHER);
    }

    #[test]
    fn errors_are_errnos_whether_the_kernel_gives_those_or_a_status() {
        let of =
            |error: i32| RawEvent { error: error.cast_unsigned(), ..RawEvent::default() }.errno();
        let known = [of(0), of(10), of(7), of(-5), of(-61), of(99)].map(i32::from);
        assert_eq!(known, [0, libc::EIO, libc::ENODATA, libc::EIO, libc::ENODATA, libc::EIO]);
    }

    #[test]
    fn an_event_is_read_from_the_bytes_that_a_program_wrote() {
        let bytes: Vec<u8> = (0..SIZE as u8).collect();
        let raw = RawEvent::of(&bytes).unwrap();
        assert_eq!(raw.kind, u32::from_ne_bytes([40, 41, 42, 43]));
        assert_eq!(raw.name[0], 48);
        assert!(RawEvent::of(&bytes[1..]).is_none());
    }
}
