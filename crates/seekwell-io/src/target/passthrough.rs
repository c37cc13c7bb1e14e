//! NVMe passthrough: commands that bypass the block layer, through a ring on the character device
//! of a namespace (`/dev/ng0n1`, Linux 5.19).
//!
//! The kernel checks neither their range nor the access mode of the descriptor, so both are
//! asserted here for every command.

use super::TargetError;
use super::nowait::disk_of;
use super::payload::{Payload, Stamped};
use super::ring::{Asked, Kind, Ring};
use crate::failure::FailureKind;
use crate::measurement::Issuer;
use crate::request::{Flags, Op};
use io_uring::types::Fixed;
use io_uring::{cqueue, opcode, squeue};
use rustix::fs::{OFlags, fcntl_getfl};
use seekwell_sys::nvme::{Namespace, Passthru};
use std::os::fd::BorrowedFd;

/// A ring on the character devices of namespaces. Must stay on the thread that made it.
pub type Passthrough<P = Stamped> = Ring<Commands, P>;

/// Entries that are NVMe commands.
pub struct Commands {
    on: Vec<Commanded>,
    /// By slot: bytes that its request transfers.
    moves: Box<[u32]>,
    /// By slot: the range that it deallocates; the drive reads it.
    ranges: Box<[Range]>,
}

/// A namespace, and whether its descriptor was opened for writing.
#[derive(Debug, Clone, Copy)]
struct Commanded {
    namespace: Namespace,
    writable: bool,
}

/// The number of blocks is a zero-based field of 16 bits (NVM Command Set 1.0, 3.2.4).
const MAX_BLOCKS: u64 = 1 << 16;
const PAGE: u64 = 4096;
/// `_IOWR('N', 0x80, struct nvme_uring_cmd)` of `linux/nvme_ioctl.h`.
const URING_CMD_IO: u32 = 0xc048_4e80;

/// A range of Dataset Management: its length in bits 63:32, then its first block.
type Range = [u64; 2];

impl<P: Payload> Passthrough<P> {
    /// A ring for `depth` requests of up to `max_bytes` on `files`, in the payload's numbers.
    ///
    /// # Errors
    /// [`TargetError::NoPassthrough`] before Linux 5.19, [`TargetError::NotByCommand`],
    /// [`TargetError::CommandTooLong`], [`TargetError::NotPolled`]; as for
    /// [`Uring::new`](super::Uring::new).
    pub fn with(
        files: &[BorrowedFd<'_>],
        depth: u32,
        max_bytes: u32,
        payload: P,
    ) -> Result<Self, TargetError> {
        let flags = payload.flags();
        let on = files.iter().map(|file| Commanded::of(*file, flags, max_bytes));
        let commands = Commands {
            on: on.collect::<Result<_, _>>()?,
            moves: vec![0; depth as usize].into(),
            ranges: vec![[0; 2]; depth as usize].into(),
        };
        Ring::of(commands, files, (depth, max_bytes), payload).map_err(|error| match error {
            TargetError::Setup { what: "io_uring_setup", errno: libc::EINVAL } => {
                TargetError::NoPassthrough
            }
            error => error,
        })
    }
}

impl Passthrough {
    /// Checks that commands of up to `max_bytes` can be sent to a file.
    ///
    /// # Errors
    /// As for [`Passthrough::with`].
    pub fn check(file: BorrowedFd<'_>, flags: Flags, max_bytes: u32) -> Result<(), TargetError> {
        Commanded::of(file, flags, max_bytes).map(drop)
    }
}

impl Commanded {
    fn of(file: BorrowedFd<'_>, flags: Flags, max_bytes: u32) -> Result<Self, TargetError> {
        if flags.atomic || flags.uncached {
            return Err(TargetError::NotByCommand);
        }
        flags.check(file, max_bytes)?;
        let setup = |errno| TargetError::Setup { what: "identifying the NVMe namespace", errno };
        let namespace =
            Namespace::of(file).map_err(|e| setup(e.raw_os_error().unwrap_or(libc::EIO)))?;
        let access = fcntl_getfl(file).map_err(|e| setup(e.raw_os_error()))?;
        let most = longest(file).min(MAX_BLOCKS * u64::from(namespace.block_bytes));
        if u64::from(max_bytes) > most {
            return Err(TargetError::CommandTooLong { bytes: max_bytes, most });
        }
        Ok(Self { namespace, writable: access & OFlags::RWMODE == OFlags::RDWR })
    }

    /// The first block of a range and its number of blocks; `None` unless it consists of whole
    /// blocks.
    #[inline]
    fn blocks(&self, at: u64, len: u32) -> Option<(u64, u32)> {
        let Namespace { block_bytes, size_bytes, .. } = self.namespace;
        let end = at.checked_add(len.into());
        assert!(len > 0 && end.is_some_and(|end| end <= size_bytes), "{len} bytes at {at}");
        let block = u64::from(block_bytes);
        let whole = at.is_multiple_of(block) && len.is_multiple_of(block_bytes);
        whole.then_some((at / block, len / block_bytes))
    }

    /// The command for a request; to deallocate, the drive reads `range`.
    #[inline]
    fn command(&self, asked: &Asked<'_>, range: &mut Range) -> Option<Passthru> {
        let request = &asked.tagged.request;
        assert!(
            self.writable || !request.op.destroys(),
            "nothing is written through a read-only descriptor"
        );
        let mut command = Passthru { nsid: self.namespace.id, ..Passthru::default() };
        command.opcode = match request.op {
            Op::Flush => 0x00,
            Op::Write => 0x01,
            Op::Read => 0x02,
            Op::Discard => 0x09,
        };
        match request.op {
            Op::Flush => {}
            Op::Read | Op::Write => {
                let (first, blocks) = self.blocks(asked.at, request.len)?;
                (command.addr, command.data_len) = (asked.buffer as u64, request.len);
                (command.cdw10, command.cdw11) = (first as u32, (first >> 32) as u32);
                // The count is zero-based; durable writes set FUA.
                let durable = request.op == Op::Write && request.durable;
                command.cdw12 = (blocks - 1) | u32::from(durable) << 30;
            }
            Op::Discard => {
                let (first, blocks) = self.blocks(asked.at, request.len)?;
                *range = [(u64::from(blocks) << 32).to_le(), first.to_le()];
                (command.addr, command.data_len) = (range.as_ptr() as u64, 16);
                // One range (zero-based), attribute deallocate.
                (command.cdw10, command.cdw11) = (0, 1 << 2);
            }
        }
        Some(command)
    }
}

/// The longest request that fits into one command, in bytes, if no pages of its buffer are
/// contiguous.
fn longest(file: BorrowedFd<'_>) -> u64 {
    let limit = |name: &str| {
        let path = disk_of(file)?.join("queue").join(name);
        std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()
    };
    let transfer = limit("max_hw_sectors_kb").map_or(u64::MAX, |kib| kib << 10);
    transfer.min(limit("max_segments").map_or(u64::MAX, |pages| pages * PAGE))
}

/// The command as an entry holds it.
#[inline]
fn bytes(command: Passthru) -> [u8; 80] {
    let mut room = [0; 80];
    const { assert!(size_of::<Passthru>() <= 80, "an entry has room for a command") };
    // SAFETY: the command consists of integers without padding, so each of its bytes is
    // initialised, and it fits.
    unsafe { room.as_mut_ptr().cast::<Passthru>().write_unaligned(command) };
    room
}

impl Kind for Commands {
    type Entry = squeue::Entry128;
    type Done = cqueue::Entry32;

    #[inline]
    fn entry(&mut self, asked: &Asked<'_>) -> Option<squeue::Entry128> {
        let (slot, request) = (asked.tagged.slot as usize, &asked.tagged.request);
        self.moves[slot] = request.len;
        let on = self.on[asked.file as usize];
        let command = on.command(asked, &mut self.ranges[slot])?;
        let data = matches!(request.op, Op::Read | Op::Write);
        let entry = opcode::UringCmd80::new(Fixed(asked.file), URING_CMD_IO)
            .cmd(bytes(command))
            .buf_index(asked.registered.filter(|_| data))
            .build();
        Some(entry.user_data(slot as u64))
    }

    /// The result of a completed command is its status, 0 for success.
    #[inline]
    fn done(&self, entry: &cqueue::Entry32) -> (u32, Result<u32, FailureKind>) {
        let slot = entry.user_data() as u32;
        let result = match entry.result() {
            0 => Ok(self.moves[slot as usize]),
            errno @ ..0 => Err(FailureKind::Errno { errno: -errno }),
            status => Err(FailureKind::Nvme { status: (status & 0x7ff) as u16 }),
        };
        (slot, result)
    }

    /// Passthrough commands can use registered buffers since Linux 6.1.
    fn may_register(&self, newest: bool) -> bool {
        newest
    }

    fn issuer(&self) -> Issuer {
        Issuer::Ring
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Request, Tagged};
    use crate::target::Engine;
    use crate::target::Real;
    use std::os::fd::AsFd;

    const MIB: u64 = 1 << 20;

    fn on(block_bytes: u32, writable: bool) -> Commanded {
        let namespace = Namespace { id: 7, block_bytes, metadata_bytes: 0, size_bytes: 64 * MIB };
        Commanded { namespace, writable }
    }

    fn encoded(
        on: Commanded,
        op: Op,
        at: u64,
        len: u32,
        durable: bool,
    ) -> Option<(Passthru, Range)> {
        let request = Request { op, offset: at, len, wanted: None, id: 0, durable, queue: 0 };
        let tagged = Tagged { slot: 0, request };
        let buffer = std::ptr::without_provenance_mut(0x1122_3344_5566_7000);
        let asked =
            Asked { tagged: &tagged, file: 0, at, data_only: false, buffer, registered: Some(0) };
        let mut range = [0; 2];
        Some((on.command(&asked, &mut range)?, range))
    }

    #[test]
    fn a_read_is_these_bytes() {
        let (command, _) = encoded(on(512, false), Op::Read, 0x20_0000, 4096, false).unwrap();
        let mut wanted = [0_u8; 80];
        wanted[0] = 0x02;
        wanted[4] = 7;
        wanted[24..32].copy_from_slice(&[0x00, 0x70, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
        wanted[36..40].copy_from_slice(&[0x00, 0x10, 0, 0]);
        wanted[40..44].copy_from_slice(&[0x00, 0x10, 0, 0]);
        wanted[48] = 7;
        assert_eq!(bytes(command), wanted);
    }

    #[test]
    fn writes_flushes_and_deallocations_are_encoded() {
        let (write, _) = encoded(on(4096, true), Op::Write, 8 * MIB, 8192, true).unwrap();
        assert_eq!((write.opcode, write.cdw10, write.cdw11), (0x01, 2048, 0));
        assert_eq!(write.cdw12, 1 | 1 << 30, "durable: FUA");
        let flush = encoded(on(512, false), Op::Flush, 0, 0, false).unwrap().0;
        assert_eq!(flush, Passthru { nsid: 7, ..Passthru::default() });
        let discard = encoded(on(512, true), Op::Discard, MIB, MIB as u32, false);
        let (discard, range) = discard.unwrap();
        assert_eq!((discard.opcode, discard.data_len), (0x09, 16));
        assert_eq!((discard.cdw10, discard.cdw11, discard.cdw12), (0, 4, 0));
        assert_eq!(range, [2048_u64 << 32, 2048].map(u64::to_le));
    }

    #[test]
    fn the_last_block_is_in_reach_and_nothing_behind_it() {
        let reach = |at, len| {
            std::panic::catch_unwind(|| encoded(on(512, true), Op::Read, at, len, false)).is_ok()
        };
        assert!(reach(64 * MIB - 512, 512));
        assert!(!reach(64 * MIB - 512, 1024));
        assert!(!reach(64 * MIB, 512));
        assert!(!reach(u64::MAX - 511, 512));
        assert!(!reach(0, 0));
    }

    #[test]
    fn what_is_not_of_whole_blocks_is_no_command() {
        for (at, len) in [(256, 512), (0, 256), (512, 520)] {
            assert_eq!(encoded(on(512, true), Op::Read, at, len, false), None);
        }
    }

    #[test]
    fn nothing_is_written_through_what_was_opened_to_be_read() {
        for op in Op::ALL {
            let sent = std::panic::catch_unwind(|| encoded(on(512, false), op, 0, 512, false));
            assert_eq!(sent.is_ok(), !op.destroys(), "{op:?}");
        }
    }

    #[test]
    fn what_is_no_namespace_takes_no_commands() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let files = [null.as_fd()];
        let real = Real::open(Engine::IoUringCmd, &files, (1, 4096), || Stamped::new(1));
        let what = "identifying the NVMe namespace";
        let wanted = TargetError::Setup { what, errno: libc::ENOTTY };
        assert_eq!(real.err(), Some(wanted));
    }

    #[test]
    fn an_answer_is_bytes_an_errno_or_a_status() {
        // What the ring hands out cannot be made here, so the same words of an entry are cast.
        let commands = Commands { on: Vec::new(), moves: Box::new([4096]), ranges: Box::new([]) };
        let done = |result: i32| {
            let words = [0_u64, u64::from(result.cast_unsigned()), 0, 0];
            // SAFETY: an entry is 32 bytes of integers: user data, result and flags, two more.
            let entry = unsafe { std::mem::transmute::<[u64; 4], cqueue::Entry32>(words) };
            commands.done(&entry).1
        };
        assert_eq!(done(0), Ok(4096));
        assert_eq!(done(-libc::EAGAIN), Err(FailureKind::Errno { errno: libc::EAGAIN }));
        // Do not retry, media error, unrecovered read.
        assert_eq!(done(0x4281), Err(FailureKind::Nvme { status: 0x281 }));
    }
}
