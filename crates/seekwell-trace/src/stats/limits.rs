//! How much is remembered of the blocks of a trace.

/// Up to where every block is remembered, and how many are after that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Blocks remembered before blocks are sampled.
    pub exact_blocks: usize,
    /// Accesses of blocks after which blocks are sampled, however few they are.
    pub exact_table_accesses: u64,
    /// The same for reuse distances alone, which cost more.
    pub exact_reuse_accesses: u64,
    /// Blocks at most once they are sampled.
    pub sampled_blocks: usize,
}

impl Default for Limits {
    /// 3 GiB touched, 67 million and 17 million accesses of 4 KiB; 65,536 blocks after that.
    fn default() -> Self {
        Self {
            exact_blocks: 3 << 18,
            exact_table_accesses: 1 << 26,
            exact_reuse_accesses: 1 << 24,
            sampled_blocks: 1 << 16,
        }
    }
}
