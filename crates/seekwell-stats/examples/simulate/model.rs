//! Disks made of random numbers, on which the truth is known: what the method says about them is
//! counted. Used by the example, which prints the table of `docs/statistics.md`, and by the test.

use rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StudentT};
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_stats::{Arm, Better, Block, Margin, Order, Verdict, order};

/// Noise of one run, as a standard deviation of its logarithm.
pub const RUN_SD: f64 = 0.02;

/// What disturbs the runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Independent normal noise.
    Calm,
    /// The same, and every run 0.2 % slower than the one before.
    Drift,
    /// The same, and a wandering level: AR(0.9) with steps of 1 %.
    Wander,
    /// The same, and every fourth run 10 % slower.
    Periodic,
    /// Student's t with three degrees of freedom, scaled to the same spread.
    Heavy,
    /// One run of ten 10 % slower.
    Bursts,
    /// One run of ten 10 % slower, of B only.
    BurstsInB,
}

/// A disk and its past.
pub struct Disk {
    noise: Noise,
    effect: f64,
    random: Xoshiro256PlusPlus,
    heavy: StudentT<f64>,
    runs: u32,
    level: f64,
}

impl Disk {
    /// A disk on which B is faster than A by the log ratio `effect`.
    pub fn new(noise: Noise, effect: f64, seed: u64) -> Self {
        let heavy = StudentT::new(3.0).expect("three is a number of degrees");
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { noise, effect, random, heavy, runs: 0, level: 0.0 }
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.random)
    }

    fn one_of_ten(&mut self) -> bool {
        use rand_core::RngCore;
        self.random.next_u64() < u64::MAX / 10
    }

    /// The rate of the next run.
    pub fn run(&mut self, arm: Arm) -> f64 {
        let run = self.runs;
        self.runs += 1;
        let own = match self.noise {
            // The variance of t3 is 3.
            Noise::Heavy => self.heavy.sample(&mut self.random) / 3.0_f64.sqrt(),
            _ => self.normal(),
        };
        let slow = match self.noise {
            Noise::Calm | Noise::Heavy => 0.0,
            Noise::Drift => 0.002 * f64::from(run),
            Noise::Wander => {
                self.level = 0.9 * self.level + 0.01 * self.normal();
                self.level
            }
            Noise::Periodic => f64::from(u8::from(run.is_multiple_of(4))) * 0.1,
            Noise::Bursts => f64::from(u8::from(self.one_of_ten())) * 0.1,
            Noise::BurstsInB => f64::from(u8::from(self.one_of_ten() && arm == Arm::B)) * 0.1,
        };
        let effect = if arm == Arm::B { self.effect } else { 0.0 };
        500.0 * (effect + RUN_SD * own - slow).exp()
    }

    /// The next block.
    pub fn block(&mut self, order: Order) -> Block {
        let mut values = [Vec::new(), Vec::new()];
        for arm in order.runs() {
            values[arm as usize].push(self.run(arm));
        }
        let [a, b] = values;
        Block { order, a: [a[0], a[1]], b: [b[0], b[1]] }
    }

    /// Blocks in orders of the coin `seed`.
    pub fn blocks(&mut self, seed: u64, count: u32) -> Vec<Block> {
        (0..u64::from(count)).map(|i| self.block(order(seed, i))).collect()
    }
}

pub fn values(blocks: &[Block]) -> Vec<f64> {
    blocks.iter().filter_map(Block::value).collect()
}

/// Share of `repeats` for which `happens` is true of the repeat's number, in per cent.
pub fn share(repeats: u32, mut happens: impl FnMut(u64) -> bool) -> f64 {
    let count = (0..u64::from(repeats)).filter(|i| happens(*i)).count();
    count as f64 / f64::from(repeats) * 100.0
}

/// Whether a verdict claims a difference.
pub fn claims(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Faster { .. } | Verdict::Slower { .. })
}

fn decide(d: &[f64]) -> Verdict {
    seekwell_stats::verdict(d, Margin::THROUGHPUT, Better::Higher)
}

/// A/A comparisons called different, per cent: the method itself.
pub fn false_alarms(noise: Noise, blocks: u32, repeats: u32) -> f64 {
    share(repeats, |i| {
        let d = values(&Disk::new(noise, 0.0, i).blocks(!i, blocks));
        claims(&decide(&d))
    })
}

/// The same with every block ABBA.
pub fn false_alarms_fixed_order(noise: Noise, blocks: u32, repeats: u32) -> f64 {
    share(repeats, |i| {
        let mut disk = Disk::new(noise, 0.0, i);
        let d: Vec<Block> = (0..blocks).map(|_| disk.block(Order::Abba)).collect();
        claims(&decide(&values(&d)))
    })
}

/// The same number of runs, all of A and then all of B, by the rank-sum test at 5 %.
pub fn false_alarms_one_after_the_other(noise: Noise, blocks: u32, repeats: u32) -> f64 {
    share(repeats, |i| {
        let mut disk = Disk::new(noise, 0.0, i);
        let mut group = |arm| -> Vec<f64> { (0..2 * blocks).map(|_| disk.run(arm)).collect() };
        let (a, b) = (group(Arm::A), group(Arm::B));
        seekwell_stats::mann_whitney(&a, &b).is_some_and(|test| test.p <= 0.05)
    })
}

/// Looking after every block from the eighth to the fortieth and stopping at the first difference.
pub fn false_alarms_peeking(noise: Noise, repeats: u32) -> f64 {
    share(repeats, |i| {
        let d = values(&Disk::new(noise, 0.0, i).blocks(!i, 40));
        (8..=40).any(|n| claims(&decide(&d[..n])))
    })
}

/// What the two-stage design did.
pub struct TwoStage {
    /// Share of verdicts that claim a difference, per cent.
    pub claimed: f64,
    /// Share of verdicts of no difference within the margin, per cent.
    pub equivalent: f64,
    /// Mean number of blocks.
    pub blocks: f64,
}

/// Pilot of eight, the number of blocks computed, one verdict, where the truth is `effect`.
pub fn two_stage(noise: Noise, effect: f64, repeats: u32) -> TwoStage {
    let (mut equivalent, mut blocks) = (0, 0);
    let claimed = share(repeats, |i| {
        let mut d = values(&Disk::new(noise, effect, i).blocks(!i, 40));
        let needed = seekwell_stats::blocks_needed(&d[..8], Margin::THROUGHPUT);
        d.truncate(needed as usize);
        blocks += needed;
        let verdict = decide(&d);
        equivalent += u32::from(matches!(verdict, Verdict::Equivalent { .. }));
        claims(&verdict)
    });
    let each = |count: u32| f64::from(count) / f64::from(repeats);
    TwoStage { claimed, equivalent: each(equivalent) * 100.0, blocks: each(blocks) }
}

/// The centre that the interval is about, the median of the mean of two block values, counted on
/// `pairs` pairs. Equal to the effect wherever the noise is alike in both arms.
pub fn true_centre(noise: Noise, effect: f64, pairs: u32) -> f64 {
    let mut disk = Disk::new(noise, effect, u64::MAX);
    let d = values(&disk.blocks(1, 2 * pairs));
    let mut means: Vec<f64> = d.chunks_exact(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
    means.sort_by(f64::total_cmp);
    means[means.len() / 2]
}

/// How often the 95 % intervals hold the centre, per cent: signed-rank and t; and how often the
/// note on skew appears.
pub struct Coverage {
    /// Of the signed-rank interval.
    pub ranks: f64,
    /// Of the t interval.
    pub normal: f64,
    /// Share of comparisons marked as skewed, per cent.
    pub skewed: f64,
}

/// Coverage for `blocks` blocks where the truth is `centre`.
pub fn coverage(noise: Noise, effect: f64, centre: f64, blocks: u32, repeats: u32) -> Coverage {
    let (mut normal, mut skewed) = (0, 0);
    let ranks = share(repeats, |i| {
        let d = values(&Disk::new(noise, effect, i).blocks(!i, blocks));
        let t = seekwell_stats::t_interval(&d, 0.95);
        normal += u32::from(t.is_some_and(|interval| interval.contains(centre)));
        skewed += u32::from(seekwell_stats::skew(&d).is_some());
        seekwell_stats::interval(&d, 0.95).is_some_and(|interval| interval.contains(centre))
    });
    let each = |count: u32| f64::from(count) / f64::from(repeats) * 100.0;
    Coverage { ranks, normal: each(normal), skewed: each(skewed) }
}
