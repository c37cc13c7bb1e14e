//! A rate over the course of one run.

use seekwell_io::measurement::{Interval, Series};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_runs::Beginning;

/// The most parts of a second half.
const PARTS: usize = 10;
/// The fewest requests in a second half.
const FEWEST: u64 = 4;
/// The fewest requests in a part on average, so that one more or less is 1 %.
const REQUESTS: u64 = 100;

/// The rate that a metric is; `None` for other metrics.
pub(super) fn rate(metric: &str) -> Option<Rate> {
    let (op, of) = metric.split_once('.')?;
    let op = [Op::Read, Op::Write].into_iter().find(|known| known.name() == op)?;
    match of {
        "requests_per_s" => Some(Rate { op, is_bytes: false }),
        "rate_bytes_per_s" => Some(Rate { op, is_bytes: true }),
        _ => None,
    }
}

/// The rate of an operation, in requests or bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    pub op: Op,
    pub is_bytes: bool,
}

/// The rate over one run, in equal steps; only the last one may be shorter.
#[derive(Clone, Copy)]
pub(super) struct Course<'a> {
    pub series: &'a Series,
    pub elapsed: Nanos,
    pub rate: Rate,
}

impl Course<'_> {
    /// The mean rate over the beginning of the run, or over all of a shorter run.
    pub fn beginning(&self, part: Beginning) -> f64 {
        let (mut amount, mut time) = (0.0, 0.0);
        let mut requests = 0;
        for (i, step) in self.series.steps.iter().enumerate() {
            let took = self.took(i);
            let of_step = self.requests(step);
            // Within a step the rate is taken to be even.
            let share = match part {
                Beginning::Ns(most) => (most.as_secs_f64() - time) / took,
                Beginning::Requests(most) if requests == most => 0.0,
                Beginning::Requests(most) => (most - requests) as f64 / of_step as f64,
            };
            let share = share.clamp(0.0, 1.0);
            amount += self.amount(step) * share;
            time += took * share;
            requests += of_step;
            if share < 1.0 {
                break;
            }
        }
        amount / time
    }

    /// The mean rate over the second half of the run; `None` if there are too few requests.
    pub fn settled(&self) -> Option<f64> {
        let (from, to) = self.second_half();
        (self.requests_in(from, to) >= FEWEST).then(|| self.mean(from, to))
    }

    /// The rates of equal parts of the second half; empty if there are too few requests.
    pub fn parts(&self) -> Vec<f64> {
        let (from, to) = self.second_half();
        let requests = self.requests_in(from, to);
        let count = PARTS.min(to - from).min((requests / REQUESTS) as usize);
        let each = (to - from).checked_div(count).unwrap_or(0);
        (0..count)
            .map(|i| self.mean(to - (count - i) * each, to - (count - i - 1) * each))
            .collect()
    }

    /// Bytes that all operations had moved by then.
    pub fn bytes_until(&self, time: Nanos) -> u64 {
        let steps = (time.0 / self.series.step_ns.0) as usize;
        self.series.steps.iter().take(steps).flat_map(|step| step.bytes).sum()
    }

    pub fn bytes_per_request(&self) -> f64 {
        let steps = &self.series.steps;
        let moved =
            |step: &Interval| step.requests[Op::Read as usize] + step.requests[Op::Write as usize];
        let requests: u64 = steps.iter().map(moved).sum();
        let bytes: u64 = steps.iter().flat_map(|step| step.bytes).sum();
        bytes as f64 / requests.max(1) as f64
    }

    /// Its steps, from after one with a completion to one with a completion: if requests are few,
    /// one still in flight would otherwise count as idle time.
    fn second_half(&self) -> (usize, usize) {
        let steps = &self.series.steps;
        let last = |steps: &[Interval]| steps.iter().rposition(|step| self.requests(step) > 0);
        let to = last(steps).map_or(0, |last| last + 1);
        let from = last(&steps[..to / 2]).map_or(0, |last| last + 1);
        (from, to)
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        let amount: f64 = self.series.steps[from..to].iter().map(|step| self.amount(step)).sum();
        let time: f64 = (from..to).map(|i| self.took(i)).sum();
        amount / time
    }

    fn amount(&self, step: &Interval) -> f64 {
        match self.rate.is_bytes {
            true => step.bytes[self.rate.op as usize] as f64,
            false => self.requests(step) as f64,
        }
    }

    fn requests_in(&self, from: usize, to: usize) -> u64 {
        self.series.steps[from..to].iter().map(|step| self.requests(step)).sum()
    }

    const fn requests(&self, step: &Interval) -> u64 {
        step.requests[self.rate.op as usize]
    }

    /// How long a step took, in seconds.
    fn took(&self, number: usize) -> f64 {
        let step = self.series.step_ns;
        let from = Nanos(step.0 * number as u64);
        self.elapsed.since(from).min(step).as_secs_f64().max(f64::MIN_POSITIVE)
    }
}
