//! What stands between a host and a volume that is not its own: limits with credits, and the way
//! there and back.
//!
//! A hypervisor or a provider's network gives a volume a rate of requests and of bytes, and credits
//! that are saved while less is asked for and let it be faster until they are spent. Commands pass
//! in order of arrival, each as soon as there are credits for it and the peak rate allows it (two
//! token buckets: J. Turner, "New Directions in Communications (or Which Way to the Information
//! Age?)", IEEE Communications Magazine 24(10), 1986). A drive that heats up is the same thing:
//! what it may do before it slows down are its credits.

use crate::limits::{OutOfRange, within};
use crate::part::{Command, Done, Part, Usage};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A rate that something is limited to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateParams {
    /// What can be sustained, a second.
    pub per_s: u64,
    /// The most a second while there are credits.
    pub most_per_s: u64,
    /// Credits that can be saved. All are there when time begins.
    pub credits: u64,
}

/// Limits of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThrottleParams {
    /// Requests; not limited without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<RateParams>,
    /// The most bytes that count as one request; a longer one counts as several.
    pub request_bytes: u32,
    /// Bytes read and written; not limited without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<RateParams>,
    /// Time of the way there and back, in nanoseconds.
    pub latency_ns: u64,
    /// The most commands beyond the way there at once; as many as the part takes without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Time of the host's processor for each command, in nanoseconds: exits and emulation.
    #[serde(default)]
    pub processor_ns: u64,
}

impl ThrottleParams {
    /// Whether there can be such limits.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that cannot be.
    pub fn check(&self) -> Result<(), OutOfRange> {
        const MOST: u64 = 1 << 44;
        within("request_bytes", self.request_bytes, 512..=1 << 30)?;
        within("latency_ns", self.latency_ns, 0..=60_000_000_000)?;
        within("depth", self.depth.unwrap_or(1), 1..=65_536)?;
        within("processor_ns", self.processor_ns, 0..=1_000_000_000)?;
        if let Some(rate) = self.requests {
            within("requests.per_s", rate.per_s, 1..=MOST)?;
            within("requests.most_per_s", rate.most_per_s, rate.per_s..=MOST)?;
            within("requests.credits", rate.credits, 0..=MOST)?;
        }
        if let Some(rate) = self.bytes {
            within("bytes.per_s", rate.per_s, 1..=MOST)?;
            within("bytes.most_per_s", rate.most_per_s, rate.per_s..=MOST)?;
            within("bytes.credits", rate.credits, 0..=MOST)?;
        }
        Ok(())
    }
}

const SECOND: u128 = 1_000_000_000;

/// A bucket of credits and the peak rate at which it is emptied.
#[derive(Debug)]
struct Bucket {
    rate: RateParams,
    /// Credits at a time, in billionths. Negative while what was taken is still to be earned.
    level: i128,
    at: Nanos,
    /// When the next may pass by the peak rate.
    free: Nanos,
}

impl Bucket {
    fn new(rate: RateParams) -> Self {
        let level = (u128::from(rate.credits) * SECOND) as i128;
        Self { rate, level, at: Nanos::ZERO, free: Nanos::ZERO }
    }

    /// When that many may pass, from `now` on; takes their credits.
    fn take(&mut self, count: u64, now: Nanos) -> Nanos {
        let earned = i128::from(now.since(self.at).0) * i128::from(self.rate.per_s);
        let full = (u128::from(self.rate.credits) * SECOND) as i128;
        self.level = (self.level + earned).min(full) - (u128::from(count) * SECOND) as i128;
        self.at = now;
        let owed = (-self.level).max(0) as u128;
        let earned_at = Nanos(now.0 + owed.div_ceil(u128::from(self.rate.per_s)) as u64);
        let passes = self.free.max(now);
        let spacing = (u128::from(count) * SECOND).div_ceil(u128::from(self.rate.most_per_s));
        self.free = passes + Nanos(spacing as u64);
        // Without credits a request is done as it is earned, with them once it has passed.
        earned_at.max(self.free)
    }
}

/// A part behind limits.
#[derive(Debug)]
pub struct Throttle<P> {
    params: ThrottleParams,
    part: P,
    requests: Option<Bucket>,
    bytes: Option<Bucket>,
    /// Commands that wait, by when they pass.
    waiting: VecDeque<(Nanos, Command)>,
    /// What is on its way back, by when it arrives.
    returning: VecDeque<Done>,
    finished: Vec<Done>,
    /// Commands that the part has, and all that came.
    inside: u32,
    came: u64,
}

impl<P: Part> Throttle<P> {
    /// A part behind limits, all credits saved.
    ///
    /// # Errors
    /// As [`ThrottleParams::check`].
    pub fn new(params: ThrottleParams, part: P) -> Result<Self, OutOfRange> {
        params.check()?;
        Ok(Self {
            requests: params.requests.map(Bucket::new),
            bytes: params.bytes.map(Bucket::new),
            waiting: VecDeque::new(),
            returning: VecDeque::new(),
            finished: Vec::new(),
            inside: 0,
            came: 0,
            params,
            part,
        })
    }

    fn has_place(&self) -> bool {
        self.params.depth.is_none_or(|most| self.inside < most)
    }

    /// When a command passes.
    fn passes(&mut self, command: &Command, now: Nanos) -> Nanos {
        let first = self.waiting.back().map_or(now, |(at, _)| now.max(*at));
        let moves = matches!(command.op, Op::Read | Op::Write);
        let counted = u64::from(command.len.div_ceil(self.params.request_bytes).max(1));
        let requests = self.requests.as_mut().filter(|_| moves);
        let at = requests.map_or(first, |bucket| bucket.take(counted, now));
        let bytes = self.bytes.as_mut().filter(|_| moves);
        first.max(at).max(bytes.map_or(first, |bucket| bucket.take(command.len.into(), now)))
    }
}

impl<P: Part> Part for Throttle<P> {
    fn capacity(&self) -> u64 {
        self.part.capacity()
    }

    fn depth(&self) -> u32 {
        self.part.depth()
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let at = self.passes(&command, now);
        self.waiting.push_back((at, command));
        self.came += 1;
    }

    fn next(&self) -> Nanos {
        let first = self.waiting.front().filter(|_| self.has_place());
        let passes = first.map_or(Nanos::MAX, |(at, _)| *at);
        let returns = self.returning.front().map_or(Nanos::MAX, |done| done.at);
        self.part.next().min(passes).min(returns)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        loop {
            let at = self.next();
            if at > now || at == Nanos::MAX {
                return;
            }
            self.part.advance(at, &mut self.finished);
            self.inside -= self.finished.len() as u32;
            let latency = Nanos(self.params.latency_ns);
            let back = |end: Done| {
                let arrives = end.at + latency;
                Done { tag: end.tag, ready: arrives, at: arrives }
            };
            self.returning.extend(self.finished.drain(..).map(back));
            while self.returning.front().is_some_and(|end| end.at <= at) {
                done.extend(self.returning.pop_front());
            }
            while let Some((passes, command)) = self.waiting.front().copied()
                && passes <= at
                && self.has_place()
            {
                self.waiting.pop_front();
                self.inside += 1;
                self.part.submit(command, at);
            }
        }
    }

    fn host_waits(&mut self, until: Nanos, now: Nanos) {
        self.part.host_waits(until, now);
    }

    fn usage(&self) -> Usage {
        self.part.usage() + Usage::of_processor(Nanos(self.came * self.params.processor_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeDrive, command, drain};
    use proptest::prelude::*;

    const DISTANT: ThrottleParams = ThrottleParams {
        requests: None,
        request_bytes: 1 << 30,
        bytes: None,
        latency_ns: 400_000,
        depth: None,
        processor_ns: 0,
    };

    fn volume(requests: Option<RateParams>, bytes: Option<RateParams>) -> Throttle<FakeDrive> {
        let params = ThrottleParams { requests, request_bytes: 256 << 10, bytes, ..DISTANT };
        Throttle::new(params, FakeDrive::new(4096, 100_000)).expect("legal")
    }

    /// The most that 3 per second with 5,400 credits lasts at 3,000 a second is 1.8 s; here scaled
    /// down. What is sustained after that is 100 a second.
    #[test]
    fn credits_carry_the_peak_rate_until_they_are_spent() {
        let rate = RateParams { per_s: 100, most_per_s: 1_000, credits: 900 };
        let mut volume = volume(Some(rate), None);
        for tag in 0..1_100 {
            volume.submit(command(tag, Op::Read, 0, 4096), Nanos::ZERO);
        }
        let done = drain(&mut volume);
        let at = |n: usize| done[n - 1].at.0 - 500_000;
        assert_eq!(at(1), 1_000_000, "one at the peak rate");
        // 900 credits and 100 earned in the second they last.
        assert_eq!(at(1_000), 1_000_000_000);
        assert_eq!(at(1_100), 2_000_000_000, "100 a second from then on");
    }

    #[test]
    fn credits_are_earned_while_nothing_is_asked_for() {
        let rate = RateParams { per_s: 100, most_per_s: 1_000, credits: 50 };
        let mut volume = volume(Some(rate), None);
        (0..50).for_each(|tag| volume.submit(command(tag, Op::Write, 0, 4096), Nanos::ZERO));
        drain(&mut volume);
        let later = Nanos::from_millis(10_000);
        (0..50).for_each(|tag| volume.submit(command(tag, Op::Write, 0, 4096), later));
        let last = drain(&mut volume).last().expect("50").at.since(later);
        assert_eq!(last, Nanos(50_000_000 + 500_000), "at the peak rate again");
    }

    #[test]
    fn a_long_request_counts_as_several_and_bytes_have_a_rate_of_their_own() {
        let rate = |per_s| Some(RateParams { per_s, most_per_s: per_s, credits: 0 });
        let alone = |mut volume: Throttle<FakeDrive>, len| {
            volume.submit(command(0, Op::Read, 0, len), Nanos::ZERO);
            drain(&mut volume)[0].at.0 - 500_000
        };
        assert_eq!(alone(volume(rate(1_000), None), 1 << 20), 4_000_000);
        assert_eq!(alone(volume(rate(1_000), rate(1 << 20)), 1 << 20), 1_000_000_000);
        assert_eq!(alone(volume(None, None), 1 << 20), 0, "only the way and the drive");
    }

    #[test]
    fn a_hypervisor_lets_so_many_in_and_takes_its_time_of_the_processor() {
        let params = ThrottleParams { depth: Some(4), processor_ns: 5_000, ..DISTANT };
        let mut disk = Throttle::new(params, FakeDrive::new(64, 100_000)).expect("legal");
        (0..10).for_each(|tag| disk.submit(command(tag, Op::Read, 0, 4096), Nanos::ZERO));
        let ends: Vec<u64> = drain(&mut disk).iter().map(|end| end.at.0).collect();
        let in_fours = [[500_000; 4], [600_000; 4]].concat();
        assert_eq!((&ends[..8], &ends[8..]), (&in_fours[..], &[700_000; 2][..]));
        assert_eq!(disk.usage().processor, Nanos(50_000));
    }

    /// Heat that builds up at 2,500 MB/s and goes at 500 is a credit for five seconds of writing.
    #[test]
    fn a_drive_that_heats_up_slows_down_and_cools_while_it_rests() {
        let heat = RateParams { per_s: 500 << 20, most_per_s: 2_500 << 20, credits: 10_000 << 20 };
        let params = ThrottleParams { bytes: Some(heat), latency_ns: 0, ..DISTANT };
        let mut drive = Throttle::new(params, FakeDrive::new(4096, 0)).expect("legal");
        let second = |drive: &mut Throttle<FakeDrive>, from: u64, mib: u32| {
            let from = Nanos::from_millis(from * 1000);
            (0..mib).for_each(|tag| drive.submit(command(tag, Op::Write, 0, 1 << 20), from));
            drain(drive).last().expect("some").at.since(from).as_secs_f64()
        };
        assert!((second(&mut drive, 0, 12_500) - 5.0).abs() < 0.01, "as fast as it can");
        assert!((second(&mut drive, 5, 1_000) - 2.0).abs() < 0.01, "hot");
        assert!((second(&mut drive, 27, 12_500) - 5.0).abs() < 0.01, "cooled for 20 s");
    }

    proptest! {
        #[test]
        fn no_more_passes_than_is_earned_and_saved(
            gaps in prop::collection::vec(0_u64..20_000_000, 1..200),
            per_s in 1_u64..2_000,
            peak in 1_u64..5,
            credits in 0_u64..100,
        ) {
            let rate = RateParams { per_s, most_per_s: per_s * peak, credits };
            let mut volume = volume(Some(rate), None);
            let (mut now, mut done) = (Nanos::ZERO, Vec::new());
            for (tag, gap) in gaps.iter().enumerate() {
                now += Nanos(*gap);
                while volume.next() <= now {
                    let at = volume.next();
                    volume.advance(at, &mut done);
                }
                volume.submit(command(tag as u32, Op::Read, 0, 4096), now);
            }
            done.extend(drain(&mut volume));
            prop_assert_eq!(done.len(), gaps.len());
            for (n, end) in done.iter().enumerate() {
                let passed = u128::from(end.at.0 - 500_000);
                let earned = u128::from(credits) * SECOND + passed * u128::from(per_s);
                prop_assert!((n as u128 + 1) * SECOND <= earned + u128::from(per_s));
                prop_assert!(n as u128 * SECOND <= passed * u128::from(per_s * peak));
            }
        }
    }
}
