//! What is shown of a run in progress: words and numbers, laid out for a width and a height.

use super::strip::{Strip, p99};
use seekwell_io::gauge::Glance;
use seekwell_io::units::{Nanos, three_digits, time_left};
use seekwell_report::units::iops;
use seekwell_report::wrap;
use std::time::{Duration, Instant};

const ROWS: usize = 5;
/// On a terminal of fewer lines the strip is left out.
const LOW: usize = 14;
/// A disk that completes nothing for this long is worth a word.
const SILENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy)]
pub enum Extent {
    /// Nobody knows.
    Unknown,
    /// A part of a whole, of anything.
    Part { done: u64, whole: u64 },
    Time {
        /// Planned time that is over.
        done: Nanos,
        /// Time that is still needed.
        left: Nanos,
    },
    Requests {
        /// Requests made before.
        from: u64,
        goal: u64,
    },
}

impl Extent {
    /// Whether requests are counted meanwhile.
    const fn is_measured(self) -> bool {
        matches!(self, Self::Time { .. } | Self::Requests { .. })
    }
}

/// What the last second gave.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Now {
    per_s: f64,
    bytes_per_s: f64,
    p99: Option<Nanos>,
}

/// Everything that is shown.
#[derive(Debug)]
pub struct Scene {
    what: String,
    extent: Extent,
    since: Instant,
    begun: Instant,
    /// Requests, bytes and the time when they were last looked at.
    seen: (u64, u64, Instant),
    /// When a request last completed.
    progress: Instant,
    /// The last second; nothing while nothing is measured.
    now: Option<Now>,
    strip: Strip,
}

impl Scene {
    /// Nothing is being done yet.
    pub fn new(now: Instant) -> Self {
        Self {
            what: String::new(),
            extent: Extent::Unknown,
            since: now,
            begun: now,
            seen: (0, 0, now),
            progress: now,
            now: None,
            strip: Strip::default(),
        }
    }

    /// Something else is done from `now` on. Gives whether measuring begins with it.
    pub fn turn(&mut self, what: &str, extent: Extent, now: Instant) -> bool {
        let begins = extent.is_measured() && !self.extent.is_measured();
        what.clone_into(&mut self.what);
        (self.extent, self.since) = (extent, now);
        begins
    }

    /// So many requests and bytes were before this.
    pub fn count_from(&mut self, (requests, bytes): (u64, u64), now: Instant) {
        (self.seen, self.progress) = ((requests, bytes, now), now);
    }

    /// Takes what a second gave: requests and bytes of the whole run, and the latencies since the
    /// last call. On a model's clock a second is another.
    pub fn second(
        &mut self,
        requests: u64,
        bytes: u64,
        glance: &Glance,
        modelled: bool,
        at: Instant,
    ) {
        let (requests_before, bytes_before, before) = self.seen;
        let moved = requests - requests_before;
        let real = at.duration_since(before).as_secs_f64();
        let span = if modelled { glance.span.as_secs_f64() } else { real };
        let counted = if modelled { glance.latencies.count() } else { moved };
        let per_s = |n: u64| if span > 0.0 { n as f64 / span } else { 0.0 };
        if moved > 0 {
            self.progress = at;
        }
        self.seen = (requests, bytes, at);
        if !self.extent.is_measured() {
            return;
        }
        let bytes_per_s = per_s(bytes - bytes_before);
        self.now = Some(Now { per_s: per_s(counted), bytes_per_s, p99: p99(&glance.latencies) });
        if glance.latencies.count() > 0 {
            self.strip.push(&glance.latencies);
        }
    }

    /// The share that is done and the time left, as far as they are known.
    fn done(&self, at: Instant) -> (Option<f64>, Option<Nanos>) {
        let passed = Nanos::from(at.duration_since(self.since));
        match self.extent {
            Extent::Unknown => (None, None),
            Extent::Part { done, whole } => (Some(done as f64 / whole.max(1) as f64), None),
            Extent::Time { done, left } => {
                let left_now = left.since(passed);
                let whole = (done + left).0.max(1) as f64;
                (Some(1.0 - left_now.0 as f64 / whole), Some(left_now))
            }
            Extent::Requests { from, goal } => {
                let made = self.seen.0.saturating_sub(from);
                let share = (made as f64 / goal.max(1) as f64).min(1.0);
                let left = (share > 0.0)
                    .then(|| Nanos::from_secs_f64(passed.as_secs_f64() * (1.0 / share - 1.0)));
                (Some(share), left)
            }
        }
    }

    fn last_second(&self, at: Instant) -> Option<String> {
        let silent = at.duration_since(self.progress);
        let now = self.now?;
        if silent > SILENCE {
            return Some(format!("nothing completed for {} s", silent.as_secs()));
        }
        let p99 = now.p99.map_or_else(String::new, |ns| format!(" · p99 {ns}"));
        let rate = now.bytes_per_s / 1e6;
        Some(format!("{} requests/s · {} MB/s{p99}", iops(now.per_s), three_digits(rate)))
    }

    /// The time since all began, in whole seconds or minutes.
    fn gone(&self, at: Instant) -> String {
        time_left(Nanos(at.duration_since(self.begun).as_secs() * 1_000_000_000))
    }

    pub fn line(&self, at: Instant) -> String {
        let gone = self.gone(at);
        let left = self.done(at).1.map(|left| format!("{} left", time_left(left)));
        let parts = [Some(gone), Some(self.what.clone()), self.last_second(at), left];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// Everything in a few lines of at most `width` columns. Nothing if there is nothing to say.
    pub fn lines(&self, width: usize, height: usize, at: Instant) -> Vec<String> {
        if self.what.is_empty() {
            return Vec::new();
        }
        let title = wrap(&seekwell_report::clean(&self.what), width, "", "").swap_remove(0);
        let mut lines = vec![title];
        lines.push(self.bar(width, at));
        lines.extend(self.last_second(at));
        if height >= LOW {
            lines.extend(self.strip.lines(width, ROWS));
        }
        lines.iter_mut().for_each(|line| *line = line.chars().take(width).collect());
        lines
    }

    /// A bar, the share that is done, and the time gone and left.
    fn bar(&self, width: usize, at: Instant) -> String {
        let gone = self.gone(at);
        let (share, left) = self.done(at);
        let left = left.map_or_else(String::new, |left| format!(", {} left", time_left(left)));
        let Some(share) = share else { return format!("{gone} gone{left}") };
        let share = share.clamp(0.0, 1.0);
        let words = format!("{:>3.0} %  {gone} gone{left}", share * 100.0);
        let room = width.saturating_sub(words.chars().count() + 2).clamp(5, 30);
        let full = (share * room as f64).round() as usize;
        format!("{}{}  {words}", "━".repeat(full), "─".repeat(room - full))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_io::histogram::Histogram;

    const SECOND: Duration = Duration::from_secs(1);

    fn glance(ns: u64, n: u64) -> Glance {
        let mut latencies = Histogram::default();
        latencies.record_many(Nanos(ns), n);
        Glance { latencies, span: Nanos::from_millis(10_000) }
    }

    fn running() -> (Scene, Instant) {
        let begun = Instant::now();
        let mut scene = Scene::new(begun);
        let ten = Nanos::from_millis(10_000);
        scene.turn("random read 4 KiB, depth 32", Extent::Time { done: ten, left: ten }, begun);
        scene.second(50_000, 50_000 << 12, &glance(150_000, 50_000), false, begun + SECOND);
        (scene, begun + SECOND)
    }

    #[test]
    fn time_rate_p99_and_the_strip_are_there_and_fit_any_width() {
        let (scene, at) = running();
        let lines = scene.lines(80, 24, at);
        assert_eq!(lines[0], "random read 4 KiB, depth 32");
        assert!(lines[1].ends_with(" 55 %  1 s gone, 9 s left"), "{lines:?}");
        assert_eq!(lines[2], "50.0k requests/s · 205 MB/s · p99 150 µs");
        assert_eq!(lines[3], "  100 µs │█");
        for width in [1, 10, 24, 39, 79] {
            for height in [3, 24] {
                let lines = scene.lines(width, height, at);
                assert!(lines.iter().all(|l| l.chars().count() <= width), "{width}: {lines:?}");
            }
        }
        assert_eq!(scene.lines(80, LOW - 1, at).len(), 3);
    }

    #[test]
    fn on_a_models_clock_a_rate_is_of_the_models_seconds() {
        let begun = Instant::now();
        let mut scene = Scene::new(begun);
        let ten = Nanos::from_millis(10_000);
        scene.turn("x", Extent::Time { done: ten, left: ten }, begun);
        scene.second(50_000, 0, &glance(150_000, 50_000), true, begun + SECOND);
        assert!(scene.line(begun + SECOND).contains("5,000 requests/s"), "{}", scene.line(begun));
    }

    #[test]
    fn a_disk_that_completes_nothing_is_told() {
        let (mut scene, at) = running();
        let later = at + 7 * SECOND;
        scene.second(50_000, 50_000 << 12, &glance(1, 0), false, later);
        assert!(scene.line(later).contains("nothing completed for 7 s"), "{}", scene.line(later));
    }

    #[test]
    fn requests_to_be_made_tell_how_far_it_is_and_how_long_it_takes() {
        let begun = Instant::now();
        let mut scene = Scene::new(begun);
        scene.turn("writing twice", Extent::Requests { from: 0, goal: 400 }, begun);
        scene.second(100, 0, &glance(1, 100), false, begun + SECOND);
        let lines = scene.lines(80, 24, begun + SECOND);
        assert!(lines[1].ends_with(" 25 %  1 s gone, 3 s left"), "{lines:?}");
    }

    #[test]
    fn before_anything_is_said_nothing_is_shown() {
        let scene = Scene::new(Instant::now());
        assert!(scene.lines(80, 24, Instant::now()).is_empty());
    }
}
