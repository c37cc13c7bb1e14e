//! One line on standard error, on a terminal only: what is done now and how long it will take. A
//! bench shows more than a line: see [`crate::live`].

use crate::cli::When;
use crate::context::{Context, note};
use crate::live::{Extent, Form, Live};
use crate::signals::file_size_hint;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use seekwell_checkup::Progress as At;
use seekwell_io::engine::Control;
use seekwell_io::units::time_left;
use seekwell_run::Watcher;
use seekwell_runs::StoreError;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Redrawn at most this often, so that drawing costs the measurement nothing.
const TICK: Duration = Duration::from_millis(250);

/// A disk that completes nothing for this long is worth a word.
const SILENCE: Duration = Duration::from_secs(5);

pub struct Line {
    bar: ProgressBar,
    /// What is shown in its place.
    live: Option<Live>,
}

impl Line {
    /// A line, invisible unless `shown`. It says so when nothing completes any more.
    pub fn new(shown: bool, control: Arc<Control>) -> Self {
        let target = if shown {
            ProgressDrawTarget::stderr_with_hz(4)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(1000), target);
        let style = ProgressStyle::with_template("{bar:20.cyan} {percent:>3} %  {msg}{silence}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let seen = Arc::new(Mutex::new((0, Instant::now())));
        let silence = move |_: &ProgressState, out: &mut dyn Write| {
            let Ok(mut seen) = seen.lock() else { return };
            let requests = control.requests.load(Relaxed);
            if requests != seen.0 || requests == 0 {
                *seen = (requests, Instant::now());
            } else if seen.1.elapsed() > SILENCE {
                let _ = write!(out, " · nothing completed for {} s", seen.1.elapsed().as_secs());
            }
        };
        bar.set_style(style.with_key("silence", silence).progress_chars("━━─"));
        if shown {
            bar.enable_steady_tick(TICK);
        }
        Self { bar, live: None }
    }

    /// A view of how it goes, on a terminal or where it is asked for.
    pub fn live(when: When, context: &Context, modelled: bool) -> Self {
        let able = std::env::var("TERM").is_ok_and(|term| term != "dumb");
        let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let form = match when {
            When::Never => None,
            _ if context.progress && able => Some(Form::Region { color }),
            When::Always => Some(Form::Lines),
            When::Auto => None,
        };
        let control = Arc::clone(&context.control);
        let mut line = Self::new(false, Arc::clone(&control));
        line.live = form.map(|form| Live::new(form, control, modelled));
        line
    }

    /// A line of nothing but words.
    pub fn plain(shown: bool) -> Self {
        let line = Self::new(shown, Arc::default());
        let style = ProgressStyle::with_template("{msg}");
        line.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        line
    }

    /// Says what is being done, without a length.
    pub fn say(&self, what: &str) {
        if let Some(live) = &self.live {
            return live.turn(what, Extent::Unknown);
        }
        self.bar.set_message(what.to_owned());
    }

    /// Says how many requests are made of something that takes as long as it takes.
    pub fn count(&self, what: &str, goal: u64) {
        match &self.live {
            Some(live) => live.count(what, goal),
            None => self.say(what),
        }
    }

    /// Says how much of something is done.
    pub fn part(&self, what: &str, done: u64, whole: u64) {
        if let Some(live) = &self.live {
            return live.turn(what, Extent::Part { done, whole });
        }
        self.bar.set_position(done.saturating_mul(1000) / whole.max(1));
        self.say(what);
    }

    /// Says where a run stands.
    pub fn at(&self, at: &At<'_>) {
        let whole = (at.done + at.remaining).0.max(1);
        self.bar.set_position(at.done.0.saturating_mul(1000) / whole);
        let round = match at.rounds {
            1 => String::new(),
            rounds => format!(" · round {} of {rounds}", at.round + 1),
        };
        let what = format!("{}{round}", at.phase.title);
        match &self.live {
            Some(live) => live.turn(&what, Extent::Time { done: at.done, left: at.eta() }),
            None => self.say(&format!("{what} · {} left", time_left(at.eta()))),
        }
    }

    /// Says something beside it.
    pub fn note(&self, text: &str) {
        self.beside(|| note(text));
    }

    /// Lets something else be written to standard error.
    pub fn beside(&self, write: impl FnOnce()) {
        match &self.live {
            Some(live) => live.suspend(write),
            None => self.bar.suspend(write),
        }
    }

    pub fn clear(&self) {
        if let Some(live) = &self.live {
            live.clear();
        }
        self.bar.finish_and_clear();
    }
}

impl Watcher for Line {
    fn doing(&self, what: &str) {
        self.say(what);
    }

    fn part(&self, what: &str, done: u64, whole: u64) {
        Self::part(self, what, done, whole);
    }

    fn count(&self, what: &str, requests: u64) {
        Self::count(self, what, requests);
    }

    fn at(&self, at: &At<'_>) {
        Self::at(self, at);
    }

    fn note(&self, text: &str) {
        Self::note(self, text);
    }

    fn not_kept(&self, error: &StoreError) {
        self.note(&format!("this run is not kept: {error}{}", file_size_hint()));
    }

    fn clear(&self) {
        Self::clear(self);
    }
}
