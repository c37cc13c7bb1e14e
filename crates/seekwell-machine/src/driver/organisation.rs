//! Volumes over devices: which accesses a request becomes, and which of them wait for which.

use crate::array::{Layout, Piece};
use seekwell_io::request::Op;

/// How a volume lies on its devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Organisation {
    /// One device, as it is.
    Whole {
        /// The device.
        device: usize,
    },
    /// Striped.
    Array {
        /// Its devices, first to last.
        devices: Vec<usize>,
        /// Where what lies, in bytes.
        layout: Layout,
        /// Sectors of each device after its last whole stripe unit, which are a last stripe of
        /// shorter units.
        rest: u64,
        /// Parity is updated from its old self where fewer stripe units than that are written.
        modify_below: u32,
        /// Whether no write begins before all reads of old data are done.
        synchronous: bool,
    },
}

/// One access to a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The device.
    pub device: usize,
    /// Read or write.
    pub op: Op,
    /// First sector.
    pub start: u64,
    /// Sectors.
    pub sectors: u64,
    /// Which of the request's accesses must be done before.
    pub after: Vec<usize>,
    /// Of parity updates, which it belongs to.
    update: u64,
    /// Whether it is the parity that an update ends with.
    parity: bool,
}

const SECTOR: u64 = 512;
/// Sectors that accesses of one request to one device may lie apart and become one, in DiskSim.
const JOINED_GAP: u64 = 32;

impl Organisation {
    /// The accesses of a request.
    pub fn accesses(&self, op: Op, start: u64, sectors: u64) -> Vec<Access> {
        match self {
            Self::Whole { device } => vec![Access::plain(*device, op, start, sectors)],
            Self::Array { devices, layout, rest, modify_below, synchronous } => {
                let pieces = pieces(layout, *rest, start, sectors);
                if op == Op::Read || !layout.has_parity() {
                    let place = |piece: &Piece| place(devices, layout, op, piece);
                    return joined(pieces.iter().map(place).collect());
                }
                let parity = Parity { devices, layout, rest: *rest, modify_below: *modify_below };
                parity.accesses(&pieces, *synchronous)
            }
        }
    }
}

impl Access {
    const fn plain(device: usize, op: Op, start: u64, sectors: u64) -> Self {
        Self { device, op, start, sectors, after: Vec::new(), update: 0, parity: false }
    }
}

/// A range of the volume, cut where stripe units end.
fn pieces(layout: &Layout, rest: u64, start: u64, sectors: u64) -> Vec<Piece> {
    let whole = layout.capacity() / SECTOR;
    let end = start + sectors;
    let len = |from: u64, to: u64| ((to - from) * SECTOR) as u32;
    let mut all: Vec<Piece> = Vec::new();
    if start < whole {
        all.extend(layout.pieces(start * SECTOR, len(start, end.min(whole))));
    }
    let mut at = start.max(whole);
    while at < end && rest > 0 {
        let (column, from) = ((at - whole) / rest, (at - whole) % rest);
        let to = end.min(at + rest - from);
        let stripe = layout.stripe_of(layout.capacity());
        let (column, from) = (column as u32, from * SECTOR);
        all.push(Piece { stripe, column, from, len: len(at, to) });
        at = to;
    }
    all
}

/// Where a piece of data lies.
fn place(devices: &[usize], layout: &Layout, op: Op, piece: &Piece) -> Access {
    let device = devices[layout.member(piece.stripe, piece.column) as usize];
    let start = layout.on_member(piece.stripe, piece.from) / SECTOR;
    Access::plain(device, op, start, u64::from(piece.len) / SECTOR)
}

/// One access for those of the same kind that lie together on a device.
fn joined(mut all: Vec<Access>) -> Vec<Access> {
    all.sort_by_key(|access| (access.device, access.start));
    let mut made: Vec<Access> = Vec::new();
    for access in all {
        match made.last_mut() {
            Some(last)
                if last.device == access.device
                    && access.start <= last.start + last.sectors + JOINED_GAP =>
            {
                let end = (last.start + last.sectors).max(access.start + access.sectors);
                last.sectors = end - last.start;
                last.update |= access.update;
                last.parity |= access.parity;
            }
            _ => made.push(access),
        }
    }
    made
}

struct Parity<'o> {
    devices: &'o [usize],
    layout: &'o Layout,
    rest: u64,
    modify_below: u32,
}

/// Pieces in one stripe whose parity is updated as one, and the range of the parity unit.
struct Update<'p> {
    pieces: &'p [Piece],
    from: u64,
    to: u64,
}

impl Parity<'_> {
    fn accesses(&self, pieces: &[Piece], synchronous: bool) -> Vec<Access> {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let stripes = pieces.chunk_by(|one, other| one.stripe == other.stripe);
        for (number, update) in stripes.flat_map(|pieces| self.updates(pieces)).enumerate() {
            // A request touches few stripes; those beyond the 63rd share one mark.
            let mark = 1 << number.min(63);
            self.update(&update, mark, &mut reads, &mut writes);
        }
        let mut all = joined(reads);
        let count = all.len();
        for mut write in joined(writes) {
            let waits = |read: &Access| {
                synchronous
                    || read.device == write.device
                    || (write.parity && read.update & write.update != 0)
            };
            write.after = (0..count).filter(|&index| waits(&all[index])).collect();
            all.push(write);
        }
        all
    }

    fn update(
        &self,
        update: &Update<'_>,
        mark: u64,
        reads: &mut Vec<Access>,
        writes: &mut Vec<Access>,
    ) {
        let Some(stripe) = update.pieces.first().map(|piece| piece.stripe) else { return };
        let mut own: Vec<Access> = update
            .pieces
            .iter()
            .map(|piece| place(self.devices, self.layout, Op::Write, piece))
            .collect();
        let parity = self.layout.parity(stripe);
        let mut last = self.on(stripe, parity, (update.from, update.to), Op::Write);
        last.parity = true;
        own.push(last);
        let touched = update.pieces.len() as u32;
        if touched < self.modify_below.min(self.layout.columns()) {
            reads.extend(own.iter().map(|access| {
                let read = Access { op: Op::Read, ..access.clone() };
                Access { update: mark, parity: false, ..read }
            }));
        } else {
            self.unchanged(update, |column, range| {
                let read = self.on(stripe, self.layout.member(stripe, column), range, Op::Read);
                reads.push(Access { update: mark, ..read });
            });
        }
        writes.extend(own.into_iter().map(|access| Access { update: mark, ..access }));
    }

    fn on(&self, stripe: u64, member: u32, (from, to): (u64, u64), op: Op) -> Access {
        let start = self.layout.on_member(stripe, from) / SECTOR;
        Access::plain(self.devices[member as usize], op, start, (to - from) / SECTOR)
    }

    /// Calls `each` with the ranges that the parity covers and the update leaves as they are.
    fn unchanged(&self, update: &Update<'_>, mut each: impl FnMut(u32, (u64, u64))) {
        for column in 0..self.layout.columns() {
            match update.pieces.iter().find(|piece| piece.column == column) {
                None => each(column, (update.from, update.to)),
                Some(piece) => {
                    let end = piece.from + u64::from(piece.len);
                    if piece.from > update.from {
                        each(column, (update.from, piece.from));
                    }
                    if end < update.to {
                        each(column, (end, update.to));
                    }
                }
            }
        }
    }

    /// The updates of the pieces of a stripe: two where two pieces have no parity in common.
    fn updates<'p>(&self, pieces: &'p [Piece]) -> Vec<Update<'p>> {
        let end = |piece: &Piece| piece.from + u64::from(piece.len);
        let last = self.layout.stripe_of(self.layout.capacity());
        match pieces {
            [one] => vec![Update { pieces, from: one.from, to: end(one) }],
            [one, other] if end(other) < one.from => vec![
                Update { pieces: &pieces[..1], from: one.from, to: end(one) },
                Update { pieces: &pieces[1..], from: other.from, to: end(other) },
            ],
            [first, ..] if first.stripe == last => {
                vec![Update { pieces, from: 0, to: self.rest * SECTOR }]
            }
            _ => vec![Update { pieces, from: 0, to: self.layout.unit() }],
        }
    }
}
