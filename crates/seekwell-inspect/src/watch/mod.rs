//! What happens to disks while one looks: plugged, unplugged, resized, in trouble.
//!
//! The kernel announces every device on a netlink socket and says what goes wrong with it in its
//! log. A [`Watch`] waits on both and gives one [`Event`] for what a person would call one.
//! [`hot_plug`] says beforehand at which controllers, and at which of their ports, a disk can be
//! plugged in while the machine runs.

mod able;
mod events;
mod hotplug;
mod ports;
mod uevent;

pub use able::{Able, HotPlug, HotPlugPort};
pub use events::{Event, EventKind, EventSource};
pub use hotplug::hot_plug;
pub use uevent::{Action, MAX_UEVENT, Uevent, UeventError, parse};

use events::{Known, Repeats};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use seekwell_sys::{KMSG, KmsgReader, KmsgRecord, View, classify};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// The group of the kernel's own messages; udev's copies are another.
const KERNEL: u32 = 1;
/// Asked of the socket; a hundred disks that appear at once announce themselves in about 1 MiB.
const BUFFER: usize = 4 << 20;

#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("the kernel's device events cannot be received: {0}")]
    Socket(io::Error),
    #[error("waiting for events failed: {0}")]
    Wait(io::Error),
}

classify!(WatchError {
    Refused: Socket, Wait;
});

pub struct Watch<'v> {
    view: &'v dyn View,
    socket: OwnedFd,
    buffer: Vec<u8>,
    log: Result<KmsgReader, io::Error>,
    known: Known,
    repeats: Repeats,
}

impl<'v> Watch<'v> {
    /// Begins to watch: [`Watch::wait`] returns what happens from now on. `view` shows the
    /// running system.
    ///
    /// # Errors
    /// [`WatchError::Socket`]. A log that this user may not read is no error; see
    /// [`Watch::log_error`].
    pub fn new(view: &'v dyn View) -> Result<Self, WatchError> {
        let failed = |errno: Errno| WatchError::Socket(errno.into());
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            Some(netlink::KOBJECT_UEVENT),
        )
        .map_err(failed)?;
        // A smaller buffer only loses events sooner, which is reported.
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER)
            .or_else(|_| rustix::net::sockopt::set_socket_recv_buffer_size(&socket, BUFFER));
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, KERNEL)).map_err(failed)?;
        let log = KmsgReader::open(Path::new(KMSG)).and_then(|mut log| {
            log.skip_to_end()?;
            Ok(log)
        });
        let known = Known::new(view);
        let buffer = vec![0; MAX_UEVENT];
        Ok(Self { view, socket, buffer, log, known, repeats: Repeats::default() })
    }

    /// Why the kernel log is not followed; `None` when it is.
    pub fn log_error(&self) -> Option<&io::Error> {
        self.log.as_ref().err()
    }

    /// What happened, after waiting for at most `most`; nothing when nothing did.
    ///
    /// # Errors
    /// [`WatchError`] when the kernel gives nothing more.
    pub fn wait(&mut self, most: Duration) -> Result<Vec<Event>, WatchError> {
        self.poll(most)?;
        let mut events = Vec::new();
        self.announcements(&mut events)?;
        self.messages(&mut events)?;
        events.extend(self.repeats.over(Instant::now()));
        Ok(events)
    }

    fn poll(&self, most: Duration) -> Result<(), WatchError> {
        let mut fds = vec![PollFd::new(&self.socket, PollFlags::IN)];
        fds.extend(self.log.as_ref().ok().map(KmsgReader::poll_fd));
        let time = Timespec {
            tv_sec: most.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: most.subsec_nanos().into(),
        };
        match rustix::event::poll(&mut fds, Some(&time)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(WatchError::Wait(errno.into())),
        }
    }

    fn announcements(&mut self, events: &mut Vec<Event>) -> Result<(), WatchError> {
        loop {
            let buffer = self.buffer.as_mut_slice();
            let (read, from) = match rustix::net::recvfrom(&self.socket, buffer, RecvFlags::TRUNC) {
                Ok((_, length, from)) => (length, from),
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(Errno::NOBUFS) => {
                    events.push(Event::lost(EventSource::Devices));
                    continue;
                }
                Err(errno) => return Err(WatchError::Wait(errno.into())),
            };
            // Any process of root may send to the group; only the kernel has no number.
            let kernel = from.and_then(|a| SocketAddrNetlink::try_from(a).ok());
            if kernel.is_none_or(|a| a.pid() != 0) {
                continue;
            }
            let Some(message) = self.buffer.get(..read) else {
                events.push(Event::lost(EventSource::Devices));
                continue;
            };
            // What is no event of a device is ignored.
            if let Ok(uevent) = parse(message) {
                events.extend(self.known.event(self.view, &uevent));
            }
        }
    }

    fn messages(&mut self, events: &mut Vec<Event>) -> Result<(), WatchError> {
        let Ok(log) = &mut self.log else { return Ok(()) };
        while let Some(record) = log.next_record().map_err(WatchError::Wait)? {
            match record {
                KmsgRecord::Lost => events.push(Event::lost(EventSource::Log)),
                KmsgRecord::Text(line) => {
                    events.extend(self.repeats.record(&line, Instant::now()));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
