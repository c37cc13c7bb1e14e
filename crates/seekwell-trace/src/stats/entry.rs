//! What is remembered of one block, and which blocks are followed.

/// Size of a block, as a power of two.
pub(super) const BLOCK_BITS: u32 = 12;
/// The number of an entry that holds no block.
pub(super) const NOBODY: u64 = u64::MAX;

/// One block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockEntry {
    /// Its number on its device.
    pub block: u64,
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
        Self { block: NOBODY, last: 0, last_write: 0, reads: 0, writes: 0, place: 0, wrote: false };

    pub const fn of(block: u64) -> Self {
        Self { block, ..Self::EMPTY }
    }

    pub const fn is_used(&self) -> bool {
        self.block != NOBODY
    }
}

/// Spreads the bits of a key over all 64 (splitmix64).
pub(super) const fn mix(key: u64) -> u64 {
    let x = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What stands for a device wherever something depends on which it is: its name, hashed with
/// FNV-1a and mixed.
pub(crate) fn seed_of(name: &str) -> u64 {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    mix(name.bytes().fold(0xcbf2_9ce4_8422_2325, fnv))
}

/// The hash of a block of a device, which decides whether it is sampled.
pub(super) const fn hash_of(seed: u64, block: u64) -> u64 {
    mix(seed ^ block)
}

/// The largest hash of a block that is followed at a rate of 2^-k.
pub(super) const fn bound(rate_log2: u32) -> u64 {
    u64::MAX >> rate_log2
}

/// Parts of the sample that are looked at apart, to see how much chance there is in the whole.
pub(super) const GROUPS: usize = 16;

/// The part that a hash within the bound belongs to.
pub(super) const fn group_of(hash: u64, rate_log2: u32) -> usize {
    (hash << rate_log2 >> 60) as usize
}
