//! Ctrl-C, SIGTERM and SIGHUP: the first asks to stop and drain, the second not to wait. SIGXFSZ
//! becomes an error of the write that caused it.

use rustix::process::{Resource, getrlimit};
use seekwell_io::engine::Control;
use seekwell_io::units::binary;
use seekwell_sys::thread::start;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::exit::Exit;

/// How long the program has after the second signal before it ends whatever it does: a system call
/// on a hung disk may never return. Temporary files have no name by then, or are found at the next
/// start.
const GRACE: Duration = Duration::from_secs(2);

/// Sets the flags of `control` when signals come.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn watch(control: Arc<Control>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    start("signals", move || {
        for _ in signals.forever() {
            if !control.stop.swap(true, Relaxed) {
                continue;
            }
            control.abandon.store(true, Relaxed);
            std::thread::sleep(GRACE);
            crate::screen::leave();
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
    })?;
    Ok(())
}

/// Set when a write of this process reached the limit on the size of files.
static TOO_LARGE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Lets a write beyond `ulimit -f` fail with EFBIG, so that what was made is removed, instead of
/// killing the process. A handler, unlike an ignored signal, is not inherited by programs we start.
///
/// # Errors
/// When the handler cannot be installed.
pub fn survive_file_size_limit() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::clone(&TOO_LARGE)).map(drop)
}

/// Whether a write failed because of that limit.
pub fn reached_file_size_limit() -> bool {
    TOO_LARGE.load(Relaxed)
}

/// The end of a sentence about an error that the limit led to: its value, and how to raise it.
pub fn file_size_hint() -> String {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if reached_file_size_limit() => format!(
            "; files of this process may be at most {} (`ulimit -f`): raise it with \
             `ulimit -f unlimited`",
            binary(limit)
        ),
        _ => String::new(),
    }
}
