//! `steadystate`: whether the rates of jobs that are reported together have settled, by fio's rule
//! (`steadystate.c` of fio 3.33).
//!
//! A rate is taken every so often, and the last of them over `steadystate_duration` are the window.
//! It is steady when the largest distance of a rate from their mean, or the slope of the line
//! fitted to them by least squares, is below the limit. The slope is that from one rate to the
//! next, as in fio.

use crate::job::{Metric, SteadyState};
use seekwell_io::units::Nanos;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Rates over one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Requests a second.
    pub requests_per_s: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Mean latency in nanoseconds.
    pub latency_ns: f64,
}

/// Counts since measuring began.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    requests: u64,
    bytes: u64,
    latency_ns: u64,
}

/// Where the rule stands.
#[derive(Debug, Default)]
struct State {
    /// When the current interval began, and the counts at that time.
    since: Option<(Nanos, Counts)>,
    window: VecDeque<Rates>,
    found: Option<f64>,
}

/// Judges the clones that share it. Each reports what it has done.
#[derive(Debug)]
pub struct Steady {
    rule: SteadyState,
    length: usize,
    requests: AtomicU64,
    bytes: AtomicU64,
    latency_ns: AtomicU64,
    /// When the rates are to be looked at next, in nanoseconds.
    next: AtomicU64,
    state: Mutex<State>,
    attained: AtomicBool,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The rule.
    pub rule: SteadyState,
    /// It was steady, which ended the jobs.
    pub attained: bool,
    /// The last deviation or slope, in the unit of the limit; none before the window was full.
    pub found: Option<f64>,
    /// Mean of the metric over the window, in its own unit.
    pub mean: f64,
    /// The last rates.
    pub window: Vec<Rates>,
}

impl Steady {
    /// Nothing done yet.
    pub fn new(rule: SteadyState) -> Self {
        Self {
            rule,
            length: samples(&rule),
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            latency_ns: AtomicU64::new(0),
            next: AtomicU64::new(u64::MAX),
            state: Mutex::default(),
            attained: AtomicBool::new(false),
        }
    }

    /// A clone begins to be measured: the first that does sets the time.
    pub fn start(&self, at: Nanos) {
        let first = (at + self.rule.ramp).0;
        let _ = self.next.compare_exchange(u64::MAX, first, Relaxed, Relaxed);
    }

    /// A request of a clone was done whole.
    #[inline]
    pub fn completed(&self, bytes: u32, latency: Nanos) {
        self.requests.fetch_add(1, Relaxed);
        self.bytes.fetch_add(u64::from(bytes), Relaxed);
        self.latency_ns.fetch_add(latency.0, Relaxed);
    }

    /// Whether the rates are steady, so that nothing more is to be begun.
    #[inline]
    pub fn is_over(&self, now: Nanos) -> bool {
        if now.0 >= self.next.load(Relaxed) {
            self.look(now);
        }
        self.attained.load(Relaxed)
    }

    fn look(&self, now: Nanos) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if now.0 < self.next.load(Relaxed) || self.attained.load(Relaxed) {
            return;
        }
        let counts = Counts {
            requests: self.requests.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            latency_ns: self.latency_ns.load(Relaxed),
        };
        if let Some((since, before)) = state.since {
            let seconds = now.since(since).as_secs_f64();
            let requests = (counts.requests - before.requests) as f64;
            state.window.push_back(Rates {
                requests_per_s: requests / seconds,
                bytes_per_s: (counts.bytes - before.bytes) as f64 / seconds,
                latency_ns: (counts.latency_ns - before.latency_ns) as f64 / requests.max(1.0),
            });
            if state.window.len() > self.length {
                state.window.pop_front();
            }
            if state.window.len() == self.length {
                let found = self.judge(&state.window);
                state.found = Some(found);
                self.attained.store(found < self.rule.limit, Relaxed);
            }
        }
        state.since = Some((now, counts));
        self.next.store((now + self.rule.check_interval).0, Relaxed);
    }

    fn metric(&self, rates: &Rates) -> f64 {
        match self.rule.metric {
            Metric::Iops => rates.requests_per_s,
            Metric::Bandwidth => rates.bytes_per_s,
            Metric::Latency => rates.latency_ns,
        }
    }

    fn mean(&self, window: &VecDeque<Rates>) -> f64 {
        window.iter().map(|rates| self.metric(rates)).sum::<f64>() / window.len().max(1) as f64
    }

    /// The deviation or slope of a full window, in the unit of the limit. Where everything stands
    /// still, nothing is a share of the mean: that is not steady.
    fn judge(&self, window: &VecDeque<Rates>) -> f64 {
        let mean = self.mean(window);
        let values = window.iter().map(|rates| self.metric(rates));
        let middle = (window.len() - 1) as f64 / 2.0;
        let found = if self.rule.slope {
            let (mut across, mut along) = (0.0, 0.0);
            for (x, y) in values.enumerate() {
                let x = x as f64 - middle;
                (across, along) = (across + x * (y - mean), along + x * x);
            }
            (across / along).abs()
        } else {
            values.map(|value| (value - mean).abs()).fold(0.0, f64::max)
        };
        match self.rule.percent {
            true if mean == 0.0 => f64::INFINITY,
            true => 100.0 * found / mean,
            false => found,
        }
    }

    /// How it ended, or stands.
    pub fn verdict(&self) -> Verdict {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Verdict {
            rule: self.rule,
            attained: self.attained.load(Relaxed),
            found: state.found.filter(|found| found.is_finite()),
            mean: self.mean(&state.window),
            window: state.window.iter().copied().collect(),
        }
    }
}

/// Rates in the window of a rule.
pub fn samples(rule: &SteadyState) -> usize {
    (rule.duration.0 / rule.check_interval.0.max(1)) as usize
}

/// fio's word for what a rule looks at: `iops`, `bw_slope`.
pub fn criterion(rule: &SteadyState) -> String {
    let metric = match rule.metric {
        Metric::Iops => "iops",
        Metric::Bandwidth => "bw",
        Metric::Latency => "lat",
    };
    format!("{metric}{}", if rule.slope { "_slope" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Surroundings, parse_text};
    use proptest::prelude::*;
    use std::path::Path;

    fn steady(options: &str) -> Steady {
        let text = format!("[j]\nsize=1m\n{options}\n");
        let parsed = parse_text(&text, Path::new("t.fio"), &Surroundings::fixed());
        let job = parsed.unwrap_or_else(|e| panic!("{e}")).jobs.remove(0);
        Steady::new(job.steady_state.expect("a rule"))
    }

    /// Does this many requests of 4 KiB in each second; the second in which it was steady.
    fn run(steady: &Steady, per_s: &[u64]) -> Option<usize> {
        steady.start(Nanos::ZERO);
        let second = |n: usize| Nanos::from_millis(1000 * n as u64);
        (0..=per_s.len()).find(|n| {
            let over = steady.is_over(second(*n));
            (0..per_s.get(*n).copied().unwrap_or(0)).for_each(|_| steady.completed(4096, Nanos(7)));
            over
        })
    }

    #[test]
    fn a_window_is_steady_when_no_rate_is_far_from_the_mean() {
        let rates = [500, 900, 1000, 1010, 990, 1000];
        assert_eq!(run(&steady("ss=iops:2%\nss_dur=3"), &rates), Some(5));
        assert_eq!(run(&steady("ss=iops:2\nss_dur=3"), &rates), None);
        assert_eq!(run(&steady("ss=iops:11\nss_dur=3"), &rates), Some(5));
        assert_eq!(run(&steady("ss=bw:45k\nss_dur=3"), &rates), Some(5));
        // The first rates are not looked at before the ramp is over.
        let level = [1000; 8];
        assert_eq!(run(&steady("ss=iops:1%\nss_dur=3"), &level), Some(3));
        assert_eq!(run(&steady("ss=iops:1%\nss_dur=3\nss_ramp=4"), &level), Some(7));
    }

    #[test]
    fn a_slope_is_that_of_the_line_from_one_rate_to_the_next() {
        let rising = [100, 110, 120, 130, 140];
        let slope = steady("ss=iops_slope:1\nss_dur=4");
        assert_eq!(run(&slope, &rising), None);
        let verdict = slope.verdict();
        assert_eq!((verdict.found, verdict.mean, verdict.attained), (Some(10.0), 125.0, false));
        let percent = steady("ss=iops_slope:8.1%\nss_dur=4");
        assert_eq!(run(&percent, &rising), Some(5));
        assert_eq!(percent.verdict().found, Some(8.0));
        // Far from the mean and yet level.
        assert_eq!(run(&steady("ss=iops_slope:1\nss_dur=4"), &[50, 150, 150, 50]), Some(4));
        assert_eq!(run(&steady("ss=lat:1us\nss_dur=2"), &[5, 500, 50]), Some(2));
    }

    #[test]
    fn nothing_done_is_not_steady() {
        let nothing = steady("ss=iops:50%\nss_dur=2");
        assert_eq!(run(&nothing, &[0; 6]), None);
        assert_eq!(nothing.verdict().found, None);
    }

    proptest! {
        #[test]
        fn it_ends_with_the_first_window_within_the_limit(
            rates in prop::collection::vec(0u64..200, 2..12), length in 2usize..5,
            limit in 1u64..100,
        ) {
            let rule = steady(&format!("ss=iops:{limit}\nss_dur={length}"));
            let expected = rates.windows(length).position(|window| {
                let mean = window.iter().sum::<u64>() as f64 / length as f64;
                window.iter().all(|rate| (*rate as f64 - mean).abs() < limit as f64)
            });
            prop_assert_eq!(run(&rule, &rates), expected.map(|from| from + length));
        }
    }
}
