//! What is remembered of one block, and which blocks are followed.

/// Size of a block, as a power of two.
pub(super) const BLOCK_BITS: u32 = 12;
/// The key of an entry that holds no block.
pub(super) const NOBODY: u64 = u64::MAX;

/// One block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockEntry {
    /// Device and number, see [`super::blocks`].
    pub key: u64,
    pub last: u64,
    pub last_write: u64,
    pub reads: u32,
    pub writes: u32,
    /// Place in the order of last use; kept by `Lru`.
    pub place: u32,
    pub wrote: bool,
}

impl BlockEntry {
    pub const EMPTY: Self =
        Self { key: NOBODY, last: 0, last_write: 0, reads: 0, writes: 0, place: 0, wrote: false };

    /// Whether it holds a block whose hash is at most `bound`.
    pub fn within(&self, bound: u64) -> bool {
        self.key != NOBODY && mix(self.key) <= bound
    }
}

/// Spreads the bits of a key over all 64.
pub(super) const fn mix(key: u64) -> u64 {
    let x = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

/// The largest hash of a block that is followed at a level.
pub(super) const fn bound(level: u32) -> u64 {
    u64::MAX >> level
}

/// How many blocks one stands for.
pub(super) fn weight_of(level: u32) -> f64 {
    (1u64 << level) as f64
}
