//! The command that runs while a recording lasts.

use super::RecordError;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Ctrl-C reaches the command by itself, as it is in the same group; a signal sent to us does not.
const PATIENCE: Duration = Duration::from_millis(500);

/// A running command.
pub(super) struct Running {
    child: Child,
    asked: Option<Instant>,
    told: bool,
}

impl Running {
    /// Starts it. With `quiet` what it prints goes to standard error, for standard output is a
    /// document's.
    ///
    /// # Errors
    /// [`RecordError::NotStarted`].
    pub(super) fn start(words: &[OsString], quiet: bool) -> Result<Option<Self>, RecordError> {
        let Some((program, arguments)) = words.split_first() else { return Ok(None) };
        let failed = |source: io::Error| RecordError::NotStarted {
            program: program.to_string_lossy().into_owned(),
            source,
        };
        let mut command = Command::new(program);
        command.args(arguments);
        if quiet {
            let errors = io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
            command.stdout(Stdio::from(errors));
        }
        let child = command.spawn().map_err(failed)?;
        Ok(Some(Self { child, asked: None, told: false }))
    }

    /// How it ended, once it has.
    ///
    /// # Errors
    /// When the kernel does not know it.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Makes it end: asks once after a moment, and with `now` does not ask.
    pub(super) fn end(&mut self, now: bool) {
        let asked = *self.asked.get_or_insert_with(Instant::now);
        if now {
            // It has ended when it cannot be killed.
            let _ = self.child.kill();
        } else if !self.told && asked.elapsed() > PATIENCE {
            self.told = true;
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        }
    }
}

/// The status a shell would give.
pub(super) fn status(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_a_command_is_what_a_shell_says() {
        let status_of = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let mut running = Running::start(&words, true).unwrap().unwrap();
            status(running.child.wait().unwrap())
        };
        assert_eq!(status_of(&["true"]), 0);
        assert_eq!(status_of(&["sh", "-c", "exit 42"]), 42);
        assert_eq!(status_of(&["sh", "-c", "kill -9 $$"]), 137);
    }

    #[test]
    fn a_command_that_is_asked_to_end_gets_a_moment_and_then_the_signal() {
        let words = ["sleep".into(), "60".into()];
        let mut running = Running::start(&words, false).unwrap().unwrap();
        let begun = Instant::now();
        let status = loop {
            running.end(false);
            if let Some(status) = running.ended().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "it did not end");
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(begun.elapsed() >= PATIENCE);
        assert_eq!(status.signal(), Some(15));
    }
}
