//! What one generator of a synthetic workload asks for next.

use super::distribution::Distribution;
use super::rand48::Rand48;
use seekwell_io::request::Op;

/// What a generator asks for, and how long it thinks in between.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorParams {
    /// The volumes it uses, by their numbers; one is drawn for each request that continues none.
    pub volumes: Vec<usize>,
    /// Sectors of a volume that it uses.
    pub sectors: u64,
    /// Sectors that all its addresses and sizes are multiples of.
    pub blocking: u64,
    /// Probability that a request continues the one before.
    pub sequential: f64,
    /// Probability that a request lies near the one before.
    pub local: f64,
    /// Probability of a read.
    pub read: f64,
    /// Probability that the generator waits for a request before it goes on.
    pub critical: f64,
    /// Probability that it waits for a request some time after it was issued.
    pub limited: f64,
    /// That time, in milliseconds of thought.
    pub limit_ms: Distribution,
    /// Thought before a request that continues none and is near none, in milliseconds.
    pub general_ms: Distribution,
    /// Thought before a request that continues the one before, in milliseconds.
    pub sequential_ms: Distribution,
    /// Thought before a request near the one before, in milliseconds.
    pub local_ms: Distribution,
    /// From the beginning of the request before to that of one near it, in sectors.
    pub local_sectors: Distribution,
    /// Sectors of a request that continues none.
    pub size_sectors: Distribution,
}

/// Whether a generator waits for a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Class {
    /// It waits as soon as the request is issued.
    Critical,
    /// It waits after that many milliseconds of thought.
    Limited(f64),
    /// It never does.
    Free,
}

/// A request and what comes before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    /// Thought before it, in milliseconds.
    pub think_ms: f64,
    /// Read or write.
    pub op: Op,
    /// The volume.
    pub volume: usize,
    /// First sector.
    pub start: u64,
    /// Sectors.
    pub sectors: u64,
    /// Whether it is waited for.
    pub class: Class,
}

/// A generator and its last request, in units of its blocking factor.
#[derive(Debug)]
pub struct Generator {
    params: GeneratorParams,
    blocks: i64,
    volume: usize,
    block: i64,
    count: i64,
    op: Op,
}

/// The most sectors of a request: their bytes are counted in 32 bits.
const MOST_SECTORS: u64 = 1 << 22;
/// Draws after which no request is taken to fit.
const MOST_DRAWS: u32 = 1_000_000;

impl Generator {
    /// A generator that has asked for nothing.
    pub fn new(params: GeneratorParams) -> Self {
        let blocks = (params.sectors / params.blocking).min(i64::MAX as u64) as i64;
        Self { params, blocks, volume: 0, block: 0, count: 0, op: Op::Write }
    }

    /// The first request; `None` if its distributions give none.
    pub fn first(&mut self, random: &mut Rand48) -> Option<Drawn> {
        let think = self.params.general_ms.draw_positive(random)?;
        self.anywhere(random)?;
        self.finish(think, random)
    }

    /// The next request; `None` if its distributions give none.
    pub fn next(&mut self, random: &mut Rand48) -> Option<Drawn> {
        let kind = random.draw();
        let (sequential, local) = (self.params.sequential, self.params.local);
        let think;
        if kind < sequential && self.block + 2 * self.count < self.blocks {
            think = self.params.sequential_ms.draw_positive(random)?;
            self.block += self.count;
        } else if kind >= sequential && kind < sequential + local {
            think = self.params.local_ms.draw_positive(random)?;
            self.nearby(random)?;
        } else {
            think = self.params.general_ms.draw_positive(random)?;
            self.anywhere(random)?;
        }
        self.finish(think, random)
    }

    /// Whether such a request lies within the volume.
    const fn fits(&self, block: i64, count: i64) -> bool {
        let largest = (MOST_SECTORS / self.params.blocking) as i64;
        block >= 0 && count > 0 && count <= largest && block.saturating_add(count) < self.blocks
    }

    fn direction(&mut self, random: &mut Rand48) {
        self.op = if random.draw() < self.params.read { Op::Read } else { Op::Write };
    }

    fn size(&self, random: &mut Rand48) -> i64 {
        let blocking = self.params.blocking as i64;
        ((self.params.size_sectors.draw(random) as i64).saturating_add(blocking - 1)) / blocking
    }

    fn anywhere(&mut self, random: &mut Rand48) -> Option<()> {
        let volumes = &self.params.volumes;
        self.volume = volumes[(random.draw() * volumes.len() as f64) as usize];
        (self.block, self.count) = (0..MOST_DRAWS).find_map(|_| {
            let block = (random.draw() * self.blocks as f64) as i64;
            let count = self.size(random);
            self.fits(block, count).then_some((block, count))
        })?;
        self.direction(random);
        Some(())
    }

    fn nearby(&mut self, random: &mut Rand48) -> Option<()> {
        let from = self.block;
        (self.block, self.count) = (0..MOST_DRAWS).find_map(|_| {
            let away = self.params.local_sectors.draw(random) as i64;
            let block = from.saturating_add(away / self.params.blocking as i64);
            let count = self.size(random);
            self.fits(block, count).then_some((block, count))
        })?;
        self.direction(random);
        Some(())
    }

    fn finish(&self, think_ms: f64, random: &mut Rand48) -> Option<Drawn> {
        let kind = random.draw() - self.params.critical;
        let class = if kind < 0.0 {
            Class::Critical
        } else if kind < self.params.limited {
            Class::Limited(self.params.limit_ms.draw_positive(random)?)
        } else {
            Class::Free
        };
        let blocking = self.params.blocking;
        Some(Drawn {
            think_ms,
            op: self.op,
            volume: self.volume,
            start: self.block as u64 * blocking,
            sectors: self.count as u64 * blocking,
            class,
        })
    }
}
