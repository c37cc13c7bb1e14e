//! Ctrl-C, SIGTERM and SIGHUP: the first asks to stop and drain, the second not to wait.

use seekwell_io::engine::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
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
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for _ in signals.forever() {
            if !control.stop.swap(true, Relaxed) {
                continue;
            }
            control.abandon.store(true, Relaxed);
            std::thread::sleep(GRACE);
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
    })?;
    Ok(())
}
