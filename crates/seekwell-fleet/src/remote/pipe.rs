//! A pipe to another process, which may keep it open for longer than anybody wants to wait.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;

/// How often it is asked whether anybody still waits.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// A pipe that is ready for writing takes this many bytes without blocking (pipe(7): `PIPE_BUF`).
const TAKES: usize = 4096;
/// The most that is read once the wait is over: what a pipe holds (pipe(7)).
const REST: usize = 64 << 10;

/// A pipe that ends when `over` says so, and with the other side.
pub struct Pipe<P, F> {
    pipe: P,
    over: F,
    rest: usize,
}

impl<P: AsFd, F: Fn() -> bool> Pipe<P, F> {
    pub const fn new(pipe: P, over: F) -> Self {
        Self { pipe, over, rest: REST }
    }

    /// Waits until something can be read or written. False: the wait is over.
    fn ready(&self, for_what: PollFlags) -> io::Result<bool> {
        loop {
            match poll(&mut [PollFd::new(&self.pipe, for_what)], Some(&TICK)) {
                Ok(1..) => return Ok(true),
                Ok(0) | Err(Errno::INTR) if (self.over)() => return Ok(false),
                Ok(0) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl<P: AsFd + Read, F: Fn() -> bool> Read for Pipe<P, F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.ready(PollFlags::IN)? {
            return Ok(0);
        }
        if !(self.over)() {
            return self.pipe.read(into);
        }
        let most = into.len().min(self.rest);
        let read = self.pipe.read(&mut into[..most])?;
        self.rest -= read;
        Ok(read)
    }
}

impl<P: AsFd + Write, F: Fn() -> bool> Write for Pipe<P, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.over)() || !self.ready(PollFlags::OUT)? {
            return Err(ErrorKind::TimedOut.into());
        }
        self.pipe.write(&bytes[..bytes.len().min(TAKES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::fs::File;
    use std::io::pipe;

    #[test]
    fn what_was_said_is_read_to_its_end_and_nothing_is_waited_for_afterwards() {
        let (out, mut to) = pipe().unwrap();
        to.write_all(b"last words").unwrap();
        let mut text = String::new();
        Pipe::new(out, || true).read_to_string(&mut text).unwrap();
        assert_eq!(text, "last words");
    }

    #[test]
    fn a_process_that_talks_without_end_and_one_that_does_not_listen_are_left_alone() {
        let endless = File::open("/dev/zero").unwrap();
        let mut read = Vec::new();
        Pipe::new(endless, || true).read_to_end(&mut read).unwrap();
        assert_eq!(read.len(), REST);
        let (_deaf, to) = pipe().unwrap();
        let asked = Cell::new(0);
        let mut to = Pipe::new(to, || asked.replace(asked.get() + 1) > 20);
        let error = to.write_all(&[0; 2 * REST]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}
