//! Where the pieces of requests under way are found by device and first byte.
//!
//! A hash table whose chains run through the pieces themselves: adding, finding and removing one
//! touches two or three cache lines and allocates nothing, which is what several million requests
//! a second need.

use seekwell_io::request::Op;

pub(super) const NONE: u32 = u32::MAX;

/// Smallest number of buckets, a power of two.
const BUCKETS_AT_FIRST: usize = 1 << 10;

/// A range of one queued request; several once it was split, and then each may be issued alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// First byte.
    pub offset: u64,
    /// Which request of the window it belongs to.
    pub owner: u64,
    /// Bytes.
    pub len: u32,
    /// Device it is looked for under.
    pub device: u32,
    /// Bytes that the request led by this piece still has to complete.
    pub whole: u32,
    /// The next piece of the same issued request.
    pub next: u32,
    /// The next piece of the same bucket.
    pub chain: u32,
    /// What it does.
    pub op: Op,
    /// Whether the device has it.
    pub issued: bool,
    /// Whether it is the second part of something that was split.
    pub cut: bool,
}

impl Piece {
    /// A piece that is not yet issued.
    pub fn queued(owner: u64, device: u32, offset: u64, len: u32, op: Op) -> Self {
        Self {
            offset,
            owner,
            len,
            device,
            whole: len,
            next: NONE,
            chain: NONE,
            op,
            issued: false,
            cut: false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Table {
    buckets: Vec<u32>,
    shift: u32,
    pieces: Vec<Piece>,
    free: Vec<u32>,
}

impl Table {
    pub fn new() -> Self {
        Self {
            buckets: vec![NONE; BUCKETS_AT_FIRST],
            shift: 64 - BUCKETS_AT_FIRST.trailing_zeros(),
            pieces: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Pieces held.
    pub fn len(&self) -> usize {
        assert!(self.free.len() <= self.pieces.len(), "only what was inserted is released");
        self.pieces.len() - self.free.len()
    }

    pub fn piece(&self, at: u32) -> &Piece {
        &self.pieces[at as usize]
    }

    pub fn piece_mut(&mut self, at: u32) -> &mut Piece {
        &mut self.pieces[at as usize]
    }

    fn bucket(&self, device: u32, offset: u64) -> usize {
        // Fibonacci hashing; the device takes bits that sector numbers rarely reach.
        let key = (offset >> 9) ^ (u64::from(device) << 44);
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// Adds a piece and makes it findable.
    pub fn insert(&mut self, piece: Piece) -> u32 {
        let at = if let Some(at) = self.free.pop() {
            self.pieces[at as usize] = piece;
            at
        } else {
            self.pieces.push(piece);
            if self.pieces.len() > self.buckets.len() {
                self.grow();
            }
            self.pieces.len() as u32 - 1
        };
        self.link(at);
        debug_assert!(self.find(piece.device, piece.offset, |_| true).is_some());
        at
    }

    /// Makes a piece findable again, by where it now begins.
    pub fn link(&mut self, at: u32) {
        let piece = &self.pieces[at as usize];
        let bucket = self.bucket(piece.device, piece.offset);
        self.pieces[at as usize].chain = self.buckets[bucket];
        self.buckets[bucket] = at;
    }

    /// The findable pieces that begin there, the newest first.
    fn beginning(&self, device: u32, offset: u64) -> impl Iterator<Item = (u32, &Piece)> {
        let piece = move |at: u32| (at != NONE).then(|| (at, &self.pieces[at as usize]));
        let first = piece(self.buckets[self.bucket(device, offset)]);
        std::iter::successors(first, move |(_, before)| piece(before.chain))
            .filter(move |(_, piece)| piece.offset == offset && piece.device == device)
    }

    /// The oldest findable piece that begins there and passes.
    pub fn find(&self, device: u32, offset: u64, pass: impl Fn(&Piece) -> bool) -> Option<u32> {
        self.beginning(device, offset).filter(|(_, piece)| pass(piece)).last().map(|(at, _)| at)
    }

    /// The newest findable piece that begins there and passes.
    pub fn find_newest(
        &self,
        device: u32,
        offset: u64,
        pass: impl Fn(&Piece) -> bool,
    ) -> Option<u32> {
        self.beginning(device, offset).find(|(_, piece)| pass(piece)).map(|(at, _)| at)
    }

    /// Takes a piece out of the index; it stays alive.
    pub fn unlink(&mut self, target: u32) {
        let piece = self.pieces[target as usize];
        let bucket = self.bucket(piece.device, piece.offset);
        let mut at = self.buckets[bucket];
        if at == target {
            self.buckets[bucket] = piece.chain;
            return;
        }
        while at != NONE {
            let chain = self.pieces[at as usize].chain;
            if chain == target {
                self.pieces[at as usize].chain = piece.chain;
                return;
            }
            at = chain;
        }
        unreachable!("only findable pieces are unlinked");
    }

    /// Gives the place of a piece that is not findable back.
    pub fn release(&mut self, at: u32) {
        debug_assert!((at as usize) < self.pieces.len() && self.free.len() < self.pieces.len());
        self.free.push(at);
    }

    /// Drops every findable piece, with the request it leads, that belongs to nothing live.
    pub fn sweep(&mut self, live: impl Fn(u64) -> bool) {
        for bucket in 0..self.buckets.len() {
            let mut at = std::mem::replace(&mut self.buckets[bucket], NONE);
            let mut kept = NONE;
            while at != NONE {
                let chain = self.pieces[at as usize].chain;
                if self.leads_live(at, &live) {
                    // The order is kept: the first found stays the first.
                    self.pieces[at as usize].chain = NONE;
                    if kept == NONE {
                        self.buckets[bucket] = at;
                    } else {
                        self.pieces[kept as usize].chain = at;
                    }
                    kept = at;
                } else {
                    let mut dead = at;
                    while dead != NONE {
                        self.free.push(dead);
                        dead = self.pieces[dead as usize].next;
                    }
                }
                at = chain;
            }
        }
    }

    fn leads_live(&self, mut at: u32, live: impl Fn(u64) -> bool) -> bool {
        while at != NONE {
            let piece = &self.pieces[at as usize];
            if live(piece.owner) {
                return true;
            }
            at = piece.next;
        }
        false
    }

    fn grow(&mut self) {
        let mut findable = Vec::with_capacity(self.pieces.len());
        for &head in &self.buckets {
            let start = findable.len();
            let mut at = head;
            while at != NONE {
                findable.push(at);
                at = self.pieces[at as usize].chain;
            }
            findable[start..].reverse();
        }
        let (buckets, count) = (self.buckets.len() * 4, findable.len());
        assert!(buckets.is_power_of_two() && count <= self.pieces.len());
        self.buckets = vec![NONE; buckets];
        self.shift = 64 - buckets.trailing_zeros();
        for at in findable {
            self.link(at);
        }
    }
}
