//! Long calls: without the interpreter's lock, and Ctrl-C ends them.

use arrow_schema::ArrowError;
use pyo3::prelude::*;
use rustix::process::getpid;
use rustix::thread::gettid;
use seekwell_io::engine::Control;
use seekwell_sys::thread::start_scoped;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
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

/// Waits for what another thread makes, for a reader of Arrow streams.
///
/// # Errors
/// What the handler of a signal raised meanwhile, and when nothing more will come.
pub fn receive<T>(from: &Receiver<T>) -> Result<T, ArrowError> {
    loop {
        check_signals().map_err(|raised| ArrowError::ExternalError(Box::new(raised)))?;
        match from.recv_timeout(TICK) {
            Err(RecvTimeoutError::Timeout) => {}
            received => return received.map_err(|e| ArrowError::ExternalError(Box::new(e))),
        }
    }
}

/// Handles signals on the main thread, the only one on which Python does. A reader's own thread
/// must not even ask: the main thread may hold the interpreter's lock while it waits for it.
fn check_signals() -> PyResult<()> {
    if gettid() != getpid() {
        return Ok(());
    }
    Python::try_attach(|py| py.check_signals()).unwrap_or(Ok(()))
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
        let worker = start_scoped(scope, "work", || {
            let out = work(&control);
            done.store(true, Relaxed);
            caller.unpark();
            out
        });
        let worker = worker.map_err(io::Error::from)?;
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
