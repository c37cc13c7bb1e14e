//! A view of a run while it goes on: a few lines of a terminal that are drawn again and again in
//! place, or a line a second if there is no terminal.
//!
//! A thread of its own looks once a second at counters the engine keeps anyway and at its gauge;
//! the measuring thread draws nothing, waits for nothing and reads no clock for it.

mod scene;
mod strip;

pub use scene::Extent;

use scene::Scene;
use seekwell_io::engine::Control;
use seekwell_sys::thread::start;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Drawn this often; time passes between two seconds too.
const TICK: Duration = Duration::from_millis(250);
/// Numbers are of this long.
const SECOND: Duration = Duration::from_secs(1);
/// Where the terminal does not say how large it is.
const SIZE: (usize, usize) = (80, 24);

/// How it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines of a terminal, drawn in place.
    Region {
        /// Whether colours may be used.
        color: bool,
    },
    /// A line a second.
    Lines,
}

/// The view. It goes away, and leaves the screen as it was, when it is dropped.
#[derive(Debug)]
pub struct Live {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    control: Arc<Control>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug)]
struct State {
    scene: Scene,
    ended: bool,
    /// Columns of each line on the screen.
    drawn: Vec<usize>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// Begins to look at what `control`'s engine does. On a model's clock a rate is of the model's
    /// seconds.
    pub fn new(form: Form, control: Arc<Control>, modelled: bool) -> Self {
        control.gauge.watch();
        let scene = Scene::new(Instant::now());
        let state = Mutex::new(State { scene, ended: false, drawn: Vec::new() });
        let shared = Arc::new(Shared { state, wake: Condvar::new() });
        let (mine, watched) = (Arc::clone(&shared), Arc::clone(&control));
        let look = move || watch(&mine, &watched, form, modelled);
        let thread = start("live", look).ok();
        Self { shared, thread, control }
    }

    /// Says what is done from now on, and how far it is.
    pub fn turn(&self, what: &str, extent: Extent) {
        let mut state = self.shared.lock();
        if state.scene.turn(what, extent, Instant::now()) {
            // What was done before was no measurement.
            self.control.gauge.take();
            let so_far = (self.control.requests.load(Relaxed), self.control.bytes.load(Relaxed));
            state.scene.count_from(so_far, Instant::now());
        }
    }

    /// Says what is done from now on, and how many requests it takes.
    pub fn count(&self, what: &str, goal: u64) {
        let from = self.control.requests.load(Relaxed);
        self.turn(what, Extent::Requests { from, goal });
    }

    /// Lets something else be written to standard error.
    pub fn suspend(&self, write: impl FnOnce()) {
        let mut state = self.shared.lock();
        erase(&mut state);
        write();
    }

    /// Takes the view away.
    pub fn clear(&self) {
        let mut state = self.shared.lock();
        state.ended = true;
        erase(&mut state);
        self.shared.wake.notify_all();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
        if let Some(thread) = self.thread.take() {
            // It draws nothing more; a panic in it does not matter here.
            let _ = thread.join();
        }
    }
}

/// Looks and draws until the end.
fn watch(shared: &Shared, control: &Control, form: Form, modelled: bool) {
    let mut due = Instant::now() + SECOND;
    let mut state = shared.lock();
    while !state.ended {
        let now = Instant::now();
        let second = now >= due;
        if second {
            due += SECOND;
            let (requests, bytes) = (control.requests.load(Relaxed), control.bytes.load(Relaxed));
            state.scene.second(requests, bytes, &control.gauge.take(), modelled, now);
        }
        match form {
            Form::Region { color } => draw(&mut state, color, now),
            Form::Lines if second => say(&state.scene.line(now)),
            Form::Lines => {}
        }
        let waited = shared.wake.wait_timeout(state, TICK);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn say(line: &str) {
    // If standard error is closed, there is no way to report it.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Columns and lines of the terminal.
fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(std::io::stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => SIZE,
    }
}

/// Goes back to the first of the lines drawn, which a narrower terminal may have wrapped.
fn back(drawn: &[usize], width: usize) -> String {
    let rows: usize = drawn.iter().map(|columns| columns.div_ceil(width.max(1)).max(1)).sum();
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A\r") }
}

/// Draws over what was drawn before, in one write. The cursor is left at the start of the line
/// below, so that nothing is broken when the program is killed here.
fn draw(state: &mut State, color: bool, now: Instant) {
    let (width, height) = size();
    // One column less, for some terminals wrap when the last is written.
    let lines = state.scene.lines(width.saturating_sub(1).max(1), height, now);
    let mut out = back(&state.drawn, width);
    for (i, line) in lines.iter().enumerate() {
        let (on, off) = match i {
            0 if color => ("\x1b[1m", "\x1b[0m"),
            1 if color => ("\x1b[36m", "\x1b[0m"),
            _ => ("", ""),
        };
        out += &format!("\x1b[2K{on}{line}{off}\n");
    }
    out += "\x1b[J";
    state.drawn = lines.iter().map(|line| line.chars().count()).collect();
    write(&out);
}

fn erase(state: &mut State) {
    if !state.drawn.is_empty() {
        write(&(back(&state.drawn, size().0) + "\x1b[J"));
        state.drawn.clear();
    }
}

fn write(text: &str) {
    let mut err = std::io::stderr().lock();
    // As for lines.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_narrower_terminal_wrapped_are_counted_as_it_shows_them() {
        assert_eq!(back(&[79, 10, 0], 80), "\x1b[3A\r");
        assert_eq!(back(&[79, 10, 0], 40), "\x1b[4A\r");
        assert_eq!(back(&[], 80), "");
    }
}
