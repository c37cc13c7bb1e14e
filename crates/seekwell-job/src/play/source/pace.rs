//! What holds requests back: rates, pauses, shares against other jobs; and what is too slow.

use crate::job::{By, Job, Process, ThinkAt, Thinktime};
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::exponential;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An upper bound on one kind of request.
#[derive(Debug, Clone, Copy)]
struct Limit {
    ns_per_byte: f64,
    ns_per_request: f64,
    poisson: bool,
    /// When the next request is due; a fraction so that even gaps do not drift.
    due_ns: Option<f64>,
}

/// Rates of all kinds of request of one clone.
#[derive(Debug)]
pub struct Pacer {
    limits: By<Option<Limit>>,
    /// Time lost in pauses is not made up for.
    forgets_pauses: bool,
}

impl Pacer {
    /// That of a job; `None` if it has no upper bound.
    pub fn new(job: &Job) -> Option<Self> {
        let poisson = job.rate.process == Process::Poisson;
        let limit = |bytes: Option<u64>, iops: Option<u32>| {
            let (ns_per_byte, ns_per_request) = match (bytes, iops) {
                (Some(bytes), _) if bytes > 0 => (1e9 / bytes as f64, 0.0),
                (_, Some(iops)) if iops > 0 => (0.0, 1e9 / f64::from(iops)),
                _ => return None,
            };
            Some(Limit { ns_per_byte, ns_per_request, poisson, due_ns: None })
        };
        let (bytes, iops) = (&job.rate.bytes_per_s, &job.rate.iops);
        let limits = By {
            read: limit(bytes.read, iops.read),
            write: limit(bytes.write, iops.write),
            trim: limit(bytes.trim, iops.trim),
        };
        let any = limits.iter().any(Option::is_some);
        any.then_some(Self { limits, forgets_pauses: job.rate.ignore_thinktime })
    }

    /// When a kind of request is due; `None` if it is not bounded. The first is due at once.
    #[inline]
    pub fn due(&mut self, op: Op, now: Nanos) -> Option<Nanos> {
        let limit = self.limits.of_mut(op).as_mut()?;
        Some(Nanos(*limit.due_ns.get_or_insert(now.0 as f64) as u64))
    }

    /// A request was handed out: the next is due a gap later.
    #[inline]
    pub fn issued(&mut self, op: Op, len: u32, rng: &mut Xoshiro256PlusPlus) {
        let Some(limit) = self.limits.of_mut(op) else { return };
        let mut gap = limit.ns_per_request + limit.ns_per_byte * f64::from(len);
        if limit.poisson {
            gap *= exponential(rng);
        }
        if let Some(due) = &mut limit.due_ns {
            *due += gap;
        }
    }

    /// A pause is over: what was not done meanwhile is not made up for, where that was asked.
    fn paused(&mut self, pause: Nanos) {
        if !self.forgets_pauses {
            return;
        }
        for limit in [&mut self.limits.read, &mut self.limits.write, &mut self.limits.trim] {
            if let Some(Limit { due_ns: Some(due), .. }) = limit {
                *due += pause.0 as f64;
            }
        }
    }
}

/// Pauses between requests.
#[derive(Debug)]
pub struct Think {
    rule: Thinktime,
    counted: u32,
    /// When requests were last allowed to begin.
    since: Option<Nanos>,
    state: Thinking,
}

#[derive(Debug, Clone, Copy)]
enum Thinking {
    /// Requests go on.
    No,
    /// A pause begins when nothing is outstanding any more.
    Draining,
    /// Until then.
    Until(Nanos),
}

impl Think {
    /// By the rule of a job.
    pub const fn new(rule: Thinktime) -> Self {
        Self { rule, counted: 0, since: None, state: Thinking::No }
    }

    /// Counts a request issued or completed.
    #[inline]
    pub const fn count(&mut self, at: ThinkAt) {
        let counts = matches!(
            (at, self.rule.at),
            (ThinkAt::Issue, ThinkAt::Issue) | (ThinkAt::Complete, ThinkAt::Complete)
        );
        if counts {
            self.counted += 1;
            if self.counted >= self.rule.every && matches!(self.state, Thinking::No) {
                self.state = Thinking::Draining;
            }
        }
    }

    /// Until when nothing may be issued; [`Nanos::MAX`] until a completion comes.
    pub fn wait(
        &mut self,
        now: Nanos,
        outstanding: u32,
        pacer: Option<&mut Pacer>,
    ) -> Option<Nanos> {
        let since = *self.since.get_or_insert(now);
        if self.rule.io_time > Nanos::ZERO
            && matches!(self.state, Thinking::No)
            && now.since(since) >= self.rule.io_time
        {
            self.state = Thinking::Draining;
        }
        match self.state {
            Thinking::No => None,
            Thinking::Draining if outstanding > 0 => Some(Nanos::MAX),
            Thinking::Draining => {
                self.state = Thinking::Until(now + self.rule.pause);
                Some(now + self.rule.pause)
            }
            Thinking::Until(at) if now < at => Some(at),
            Thinking::Until(_) => {
                self.state = Thinking::No;
                (self.counted, self.since) = (0, Some(now));
                if let Some(pacer) = pacer {
                    pacer.paused(self.rule.pause);
                }
                None
            }
        }
    }
}

/// Jobs that share requests in fixed proportions.
#[derive(Debug, Default)]
pub struct Flow {
    requests: AtomicU64,
    weights: AtomicU64,
}

/// One clone's part in a flow.
#[derive(Debug)]
pub struct FlowShare {
    flow: Arc<Flow>,
    weight: u64,
    requests: u64,
    sleep: Nanos,
}

impl FlowShare {
    /// Looked at again after this long if no pause was asked for.
    const LOOK: Nanos = Nanos::from_micros(100);

    /// Joins a flow with a weight of at least 1.
    pub fn join(flow: Arc<Flow>, weight: u64, sleep: Nanos) -> Self {
        let weight = weight.max(1);
        flow.weights.fetch_add(weight, Relaxed);
        Self { flow, weight, requests: 0, sleep: sleep.max(Self::LOOK) }
    }

    /// Counts a request, or says until when to wait because it is ahead of its share.
    #[inline]
    pub fn wait(&self, now: Nanos) -> Option<Nanos> {
        let (all, weights) =
            (self.flow.requests.load(Relaxed), self.flow.weights.load(Relaxed).max(1));
        let mine = u128::from(self.requests) * u128::from(weights);
        let share = u128::from(all) * u128::from(self.weight);
        (self.requests > 0 && mine > share).then(|| now + self.sleep)
    }

    /// Counts a request.
    #[inline]
    pub fn issued(&mut self) {
        self.requests += 1;
        self.flow.requests.fetch_add(1, Relaxed);
    }
}

impl Drop for FlowShare {
    /// Those that go on share among themselves.
    fn drop(&mut self) {
        self.flow.weights.fetch_sub(self.weight, Relaxed);
        self.flow.requests.fetch_sub(self.requests, Relaxed);
    }
}

/// A job was slower than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSlow {
    /// Which requests.
    pub op: Op,
    /// `bytes/s` or `requests/s`.
    pub unit: &'static str,
    /// At least so much was asked for.
    pub needed: u64,
    /// So much it was.
    pub found: u64,
}

/// The least that a clone has to do.
#[derive(Debug)]
pub struct Floor {
    bytes: By<Option<u64>>,
    requests: By<Option<u64>>,
    cycle: Nanos,
    since: Option<Nanos>,
    done: By<(u64, u64)>,
}

impl Floor {
    /// That of a job; `None` if it has no lower bound.
    pub fn new(job: &Job) -> Option<Self> {
        let made = job.makes();
        let of_made = |bound: By<Option<u64>>| By {
            read: bound.read.filter(|n| *n > 0 && made.read),
            write: bound.write.filter(|n| *n > 0 && made.write),
            trim: bound.trim.filter(|n| *n > 0 && made.trim),
        };
        let bytes = of_made(job.rate.min_bytes_per_s);
        let requests = of_made(job.rate.min_iops.map(|n| n.map(u64::from)));
        let any = bytes.iter().chain(requests.iter()).any(Option::is_some);
        any.then(|| Self {
            bytes,
            requests,
            cycle: job.rate.cycle.max(Nanos::from_millis(1)),
            since: None,
            done: By::all((0, 0)),
        })
    }

    /// Counts a request that is done.
    pub fn completed(&mut self, op: Op, len: u32) {
        let done = self.done.of_mut(op);
        (done.0, done.1) = (done.0 + u64::from(len), done.1 + 1);
    }

    /// At the end of a cycle: what fell short of its bound.
    pub fn look(&mut self, now: Nanos) -> Option<TooSlow> {
        let since = *self.since.get_or_insert(now);
        let elapsed = now.since(since);
        if elapsed < self.cycle {
            return None;
        }
        let per_s = |n: u64| (n as f64 / elapsed.as_secs_f64()) as u64;
        let short = [Op::Read, Op::Write, Op::Discard].into_iter().find_map(|op| {
            let (bytes, requests) = *self.done.of(op);
            let check = |needed: Option<u64>, n, unit| {
                let found = per_s(n);
                needed.filter(|needed| found < *needed).map(|needed| (needed, found, unit))
            };
            let (needed, found, unit) = check(*self.bytes.of(op), bytes, "bytes/s")
                .or_else(|| check(*self.requests.of(op), requests, "requests/s"))?;
            Some(TooSlow { op, unit, needed, found })
        });
        self.since = Some(now);
        self.done = By::all((0, 0));
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_keep_their_proportion() {
        let flow = Arc::<Flow>::default();
        let mut shares = [8, 1].map(|w| FlowShare::join(Arc::clone(&flow), w, Nanos::ZERO));
        for _ in 0..9_000 {
            for share in &mut shares {
                if share.wait(Nanos::ZERO).is_none() {
                    share.issued();
                }
            }
        }
        let [eight, one] = shares.each_ref().map(|s| s.requests);
        let ratio = eight as f64 / one as f64;
        assert!((7.9..8.1).contains(&ratio), "{eight} {one}");
    }

    #[test]
    fn a_pause_comes_after_so_many_requests_and_waits_for_those_outstanding() {
        let rule = Thinktime {
            pause: Nanos(100),
            spin: Nanos::ZERO,
            every: 2,
            at: ThinkAt::Complete,
            io_time: Nanos::ZERO,
        };
        let mut think = Think::new(rule);
        assert_eq!(think.wait(Nanos(0), 0, None), None);
        think.count(ThinkAt::Complete);
        assert_eq!(think.wait(Nanos(1), 1, None), None);
        think.count(ThinkAt::Complete);
        assert_eq!(think.wait(Nanos(2), 1, None), Some(Nanos::MAX));
        assert_eq!(think.wait(Nanos(3), 0, None), Some(Nanos(103)));
        assert_eq!(think.wait(Nanos(50), 0, None), Some(Nanos(103)));
        assert_eq!(think.wait(Nanos(103), 0, None), None);
        think.count(ThinkAt::Issue);
        think.count(ThinkAt::Complete);
        assert_eq!(think.wait(Nanos(104), 0, None), None);
    }
}
