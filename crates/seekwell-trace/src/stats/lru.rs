//! Reuse distances: how many other blocks of its device were touched since a block was.
//!
//! Blocks stand in the order of their last use in a Fenwick tree; the distance of an access is the
//! number of blocks that stand behind its block (Mattson's stack distance; the tree is Bennett and
//! Kruskal's).

use super::entry::BlockEntry;

/// Places of the smallest tree.
const LEAST: usize = 64;

/// The order of last use of the blocks of one device.
#[derive(Debug)]
pub(super) struct Lru {
    /// Fenwick tree over places: how many blocks have their last use there. One-based.
    tree: Vec<u32>,
    next: usize,
    followed: usize,
}

impl Default for Lru {
    fn default() -> Self {
        Self { tree: vec![0; LEAST + 1], next: 1, followed: 0 }
    }
}

impl Lru {
    /// One access to the block in `table[at]`: its distance; `None` if it is `new`.
    #[inline]
    pub fn access(&mut self, new: bool, at: usize, table: &mut [BlockEntry]) -> Option<u64> {
        let mut distance = None;
        if new {
            self.followed += 1;
        } else {
            let place = table[at].place as usize;
            distance = Some((self.followed - self.up_to(place)) as u64);
            if self.next == place + 1 {
                return distance;
            }
            self.change(place, u32::MAX);
        }
        if self.next >= self.tree.len() {
            // The place just given up must not count: it is marked as the newest.
            table[at].place = u32::MAX;
            self.pack(table);
        } else {
            table[at].place = self.next as u32;
            self.change(self.next, 1);
            self.next += 1;
        }
        distance
    }

    /// Renumbers the places of all blocks, in order and without gaps.
    fn pack(&mut self, table: &mut [BlockEntry]) {
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(self.followed);
        for (at, entry) in table.iter().enumerate().filter(|(_, entry)| entry.is_used()) {
            order.push((entry.place, at as u32));
        }
        order.sort_unstable();
        for (place, (_, at)) in order.iter().enumerate() {
            table[*at as usize].place = place as u32 + 1;
        }
        self.next = self.followed + 1;
        let places = (self.followed * 2).next_power_of_two().max(LEAST);
        self.tree.clear();
        self.tree.resize(places + 1, 0);
        self.tree[1..=self.followed].fill(1);
        for at in 1..places {
            let parent = at + (at & at.wrapping_neg());
            if parent <= places {
                self.tree[parent] += self.tree[at];
            }
        }
    }

    fn change(&mut self, mut place: usize, by: u32) {
        while place < self.tree.len() {
            self.tree[place] = self.tree[place].wrapping_add(by);
            place += place & place.wrapping_neg();
        }
    }

    fn up_to(&self, mut place: usize) -> usize {
        let mut sum = 0;
        while place > 0 {
            sum += self.tree[place] as usize;
            place &= place - 1;
        }
        sum
    }
}
