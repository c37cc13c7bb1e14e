//! The recording programs: one for each tracepoint, which writes events to memory shared with this
//! process.
//!
//! Each CPU has a ring of [`RawEvent`]s. A program takes the next slot, fills it and numbers it
//! last, so that a half-written one is not read; one that interrupts another on the same CPU takes
//! the slot after. If the ring is full, the event is counted as lost and nothing is overwritten.
//!
//! From Linux 6.2 on, the kernel skips a program that would interrupt itself, as completions do on
//! hosts with several kinds of disks. Its stand-in then writes the event: a second copy of the
//! program, which runs after it and only acts while the first copy is interrupted.

use super::plan::Tracepoint;
use super::raw::RawEvent;
use crate::bpf::asm::Width::{B, Dw, W};
use crate::bpf::asm::{Alu, Asm, FP, Helper, If, Label, R0, R1, R2, R6, R7, R8, R9};
use crate::bpf::{Btf, BtfError, DiskPlaces, Point, field};

/// The state of one CPU's ring.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct RingState {
    /// Slots taken so far.
    pub taken: u64,
    /// Slots read so far; only this process writes it.
    pub read: u64,
    /// Events for which there was no room.
    pub lost: u64,
    /// How often a stand-in ran for a program that was skipped.
    pub stood_in: u64,
    /// Whether the program for a tracepoint runs.
    pub runs: [u32; Tracepoint::ALL.len()],
}

/// The role of a program at its tracepoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Only,
    First,
    StandIn,
}

impl Role {
    /// The roles at a tracepoint, in the order in which they run. Only completions interrupt others
    /// of their kind.
    pub const fn of(kind: Tracepoint) -> &'static [Self] {
        match kind {
            Tracepoint::Complete | Tracepoint::BioComplete => &[Self::First, Self::StandIn],
            _ => &[Self::Only],
        }
    }
}

/// Slots kept free for programs that interrupt each other between checking for room and taking a
/// slot.
const SPARE: i32 = 16;

// Places on the stack.
const CPU: i16 = -8;
const PLACE: i16 = -16;
const TAKEN: i16 = -24;
const ERROR: i16 = -32;
const BYTES: i16 = -40;
const STATE: i16 = -48;

/// Where the kernel keeps what is read.
#[derive(Debug)]
pub(super) struct Places {
    rq_sector: i16,
    rq_bytes: i16,
    rq_flags: i16,
    bio_bytes: i16,
    bio_sector: i16,
    bio_flags: i16,
    bio_status: i16,
    task: i16,
    task_name: i16,
    disks: DiskPlaces,
}

impl Places {
    pub fn of(btf: &Btf<'_>) -> Result<Self, BtfError> {
        Ok(Self {
            rq_sector: btf.offset("request", "__sector")?,
            rq_bytes: btf.offset("request", "__data_len")?,
            rq_flags: btf.offset("request", "cmd_flags")?,
            bio_bytes: btf.offset("bio", "bi_iter.bi_size")?,
            bio_sector: btf.offset("bio", "bi_iter.bi_sector")?,
            bio_flags: btf.offset("bio", "bi_opf")?,
            bio_status: btf.offset("bio", "bi_status")?,
            task: btf.offset("task_struct", "pid")?,
            task_name: btf.offset("task_struct", "comm")?,
            disks: DiskPlaces::of(btf)?,
        })
    }
}

/// The tracepoints in the order in which they are attached: completions first, so that no request
/// is seen whose completion is not. Each with the type of its subject and whether
/// recording needs it.
pub(super) const POINTS: [(&str, Tracepoint, &str, bool); 9] = [
    ("task_newtask", Tracepoint::Task, "task_struct", false),
    ("block_bio_complete", Tracepoint::BioComplete, "bio", true),
    ("block_rq_complete", Tracepoint::Complete, "request", true),
    ("block_rq_requeue", Tracepoint::Requeue, "request", false),
    ("block_rq_issue", Tracepoint::Issue, "request", true),
    ("block_bio_backmerge", Tracepoint::Merge, "bio", false),
    ("block_bio_frontmerge", Tracepoint::Merge, "bio", false),
    ("block_split", Tracepoint::Split, "bio", false),
    ("block_bio_queue", Tracepoint::Queue, "bio", true),
];

/// Writes programs for a kernel.
#[derive(Debug)]
pub(super) struct Programs<'a> {
    pub places: &'a Places,
    /// The disks that are recorded; empty for all.
    pub disks: &'a [u32],
    /// The map of [`RingState`], by CPU.
    pub states: i32,
    /// The map of events, ring after ring.
    pub events: i32,
    /// The base-2 logarithm of the events in a ring.
    pub ring_bits: u32,
}

impl Programs<'_> {
    /// A program for a tracepoint.
    pub fn program(&self, kind: Tracepoint, role: Role, point: Point) -> Vec<u8> {
        let mut asm = Asm::default();
        let (out, leave) = (asm.label(), asm.label());
        asm.load(Dw, R6, R1, point.place(0));
        if matches!(kind, Tracepoint::Complete | Tracepoint::Task) {
            asm.load(Dw, R9, R1, point.place(1));
        }
        if kind == Tracepoint::Complete {
            asm.load(Dw, R8, R1, point.place(2));
        }
        self.enter(&mut asm, kind, role, leave);
        match kind {
            Tracepoint::Task => asm.store(Dw, FP, BYTES, R9),
            Tracepoint::Complete => {
                asm.store(Dw, FP, ERROR, R9);
                asm.store(Dw, FP, BYTES, R8);
            }
            _ => {}
        }
        self.wanted(&mut asm, kind, out);
        asm.call(Helper::Time);
        asm.mov(R8, R0);
        self.take_place(&mut asm, out);
        asm.store(Dw, R7, field!(RawEvent, at), R8);
        asm.store(W, R7, field!(RawEvent, dev), R9);
        asm.store(W, R7, field!(RawEvent, kind), kind as i32);
        self.subject(&mut asm, kind);
        self.task(&mut asm, kind);
        asm.load(Dw, R1, FP, TAKEN);
        asm.alu(Alu::Add, R1, 1);
        asm.swap(R7, field!(RawEvent, number), R1);
        asm.here(out);
        if role == Role::First {
            asm.load(Dw, R1, FP, STATE);
            asm.store(W, R1, runs(kind), 0);
        }
        asm.here(leave);
        asm.exit();
        asm.finish()
    }

    /// Says that this program runs; a stand-in leaves unless it interrupts the program that it
    /// stands in for.
    fn enter(&self, asm: &mut Asm, kind: Tracepoint, role: Role, leave: Label) {
        asm.call(Helper::Cpu);
        asm.store(W, FP, CPU, R0);
        asm.look_up(self.states, CPU);
        asm.jump_if(R0, If::Eq, 0, leave);
        asm.store(Dw, FP, STATE, R0);
        match role {
            Role::Only => {}
            Role::First => asm.store(W, R0, runs(kind), 1),
            Role::StandIn => {
                asm.load(W, R1, R0, runs(kind));
                asm.jump_if(R1, If::Eq, 0, leave);
                asm.mov(R1, 1);
                asm.add_to(Dw, R0, field!(RingState, stood_in), R1);
            }
        }
    }

    /// The task under which it happened, and of a request that is queued its name.
    fn task(&self, asm: &mut Asm, kind: Tracepoint) {
        let p = self.places;
        asm.call(Helper::TaskStruct);
        asm.load(W, R1, R0, p.task);
        asm.store(W, R7, field!(RawEvent, task), R1);
        if kind == Tracepoint::Queue {
            for half in [0, 8] {
                asm.load(Dw, R1, R0, p.task_name + half);
                asm.store(Dw, R7, field!(RawEvent, name) + half, R1);
            }
        }
    }

    /// `R9`: the disk that `R6` is for, if it is one that is recorded; 0 for a task.
    fn wanted(&self, asm: &mut Asm, kind: Tracepoint, unwanted: Label) {
        let wanted = asm.label();
        let way = match kind {
            Tracepoint::Task => return asm.mov(R9, 0),
            _ if of_request(kind) => &self.places.disks.rq,
            _ => &self.places.disks.bio,
        };
        asm.mov(R1, R6);
        self.places.disks.number(asm, way);
        asm.mov(R9, R1);
        if !self.disks.is_empty() {
            self.disks.iter().for_each(|disk| {
                asm.jump_if(R9, If::Eq, disk.cast_signed(), wanted);
            });
            asm.jump(unwanted);
        }
        asm.here(wanted);
    }

    /// `R7`: the next free slot of this CPU's ring. If the ring is full, the event is lost.
    fn take_place(&self, asm: &mut Asm, none: Label) {
        let (room, lost) = (asm.label(), asm.label());
        asm.load(Dw, R0, FP, STATE);
        asm.load(Dw, R1, R0, field!(RingState, taken));
        asm.load(Dw, R2, R0, field!(RingState, read));
        asm.alu(Alu::Sub, R1, R2);
        asm.jump_if(R1, If::Lt, (1 << self.ring_bits) - SPARE, room);
        asm.here(lost);
        asm.load(Dw, R0, FP, STATE);
        asm.mov(R1, 1);
        asm.add_to(Dw, R0, field!(RingState, lost), R1);
        asm.jump(none);
        asm.here(room);
        asm.mov(R1, 1);
        asm.fetch_add(R0, field!(RingState, taken), R1);
        asm.store(Dw, FP, TAKEN, R1);
        asm.alu(Alu::And, R1, (1 << self.ring_bits) - 1);
        asm.load(W, R2, FP, CPU);
        asm.alu(Alu::Lsh, R2, self.ring_bits as i32);
        asm.alu(Alu::Or, R1, R2);
        asm.store(W, FP, PLACE, R1);
        asm.look_up(self.events, PLACE);
        // This CPU came online after the recording began.
        asm.jump_if(R0, If::Eq, 0, lost);
        asm.mov(R7, R0);
    }

    /// The subject of the event: place, length, operation, error.
    fn subject(&self, asm: &mut Asm, kind: Tracepoint) {
        let p = self.places;
        let mut copy = |width, from, to| {
            asm.load(width, R1, R6, from);
            asm.store(if width == B { W } else { width }, R7, to, R1);
        };
        match kind {
            Tracepoint::Task => copy(W, p.task, field!(RawEvent, bytes)),
            _ if of_request(kind) => {
                copy(Dw, p.rq_sector, field!(RawEvent, sector));
                copy(W, p.rq_bytes, field!(RawEvent, bytes));
                copy(W, p.rq_flags, field!(RawEvent, flags));
            }
            _ => {
                copy(Dw, p.bio_sector, field!(RawEvent, sector));
                copy(W, p.bio_bytes, field!(RawEvent, bytes));
                copy(W, p.bio_flags, field!(RawEvent, flags));
                copy(B, p.bio_status, field!(RawEvent, error));
            }
        }
        match kind {
            Tracepoint::Task => {
                asm.load(Dw, R1, FP, BYTES);
                asm.store(Dw, R7, field!(RawEvent, sector), R1);
            }
            Tracepoint::Complete => {
                asm.load(Dw, R1, FP, BYTES);
                asm.store(W, R7, field!(RawEvent, bytes), R1);
                asm.load(Dw, R1, FP, ERROR);
                asm.store(W, R7, field!(RawEvent, error), R1);
            }
            _ => {}
        }
    }
}

/// Whether a tracepoint is about a request of a driver, and not about a bio.
const fn of_request(kind: Tracepoint) -> bool {
    matches!(kind, Tracepoint::Issue | Tracepoint::Requeue | Tracepoint::Complete)
}

/// Where [`RingState::runs`] is for a tracepoint.
const fn runs(kind: Tracepoint) -> i16 {
    field!(RingState, runs) + 4 * kind as i16
}
