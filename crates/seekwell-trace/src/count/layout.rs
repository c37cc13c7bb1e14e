//! What the programs and this process share: entries of maps, byte for byte, and where the kernel
//! keeps the fields that the programs read.

use crate::bpf::{Btf, BtfError, DiskPlaces, Point};
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

/// A request in flight. `queued` is filled in last and cleared first: if it is there when the same
/// bio is queued again, its completion was not seen.
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
    /// Requests whose completion was not seen, because their bio was queued again first.
    pub missed: u64,
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

/// The offset of a distribution in a [`Share`].
pub const fn times(number: usize) -> i32 {
    (offset_of!(Share, times) + number * size_of::<Times>()) as i32
}

/// Where the kernel keeps what is read.
#[derive(Debug, Clone)]
pub struct Places {
    pub rq_bio: i16,
    pub rq_flags: i16,
    pub bio_next: i16,
    pub bio_bytes: i16,
    pub bio_sector: i16,
    pub bio_flags: i16,
    pub bio_status: i16,
    pub disks: DiskPlaces,
    pub queue: Point,
    pub issue: Point,
    pub complete: Point,
    pub bio_complete: Point,
}

impl Places {
    pub fn of(btf: &Btf<'_>) -> Result<Self, BtfError> {
        let rq = |path| btf.offset("request", path);
        let bio = |path| btf.offset("bio", path);
        Ok(Self {
            rq_bio: rq("bio")?,
            rq_flags: rq("cmd_flags")?,
            bio_next: bio("bi_next")?,
            bio_bytes: bio("bi_iter.bi_size")?,
            bio_sector: bio("bi_iter.bi_sector")?,
            bio_flags: bio("bi_opf")?,
            bio_status: bio("bi_status")?,
            disks: DiskPlaces::of(btf)?,
            queue: Point::of(btf, "block_bio_queue", "bio")?,
            issue: Point::of(btf, "block_rq_issue", "request")?,
            complete: Point::of(btf, "block_rq_complete", "request")?,
            bio_complete: Point::of(btf, "block_bio_complete", "bio")?,
        })
    }
}
