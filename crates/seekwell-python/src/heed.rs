//! Long calls: without the interpreter's lock, and Ctrl-C ends them.

use pyo3::prelude::*;
use seekwell_io::engine::Control;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(100);

/// Ends calls in other threads.
#[pyclass(frozen, module = "seekwell")]
#[derive(Default)]
pub struct Stop(AtomicBool);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends the calls this was given to.
    fn set(&self) {
        self.0.store(true, Relaxed);
    }
}

/// Does work on a thread of its own, and asks it to stop when Python has a signal to handle or
/// `stop` is set.
///
/// # Errors
/// What the signal's handler raised: `KeyboardInterrupt`.
pub fn heeded<T: Send>(
    py: Python<'_>,
    stop: Option<&Stop>,
    work: impl FnOnce(&Arc<Control>) -> T + Send,
) -> PyResult<T> {
    let (control, done, caller) = (Arc::default(), AtomicBool::new(false), thread::current());
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let out = work(&control);
            done.store(true, Relaxed);
            caller.unpark();
            out
        });
        let mut raised = Ok(());
        // A worker that panicked is finished and not done.
        while !done.load(Relaxed) && !worker.is_finished() {
            py.detach(|| thread::park_timeout(TICK));
            raised = raised.and_then(|()| py.check_signals());
            if raised.is_err() || stop.is_some_and(|stop| stop.0.load(Relaxed)) {
                control.stop.store(true, Relaxed);
            }
        }
        let out = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        raised.map(|()| out)
    })
}
