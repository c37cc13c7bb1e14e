//! Every block once before any comes again, also where requests are of several lengths.

use super::Permutation;

/// A stretch of blocks that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// The first block.
    pub block: u64,
    /// How many; fewer than were asked for where the rest has been used already.
    pub blocks: u64,
}

/// Draws the blocks of a region in passes: in each pass every block once.
#[derive(Debug, Clone)]
pub struct Cover {
    order: Permutation,
    /// The next place in the order.
    next: u64,
    seed: u64,
    pass: u64,
    /// A bit for each block that is used in this pass; empty if all requests are one block long,
    /// because then the order is enough.
    used: Vec<u64>,
}

impl Cover {
    /// All of `blocks` unused. `varied` where requests may be longer than a block, which costs a
    /// bit of memory for each block.
    pub fn new(blocks: u64, varied: bool, seed: u64) -> Self {
        let words = if varied { blocks.div_ceil(64) as usize } else { 0 };
        let order = Permutation::new(blocks, seed);
        Self { order, next: 0, seed, pass: 0, used: vec![0; words] }
    }

    /// The next unused blocks, at most `wanted` of them; `None` when this pass is over.
    #[inline]
    pub fn draw(&mut self, wanted: u64) -> Option<Drawn> {
        while self.next < self.order.len() {
            let block = self.order.at(self.next);
            self.next += 1;
            if self.used.is_empty() {
                return Some(Drawn { block, blocks: 1 });
            }
            if !self.is_used(block) {
                return Some(Drawn { block, blocks: self.take(block, wanted) });
            }
        }
        None
    }

    /// Marks up to `wanted` blocks from `block` on, as far as they are unused: how many it were.
    pub fn take(&mut self, block: u64, wanted: u64) -> u64 {
        let free = (block..self.order.len()).take(wanted.max(1) as usize);
        let free = free.take_while(|b| !self.is_used(*b)).count() as u64;
        (block..block + free).for_each(|b| self.used[(b / 64) as usize] |= 1 << (b % 64));
        free
    }

    /// Begins the next pass, in another order.
    pub fn begin_again(&mut self) {
        self.pass += 1;
        self.next = 0;
        self.used.fill(0);
        self.order = Permutation::new(self.order.len(), self.seed.wrapping_add(self.pass));
    }

    fn is_used(&self, block: u64) -> bool {
        self.used[(block / 64) as usize] & (1 << (block % 64)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_pass_has_every_block_once_whatever_the_lengths(
            blocks in 1u64..2000, lengths in prop::collection::vec(1u64..9, 1..40), seed: u64,
        ) {
            let mut cover = Cover::new(blocks, true, seed);
            for _ in 0..3 {
                let mut seen = vec![false; blocks as usize];
                let mut wanted = lengths.iter().cycle();
                while let Some(drawn) = cover.draw(*wanted.next().unwrap()) {
                    prop_assert!(drawn.blocks >= 1 && drawn.block + drawn.blocks <= blocks);
                    for block in drawn.block..drawn.block + drawn.blocks {
                        prop_assert!(!std::mem::replace(&mut seen[block as usize], true));
                    }
                }
                prop_assert!(seen.iter().all(|s| *s));
                cover.begin_again();
            }
        }
    }

    #[test]
    fn passes_differ_in_their_order() {
        let mut cover = Cover::new(500, false, 7);
        let mut pass = || {
            let all: Vec<_> = std::iter::from_fn(|| cover.draw(1)).collect();
            cover.begin_again();
            all
        };
        let (first, second) = (pass(), pass());
        assert_eq!((first.len(), second.len()), (500, 500));
        assert_ne!(first, second);
    }
}
