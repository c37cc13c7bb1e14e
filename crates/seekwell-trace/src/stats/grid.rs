//! Load over time and address over time, without knowing beforehand how long or how far.
//!
//! Steps are powers of two and kept in a ring; when something lies outside of what the ring can
//! span, neighbours are joined and the step doubles.

use super::document::{Course, Map};
use super::seen::{Reads, Seen};
use super::sum::{Max, Sum, Wire, sums};
use crate::record::Fields;
use seekwell_io::request::Op;

/// One dimension: a span of at most `PLACES` steps of 2^bits.
#[derive(Debug, Clone, Copy)]
struct Axis<const PLACES: u64> {
    bits: u32,
    low: u64,
    high: u64,
}

impl<const PLACES: u64> Axis<PLACES> {
    const fn new(bits: u32) -> Self {
        Self { bits, low: u64::MAX, high: 0 }
    }

    fn covers(&self, value: u64) -> bool {
        let step = value >> self.bits;
        step >= self.low && step <= self.high
    }

    /// Widens the span; says whether steps have to be joined first.
    fn take(&mut self, value: u64) -> bool {
        let step = value >> self.bits;
        let (low, high) = (self.low.min(step), self.high.max(step));
        if high - low >= PLACES {
            return false;
        }
        (self.low, self.high) = (low, high);
        true
    }

    fn place(&self, value: u64) -> usize {
        ((value >> self.bits) % PLACES) as usize
    }

    /// The steps in order: place in the ring now, and after neighbours were joined.
    fn joined(&self) -> impl Iterator<Item = (usize, usize)> + use<PLACES> {
        // Of an axis without a value, low lies above high: no step.
        (self.low..=self.high)
            .map(move |step| ((step % PLACES) as usize, (step / 2 % PLACES) as usize))
    }

    fn double(&mut self) {
        self.bits += 1;
        if self.low <= self.high {
            (self.low, self.high) = (self.low / 2, self.high / 2);
        }
    }

    fn len(&self) -> usize {
        if self.low <= self.high { (self.high - self.low + 1) as usize } else { 0 }
    }

    fn steps(&self) -> impl Iterator<Item = usize> + use<PLACES> {
        let (low, len) = (self.low, self.len() as u64);
        (0..len).map(move |i| ((low + i) % PLACES) as usize)
    }

    fn from(&self) -> u64 {
        if self.low <= self.high { self.low << self.bits } else { 0 }
    }
}

/// Steps of the course at most.
const STEPS: u64 = 512;
/// The first step: about a millisecond.
const STEP_BITS: u32 = 20;

sums! {
    /// Load in one step.
    struct Step {
        reads: u64,
        others: u64,
        bytes: u64,
        area: u128,
        /// On any one device.
        deepest: Max,
    }
}

impl Step {
    #[inline]
    fn add_depth(&mut self, ns: u64, depth: u64) {
        self.area += u128::from(ns) * u128::from(depth);
        self.deepest.merge(Max(depth));
    }
}

/// Load over time.
#[derive(Debug, Clone)]
pub(super) struct Times {
    axis: Axis<STEPS>,
    steps: Vec<Step>,
}

impl Default for Times {
    fn default() -> Self {
        Self { axis: Axis::new(STEP_BITS), steps: vec![Step::default(); STEPS as usize] }
    }
}

impl Reads for Times {
    const FIELDS: Fields = Fields::LENGTH;
}

impl Times {
    #[inline]
    fn at(&mut self, ns: u64) -> &mut Step {
        if !self.axis.covers(ns) {
            self.widen(ns);
        }
        let place = self.axis.place(ns);
        &mut self.steps[place]
    }

    #[cold]
    fn widen(&mut self, ns: u64) {
        while !self.axis.take(ns) {
            self.double();
        }
    }

    /// Joins neighbours.
    fn double(&mut self) {
        let mut joined = vec![Step::default(); self.steps.len()];
        for (old, new) in self.axis.joined() {
            joined[new].merge(std::mem::take(&mut self.steps[old]));
        }
        self.steps = joined;
        self.axis.double();
    }

    #[inline]
    pub fn arrival(&mut self, ns: u64, record: &Seen<Self>) {
        let step = self.at(ns);
        let read = u64::from(record.op() == Op::Read);
        step.reads += read;
        step.others += 1 - read;
        if matches!(record.op(), Op::Read | Op::Write) {
            step.bytes += u64::from(record.len());
        }
    }

    /// So many were under way from one time to another.
    #[inline]
    pub fn under_way(&mut self, mut from: u64, to: u64, depth: u64) {
        let bits = self.axis.bits;
        if from >> bits == to >> bits && self.axis.covers(from) {
            let place = self.axis.place(from);
            return self.steps[place].add_depth(to - from, depth);
        }
        while from < to {
            self.at(to - 1);
            let step_end = ((from >> self.axis.bits) + 1) << self.axis.bits;
            let until = if step_end > from { step_end.min(to) } else { to };
            let step = self.at(from);
            step.add_depth(until - from, depth);
            from = until;
        }
    }

    /// With times that count from `first`.
    pub fn finish(&self, first: u64, completions: bool) -> Option<Course> {
        if self.axis.len() == 0 {
            return None;
        }
        let steps: Vec<&Step> = self.axis.steps().map(|i| &self.steps[i]).collect();
        let step_ns = 1u64 << self.axis.bits;
        let of = |what: fn(&Step) -> u64| steps.iter().map(|s| what(s)).collect::<Vec<_>>();
        let depth = steps.iter().filter(|_| completions);
        Some(Course {
            step_ns,
            from_ns: self.axis.from().saturating_sub(first),
            reads: of(|s| s.reads),
            others: of(|s| s.others),
            bytes: of(|s| s.bytes),
            depth_mean: depth.clone().map(|s| s.area as f64 / step_ns as f64).collect(),
            depth_max: depth.map(|s| s.deepest.0).collect(),
        })
    }
}

impl Wire for Times {
    fn put(&self, out: &mut Vec<u8>) {
        let steps: Vec<usize> = self.axis.steps().collect();
        u64::from(self.axis.bits).put(out);
        Max(if steps.is_empty() { 0 } else { self.axis.low }).put(out);
        (steps.len() as u64).put(out);
        steps.into_iter().for_each(|at| self.steps[at].put(out));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut times = Self::default();
        let (bits, low, n) = (u64::take(from)?, Max::take(from)?.0, u64::take(from)?);
        if !(u64::from(STEP_BITS)..64).contains(&bits) || n > STEPS {
            return None;
        }
        times.axis.bits = bits as u32;
        if n > 0 {
            let high = low.checked_add(n - 1).filter(|high| *high <= u64::MAX >> bits)?;
            (times.axis.low, times.axis.high) = (low, high);
        }
        for step in low..low + n {
            times.steps[(step % STEPS) as usize] = Step::take(from)?;
        }
        Some(times)
    }
}

impl Sum for Times {
    fn merge(&mut self, mut other: Self) {
        while self.axis.bits < other.axis.bits {
            self.double();
        }
        while other.axis.bits < self.axis.bits {
            other.double();
        }
        if other.axis.len() == 0 {
            return;
        }
        let bits = other.axis.bits;
        self.at(other.axis.low << bits);
        self.at(other.axis.high << bits);
        while other.axis.bits < self.axis.bits {
            other.double();
        }
        for at in other.axis.steps() {
            self.steps[at].merge(std::mem::take(&mut other.steps[at]));
        }
    }
}

/// Columns and rows of a map at most; devices that have one.
const COLUMNS: u64 = 256;
const ROWS: u64 = 128;
const DEVICES: usize = 64;
/// Maps handed out.
const SHOWN: usize = 8;

/// Where requests of one device begin, over time.
#[derive(Debug)]
struct Grid {
    times: Axis<COLUMNS>,
    places: Axis<ROWS>,
    cells: Vec<[u32; 2]>,
    requests: u64,
}

impl Grid {
    fn new() -> Self {
        Self {
            times: Axis::new(STEP_BITS),
            places: Axis::new(12),
            cells: vec![[0; 2]; (COLUMNS * ROWS) as usize],
            requests: 0,
        }
    }

    #[inline]
    fn add(&mut self, ns: u64, record: &Seen<Maps>) {
        let offset = record.offset();
        if !self.times.covers(ns) || !self.places.covers(offset) {
            self.widen(ns, offset);
        }
        self.requests += 1;
        let at = self.times.place(ns) * ROWS as usize + self.places.place(offset);
        let cell = &mut self.cells[at][record.op() as usize & 1];
        *cell = cell.saturating_add(1);
    }

    #[cold]
    fn widen(&mut self, ns: u64, offset: u64) {
        while !self.times.take(ns) {
            let columns: Vec<_> = self.times.joined().collect();
            self.join(|joined, old, rows| {
                for (from, to) in &columns {
                    for row in 0..rows {
                        add(&mut joined[to * rows + row], old[from * rows + row]);
                    }
                }
            });
            self.times.double();
        }
        while !self.places.take(offset) {
            let moved: Vec<_> = self.places.joined().collect();
            self.join(|joined, old, rows| {
                for column in 0..COLUMNS as usize {
                    for (from, to) in &moved {
                        add(&mut joined[column * rows + to], old[column * rows + from]);
                    }
                }
            });
            self.places.double();
        }
    }

    fn join(&mut self, how: impl Fn(&mut [[u32; 2]], &[[u32; 2]], usize)) {
        let mut joined = vec![[0; 2]; self.cells.len()];
        how(&mut joined, &self.cells, ROWS as usize);
        self.cells = joined;
    }

    fn finish(&self, first: u64, device: String) -> Map {
        let mut cells = Vec::new();
        for (column, time) in self.times.steps().enumerate() {
            for (row, place) in self.places.steps().enumerate() {
                let [reads, writes] = self.cells[time * ROWS as usize + place];
                if reads + writes > 0 {
                    cells.push((column as u32, row as u32, reads, writes));
                }
            }
        }
        Map {
            device,
            requests: self.requests,
            step_ns: 1 << self.times.bits,
            from_ns: self.times.from().saturating_sub(first),
            step_bytes: 1 << self.places.bits,
            from_bytes: self.places.from(),
            columns: self.times.len() as u32,
            rows: self.places.len() as u32,
            cells,
        }
    }
}

fn add(to: &mut [u32; 2], from: [u32; 2]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = to.saturating_add(from);
    }
}

/// The maps of the first devices. They are drawn where the trace was read and not kept.
#[derive(Debug, Default)]
pub(super) struct Maps {
    grids: Vec<Option<Grid>>,
}

impl Reads for Maps {
    const FIELDS: Fields = Fields::ARRIVAL.and(Fields::OFFSET);
}

impl Maps {
    #[inline]
    pub fn add(&mut self, record: &Seen<Self>) {
        let device = record.device();
        let Some(at) = record.arrival().get() else { return };
        if device >= DEVICES || !matches!(record.op(), Op::Read | Op::Write) {
            return;
        }
        if device >= self.grids.len() {
            self.grids.resize_with(device + 1, || None);
        }
        self.grids[device].get_or_insert_with(Grid::new).add(at.0, record);
    }

    /// The busiest first, with times that count from `first`.
    pub fn finish(&self, first: u64, name: impl Fn(usize) -> String) -> Vec<Map> {
        let grids = self.grids.iter().enumerate().filter_map(|(i, grid)| Some((i, grid.as_ref()?)));
        busiest(grids.map(|(i, grid)| grid.finish(first, name(i))).collect())
    }
}

/// The maps of the busiest devices.
pub(super) fn busiest(mut maps: Vec<Map>) -> Vec<Map> {
    maps.sort_by(|a, b| b.requests.cmp(&a.requests).then_with(|| a.device.cmp(&b.device)));
    maps.truncate(SHOWN);
    maps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Record, Stamp};
    use seekwell_io::units::Nanos;

    #[test]
    fn joining_steps_loses_nothing_and_keeps_their_order() {
        let mut times = Times::default();
        let read = Record::new(Op::Read, 0, 512);
        for i in 0..100_000u64 {
            times.arrival(i * 3_000_000, &Seen::of(&read));
        }
        let course = times.finish(0, false).unwrap();
        assert_eq!(course.reads.iter().sum::<u64>(), 100_000);
        assert!(course.reads.len() <= 512 && course.reads.len() >= 256, "{}", course.reads.len());
        let whole = &course.reads[..course.reads.len() - 1];
        let expected = course.step_ns as f64 / 3e6;
        assert!(whole.iter().all(|n| (*n as f64 - expected).abs() <= 1.0), "{whole:?}");
    }

    #[test]
    fn a_map_finds_every_request_where_it_was_even_below_the_first() {
        let mut maps = Maps::default();
        let places = [500u64 << 30, (500 << 30) + 4096, 499 << 30, 1 << 40];
        for (i, offset) in places.into_iter().enumerate() {
            let queued = Stamp::at(Nanos(i as u64 * 1_000_000_000));
            maps.add(&Seen::of(&Record { queued, ..Record::new(Op::Write, offset, 512) }));
        }
        let map = &maps.finish(0, |i| i.to_string())[0];
        assert_eq!(map.cells.iter().map(|c| c.3).sum::<u32>(), 4);
        for (i, offset) in places.into_iter().enumerate() {
            let column = (i as u64 * 1_000_000_000 - map.from_ns) / map.step_ns;
            let row = (offset - map.from_bytes) / map.step_bytes;
            let there =
                |c: &&(u32, u32, u32, u32)| (u64::from(c.0), u64::from(c.1)) == (column, row);
            assert!(map.cells.iter().any(|c| there(&c)), "{column} {row} {map:?}");
        }
    }

    #[test]
    fn depth_over_time_is_spread_over_the_steps_it_lasted() {
        let mut times = Times::default();
        times.under_way(0, 10_000_000_000, 3);
        times.under_way(10_000_000_000, 20_000_000_000, 5);
        let course = times.finish(0, true).unwrap();
        let area: f64 = course.depth_mean.iter().map(|d| d * course.step_ns as f64).sum();
        assert!((area - 80e9).abs() < 1.0, "{area}");
        assert_eq!(course.depth_max.iter().max(), Some(&5));
        assert!((course.depth_mean[0] - 3.0).abs() < 1e-9);
    }
}
