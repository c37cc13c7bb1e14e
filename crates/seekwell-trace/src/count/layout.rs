//! What the programs and this process share: entries of maps, byte for byte, and where the kernel
//! keeps the fields that the programs read.

use super::btf::{Btf, BtfError};
use seekwell_io::histogram::BINS;
use seekwell_io::request::Op;
use std::mem::offset_of;

/// The size of the table of requests in flight, as a power of two.
pub const TABLE_BITS: i32 = 15;

/// Requests in flight, each within a few places of where its key hashes to. The kernel's own hash
/// maps take locks, which cost more than everything else.
#[derive(Debug)]
#[repr(C)]
pub struct Table {
    pub entries: [Entry; 1 << TABLE_BITS],
}

/// A request in flight. `queued` is filled in last and cleared first.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Entry {
    /// From the address of its bio, or its own if it has none; 0 if the place is free.
    pub key: u64,
    /// When it was queued; 0 if that was not seen: flushes, later parts of a split bio.
    pub queued: u64,
    /// When the driver got it; 0 before that, and for bios.
    pub issued: u64,
    pub sector: u64,
    /// In the kernel's encoding of device numbers.
    pub dev: u32,
    pub bytes: u32,
    /// An [`Op`].
    pub op: u32,
    pub pid: u32,
    pub name: [u8; 16],
}

/// A distribution.
#[derive(Debug)]
#[repr(C)]
pub struct Times {
    pub sum_ns: u64,
    /// Bytes moved; only for the distribution of an operation.
    pub bytes: u64,
    /// As in [`seekwell_io::histogram`]; wraps, as all of these do.
    pub bins: [u32; BINS],
}

/// What completed on a disk, as seen by some of the processors.
#[derive(Debug)]
#[repr(C)]
pub struct Share {
    /// The first sector that counts, and how many do.
    pub first: u64,
    pub sectors: u64,
    pub failed: u64,
    /// Queue to completion of each operation; then queue to issue, and issue to completion.
    pub times: [Times; TIMES],
}

/// Distributions of a disk.
pub const TIMES: usize = Op::ALL.len() + 2;
pub const QUEUE_TO_ISSUE: usize = Op::ALL.len();
pub const ISSUE_TO_COMPLETE: usize = Op::ALL.len() + 1;

/// What a process did to a disk.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Used {
    pub requests: u64,
    pub bytes: u64,
    pub waited_ns: u64,
    pub name: [u8; 16],
}

/// Key of [`Used`].
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct User {
    pub dev: u32,
    pub pid: u32,
}

/// The offset of a field, as instructions hold it.
macro_rules! field {
    ($of:ty, $($path:tt)+) => {
        std::mem::offset_of!($of, $($path)+) as i16
    };
}
pub(super) use field;

/// The offset of a distribution in a [`Share`].
pub const fn times(number: usize) -> i32 {
    (offset_of!(Share, times) + number * size_of::<Times>()) as i32
}

/// A tracepoint: the type that a program is attached by, and the argument that it is about.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    pub id: u32,
    pub argument: i16,
}

/// Where the kernel keeps what is read.
#[derive(Debug, Clone)]
pub struct Places {
    pub rq_bio: i16,
    pub rq_flags: i16,
    /// From a request to its disk, pointer by pointer.
    pub rq_disk: Vec<i16>,
    pub bio_next: i16,
    pub bio_bytes: i16,
    pub bio_sector: i16,
    pub bio_flags: i16,
    pub bio_status: i16,
    /// From a bio to its disk.
    pub bio_disk: Vec<i16>,
    pub major: i16,
    pub minor: i16,
    pub queue: Point,
    pub issue: Point,
    pub complete: Point,
    pub bio_complete: Point,
}

impl Places {
    pub fn of(btf: &Btf<'_>) -> Result<Self, BtfError> {
        let rq = |path| btf.offset("request", path);
        let bio = |path| btf.offset("bio", path);
        let point = |name, argument| {
            let (id, argument) = btf.tracepoint(name, argument)?;
            Ok(Point { id, argument })
        };
        // `rq_disk` until 5.16, `bi_disk` until 5.11.
        let rq_disk = rq("rq_disk").map(|disk| vec![disk]);
        let bio_disk = bio("bi_disk").map(|disk| vec![disk]);
        Ok(Self {
            rq_bio: rq("bio")?,
            rq_flags: rq("cmd_flags")?,
            rq_disk: match rq_disk {
                Ok(disk) => disk,
                Err(_) => vec![rq("q")?, btf.offset("request_queue", "disk")?],
            },
            bio_next: bio("bi_next")?,
            bio_bytes: bio("bi_iter.bi_size")?,
            bio_sector: bio("bi_iter.bi_sector")?,
            bio_flags: bio("bi_opf")?,
            bio_status: bio("bi_status")?,
            bio_disk: match bio_disk {
                Ok(disk) => disk,
                Err(_) => vec![bio("bi_bdev")?, btf.offset("block_device", "bd_disk")?],
            },
            major: btf.offset("gendisk", "major")?,
            minor: btf.offset("gendisk", "first_minor")?,
            queue: point("block_bio_queue", "bio")?,
            issue: point("block_rq_issue", "request")?,
            complete: point("block_rq_complete", "request")?,
            bio_complete: point("block_bio_complete", "bio")?,
        })
    }
}
