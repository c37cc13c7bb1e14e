//! How the rate of writes goes over what is written: where it changes, and what each stretch
//! between two changes is. A cache of fast flash, a controller's memory and burst credits all end
//! after a volume of data and not after a time, so everything here is over bytes.

use seekwell_io::units::Nanos;
use seekwell_runs::{FastRegion, Stretch};
use seekwell_stats::{ChangeRule, change_points};

/// The most points of a curve that are kept; then every second one goes.
const POINTS: usize = 4096;
/// How many parts a curve is cut into to look for changes: a stretch of a fortieth of what was
/// written still has three.
const PARTS: usize = 128;
/// The slower rate over the faster one from which on a change counts, and a fall ends a fast
/// region.
const FALL: f64 = 0.7;
/// Neighbouring parts are not independent, so the usual 0.001 would be found by chance.
const CERTAIN: f64 = 1e-6;
/// Parts on both sides of a change among which it is looked for.
const AROUND: usize = 2;
/// A rate has settled once this many times as much was written at it as before it.
const SETTLED: u64 = 2;
/// And this share of the whole, per cent: caches of a third of a drive exist.
const LEAST_PERCENT: u64 = 40;

/// When which volume of data was written.
#[derive(Debug, Clone)]
pub struct Curve {
    unit_bytes: u64,
    bytes: u64,
    /// When each unit was complete, from the start.
    ends: Vec<Nanos>,
}

impl Curve {
    /// An empty curve. The unit doubles as the curve grows.
    pub fn new(unit_bytes: u64) -> Self {
        Self { unit_bytes: unit_bytes.max(1), bytes: 0, ends: Vec::new() }
    }

    /// `bytes` more were written, `at` after the start.
    pub fn note(&mut self, bytes: u64, at: Nanos) {
        self.bytes += bytes;
        while self.bytes / self.unit_bytes > self.ends.len() as u64 {
            self.ends.push(at);
            if self.ends.len() == POINTS {
                self.ends = self.ends.iter().skip(1).step_by(2).copied().collect();
                self.unit_bytes *= 2;
            }
        }
    }

    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The rates of up to `most` equal parts, and the bytes in each.
    pub fn parts(&self, most: usize) -> (u64, Vec<f64>) {
        let each = self.ends.len().div_ceil(most).max(1);
        let count = self.ends.len() / each;
        let rates = (0..count).map(|i| self.rate(i * each, (i + 1) * each)).collect();
        (self.unit_bytes * each as u64, rates)
    }

    /// When the first `units` were complete.
    fn at(&self, units: usize) -> Nanos {
        units.checked_sub(1).map_or(Nanos::ZERO, |last| self.ends[last])
    }

    fn rate(&self, from: usize, to: usize) -> f64 {
        let took = self.at(to).since(self.at(from)).0.max(1);
        (self.unit_bytes * (to - from) as u64) as f64 * 1e9 / took as f64
    }

    /// The stretches of one rate each, in order; one if the rate never changed, none if too
    /// little was written to decide.
    pub fn stretches(&self) -> Vec<Stretch> {
        let (part_bytes, rates) = self.parts(PARTS);
        if rates.len() < AROUND {
            return Vec::new();
        }
        let magnitude = 1.0 / FALL - 1.0;
        let rule = ChangeRule { window: rates.len(), p: CERTAIN, magnitude };
        // Times add up where rates do not: of a throttle's bursts some parts take next to none.
        let times: Vec<f64> = rates.iter().map(|rate| 1.0 / rate).collect();
        let cuts = change_points(&times, rule).into_iter().map(|point| point.index);
        let edges: Vec<usize> = std::iter::once(0).chain(cuts).chain([rates.len()]).collect();
        let each = (part_bytes / self.unit_bytes) as usize;
        let mut found: Vec<Stretch> = Vec::with_capacity(edges.len() - 1);
        for edge in edges.windows(2) {
            let mut stretch = self.stretch(&rates, (edge[0], edge[1]), each);
            if let Some(before) = found.last() {
                self.place(&mut stretch, before, (edge[0], rates.len()), each);
            }
            found.push(stretch);
        }
        found
    }

    /// The rate of some parts. Those at the ends hold a bit of the neighbouring stretch, and are
    /// left out where there are others.
    fn stretch(&self, rates: &[f64], (from, to): (usize, usize), each: usize) -> Stretch {
        let cut = |inner: bool| usize::from(inner && to - from > 4);
        let (first, last) = (from + cut(from > 0), to - cut(to < rates.len()));
        let mut inside = rates[first..last].to_vec();
        inside.sort_by(f64::total_cmp);
        let share = |percent: usize| inside[(inside.len() - 1) * percent / 100];
        Stretch {
            from_bytes: 0,
            from_low_bytes: 0,
            from_high_bytes: 0,
            rate_bytes_per_s: self.rate(first * each, last * each),
            low_bytes_per_s: share(5),
            high_bytes_per_s: share(95),
        }
    }

    /// Where a stretch begins: of the time that the parts around the change took, each byte before
    /// it took what a byte of the earlier stretch takes, and each after it what one of the later
    /// takes. The range is what the spread of both rates allows.
    fn place(&self, to: &mut Stretch, before: &Stretch, (cut, parts): (usize, usize), each: usize) {
        let first = cut.saturating_sub(AROUND) * each;
        let last = (cut + AROUND).min(parts) * each;
        let took = self.at(last).since(self.at(first)).as_secs_f64();
        let bytes = (self.unit_bytes * (last - first) as u64) as f64;
        let start = self.unit_bytes * first as u64;
        let at = |fast: f64, slow: f64| start + earlier(bytes, took, fast, slow) as u64;
        to.from_bytes = at(before.rate_bytes_per_s, to.rate_bytes_per_s);
        let ends = [before.low_bytes_per_s, before.high_bytes_per_s];
        let all = ends.map(|b| [to.low_bytes_per_s, to.high_bytes_per_s].map(|a| at(b, a)));
        let all = all.as_flattened();
        let unit = self.unit_bytes;
        let least = all.iter().copied().min().unwrap_or(0).min(to.from_bytes);
        let most = all.iter().copied().max().unwrap_or(0).max(to.from_bytes);
        (to.from_low_bytes, to.from_high_bytes) = (least.saturating_sub(unit), most + unit);
    }

    /// How much of everything was written at `fast` and not at `slow`.
    pub fn at_rate(&self, fast: f64, slow: f64) -> u64 {
        let took = self.at(self.ends.len()).as_secs_f64();
        earlier(self.bytes as f64, took, fast, slow) as u64
    }

    /// Whether the last `bytes` were written no faster than `rate`.
    pub fn is_slow(&self, bytes: u64, rate: f64) -> bool {
        let (end, units) = (self.ends.len(), bytes.div_ceil(self.unit_bytes).max(4) as usize);
        end > units && self.rate(end - units, end) <= rate
    }

    /// Whether writing on, up to `whole` bytes, will show nothing new: the rate changed, and much
    /// more was written since then than before.
    pub fn is_settled(&self, whole: u64) -> bool {
        if self.bytes < whole / 100 * LEAST_PERCENT {
            return false;
        }
        let last = self.stretches().last().map_or(0, |stretch| stretch.from_bytes);
        last > 0 && self.bytes - last >= SETTLED * last
    }
}

/// Of `bytes` that took `took` seconds, how many were written at rate `one` if the rest were
/// written at rate `other`.
fn earlier(bytes: f64, took: f64, one: f64, other: f64) -> f64 {
    let (one, other) = (1.0 / one, 1.0 / other);
    if one == other {
        return 0.0;
    }
    ((bytes * other - took) / (other - one)).clamp(0.0, bytes)
}

/// What was written before the rate first fell; `None` if it never fell.
pub fn fast_region(stretches: &[Stretch]) -> Option<FastRegion> {
    let fell = |pair: &&[Stretch]| pair[1].rate_bytes_per_s <= FALL * pair[0].rate_bytes_per_s;
    let [before, after] = stretches.windows(2).find(fell)? else { return None };
    let settled = stretches.last().unwrap_or(after);
    Some(FastRegion {
        bytes: after.from_bytes,
        low_bytes: after.from_low_bytes,
        high_bytes: after.from_high_bytes,
        before_bytes_per_s: before.rate_bytes_per_s,
        after_bytes_per_s: settled.rate_bytes_per_s,
    })
}

#[cfg(test)]
mod tests;
