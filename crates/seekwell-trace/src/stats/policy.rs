//! What a full cache gives up: policies as libCacheSim has them with its defaults, where every
//! object is one block.

use super::entry::GROUPS;
use super::miss::Missed;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which block a full cache gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The one used least recently.
    Lru,
    /// The one that came first.
    Fifo,
    /// The one that came first of those not used since the hand passed them.
    Clock,
    /// FIFO with a small queue for blocks that are used once (Yang et al., SOSP 2023).
    #[serde(rename = "s3-fifo")]
    S3Fifo,
    /// CLOCK whose survivors stay where they are (Zhang et al., NSDI 2024).
    Sieve,
    /// Adaptive between recency and frequency (Megiddo and Modha, FAST 2003).
    Arc,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Lru, Self::Fifo, Self::Clock, Self::S3Fifo, Self::Sieve, Self::Arc];

    /// `s3-fifo`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lru => "lru",
            Self::Fifo => "fifo",
            Self::Clock => "clock",
            Self::S3Fifo => "s3-fifo",
            Self::Sieve => "sieve",
            Self::Arc => "arc",
        }
    }

    /// What a cache of `size` blocks misses of accesses to `blocks`, each with its group.
    pub(super) fn misses(self, size: usize, blocks: usize, accesses: &[(u32, u8)]) -> Missed {
        let mut groups = [0; GROUPS];
        let mut cache = self.cache(size, blocks);
        for (block, group) in accesses {
            groups[usize::from(*group)] += u64::from(!cache.access(*block));
        }
        Missed { blocks: size as u64, groups }
    }

    /// An empty cache of `size` blocks out of `blocks`.
    fn cache(self, size: usize, blocks: usize) -> Box<dyn Cache> {
        let lists = Lists::new(blocks);
        match self {
            Self::Lru => Box::new(Queue { lists, size, promotes: true }),
            Self::Fifo => Box::new(Queue { lists, size, promotes: false }),
            Self::Clock => Box::new(Clock { lists, size, used: vec![false; blocks] }),
            Self::Sieve => Box::new(Sieve { lists, size, used: vec![false; blocks], hand: NOBODY }),
            Self::S3Fifo => Box::new(S3Fifo {
                lists,
                size,
                small: size / 10,
                ghosts: size * 9 / 10,
                used: vec![0; blocks],
                has_evicted: false,
            }),
            Self::Arc => Box::new(Arc { lists, size, recent: 0.0 }),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A cache of blocks that are numbered from 0.
trait Cache {
    /// Whether the block is there. It is afterwards.
    fn access(&mut self, block: u32) -> bool;
}

const NOBODY: u32 = u32::MAX;
/// Lists that a block can be in, and the number of one that is in none.
const LISTS: usize = 4;
const NOWHERE: u8 = LISTS as u8;

/// Lists of blocks, each block in at most one: new ones at the head.
struct Lists {
    /// Towards the tail, and towards the head.
    older: Vec<u32>,
    newer: Vec<u32>,
    place: Vec<u8>,
    head: [u32; LISTS],
    tail: [u32; LISTS],
    len: [usize; LISTS],
}

impl Lists {
    fn new(blocks: usize) -> Self {
        Self {
            older: vec![NOBODY; blocks],
            newer: vec![NOBODY; blocks],
            place: vec![NOWHERE; blocks],
            head: [NOBODY; LISTS],
            tail: [NOBODY; LISTS],
            len: [0; LISTS],
        }
    }

    fn of(&self, block: u32) -> usize {
        usize::from(self.place[block as usize])
    }

    /// Puts a block at the head of a list, from wherever it is.
    fn put(&mut self, block: u32, list: usize) {
        self.remove(block);
        let head = std::mem::replace(&mut self.head[list], block);
        self.older[block as usize] = head;
        self.newer[block as usize] = NOBODY;
        match head {
            NOBODY => self.tail[list] = block,
            head => self.newer[head as usize] = block,
        }
        self.place[block as usize] = list as u8;
        self.len[list] += 1;
    }

    fn remove(&mut self, block: u32) {
        let list = self.of(block);
        if list == LISTS {
            return;
        }
        let (older, newer) = (self.older[block as usize], self.newer[block as usize]);
        match newer {
            NOBODY => self.head[list] = older,
            newer => self.older[newer as usize] = older,
        }
        match older {
            NOBODY => self.tail[list] = newer,
            older => self.newer[older as usize] = newer,
        }
        self.place[block as usize] = NOWHERE;
        self.len[list] -= 1;
    }

    /// The oldest of a list that is not empty.
    fn oldest(&self, list: usize) -> u32 {
        self.tail[list]
    }
}

/// LRU, and FIFO, which promotes nothing.
struct Queue {
    lists: Lists,
    size: usize,
    promotes: bool,
}

impl Cache for Queue {
    fn access(&mut self, block: u32) -> bool {
        let hit = self.lists.of(block) == 0;
        if !hit && self.lists.len[0] == self.size {
            self.lists.remove(self.lists.oldest(0));
        }
        if !hit || self.promotes {
            self.lists.put(block, 0);
        }
        hit
    }
}

struct Clock {
    lists: Lists,
    size: usize,
    used: Vec<bool>,
}

impl Cache for Clock {
    fn access(&mut self, block: u32) -> bool {
        if self.lists.of(block) == 0 {
            self.used[block as usize] = true;
            return true;
        }
        if self.lists.len[0] == self.size {
            let mut oldest = self.lists.oldest(0);
            while std::mem::take(&mut self.used[oldest as usize]) {
                self.lists.put(oldest, 0);
                oldest = self.lists.oldest(0);
            }
            self.lists.remove(oldest);
        }
        self.lists.put(block, 0);
        false
    }
}

struct Sieve {
    lists: Lists,
    size: usize,
    used: Vec<bool>,
    hand: u32,
}

impl Cache for Sieve {
    fn access(&mut self, block: u32) -> bool {
        if self.lists.of(block) == 0 {
            self.used[block as usize] = true;
            return true;
        }
        if self.lists.len[0] == self.size {
            let or_oldest = |lists: &Lists, at| if at == NOBODY { lists.oldest(0) } else { at };
            let mut at = or_oldest(&self.lists, self.hand);
            while std::mem::take(&mut self.used[at as usize]) {
                at = or_oldest(&self.lists, self.lists.newer[at as usize]);
            }
            self.hand = self.lists.newer[at as usize];
            self.lists.remove(at);
        }
        self.lists.put(block, 0);
        false
    }
}

/// Lists: small, main, ghosts.
struct S3Fifo {
    lists: Lists,
    size: usize,
    small: usize,
    ghosts: usize,
    /// Times used since it came, at most 3 counted in the main queue.
    used: Vec<u8>,
    has_evicted: bool,
}

const SMALL: usize = 0;
const MAIN: usize = 1;
const GHOSTS: usize = 2;

impl S3Fifo {
    fn evict(&mut self) {
        self.has_evicted = true;
        let [small, main, ..] = self.lists.len;
        if main > self.size - self.small || small == 0 {
            return self.evict_main();
        }
        while self.lists.len[SMALL] > 0 {
            let oldest = self.lists.oldest(SMALL);
            if self.used[oldest as usize] >= 2 {
                self.used[oldest as usize] = 0;
                self.lists.put(oldest, MAIN);
                continue;
            }
            self.lists.remove(oldest);
            if self.ghosts > 0 {
                if self.lists.len[GHOSTS] == self.ghosts {
                    self.lists.remove(self.lists.oldest(GHOSTS));
                }
                self.lists.put(oldest, GHOSTS);
            }
            return;
        }
        self.evict_main();
    }

    fn evict_main(&mut self) {
        while self.lists.len[MAIN] > 0 {
            let oldest = self.lists.oldest(MAIN);
            let used = self.used[oldest as usize];
            if used == 0 {
                return self.lists.remove(oldest);
            }
            self.used[oldest as usize] = used.min(3) - 1;
            self.lists.put(oldest, MAIN);
        }
    }
}

impl Cache for S3Fifo {
    fn access(&mut self, block: u32) -> bool {
        let used = &mut self.used[block as usize];
        match self.lists.of(block) {
            SMALL | MAIN => {
                *used = used.saturating_add(1);
                return true;
            }
            was => {
                *used = 0;
                self.lists.remove(block);
                while self.lists.len[SMALL] + self.lists.len[MAIN] >= self.size {
                    self.evict();
                }
                let is_full = !self.has_evicted && self.lists.len[SMALL] >= self.small;
                self.lists.put(block, if was == GHOSTS || is_full { MAIN } else { SMALL });
            }
        }
        false
    }
}

/// Lists: used once and used more often, and the ghosts of either.
struct Arc {
    lists: Lists,
    size: usize,
    /// How many blocks used once are wanted.
    recent: f64,
}

const ONCE: usize = 0;
const OFTEN: usize = 1;
const ONCE_GHOSTS: usize = 2;
const OFTEN_GHOSTS: usize = 3;

impl Arc {
    fn replace(&mut self, is_often: bool) {
        let once = self.lists.len[ONCE] as f64;
        let from_once = once > 0.0 && (once > self.recent || (is_often && once == self.recent));
        let [from, to] = if from_once { [ONCE, ONCE_GHOSTS] } else { [OFTEN, OFTEN_GHOSTS] };
        let oldest = self.lists.oldest(from);
        if oldest != NOBODY {
            self.lists.put(oldest, to);
        }
    }
}

impl Cache for Arc {
    fn access(&mut self, block: u32) -> bool {
        let [once, often, once_ghosts, often_ghosts] = self.lists.len.map(|len| len as f64);
        let at = self.lists.of(block);
        match at {
            ONCE | OFTEN => {}
            ONCE_GHOSTS => {
                let more = (often_ghosts / once_ghosts).max(1.0);
                self.recent = (self.recent + more).min(self.size as f64);
                self.replace(false);
            }
            OFTEN_GHOSTS => {
                let less = (once_ghosts / often_ghosts).max(1.0);
                self.recent = (self.recent - less).max(0.0);
                self.replace(true);
            }
            _ => {
                let size = self.size as f64;
                if once + once_ghosts >= size {
                    if once < size {
                        self.lists.remove(self.lists.oldest(ONCE_GHOSTS));
                        self.replace(false);
                    } else {
                        self.lists.remove(self.lists.oldest(ONCE));
                    }
                } else if once + often + once_ghosts + often_ghosts >= size {
                    if once + often + once_ghosts + often_ghosts >= 2.0 * size {
                        self.lists.remove(self.lists.oldest(OFTEN_GHOSTS));
                    }
                    self.replace(false);
                }
                self.lists.put(block, ONCE);
                return false;
            }
        }
        self.lists.put(block, OFTEN);
        matches!(at, ONCE | OFTEN)
    }
}
