//! The four programs that count, one for each tracepoint.
//!
//! ```text
//! queue         table[bio] = when, where, how much, who
//! issue         table[bio].issued = when, for each bio of the request
//! complete      for each bio of the request that is done: its times, bytes and process; forget it
//! bio_complete  the same for one bio of a bio-based driver
//! ```
//!
//! A bio is counted when it completes, as it was queued: merged bios are visited one by one in
//! their request, and of a split bio only the last part is the bio that was queued.
//! Nothing branches on a latency: the verifier follows each branch, in each bio of a request.

use super::layout::{
    Entry, ISSUE_TO_COMPLETE, Places, QUEUE_TO_ISSUE, Share, TABLE_BITS, Times, Used, times,
};
use super::steps::{forget, record, took};
use crate::bpf::asm::Width::{B, Dw, W};
use crate::bpf::asm::{
    Alu, Asm, FP, Helper, If, Label, R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, Reg,
};
use crate::bpf::field;
use seekwell_io::request::Op;
use std::mem::offset_of;

/// The most bios of a request that are visited; others are removed as missed completions.
const MOST_BIOS: i32 = 256;

// enum req_op and enum req_flag_bits of include/linux/blk_types.h.
const OP_MASK: i32 = 0xff;
const REQ_OP_DISCARD: i32 = 3;
const REQ_OP_SECURE_ERASE: i32 = 5;
const REQ_FUA: i32 = 1 << 17;
const REQ_PREFLUSH: i32 = 1 << 18;
/// `BLK_STS_AGAIN`: a request that must not wait would have had to, and is issued again.
const STATUS_AGAIN: i32 = 12;

// Places on the stack.
const LEFT: i16 = -8;
const ERROR: i16 = -16;
/// A [`super::layout::User`].
const USER: i16 = -24;
const DONE: i16 = -32;
const ENTRY: i16 = -40;
const WAITED: i16 = -48;
const INDEX: i16 = -56;
const ISSUED: i16 = -64;
/// A [`Used`] that is put into its map.
const VALUE: i16 = ISSUED - size_of::<Used>() as i16;

/// Places of the table that are tried, one after the other.
const TRIES: usize = 4;
const ENTRY_BITS: i32 = size_of::<Entry>().ilog2() as i32;
/// The offsets of entries.
const TABLE_MASK: i32 = ((1 << TABLE_BITS) - 1) << ENTRY_BITS;
const _: () = assert!(1 << ENTRY_BITS == size_of::<Entry>());
/// 2³² divided by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).
const SPREAD: i32 = 0x9e37_79b1_u32.cast_signed();

/// Descriptors of the maps.
#[derive(Debug, Clone, Copy)]
pub struct Maps {
    pub table: i32,
    /// From a device number to its place in `shares`; 0 is for disks that are not counted.
    pub slots: i32,
    pub shares: i32,
    pub users: i32,
    /// Requests that there was no room for.
    pub missed: i32,
}

/// Writes programs for a kernel.
#[derive(Debug)]
pub struct Programs<'a> {
    pub places: &'a Places,
    pub maps: Maps,
    /// Shares of a disk as a power of two.
    pub share_bits: i32,
}

impl Programs<'_> {
    /// `block_bio_queue`.
    pub fn queue(&self) -> Vec<u8> {
        let mut asm = Asm::default();
        let p = self.places;
        let out = asm.label();
        asm.load(Dw, R6, R1, p.queue.place(0));
        asm.call(Helper::Time);
        asm.mov(R8, R0);
        self.key(&mut asm, R6);
        self.claim(&mut asm, out);
        asm.store(Dw, R7, field!(Entry, issued), 0);
        asm.load(Dw, R1, R6, p.bio_sector);
        asm.store(Dw, R7, field!(Entry, sector), R1);
        asm.load(W, R9, R6, p.bio_bytes);
        asm.store(W, R7, field!(Entry, bytes), R9);
        asm.mov(R1, R6);
        p.disks.number(&mut asm, &p.disks.bio);
        asm.store(W, R7, field!(Entry, dev), R1);
        self.operation(&mut asm);
        asm.store(W, R7, field!(Entry, op), R3);
        asm.call(Helper::Task);
        asm.alu(Alu::Rsh, R0, 32);
        asm.store(W, R7, field!(Entry, pid), R0);
        asm.mov(R1, R7);
        asm.alu(Alu::Add, R1, offset_of!(Entry, name) as i32);
        asm.mov(R2, 16);
        asm.call(Helper::TaskName);
        asm.store(Dw, R7, field!(Entry, queued), R8);
        asm.here(out);
        asm.exit();
        asm.finish()
    }

    /// `R3`: the operation of the bio in `R6`, of `R9` bytes.
    fn operation(&self, asm: &mut Asm) {
        let (data, discard, done) = (asm.label(), asm.label(), asm.label());
        asm.load(W, R2, R6, self.places.bio_flags);
        asm.mov(R3, Op::Flush as i32);
        asm.jump_if(R9, If::Ne, 0, data);
        asm.jump_if(R2, If::Any, REQ_PREFLUSH, done);
        asm.here(data);
        asm.alu(Alu::And, R2, OP_MASK);
        asm.jump_if(R2, If::Eq, REQ_OP_DISCARD, discard);
        asm.jump_if(R2, If::Eq, REQ_OP_SECURE_ERASE, discard);
        // Odd operations write (`op_is_write`).
        asm.mov(R3, R2);
        asm.alu(Alu::And, R3, 1);
        asm.jump(done);
        asm.here(discard);
        asm.mov(R3, Op::Discard as i32);
        asm.here(done);
    }

    /// `block_rq_issue`.
    pub fn issue(&self) -> Vec<u8> {
        let mut asm = Asm::default();
        let p = self.places;
        let (unknown, stamp, next) = (asm.label(), asm.label(), asm.label());
        let (walk, out) = (asm.label(), asm.label());
        asm.load(Dw, R6, R1, p.issue.place(0));
        asm.call(Helper::Time);
        asm.mov(R7, R0);
        asm.mov(R1, R6);
        p.disks.number(&mut asm, &p.disks.rq);
        asm.mov(R8, R1);
        self.first_key(&mut asm);
        asm.mov(R6, MOST_BIOS);
        self.find(&mut asm, unknown);
        asm.here(stamp);
        asm.store(Dw, R0, field!(Entry, issued), R7);
        asm.store(W, R0, field!(Entry, dev), R8);
        // Older verifiers only accept a loop that a jump closes.
        asm.jump(next);
        asm.here(next);
        asm.alu(Alu::Sub, R6, 1);
        asm.jump_if(R6, If::Eq, 0, out);
        asm.jump_if(R9, If::Eq, 0, out);
        asm.load(Dw, R9, R9, p.bio_next);
        asm.jump_if(R9, If::Eq, 0, out);
        self.key(&mut asm, R9);
        self.find(&mut asm, next);
        asm.jump(stamp);
        // It was not seen when it was queued.
        asm.here(unknown);
        asm.store(Dw, FP, ISSUED, R7);
        self.claim(&mut asm, walk);
        asm.load(Dw, R1, FP, ISSUED);
        asm.store(Dw, R7, field!(Entry, issued), R1);
        asm.store(W, R7, field!(Entry, dev), R8);
        asm.here(walk);
        asm.load(Dw, R7, FP, ISSUED);
        asm.jump(next);
        asm.here(out);
        asm.exit();
        asm.finish()
    }

    /// `block_rq_complete`: request, error, bytes that are done.
    pub fn complete(&self) -> Vec<u8> {
        let mut asm = Asm::default();
        let p = self.places;
        let (out, bios, carries) = (asm.label(), asm.label(), asm.label());
        asm.load(Dw, R6, R1, p.complete.place(0));
        asm.load(Dw, R2, R1, p.complete.place(1));
        asm.alu(Alu::And, R2, 0xff);
        asm.store(Dw, FP, ERROR, R2);
        asm.load(Dw, R2, R1, p.complete.place(2));
        asm.alu(Alu::Lsh, R2, 32);
        asm.alu(Alu::Rsh, R2, 32);
        asm.store(Dw, FP, LEFT, R2);
        asm.store(Dw, FP, DONE, R2);
        asm.call(Helper::Time);
        asm.mov(R8, R0);
        self.first_key(&mut asm);
        self.entry_and_share(&mut asm, out);
        self.at_device(&mut asm, bios);
        asm.here(bios);
        asm.load(Dw, R0, FP, ENTRY);
        asm.jump_if(R9, If::Ne, 0, carries);
        forget(&mut asm);
        asm.jump(out);
        asm.here(carries);
        self.unless_flushed_apart(&mut asm, out);
        failed(&mut asm);
        self.walk(&mut asm, out);
        asm.here(out);
        asm.exit();
        asm.finish()
    }

    /// Counts the time at the device. The last, empty completion of a request with a flush in it
    /// comes after that of its data.
    fn at_device(&self, asm: &mut Asm, skip: Label) {
        let whole = asm.label();
        asm.load(Dw, R1, FP, DONE);
        asm.jump_if(R1, If::Ne, 0, whole);
        asm.jump_if(R9, If::Ne, 0, skip);
        asm.here(whole);
        asm.load(Dw, R0, FP, ENTRY);
        asm.load(Dw, R2, R0, field!(Entry, issued));
        asm.jump_if(R2, If::Eq, 0, skip);
        asm.mov(R5, R7);
        asm.alu(Alu::Add, R5, times(ISSUE_TO_COMPLETE));
        took(asm, R2, R8);
        record(asm, R5);
    }

    /// A flush that the driver cannot do itself is a request of its own; then the only bio
    /// completes with the empty completion after it.
    fn unless_flushed_apart(&self, asm: &mut Asm, apart: Label) {
        let ends = asm.label();
        asm.load(W, R1, R9, self.places.bio_flags);
        asm.load(W, R2, R6, self.places.rq_flags);
        asm.alu(Alu::Xor, R2, R1);
        asm.alu(Alu::And, R2, R1);
        asm.alu(Alu::And, R2, REQ_FUA | REQ_PREFLUSH);
        asm.jump_if(R2, If::Eq, 0, ends);
        asm.load(Dw, R1, FP, DONE);
        asm.jump_if(R1, If::Ne, 0, apart);
        asm.here(ends);
    }

    /// Ends the bios that are done, from the front: `R9` and those after it.
    fn walk(&self, asm: &mut Asm, out: Label) {
        let p = self.places;
        let (each, next, found) = (asm.label(), asm.label(), asm.label());
        asm.load(Dw, R0, FP, ENTRY);
        // To older verifiers, a loop whose counter is on the stack seems endless.
        asm.mov(R6, MOST_BIOS);
        asm.jump(found);
        asm.here(each);
        asm.load(Dw, R9, R9, p.bio_next);
        asm.jump_if(R9, If::Eq, 0, out);
        self.key(asm, R9);
        self.find(asm, next);
        asm.here(found);
        asm.store(Dw, FP, ENTRY, R0);
        asm.load(Dw, R1, FP, LEFT);
        asm.load(W, R2, R9, p.bio_bytes);
        asm.jump_if(R1, If::Lt, R2, out);
        asm.alu(Alu::Sub, R1, R2);
        asm.store(Dw, FP, LEFT, R1);
        self.end(asm);
        asm.here(next);
        asm.alu(Alu::Sub, R6, 1);
        asm.jump_if(R6, If::Ne, 0, each);
    }

    /// `block_bio_complete`.
    pub fn bio_complete(&self) -> Vec<u8> {
        let mut asm = Asm::default();
        let p = self.places;
        let (out, ended) = (asm.label(), asm.label());
        asm.load(Dw, R9, R1, p.bio_complete.place(0));
        asm.call(Helper::Time);
        asm.mov(R8, R0);
        self.key(&mut asm, R9);
        self.entry_and_share(&mut asm, out);
        asm.load(B, R1, R9, p.bio_status);
        asm.store(Dw, FP, ERROR, R1);
        asm.load(Dw, R0, FP, ENTRY);
        asm.jump_if(R1, If::Ne, STATUS_AGAIN, ended);
        forget(&mut asm);
        asm.jump(out);
        asm.here(ended);
        failed(&mut asm);
        self.end(&mut asm);
        asm.here(out);
        asm.exit();
        asm.finish()
    }

    /// `R9`: the first bio of the request in `R6`; `R3`: its key, or that of a request without any.
    fn first_key(&self, asm: &mut Asm) {
        let (bare, done) = (asm.label(), asm.label());
        asm.load(Dw, R9, R6, self.places.rq_bio);
        asm.jump_if(R9, If::Eq, 0, bare);
        self.key(asm, R9);
        asm.jump(done);
        asm.here(bare);
        self.key(asm, R6);
        asm.here(done);
    }

    /// `R3`: the key of an address. The difference of two addresses is a number to the verifier,
    /// with which it lets a program calculate.
    fn key(&self, asm: &mut Asm, address: Reg) {
        asm.mov(R3, address);
        asm.value(R0, self.maps.table);
        asm.alu(Alu::Sub, R3, R0);
    }

    /// `R1`: where in the table the key in `R3` belongs, from its lower half.
    fn spread(asm: &mut Asm) {
        asm.mov(R1, R3);
        asm.alu(Alu::Mul, R1, SPREAD);
        asm.alu(Alu::Rsh, R1, 32 - TABLE_BITS - ENTRY_BITS);
    }

    /// `R0`: the entry of the key in `R3`.
    fn find(&self, asm: &mut Asm, none: Label) {
        let found = asm.label();
        Self::spread(asm);
        for _ in 0..TRIES {
            asm.alu(Alu::And, R1, TABLE_MASK);
            asm.value(R0, self.maps.table);
            asm.alu(Alu::Add, R0, R1);
            asm.load(Dw, R2, R0, field!(Entry, key));
            asm.jump_if(R2, If::Eq, R3, found);
            asm.alu(Alu::Add, R1, 1 << ENTRY_BITS);
        }
        asm.jump(none);
        asm.here(found);
    }

    /// `R7`: a new entry for the key in `R3`. If there is no room, counts the request as missed;
    /// if the key has an entry already, counts the completion of that earlier request as missed.
    fn claim(&self, asm: &mut Asm, none: Label) {
        let (claimed, again, counted) = (asm.label(), asm.label(), asm.label());
        Self::spread(asm);
        for _ in 0..TRIES {
            asm.alu(Alu::And, R1, TABLE_MASK);
            asm.value(R7, self.maps.table);
            asm.alu(Alu::Add, R7, R1);
            asm.mov(R0, 0);
            asm.exchange(R7, field!(Entry, key), R3);
            asm.jump_if(R0, If::Eq, 0, claimed);
            asm.jump_if(R0, If::Eq, R3, again);
            asm.alu(Alu::Add, R1, 1 << ENTRY_BITS);
        }
        asm.value(R1, self.maps.missed);
        asm.mov(R2, 1);
        asm.add_to(Dw, R1, 0, R2);
        asm.jump(none);
        asm.here(again);
        asm.load(Dw, R1, R7, field!(Entry, queued));
        asm.jump_if(R1, If::Eq, 0, claimed);
        asm.mov(R0, R7);
        self.share(asm, counted);
        asm.mov(R1, 1);
        asm.add_to(Dw, R7, field!(Share, missed), R1);
        asm.here(counted);
        asm.load(Dw, R7, FP, ENTRY);
        asm.here(claimed);
    }

    /// The entry of the key in `R3`; `R7`: this processor's share of its disk.
    fn entry_and_share(&self, asm: &mut Asm, none: Label) {
        self.find(asm, none);
        self.share(asm, none);
    }

    /// `R7`: this processor's share of the disk of the entry in `R0`, which `ENTRY` keeps.
    fn share(&self, asm: &mut Asm, none: Label) {
        let unwanted = asm.label();
        asm.store(Dw, FP, ENTRY, R0);
        asm.load(W, R1, R0, field!(Entry, dev));
        asm.store(W, FP, USER, R1);
        asm.store(W, FP, USER + 4, 0);
        asm.look_up(self.maps.slots, USER);
        asm.mov(R7, 0);
        asm.jump_if(R0, If::Eq, 0, unwanted);
        asm.load(W, R7, R0, 0);
        asm.here(unwanted);
        asm.alu(Alu::Lsh, R7, self.share_bits);
        asm.call(Helper::Cpu);
        asm.alu(Alu::And, R0, (1 << self.share_bits) - 1);
        asm.alu(Alu::Or, R7, R0);
        asm.store(W, FP, INDEX, R7);
        asm.look_up(self.maps.shares, INDEX);
        asm.jump_if(R0, If::Eq, 0, none);
        asm.mov(R7, R0);
    }

    /// Counts the bio whose entry is in `R0`, and forgets it.
    fn end(&self, asm: &mut Asm) {
        let (counts, whole, gone) = (asm.label(), asm.label(), asm.label());
        asm.load(Dw, R1, R0, field!(Entry, queued));
        asm.jump_if(R1, If::Eq, 0, gone);
        asm.load(W, R4, R0, field!(Entry, op));
        // A flush is for the whole disk, even if it was queued on a partition.
        asm.jump_if(R4, If::Eq, Op::Flush as i32, counts);
        asm.load(Dw, R2, R0, field!(Entry, sector));
        asm.load(Dw, R3, R7, field!(Share, first));
        asm.alu(Alu::Sub, R2, R3);
        asm.load(Dw, R3, R7, field!(Share, sectors));
        asm.jump_if(R3, If::Le, R2, gone);
        asm.here(counts);
        asm.load(Dw, R3, R0, field!(Entry, issued));
        asm.mov(R5, R7);
        asm.alu(Alu::Add, R5, times(QUEUE_TO_ISSUE));
        asm.jump_if(R3, If::Eq, 0, whole);
        took(asm, R1, R3);
        record(asm, R5);
        asm.here(whole);
        asm.load(W, R4, R0, field!(Entry, op));
        asm.alu(Alu::And, R4, 3);
        asm.alu(Alu::Mul, R4, size_of::<Times>() as i32);
        asm.mov(R5, R7);
        asm.alu(Alu::Add, R5, R4);
        asm.alu(Alu::Add, R5, times(0));
        asm.load(W, R2, R0, field!(Entry, bytes));
        asm.add_to(Dw, R5, field!(Times, bytes), R2);
        asm.load(Dw, R1, R0, field!(Entry, queued));
        took(asm, R1, R8);
        asm.store(Dw, FP, WAITED, R1);
        record(asm, R5);
        self.user(asm);
        asm.load(Dw, R0, FP, ENTRY);
        asm.here(gone);
        forget(asm);
    }

    /// Adds to the usage of the process that queued the bio.
    fn user(&self, asm: &mut Asm) {
        let (known, done) = (asm.label(), asm.label());
        asm.load(Dw, R0, FP, ENTRY);
        asm.load(W, R1, R0, field!(Entry, pid));
        asm.store(W, FP, USER + 4, R1);
        asm.look_up(self.maps.users, USER);
        asm.jump_if(R0, If::Ne, 0, known);
        asm.load(Dw, R0, FP, ENTRY);
        asm.store(Dw, FP, VALUE + field!(Used, requests), 1);
        asm.load(W, R1, R0, field!(Entry, bytes));
        asm.store(Dw, FP, VALUE + field!(Used, bytes), R1);
        asm.load(Dw, R1, FP, WAITED);
        asm.store(Dw, FP, VALUE + field!(Used, waited_ns), R1);
        for half in [0, 8] {
            asm.load(Dw, R1, R0, field!(Entry, name) + half);
            asm.store(Dw, FP, VALUE + field!(Used, name) + half, R1);
        }
        put(asm, self.maps.users, USER);
        asm.jump(done);
        asm.here(known);
        asm.mov(R1, 1);
        asm.add_to(Dw, R0, field!(Used, requests), R1);
        asm.load(Dw, R2, FP, ENTRY);
        asm.load(W, R1, R2, field!(Entry, bytes));
        asm.add_to(Dw, R0, field!(Used, bytes), R1);
        asm.load(Dw, R1, FP, WAITED);
        asm.add_to(Dw, R0, field!(Used, waited_ns), R1);
        asm.here(done);
    }
}

/// Counts an error once, whatever the request carries.
fn failed(asm: &mut Asm) {
    let well = asm.label();
    asm.load(Dw, R1, FP, ERROR);
    asm.jump_if(R1, If::Eq, 0, well);
    asm.mov(R1, 1);
    asm.add_to(Dw, R7, field!(Share, failed), R1);
    asm.here(well);
}

/// Puts the value on the stack into a map.
fn put(asm: &mut Asm, map: i32, key: i16) {
    asm.map(R1, map);
    asm.address(R2, key);
    asm.address(R3, VALUE);
    asm.mov(R4, 0);
    asm.call(Helper::MapUpdate);
}
