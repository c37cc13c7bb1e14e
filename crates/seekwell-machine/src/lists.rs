//! Keys in lists ordered by use, found by hashing.

use foldhash::fast::FixedState;
use std::collections::HashMap;

const NONE: u32 = u32::MAX;

/// A map keyed by page or block number, the same on every machine.
pub type PageMap<V> = HashMap<u32, V, FixedState>;

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u32,
    list: u8,
    newer: u32,
    older: u32,
}

#[derive(Debug, Clone, Copy)]
struct Ends {
    newest: u32,
    oldest: u32,
    len: u32,
}

/// `N` lists that share their entries. About 28 bytes a key: 16 of the entry and 12 of the map.
#[derive(Debug)]
pub struct Lists<const N: usize> {
    entries: Vec<Entry>,
    free: Vec<u32>,
    found: PageMap<u32>,
    ends: [Ends; N],
}

impl<const N: usize> Lists<N> {
    /// All empty.
    pub fn new() -> Self {
        let ends = Ends { newest: NONE, oldest: NONE, len: 0 };
        Self { entries: Vec::new(), free: Vec::new(), found: PageMap::default(), ends: [ends; N] }
    }

    /// The list a key is in.
    pub fn list_of(&self, key: u32) -> Option<u8> {
        Some(self.entries[*self.found.get(&key)? as usize].list)
    }

    /// A number of the key's own, below the most keys there ever were at once.
    pub fn place_of(&self, key: u32) -> Option<u32> {
        self.found.get(&key).copied()
    }

    /// Makes a key the newest of a list, whether or not it was in any.
    pub fn put(&mut self, key: u32, list: u8) {
        let index = match self.found.get(&key) {
            Some(index) => {
                let index = *index;
                self.unlink(index);
                index
            }
            None => {
                let index = self.free.pop().unwrap_or(self.entries.len() as u32);
                if index as usize == self.entries.len() {
                    self.entries.push(Entry { key, list, newer: NONE, older: NONE });
                }
                self.found.insert(key, index);
                index
            }
        };
        let ends = &mut self.ends[list as usize];
        let older = ends.newest;
        self.entries[index as usize] = Entry { key, list, newer: NONE, older };
        ends.newest = index;
        ends.len += 1;
        match older {
            NONE => ends.oldest = index,
            older => self.entries[older as usize].newer = index,
        }
        self.assert_counts();
    }

    fn assert_counts(&self) {
        let listed: u32 = self.ends.iter().map(|ends| ends.len).sum();
        debug_assert_eq!(listed as usize, self.found.len(), "a key is in two lists or none");
        debug_assert_eq!(self.found.len() + self.free.len(), self.entries.len(), "lost an entry");
    }

    /// Takes a key out. False if it was in no list.
    pub fn remove(&mut self, key: u32) -> bool {
        let Some(index) = self.found.remove(&key) else { return false };
        self.unlink(index);
        self.free.push(index);
        self.assert_counts();
        true
    }

    /// The key of a list that was put there longest ago.
    pub fn oldest(&self, list: u8) -> Option<u32> {
        let index = self.ends[list as usize].oldest;
        (index != NONE).then(|| self.entries[index as usize].key)
    }

    /// Keys in a list.
    pub const fn len(&self, list: u8) -> u32 {
        self.ends[list as usize].len
    }

    fn unlink(&mut self, index: u32) {
        let Entry { list, newer, older, .. } = self.entries[index as usize];
        let ends = &mut self.ends[list as usize];
        ends.len -= 1;
        match newer {
            NONE => ends.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => ends.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_lists_are_those_that_plain_vectors_would_be(
            steps in prop::collection::vec((0_u32..20, 0_u8..3), 0..200),
        ) {
            let mut lists = Lists::<2>::new();
            let mut plain: [Vec<u32>; 2] = Default::default();
            for (key, what) in steps {
                let was = plain.iter().any(|list| list.contains(&key));
                plain.iter_mut().for_each(|list| list.retain(|kept| *kept != key));
                if what == 2 {
                    prop_assert_eq!(lists.remove(key), was);
                } else {
                    lists.put(key, what);
                    plain[what as usize].push(key);
                }
                for list in [0_u8, 1] {
                    let expected = &plain[list as usize];
                    prop_assert_eq!(lists.len(list) as usize, expected.len());
                    prop_assert_eq!(lists.oldest(list), expected.first().copied());
                    for key in expected {
                        prop_assert_eq!(lists.list_of(*key), Some(list));
                    }
                }
            }
        }
    }
}
