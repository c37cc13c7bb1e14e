//! What kind of request comes next, how long it is, and which file it goes to.

use super::walk::Walk;
use crate::job::{Blocks, Kind, Service, ServiceOrder};
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::request::Op;
use seekwell_io::workload::{Law, Spread, below};

/// Draws kinds of requests.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    kind: Kind,
    read_percent: u64,
}

impl Kinds {
    /// Those of a job.
    pub const fn new(kind: Kind, read_percent: u8) -> Self {
        Self { kind, read_percent: read_percent as u64 }
    }

    /// The next. A write that follows a discard of the same block is not drawn but follows it.
    #[inline]
    pub fn draw(self, rng: &mut Xoshiro256PlusPlus) -> Op {
        match self.kind {
            Kind::Read => Op::Read,
            Kind::Write => Op::Write,
            Kind::Trim | Kind::TrimWrite => Op::Discard,
            Kind::ReadWrite => match self.read_percent {
                0 => Op::Write,
                100 => Op::Read,
                percent if below(rng, 100) < percent => Op::Read,
                _ => Op::Write,
            },
        }
    }

    /// The other kind of a mix.
    pub const fn other(self, op: Op) -> Option<Op> {
        match (self.kind, op) {
            (Kind::ReadWrite, Op::Read) if self.read_percent < 100 => Some(Op::Write),
            (Kind::ReadWrite, Op::Write) if self.read_percent > 0 => Some(Op::Read),
            _ => None,
        }
    }
}

/// Draws lengths of requests.
#[derive(Debug, Clone)]
pub enum Sizes {
    /// All the same.
    Fixed(u32),
    /// Multiples of `step` from `min` on.
    Range {
        /// The shortest.
        min: u32,
        /// Between two lengths.
        step: u32,
        /// How many lengths there are.
        count: u64,
    },
    /// Lengths with weights that add up to `sum`.
    Split {
        /// Lengths and weights.
        shares: Vec<(u32, u64)>,
        /// Of the weights.
        sum: u64,
    },
}

impl Sizes {
    /// Those of a job; `unaligned` takes any length in a range.
    pub fn new(blocks: &Blocks, unaligned: bool) -> Self {
        match blocks {
            Blocks::Fixed(bytes) => Self::Fixed(*bytes),
            Blocks::Range { min, max } => {
                let step = if unaligned { 1 } else { *min };
                Self::Range { min: *min, step, count: u64::from((max - min) / step) + 1 }
            }
            Blocks::Split(shares) => {
                let shares: Vec<_> =
                    shares.iter().map(|s| (s.bytes, u64::from(s.percent))).collect();
                let sum = shares.iter().map(|(_, weight)| weight).sum();
                Self::Split { shares, sum }
            }
        }
    }

    /// The next.
    #[inline]
    pub fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range { min, step, count } => min + below(rng, *count) as u32 * step,
            Self::Split { shares, sum } => {
                let mut draw = below(rng, *sum);
                for (bytes, weight) in shares {
                    match draw.checked_sub(*weight) {
                        None => return *bytes,
                        Some(rest) => draw = rest,
                    }
                }
                unreachable!("weights add up to their sum")
            }
        }
    }
}

/// Chooses files.
#[derive(Debug)]
pub struct Picker {
    order: ServiceOrder,
    spread: Spread,
    every: u32,
    current: usize,
    left: u32,
}

impl Picker {
    /// Among `files`, at least one.
    pub fn new(service: Service, files: usize) -> Self {
        let law = match service.order {
            ServiceOrder::RoundRobin | ServiceOrder::Sequential | ServiceOrder::Random => {
                Law::Uniform
            }
            ServiceOrder::Zipf(theta) => Law::Zipf { theta, centre: None },
            ServiceOrder::Pareto(power) => Law::Pareto { power, centre: None },
            ServiceOrder::Normal(deviation) => {
                Law::Normal { deviation: deviation / 100.0, centre: 0.5 }
            }
        };
        let spread = Spread::new(&law, files as u64);
        // The first request goes to the first file.
        Self { order: service.order, spread, every: service.every.max(1), current: 0, left: 0 }
    }

    /// The file of the next request, or none when all are through.
    #[inline]
    pub fn pick(&mut self, walks: &[Walk], rng: &mut Xoshiro256PlusPlus) -> Option<usize> {
        if walks.len() == 1 {
            return (!walks[0].is_through()).then_some(0);
        }
        if self.left == 0 {
            self.left = self.every;
            self.current = match self.order {
                // The choice of last time was one further.
                ServiceOrder::RoundRobin => self.current % walks.len(),
                ServiceOrder::Sequential => 0,
                _ => self.spread.draw(rng) as usize,
            };
        }
        let n = walks.len();
        let open = (0..n).map(|i| (self.current + i) % n).find(|i| !walks[*i].is_through())?;
        self.current = open;
        self.left -= 1;
        if self.left == 0 && self.order == ServiceOrder::RoundRobin {
            self.current = open + 1;
        }
        Some(open)
    }
}
